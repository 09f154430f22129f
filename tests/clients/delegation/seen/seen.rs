//! A function that adds what it sees to a ResourceList: as an object, or as the text of annotations.

use std::io::Read;
use std::{env, fs};

fn main() {
    let mut list = String::new();
    std::io::stdin().read_to_string(&mut list).unwrap();
    let variable = |name: &str| format!("{name}={}", env::var(name).unwrap_or_default());
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let user = status.lines().find(|line| line.starts_with("Uid:")).unwrap();
    let user = user.split_whitespace().nth(1).unwrap();
    let files = fs::read_dir("/mnt").into_iter().flatten();
    let files: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    let network = fs::read_to_string("/proc/net/dev").unwrap();
    let devices = network.lines().count() > 3;
    let words = [variable("A"), variable("B"), variable("C")].join(" ");
    let seen = format!("user={user} {words} files={} network={devices}", files.join(","));
    if list.contains("kind: Pod") {
        print!("{}", list.replace("seen: \"\"", &format!("seen: {seen}")));
    } else {
        println!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:");
        println!("- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}, data: {{seen: {seen}}}}}");
    }
}

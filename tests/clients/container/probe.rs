//! A function that prints a ConfigMap with what it sees of its surroundings.

use std::fs;
use std::io::Read;

fn main() {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).expect("input");
    let status = fs::read_to_string("/proc/self/status").expect("status");
    let user = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let user = user.and_then(|line| line.split_whitespace().next()).unwrap_or_default();
    let interfaces = fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let names = interfaces.lines().skip(2).filter_map(|line| line.split(':').next());
    let is_alone = names.map(str::trim).all(|name| name == "lo");
    let read = fs::read_to_string("/data/file").unwrap_or_default();
    let written = fs::write("/data/new", "new\n").is_ok();
    if let Ok(link) = std::env::var("PROBE_LINK") {
        let (name, target) = link.split_once(':').expect("a name and a target");
        std::os::unix::fs::symlink(target, format!("/data/{name}")).expect("a link");
    }
    let variable = std::env::var("PROBE").unwrap_or_default();
    println!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n\
         - apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: probe\n  data:\n    \
         user: \"{user}\"\n    network: \"{}\"\n    read: \"{}\"\n    written: \"{written}\"\n    \
         variable: \"{variable}\"",
        !is_alone,
        read.trim_end()
    );
}

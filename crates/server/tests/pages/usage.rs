//! Commands and files to copy from a page: a shell and a YAML parser read the right values.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys};

use crate::pages::site::{Page, Site, unescaped};

tests_and_crlf!(a_shell_runs_the_command_lines, the_files_have_the_values);

const TEMPLATE: &str = "kind: Template\nmetadata:\n  name: web\nparameters:\n\
     - name: PLAIN\n- name: SPACES\n- name: QUOTES\n- name: LINES\n- name: SHELL\n- name: DASH\n- name: WORD\n\
     - name: NUMBER\n- name: EMPTY\n  value: full\n- name: MISSING\n  required: true\nobjects: []\n";

/// The values of the optional parameters.
const VALUES: [(&str, &str); 9] = [
    ("PLAIN", "a-b_c.d/e:1"),
    ("SPACES", "  two  spaces "),
    ("QUOTES", "it's \"quoted\" `so`"),
    ("LINES", "one\n\n  two \\\nthree\n"),
    ("SHELL", "$HOME $(id) ${X} ; & | > < * ? ~ # ! \\ {a,b}"),
    ("DASH", "-n"),
    ("WORD", "true"),
    ("NUMBER", "0123"),
    ("EMPTY", ""),
];

/// Submits the values, with line breaks as browsers send them, and returns the page.
async fn page(site: &Site, version: &str) -> Page {
    let path = format!("/apis/{version}/namespaces/shop/templates");
    let template = format!("apiVersion: {version}\n{TEMPLATE}");
    site.store(&path, &template).await;
    let fields: Vec<(String, String)> = VALUES
        .iter()
        .map(|(name, value)| (format!("p.{name}"), value.replace('\n', "\r\n")))
        .collect();
    let mut fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    fields.extend([("p.MISSING", "there"), ("action", "show")]);
    let group = version.split('/').next().unwrap();
    let page = site.post(&format!("/ui/shop/{group}/web"), &fields).await;
    assert_eq!(page.code, 200, "{}", page.text);
    page
}

/// Returns one of the texts of "Use it".
fn usage(page: &Page, id: &str) -> String {
    let (_, rest) = page.text.split_once(&format!("<pre id=\"use-{id}\"")).unwrap();
    let (_, rest) = rest.split_once('>').unwrap();
    unescaped(rest.split_once("</pre>").unwrap().0)
}

/// Runs a line in a shell, and returns the arguments of the program.
fn arguments(program: &str, line: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(program);
    std::fs::write(&file, "#!/bin/sh\nprintf '%s\\0' \"$@\"\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let paths = [folder.path(), Path::new("/usr/bin"), Path::new("/bin")];
    let output = Command::new("/bin/sh")
        .args(["-c", line])
        .env("PATH", std::env::join_paths(paths).unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.strip_suffix('\0').unwrap();
    text.split('\0').map(str::to_owned).collect()
}

/// Returns the arguments for the values.
fn expected() -> Vec<String> {
    let values = VALUES.iter().chain(&[("MISSING", "there")]);
    let mut values: Vec<String> = values.map(|(name, value)| format!("{name}={value}")).collect();
    // Required parameters come first in a form.
    values.rotate_right(1);
    values.into_iter().flat_map(|value| ["-p".to_owned(), value]).collect()
}

#[tokio::main(flavor = "current_thread")]
async fn a_shell_runs_the_command_lines() {
    let site = Site::open().await;
    let own = page(&site, "template.krm.dev/v1alpha1").await;
    let start = ["process", "-f", "web.yaml"].map(str::to_owned).to_vec();
    let found = arguments("krm-template", &usage(&own, "command"));
    assert_eq!(found, [start.clone(), expected()].concat());
    let openshift = page(&site, "template.openshift.io/v1").await;
    let found = arguments("krm-template", &usage(&openshift, "command"));
    assert_eq!(found, [start, expected()].concat());
    let start = ["process", "-n", "shop", "web"].map(str::to_owned).to_vec();
    let found = arguments("oc", &usage(&openshift, "oc"));
    assert_eq!(found, [start, expected()].concat());
}

#[tokio::main(flavor = "current_thread")]
async fn the_files_have_the_values() {
    let site = Site::open().await;
    let page = page(&site, "template.krm.dev/v1alpha1").await;
    for (id, kind, path) in [
        ("values", "ParameterValues", &["values"][..]),
        ("instance", "TemplateInstance", &["spec", "parameters"]),
    ] {
        let text = usage(&page, id);
        let document = Document::parse(&Source::new(id, text.as_str())).unwrap();
        let root = document.roots().next().unwrap();
        let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new()).unwrap();
        assert_eq!(value.str_at(&["kind"]), Some(kind), "{text}");
        for (name, expected) in VALUES.iter().chain(&[("MISSING", "there")]) {
            let path = [path, &[name]].concat();
            assert_eq!(value.str_at(&path), Some(*expected), "{name}: {text}");
        }
    }
}

//! The command-line client, against the program.

use std::path::Path;
use std::process::{Command, Output};

use libtest_mimic::Trial;
use serde_json::Value;

use crate::deployments::paths::{TEMPLATE, config};
use crate::deployments::trial;
use crate::http::program::Program;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("client/a_deployment_lives_by_commands", lives),
        trial("client/answers_are_json_or_yaml_for_those_who_ask", formats),
        trial("client/errors_are_the_servers_and_exit_with_1", errors),
        trial("client/wrong_arguments_exit_with_2", arguments),
        trial("client/warnings_go_to_standard_error", warnings),
        trial("client/an_asynchronous_change_prints_its_operation", at_once),
        trial("client/a_namespace_is_part_of_each_command", namespaces),
        trial("client/a_token_and_an_authority_are_used", secured),
        trial("client/the_commands_of_the_documentation_run", documented),
        trial("client/files_outside_of_the_folder_are_not_sent", confined),
        trial("client/what_a_terminal_would_obey_is_escaped", hostile),
    ]
}

/// The client, in a folder with a configuration, and its constant arguments.
struct Client {
    folder: tempfile::TempDir,
    always: Vec<String>,
}

impl Client {
    fn of(program: &Program) -> Self {
        Self::with(&format!("http://{}", program.address()), &[])
    }

    fn with(server: &str, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut always = vec!["--server".to_owned(), server.to_owned()];
        always.extend(arguments.iter().copied().map(str::to_owned));
        let client = Self { folder, always };
        client.write("config.yaml", &config(1));
        client.write(TEMPLATE.0, TEMPLATE.1);
        client
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// Runs a command in the folder. Splits it at spaces.
    fn run(&self, command: &str) -> Output {
        self.run_in(self.folder.path(), command)
    }

    fn run_in(&self, folder: &Path, command: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_krm-template-server"))
            .arg("deployments")
            .args(command.split(' '))
            .args(&self.always)
            .env_remove("KRM_TEMPLATE_TOKEN")
            .current_dir(folder)
            .output()
            .unwrap()
    }

    /// Runs a command that must succeed with empty standard error. Returns its output.
    #[track_caller]
    fn prints(&self, command: &str) -> String {
        let output = self.run(command);
        let (out, err) = texts(&output);
        assert_eq!((output.status.code(), err.as_str()), (Some(0), ""), "{command}");
        out
    }

    /// Runs a command that must fail with empty output. Returns its standard error.
    #[track_caller]
    fn fails(&self, code: i32, command: &str) -> String {
        let output = self.run(command);
        let (out, err) = texts(&output);
        assert_eq!((output.status.code(), out.as_str()), (Some(code), ""), "{command}: {err}");
        err
    }
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

/// Replaces each time with `TIME`.
fn timeless(text: &str) -> String {
    let time = regex_lite::Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ").unwrap();
    time.replace_all(text, "TIME").into_owned()
}

fn lives() {
    let program = Program::start(&[]);
    let client = Client::of(&program);
    assert_eq!(
        client.prints("create web --config config.yaml"),
        "deployment web created (manifest-0001): expanded only: nothing was applied to a cluster\n"
    );
    assert_eq!(client.prints("list"), "web\n");
    client.write("config.yaml", &config(2));
    assert_eq!(
        client.prints("update web --config config.yaml"),
        "deployment web updated (manifest-0002): expanded only: nothing was applied to a cluster\n"
    );
    assert_eq!(
        timeless(&client.prints("get web")),
        "NAME   STATE      MANIFEST        MODIFIED\n\
         web    expanded   manifest-0002   TIME\n\
         expanded only: nothing was applied to a cluster\n"
    );
    assert_eq!(client.prints("types"), "Pod\nService\nsite.jinja\n");
    assert_eq!(
        client.prints("types Pod"),
        "NAME    TYPE   DEPLOYMENT   MANIFEST        PATH\n\
         web-0   Pod    web          manifest-0002   $.resources[0].resources[0]\n\
         web-1   Pod    web          manifest-0002   $.resources[0].resources[1]\n"
    );
    assert_eq!(client.prints("types all").lines().count(), 5);
    let first = client.prints("manifest web manifest-0001");
    assert!(first.starts_with("name: manifest-0001\ndeployment: web\n"), "{first}");
    assert!(!first.contains("name: web-1"), "{first}");
    let newest = client.prints("manifest web");
    assert!(newest.contains("- name: web-1\n"), "{newest}");
    assert_eq!(client.prints("delete web"), "deployment web deleted (manifest-0003): deleted\n");
    assert_eq!(client.prints("list"), "");
    assert_eq!(client.prints("types"), "");
}

fn formats() {
    let program = Program::start(&[]);
    let client = Client::of(&program);
    let json = |command: &str| -> Value { serde_json::from_str(&client.prints(command)).unwrap() };
    let created = json("create web --config config.yaml -o json");
    assert_eq!(created, program.get("/deployments/web").json());
    assert_eq!(json("get web -o json"), created);
    assert_eq!(json("list -o json"), program.get("/deployments").json());
    assert_eq!(json("types -o json"), program.get("/types").json());
    assert_eq!(json("types Pod -o json"), program.get("/types/Pod/instances").json());
    let path = "/deployments/web/manifests/manifest-0001";
    assert_eq!(json("manifest web -o json"), program.get(path).json());
    assert_eq!(client.prints("list -o yaml"), "- web\n");
    let yaml = client.prints("get web -o yaml");
    assert!(yaml.starts_with("name: web\nnamespace: default\nstate: expanded\n"), "{yaml}");
    let deleted = json("delete web -o json");
    assert_eq!((&deleted["type"], &deleted["state"]), (&"delete".into(), &"done".into()));
}

fn errors() {
    const NAME: &str = "krm-template-server: error: ";
    let program = Program::start(&[]);
    let client = Client::of(&program);
    client.prints("create web --config config.yaml");
    client.write("wrong.yaml", "resources:\n- name: web\n");
    for (command, error) in [
        ("get nothing", r#"deployments "nothing" not found"#),
        ("get nothing -o json", r#"deployments "nothing" not found"#),
        ("delete nothing", r#"deployments "nothing" not found"#),
        ("manifest web manifest-7", r#"manifests "manifest-7" not found"#),
        ("update nothing --config config.yaml", r#"deployments "nothing" not found"#),
        ("create web --config config.yaml", r#"deployments "web" already exists"#),
    ] {
        assert_eq!(client.fails(1, command), format!("{NAME}{error}\n"), "{command}");
    }
    // The first error is the message, and all are causes.
    let error = client.fails(1, "create other --config wrong.yaml");
    let (message, cause) = error.split_once('\n').unwrap();
    assert!(
        message.starts_with(&format!("{NAME}config:2:3: resource `web` has no `type`")),
        "{error}"
    );
    assert!(cause.starts_with("  config:2:3: "), "{error}");
    // Nothing was created.
    assert_eq!(client.prints("list"), "web\n");
    let missing = client.fails(1, "create other --config missing.yaml");
    assert!(missing.contains("missing.yaml"), "{missing}");
    let away = Client::with("http://127.0.0.1:1", &[]).fails(1, "list");
    assert!(away.starts_with(&format!("{NAME}the server cannot be reached")), "{away}");
}

fn arguments() {
    let client = Client::with("http://127.0.0.1:1", &[]);
    for command in ["create web", "get", "list -o xml", "lists", "manifest web 1 2"] {
        let error = client.fails(2, command);
        assert!(error.contains("For more information, try '--help'"), "{command}: {error}");
    }
}

fn warnings() {
    let program = Program::start(&[]);
    let client = Client::of(&program);
    client.write("config.yaml", "resources:\n- {name: web, type: site.jinj.jinja}\n");
    let output = client.run("create web --config config.yaml");
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{err}");
    assert!(out.starts_with("deployment web created"), "{out}");
    assert!(
        err.starts_with("warning: config:2:")
            && err.contains("type `site.jinj.jinja` is not among the imports"),
        "{err}"
    );
}

fn at_once() {
    let program = Program::start(&[]);
    let client = Client::of(&program);
    let operation = client.prints("create web --config config.yaml --async");
    let found = program.get(&format!("/operations/{}", operation.trim_end()));
    assert_eq!((found.code, &found.json()["deployment"]), (200, &"web".into()));
}

fn namespaces() {
    let program = Program::start(&[]);
    let client = Client::of(&program);
    client.prints("create web --config config.yaml -n shop");
    assert_eq!(client.prints("list"), "");
    assert_eq!(client.prints("list --namespace shop"), "web\n");
    assert_eq!(client.prints("types -n shop").lines().count(), 3);
    client.prints("delete web -n shop");
    assert_eq!(client.prints("list -n shop"), "");
}

fn documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("docs/server.md")).unwrap();
    let alias = "alias deployments='target/release/krm-template-server deployments'\n";
    let (_, rest) = text.split_once(alias).unwrap();
    let (commands, rest) = rest.split_once("```\n").unwrap();
    let (instances, _) = rest.strip_prefix(PRINTED).unwrap().split_once("```\n").unwrap();
    let program = Program::start(&[]);
    let client = Client::of(&program);
    for command in commands.lines() {
        let command = command.strip_prefix("deployments ").unwrap();
        let output = client.run_in(&root, command);
        let (out, err) = texts(&output);
        assert!(output.status.success(), "{command}: {err}");
        if command == "types replicatedservice.jinja" {
            assert_eq!(out, instances);
        }
    }
    assert_eq!(client.prints("list"), "");
}

/// The line before the printed instances.
const PRINTED: &str = "`types replicatedservice.jinja` prints its instances:\n```text\n";

fn secured() {
    let folder = tempfile::tempdir().unwrap();
    let issued = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = issued.signing_key.serialize_pem();
    for (name, text) in [
        ("tls.crt", issued.cert.pem().as_str()),
        ("tls.key", &key),
        ("tokens.csv", "secret,jane,1\n"),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let authority = folder.path().join("tls.crt").display().to_string();
    let tls = ["--tls-cert", "tls.crt", "--tls-key", "tls.key"];
    let program = Program::start_in(folder, &[&tls[..], &["--auth", "tokens=tokens.csv"]].concat());
    let server = format!("https://{}", program.address());
    let trusting = ["--certificate-authority", &authority];
    let client = Client::with(&server, &[&trusting[..], &["--token", "secret"]].concat());
    client.prints("create web --config config.yaml");
    assert_eq!(client.prints("list"), "web\n");
    let operation: Value = serde_json::from_str(&client.prints("delete web -o json")).unwrap();
    assert_eq!(operation["user"], "jane");
    let stranger = Client::with(&server, &trusting).fails(1, "list");
    assert_eq!(stranger, "krm-template-server: error: Unauthorized\n");
    // The same from a kubeconfig: the server and the user, or only the user.
    let kubeconfig = serde_json::json!({
        "current-context": "own",
        "contexts": [{"name": "own", "context": {"cluster": "c", "user": "jane"}}],
        "clusters": [
            {"name": "other", "cluster": {"server": "https://127.0.0.1:1"}},
            {"name": "c", "cluster": {"server": server, "certificate-authority": authority}},
        ],
        "users": [{"name": "jane", "user": {"token": "secret"}}],
    });
    let mut client = client;
    client.write("kubeconfig", &kubeconfig.to_string());
    client.always = ["--kubeconfig", "kubeconfig"].map(str::to_owned).to_vec();
    assert_eq!(client.prints("list"), "");
    let alone = client.fails(1, &format!("list --server {server}"));
    assert!(alone.contains("certificate"), "{alone}");
    let command = format!("list --server {server} --certificate-authority {authority}");
    assert_eq!(client.prints(&command), "");
    let wrong = client.fails(1, "list --token wrong");
    assert_eq!(wrong, "krm-template-server: error: Unauthorized\n");
    client.write("kubeconfig", "current-context: gone\n");
    let gone = client.fails(1, "list");
    assert!(gone.contains("it has no context \"gone\""), "{gone}");
    let distrusting = Client::with(&server, &["--token", "secret"]).fails(1, "list");
    assert!(distrusting.contains("the server cannot be reached"), "{distrusting}");
    assert!(distrusting.contains("certificate"), "{distrusting}");
}

fn confined() {
    let client = Client::with("http://127.0.0.1:1", &[]);
    std::fs::create_dir(client.folder.path().join("app")).unwrap();
    client.write("secret", "canary");
    std::os::unix::fs::symlink("../secret", client.folder.path().join("app/link")).unwrap();
    for import in ["../secret", "link"] {
        let text = format!("imports: [{{path: {import}}}]\nresources: []\n");
        client.write("app/config.yaml", &text);
        for command in ["create", "update"] {
            let command = format!("{command} web --config app/config.yaml");
            let said = client.fails(1, &command);
            assert!(said.contains("the directory of the configuration"), "{said}");
            assert!(said.contains("use `--load-restrictor LoadRestrictionsNone`"), "{said}");
            let all = format!("{command} --load-restrictor LoadRestrictionsNone");
            let said = client.fails(1, &all);
            assert!(said.contains("the server cannot be reached"), "{said}");
        }
    }
}

fn hostile() {
    let program = Program::start(&[]);
    let client = Client::of(&program);
    client.write(
        "config.yaml",
        "resources:\n- {name: \"a\\e[2J\\u202E\", type: \"T\\e]0;title\\a\\nb\"}\n",
    );
    client.prints("create web --config config.yaml");
    assert_eq!(client.prints("types"), "T\\u{1b}]0;title\\u{7}\\nb\n");
    let all = client.prints("types all");
    assert!(all.contains("a\\u{1b}[2J\\u{202e} "), "{all}");
    assert!(!all.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{all}");
    // Data is as it is.
    let json = client.prints("types -o json");
    assert_eq!(
        serde_json::from_str::<Value>(&json).unwrap(),
        serde_json::json!(["T\u{1b}]0;title\u{7}\nb"])
    );
    let said = client.fails(2, "get \u{1b}[2J --no-such-option\u{202e}");
    assert!(!said.contains(['\u{1b}', '\u{202e}']), "{said}");
}

//! What `export` promises: `process` brings the objects back, a second export gives the same
//! bytes, another name shares nothing with the first, `validate` finds nothing, and no secret is
//! anywhere but in the file for it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys, Value};
use libtest_mimic::{Failed, Trial};

use crate::cases::{self, folders};
use crate::needs;
use crate::program;

/// The example: what `kubectl get -o json` prints of a small shop.
const SHOP: &str = "examples/export/shop.json";
/// A word in all secrets of the example.
const CANARY: &str = "canary";
/// In the shared data: what `oc process` printed.
const CORPUS: &str = "corpus/openshift/expected";
/// Rules about mistakes that the objects themselves have.
const OF_OBJECTS: &[&str] = &[
    "invalid-name",
    "invalid-label",
    "number-expected",
    "undeclared-parameter",
    "removed-api",
    "unknown-object-field",
    "object-type",
    "object-refused",
];
/// The same, of objects with only the fields that a case is about.
const OF_SERVERS: &[&str] =
    &["removed-api", "unknown-object-field", "object-type", "object-refused"];
const DIALECTS: [&str; 2] = ["proposal", "openshift"];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("export/process_brings_the_example_back", || {
            DIALECTS.iter().try_for_each(|dialect| {
                let run = Run::new("example", dialect)?;
                run.round_trip(&crate::root().join(SHOP), &[]).map(drop)
            })
        }),
        Trial::test("export/process_brings_the_cases_back", all_cases),
        Trial::test("export/another_name_shares_nothing", another_name),
        Trial::test("export/no_secret_is_anywhere_else", no_secret),
        Trial::test("export/exact_keeps_all_but_what_the_cluster_sets", exact),
    ];
    trials.extend(DIALECTS.map(|dialect| {
        let name = format!("export/process_brings_real_objects_back_in_{dialect}");
        needs::shared_data(name, move |shared| corpus(&shared.join(CORPUS), dialect))
    }));
    trials
}

/// A folder for the files of a test.
struct Run {
    folder: PathBuf,
    dialect: &'static str,
}

impl Run {
    fn new(name: &str, dialect: &'static str) -> Result<Self, Failed> {
        let top = Path::new(env!("CARGO_TARGET_TMPDIR")).join("export");
        let folder = top.join(name).join(dialect);
        // Files of an earlier run.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        Ok(Self { folder, dialect })
    }

    fn run(&self, arguments: &[&str]) -> Result<String, Failed> {
        let output = program::run(program::command(&self.folder).args(arguments), Vec::new())?;
        if output.exit != "0" {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{arguments:?}: exit {}\n{said}", output.exit).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    fn export(&self, input: &Path, more: &[&str]) -> Result<String, Failed> {
        let input = input.display().to_string();
        let first = ["export", "-f", &input, "--dialect", self.dialect];
        let template = self.run(&[&first, more].concat())?;
        fs::write(self.folder.join("template.yaml"), &template)?;
        Ok(template)
    }

    fn process(&self, more: &[&str]) -> Result<String, Failed> {
        let first = ["process", "-f", "template.yaml", "-P", "secrets.yaml"];
        self.run(&[&first, more].concat())
    }

    /// Exports an input and processes the Template. Returns the number of objects.
    fn round_trip(&self, input: &Path, allowed: &[&str]) -> Result<usize, Failed> {
        let secrets = ["--secrets-to", "secrets.yaml"];
        let plain = [&secrets[..], &["--parameterize", "none"]].concat();
        self.export(input, &plain)?;
        let stripped = self.process(&[])?;
        let template = self.export(input, &secrets)?;
        let output = self.process(&[])?;
        let (expected, objects) = (read(&stripped)?, read(&output)?);
        for (index, (object, expected)) in objects.iter().zip(&expected).enumerate() {
            if object != expected {
                let (object, expected) = (object.to_json(), expected.to_json());
                return Err(format!("object {index} is\n{object}\nnot\n{expected}").into());
            }
        }
        if objects.len() != expected.len() {
            return Err(format!("{} objects became {}", expected.len(), objects.len()).into());
        }
        self.findings(allowed)?;
        fs::write(self.folder.join("output.yaml"), output)?;
        let again = self.export(&self.folder.join("output.yaml"), &secrets)?;
        if again != template {
            return Err(format!("exported again, it is\n{again}\nnot\n{template}").into());
        }
        Ok(objects.len())
    }

    /// What `validate` finds, besides mistakes of the objects themselves, which these rules find.
    fn findings(&self, allowed: &[&str]) -> Result<(), Failed> {
        let arguments = ["validate", "--strict", "-o", "json", "template.yaml"];
        let mut command = program::command(&self.folder);
        let output = program::run(command.args(arguments), Vec::new())?;
        let findings: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        for finding in findings.as_array().into_iter().flatten() {
            let rule = finding.get("rule").and_then(serde_json::Value::as_str);
            let is_allowed = rule.is_some_and(|rule| allowed.contains(&rule));
            let is_info = finding.get("severity").is_some_and(|one| one == "info");
            if !(is_info || is_allowed) {
                return Err(format!("validate finds {finding:#}").into());
            }
        }
        Ok(())
    }
}

/// The documents of a stream.
fn read(text: &str) -> Result<Vec<Value<'static>>, Failed> {
    let document = Document::parse(&Source::new("output", text))?;
    let mut found = Diagnostics::new();
    let roots = document.roots();
    let values = roots.filter_map(|root| root.value(DuplicateKeys::Refuse, &mut found));
    Ok(values.map(Value::into_owned).collect())
}

fn all_cases() -> Result<(), Failed> {
    let mut count = 0;
    for case in cases::all() {
        let name = &case.name;
        let input = case.get("input.yaml").filter(|_| case.get("exit").is_none());
        let Some(input) = input.filter(|_| name.starts_with("export/")) else {
            continue;
        };
        let run = Run::new("cases", "proposal")?;
        let file = run.folder.join("input.yaml");
        fs::write(&file, input)?;
        run.round_trip(&file, OF_SERVERS)
            .map_err(|failed| format!("{name}: {}", failed.message().unwrap_or_default()))?;
        count += 1;
    }
    if count < 25 {
        return Err(format!("only {count} cases were exported").into());
    }
    Ok(())
}

/// All objects of what `oc process` printed, as far as they have names.
fn corpus(folder: &Path, dialect: &'static str) -> Result<(), Failed> {
    let (mut files, mut objects, mut refused) = (0, 0, 0);
    let mut problems = Vec::new();
    for input in folders(folder).iter().flat_map(fs::read_dir).flatten() {
        let input = input?.path();
        if input.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let run = Run::new("corpus", dialect)?;
        match run.round_trip(&input, OF_OBJECTS) {
            Ok(count) => {
                files += 1;
                objects += count;
            }
            Err(failed) => {
                let message = failed.message().unwrap_or_default();
                // Objects without a name, no object, and text that OpenShift's dialect cannot hold.
                let is_known = ["has no `metadata.name`", "no object to export", "would become"];
                if is_known.iter().any(|known| message.contains(known)) {
                    refused += 1;
                } else {
                    problems.push(format!("{}: {message}", input.display()));
                }
            }
        }
    }
    #[expect(clippy::print_stdout, reason = "the figures are worth a look")]
    {
        println!("{dialect}: {objects} objects of {files} files came back, {refused} were refused");
    }
    if !problems.is_empty() || files < 500 || refused > 20 {
        let problems = problems.join("\n");
        return Err(format!("{files} files came back, {refused} were refused\n{problems}").into());
    }
    Ok(())
}

/// The identities of objects, the labels of pods, and selectors.
#[derive(Default)]
struct Facts {
    identities: BTreeSet<String>,
    pods: Vec<BTreeSet<String>>,
    selectors: Vec<BTreeSet<String>>,
}

fn facts(text: &str) -> Result<Facts, Failed> {
    let mut facts = Facts::default();
    for object in read(text)? {
        let text = |keys: &[&str]| object.str_at(keys).unwrap_or_default().to_owned();
        facts.identities.insert(format!("{} {}", text(&["kind"]), text(&["metadata", "name"])));
        let pairs = |keys: &[&str]| -> Option<BTreeSet<String>> {
            let entries = object.at(keys)?.entries()?;
            let pairs = entries.iter().filter_map(|(key, value)| {
                let value = value.as_str()?;
                Some(format!("{key}={value}"))
            });
            Some(pairs.collect()).filter(|pairs: &BTreeSet<String>| !pairs.is_empty())
        };
        for keys in [
            &["spec", "template", "metadata", "labels"][..],
            &["spec", "jobTemplate", "spec", "template", "metadata", "labels"],
        ] {
            facts.pods.extend(pairs(keys));
        }
        let selector = pairs(&["spec", "selector", "matchLabels"])
            .or_else(|| pairs(&["spec", "podSelector", "matchLabels"]))
            .or_else(|| pairs(&["spec", "selector"]));
        facts.selectors.extend(selector);
    }
    Ok(facts)
}

fn another_name() -> Result<(), Failed> {
    for dialect in DIALECTS {
        let run = Run::new("name", dialect)?;
        run.export(&crate::root().join(SHOP), &["--secrets-to", "secrets.yaml"])?;
        let first = facts(&run.process(&[])?)?;
        let other = facts(&run.process(&["-p", "NAME=other"])?)?;
        let shared: Vec<&String> = first.identities.intersection(&other.identities).collect();
        if !shared.is_empty() || first.identities.len() < 15 || first.selectors.len() < 5 {
            return Err(format!("{dialect}: {shared:?} of {:?}", first.identities).into());
        }
        for (selectors, pods) in [(&first.selectors, &other.pods), (&other.selectors, &first.pods)]
        {
            for selector in selectors {
                if pods.iter().any(|labels| selector.is_subset(labels)) {
                    return Err(format!("{dialect}: {selector:?} selects pods of both").into());
                }
            }
        }
    }
    Ok(())
}

fn no_secret() -> Result<(), Failed> {
    let input = fs::read_to_string(crate::root().join(SHOP))?;
    let shop = crate::root().join(SHOP).display().to_string();
    if !input.contains(CANARY) {
        return Err("there is no secret to look for".into());
    }
    let everywhere: &[&[&str]] = &[
        &[],
        &["--exact", "--parameterize", "none"],
        &["--parameterize", "all", "-o", "json"],
        &["--defaults", "keep", "--verbose"],
        &["--dialect", "openshift"],
        &["--keep", "metadata.annotations[kubectl.kubernetes.io/last-applied-configuration]"],
        &["--keep", "metadata.annotations", "--keep", "data", "--keep", "stringData"],
    ];
    let run = Run::new("secrets", "proposal")?;
    for more in everywhere {
        let arguments = [&["export", "-f", &shop][..], more].concat();
        let output = program::run(program::command(&run.folder).args(&arguments), Vec::new())?;
        for said in [output.stdout, output.stderr] {
            let said = String::from_utf8_lossy(&said);
            // Encoded, the word begins `Y2FuYXJ5`.
            if output.exit != "0" || said.contains(CANARY) || said.contains("Y2FuYXJ5") {
                return Err(format!("{more:?}: exit {}\n{said}", output.exit).into());
            }
        }
    }
    run.export(&crate::root().join(SHOP), &["--secrets-to", "secrets.yaml"])?;
    let secrets = run.folder.join("secrets.yaml");
    if !fs::read_to_string(&secrets)?.contains(CANARY) {
        return Err("the file for the secrets does not have them".into());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(&secrets)?.permissions().mode() & 0o777;
        if mode != 0o600 {
            return Err(format!("the mode of the file for the secrets is {mode:o}").into());
        }
    }
    Ok(())
}

/// With `--exact`, only the fields of the first table are gone.
fn exact() -> Result<(), Failed> {
    let run = Run::new("exact", "proposal")?;
    let exact = ["--exact", "--parameterize", "none", "--secrets-to", "secrets.yaml"];
    run.export(&crate::root().join(SHOP), &exact)?;
    let objects = read(&run.process(&[])?)?;
    let input = read(&fs::read_to_string(crate::root().join(SHOP))?)?;
    let input = input.first().and_then(|list| list.get("items"));
    let input = input.and_then(Value::items).unwrap_or_default();
    let mut count = 0;
    for object in &objects {
        let is_same = |other: &&Value<'_>| {
            let keys: [&[&str]; 2] = [&["kind"], &["metadata", "name"]];
            keys.iter().all(|keys| object.str_at(keys) == other.str_at(keys))
        };
        let Some(original) = input.iter().find(is_same) else {
            return Err("an object is new".into());
        };
        if object.str_at(&["kind"]) == Some("Secret") {
            continue;
        }
        let mut expected: serde_json::Value = serde_json::from_str(&original.to_json())?;
        less_system(&mut expected);
        let object: serde_json::Value = serde_json::from_str(&object.to_json())?;
        if object != expected {
            return Err(format!("{object:#}\nis not\n{expected:#}").into());
        }
        count += 1;
    }
    if count < 12 {
        return Err(format!("only {count} objects were compared").into());
    }
    Ok(())
}

/// Takes out what a cluster sets in the objects of the example.
fn less_system(object: &mut serde_json::Value) {
    fn without_nulls(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(entries) => {
                entries.retain(|_, value| !value.is_null());
                entries.values_mut().for_each(without_nulls);
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(without_nulls),
            _ => {}
        }
    }
    without_nulls(object);
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    let Some(metadata) = object.get_mut("metadata").and_then(|one| one.as_object_mut()) else {
        return;
    };
    for key in [
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "managedFields",
        "ownerReferences",
        "finalizers",
        "namespace",
    ] {
        metadata.remove(key);
    }
    let annotations = metadata.get_mut("annotations").and_then(|one| one.as_object_mut());
    let is_empty = annotations.is_some_and(|annotations| {
        annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
        annotations.remove("deployment.kubernetes.io/revision");
        annotations.is_empty()
    });
    if is_empty {
        metadata.remove("annotations");
    }
}

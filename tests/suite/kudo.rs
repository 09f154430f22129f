//! Parameter files as KUDO's operators use them (KEP-26): real lists of up to 247 parameters, real
//! values files, and the cases of KUDO's own parser. They are read from the folder that
//! `KRM_TEMPLATE_SHARED` names.
#![expect(clippy::indexing_slicing, reason = "what is not there in JSON is null")]

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};
use yaml_rust2::{Yaml, YamlLoader};

use crate::needs;
use crate::program::{self, Output};

/// In the shared data.
const CORPUS: &str = "corpus/kudo";
/// Operators with a values file, and the number of parameters of each.
const OPERATORS: &[(&str, &str, usize)] = &[
    ("cassandra/3.11", "values-cassandra.yaml", 247),
    ("elastic", "values-elastic.yaml", 16),
    ("flink", "values-flink.yaml", 6),
    ("kafka", "values-kafka.yaml", 200),
    ("spark", "values-spark.yaml", 39),
    ("zookeeper", "values-zookeeper.yaml", 11),
];

/// A test of what is in the folder.
type Test = fn(&Path) -> Result<(), Failed>;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = OPERATORS
        .iter()
        .map(|&(operator, values, count)| {
            needs::shared_data(format!("kudo/{operator}"), move |shared| {
                operator_takes_values(&shared.join(CORPUS), operator, values, count)
            })
        })
        .collect();
    let tests: [(&str, Test); 5] = [
        ("values_win_in_their_order", values_win_in_their_order),
        ("files_that_were_really_passed", files_that_were_really_passed),
        ("cases_of_files", cases_of_files),
        ("cases_of_arguments", cases_of_arguments),
        ("cases_of_types", cases_of_types),
    ];
    trials.extend(tests.map(|(name, test)| {
        needs::shared_data(format!("kudo/{name}"), move |shared| test(&shared.join(CORPUS)))
    }));
    trials
}

/// A Template and the folder it is in.
struct Case {
    folder: PathBuf,
}

impl Case {
    /// A Template with these parameters, and one object with all their values.
    fn new(name: &str, parameters: &[Value]) -> Result<Self, Failed> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kudo").join(name);
        fs::create_dir_all(&folder)?;
        let names = parameters.iter().filter_map(|parameter| parameter["name"].as_str());
        let data: Map<String, Value> =
            names.map(|name| (name.to_owned(), format!("$({name})").into())).collect();
        let template = json!({
            "apiVersion": "template.krm.dev/v1alpha1",
            "kind": "Template",
            "metadata": {"name": "t"},
            "parameters": parameters,
            "objects": [{
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "c"},
                "data": data,
            }],
        });
        fs::write(folder.join("template.json"), template.to_string())?;
        Ok(Self { folder })
    }

    fn file(&self, name: &str, text: &str) -> Result<(), Failed> {
        Ok(fs::write(self.folder.join(name), text)?)
    }

    fn run(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Result<Output, Failed> {
        let mut command = program::command(&self.folder);
        command.args(["process", "-f", "template.json"]);
        command.args(arguments).envs(environment.iter().copied());
        Ok(program::run(&mut command, Vec::new())?)
    }

    /// The values that the object shows.
    fn values(
        &self,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Result<Map<String, Value>, Failed> {
        let arguments = [arguments, &["-o", "json"]].concat();
        let output = self.run(&arguments, environment)?;
        if output.exit != "0" {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        let list: Value = serde_json::from_slice(&output.stdout)?;
        let values = list["items"][0]["data"].as_object();
        Ok(values.cloned().unwrap_or_default())
    }

    fn check_fails(&self, arguments: &[&str], exit: &str, message: &str) -> Result<(), Failed> {
        let output = self.run(arguments, &[])?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        if output.exit == exit && stderr.contains(message) {
            return Ok(());
        }
        let exit = output.exit;
        Err(format!("{arguments:?}: expected `{message}`, found exit {exit}: {stderr}").into())
    }
}

/// The parameters that an operator declares, as a Template does.
fn declared(corpus: &Path, operator: &str) -> Result<Vec<Value>, Failed> {
    let path = format!("operators/repository/{operator}/operator/params.yaml");
    let file = read(&corpus.join(path))?;
    let list = file["parameters"].as_vec().map(Vec::as_slice);
    let parameter = |declared: &Yaml| {
        let mut parameter = json!({"name": declared["name"].as_str()});
        for key in ["description", "displayName", "type"] {
            if let Some(text) = declared[key].as_str() {
                parameter[key] = text.into();
            }
        }
        if let Some(required) = declared["required"].as_bool() {
            parameter["required"] = required.into();
        }
        if !declared["default"].is_badvalue() {
            parameter["value"] = to_json(&declared["default"]);
        }
        parameter
    };
    Ok(list.unwrap_or_default().iter().map(parameter).collect())
}

fn read(path: &Path) -> Result<Yaml, Failed> {
    let documents = YamlLoader::load_from_str(&fs::read_to_string(path)?)?;
    Ok(documents.into_iter().next().unwrap_or(Yaml::Null))
}

/// Scalars as their text.
fn to_json(yaml: &Yaml) -> Value {
    match yaml {
        Yaml::Integer(number) => number.to_string().into(),
        Yaml::Boolean(flag) => flag.to_string().into(),
        Yaml::String(text) | Yaml::Real(text) => text.as_str().into(),
        Yaml::Array(items) => items.iter().map(to_json).collect(),
        Yaml::Hash(entries) => {
            let entries = entries.iter();
            let entry = |(key, value)| Some((Yaml::as_str(key)?.to_owned(), to_json(value)));
            Value::Object(entries.filter_map(entry).collect())
        }
        _ => Value::Null,
    }
}

/// The text that a string reference to a value inserts.
fn shown(value: &Value) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) => value.to_string().into(),
        Value::Null => "".into(),
        scalar => scalar.clone(),
    }
}

/// `-p NAME=…` for all parameters that must be given.
fn required(parameters: &[Value]) -> Vec<String> {
    let required = parameters
        .iter()
        .filter(|parameter| parameter["required"] == true && parameter["value"].is_null());
    required
        .filter_map(|parameter| Some(format!("-p{}=given", parameter["name"].as_str()?)))
        .collect()
}

fn operator_takes_values(
    corpus: &Path,
    operator: &str,
    values: &str,
    count: usize,
) -> Result<(), Failed> {
    let parameters = declared(corpus, operator)?;
    if parameters.len() != count {
        return Err(format!("{} parameters, expected {count}", parameters.len()).into());
    }
    let case = Case::new(&operator.replace('/', "-"), &parameters)?;
    let path = corpus.join(values);
    let given = to_json(&read(&path)?);
    let path = path.display().to_string();
    let required = required(&parameters);
    let mut arguments = vec!["-P", path.as_str()];
    arguments.extend(required.iter().map(String::as_str));
    let found = case.values(&arguments, &[])?;
    for parameter in &parameters {
        let name = parameter["name"].as_str().unwrap_or_default();
        let expected = match (&given[name], &parameter["value"]) {
            (Value::Null, Value::Null) if parameter["required"] == true => "given".into(),
            (Value::Null, default) => shown(default),
            (given, _) => shown(given),
        };
        check(name, &found[name], &expected)?;
    }
    Ok(())
}

fn check(what: &str, found: &Value, expected: &Value) -> Result<(), Failed> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: expected {expected}, found {found}").into())
}

/// Kafka's 200 parameters from five sources, of which `--dump-parameters` tells which one counts.
fn values_win_in_their_order(corpus: &Path) -> Result<(), Failed> {
    let parameters = declared(corpus, "kafka")?;
    let case = Case::new("order", &parameters)?;
    case.file(
        "values.env",
        "BROKER_COUNT=1\nBROKER_CPUS=1\nBROKER_MEM=1\nDISK_SIZE=1\nNE_MEM=1\n",
    )?;
    case.file("values.yaml", "BROKER_CPUS: 2\nBROKER_MEM: 2\nDISK_SIZE: 2\nNE_MEM: 2\n")?;
    case.file("value", "4")?;
    let environment = [("K_BROKER_MEM", "3"), ("K_DISK_SIZE", "3"), ("K_NE_MEM", "3")];
    let required = required(&parameters);
    let mut arguments = vec!["--param-file", "values.env", "-P", "values.yaml", "--env", "K_"];
    arguments.extend(["--parameter-from-file", "DISK_SIZE=value"]);
    arguments.extend(["--parameter-from-file", "NE_MEM=value", "-p", "NE_MEM=5"]);
    arguments.extend(required.iter().map(String::as_str));
    let found = case.values(&arguments, &environment)?;
    let order = ["BROKER_COUNT", "BROKER_CPUS", "BROKER_MEM", "DISK_SIZE", "NE_MEM"];
    for (index, name) in order.iter().enumerate() {
        check(name, &found[*name], &(index + 1).to_string().into())?;
    }
    arguments.push("--dump-parameters");
    let table = case.run(&arguments, &environment)?.stdout;
    let table = String::from_utf8_lossy(&table);
    let sources = ["values.env:1:1", "values.yaml:1:14", "$K_BROKER_MEM=…"];
    let sources = sources.iter().chain(&["--parameter-from-file DISK_SIZE=…", "-p NE_MEM=…"]);
    for (name, source) in order.iter().zip(sources) {
        let row = table.lines().find(|row| row.split_whitespace().next() == Some(name));
        if !row.is_some_and(|row| row.ends_with(source)) {
            return Err(format!("{name}: expected {source}, found {row:?}").into());
        }
    }
    check("rows", &table.lines().count().into(), &201.into())
}

fn files_that_were_really_passed(corpus: &Path) -> Result<(), Failed> {
    let parameters = declared(corpus, "cassandra/3.11")?;
    let case = Case::new("real", &parameters)?;
    let arrays = parameters.iter().filter(|parameter| parameter["type"] == "array");
    let arrays: Vec<&str> = arrays.filter_map(|array| array["name"].as_str()).collect();
    let path = |name: &str| corpus.join("real-values").join(name).display().to_string();
    for name in
        ["benchmarks_mwt_setup_01-cassandra-install_params.yaml", "benchmarks_params-setup.yaml"]
    {
        let path = path(name);
        let given = to_json(&read(Path::new(&path))?);
        let found = case.values(&["-P", &path], &[])?;
        for (name, value) in given.as_object().into_iter().flatten() {
            // A list may be given as text.
            let text = value.as_str().filter(|_| arrays.contains(&name.as_str()));
            let list = text.and_then(|text| YamlLoader::load_from_str(text).ok());
            let list = list.and_then(|list| list.first().map(numbers));
            check(name, &found[name], &shown(list.as_ref().unwrap_or(value)))?;
        }
    }
    // These are still to be filled in.
    for (name, line) in [
        ("kuttl-tests_suites_common_install-test_params.yaml.template", 6),
        ("kuttl-tests_suites_failure-recovery_node-failure_params.yaml.template", 14),
    ] {
        let path = path(name);
        case.check_fails(&["-P", &path], "1", &format!("{path}:{line}:"))?;
    }
    // Parameters of another operator, and a list of parameters in place of values.
    for (name, message) in [
        (
            "benchmarks_mwt_workload_workload_stress-params.yaml",
            "the Template has no parameter `NUM_CLIENTS`",
        ),
        ("benchmarks_cassandra-stress_params.yaml", "the Template has no parameter `parameters`"),
    ] {
        case.check_fails(&["-P", &path(name)], "1", message)?;
    }
    Ok(())
}

fn cases(corpus: &Path, key: &str) -> Result<Vec<Value>, Failed> {
    let text = fs::read_to_string(corpus.join("cases.json"))?;
    let cases: Value = serde_json::from_str(&text)?;
    match cases[key].as_array() {
        Some(list) if !list.is_empty() => Ok(list.clone()),
        _ => Err(format!("there are no cases `{key}`").into()),
    }
}

fn cases_of_files(corpus: &Path) -> Result<(), Failed> {
    for one in cases(corpus, "GetParameterMap")? {
        let name = one["name"].as_str().unwrap_or_default();
        let expected = one["expected"].as_object().cloned().unwrap_or_default();
        // KUDO hands on a list as YAML; here it is one, and shown as JSON.
        let expected: Map<String, Value> = expected
            .into_iter()
            .map(|(name, text)| {
                let text = text.as_str().unwrap_or_default();
                let yaml = YamlLoader::load_from_str(text).unwrap_or_default();
                let list = yaml.first().filter(|yaml| yaml.is_array()).map(numbers);
                (name, list.unwrap_or_else(|| text.into()))
            })
            .collect();
        let parameters: Vec<Value> = ["a", "b", "c", "A"]
            .iter()
            .map(|name| match expected.get(*name) {
                Some(Value::Array(_)) => json!({"name": name, "type": "array"}),
                _ => json!({"name": name}),
            })
            .collect();
        let case = Case::new(&name.replace([' ', '#'], "-"), &parameters)?;
        for (name, text) in one["fs"].as_object().into_iter().flatten() {
            case.file(name, text.as_str().unwrap_or_default())?;
        }
        let texts = |key: &str| {
            let list = one[key].as_array().cloned().unwrap_or_default();
            let texts = list.into_iter();
            texts.filter_map(|text| Some(text.as_str()?.to_owned())).collect::<Vec<String>>()
        };
        let files = texts("paramFiles").into_iter().map(|file| format!("-P{file}"));
        let values = texts("params").into_iter().map(|value| format!("-p{value}"));
        let arguments: Vec<String> = files.chain(values).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if one["error"].is_string() {
            case.check_fails(&arguments, "1", "error: ")?;
            continue;
        }
        let found = case.values(&arguments, &[])?;
        for name in ["a", "b", "c", "A"] {
            let expected = expected.get(name).unwrap_or(&Value::Null);
            check(name, &found[name], &shown(expected))?;
        }
    }
    Ok(())
}

/// With numbers as numbers.
fn numbers(yaml: &Yaml) -> Value {
    match yaml {
        Yaml::Integer(number) => (*number).into(),
        Yaml::Array(items) => items.iter().map(numbers).collect(),
        Yaml::Hash(entries) => {
            let entries = entries.iter();
            let entry = |(key, value)| Some((Yaml::as_str(key)?.to_owned(), numbers(value)));
            Value::Object(entries.filter_map(entry).collect())
        }
        other => to_json(other),
    }
}

fn cases_of_arguments(corpus: &Path) -> Result<(), Failed> {
    let case = Case::new("arguments", &[json!({"name": "foo"})])?;
    for one in cases(corpus, "parseParameter")? {
        let argument = format!("-p{}", one[0].as_str().unwrap_or_default());
        match &one[1] {
            // KUDO refuses an empty value, which `oc` and we take.
            Value::Null if argument.ends_with('=') => {
                check("foo", &case.values(&[&argument], &[])?["foo"], &"".into())?;
            }
            Value::Null => case.check_fails(&[&argument], "2", "error: ")?,
            pair => check("foo", &case.values(&[&argument], &[])?["foo"], &pair[1])?,
        }
    }
    Ok(())
}

fn cases_of_types(corpus: &Path) -> Result<(), Failed> {
    for (kind, key) in [("array", "ToYAMLArray"), ("map", "ToYAMLMap")] {
        let case = Case::new(kind, &[json!({"name": "p", "type": kind})])?;
        for one in cases(corpus, key)? {
            let argument = format!("-pp={}", one[0].as_str().unwrap_or_default());
            // KUDO takes any YAML for a map, we only maps.
            let is_other = kind == "map" && !(one[1].is_object() || one[1].is_null());
            if one[2] == true || is_other {
                case.check_fails(&[&argument], "1", &format!("is not of the type {kind}"))?;
            } else {
                check(&argument, &case.values(&[&argument], &[])?["p"], &shown(&one[1]))?;
            }
        }
    }
    for one in cases(corpus, "ValidateParameterValueForType_ok")? {
        let case = Case::new("typed", &[json!({"name": "p", "type": one[1]})])?;
        case.file("values.json", &json!({"p": one[0]}).to_string())?;
        let found = case.values(&["-P", "values.json"], &[])?;
        if found["p"].as_str().is_none_or(str::is_empty) {
            return Err(format!("{one}: found {found:?}").into());
        }
    }
    Ok(())
}

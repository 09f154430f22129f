//! The protocol, with an interpreter that only repeats its input.

use std::collections::VecDeque;
use std::sync::Arc;

use krm_yaml::Value;
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::source::Source;

use super::{Call, Forbidden, Interpreter, Output, Returned, Session};
use crate::model::{Env, Import, Imports};

const TEMPLATE: &str =
    "import common\n\ndef GenerateConfig(context):\n  return common.f(context)\n";
const HELPER: &str = "def f(context):\n    return context.properties['prot']\n";

/// Records requests, and answers with the given lines.
#[derive(Default)]
struct Parrot {
    requests: Vec<String>,
    answers: VecDeque<String>,
}

impl Interpreter for Parrot {
    fn ask(&mut self, line: &str) -> Result<String> {
        self.requests.push(line.to_owned());
        let answer = self.answers.pop_front();
        Ok(answer.ok_or_else(|| Diagnostic::error("no answer"))?)
    }
}

fn imports(files: &[(&str, &str, &str)]) -> Imports {
    let mut imports = Imports::default();
    for (name, path, text) in files {
        imports.insert(Import {
            name: (*name).to_owned(),
            path: (*path).to_owned(),
            content: Source::new(*path, *text),
        });
    }
    imports
}

fn data(json: &str) -> Value<'static> {
    Value::from(serde_json::from_str::<serde_json::Value>(json).unwrap())
}

/// Calls `site.py`, which imports `common.py`, and answers with `answer`.
fn ask(answer: &str, properties: Option<&str>) -> Result<Returned> {
    let imports = imports(&[
        ("site.py", "templates/site.py", TEMPLATE),
        ("common.py", "templates/common.py", HELPER),
    ]);
    let properties = properties.map(data);
    let mut parrot = Parrot::default();
    parrot.answers.push_back(answer.to_owned());
    Session::new(&mut parrot).call(Call {
        template: imports.get("site.py").unwrap(),
        properties: properties.as_ref(),
        env: &Env::default(),
        imports: &imports,
    })
}

/// The error that an answer is reported as.
fn error(answer: &str, properties: Option<&str>) -> String {
    ask(answer, properties).unwrap_err().to_string()
}

#[test]
fn only_the_first_request_has_the_imports() {
    let imports = imports(&[
        ("a.py", "./x/../lib/a.py", "A\n"),
        ("lib/__init__.py", "lib/__init__.py", ""),
        ("b.jinja", "b.jinja", "B"),
        ("../up.py", "../up.py", ""),
        ("https://example.com/c.py", "https://example.com/c.py", ""),
    ]);
    let mut env = Env::new();
    env.insert("project".to_owned(), "p".into());
    let mut parrot = Parrot::default();
    parrot.answers.extend([r#"{"text":"","properties":null}"#; 2].map(str::to_owned));
    let mut session = Session::new(&mut parrot);
    let properties = data(r#"{"text":"a\nb","list":[1.50,null,true]}"#);
    for properties in [Some(&properties), None] {
        let call = Call {
            template: imports.get("a.py").unwrap(),
            properties,
            env: &env,
            imports: &imports,
        };
        session.call(call).unwrap();
    }
    let [first, second] = parrot.requests.as_slice() else {
        panic!("{:?}", parrot.requests);
    };
    assert_eq!(
        first,
        concat!(
            r#"{"name":"a.py","properties":{"text":"a\nb","list":[1.50,null,true]},"#,
            r#""env":{"project":"p"},"#,
            r#""imports":{"a.py":"A\n","lib/__init__.py":"","b.jinja":"B","../up.py":"","#,
            r#""https://example.com/c.py":""},"#,
            r#""modules":{"a":"a.py","lib":"lib/__init__.py","lib.a":"a.py"}}"#,
            "\n"
        )
    );
    assert_eq!(second, "{\"name\":\"a.py\",\"env\":{\"project\":\"p\"}}\n");
}

#[test]
fn numbers_that_json_lacks_pass_both_ways() {
    let imports = imports(&[("a.py", "a.py", "")]);
    let numbers = [".inf", "-.inf", ".NaN"].map(Value::number);
    let properties = Value::sequence(numbers.to_vec());
    let mut parrot = Parrot::default();
    parrot.answers.push_back(
        r#"{"dict":{"a":{"\u0000":".inf"},"b":[{"\u0000":"-.inf"}],"c":{"\u0000":"x"}},"properties":[]}"#
            .to_owned(),
    );
    let call = Call {
        template: imports.get("a.py").unwrap(),
        properties: Some(&properties),
        env: &Env::default(),
        imports: &imports,
    };
    let returned = Session::new(&mut parrot).call(call).unwrap();
    assert!(parrot.requests[0].contains(r#""properties":[Infinity,-Infinity,NaN]"#));
    let Output::Data(result) = returned.result else {
        panic!("{returned:?}");
    };
    assert_eq!(result.get("a"), Some(&Value::number(".inf")));
    let b = result.get("b").and_then(Value::items);
    assert_eq!(b, Some(&[Value::number("-.inf")][..]));
    assert_eq!(result.at(&["c", "\0"]), Some(&Value::string("x")));
}

#[test]
fn a_result_is_a_text_a_mapping_or_another_type() {
    let text = ask(r#"{"text":"a: 1","properties":{}}"#, None).unwrap();
    assert!(matches!(text.result, Output::Text(text) if text == "a: 1"));
    assert!(text.properties.is_none());

    let other = ask(r#"{"type":"list","properties":null}"#, Some("null")).unwrap();
    assert!(matches!(other.result, Output::Other(name) if name == "list"));
    assert!(other.properties.unwrap().is_null());

    let line = r#"{"dict":{"resources":[{"p":{"n":123456789012345678901234567890}}]},"properties":{"n":1}}"#;
    let mapping = ask(line, Some("{}")).unwrap();
    let Output::Data(result) = mapping.result else {
        panic!("{mapping:?}");
    };
    let item = &result.get("resources").unwrap().items().unwrap()[0];
    let number = Value::number("123456789012345678901234567890");
    assert_eq!(item.at(&["p", "n"]), Some(&number));
}

#[test]
fn fractions_that_did_not_change_keep_their_digits() {
    let before = r#"{"a":1.10,"b":[2.50,2.0],"c":1,"d":3.0}"#;
    let answer = r#"{"text":"","properties":{"b":[2.5,2.1,7.0],"a":1.1,"c":1.0,"d":3}}"#;
    let after = ask(answer, Some(before)).unwrap().properties.unwrap();
    let mut json = String::new();
    krm_yaml::json(&mut json, &after, None, 0);
    assert_eq!(json, r#"{"b":[2.50,2.1,7.0],"a":1.10,"c":1.0,"d":3}"#);
}

#[test]
fn an_exception_is_placed_at_the_line_that_failed() {
    let answer = r#"{"exception":"KeyError: 'prot'","trace":[["site.py",4,"GenerateConfig"],["common.py",2,"f"]],"key":"prot"}"#;
    let wrong = ask(answer, Some(r#"{"port":80}"#)).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "error: templates/common.py:2:5: `site.py` failed: KeyError: 'prot'\n  help: did you mean `port`?"
    );
    let [(place, label)] = wrong.related.as_slice() else {
        panic!("{wrong:?}");
    };
    assert_eq!(
        (place.to_text().as_str(), label.as_str()),
        ("templates/site.py:4:3", "called here")
    );
}

#[test]
fn errors_have_hints() {
    let trace = r#""trace":[["site.py",1,"<module>"]]"#;
    for (rest, hint) in [
        (r#""python2":true,"column":8"#, "this is Python 2; 2to3 rewrites it"),
        (r#""missing":"yaml""#, "install it: `python3 -m pip install pyyaml`"),
        (r#""missing":"yaml.nodes""#, "install it: `python3 -m pip install pyyaml`"),
        (r#""missing":"six""#, "install it: `python3 -m pip install six`"),
        (r#""missing":"comon""#, "did you mean `common`?"),
        (
            r#""missing":"helpers.network""#,
            "a module of your own is an import: add `helpers/network.py` to `imports`",
        ),
    ] {
        let answer = format!(r#"{{"exception":"E: x\n  more",{trace},{rest}}}"#);
        let wrong = ask(&answer, None).unwrap_err();
        assert_eq!(wrong.message, "`site.py` failed: E: x");
        assert_eq!(wrong.hints, ["Python adds:\n  more", hint]);
    }
}

#[test]
fn a_variable_that_was_not_given_names_its_option() {
    let answer =
        r#"{"exception":"KeyError: 'project'","trace":[["site.py",4,""]],"key":"project"}"#;
    let wrong = ask(answer, Some("{}")).unwrap_err();
    let advice: Vec<_> = wrong.advice.iter().map(|(_, advice)| advice.as_str()).collect();
    assert_eq!(advice, ["add `--project ID`", "set `spec.env.project`"]);
}

#[test]
fn a_forbidden_operation_is_an_error_in_our_words() {
    let answer =
        r#"{"error":"a template may not use os.system","trace":[["site.py",4,"GenerateConfig"]]}"#;
    assert_eq!(
        error(answer, None),
        "error: templates/site.py:4:3: a template may not use os.system"
    );
}

#[test]
fn an_answer_that_breaks_the_protocol_is_an_error() {
    for answer in ["", "garbage", "[]", "{}", r#"{"error":"x"}"#, r#"{"text":""}"#] {
        let wrong = error(answer, Some("{}"));
        assert_eq!(
            wrong, "error: templates/site.py:1:1: the answer of Python to `site.py` cannot be read",
            "{answer}"
        );
    }
}

#[test]
fn after_an_answer_that_breaks_the_protocol_nothing_is_asked() {
    let imports = imports(&[("a.py", "a.py", "")]);
    let call = Call {
        template: imports.get("a.py").unwrap(),
        properties: None,
        env: &Env::default(),
        imports: &imports,
    };
    let mut parrot = Parrot::default();
    parrot.answers.extend(["garbage", r#"{"text":""}"#].map(str::to_owned));
    let mut session = Session::new(&mut parrot);
    assert!(session.call(call).is_err() && session.call(call).is_err());
    assert_eq!(parrot.requests.len(), 1);
}

#[test]
fn python_that_is_not_allowed_is_not_run() {
    let imports = imports(&[("web.py", "web.py", TEMPLATE)]);
    let call = Call {
        template: imports.get("web.py").unwrap(),
        properties: None,
        env: &Env::default(),
        imports: &imports,
    };
    let wrong = Session::new(&mut Forbidden(&["first", "second"])).call(call).unwrap_err();
    assert!(Arc::ptr_eq(&wrong.place.as_ref().unwrap().source, &call.template.content));
    assert_eq!(
        wrong.to_string(),
        "error: web.py:1:1: `web.py` is a Python template; Python is not run\n  help: first\n  help: second"
    );
}

//! Jinja templates rendered with small properties: nothing panics or runs for long, and a second
//! time gives the same.

use crate::deployment_manager::jinja::{Context, Environment};
use crate::deployment_manager::model::{Env, Import, Imports};
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys, Value};

const PROPERTIES: &str = r#"{"zone": "us-a", "count": 3, "ratio": 1.5, "none": null, "on": true,
    "list": ["a", "b"], "map": {"b": 1, "a": [{"n": 1}, {"n": 2}]}}"#;

/// Holds the property for an input.
///
/// # Panics
/// If it does not hold.
pub fn check(text: &str) {
    // Texts after a zero byte are further imports.
    let mut imports = Imports::default();
    for (index, content) in text.split('\0').enumerate() {
        let name = format!("{index}.jinja");
        imports.insert(Import {
            path: name.clone(),
            content: Source::new(name.as_str(), content),
            name,
        });
    }
    let document = Document::parse(&Source::new("properties", PROPERTIES)).expect("it is JSON");
    let root = document.roots().next().expect("there is a value");
    let properties = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new());
    let resource = Value::mapping(vec![
        ("name".into(), "web".into()),
        ("type".into(), "0.jinja".into()),
        ("properties".into(), properties.expect("it can be read")),
    ]);
    let env = Env::from([("deployment".to_owned(), Value::from("d"))]);
    let template = imports.iter().next().expect("there is a first import");
    let render = || {
        let context = Context { resource: &resource, env: &env };
        Environment::new(&imports).render(template, context)
    };
    match (render(), render()) {
        (Ok(first), Ok(second)) => {
            assert_eq!(first.text, second.text);
            assert_eq!(first.properties, second.properties);
        }
        (Err(first), Err(second)) => assert_eq!(first.message, second.message),
        (first, second) => panic!("{first:?}\n{second:?}"),
    }
}

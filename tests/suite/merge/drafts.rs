//! Made-up Templates with comments, several styles of scalars and indentation.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// A parameter of a made-up Template.
#[derive(Clone, Debug)]
struct Made {
    name: &'static str,
    value: &'static str,
    required: bool,
    description: &'static str,
}

/// A text in an object, around a reference.
#[derive(Clone, Debug)]
struct Line {
    style: usize,
    text: &'static str,
}

/// A made-up Template.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    parameters: Vec<Made>,
    labels: Vec<(&'static str, &'static str)>,
    objects: Vec<(&'static str, Vec<Line>)>,
    indentation: usize,
    message: Option<&'static str>,
    pub(super) is_openshift: bool,
}

/// A made-up Template.
pub(super) fn draft() -> impl Strategy<Value = Draft> {
    let message = proptest::option::of(select(&["hello", "a is $(A)\nand more\n"][..]));
    let labels = vec![("app", "x"), ("tier", "$(A)"), ("app.kubernetes.io/name", "z")];
    let lists = (parameters(), subsequence(labels, 0..=2), objects());
    let rest = (0..3_usize, message, proptest::bool::weighted(0.3));
    (lists, rest).prop_map(|(lists, (indentation, message, is_openshift))| Draft {
        parameters: lists.0,
        labels: lists.1,
        objects: lists.2,
        indentation,
        message,
        is_openshift,
    })
}

fn parameters() -> impl Strategy<Value = Vec<Made>> {
    subsequence(vec!["A", "B", "NAME", "C", "D"], 0..=3).prop_flat_map(|names| {
        let value = select(&["x", "x", "x", "", "z"][..]);
        let description = select(&["", "", "", "one", "two"][..]);
        let fields = vec((value, any::<bool>(), description), names.len());
        (Just(names), fields).prop_map(|(names, fields)| {
            let pairs = names.into_iter().zip(fields);
            let made = pairs.map(|(name, (value, required, description))| Made {
                name,
                value,
                required: required && description == "two",
                description,
            });
            made.collect()
        })
    })
}

/// Objects, in whose names `@` is the name of the Template.
fn objects() -> impl Strategy<Value = Vec<(&'static str, Vec<Line>)>> {
    let texts = ["$(A)", "a $(B) b", "$$(A)", "$${NAME}", "$(NAME)-$(A)", "it's", "#", "$(OTHER)"];
    let line = (0..5_usize, select(texts.to_vec()));
    let line = line.prop_map(|(style, text)| Line { style, text });
    let name = select(&["$(NAME)", "one", "@-two", "x-$(A)", "@-three", "@"][..]);
    vec((name, vec(line, 0..4)), 0..4)
}

impl Draft {
    /// The text of the Template with this name.
    pub(super) fn text(&self, name: &str) -> String {
        let mut text = format!(
            "# head\napiVersion: template.krm.dev/v1alpha1\nkind: Template\n\
             metadata:\n  name: {name}  # {name}\n"
        );
        if !self.labels.is_empty() {
            text.push_str("labels:\n");
        }
        for (key, value) in &self.labels {
            text.extend(["  ", key, ": ", value, "\n"]);
        }
        text.push_str(&self.parameters_text());
        text.push_str(&self.objects_text());
        if let Some(message) = self.message {
            let message = serde_json::Value::from(message).to_string();
            text.extend(["message: ", &message, "\n"]);
        }
        let text = text.replace('@', name);
        if !self.is_openshift {
            return text;
        }
        let text = text.replace("$$", "$").replace("$(", "${");
        text.replace(')', "}").replace("krm.dev/v1alpha1", "openshift.io/v1")
    }

    fn parameters_text(&self) -> String {
        let indentation = " ".repeat(self.indentation);
        let mut lines = Vec::new();
        if self.parameters.is_empty() {
            return String::new();
        }
        lines.push("parameters:".to_owned());
        for made in &self.parameters {
            lines.push(format!("{indentation}# about {}", made.name));
            lines.push(format!("{indentation}- name: {}", made.name));
            if !made.value.is_empty() {
                lines.push(format!("{indentation}  value: '{}'  # default", made.value));
            }
            if made.required {
                lines.push(format!("{indentation}  required: true"));
            }
            if !made.description.is_empty() {
                lines.push(format!("{indentation}  description: {}", made.description));
            }
        }
        lines.push(String::new());
        lines.join("\n")
    }

    fn objects_text(&self) -> String {
        if self.objects.is_empty() {
            return "objects: []\n".to_owned();
        }
        let indentation = " ".repeat(self.indentation);
        let mut lines = vec!["objects:".to_owned()];
        let mut seen = BTreeSet::new();
        let mut objects = self.objects.clone();
        objects.retain(|(object, _)| seen.insert(*object));
        for (object, data) in objects {
            lines.push(format!("{indentation}- kind: ConfigMap # {object}"));
            lines.push(format!("{indentation}  apiVersion: v1"));
            lines.push(format!("{indentation}  metadata: {{name: {object}}}"));
            lines.push(format!("{indentation}  data:"));
            lines.push(format!("{indentation}    none: ''"));
            for (index, line) in data.iter().enumerate() {
                lines.push(format!("{indentation}    # line {index}"));
                lines.push(line.text(&format!("{indentation}    "), index));
            }
        }
        lines.push(String::new());
        lines.join("\n")
    }
}

impl Line {
    fn text(&self, indentation: &str, index: usize) -> String {
        let text = self.text;
        match self.style {
            0 => format!("{indentation}k{index}: {}", serde_json::Value::from(text)),
            1 => format!("{indentation}k{index}: '{}' # c", text.replace('\'', "''")),
            2 => format!(
                "{indentation}k{index}: |\n{indentation}  {text}\n{indentation}   more {text}"
            ),
            3 => format!(
                "{indentation}k{index}: >-\n{indentation}  {text}\n{indentation}  folded\n\n{indentation}  {text}"
            ),
            _ => format!(
                "{indentation}k{index}-{text}: \"q\\u0024 {text}\n{indentation}   second {text}\""
            ),
        }
    }
}

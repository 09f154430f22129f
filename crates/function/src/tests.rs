//! Objects that were edited by hand: their comments stay with their items.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::sample::Index;

use super::{Environment, run};
use krm_yaml::source::Source;

/// A container, or a variable of one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    name: String,
    fields: Vec<(&'static str, String)>,
    variables: Vec<Self>,
    /// Whether it has comments: only existing items have.
    is_noted: bool,
}

impl Item {
    fn variable(container: &str, name: &str) -> Self {
        let name = format!("{container}-{name}");
        Self {
            fields: vec![("value", format!("value of {name}"))],
            name,
            variables: Vec::new(),
            is_noted: false,
        }
    }

    fn container(name: &str) -> Self {
        let variables = ["e0", "e1", "e2"].map(|variable| Self::variable(name, variable));
        Self {
            name: name.to_owned(),
            fields: vec![("image", format!("image-of-{name}")), ("tty", "true".to_owned())],
            variables: variables.into(),
            is_noted: false,
        }
    }

    fn noted(mut self) -> Self {
        self.is_noted = true;
        self.variables = self.variables.into_iter().map(Self::noted).collect();
        self
    }

    /// Writes the item with its dash at `column`, its own lists indented by `step`.
    fn write(&self, out: &mut String, column: usize, step: usize) {
        let name = &self.name;
        let (dash, inner) = (" ".repeat(column), " ".repeat(column + 2));
        let note = |text: &str| {
            if self.is_noted { format!(" # {text} {name}") } else { String::new() }
        };
        if self.is_noted {
            writeln!(out, "{dash}# above {name}").unwrap();
        }
        writeln!(out, "{dash}- name: {name}{}", note("right of")).unwrap();
        for (key, value) in &self.fields {
            if self.is_noted {
                writeln!(out, "{inner}# above {key} of {name}").unwrap();
            }
            let right = note(&format!("right of {key} of"));
            writeln!(out, "{inner}{key}: {value}{right}").unwrap();
        }
        if !self.variables.is_empty() {
            writeln!(out, "{inner}env:{}", note("right of env of")).unwrap();
            for variable in &self.variables {
                variable.write(out, column + 2 + step, step);
            }
        }
        // Below a list it would be its last item's.
        if self.is_noted && self.variables.is_empty() {
            writeln!(out, "{inner}# below {name}").unwrap();
        }
    }
}

/// A change of a list by hand.
#[derive(Clone, Debug)]
enum HandEdit {
    Insert(Index),
    Delete(Index),
    Swap(Index, Index),
    Rotate(Index),
    /// Another value of the first field.
    Set(Index),
    /// The fields in another order.
    Turn(Index),
}

impl HandEdit {
    /// Changes the list, of which one item stays. `new` makes an item.
    fn apply(&self, items: &mut Vec<Item>, new: impl FnOnce() -> Item) {
        let count = items.len();
        match self {
            Self::Insert(at) => items.insert(at.index(count + 1), new()),
            Self::Delete(at) if count > 1 => {
                items.remove(at.index(count));
            }
            Self::Delete(_) => {}
            Self::Swap(one, other) => items.swap(one.index(count), other.index(count)),
            Self::Rotate(by) => items.rotate_left(by.index(count)),
            Self::Set(at) => items[at.index(count)].fields[0].1.push('2'),
            Self::Turn(at) => items[at.index(count)].fields.reverse(),
        }
    }
}

fn changes() -> impl Strategy<Value = Vec<(Option<Index>, HandEdit)>> {
    let at = any::<Index>;
    let change = prop_oneof![
        3 => at().prop_map(HandEdit::Insert),
        2 => at().prop_map(HandEdit::Delete),
        2 => (at(), at()).prop_map(|(one, other)| HandEdit::Swap(one, other)),
        1 => at().prop_map(HandEdit::Rotate),
        1 => at().prop_map(HandEdit::Set),
        1 => at().prop_map(HandEdit::Turn),
    ];
    prop::collection::vec((prop::option::of(at()), change), 0..6)
}

/// Changes containers, or the variables of one, as `changes` say.
fn change(containers: &mut Vec<Item>, changes: &[(Option<Index>, HandEdit)], who: &str) {
    for (number, (container, change)) in changes.iter().enumerate() {
        let name = format!("{who}{number}");
        match container {
            None => change.apply(containers, || Item::container(&name)),
            Some(at) => {
                let at = at.index(containers.len());
                let container = &mut containers[at];
                let new = Item::variable(&container.name, &name);
                change.apply(&mut container.variables, || new);
            }
        }
    }
}

/// The result of `replace` for a list: the Template's items, with the comments they had.
fn replaced(template: &[Item], existing: &[Item]) -> Vec<Item> {
    let find = |item: &Item| existing.iter().find(|old| old.name == item.name);
    let items = template.iter().map(|item| match find(item) {
        Some(old) => Item {
            fields: fields(item, old),
            variables: replaced(&item.variables, &old.variables),
            ..old.clone()
        },
        None => item.clone(),
    });
    items.collect()
}

/// The result of `merge` for a list: the existing items, and after the one before it in the
/// Template each that is missing.
fn merged(template: &[Item], existing: &[Item]) -> Vec<Item> {
    let mut items: Vec<Item> = existing.to_vec();
    for item in &mut items {
        if let Some(own) = template.iter().find(|own| own.name == item.name) {
            item.fields = fields(own, item);
            item.variables = merged(&own.variables, &item.variables);
        }
    }
    let find = |items: &[Item], name: &str| items.iter().position(|item| item.name == name);
    for (index, own) in template.iter().enumerate() {
        if find(&items, &own.name).is_some() {
            continue;
        }
        let before = index.checked_sub(1).map(|before| &template[before]);
        let at = if let Some(before) = before {
            find(&items, &before.name).unwrap() + 1
        } else {
            let mut others = template.iter();
            let next = others.find_map(|other| find(&items, &other.name));
            next.unwrap_or(items.len())
        };
        items.insert(at, own.clone());
    }
    items
}

/// The Template's values in the order in which the fields stand.
fn fields(own: &Item, existing: &Item) -> Vec<(&'static str, String)> {
    let value = |key: &str| own.fields.iter().find(|(name, _)| *name == key);
    let keys = existing.fields.iter();
    keys.map(|(key, _)| value(key).unwrap().clone()).collect()
}

/// A ResourceList with a Template, and with the object that it has made.
fn list(manner: &str, template: &[Item], existing: &[Item], step: usize) -> String {
    let mut text = "apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: web
    annotations:
      config.kubernetes.io/path: web.yaml
      config.kubernetes.io/index: '0'
      template.krm.dev/instance: Template//t
      template.krm.dev/origin: Pod web
  spec: # right of spec
    # above containers
    containers:
"
    .to_owned();
    for item in existing {
        item.write(&mut text, 4 + step, step);
    }
    write!(
        text,
        "functionConfig:
  apiVersion: template.krm.dev/v1alpha1
  kind: Template
  metadata:
    name: t
    annotations:
      template.krm.dev/update: {manner}
  objects:
  - apiVersion: v1
    kind: Pod
    metadata:
      name: web
    spec:
      containers:
"
    )
    .unwrap();
    for item in template {
        item.write(&mut text, 6, 0);
    }
    text
}

/// Runs the function and leaves out what it reports.
fn rendered(text: String) -> String {
    let source = Source::new("stdin", text);
    let output = run(&source, &Environment::default());
    assert!(!output.diagnostics.has_errors(), "{:?}", output.diagnostics);
    let text = output.text();
    let (text, _) = text.split_once("results:\n").unwrap_or((&text, ""));
    text.to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn comments_stay_with_their_items(
        by_hand in changes(),
        of_template in changes(),
        step in prop::sample::select(vec![0_usize, 2]),
    ) {
        let first = ["c0", "c1", "c2", "c3"].map(Item::container).to_vec();
        let mut existing = first.clone();
        change(&mut existing, &by_hand, "hand");
        let existing: Vec<Item> = existing.into_iter().map(Item::noted).collect();
        let mut template = first;
        change(&mut template, &of_template, "template");
        for (manner, expected) in [
            ("merge", merged(&template, &existing)),
            ("replace", replaced(&template, &existing)),
        ] {
            let before = list(manner, &template, &existing, step);
            let after = list(manner, &template, &expected, step);
            let text = rendered(before);
            prop_assert!(text == after, "{}:\n{}\nis not\n{}", manner, text, after);
            prop_assert!(rendered(text) == after, "{} again", manner);
        }
    }
}

/// Pieces of paths.
const PIECES: &[&str] = &[
    "/",
    "//",
    ".",
    "..",
    "./",
    "../",
    "a",
    "b",
    ".git",
    ".github",
    "hooks",
    "Kptfile",
    "kptfile",
    "KUSTOMIZATION",
    "kustomization",
    "Skaffold",
    "Chart",
    "composition",
    "docker-compose",
    ".yaml",
    ".yml",
    ".json",
    ".YAML",
    ".sh",
    " ",
    "\\",
    "~1",
    ":",
    "\t",
    "\u{200d}",
    "\u{17f}",
    "ä",
    "%2e",
    "-x",
];

/// The file that a function gives an object which names this one itself; none if it refuses.
fn file_of(path: &str, config: &str) -> Option<String> {
    let path = krm_yaml::Value::from(serde_json::Value::from(path)).to_json();
    let list = format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n  \
         apiVersion: template.krm.dev/v1alpha1\n  kind: Template\n  metadata:\n    name: t\n    \
         annotations: {{internal.config.kubernetes.io/path: {config}}}\n  objects:\n  \
         - apiVersion: v1\n    kind: ConfigMap\n    metadata:\n      name: c\n      \
         annotations: {{config.kubernetes.io/path: {path}}}\n"
    );
    let output = run(&Source::new("stdin", list), &Environment::default());
    if output.diagnostics.has_errors() {
        return None;
    }
    let printed = output.text();
    let document = krm_yaml::Document::parse(&Source::new("printed", printed)).unwrap();
    let items = document.roots().next().unwrap().get("items").unwrap();
    let item = items.children().next().unwrap();
    let keys = ["metadata", "annotations", "internal.config.kubernetes.io/path"];
    item.text_at(keys).map(std::borrow::Cow::into_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// What is written is a file for resources, below the package.
    #[test]
    fn no_path_leads_to_what_tools_run(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 1..7),
        ends in proptest::bool::ANY,
        config in proptest::sample::select(&["t.yaml", "a/t.yaml", "./t.yaml", ".x/t.yaml", "Kptfile/t.yaml"][..]),
    ) {
        let path = pieces.concat() + if ends { ".yaml" } else { "" };
        let Some(file) = file_of(&path, config) else { return Ok(()) };
        prop_assert!([".yaml", ".yml", ".json"].iter().any(|end| file.ends_with(end)), "{file:?}");
        prop_assert!(!file.starts_with('/'), "{file:?}");
        for part in file.split('/').filter(|part| !["", "."].contains(part)) {
            let plain: String = part.chars().filter(|c| !c.is_whitespace() && *c != '\u{200d}').collect();
            let plain = plain.to_lowercase().replace('\u{17f}', "s");
            prop_assert!(!plain.starts_with('.'), "{file:?}");
            for name in ["kptfile", "kustomization", "skaffold", "chart", "composition", "docker-compose"] {
                let rest = plain.strip_prefix(name);
                let is_name = rest.is_some_and(|rest| [".yaml", ".yml", ".json"].contains(&rest));
                prop_assert!(!(is_name || rest == Some("") && name.starts_with('k')), "{file:?}");
            }
        }
    }
}

#[test]
fn an_object_may_name_its_file() {
    assert_eq!(file_of("../b/c.yml", "a/t.yaml").as_deref(), Some("b/c.yml"));
    assert_eq!(file_of("c.sh", "t.yaml"), None);
}

//! All references of a Template, with where each is written.

use std::collections::BTreeSet;

use krm_core::identity::group;
use krm_template_engine::declare::nearly;
use krm_template_engine::{OWN_GROUP, Part, Path, Template, parts, place_of};
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Place;
use krm_yaml::{Cursor, Data, DuplicateKeys, NodeId, Scalar, Value};

/// A reference and its place.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact that rules ask for")]
pub(super) struct Reference {
    pub(super) name: String,
    pub(super) spelling: String,
    pub(super) is_raw: bool,
    /// Whether it is the whole string.
    pub(super) is_whole: bool,
    /// Whether it is in a command or a text of several lines, and so perhaps meant for a shell.
    pub(super) in_script: bool,
    /// Whether its text cannot be valid unless the reference is replaced.
    pub(super) needs_replacement: bool,
    pub(super) place: Place,
    pub(super) field: String,
}

/// All references of a Template, in the order they are written, and the parameters that texts name
/// which look like a reference.
pub(super) fn all(template: &Template) -> (Vec<Reference>, BTreeSet<&str>) {
    let names = template.parameters().iter().map(|one| one.name.as_str());
    let mut list =
        References { template, names: names.collect(), list: Vec::new(), nearly: BTreeSet::new() };
    list.read(template.labels(), &Path::Key(&Path::Root(""), "labels"));
    list.read(template.objects(), &Path::Root("objects"));
    list.read(template.message(), &Path::Root("message"));
    if group(&template.reference().api_version) == OWN_GROUP {
        for parameter in template.parameters() {
            let field = format!("parameters[{}].value", parameter.index);
            list.read(parameter.value(), &Path::Root(&field));
        }
    }
    (list.list, list.nearly)
}

struct References<'t> {
    template: &'t Template,
    /// The declared names.
    names: BTreeSet<&'t str>,
    list: Vec<Reference>,
    nearly: BTreeSet<&'t str>,
}

impl References<'_> {
    fn read(&mut self, node: Option<Cursor<'_>>, path: &Path<'_>) {
        // Expanding reports values that cannot be read.
        let mut ignored = Diagnostics::new();
        let items = node.filter(|node| matches!(path, Path::Root("objects")) && node.is_sequence());
        if let Some(items) = items {
            // Read one by one, so that an error in one object does not hide the references of others.
            for (index, item) in items.children().enumerate() {
                let field = format!("objects[{index}]");
                if let Some(value) = item.value(DuplicateKeys::LastWins, &mut ignored) {
                    self.value(&value, &Path::Root(&field), item.id());
                }
            }
        } else if let Some(node) = node
            && let Some(value) = node.value(DuplicateKeys::LastWins, &mut ignored)
        {
            self.value(&value, path, node.id());
        }
    }

    fn value(&mut self, value: &Value<'_>, path: &Path<'_>, node: NodeId) {
        let node = value.origin.unwrap_or(node);
        match &value.data {
            Data::Scalar(Scalar::String(text)) => self.text(text, path, node),
            Data::Scalar(_) => {}
            Data::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.value(item, &Path::Index(path, index), node);
                }
            }
            Data::Mapping(entries) => {
                for (key, value) in entries {
                    let path = Path::Key(path, key);
                    self.text(key, &path, value.origin.unwrap_or(node));
                    self.value(value, &path, node);
                }
            }
        }
    }

    fn text(&mut self, text: &str, path: &Path<'_>, node: NodeId) {
        if !text.contains('$') && !text.contains("{{") {
            return;
        }
        if !text.contains('\n') {
            let declared = |name: &str| self.names.get(name).copied();
            let found = nearly::find(text, self.template.dialect(), declared);
            self.nearly.extend(found.iter().map(|one| one.name));
        }
        let in_script = text.contains('\n') || is_command(path);
        for part in parts(text, self.template.dialect()) {
            if let Part::String { name, spelling } | Part::Raw { name, spelling } = part {
                self.list.push(Reference {
                    name: name.to_owned(),
                    spelling: spelling.to_owned(),
                    is_raw: matches!(part, Part::Raw { .. }),
                    is_whole: spelling == text,
                    in_script,
                    needs_replacement: path.needs_replacement(),
                    place: place_of(spelling, self.template.node().document().cursor(node)),
                    field: path.to_string(),
                });
            }
        }
    }
}

fn is_command(path: &Path<'_>) -> bool {
    match path {
        Path::Index(list, _) => matches!(list.key(), Some("command" | "args")),
        _ => false,
    }
}

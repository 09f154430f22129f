//! The rules for existing objects: annotations of the functionConfig, and of a single object.

use crate::input::paths;
use crate::update::Manner;
use krm_core::annotations::{
    IDS, INDEX, KEEP, LEGACY_INDEX, LEGACY_PATH, OF_PACKAGES, ORIGIN, OWNER, PATH, remove_empty,
};
use krm_core::identity;
use krm_template_authoring::lint;
use krm_template_engine::Object;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, ObjectReference};
use krm_yaml::source::Place;
use krm_yaml::{Cursor, Document, Value};

/// Whether the objects name their instance: `"true"` or `"false"`.
const OWNERSHIP: &str = "template.krm.dev/ownership";
/// Whether an existing object without an owner may be adopted: `"true"`.
pub(crate) const ADOPT: &str = "template.krm.dev/adopt";
/// `merge` keeps all fields of an existing object that the Template does not set.
pub(crate) const UPDATE: &str = "template.krm.dev/update";

/// The rules of the functionConfig for existing objects.
pub(crate) struct Rules {
    /// Whether objects name their instance.
    pub(crate) owned: bool,
    /// Whether objects that are no longer created are removed.
    pub(crate) prunes: bool,
    pub(crate) adopts: bool,
    pub(crate) manner: Manner,
}

impl Rules {
    /// Reads the annotations of the functionConfig. By default objects name their
    /// instance if the output is written back to files, where it will be input again.
    pub(crate) fn read(config: Cursor<'_>, are_kept: bool, diagnostics: &mut Diagnostics) -> Self {
        let mut annotation = |key: &'static str, allowed: &[&str]| {
            let node = config.at(["metadata", "annotations", key])?;
            let text = node.text().ok().flatten().unwrap_or_default();
            if allowed.contains(&text.as_ref()) {
                return Some(text.into_owned());
            }
            diagnostics.push(not_allowed(key, allowed, node.place(), &identity::reference(config)));
            None
        };
        let flags = ["true", "false"];
        let ownership = annotation(OWNERSHIP, &flags);
        let manner = annotation(UPDATE, &["merge", "replace"]);
        Self {
            owned: ownership.as_deref().map_or(are_kept, |ownership| ownership == "true"),
            prunes: ownership.as_deref() != Some("false"),
            adopts: annotation(ADOPT, &flags).as_deref() == Some("true"),
            manner: MANNERS
                .into_iter()
                .find_map(|(word, known)| (manner.as_deref() == Some(word)).then_some(known))
                .unwrap_or(Manner::Replace),
        }
    }
}

/// The values of the annotation [`UPDATE`].
const MANNERS: [(&str, Manner); 2] = [("merge", Manner::Merge), ("replace", Manner::Replace)];

fn not_allowed(key: &str, allowed: &[&str], place: Place, object: &ObjectReference) -> Diagnostic {
    let allowed: Vec<String> = allowed.iter().map(|one| format!("`\"{one}\"`")).collect();
    let mut diagnostic =
        Diagnostic::error(format!("annotation `{key}` must be {}", allowed.join(" or ")))
            .at(place)
            .field(format!("metadata.annotations[{key}]"));
    diagnostic.object = Some(object.clone());
    diagnostic
}

/// The annotations that control where an object is put and how it is updated.
#[derive(Default)]
pub(crate) struct Control {
    /// The file that the object names itself.
    pub(crate) path: Option<String>,
    pub(crate) adopts: Option<bool>,
    pub(crate) manner: Option<Manner>,
}

impl Control {
    /// The rules of an object, without its file.
    pub(crate) fn of(object: &Value<'_>) -> Self {
        let annotation = |key| object.str_at(&["metadata", "annotations", key]);
        let manner = annotation(UPDATE);
        Self {
            path: None,
            adopts: annotation(ADOPT).map(|text| text == "true"),
            manner: MANNERS
                .into_iter()
                .find_map(|(word, known)| (manner == Some(word)).then_some(known)),
        }
    }

    /// Takes the annotations out of an object.
    pub(crate) fn take(
        object: &mut Object<'_>,
        config_path: Option<&str>,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let metadata = object.value.get_mut("metadata");
        let Some(annotations) = metadata.and_then(|metadata| metadata.get_mut("annotations"))
        else {
            return Self::default();
        };
        let mut taken =
            Taken { annotations, document: object.document, field: &object.field, diagnostics };
        let [path, legacy_path] = [PATH, LEGACY_PATH].map(|key| taken.path(key, config_path));
        let control = Self {
            path: path.or(legacy_path),
            adopts: taken.choice(ADOPT, [("true", true), ("false", false)]),
            manner: taken.choice(UPDATE, MANNERS),
        };
        let own = [INDEX, LEGACY_INDEX, OWNER, ORIGIN, KEEP];
        for key in own.iter().chain(OF_PACKAGES).chain(IDS) {
            annotations.remove(key);
        }
        // The others have no effect.
        let look = object.look();
        lint::warn_about_annotations_of(&look, look.view.get("metadata"), diagnostics);
        if let Some(metadata) = object.value.get_mut("metadata") {
            remove_empty(metadata, "annotations");
        }
        control
    }
}

/// The annotations of an object, of which some are taken out.
struct Taken<'a, 'd> {
    annotations: &'a mut Value<'d>,
    document: &'a Document,
    field: &'a str,
    diagnostics: &'a mut Diagnostics,
}

impl Taken<'_, '_> {
    fn error(&mut self, key: &str, value: &Value<'_>, mut diagnostic: Diagnostic) {
        diagnostic.place = value.origin.map(|origin| self.document.cursor(origin).place());
        let field = format!("{}.metadata.annotations[{key}]", self.field);
        self.diagnostics.push(diagnostic.field(field));
    }

    /// The file that an object names itself.
    fn path(&mut self, key: &str, config: Option<&str>) -> Option<String> {
        let value = self.annotations.remove(key)?;
        let text = value.as_str().filter(|text| !text.is_empty())?;
        let path = paths::named(config, text);
        if path.is_none() {
            let problem = Diagnostic::error(format!("`{text}` is not the path of a file in the package"))
                .hint("write a path relative to the directory of the functionConfig, with slashes; it must not leave the package");
            self.error(key, &value, problem);
        }
        path
    }

    /// The meaning of an annotation that has one of two texts.
    fn choice<T: Copy>(&mut self, key: &'static str, choices: [(&str, T); 2]) -> Option<T> {
        let value = self.annotations.remove(key)?;
        let mut known = choices.iter();
        let chosen = known.find(|(text, _)| value.as_str() == Some(text));
        if chosen.is_none() {
            let [(one, _), (other, _)] = choices;
            let problem = format!("annotation `{key}` must be `\"{one}\"` or `\"{other}\"`");
            self.error(key, &value, Diagnostic::error(problem));
        }
        chosen.map(|(_, choice)| *choice)
    }
}

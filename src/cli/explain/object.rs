//! Finds the requested object.

use crate::cli::expansion::Expansion;
use crate::krm::identity::group;
use crate::krm::kind_names::is_called;
use crate::template::{Trace, Traced};
use krm_yaml::FieldPath;
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::suggest::closest;

/// The maximum number of objects in a hint.
const MAX_LISTED: usize = 10;

/// A query, split as far as possible without the objects: a name may contain dots.
pub(super) struct Query {
    text: String,
    kind: String,
    /// The name, perhaps behind a namespace and `/`, and perhaps before a field.
    rest: String,
}

/// An object with the origin of its fields.
pub(super) struct TracedObject<'m> {
    pub(super) expansion: &'m Expansion<'m>,
    pub(super) trace: &'m Trace,
    pub(super) object: &'m Traced,
}

impl<'m> TracedObject<'m> {
    pub(super) const fn new(
        expansion: &'m Expansion<'m>,
        trace: &'m Trace,
        object: &'m Traced,
    ) -> Self {
        Self {
            expansion,
            trace,
            object,
        }
    }

    fn text(&self, keys: &[&str]) -> &'m str {
        self.object.value.str_at(keys).unwrap_or_default()
    }

    fn group(&self) -> &'m str {
        group(self.text(&["apiVersion"]))
    }

    /// `metadata.name`, or `metadata.generateName` without one.
    fn name(&self) -> &'m str {
        match self.text(&["metadata", "name"]) {
            "" => self.text(&["metadata", "generateName"]),
            name => name,
        }
    }

    /// The name, with the namespace before it if there is one.
    fn full_name(&self) -> String {
        match self.text(&["metadata", "namespace"]) {
            "" => self.name().to_owned(),
            namespace => format!("{namespace}/{}", self.name()),
        }
    }

    /// The object in the form `Deployment/web`.
    pub(super) fn title(&self) -> String {
        format!("{}/{}", self.text(&["kind"]), self.full_name())
    }

    /// `deployment.apps/web`: what may be asked for.
    fn spelling(&self) -> String {
        let dot = if self.group().is_empty() { "" } else { "." };
        let kind = self.text(&["kind"]).to_lowercase();
        format!("{kind}{dot}{}/{}", self.group(), self.full_name())
    }

    /// Where it is written, and for which instance it is made.
    fn origin(&self) -> String {
        let section = self.object.sections.first();
        let place = section.map(|section| section.place.to_text());
        let instance = Some(self.expansion.instance).filter(|name| !name.is_empty());
        let instance = instance.map(|name| format!("instance `{name}`"));
        let parts: Vec<String> = place.into_iter().chain(instance).collect();
        parts.join(", ")
    }
}

impl Query {
    /// Splits the argument at its first `/`.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let Some((kind, rest)) = text.split_once('/').filter(|(kind, _)| !kind.is_empty()) else {
            return Err(
                Diagnostic::error(format!("`{text}` is not the name of an object"))
                    .hint("write it as `KIND/NAME`, such as `deployment/web`")
                    .hint("`krm-template process -o name` lists the objects")
                    .into(),
            );
        };
        Ok(Self {
            text: text.to_owned(),
            kind: kind.to_owned(),
            rest: rest.to_owned(),
        })
    }

    /// The object that is meant, and the field of it. The longest name counts that there is.
    pub(super) fn find<'o, 'm>(
        &self,
        objects: &'o [TracedObject<'m>],
    ) -> Result<(&'o TracedObject<'m>, FieldPath)> {
        let mut found: Vec<(&TracedObject<'_>, Name)> = objects
            .iter()
            .filter_map(|made| Some((made, self.name_of(made)?)))
            .collect();
        let longest = found.iter().map(|(_, name)| name.length).max();
        found.retain(|(_, name)| Some(name.length) == longest);
        // As with kubectl, what needs no group or namespace to be named beats what does.
        if found.iter().any(|(_, name)| name.is_full) {
            found.retain(|(_, name)| name.is_full);
        }
        match found.as_slice() {
            [] => Err(self.unknown(objects)),
            [(made, name)] => {
                let field = self.rest.get(name.length..).unwrap_or_default();
                let field = field.strip_prefix('.').unwrap_or(field);
                Ok((made, field.parse()?))
            }
            several => Err(self.ambiguous(several)),
        }
    }

    /// How the object is named, if it may be meant.
    fn name_of(&self, made: &TracedObject<'_>) -> Option<Name> {
        if !is_called(&self.kind, made.text(&["kind"]), made.group()) {
            return None;
        }
        let ends = |name: &str| {
            let field = self.rest.strip_prefix(name)?;
            (field.is_empty() || field.starts_with(['.', '['])).then_some(name.len())
        };
        let needs_group = !made.group().is_empty() && !self.kind.contains('.');
        match ends(&made.full_name()) {
            Some(length) => Some(Name {
                length,
                is_full: !needs_group,
            }),
            None => Some(Name {
                length: ends(made.name())?,
                is_full: false,
            }),
        }
    }

    fn ambiguous(&self, found: &[(&TracedObject<'_>, Name)]) -> Box<Diagnostic> {
        let list: Vec<&TracedObject<'_>> = found.iter().map(|(made, _)| *made).collect();
        let spelling = list.first().map(|made| made.spelling());
        let are_alike = list.iter().all(|made| Some(made.spelling()) == spelling);
        let has_instances = list.iter().any(|made| !made.expansion.instance.is_empty());
        let problem = format!("`{}` matches {} objects", self.text, found.len());
        let diagnostic = Diagnostic::error(problem);
        if !are_alike {
            return diagnostic.hint(listed("use one of", &list)).into();
        }
        let diagnostic = diagnostic.hint(listed("they are", &list));
        if has_instances {
            diagnostic
                .hint("choose an instance with `--instance`")
                .into()
        } else {
            diagnostic.into()
        }
    }

    fn unknown(&self, objects: &[TracedObject<'_>]) -> Box<Diagnostic> {
        let diagnostic = Diagnostic::error(format!("object `{}` not found", self.text));
        let known: Vec<String> = objects.iter().flat_map(TracedObject::names).collect();
        let names = || known.iter().map(String::as_str);
        // A name may contain dots, so its end is unknown.
        let name = self.rest.split(['.', '[']).next().unwrap_or_default();
        let asked = [self.text.clone(), format!("{}/{name}", self.kind)];
        let meant = asked.iter().find_map(|asked| closest(asked, names()));
        let hint = meant.map(|known| format!("did you mean `{known}`?"));
        diagnostic
            .maybe_hint(hint)
            .hint(match objects {
                [] => "the Template creates no objects".to_owned(),
                objects => listed("the objects are", &objects.iter().collect::<Vec<_>>()),
            })
            .into()
    }
}

impl TracedObject<'_> {
    /// The names under which the user can ask for it.
    fn names(&self) -> [String; 2] {
        let kind = self.text(&["kind"]).to_lowercase();
        [self.spelling(), format!("{kind}/{}", self.full_name())]
    }
}

/// How an object is named in a query.
struct Name {
    /// The length of the name in bytes, with the namespace if there is one.
    length: usize,
    /// Whether the query names the group and the namespace of the object.
    is_full: bool,
}

/// `the objects are a, b and 3 more`.
fn listed(head: &str, objects: &[&TracedObject<'_>]) -> String {
    let more = objects.len().saturating_sub(MAX_LISTED);
    let names = objects.iter().take(MAX_LISTED);
    let names: Vec<String> = names
        .map(|made| format!("`{}` ({})", made.spelling(), made.origin()))
        .collect();
    let names = names.join(", ");
    match more {
        0 => format!("{head} {names}"),
        more => format!("{head} {names} and {more} more: `process -o name` lists all"),
    }
}

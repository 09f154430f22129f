//! Finds the requested object.

use krm_core::identity::group;
use krm_core::kind_names::is_called;
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
use krm_yaml::{FieldPath, Value};

/// The maximum number of objects in a hint.
const MAX_LISTED: usize = 10;

/// A query, split as far as possible without the objects: a name may contain dots.
pub(super) struct Query {
    text: String,
    kind: String,
    /// The name, perhaps behind a namespace and `/`, and perhaps before a field.
    rest: String,
    /// The command that prints the objects.
    command: &'static str,
}

/// An object that may be meant.
pub(super) struct Candidate<'m> {
    pub(super) value: &'m Value<'m>,
    /// Where it is written.
    pub(super) place: Option<Place>,
    /// The instance for which it is made; empty without one.
    pub(super) instance: &'m str,
}

impl<'m> Candidate<'m> {
    fn text(&self, keys: &[&str]) -> &'m str {
        self.value.str_at(keys).unwrap_or_default()
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
        let place = self.place.as_ref().map(Place::to_text);
        let instance = Some(self.instance).filter(|name| !name.is_empty());
        let instance = instance.map(|name| format!("instance `{name}`"));
        let parts: Vec<String> = place.into_iter().chain(instance).collect();
        parts.join(", ")
    }

    /// The names under which the user can ask for it.
    fn names(&self) -> [String; 2] {
        let kind = self.text(&["kind"]).to_lowercase();
        [self.spelling(), format!("{kind}/{}", self.full_name())]
    }
}

impl Query {
    /// Splits the argument at its first `/`.
    pub(super) fn parse(text: &str, command: &'static str) -> Result<Self> {
        let Some((kind, rest)) = text.split_once('/').filter(|(kind, _)| !kind.is_empty()) else {
            return Err(Diagnostic::error(format!("`{text}` is not the name of an object"))
                .hint("write it as `KIND/NAME`, such as `deployment/web`")
                .hint(format!("`krm-template {command} -o name` lists the objects"))
                .into());
        };
        Ok(Self { text: text.to_owned(), kind: kind.to_owned(), rest: rest.to_owned(), command })
    }

    /// Resolves the query to an object and a field path. The longest matching name wins.
    pub(super) fn find(&self, objects: &[Candidate<'_>]) -> Result<(usize, FieldPath)> {
        let named = objects.iter().enumerate();
        let named = named.filter_map(|(index, made)| Some((index, made, self.name_of(made)?)));
        let mut found: Vec<(usize, &Candidate<'_>, Name)> = named.collect();
        let longest = found.iter().map(|(.., name)| name.length).max();
        found.retain(|(.., name)| Some(name.length) == longest);
        // As with kubectl, what needs no group or namespace to be named beats what does.
        if found.iter().any(|(.., name)| name.is_full) {
            found.retain(|(.., name)| name.is_full);
        }
        match found.as_slice() {
            [] => Err(self.unknown(objects)),
            [(index, _, name)] => {
                let field = self.rest.get(name.length..).unwrap_or_default();
                let field = field.strip_prefix('.').unwrap_or(field);
                Ok((*index, field.parse()?))
            }
            several => {
                let several: Vec<_> = several.iter().map(|(_, made, _)| *made).collect();
                Err(self.ambiguous(&several))
            }
        }
    }

    /// How the object is named, if it may be meant.
    fn name_of(&self, made: &Candidate<'_>) -> Option<Name> {
        if !is_called(&self.kind, made.text(&["kind"]), made.group()) {
            return None;
        }
        let ends = |name: &str| {
            let field = self.rest.strip_prefix(name)?;
            (field.is_empty() || field.starts_with(['.', '['])).then_some(name.len())
        };
        let needs_group = !made.group().is_empty() && !self.kind.contains('.');
        match ends(&made.full_name()) {
            Some(length) => Some(Name { length, is_full: !needs_group }),
            None => Some(Name { length: ends(made.name())?, is_full: false }),
        }
    }

    fn ambiguous(&self, list: &[&Candidate<'_>]) -> Box<Diagnostic> {
        let spelling = list.first().map(|made| made.spelling());
        let are_alike = list.iter().all(|made| Some(made.spelling()) == spelling);
        let has_instances = list.iter().any(|made| !made.instance.is_empty());
        let problem = format!("`{}` matches {} objects", self.text, list.len());
        let diagnostic = Diagnostic::error(problem);
        if !are_alike {
            return diagnostic.hint(listed("use one of", list, self.command)).into();
        }
        let diagnostic = diagnostic.hint(listed("they are", list, self.command));
        if has_instances {
            diagnostic.hint("choose an instance with `--instance`").into()
        } else {
            diagnostic.into()
        }
    }

    fn unknown(&self, objects: &[Candidate<'_>]) -> Box<Diagnostic> {
        let diagnostic = Diagnostic::error(format!("object `{}` not found", self.text));
        let known: Vec<String> = objects.iter().flat_map(Candidate::names).collect();
        let names = || known.iter().map(String::as_str);
        // A name may contain dots, so its end is unknown.
        let name = self.rest.split(['.', '[']).next().unwrap_or_default();
        let asked = [self.text.clone(), format!("{}/{name}", self.kind)];
        let meant = asked.iter().find_map(|asked| closest(asked, names()));
        let hint = meant.map(|known| format!("did you mean `{known}`?"));
        diagnostic
            .maybe_hint(hint)
            .hint(match objects {
                [] => format!("`{}` prints no objects", self.command),
                objects => {
                    listed("the objects are", &objects.iter().collect::<Vec<_>>(), self.command)
                }
            })
            .into()
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
fn listed(head: &str, objects: &[&Candidate<'_>], command: &str) -> String {
    let more = objects.len().saturating_sub(MAX_LISTED);
    let names = objects.iter().take(MAX_LISTED);
    let names: Vec<String> =
        names.map(|made| format!("`{}` ({})", made.spelling(), made.origin())).collect();
    let names = names.join(", ");
    match more {
        0 => format!("{head} {names}"),
        more => format!("{head} {names} and {more} more: `{command} -o name` lists all"),
    }
}

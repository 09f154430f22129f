//! Decides whether a run of our function, and its errors, are right.
//!
//! Labels tell who created an object ([`STAMP`]) and under which name ([`NAMED`]): they are texts of the
//! Templates, so that no annotation of the program is believed. Within a package a stamp belongs to
//! one functionConfig; copies of a package repeat its stamps.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::diagnostic::Severity;

use super::package::{
    Creation, Files, Function, INSTANCE, NAMED, ORIGIN, Object, STAMP, below, created_by,
    directory, documents, functions, package_of, packages,
};
use super::render::{Item, Message, folder_of};

/// What is wrong, in words that are the same for all cases of one kind, and what it is about.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) kind: &'static str,
    pub(super) about: String,
}

impl Failure {
    pub(super) fn new(kind: &'static str, about: impl Into<String>) -> Self {
        Self { kind, about: about.into() }
    }
}

/// The kind of failure that two changes of places and names at once explain.
pub(super) const TWICE: &str = "an object is created twice";
pub(super) const NEW_VALUE: &str = "a generated value changes without a message";

/// One run of our function.
#[derive(Debug)]
pub(super) struct Run<'r> {
    /// As they were before the render.
    pub(super) files: &'r Files,
    /// The package whose function it is.
    pub(super) package: &'r str,
    pub(super) function: &'r Function,
    pub(super) before: &'r [Item],
    pub(super) after: &'r [Item],
    pub(super) messages: &'r [Message],
}

/// What the function may do with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// Created by it.
    Own,
    /// Of a functionConfig that is gone: it may look like this one.
    Orphan,
    /// Created, but without the mark that says so.
    Unmarked,
    Users,
    Others,
    Config,
}

/// The functionConfig of a run.
struct Owner {
    stamp: String,
    creations: Vec<Creation>,
}

/// The part of a stamp that names the functionConfig.
fn config_of(stamp: &str) -> &str {
    stamp.split('.').next().unwrap_or(stamp)
}

/// Whether the functionConfig of a stamp is in `package`.
fn exists(files: &Files, package: &str, stamp: &str) -> bool {
    let config = config_of(stamp);
    let packages = packages(files);
    let text = format!("{STAMP}: {config}.");
    let holds = |(path, content): (&String, &String)| {
        package_of(&packages, path) == package
            && documents(content).iter().any(|one| Object(one).is_ours() && one.contains(&text))
    };
    let functions = functions(files, package);
    files.iter().any(holds) || functions.iter().any(|one| one.value("WHO") == Some(config))
}

impl Run<'_> {
    fn whose(&self, owner: &Owner, item: &Item) -> Whose {
        let object = Object(&item.text);
        let Some(stamp) = object.stamp().filter(|_| !object.is_ours()) else {
            let is_config = object.is_ours() || object.kind() == "Kptfile";
            return if is_config { Whose::Config } else { Whose::Users };
        };
        if !object.is_marked() {
            // With one of two annotations the object may be anybody's.
            let half = object.annotation(ORIGIN).is_some();
            return if half { Whose::Orphan } else { Whose::Unmarked };
        }
        let is_gone = !exists(self.files, &item.package, stamp);
        let is_here = item.package == self.package;
        // kpt does not say which function has the values if none has a name.
        let is_replaced =
            matches!(self.function, Function::Values(_, None)) && stamp.starts_with('v') && is_gone;
        if is_here && (config_of(stamp) == owner.stamp || is_replaced) {
            return Whose::Own;
        }
        let named = |made: &Creation| made.kind == object.kind() && made.named == object.named();
        let is_alike = owner.creations.iter().any(named);
        if is_gone && is_alike && below(&item.package, self.package).is_some() {
            return Whose::Orphan;
        }
        Whose::Others
    }

    fn warns(&self, word: &str) -> bool {
        let warnings = self.messages.iter().filter(|message| message.severity >= Severity::Warning);
        warnings.into_iter().any(|message| message.text.contains(word))
    }

    /// The item after the run that was `before`.
    fn after(&self, before: &Item) -> Option<&Item> {
        self.after.iter().find(|item| is_same(before, item))
    }
}

/// Whether an item is one of the list before: by its number, or by its place if it lost that.
fn is_same(before: &Item, after: &Item) -> bool {
    let place = |item: &Item| (item.package.clone(), item.path.clone(), item.index);
    let stamp = |item: &Item| Object(&item.text).stamp().map(str::to_owned);
    match after.id {
        Some(_) => after.id == before.id,
        None => place(before) == place(after) && stamp(before) == stamp(after),
    }
}

/// Whether a run is right.
pub(super) fn judge(run: &Run<'_>) -> Result<(), Failure> {
    let creations = created_by(run.files, run.package, run.function);
    let stamp = creations.first().map(|made| config_of(&made.stamp).to_owned());
    let owner = Owner { stamp: stamp.unwrap_or_default(), creations };
    for item in run.before {
        let whose = run.whose(&owner, item);
        untouched(run, item, whose)?;
        if whose == Whose::Own {
            own(run, &owner, item)?;
        }
    }
    copies(run, &owner)?;
    created(run, &owner)?;
    values(run, &owner)
}

fn place(item: &Item) -> String {
    let object = Object(&item.text);
    format!(
        "{} {} ({}) of package `{}` in {}",
        object.kind(),
        object.name(),
        object.stamp().unwrap_or("by hand"),
        item.package,
        item.path
    )
}

/// Each object stays, in its file, as it is if it is not the function's, and with what is written by hand.
fn untouched(run: &Run<'_>, item: &Item, whose: Whose) -> Result<(), Failure> {
    let fail = |kind| Err(Failure::new(kind, place(item)));
    let Some(after) = run.after(item) else {
        return match whose {
            Whose::Own => Ok(()),
            Whose::Users => fail("an object of the user is removed"),
            Whose::Unmarked => fail("an object without a mark is removed"),
            Whose::Orphan => fail("an object whose functionConfig is gone is removed"),
            Whose::Others => fail("an object of another functionConfig is removed"),
            Whose::Config => fail("a functionConfig, a Template or a Kptfile is removed"),
        };
    };
    if (&after.package, &after.path) != (&item.package, &item.path) {
        return fail("an object is moved to another file");
    }
    if !Object(&item.text).hands().is_subset(&Object(&after.text).hands()) {
        return fail("what was written by hand is lost");
    }
    let is_same = item.text == after.text;
    match whose {
        Whose::Own | Whose::Orphan => Ok(()),
        Whose::Unmarked if bare(&item.text) == bare(&after.text) => Ok(()),
        _ if is_same => Ok(()),
        Whose::Users => fail("an object of the user is changed"),
        Whose::Unmarked => fail("an object without a mark is changed"),
        Whose::Others => fail("an object of another functionConfig is changed"),
        Whose::Config => fail("a functionConfig, a Template or a Kptfile is changed"),
    }
}

/// An object without its marks.
fn bare(text: &str) -> String {
    Object(text).without_annotations(|key| [INSTANCE, ORIGIN].contains(&key))
}

/// An object of the functionConfig.
fn own(run: &Run<'_>, owner: &Owner, item: &Item) -> Result<(), Failure> {
    let object = Object(&item.text);
    let is_this = |made: &Creation| {
        Some(made.stamp.as_str()) == object.stamp() && made.named == object.named()
    };
    let is_created = owner.creations.iter().any(is_this);
    let fail = |kind| Err(Failure::new(kind, place(item)));
    let Some(after) = run.after(item) else {
        if is_created {
            return fail("an object is removed that is still created");
        }
        let is_said = run
            .messages
            .iter()
            .any(|m| m.text.contains("removed") && m.text.contains(object.name()));
        return if is_said { Ok(()) } else { fail("an object is removed without a message") };
    };
    let after = Object(&after.text);
    let is_created = owner.creations.iter().any(|made| Some(made.stamp.as_str()) == after.stamp());
    if item.text != after.0 && !is_created {
        return fail("an object is changed that is no longer created");
    }
    match (object.password(), after.password()) {
        (Some(old), Some(new)) if old != new && !run.warns("PASSWORD") => {
            fail("a generated value changes without a message")
        }
        _ => Ok(()),
    }
}

/// Of objects that were copied by hand, at most one is changed or removed.
fn copies(run: &Run<'_>, owner: &Owner) -> Result<(), Failure> {
    let mut groups: BTreeMap<(&str, &str), Vec<&Item>> = BTreeMap::new();
    for item in run.before.iter().filter(|item| run.whose(owner, item) == Whose::Own) {
        let object = Object(&item.text);
        let key = (object.stamp().unwrap_or_default(), object.named());
        groups.entry(key).or_default().push(item);
    }
    for group in groups.values() {
        let is_touched =
            |item: &&&Item| run.after(item).is_none_or(|after| after.text != item.text);
        let touched: Vec<String> =
            group.iter().filter(is_touched).map(|item| place(item)).collect();
        if touched.len() > 1 {
            return Err(Failure::new(
                "a copy made by hand is changed or removed",
                touched.join(", "),
            ));
        }
    }
    Ok(())
}

/// All that is created is there, once, and new objects are beside the functionConfig.
fn created(run: &Run<'_>, owner: &Owner) -> Result<(), Failure> {
    for item in
        run.after.iter().filter(|item| !run.before.iter().any(|before| is_same(before, item)))
    {
        if item.package != run.package || directory(&item.path) != folder_of(run.function) {
            return Err(Failure::new("a new object is not beside its functionConfig", place(item)));
        }
    }
    for made in &owner.creations {
        let is_this = |item: &&Item| {
            let object = Object(&item.text);
            item.package == run.package && object.stamp() == Some(&made.stamp) && !object.is_ours()
        };
        let before: Vec<&Item> = run.before.iter().filter(is_this).collect();
        let after = run.after.iter().filter(is_this).count();
        let is_alike = |item: &&Item| {
            Object(&item.text).is_marked() && Object(&item.text).named() == made.named
        };
        let about = format!("{} {} ({})", made.kind, made.named, made.stamp);
        if after == 0 && !is_found_elsewhere(run, made) {
            return Err(Failure::new("an object is not created", about));
        }
        if !before.is_empty() && before.iter().all(is_alike) && after > before.len() {
            return Err(Failure::new(TWICE, about));
        }
    }
    Ok(())
}

/// Objects of a package below that a functionConfig above made are found there.
fn is_found_elsewhere(run: &Run<'_>, made: &Creation) -> bool {
    let mut objects = run.after.iter().map(|item| Object(&item.text));
    objects.any(|object| object.label(NAMED) == Some(&made.named) && object.kind() == made.kind)
}

/// Generated values are those that were there, or a message names the parameter.
fn values(run: &Run<'_>, owner: &Owner) -> Result<(), Failure> {
    let own = run.before.iter().filter(|item| run.whose(owner, item) == Whose::Own);
    let known: BTreeSet<&str> = own.filter_map(|item| Object(&item.text).password()).collect();
    for item in run.after.iter().filter(|item| item.package == run.package) {
        let object = Object(&item.text);
        let made = owner.creations.iter().find(|made| Some(made.stamp.as_str()) == object.stamp());
        if made.is_none_or(|made| !made.has_password) || !object.is_marked() {
            continue;
        }
        let is_new = object.password().is_some_and(|value| !known.contains(value));
        if is_new && !known.is_empty() && !run.warns("PASSWORD") {
            return Err(Failure::new(NEW_VALUE, place(item)));
        }
    }
    Ok(())
}

/// The reason why a render may refuse these files, if there is one.
pub(super) fn excuse(files: &Files, package: &str, has_seed: bool) -> Option<String> {
    let packages = packages(files);
    let rendered = packages.iter().filter(|one| below(one, package).is_some());
    rendered.into_iter().find_map(|package| excuse_of(files, &packages, package, has_seed))
}

/// A created object as it is in a file.
struct Seen {
    stamp: String,
    named: String,
    kind: String,
    name: String,
    is_marked: bool,
    password: Option<String>,
}

fn seen(files: &Files, packages: &BTreeSet<String>, package: &str) -> Vec<Seen> {
    let here = files.iter().filter(|(path, _)| package_of(packages, path) == package);
    let objects = here.flat_map(|(_, text)| documents(text));
    objects
        .filter(|text| !Object(text).is_local())
        .map(|text| {
            let object = Object(&text);
            Seen {
                stamp: object.stamp().unwrap_or_default().to_owned(),
                named: object.named().to_owned(),
                kind: object.kind().to_owned(),
                name: object.name().trim_start_matches("dev-").to_owned(),
                is_marked: object.is_marked(),
                password: object.password().map(str::to_owned),
            }
        })
        .collect()
}

fn excuse_of(
    files: &Files,
    packages: &BTreeSet<String>,
    package: &str,
    has_seed: bool,
) -> Option<String> {
    let functions = functions(files, package);
    let nameless = functions.iter().filter(|one| matches!(one, Function::Values(_, None))).count();
    let valued = functions.iter().filter(|one| matches!(one, Function::Values(..))).count();
    if valued > 1 && nameless > 0 {
        return Some("functions with values need names".to_owned());
    }
    let seen = seen(files, packages, package);
    let mut taken = BTreeSet::new();
    for function in &functions {
        let creations = created_by(files, package, function);
        let stamp = creations.first().map(|made| config_of(&made.stamp).to_owned());
        let own = || seen.iter().filter(|one| Some(config_of(&one.stamp)) == stamp.as_deref());
        for made in &creations {
            let name = made.named.rsplit('.').next().unwrap_or_default();
            let is_alike = |one: &Seen| one.kind == made.kind && one.name == name;
            let is_other =
                |one: &Seen| is_alike(one) && (one.stamp != made.stamp || !one.is_marked);
            if !taken.insert((made.kind.clone(), name.to_owned())) || seen.iter().any(is_other) {
                return Some(format!("{} {name} is there already", made.kind));
            }
            if seen.iter().filter(|one| one.stamp == made.stamp).count() > 1 {
                return Some(format!("there are copies of {} {name}", made.kind));
            }
        }
        let passwords: BTreeSet<&str> = own().filter_map(|one| one.password.as_deref()).collect();
        if passwords.len() > 1 {
            return Some("there are several generated values".to_owned());
        }
        let mut with_password = creations.iter().filter(|made| made.has_password).peekable();
        let needs_seed = with_password.peek().is_some();
        let is_known = |made: &Creation| {
            own().any(|one| {
                one.is_marked
                    && one.stamp == made.stamp
                    && one.named == made.named
                    && one.password.is_some()
            })
        };
        if needs_seed && !has_seed && !with_password.any(is_known) {
            return Some("there is no seed".to_owned());
        }
    }
    None
}

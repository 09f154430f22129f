//! What users do with packages: steps that apply to any package, as far as it has what they change.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::judge::{Failure, NEW_VALUE, TWICE, excuse, judge};
use super::package::{
    Files, Function, INSTANCE, ORIGIN, Object, STAMP, below, created_by, directory, documents,
    entry, file, functions, indented, join, kptfile, package_of, packages, text,
};
use super::real;
use super::render::{Kpt, Stop};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Render,
    AddConfig,
    RemoveConfig,
    RenameConfig,
    MoveConfig,
    RenameFolder,
    EditName,
    EditText,
    AddObject,
    RemoveObject,
    AddListItem,
    Merge,
    AddPackage,
    CopyPackage,
    MovePackage,
    AddValues,
    EditValues,
    NameValues,
    AddUsers,
    Note,
    EditField,
    Keep,
    EditPassword,
    RenameObject,
    CopyObject,
    MoveObject,
    DeleteObject,
    DeleteMark,
    OlderMarks,
    AddLater,
    RemoveLater,
}

/// What is done, and two numbers that choose where and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) action: Action,
    pub(super) place: u16,
    pub(super) how: u16,
}

/// A step; those of a weight of 6 are renders.
pub(super) fn step() -> impl Strategy<Value = Step> {
    let one = |action| (1, Just(action).boxed());
    let rest = [
        Action::AddConfig,
        Action::AddConfig,
        Action::RemoveConfig,
        Action::RenameConfig,
        Action::MoveConfig,
        Action::RenameFolder,
        Action::EditName,
        Action::EditText,
        Action::AddObject,
        Action::AddObject,
        Action::RemoveObject,
        Action::AddListItem,
        Action::Merge,
        Action::AddPackage,
        Action::AddPackage,
        Action::CopyPackage,
        Action::CopyPackage,
        Action::MovePackage,
        Action::AddValues,
        Action::EditValues,
        Action::NameValues,
        Action::AddUsers,
        Action::AddUsers,
        Action::Note,
        Action::Note,
        Action::EditField,
        Action::Keep,
        Action::EditPassword,
        Action::RenameObject,
        Action::CopyObject,
        Action::MoveObject,
        Action::DeleteObject,
        Action::DeleteMark,
        Action::OlderMarks,
        Action::AddLater,
        Action::AddLater,
        Action::RemoveLater,
    ];
    let actions = rest.into_iter().map(one).chain([(14, Just(Action::Render).boxed())]);
    let action = proptest::strategy::Union::new_weighted(actions.collect());
    (action, any::<u16>(), any::<u16>()).prop_map(|(action, place, how)| Step {
        action,
        place,
        how,
    })
}

const SEEDS: [Option<&str>; 3] =
    [Some("first-seed-0123456789abcdef"), Some("other-seed-0123456789abcdef"), None];
const NAMES: [&str; 3] = ["web", "shop", "app"];
const VALUES: [&str; 3] = ["blog", "wiki", "cart"];

/// A place in the packages: a file, and the object in it.
type Place = (String, usize);

/// Packages with their past.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) files: Files,
    root: String,
    /// The last number given to something new.
    last: usize,
    past: Past,
    /// As it was after the last render that succeeded.
    good: Option<Box<(Files, String, Past)>>,
    /// What was done, in words.
    pub(super) log: Vec<String>,
    /// The renders that succeeded, and those that were refused.
    pub(super) renders: (usize, usize),
    /// Whether the real kpt renders, too.
    is_real: bool,
}

/// What makes errors right that no file explains.
#[derive(Clone, Debug, Default)]
struct Past {
    /// Marks or generated values were damaged by hand.
    damaged: bool,
    renamed: bool,
    /// Changes of places and names since the last render.
    moves: usize,
    /// Each path that a functionConfig ever had.
    used: BTreeSet<String>,
}

fn choose<T: Clone>(all: &[T], number: u16) -> Option<T> {
    all.get(usize::from(number) % all.len().max(1)).cloned()
}

impl World {
    pub(super) fn new(is_real: bool) -> Self {
        let files = Files::from([("Kptfile".to_owned(), kptfile(&[]))]);
        Self {
            files,
            root: "/nobody/shop".to_owned(),
            last: 0,
            past: Past::default(),
            good: None,
            log: Vec::new(),
            renders: (0, 0),
            is_real,
        }
    }

    /// Does a step, if there is something to do it with.
    pub(super) fn apply(&mut self, step: Step) -> Result<(), Failure> {
        if step.action == Action::Render {
            return self.render(step);
        }
        if let Some(line) = self.change(step) {
            self.log.push(line);
        }
        Ok(())
    }

    fn render(&mut self, step: Step) -> Result<(), Failure> {
        let packages: Vec<String> = packages(&self.files).into_iter().collect();
        let part = step.place.is_multiple_of(4);
        let part = part.then(|| choose(&packages, step.place / 4));
        let package = part.flatten().unwrap_or_default();
        let seed = choose(&SEEDS, step.how).flatten();
        let with = seed.unwrap_or("no seed");
        self.log.push(format!("kpt fn render {} with {with}", shown(&package)));
        if self.is_real {
            return self.render_both(&package, seed);
        }
        let files = match self.kpt(&self.files, seed).render(&package, judge) {
            Ok(files) => files,
            // Nothing tells whose the object is, and another is added beside it.
            Err(Stop::Wrong(failure))
                if [TWICE, NEW_VALUE].contains(&failure.kind) && self.past.moves > 1 =>
            {
                return Ok(());
            }
            Err(Stop::Wrong(failure)) => return Err(failure),
            Err(Stop::Refused(message)) => return self.refused(step, &package, message),
        };
        let other = choose(&SEEDS, step.how / 3).flatten();
        let fail = |kind, about| Err(Failure::new(kind, about));
        match self.kpt(&files, other).render(&package, judge) {
            Ok(again) if again == files => {}
            Ok(again) => {
                return fail("a second render changes files", first_difference(&files, &again));
            }
            Err(Stop::Refused(message)) => return fail("a second render is refused", message),
            Err(Stop::Wrong(failure)) => return Err(failure),
        }
        self.rendered(files);
        Ok(())
    }

    fn kpt<'k>(&'k self, files: &'k Files, seed: Option<&'static str>) -> Kpt<'k> {
        Kpt { files, root: &self.root, seed }
    }

    fn rendered(&mut self, files: Files) {
        self.renders.0 += 1;
        self.files = files;
        self.past.moves = 0;
        let good = (self.files.clone(), self.root.clone(), self.past.clone());
        self.good = Some(Box::new(good));
    }

    /// An error needs a reason. Most users then go back.
    fn refused(&mut self, step: Step, package: &str, message: String) -> Result<(), Failure> {
        let has_seed = choose(&SEEDS, step.how).flatten().is_some();
        let excuse = excuse(&self.files, package, has_seed);
        if excuse.is_none() && !self.past.damaged && self.past.moves < 2 {
            return Err(Failure::new("an error without a reason", message));
        }
        self.renders.1 += 1;
        self.log.push(format!("  refused: {message}"));
        if let Some(good) = self.good.clone().filter(|_| step.how % 4 < 3) {
            self.log.push("git checkout of the last good render".to_owned());
            (self.files, self.root, self.past) = *good;
        }
        Ok(())
    }

    /// Renders with the contract and with kpt, whatever the function does.
    fn render_both(&mut self, package: &str, seed: Option<&'static str>) -> Result<(), Failure> {
        match self.kpt(&self.files, seed).render(package, |_| Ok(())) {
            Ok(files) => {
                real::check(&self.files, package, seed, Some(&files))?;
                self.rendered(files);
            }
            Err(Stop::Refused(_)) => {
                real::check(&self.files, package, seed, None)?;
                self.renders.1 += 1;
            }
            Err(Stop::Wrong(failure)) => return Err(failure),
        }
        Ok(())
    }

    fn change(&mut self, step: Step) -> Option<String> {
        let Step { action, place, how } = step;
        self.last += 1;
        match action {
            Action::Render => None,
            Action::AddConfig => self.add_config(place, how),
            Action::RemoveConfig => self.remove_config(place, how),
            Action::RenameConfig => self.rename_config(place, how),
            Action::MoveConfig => self.move_config(place, how),
            Action::RenameFolder => self.rename_folder(place),
            Action::EditName | Action::EditText => self.edit_parameter(action, place, how),
            Action::AddObject => self.add_object(place, how),
            Action::RemoveObject => self.remove_object(place, how),
            Action::AddListItem => self.add_list_item(place),
            Action::Merge => self.merge(place),
            Action::AddPackage => self.add_package(place, how),
            Action::CopyPackage => self.copy_package(place, false),
            Action::MovePackage => self.copy_package(place, true),
            Action::AddValues => self.add_values(place, how),
            Action::EditValues => self.edit_values(place, how),
            Action::NameValues => self.name_values(place),
            Action::AddUsers => self.add_users(place, how),
            Action::Note => self.note(place, how),
            Action::EditField => self.edit_field(place),
            Action::Keep => self.keep(place),
            Action::EditPassword => self.edit_password(place, how),
            Action::RenameObject => self.rename_object(place),
            Action::CopyObject => self.copy_object(place, how),
            Action::MoveObject => self.move_object(place),
            Action::DeleteObject => self.delete_object(place),
            Action::DeleteMark => self.delete_mark(place, how),
            Action::OlderMarks => self.older_marks(),
            Action::AddLater => self.add_later(place, how),
            Action::RemoveLater => self.remove_later(place),
        }
    }

    // Places.

    fn all(&self, is_meant: impl Fn(Object<'_>) -> bool) -> Vec<Place> {
        let of = |(path, content): (&String, &String)| {
            let all: Vec<String> = documents(content);
            let meant = all.iter().enumerate().filter(|(_, one)| is_meant(Object(one)));
            meant.map(|(index, _)| (path.clone(), index)).collect::<Vec<_>>()
        };
        self.files.iter().flat_map(of).collect()
    }

    fn created(&self) -> Vec<Place> {
        self.all(|one| one.is_marked() && !one.is_local())
    }

    fn configs(&self) -> Vec<Place> {
        self.all(|one| ["Template", "TemplateInstance"].contains(&one.kind()))
    }

    fn get(&self, (path, index): &Place) -> Option<String> {
        documents(self.files.get(path)?).get(*index).cloned()
    }

    fn set(&mut self, (path, index): &Place, text: String) {
        if let Some(content) = self.files.get_mut(path) {
            let mut all = documents(content);
            if let Some(one) = all.get_mut(*index) {
                *one = text;
            }
            *content = file(&all);
        }
    }

    /// Removes an object, and its file if it was the only one.
    fn take(&mut self, (path, index): &Place) -> Option<String> {
        let mut all = documents(self.files.get(path)?);
        if *index >= all.len() {
            return None;
        }
        let taken = all.remove(*index);
        if all.is_empty() {
            self.files.remove(path);
        } else {
            self.files.insert(path.clone(), file(&all));
        }
        Some(taken)
    }

    fn package(&self, path: &str) -> String {
        package_of(&packages(&self.files), path).to_owned()
    }

    fn packages(&self, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
        packages(&self.files).into_iter().filter(|one| is_meant(one)).collect()
    }

    fn has_values(&self, package: &str) -> bool {
        self.files.contains_key(&join(package, "site.yaml"))
    }

    fn change_functions(&mut self, package: &str, change: impl FnOnce(&mut Vec<Function>)) {
        let mut all = functions(&self.files, package);
        change(&mut all);
        self.files.insert(join(package, "Kptfile"), kptfile(&all));
    }

    /// Adds a function of ours before those of others.
    fn add_function(&mut self, package: &str, function: Function) {
        self.change_functions(package, |all| {
            let at = all.iter().position(|one| matches!(one, Function::Other(_)));
            all.insert(at.unwrap_or(all.len()), function);
        });
    }

    /// A path for a functionConfig that none ever had in this package.
    fn free_path(&mut self, package: &str, how: u16) -> String {
        let pool = ["t.yaml", "dev/t.yaml", "prod/t.yaml", "cfg/t.yaml"];
        let is_free = |path: &&&str| !self.past.used.contains(&join(package, path));
        let free: Vec<&str> = pool.iter().filter(is_free).copied().collect();
        let path =
            choose(&free, how).map_or_else(|| format!("more/t{}.yaml", self.last), str::to_owned);
        self.past.used.insert(join(package, &path));
        path
    }

    // functionConfigs.

    fn add_config(&mut self, place: u16, how: u16) -> Option<String> {
        let package = choose(&self.packages(|one| !self.has_values(one)), place)?;
        self.new_config(&package, how)
    }

    fn new_config(&mut self, package: &str, how: u16) -> Option<String> {
        let path = self.free_path(package, how / 4);
        let name = choose(&NAMES, how / 16)?;
        let config = Draft {
            stamp: format!("f{}", self.last),
            name: name.to_owned(),
            value: if how % 4 == 3 { "blog".to_owned() } else { format!("n{}", self.last) },
            is_instance: how.is_multiple_of(2),
            namespace: (how % 8 == 6).then_some("team"),
        };
        let text = config.text(how / 64);
        let line = format!(
            "add {} `{name}`, stamp {}, in {}",
            config.kind(),
            config.stamp,
            join(package, &path)
        );
        self.files.insert(join(package, &path), text);
        let path = if how % 16 == 5 { format!("./{path}") } else { path };
        self.add_function(package, Function::Config(path));
        Some(line)
    }

    /// The functionConfig, its package, and its path there.
    fn config(&self, place: u16) -> Option<(Place, String, String)> {
        let mut configs = self.configs();
        configs.retain(|(path, _)| !path.ends_with("site.yaml"));
        let at = choose(&configs, place)?;
        let package = self.package(&at.0);
        let path = below(&at.0, &package)?.to_owned();
        Some((at, package, path))
    }

    fn remove_config(&mut self, place: u16, how: u16) -> Option<String> {
        let (at, package, path) = self.config(place)?;
        self.change_functions(&package, |all| all.retain(|one| one.path() != Some(&path)));
        if how.is_multiple_of(3) {
            return Some(format!("remove the function of {} from the Kptfile", at.0));
        }
        self.take(&at)?;
        Some(format!("remove {} and its function", at.0))
    }

    fn rename_config(&mut self, place: u16, how: u16) -> Option<String> {
        let (at, ..) = self.config(place)?;
        let text = self.get(&at)?;
        let names: Vec<&str> =
            NAMES.into_iter().filter(|name| *name != Object(&text).name()).collect();
        let name = choose(&names, how)?;
        self.set(&at, Object(&text).renamed(name));
        self.past.moves += 1;
        Some(format!("rename the functionConfig in {} to `{name}`", at.0))
    }

    fn move_config(&mut self, place: u16, how: u16) -> Option<String> {
        let (at, package, path) = self.config(place)?;
        let new = self.free_path(&package, how);
        let text = self.take(&at)?;
        self.files.insert(join(&package, &new), text);
        self.change_path(&package, &path, &new);
        self.past.moves += 1;
        Some(format!("move the functionConfig {} to {}", at.0, join(&package, &new)))
    }

    fn change_path(&mut self, package: &str, old: &str, new: &str) {
        self.change_functions(package, |all| {
            for one in all.iter_mut().filter(|one| one.path() == Some(old)) {
                *one = Function::Config(new.to_owned());
            }
        });
    }

    fn rename_folder(&mut self, place: u16) -> Option<String> {
        let (at, package, _) = self.config(place)?;
        let old = directory(&at.0).to_owned();
        if old == package {
            return None;
        }
        let new = join(&package, &format!("folder{}", self.last));
        self.move_folder(&old, &new, true);
        for function in functions(&self.files, &package) {
            let Some(path) = function.path().map(|path| join(&package, path)) else {
                continue;
            };
            if let Some(rest) = below(&path, &old) {
                let to = join(&new, rest);
                let relative = |path: &str| below(path, &package).map(str::to_owned);
                self.change_path(&package, &relative(&path)?, &relative(&to)?);
                self.past.used.insert(to);
            }
        }
        self.past.moves += 1;
        Some(format!("rename the folder {old} to {new}"))
    }

    fn move_folder(&mut self, old: &str, new: &str, is_moved: bool) {
        let paths: Vec<String> =
            self.files.keys().filter(|path| below(path, old).is_some()).cloned().collect();
        for path in paths {
            let to = join(new, below(&path, old).unwrap_or_default());
            let content = self.files.get(&path).cloned().unwrap_or_default();
            if is_moved {
                self.files.remove(&path);
            }
            self.files.insert(to, content);
        }
    }

    fn edit_parameter(&mut self, action: Action, place: u16, how: u16) -> Option<String> {
        let (at, ..) = self.config(place)?;
        let name = if action == Action::EditName { "NAME" } else { "TEXT" };
        let value =
            if how % 4 == 3 { choose(&VALUES, how)?.to_owned() } else { format!("n{}", self.last) };
        let old = self.get(&at)?;
        let mut lines: Vec<&str> = old.lines().collect();
        let line = lines.iter().position(|line| entry(line) == Some(("name", name)))? + 1;
        let indentation = lines.get(line)?.split("value").next()?;
        let new = format!("{indentation}value: {value}");
        *lines.get_mut(line)? = &new;
        self.set(&at, text(&lines));
        Some(format!("set {name} to {value} in {}", at.0))
    }

    fn add_object(&mut self, place: u16, how: u16) -> Option<String> {
        let at = choose(&self.configs(), place)?;
        let text = self.get(&at)?;
        let stamp = text.lines().find_map(|line| entry(line).filter(|(key, _)| *key == STAMP))?.1;
        let stamp = stamp.split('.').next()?;
        let header = text.lines().find(|line| line.trim() == "objects:")?;
        // Other numbers than those of a new one.
        let number = self.last + 10;
        let indentation = header.split("objects:").next()?;
        let namespace = text.contains("\n  namespace: team\n").then_some("team");
        let object = object(stamp, number, how, namespace);
        let lines = indented(&object, indentation, indentation);
        self.set(&at, format!("{text}{lines}"));
        Some(format!("add object o{number} ({}) to {}", kind_of(how), at.0))
    }

    fn remove_object(&mut self, place: u16, how: u16) -> Option<String> {
        let at = choose(&self.configs(), place)?;
        let old = self.get(&at)?;
        let lines: Vec<&str> = old.lines().collect();
        let is_start = |line: &&str| line.trim_start().starts_with("- apiVersion:");
        let starts: Vec<usize> =
            (0..lines.len()).filter(|at| lines.get(*at).is_some_and(is_start)).collect();
        if starts.len() < 2 {
            return None;
        }
        let start = choose(&starts, how)?;
        let end = starts.iter().copied().find(|end| *end > start).unwrap_or(lines.len());
        let mut kept = lines.clone();
        let removed: Vec<&str> = kept.drain(start..end).collect();
        self.set(&at, text(&kept));
        let stamp = removed.iter().find_map(|line| entry(line).filter(|(key, _)| *key == STAMP))?;
        Some(format!("remove object {} from {}", stamp.1, at.0))
    }

    fn add_list_item(&mut self, place: u16) -> Option<String> {
        let at = choose(&self.all(|one| one.is_ours() && one.0.contains("env:")), place)?;
        let old = self.get(&at)?;
        let header = old.lines().find(|line| line.trim() == "env:")?;
        let indentation = header.split("env:").next()?;
        let item =
            format!("{header}\n{indentation}- name: VAR{}\n{indentation}  value: x\n", self.last);
        self.set(&at, old.replacen(&format!("{header}\n"), &item, 1));
        Some(format!("add VAR{} before PASSWORD in {}", self.last, at.0))
    }

    fn merge(&mut self, place: u16) -> Option<String> {
        let (at, ..) = self.config(place)?;
        let text = self.get(&at)?;
        let object = Object(&text);
        if object.annotation("template.krm.dev/update").is_some() {
            return None;
        }
        self.set(
            &at,
            object.with(&["metadata:", "  annotations:"], "    template.krm.dev/update: merge"),
        );
        Some(format!("set `update: merge` on {}", at.0))
    }

    // Packages.

    fn add_package(&mut self, place: u16, how: u16) -> Option<String> {
        let parent = choose(&self.packages(|one| one.split('/').count() < 3), place)?;
        let package = join(&parent, &format!("sub{}", self.last));
        self.files.insert(join(&package, "Kptfile"), kptfile(&[]));
        let what = if how.is_multiple_of(3) {
            self.new_values(&package, how)
        } else {
            self.new_config(&package, how)?
        };
        Some(format!("add package {package}: {what}"))
    }

    fn copy_package(&mut self, place: u16, is_moved: bool) -> Option<String> {
        if is_moved && place.is_multiple_of(3) {
            self.root = format!("/nobody/moved{}", self.last);
            return Some(format!("move the package at the top to {}", self.root));
        }
        let package = choose(&self.packages(|one| !one.is_empty()), place)?;
        let new = join(directory(&package), &format!("sub{}", self.last));
        self.move_folder(&package, &new, is_moved);
        let used: Vec<String> = self
            .past
            .used
            .iter()
            .filter_map(|path| below(path, &package))
            .map(|path| join(&new, path))
            .collect();
        self.past.used.extend(used);
        let verb = if is_moved { "move" } else { "copy" };
        Some(format!("{verb} package {package} to {new}"))
    }

    // Values in the Kptfile.

    fn new_values(&mut self, package: &str, how: u16) -> String {
        let site = Draft {
            stamp: "$(WHO)".to_owned(),
            name: "site".to_owned(),
            value: String::new(),
            is_instance: false,
            namespace: None,
        };
        self.files.insert(join(package, "site.yaml"), site.text(how / 64));
        let name = how.is_multiple_of(2).then(|| "one".to_owned());
        let function = Function::Values(format!("NAME: n{}, WHO: v1", self.last), name);
        let line = function.line();
        self.add_function(package, function);
        format!("Template site.yaml and{line}")
    }

    fn valued(&self, place: u16) -> Option<String> {
        choose(&self.packages(|one| self.has_values(one)), place)
    }

    fn add_values(&mut self, place: u16, how: u16) -> Option<String> {
        let package = self.valued(place)?;
        let functions = functions(&self.files, &package);
        let has = |who: &str| functions.iter().any(|one| one.value("WHO") == Some(who));
        let who = ["v1", "v2"].into_iter().find(|who| !has(who))?;
        let name = (!how.is_multiple_of(4)).then(|| format!("name{}", self.last));
        let function = Function::Values(format!("NAME: n{}, WHO: {who}", self.last), name);
        let line = function.line();
        self.add_function(&package, function);
        Some(format!("add to Kptfile of {}:{line}", shown(&package)))
    }

    fn edit_values(&mut self, place: u16, how: u16) -> Option<String> {
        let package = self.valued(place)?;
        let name = format!("NAME: n{}", self.last);
        let mut line = None;
        self.change_functions(&package, |all| {
            let mut valued: Vec<&mut Function> =
                all.iter_mut().filter(|one| one.value("WHO").is_some()).collect();
            let at = usize::from(how) % valued.len().max(1);
            if let Some(Function::Values(values, _)) = valued.get_mut(at).map(|one| &mut **one) {
                let rest = values.split_once(", ").map_or("", |(_, rest)| rest);
                *values = format!("{name}, {rest}");
                line = Some(format!("change values in Kptfile of {} to {values}", shown(&package)));
            }
        });
        line
    }

    fn name_values(&mut self, place: u16) -> Option<String> {
        let package = self.valued(place)?;
        let mut line = None;
        let last = self.last;
        self.change_functions(&package, |all| {
            for (at, function) in all.iter_mut().enumerate() {
                if let Function::Values(_, name @ None) = function {
                    *name = Some(format!("name{last}-{at}"));
                    line = Some(format!(
                        "give the functions with values in {} names",
                        shown(&package)
                    ));
                }
            }
        });
        line
    }

    // By hand.

    fn add_users(&mut self, place: u16, how: u16) -> Option<String> {
        let package = choose(&self.packages(|_| true), place)?;
        let functions = functions(&self.files, &package);
        let creations: Vec<_> =
            functions.iter().flat_map(|one| created_by(&self.files, &package, one)).collect();
        let made = choose(&creations, how).filter(|_| how % 8 == 1);
        let kind = made.as_ref().map_or("ConfigMap", |made| made.kind.as_str());
        let name = made.as_ref().and_then(|made| made.named.rsplit('.').next());
        let name = name.map_or_else(|| format!("mine{}", self.last), str::to_owned);
        let (version, data) = match kind {
            "Deployment" => ("apps/v1", "spec"),
            "Secret" => ("v1", "stringData"),
            _ => ("v1", "data"),
        };
        let object = format!(
            "apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {name}\n{data}:\n  own: hand-{}\n",
            self.last
        );
        let mut created = self.created();
        created.retain(|(path, _)| self.package(path) == package);
        let beside = choose(&created, how / 8).filter(|_| how.is_multiple_of(3));
        let path = beside
            .map_or_else(|| join(&package, &format!("mine{}.yaml", self.last)), |(path, _)| path);
        let content =
            self.files.get(&path).map(|content| format!("{content}---\n")).unwrap_or_default();
        self.files.insert(path.clone(), content + &object);
        Some(format!("add {kind} {name} by hand to {path}"))
    }

    fn note(&mut self, place: u16, how: u16) -> Option<String> {
        let is_users = how.is_multiple_of(4);
        let places = self.all(|one| !one.is_local() && one.stamp().is_none() == is_users);
        let at = choose(&places, place)?;
        let text = self.get(&at)?;
        let (hand, object) = (format!("hand-{}", self.last), Object(&text));
        let stamped =
            |line: &str| line.trim().starts_with(STAMP).then(|| format!("{line} # {hand}"));
        let (what, new) = match how % 3 {
            0 => (
                "an annotation",
                object.with(
                    &["metadata:", "  annotations:"],
                    &format!("    example.com/note: {hand}"),
                ),
            ),
            1 => (
                "a label",
                object
                    .with(&["metadata:", "  labels:"], &format!("    note-{}: {hand}", self.last)),
            ),
            _ => ("a comment", object.with_line(stamped)?),
        };
        if what == "an annotation" && object.annotation("example.com/note").is_some() {
            return None;
        }
        self.set(&at, new);
        Some(format!("write {what} {hand} to {}", shown_object(&at, object)))
    }

    fn edit_field(&mut self, place: u16) -> Option<String> {
        let at = choose(&self.all(|one| one.is_marked() && one.kind() == "ConfigMap"), place)?;
        let text = self.get(&at)?;
        let edited = |line: &str| line.starts_with("  text: ").then(|| "  text: edited".to_owned());
        self.set(&at, Object(&text).with_line(edited)?);
        Some(format!("edit `data.text` of {}", shown_object(&at, Object(&text))))
    }

    fn keep(&mut self, place: u16) -> Option<String> {
        let keep = "template.krm.dev/keep";
        let places = self.all(|one| {
            one.is_marked() && one.kind() == "ConfigMap" && one.annotation(keep).is_none()
        });
        let at = choose(&places, place)?;
        let old = self.get(&at)?;
        let hand = format!("  text: hand-{}", self.last);
        let edited =
            Object(&old).with_line(|line| line.starts_with("  text: ").then(|| hand.clone()))?;
        let line = format!("    {keep}: data.text");
        self.set(&at, Object(&edited).with(&["metadata:", "  annotations:"], &line));
        Some(format!("edit and keep `data.text` of {}", shown_object(&at, Object(&old))))
    }

    fn edit_password(&mut self, place: u16, how: u16) -> Option<String> {
        let at = choose(&self.all(|one| one.is_marked() && one.password().is_some()), place)?;
        let text = self.get(&at)?;
        let is_bad = how.is_multiple_of(3);
        let new = if is_bad { "by hand!".to_owned() } else { format!("HandMade{:08}", self.last) };
        self.past.damaged |= is_bad;
        self.set(&at, text.replace(Object(&text).password()?, &new));
        Some(format!("write the password `{new}` to {}", shown_object(&at, Object(&text))))
    }

    fn rename_object(&mut self, place: u16) -> Option<String> {
        let at = choose(&self.created(), place)?;
        let text = self.get(&at)?;
        // Nothing tells one without an origin from an object that is no longer created.
        Object(&text).annotation(ORIGIN)?;
        let name = format!("renamed{}", self.last);
        self.set(&at, Object(&text).renamed(&name));
        self.past.renamed = true;
        Some(format!("rename {} to {name}", shown_object(&at, Object(&text))))
    }

    fn copy_object(&mut self, place: u16, how: u16) -> Option<String> {
        let at = choose(&self.created(), place)?;
        let text = self.get(&at)?;
        let object = Object(&text);
        // Nothing tells one without an origin from an object that is no longer created.
        object.annotation(ORIGIN)?;
        if self.is_renamed_later(&self.package(&at.0)) {
            return None;
        }
        let name = if how.is_multiple_of(4) {
            object.name().to_owned()
        } else {
            format!("{}-copy{}", object.name(), self.last)
        };
        let path = join(directory(&at.0), &format!("copy{}.yaml", self.last));
        self.files.insert(path.clone(), object.renamed(&name));
        Some(format!("copy {} to {path} with the name {name}", shown_object(&at, object)))
    }

    fn move_object(&mut self, place: u16) -> Option<String> {
        let at = choose(&self.created(), place)?;
        let text = self.take(&at)?;
        let path = join(&self.package(&at.0), &format!("out{}/moved.yaml", self.last));
        let line = format!("move {} to {path}", shown_object(&at, Object(&text)));
        self.files.insert(path, text);
        self.past.moves += 1;
        Some(line)
    }

    fn delete_object(&mut self, place: u16) -> Option<String> {
        let at = choose(&self.created(), place)?;
        let text = self.take(&at)?;
        Some(format!("delete {}", shown_object(&at, Object(&text))))
    }

    fn delete_mark(&mut self, place: u16, how: u16) -> Option<String> {
        let at = choose(&self.created(), place)?;
        let text = self.get(&at)?;
        let (what, dropped): (&str, &[&str]) = match how % 4 {
            0 => (ORIGIN, &[ORIGIN]),
            1 => (INSTANCE, &[INSTANCE]),
            _ => ("both marks", &[INSTANCE, ORIGIN]),
        };
        if self.is_renamed_later(&self.package(&at.0)) {
            return None;
        }
        self.set(&at, Object(&text).without_annotations(|key| dropped.contains(&key)));
        self.past.damaged = true;
        Some(format!("delete {what} of {}", shown_object(&at, Object(&text))))
    }

    /// Whether a later function of the package sets names or namespaces.
    fn is_renamed_later(&self, package: &str) -> bool {
        functions(&self.files, package)
            .iter()
            .any(|one| matches!(one, Function::Other(command) if !command.contains("label")))
    }

    fn has_copies(&self) -> bool {
        let mut seen = BTreeSet::new();
        self.created().iter().any(|at| {
            let text = self.get(at);
            let stamp = text.and_then(|text| Object(&text).stamp().map(str::to_owned));
            !seen.insert((self.package(&at.0), stamp))
        })
    }

    /// As an older version wrote them.
    fn older_marks(&mut self) -> Option<String> {
        let marked = self.all(|one| one.annotation(ORIGIN).is_some());
        let is_odd = self.has_copies() || self.past.renamed || self.past.moves > 0;
        if marked.is_empty() || is_odd {
            return None;
        }
        for at in marked {
            let text = self.get(&at)?;
            self.set(&at, Object(&text).without_annotations(|key| key == ORIGIN));
        }
        self.past.damaged = true;
        Some("all marks are those of an older version".to_owned())
    }

    // Functions of others.

    fn add_later(&mut self, place: u16, how: u16) -> Option<String> {
        let package = choose(&self.packages(|_| true), place)?;
        let command = choose(&["namespace prod", "prefix dev-", "label p"], how)?;
        // It also renames what is no object of ours any more, and what copies are told by.
        if !command.starts_with("label") && (self.past.damaged || self.has_copies()) {
            return None;
        }
        let function = Function::Other(format!("python3 later.py {command}"));
        if functions(&self.files, &package).contains(&function) {
            return None;
        }
        self.change_functions(&package, |all| all.push(function));
        Some(format!("add a later function to {}: {command}", shown(&package)))
    }

    fn remove_later(&mut self, place: u16) -> Option<String> {
        let is_other = |one: &Function| matches!(one, Function::Other(_));
        let packages = self.packages(|one| functions(&self.files, one).iter().any(is_other));
        let package = choose(&packages, place)?;
        self.change_functions(&package, |all| all.retain(|one| !is_other(one)));
        Some(format!("remove the later functions of {}", shown(&package)))
    }
}

fn shown(package: &str) -> &str {
    if package.is_empty() { "the package at the top" } else { package }
}

fn shown_object((path, _): &Place, object: Object<'_>) -> String {
    format!(
        "{} {} ({}) in {path}",
        object.kind(),
        object.name(),
        object.stamp().unwrap_or("by hand")
    )
}

/// The first file that differs, with both texts.
pub(super) fn first_difference(old: &Files, new: &Files) -> String {
    let paths: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let different = paths.into_iter().find(|path| old.get(*path) != new.get(*path));
    let Some(path) = different else {
        return "no difference".to_owned();
    };
    let show = |files: &Files| files.get(path).cloned().unwrap_or_else(|| "no file\n".to_owned());
    format!("{path}: first\n{}then\n{}", show(old), show(new))
}

/// A functionConfig to be written.
struct Draft {
    stamp: String,
    name: String,
    /// The value of `NAME`, which is part of the objects' names; none if the function gives it.
    value: String,
    is_instance: bool,
    namespace: Option<&'static str>,
}

impl Draft {
    fn kind(&self) -> &'static str {
        if self.is_instance { "TemplateInstance" } else { "Template" }
    }

    fn text(&self, shape: u16) -> String {
        let namespace = self.namespace.filter(|_| self.is_instance);
        let mut body = String::from("parameters:\n- name: NAME\n");
        if self.value.is_empty() {
            body.push_str("  required: true\n- name: WHO\n  required: true\n");
        } else {
            body = body + "  value: " + &self.value + "\n";
        }
        body.push_str("- name: TEXT\n  value: one\n- name: PASSWORD\n  generate: expression\n  from: \"[a-zA-Z0-9]{16}\"\n");
        body.push_str("objects:\n");
        for number in 1..=1 + usize::from(shape % 3) {
            let kind = shape / 3 + u16::try_from(number).unwrap_or_default();
            body.push_str(&object(&self.stamp, number, kind, namespace));
        }
        let head = |kind: &str, name: &str| {
            format!(
                "apiVersion: template.krm.dev/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}\n"
            )
        };
        let local = "  annotations:\n    config.kubernetes.io/local-config: \"true\"\n";
        let own = head(self.kind(), &self.name) + local;
        if !self.is_instance {
            return own + &body;
        }
        let inner = head("Template", "t") + &body;
        let inner = indented(&inner, "    ", "    ");
        let namespace =
            namespace.map(|namespace| format!("  namespace: {namespace}\n")).unwrap_or_default();
        format!("{own}spec:\n{namespace}  template:\n{inner}")
    }
}

fn kind_of(shape: u16) -> &'static str {
    match shape % 4 {
        0 | 1 => "Secret",
        2 => "ConfigMap",
        _ => "Deployment",
    }
}

/// An object of a Template.
fn object(stamp: &str, number: usize, shape: u16, namespace: Option<&str>) -> String {
    let name = format!("$(NAME)-o{number}");
    let named = namespace.map_or_else(|| name.clone(), |namespace| format!("{namespace}.{name}"));
    let kind = kind_of(shape);
    let (version, rest) = match kind {
        "Secret" => ("v1", "stringData:\n  password: $(PASSWORD)\n"),
        "ConfigMap" => ("v1", "data:\n  text: $(TEXT)\n"),
        _ => (
            "apps/v1",
            concat!(
                "spec:\n  replicas: 2\n  template:\n    spec:\n      containers:\n      - name: main\n",
                "        image: nginx\n        env:\n        - name: PASSWORD\n          value: $(PASSWORD)\n",
            ),
        ),
    };
    let metadata = format!(
        "metadata:\n  name: {name}\n  labels:\n    {STAMP}: {stamp}.o{number}\n    named: {named}\n"
    );
    let object = format!("apiVersion: {version}\nkind: {kind}\n{metadata}{rest}");
    indented(&object, "- ", "  ")
}

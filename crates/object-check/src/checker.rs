//! Checks of many objects, with what was not checked.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use krm_core::visible::{counted, on_one_line};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Cursor, DuplicateKeys, Step, View};

use crate::check::{Options, check};
use crate::custom::Definitions;
use crate::finding::{Finding, Rule};
use crate::schema;

/// The annotation that disables rules for an object.
const DISABLE: &str = "template.krm.dev/disable-rules";

/// The most kinds that are named.
const NAMED: usize = 5;

/// Checks objects, and counts what it cannot check.
pub struct Checker {
    /// The minor version of Kubernetes 1.
    pub version: u8,
    /// The known custom resources.
    pub definitions: Definitions,
    /// Rules and kinds that are not looked at.
    pub ignored: Vec<String>,
    skipped: Mutex<Skipped>,
}

/// The counts of what was left out.
#[derive(Default)]
struct Skipped {
    kinds: BTreeMap<String, usize>,
    encrypted: usize,
    rules: usize,
}

impl Skipped {
    fn add(&mut self, unchecked: Unchecked) {
        match unchecked {
            Unchecked::Kind(name) => *self.kinds.entry(name).or_default() += 1,
            Unchecked::Encrypted => self.encrypted += 1,
            Unchecked::Rules(count) => self.rules += count,
        }
    }
}

/// A part of an object that was not checked.
enum Unchecked {
    /// All of it, as its kind is unknown.
    Kind(String),
    /// All of it, as SOPS decrypts it before it is sent.
    Encrypted,
    /// So many rules in CEL.
    Rules(usize),
}

impl Default for Checker {
    fn default() -> Self {
        Self {
            version: schema::LAST,
            definitions: Definitions::default(),
            ignored: Vec::new(),
            skipped: Mutex::default(),
        }
    }
}

impl Checker {
    /// Checks an object; texts for which `is_placeholder` holds are only known later.
    pub fn check(&self, object: View<'_>, is_placeholder: &dyn Fn(&str) -> bool) -> Vec<Finding> {
        let (found, unchecked) = self.run(object, is_placeholder);
        if let Some(unchecked) = unchecked {
            let mut skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
            skipped.add(unchecked);
        }
        found
    }

    /// Checks an object again, of which more is known. What is left out was counted before.
    pub fn recheck(&self, object: View<'_>, is_placeholder: &dyn Fn(&str) -> bool) -> Vec<Finding> {
        self.run(object, is_placeholder).0
    }

    fn run(
        &self,
        object: View<'_>,
        is_placeholder: &dyn Fn(&str) -> bool,
    ) -> (Vec<Finding>, Option<Unchecked>) {
        let (Some(api_version), Some(kind)) =
            (object.str_at(&["apiVersion"]), object.str_at(&["kind"]))
        else {
            return (Vec::new(), None);
        };
        if is_placeholder(&api_version) || is_placeholder(&kind) || self.is_ignored(&kind) {
            return (Vec::new(), None);
        }
        if object.get("sops").is_some() {
            return (Vec::new(), Some(Unchecked::Encrypted));
        }
        let options = Options { version: self.version, is_placeholder };
        let Some(checked) = check(object, &self.definitions, options) else {
            let name = format!("{} {}", on_one_line(&api_version), on_one_line(&kind));
            return (Vec::new(), Some(Unchecked::Kind(name)));
        };
        let unchecked =
            (checked.rules_not_run > 0).then_some(Unchecked::Rules(checked.rules_not_run));
        let mut found = checked.findings;
        if !found.is_empty() {
            let annotation =
                object.str_at(&["metadata", "annotations", DISABLE]).unwrap_or_default();
            let is_disabled = |rule: &str| annotation.split(',').any(|name| name.trim() == rule);
            found.retain(|one| !is_disabled(one.rule.name()) && !self.is_ignored(one.rule.name()));
        }
        (found, unchecked)
    }

    /// Adds the custom resource that an object defines, if it is a CustomResourceDefinition.
    pub fn define(&mut self, object: Cursor<'_>) {
        if object.text_at(["kind"]).as_deref() == Some("CustomResourceDefinition")
            && let Some(value) = object.value(DuplicateKeys::LastWins, &mut Diagnostics::new())
        {
            self.definitions.add(View::of(&value));
        }
    }

    /// Forgets what was left out so far, because it will be counted again.
    pub fn forget_skipped(&mut self) {
        self.skipped = Mutex::default();
    }

    fn is_ignored(&self, name: &str) -> bool {
        self.ignored.iter().any(|one| one == name)
    }

    /// A sentence about the checks that were left out.
    pub fn not_checked(&self) -> Option<String> {
        let skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parts = Vec::new();
        let count: usize = skipped.kinds.values().sum();
        if count > 0 {
            let names: Vec<&str> = skipped.kinds.keys().map(String::as_str).take(NAMED).collect();
            let more = if skipped.kinds.len() > NAMED { ", …" } else { "" };
            parts.push(format!(
                "{} of unknown kinds ({}{more})",
                counted(count, "object"),
                names.join(", ")
            ));
        }
        if skipped.encrypted > 0 {
            let objects = counted(skipped.encrypted, "object");
            parts.push(format!("{objects} that SOPS has encrypted"));
        }
        if skipped.rules > 0 {
            parts.push(format!("{} in CEL", counted(skipped.rules, "rule")));
        }
        if parts.is_empty() {
            return None;
        }
        let mut text = String::from("not checked: ");
        let _ = write!(text, "{}", parts.join(", "));
        Some(text)
    }
}

impl Finding {
    /// Whether its texts may all be shown: the message, and each key of the path.
    pub fn shows_only(&self, may_show: &dyn Fn(&str) -> bool) -> bool {
        let mut steps = self.path.steps().iter();
        may_show(&self.message)
            && steps.all(|step| !matches!(step, Step::Key(key) if !may_show(key)))
    }

    /// The finding as a diagnostic at a node of the document, which is its origin or the object.
    pub fn diagnostic(&self, node: Option<Cursor<'_>>, is_secret: bool) -> Diagnostic {
        let mut diagnostic = if self.rule.is_error() {
            Diagnostic::error(&self.message)
        } else {
            Diagnostic::warning(&self.message)
        };
        if let Some(node) = node {
            let place =
                if self.rule == Rule::UnknownField { node.key_place() } else { node.place() };
            let written = place.source.text().get(place.range.clone());
            let written = written.unwrap_or_default().trim_matches(['"', '\'']);
            // A parameter may have made the value.
            let fix = self.fix.as_ref().filter(|fix| fix.old == written);
            diagnostic.fix = fix.filter(|_| !is_secret).map(|fix| fix.new.clone());
            diagnostic = diagnostic.at(place);
        }
        let diagnostic = diagnostic.rule(self.rule.name()).conceal(is_secret);
        diagnostic.field(self.path.to_string()).maybe_hint(self.hint.clone())
    }
}

//! The table of rules.

use crate::lint::context::Context;
use crate::lint::facts::Facts;
use crate::lint::{fields, identifiers, objects, parameters, pitfalls};
use crate::template::Object;
use krm_yaml::diagnostic::{Diagnostics, Severity};

/// A kind of mistake.
#[derive(Debug)]
pub struct Rule {
    /// Its name, by which it is switched off.
    pub name: &'static str,
    /// How much it matters in most cases; `docs/rules.md` has the others.
    pub severity: Severity,
    /// What it finds, in one line.
    pub summary: &'static str,
    pub(super) check: Check,
}

/// How a mistake is found.
#[derive(Clone, Copy, Debug)]
pub(super) enum Check {
    /// While the Template is read and expanded, where the diagnostics name the rule.
    Reading,
    /// By a look at the Template.
    Template(fn(&Context<'_, '_>, &mut Diagnostics)),
    /// By a look at one object.
    Object(fn(&Context<'_, '_>, &Object<'_>, &mut Diagnostics)),
    /// By a look at all objects.
    Objects(fn(&Context<'_, '_>, &[Facts], &mut Diagnostics)),
}

const fn rule(name: &'static str, severity: Severity, summary: &'static str, check: Check) -> Rule {
    Rule {
        name,
        severity,
        summary,
        check,
    }
}

use Check::{Object as EachObject, Objects, Reading, Template};
use Severity::{Error, Warning};

/// All rules, in the order of `docs/rules.md`.
pub const RULES: &[Rule] = &[
    rule(
        "syntax",
        Error,
        "text that is no YAML, or that YAML readers disagree on",
        Reading,
    ),
    rule(
        "structure",
        Error,
        "a Template or an object that lacks what it must have",
        Reading,
    ),
    rule(
        "unknown-field",
        Warning,
        "a field that a Template or a parameter does not have",
        Reading,
    ),
    rule(
        "unknown-rule",
        Warning,
        "the name of a rule that does not exist",
        Reading,
    ),
    rule(
        "duplicate-key",
        Error,
        "a key that stands twice in one mapping",
        Reading,
    ),
    rule(
        "duplicate-parameter",
        Error,
        "a parameter that is declared twice",
        Reading,
    ),
    rule(
        "parameter-name",
        Warning,
        "a parameter that no reference can name",
        Reading,
    ),
    rule(
        "parameter-limits",
        Error,
        "limits of a parameter that no value can keep",
        Template(parameters::parameter_limits),
    ),
    rule(
        "default-value",
        Error,
        "a default that is not what its parameter says",
        Reading,
    ),
    rule(
        "generated-value",
        Error,
        "an expression that generates nothing, or the same value each time",
        Template(parameters::generated_value),
    ),
    rule(
        "given-value",
        Error,
        "a value of an instance or of a file that its parameter refuses, or that is missing",
        Reading,
    ),
    rule(
        "undeclared-parameter",
        Error,
        "a reference to a parameter that is not declared",
        Template(parameters::undeclared_parameter),
    ),
    rule(
        "other-dialect",
        Error,
        "a reference in the syntax of the other dialect",
        Reading,
    ),
    rule(
        "unused-parameter",
        Warning,
        "a parameter that nothing refers to",
        Template(parameters::unused_parameter),
    ),
    rule(
        "env-conflict",
        Error,
        "a reference that names a parameter and a variable of its container",
        Reading,
    ),
    rule(
        "empty-value",
        Warning,
        "a raw reference that may become the empty string",
        Template(parameters::empty_value),
    ),
    rule(
        "raw-number",
        Warning,
        "a number that is not spelled as in JSON and becomes a string",
        Reading,
    ),
    rule(
        "string-expected",
        Error,
        "a number or bool where Kubernetes takes strings only",
        EachObject(fields::string_expected),
    ),
    rule(
        "number-expected",
        Error,
        "a string where Kubernetes takes numbers only",
        EachObject(fields::number_expected),
    ),
    rule(
        "bool-expected",
        Error,
        "a string where Kubernetes takes `true` and `false` only",
        EachObject(fields::bool_expected),
    ),
    rule(
        "invalid-name",
        Error,
        "a name that Kubernetes refuses",
        EachObject(identifiers::invalid_name),
    ),
    rule(
        "invalid-label",
        Error,
        "a label, or the key of an annotation, that Kubernetes refuses",
        EachObject(identifiers::invalid_label),
    ),
    rule(
        "duplicate-object",
        Error,
        "two objects of the same kind, namespace and name",
        Objects(objects::duplicate_object),
    ),
    rule(
        "selector-mismatch",
        Error,
        "a workload that does not select its own pods",
        EachObject(objects::selector_mismatch),
    ),
    rule(
        "unmatched-selector",
        Warning,
        "a selector that misses the pods it is probably meant for",
        Objects(objects::unmatched_selector),
    ),
    rule(
        "yaml-bool",
        Warning,
        "`yes`, `no`, `on` and their like, which are bools",
        Template(pitfalls::yaml_bool),
    ),
    rule(
        "yaml-number",
        Warning,
        "a number that is read as another than it looks",
        Template(pitfalls::yaml_number),
    ),
    rule(
        "composition",
        Error,
        "a Composition that cannot be built",
        Reading,
    ),
    rule(
        "unquoted-value",
        Warning,
        "the value of a parameter that is not a string",
        Reading,
    ),
];

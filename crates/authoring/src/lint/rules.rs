//! The table of rules.

use crate::lint::context::Context;
use crate::lint::facts::Facts;
use crate::lint::{annotations, fields, identifiers, objects, parameters, pitfalls};
use krm_template_engine::Object;
use krm_yaml::diagnostic::{Diagnostics, Severity};

/// A mistake in Templates that can be found.
#[derive(Debug)]
pub struct Rule {
    /// Its name, with which it can be disabled.
    pub name: &'static str,
    /// Its usual severity; `docs/rules.md` has the exceptions.
    pub severity: Severity,
    /// A description of the mistake, in one line.
    pub summary: &'static str,
    pub(super) check: Check,
}

/// How a mistake is found.
#[derive(Clone, Copy, Debug)]
pub(super) enum Check {
    /// By reading and expanding, whose diagnostics name the rule.
    Reading,
    Template(fn(&Context<'_>, &mut Diagnostics)),
    /// By checking each object by itself.
    Object(fn(&Context<'_>, &Object<'_>, &mut Diagnostics)),
    /// By checking all objects together.
    Objects(fn(&Context<'_>, &[Facts], &mut Diagnostics)),
}

const fn rule(name: &'static str, severity: Severity, summary: &'static str, check: Check) -> Rule {
    Rule { name, severity, summary, check }
}

use Check::{Object as EachObject, Objects, Reading, Template};
use Severity::{Error, Info, Warning};

/// All rules, in the order of `docs/rules.md`.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    rule("syntax", Error, "text that is not YAML, or that YAML readers read differently", Reading),
    rule("structure", Error, "a Template or an object without a required field", Reading),
    rule("unknown-field", Warning, "an unknown field of a Template or a parameter", Reading),
    rule("unknown-rule", Warning, "an unknown rule name", Reading),
    rule("duplicate-key", Error, "a duplicate key in a mapping", Reading),
    rule("duplicate-parameter", Error, "a parameter that is declared twice", Reading),
    rule("parameter-name", Warning, "a parameter that no reference can name", Reading),
    rule("parameter-limits", Error, "limits of a parameter that no value can satisfy", Template(parameters::parameter_limits)),
    rule("default-value", Error, "a default that its parameter does not allow", Reading),
    rule("generated-value", Error, "an expression that generates nothing, or the same value each time", Template(parameters::generated_value)),
    rule("given-value", Error, "a value in an instance or a values file that is missing, or that its parameter does not allow", Reading),
    rule("undeclared-parameter", Error, "a reference to a parameter that is not declared", Template(parameters::undeclared_parameter)),
    rule("other-dialect", Error, "a reference in the syntax of the other dialect", Reading),
    rule("reference-syntax", Warning, "text that looks like a reference to a parameter, but is none", Reading),
    rule("unused-parameter", Warning, "a parameter that nothing refers to", Template(parameters::unused_parameter)),
    rule("env-conflict", Error, "a reference that matches both a parameter and a variable of its container", Reading),
    rule("empty-value", Warning, "a raw reference that may become the empty string", Template(parameters::empty_value)),
    rule("raw-number", Warning, "a number that becomes a string, because JSON would spell it differently", Reading),
    rule("own-annotation", Warning, "an annotation of this program that is unknown, or has no effect", Template(annotations::own_annotation)),
    rule("removed-namespace", Warning, "a fixed namespace, which OpenShift's dialect removes", Reading),
    rule("string-expected", Error, "a number or bool where Kubernetes requires a string", EachObject(fields::string_expected)),
    rule("number-expected", Error, "a string where Kubernetes requires a number", EachObject(fields::number_expected)),
    rule("bool-expected", Error, "a string where Kubernetes requires `true` or `false`", EachObject(fields::bool_expected)),
    rule("invalid-name", Error, "a name that Kubernetes rejects", EachObject(identifiers::invalid_name)),
    rule("invalid-label", Error, "a label or an annotation key that Kubernetes rejects", EachObject(identifiers::invalid_label)),
    rule("duplicate-object", Error, "two objects with the same kind, namespace and name", Objects(objects::duplicate_object)),
    rule("selector-mismatch", Error, "a workload that does not select its own pods", EachObject(objects::selector_mismatch)),
    rule("unmatched-selector", Warning, "a selector that almost matches pods of the Template", Objects(objects::unmatched_selector)),
    rule("crossing-selector", Warning, "a selector of one instance that selects pods of another", Reading),
    rule("removed-api", Error, "an object of a kind or an API version that is not served", Reading),
    rule("unknown-object-field", Warning, "a field of an object that its kind does not have", Reading),
    rule("object-type", Error, "a value of an object that the API server cannot read", Reading),
    rule("object-refused", Error, "an object that the API server refuses", Reading),
    rule("yaml-bool", Warning, "a bool such as `yes`, `no` or `on`", Template(pitfalls::yaml_bool)),
    rule("yaml-number", Warning, "a number that is read differently than it looks", Template(pitfalls::yaml_number)),
    rule("missing-space", Warning, "text such as `replicas:2`, where a mapping is meant", Template(pitfalls::missing_space)),
    rule("composition", Error, "a Composition that cannot be built", Reading),
    rule("kustomization", Error, "a Kustomization that cannot be built", Reading),
    rule("deprecated-field", Warning, "a field of a Kustomization that has a successor", Reading),
    rule("unquoted-value", Warning, "the value of a parameter that is not a string", Reading),
    rule("dm-unknown-type", Warning, "a type that looks like a template, but is not imported", Reading),
    rule("dm-schema", Error, "a schema that is invalid", Reading),
    rule("dm-properties", Error, "properties that do not fit the schema of their template", Reading),
    rule("dm-reference", Error, "a reference to an unknown resource, output or field", Reading),
    rule("dm-duplicate-name", Error, "two resources with the same name", Reading),
    rule("dm-template", Error, "a template that fails, or makes no resources", Reading),
    rule("dm-python", Error, "a Python template, which is not run", Reading),
    rule("dm-unused-import", Info, "an import that nothing uses", Reading),
    rule("dm-unknown-property", Warning, "a property that the schema of its template does not have", Reading),
];

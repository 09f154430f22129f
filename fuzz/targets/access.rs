//! Token files and RBAC: a token file is read without panics, and roles give the same decision as a
//! simple model.

#![no_main]

use std::collections::BTreeMap;

use arbitrary::Arbitrary;
use krm_template_server_core::auth::rbac::{Binding, Policy, RoleKey, Rule, Subject};
use krm_template_server_core::auth::tokens::Tokens;
use krm_template_server_core::auth::{Attributes, User};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    tokens: &'a [u8],
    token: &'a str,
    roles: Vec<(Name, bool, Vec<AnyRule>)>,
    bindings: Vec<AnyBinding>,
    wanted: Wanted,
}

#[derive(Arbitrary, Debug)]
struct AnyRule {
    verbs: Vec<Name>,
    groups: Vec<Name>,
    resources: Vec<(Name, Option<Name>)>,
    names: Vec<Name>,
    paths: Vec<(Name, bool)>,
}

#[derive(Arbitrary, Debug)]
struct AnyBinding {
    role: Name,
    /// Whether the role is one of the namespace.
    is_local: bool,
    /// The namespace of the binding, if it has one.
    namespace: Option<Name>,
    subjects: Vec<(Name, bool)>,
}

#[derive(Arbitrary, Debug)]
struct Wanted {
    user: Name,
    groups: Vec<Name>,
    verb: Name,
    group: Name,
    resource: Name,
    subresource: Option<Name>,
    namespace: Option<Name>,
    name: Option<Name>,
    path: Option<Name>,
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
enum Name {
    A,
    B,
    All,
}

impl Name {
    const fn text(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
            Self::All => "*",
        }
    }

    /// What a client can ask for: everything is not the name of anything.
    const fn of_client(self) -> Self {
        match self {
            Self::All => Self::B,
            other => other,
        }
    }

    fn covers(self, other: Self) -> bool {
        self == Self::All || self == other.of_client()
    }
}

fuzz_target!(|input: Input<'_>| {
    if let Ok(tokens) = Tokens::parse(input.tokens) {
        let _ = tokens.user(input.token);
    }
    let user = User {
        name: input.wanted.user.of_client().text().to_owned(),
        groups: texts(&input.wanted.groups),
        ..User::default()
    };
    let optional = |name: Option<Name>| name.map_or("", |name| name.of_client().text());
    let path = input.wanted.path.map(|name| format!("/{}", name.of_client().text()));
    let wanted = match &path {
        Some(path) => Attributes::on_path(input.wanted.verb.of_client().text(), path),
        None => Attributes {
            verb: input.wanted.verb.of_client().text(),
            group: input.wanted.group.of_client().text(),
            version: "v1",
            resource: input.wanted.resource.of_client().text(),
            subresource: optional(input.wanted.subresource),
            namespace: optional(input.wanted.namespace),
            name: optional(input.wanted.name),
            path: None,
        },
    };
    let is_allowed = policy(&input).decide(&user, &wanted).is_ok();
    assert_eq!(is_allowed, expected(&input), "{user:?} {wanted:?}");
});

fn texts(names: &[Name]) -> Vec<String> {
    names.iter().map(|name| name.text().to_owned()).collect()
}

/// The namespace of objects of a namespace.
const LOCAL: &str = "a";

fn key(name: Name, is_local: bool) -> RoleKey {
    RoleKey {
        namespace: if is_local { LOCAL } else { "" }.to_owned(),
        name: name.text().to_owned(),
    }
}

fn policy(input: &Input<'_>) -> Policy {
    let mut roles = BTreeMap::new();
    for (name, is_local, rules) in &input.roles {
        roles.insert(key(*name, *is_local), rules.iter().map(rule).collect());
    }
    let bindings = input.bindings.iter().map(|binding| Binding {
        namespace: binding.namespace.map_or("", Name::text).to_owned(),
        role: key(binding.role, binding.is_local),
        subjects: binding
            .subjects
            .iter()
            .map(|(name, is_group)| {
                let name = name.text().to_owned();
                if *is_group { Subject::Group(name) } else { Subject::User(name) }
            })
            .collect(),
    });
    Policy::new(roles, bindings.collect())
}

fn rule(rule: &AnyRule) -> Rule {
    Rule {
        verbs: texts(&rule.verbs),
        api_groups: texts(&rule.groups),
        resources: rule
            .resources
            .iter()
            .map(|(resource, subresource)| match subresource {
                Some(sub) => format!("{}/{}", resource.text(), sub.text()),
                None => resource.text().to_owned(),
            })
            .collect(),
        resource_names: texts(&rule.names),
        non_resource_urls: rule
            .paths
            .iter()
            .map(|(path, is_whole)| match path {
                Name::All => "*".to_owned(),
                _ if *is_whole => format!("/{}", path.text()),
                _ => format!("/{}*", path.text()),
            })
            .collect(),
    }
}

/// Whether Kubernetes allows it, by its documentation: some binding of the user, of the namespace
/// or of all, gives a role with a rule for it.
fn expected(input: &Input<'_>) -> bool {
    let wanted = &input.wanted;
    let namespace = wanted.namespace.filter(|_| wanted.path.is_none());
    input.bindings.iter().any(|binding| {
        let is_here = binding
            .namespace
            .is_none_or(|of| namespace.is_some_and(|wanted| of == wanted.of_client()));
        let is_mine = binding.subjects.iter().any(|(name, is_group)| {
            if *is_group { wanted.groups.contains(name) } else { *name == wanted.user.of_client() }
        });
        // Of two roles with one name the last is taken.
        let mut roles = input.roles.iter().rev();
        let role = roles
            .find(|(name, is_local, _)| *name == binding.role && *is_local == binding.is_local);
        is_here
            && is_mine
            && role.is_some_and(|(_, _, rules)| rules.iter().any(|rule| covers(rule, wanted)))
    })
}

fn covers(rule: &AnyRule, wanted: &Wanted) -> bool {
    if !rule.verbs.iter().any(|verb| verb.covers(wanted.verb)) {
        return false;
    }
    if let Some(path) = wanted.path {
        return rule.paths.iter().any(|(pattern, _)| pattern.covers(path));
    }
    let is_resource = rule.resources.iter().any(|(resource, subresource)| {
        match (subresource, wanted.subresource) {
            // `*` is for all resources and their subresources.
            (None, _) if *resource == Name::All => true,
            (None, None) => *resource == wanted.resource.of_client(),
            (Some(sub), Some(wanted_sub)) => {
                resource.covers(wanted.resource) && *sub == wanted_sub.of_client()
            }
            _ => false,
        }
    });
    is_resource
        && rule.groups.iter().any(|group| group.covers(wanted.group))
        && (rule.names.is_empty()
            || wanted.name.is_some_and(|name| rule.names.contains(&name.of_client())))
}

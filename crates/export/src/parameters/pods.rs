//! Pods: images, resources, secrets in variables and arguments, and the names of Services there.

use crate::options::Group;
use crate::parameters::declarations::NewParameter;
use crate::parameters::maker::{Maker, Object};
use crate::parameters::{images, secrets, values};
use crate::visit::each_container;
use krm_core::pods;
use krm_yaml::{Data, Value};

/// Makes the parameters of the pods that an object is or creates.
pub(crate) fn of_object(part: &mut Value<'_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    let spec = pods::spec(&object.identity.kind);
    let Some(spec) = spec.and_then(|path| part.at_mut(path)) else {
        return;
    };
    images::of_pod(spec, object, maker);
    each_container(spec, &mut |container| {
        if maker.makes(Group::Resources) {
            resources(container, object, maker);
        }
        secrets::of_variables(container, object, maker);
        secrets::of_arguments(container, object, maker);
        service_names(container, object, maker);
    });
}

/// Makes a parameter of each request and limit.
fn resources(container: &mut Value<'_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    let own = container.str_at(&["name"]);
    let own = own.unwrap_or_default().to_owned();
    for (list, noun, field) in [("requests", "request", "REQUEST"), ("limits", "limit", "LIMIT")] {
        let Some(Data::Mapping(amounts)) =
            container.at_mut(&["resources", list]).map(|amounts| &mut amounts.data)
        else {
            continue;
        };
        for (key, amount) in amounts {
            let new = NewParameter {
                name: &[object.word, key, field],
                title: &[key, " ", noun, " of ", object.short()],
                origin: &["the ", key, " ", noun, " of container `", &own, "` in ", object.called],
                group: object.called,
                ..NewParameter::default()
            };
            values::quantity(amount, new, maker);
        }
    }
}

/// The names of Services in variables and arguments.
fn service_names(container: &mut Value<'_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    if maker.scope.services.is_empty() {
        return;
    }
    let namespace = object.identity.namespace.as_str();
    let mut change = |value: &mut Value<'_>| {
        let text = value.as_str();
        let changed = text.and_then(|text| words(text, namespace, maker));
        if let Some(changed) = changed {
            value.set(Value::string(changed).data);
        }
    };
    let variables = container.get_mut("env").and_then(Value::items_mut);
    for variable in variables.into_iter().flatten() {
        variable.get_mut("value").into_iter().for_each(&mut change);
    }
    // The first word of a command is a program.
    for (list, first) in [("command", 1), ("args", 0)] {
        let words = container.get_mut(list).and_then(Value::items_mut);
        let words = words.into_iter().flatten().skip(first);
        words.for_each(&mut change);
    }
}

/// A text with the DNS names of Services changed; `None` if it has none.
fn words(text: &str, namespace: &str, maker: &mut Maker<'_>) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let mut out = String::with_capacity(text.len());
    let mut is_changed = false;
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        let (before, after) = rest.split_at_checked(start)?;
        out.push_str(before);
        let end = after.find(|c| !is_word(c)).unwrap_or(after.len());
        let (word, after) = after.split_at_checked(end)?;
        let may_be_host = begins_host(&out) && ends_host(after);
        match may_be_host.then(|| dns_name(word, namespace, maker)).flatten() {
            Some(changed) => {
                is_changed = true;
                out.push_str(&changed);
            }
            None => out.push_str(word),
        }
        rest = after;
    }
    out.push_str(rest);
    is_changed.then_some(out)
}

/// Whether the name of a host may follow a text: not a variable, nor a later part of a path.
fn begins_host(before: &str) -> bool {
    match before.chars().next_back() {
        None => true,
        Some('/') => before.ends_with("//"),
        Some(c) => c.is_whitespace() || "@=,;:\"'([|".contains(c),
    }
}

/// Whether the name of a host may be followed by a text.
fn ends_host(after: &str) -> bool {
    let first = after.chars().next();
    first.is_none_or(|c| c.is_whitespace() || ":/,;\"')]?&|#".contains(c))
}

/// The DNS name of a Service of the export, with references.
fn dns_name(word: &str, namespace: &str, maker: &mut Maker<'_>) -> Option<String> {
    let (service, domain) = word.split_once('.').unzip();
    let service = service.unwrap_or(word);
    let namespaces = maker.scope.services.get(service)?;
    let Some(domain) = domain else {
        // Without a domain, it is a Service of the same namespace.
        let is_near = namespaces.contains(namespace);
        return maker.renamed(service).filter(|_| is_near && maker.makes(Group::Names));
    };
    let (own, rest) = match domain.split_once('.') {
        Some((own, rest)) => (own, Some(rest)),
        None => (domain, None),
    };
    let is_dns = rest.is_none_or(|rest| rest == "svc" || rest.starts_with("svc."));
    if !is_dns || !namespaces.contains(own) {
        return None;
    }
    let renamed = maker.renamed(service).filter(|_| maker.makes(Group::Names));
    let name = renamed.unwrap_or_else(|| service.to_owned());
    let domain = maker.namespace(own).unwrap_or_else(|| own.to_owned());
    let rest = rest.map(|rest| format!(".{rest}")).unwrap_or_default();
    Some(format!("{name}.{domain}{rest}"))
}

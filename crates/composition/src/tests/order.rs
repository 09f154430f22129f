//! The order that `SortOrderTransformer` puts objects in, as kustomize 5.5 does.

use super::{transformed, values};

/// Kind, namespace and name of objects, after they were put in order.
fn sorted(options: &str, objects: &[(&str, &str, &str, &str)]) -> Result<String, Vec<String>> {
    let objects = objects.iter().map(|(api_version, kind, namespace, name)| {
        let namespace = match *namespace {
            "" => String::new(),
            namespace => format!(", namespace: {namespace}"),
        };
        format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}{namespace}}}\n")
    });
    let objects: Vec<String> = objects.collect();
    let config = format!("kind: SortOrderTransformer\n{options}");
    let text = transformed(&[&config], &objects.join("---\n"), &[])?;
    let names = values(&text).into_iter().map(|object| {
        let text = |keys: &[&str]| object.str_at(keys).unwrap_or_default().to_owned();
        text(&["metadata", "name"])
    });
    Ok(names.collect::<Vec<_>>().join(" "))
}

const OBJECTS: &[(&str, &str, &str, &str)] = &[
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "hook"),
    ("example.com/v1", "Thing", "", "thing"),
    ("apps/v1", "Deployment", "ab", "b-ab"),
    ("apps/v1", "Deployment", "a", "b-a"),
    ("apps/v1", "Deployment", "", "x"),
    ("apps/v1", "Deployment", "", "w"),
    ("v1", "Service", "", "service"),
    ("v1", "Pod", "", "pod"),
    ("example.com/v1", "Namespace", "", "other"),
    ("v1", "Namespace", "", "namespace"),
];

#[test]
fn objects_are_sorted_by_kind() {
    let check = |options: &str, expected: &str| {
        assert_eq!(sorted(options, OBJECTS).as_deref(), Ok(expected), "{options}");
    };
    let as_they_came = "hook thing b-ab b-a x w service pod other namespace";
    check("", as_they_came);
    check("sortOptions: {order: fifo}\n", as_they_came);
    check("sortOptions: {order: legacy}\n", "namespace other service b-ab b-a w x thing pod hook");
    check(
        "sortOptions:\n  order: legacy\n  legacySortOptions: {orderFirst: [Pod, Service], orderLast: [Namespace, Thing]}\n",
        "pod service hook b-ab b-a w x namespace other thing",
    );
}

#[test]
fn an_order_is_fifo_or_legacy() {
    let message = |options: &str| sorted(options, OBJECTS).unwrap_err().concat();
    assert_eq!(
        message("sortOptions: {order: kind}\n"),
        "SortOrderTransformer : unknown value `kind` for `order`"
    );
    assert_eq!(
        message("sortOptions: {order: fifo, legacySortOptions: {}}\n"),
        "SortOrderTransformer : it sorts by kind, but `order` is `fifo`"
    );
}

//! Parsing of the method and path of a request.
//!
//! Source: `RequestInfo` of `k8s.io/apiserver/pkg/endpoints/request`. Unlike there, the path is
//! split before its segments are decoded, so an encoded `/` never splits a segment. No served path
//! contains empty segments, `.` or `..`.

use http::Method;

use super::field_selector;
use super::query::{Query, percent_decoded};
use krm_template_server_core::telemetry::health::Kind as Health;
use krm_template_server_core::{Attributes, Group};

/// The namespace of a short path without `?namespace=`.
pub const DEFAULT_NAMESPACE: &str = "default";

/// The target of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Path {
    /// The root, `/`: the list of paths.
    Root,
    /// The versions of the core group: `/api`.
    Api,
    /// The list of groups: `/apis`.
    Apis,
    /// The versions of a group: `/apis/GROUP`.
    Group(String),
    /// `/apis/GROUP/VERSION`, or `/api/VERSION` with an empty group.
    GroupVersion(String, String),
    /// The document of version 2: `/openapi/v2`.
    OpenApiV2,
    /// The index of the documents of version 3: `/openapi/v3`.
    OpenApiV3Index,
    /// `/openapi/v3/…`, with the rest of the path, such as `apis/template.krm.dev/v1alpha1`.
    OpenApiV3(String),
    /// The version of the server: `/version`.
    Version,
    /// `/healthz`, `/livez` and `/readyz`, with the name of one check if the path has one.
    Health(Health, Option<String>),
    /// The metrics for Prometheus: `/metrics`.
    Metrics,
    /// All objects of the store: `/store/dump`.
    StoreDump,
    /// `/ui/…`, with the decoded segments of the rest.
    Ui(Vec<String>),
    /// A resource of an API group.
    Resource(Resource),
    /// A path of Deployment Manager.
    Deployments(DeploymentPath),
    /// Any other path, as sent.
    Other(String),
}

/// A path of Deployment Manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeploymentPath {
    /// The list of deployments: `/deployments`.
    Deployments,
    /// A deployment: `/deployments/D`, with its name.
    Deployment(String),
    /// The manifests of a deployment: `/deployments/D/manifests`.
    Manifests(String),
    /// A manifest: `/deployments/D/manifests/M`, with both names.
    Manifest(String, String),
    /// The types in use: `/types`.
    Types,
    /// `/types/T/instances`. A type may contain slashes.
    Instances(String),
    /// An expansion that is not stored: `/expand`.
    Expand,
    /// An operation: `/operations/O`, with its name.
    Operation(String),
}

/// A request for a resource, which may not be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The verb. `None` for a method that no resource supports.
    pub verb: Option<Verb>,
    /// The API group; empty for `/api/v1/…`.
    pub group: String,
    /// The version of the group.
    pub version: String,
    /// The namespace, if the path has one.
    pub namespace: Option<String>,
    /// The plural name of the resource.
    pub resource: String,
    /// The name of the object, if the path has one.
    pub name: Option<String>,
    /// The subresource, if the path has one.
    pub subresource: Option<String>,
    /// Whether the body selects the group: on a short path without `?group=`.
    pub group_from_body: bool,
    /// The name in the field selector of a list or watch. Authorization uses it as the name of
    /// the object.
    pub selected_name: Option<String>,
}

/// The verb of a request, as in RBAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Read an object by its name.
    Get,
    /// Read the objects that selectors match.
    List,
    /// Follow the changes of objects.
    Watch,
    /// Store an object that does not exist.
    Create,
    /// Replace an object as a whole.
    Update,
    /// Change parts of an object.
    Patch,
    /// Delete an object by its name.
    Delete,
    /// Delete a collection of objects.
    DeleteCollection,
}

impl Verb {
    /// All verbs, in the order of discovery.
    pub const ALL: [Self; 8] = [
        Self::Create,
        Self::Delete,
        Self::DeleteCollection,
        Self::Get,
        Self::List,
        Self::Patch,
        Self::Update,
        Self::Watch,
    ];

    /// Returns the name of the verb, such as `deletecollection`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }
}

impl Resource {
    /// Sets the group of a request on a short path from the `apiVersion` of its body. Does nothing
    /// if the path or the query has a group, or if the group is not served.
    pub fn take_group(&mut self, api_version: &str) {
        let named = api_version.split_once('/').and_then(|(group, _)| Group::named(group));
        if let (true, Some(group)) = (self.group_from_body, named) {
            group.name().clone_into(&mut self.group);
            group.version().clone_into(&mut self.version);
        }
    }

    /// Returns the attributes for authorization.
    pub fn attributes(&self) -> Attributes<'_> {
        let name = self.name.as_deref().or(self.selected_name.as_deref());
        Attributes {
            verb: self.verb.map_or("", Verb::name),
            group: &self.group,
            version: &self.version,
            resource: &self.resource,
            subresource: self.subresource.as_deref().unwrap_or_default(),
            namespace: self.namespace.as_deref().unwrap_or_default(),
            name: name.unwrap_or_default(),
            path: None,
        }
    }
}

/// Parses the target of a request. `path` is the path as sent.
pub fn parse(method: &Method, path: &str, query: &Query) -> Path {
    let other = || Path::Other(path.to_owned());
    if path == "/" || path.is_empty() {
        return Path::Root;
    }
    if let Some(instances) = instances(path) {
        return Path::Deployments(instances);
    }
    let Some(segments) = segments(path) else {
        return other();
    };
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    match segments.as_slice() {
        ["api"] => Path::Api,
        ["apis"] => Path::Apis,
        ["apis", group] => Path::Group((*group).to_owned()),
        ["api", version] => Path::GroupVersion(String::new(), (*version).to_owned()),
        ["apis", group, version] => Path::GroupVersion((*group).to_owned(), (*version).to_owned()),
        ["api", version, rest @ ..] => {
            resource(method, ("", version), rest, query).unwrap_or_else(other)
        }
        ["apis", group, version, rest @ ..] => {
            resource(method, (group, version), rest, query).unwrap_or_else(other)
        }
        ["openapi", "v2"] => Path::OpenApiV2,
        ["openapi", "v3"] => Path::OpenApiV3Index,
        ["openapi", "v3", document @ ..] => Path::OpenApiV3(document.join("/")),
        ["version"] => Path::Version,
        ["metrics"] => Path::Metrics,
        ["store", "dump"] => Path::StoreDump,
        ["ui", rest @ ..] => Path::Ui(rest.iter().map(|&part| part.to_owned()).collect()),
        ["healthz", check @ ..] => health(Health::Health, check),
        ["livez", check @ ..] => health(Health::Live, check),
        ["readyz", check @ ..] => health(Health::Ready, check),
        ["processedtemplates" | "templates", ..] => {
            short(method, &segments, query).unwrap_or_else(other)
        }
        ["deployments" | "types" | "expand" | "operations", ..] => {
            deployments(&segments).map_or_else(other, Path::Deployments)
        }
        _ => other(),
    }
}

/// Parses a path of Deployment Manager, except [`instances`].
fn deployments(segments: &[&str]) -> Option<DeploymentPath> {
    let text = |text: &str| text.to_owned();
    Some(match segments {
        ["deployments"] => DeploymentPath::Deployments,
        ["deployments", name] => DeploymentPath::Deployment(text(name)),
        ["deployments", name, "manifests"] => DeploymentPath::Manifests(text(name)),
        ["deployments", name, "manifests", manifest] => {
            DeploymentPath::Manifest(text(name), text(manifest))
        }
        ["types"] => DeploymentPath::Types,
        ["expand"] => DeploymentPath::Expand,
        ["operations", name] => DeploymentPath::Operation(text(name)),
        _ => return None,
    })
}

/// Parses `/types/T/instances`. The type may be a path or a URL, encoded or not.
fn instances(path: &str) -> Option<DeploymentPath> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let kind = path.strip_prefix("/types/")?.strip_suffix("/instances")?;
    let kind = percent_decoded(kind).filter(|kind| !kind.is_empty())?;
    Some(DeploymentPath::Instances(kind))
}

/// Returns the decoded segments of a path. Ignores one trailing `/`. Returns `None` if a segment is
/// empty, `.` or `..`, contains a `/`, or is not percent-encoded UTF-8.
fn segments(path: &str) -> Option<Vec<String>> {
    let path = path.strip_prefix('/')?;
    let path = path.strip_suffix('/').unwrap_or(path);
    path.split('/')
        .map(|segment| {
            let segment = percent_decoded(segment)?;
            let is_name = !matches!(segment.as_str(), "" | "." | "..") && !segment.contains('/');
            is_name.then_some(segment)
        })
        .collect()
}

fn health(endpoint: Health, check: &[&str]) -> Path {
    Path::Health(endpoint, (!check.is_empty()).then(|| check.join("/")))
}

/// Parses a path below a version of a group.
fn resource(
    method: &Method,
    (group, version): (&str, &str),
    segments: &[&str],
    query: &Query,
) -> Option<Path> {
    let (namespace, segments) = match segments {
        // These are paths of the Namespace object itself.
        ["namespaces", _] | ["namespaces", _, "status" | "finalize", ..] => (None, segments),
        ["namespaces", namespace, rest @ ..] => (Some(*namespace), rest),
        all => (None, all),
    };
    let (resource, name, subresource) = match segments {
        [resource] => (*resource, None, None),
        [resource, name] => (*resource, Some(*name), None),
        [resource, name, subresource] => (*resource, Some(*name), Some(*subresource)),
        _ => return None,
    };
    let verb = verb(method, name.is_some(), query);
    let selected_name = matches!(verb, Some(Verb::List | Verb::Watch | Verb::DeleteCollection))
        .then(|| field_selector::selected_name(query.text("fieldSelector")))
        .flatten();
    Some(Path::Resource(Resource {
        verb,
        group: group.to_owned(),
        version: version.to_owned(),
        namespace: namespace.map(str::to_owned),
        resource: resource.to_owned(),
        name: name.map(str::to_owned),
        subresource: subresource.map(str::to_owned),
        group_from_body: false,
        selected_name,
    }))
}

/// Parses a short path of the Templates proposal.
fn short(method: &Method, segments: &[&str], query: &Query) -> Option<Path> {
    let is_served = matches!(
        segments,
        ["processedtemplates" | "templates"] | ["templates", _] | ["templates", _, "processed"]
    );
    if !is_served {
        return None;
    }
    let not_empty = |name| query.first(name).filter(|value| !value.is_empty());
    let given = not_empty("group");
    let group = given.unwrap_or(Group::Krm.name());
    let version = Group::named(group).map_or("", Group::version);
    match resource(method, (group, version), segments, query)? {
        Path::Resource(resource) => Some(Path::Resource(Resource {
            namespace: Some(not_empty("namespace").unwrap_or(DEFAULT_NAMESPACE).to_owned()),
            group_from_body: given.is_none(),
            ..resource
        })),
        other => Some(other),
    }
}

fn verb(method: &Method, has_name: bool, query: &Query) -> Option<Verb> {
    Some(match (method, has_name) {
        (&Method::GET, true) => Verb::Get,
        (&Method::GET, false) if query.flag("watch") == Some(true) => Verb::Watch,
        (&Method::GET, false) => Verb::List,
        (&Method::POST, _) => Verb::Create,
        (&Method::PUT, _) => Verb::Update,
        (&Method::PATCH, _) => Verb::Patch,
        (&Method::DELETE, true) => Verb::Delete,
        (&Method::DELETE, false) => Verb::DeleteCollection,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(method: &str, target: &str) -> Path {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        parse(&method.parse().unwrap(), path, &Query::parse(query).unwrap())
    }

    /// Returns verb, group, version, namespace, resource, name and subresource, empty if missing.
    fn resource(method: &str, target: &str) -> [String; 7] {
        let Path::Resource(found) = of(method, target) else {
            panic!("{method} {target}");
        };
        let verb = found.verb.map_or("", Verb::name).to_owned();
        let [namespace, name, subresource] =
            [found.namespace, found.name, found.subresource].map(Option::unwrap_or_default);
        [verb, found.group, found.version, namespace, found.resource, name, subresource]
    }

    /// Method, target, and the parts of the resource.
    const RESOURCES: &[(&str, &str, &str)] = &[
        ("GET", "/apis/g/v1/namespaces/ns/r", "list,g,v1,ns,r,,"),
        ("GET", "/apis/g/v1/namespaces/ns/r/", "list,g,v1,ns,r,,"),
        ("GET", "/apis/g/v1/namespaces/ns/r?watch", "watch,g,v1,ns,r,,"),
        ("GET", "/apis/g/v1/namespaces/ns/r?watch=0", "list,g,v1,ns,r,,"),
        ("GET", "/apis/g/v1/r", "list,g,v1,,r,,"),
        ("GET", "/apis/g/v1/namespaces/ns/r/n?watch=true", "get,g,v1,ns,r,n,"),
        ("POST", "/apis/g/v1/namespaces/ns/r/n/sub", "create,g,v1,ns,r,n,sub"),
        ("PUT", "/apis/g/v1/namespaces/ns/r/n", "update,g,v1,ns,r,n,"),
        ("PATCH", "/apis/g/v1/namespaces/ns/r/n", "patch,g,v1,ns,r,n,"),
        ("DELETE", "/apis/g/v1/namespaces/ns/r/n", "delete,g,v1,ns,r,n,"),
        ("DELETE", "/apis/g/v1/namespaces/ns/r", "deletecollection,g,v1,ns,r,,"),
        ("HEAD", "/apis/g/v1/namespaces/ns/r/n", ",g,v1,ns,r,n,"),
        ("GET", "/apis/g/v1/watch/r", "get,g,v1,,watch,r,"),
        ("GET", "/apis/g/v1/watch", "list,g,v1,,watch,,"),
        ("GET", "/apis/g/v1/namespaces/ns", "get,g,v1,,namespaces,ns,"),
        ("GET", "/api/v1/namespaces/ns/events", "list,,v1,ns,events,,"),
        ("GET", "/apis/g/v1/namespaces/n%73/r/%41", "get,g,v1,ns,r,A,"),
    ];

    #[test]
    fn resources_have_the_parts_of_request_info() {
        for (method, target, expected) in RESOURCES {
            assert_eq!(resource(method, target).join(","), *expected, "{method} {target}");
        }
    }

    #[test]
    fn short_paths_have_a_group_and_a_namespace() {
        let cases = [
            (
                "POST",
                "/processedtemplates",
                "create,template.krm.dev,v1alpha1,default,processedtemplates,,",
            ),
            ("GET", "/templates?namespace=a", "list,template.krm.dev,v1alpha1,a,templates,,"),
            (
                "GET",
                "/templates/web?group=template.openshift.io",
                "get,template.openshift.io,v1,default,templates,web,",
            ),
            (
                "POST",
                "/templates/web/processed",
                "create,template.krm.dev,v1alpha1,default,templates,web,processed",
            ),
        ];
        for (method, target, expected) in cases {
            assert_eq!(resource(method, target).join(","), expected, "{method} {target}");
        }
        assert_eq!(
            of("GET", "/templates/web/schema"),
            Path::Other("/templates/web/schema".to_owned())
        );
    }

    #[test]
    fn the_body_chooses_the_group_of_a_short_path_alone() {
        let group = |target: &str, api_version| {
            let Path::Resource(mut found) = of("POST", target) else { panic!("{target}") };
            found.take_group(api_version);
            format!("{}/{}", found.group, found.version)
        };
        let (krm, openshift) = (Group::Krm.api_version(), Group::OpenShift.api_version());
        assert_eq!(group("/templates", openshift), openshift);
        assert_eq!(group("/templates", "v1"), krm);
        assert_eq!(group("/templates?group=template.krm.dev", openshift), krm);
        assert_eq!(group("/apis/template.krm.dev/v1alpha1/namespaces/a/templates", openshift), krm);
    }

    #[test]
    fn the_name_in_a_field_selector_is_authorized() {
        let name = |target: &str| match of("GET", target) {
            Path::Resource(found) => found.attributes().name.to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(name("/apis/g/v1/r?fieldSelector=metadata.name%3Dweb"), "web");
        assert_eq!(name("/apis/g/v1/namespaces/a/r/n?fieldSelector=metadata.name%3Dweb"), "n");
        assert_eq!(name("/apis/g/v1/r"), "");
    }

    #[test]
    fn other_paths_are_told_apart() {
        let health = |endpoint, check: &str| {
            Path::Health(endpoint, (!check.is_empty()).then(|| check.to_owned()))
        };
        let version =
            |group: &str, version: &str| Path::GroupVersion(group.to_owned(), version.to_owned());
        let cases = [
            ("/", Path::Root),
            ("/api", Path::Api),
            ("/apis/", Path::Apis),
            ("/apis/g", Path::Group("g".to_owned())),
            ("/apis/g/v1/", version("g", "v1")),
            ("/api/v1", version("", "v1")),
            ("/openapi/v2", Path::OpenApiV2),
            ("/openapi/v3/", Path::OpenApiV3Index),
            ("/openapi/v3/apis/g/v1", Path::OpenApiV3("apis/g/v1".to_owned())),
            ("/version", Path::Version),
            ("/metrics", Path::Metrics),
            ("/readyz/a/b", health(Health::Ready, "a/b")),
            ("/livez", health(Health::Live, "")),
            ("/healthz/", health(Health::Health, "")),
            ("/ui/", Path::Ui(Vec::new())),
            ("/ui/a/%62", Path::Ui(vec!["a".to_owned(), "b".to_owned()])),
        ];
        for (target, expected) in cases {
            assert_eq!(of("GET", target), expected, "{target}");
        }
        for target in [
            "/ui//a",
            "/apis//v1",
            "/apis/g/v1//r",
            "/apis/g/v1/../r",
            "/apis/g/v1/%2e%2e/r",
            "/apis/g/v1/namespaces/a%2Fb/r",
            "/apis/g/v1/%ff",
            "/apis/g/v1/r/n/s/t",
            "/apis/g//",
            "*",
        ] {
            assert_eq!(of("GET", target), Path::Other(target.to_owned()));
        }
    }

    proptest! {
        #[test]
        fn any_path_is_read_and_no_part_leaves_its_place(
            method in "GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|X",
            path in "(/(apis|api|watch|namespaces|templates|v1|%2e|%2F|[.]{1,2}|%[0-9a-f]{2}|\\PC{0,3})){0,8}/?",
            query in "\\PC{0,20}",
        ) {
            let query = Query::parse(&query).unwrap();
            if let Path::Resource(found) = parse(&method.parse().unwrap(), &path, &query) {
                let parts = [found.namespace, found.name, found.subresource, Some(found.resource)];
                for part in parts.into_iter().flatten() {
                    let is_name = !part.contains('/') && !matches!(part.as_str(), "" | "." | "..");
                    prop_assert!(is_name || part == query.text("namespace"));
                }
            }
        }
    }
}

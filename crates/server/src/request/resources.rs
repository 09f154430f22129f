//! The resources of the API: one table for paths, discovery and the labels of metrics.

use super::path::{Resource, Verb};
use krm_template_server_core::{Details, Group, Kind, Result, Status, telemetry::metrics};

/// The API group of access reviews.
pub const AUTHORIZATION: &str = "authorization.k8s.io";
/// The API group of reviews of the user's identity.
pub const AUTHENTICATION: &str = "authentication.k8s.io";

/// A resource of an API group.
#[derive(Clone, Copy, Debug)]
pub struct ApiResource {
    /// The API group.
    pub group: &'static str,
    /// The version of the group.
    pub version: &'static str,
    /// The plural name.
    pub name: &'static str,
    /// The kind of the bodies.
    pub kind: &'static str,
    /// The short name; empty if there is none.
    pub short_name: &'static str,
    /// The supported verbs: [`Verb::ALL`] for stored objects.
    pub verbs: &'static [Verb],
    /// The handler of its requests.
    pub handler: Handler,
    /// The subresources, sorted by name.
    pub subresources: &'static [Subresource],
}

/// A subresource of an [`ApiResource`].
#[derive(Clone, Copy, Debug)]
pub struct Subresource {
    /// The name.
    pub name: &'static str,
    /// The kind of the request or response body.
    pub kind: &'static str,
    /// The supported verbs.
    pub verbs: &'static [Verb],
    /// The handler of its requests.
    pub handler: Handler,
}

/// The handler of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handler {
    /// Processes the Template in the body, in the dialect of the group.
    Process,
    /// Processes a stored Template with the parameters in the body.
    ProcessStored,
    /// Returns the JSON Schema of a stored Template's values.
    Schema,
    /// Accesses stored objects.
    Objects,
    /// Accesses the status of a stored object.
    Status,
    /// Returns the revisions of an instance.
    Revisions,
    /// Shows what the instance in the body would change.
    Preview,
    /// Answers a question of a user about itself.
    Review(Review),
    /// Checks whether a namespace exists. kubectl asks when a Template is not found, and reports
    /// the missing namespace instead of the Template.
    Namespace,
}

/// A review that a user asks about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// Whether the user may do something: `selfsubjectaccessreviews`.
    Access,
    /// The permissions in a namespace: `selfsubjectrulesreviews`.
    Rules,
    /// The name and the groups: `selfsubjectreviews`.
    Subject,
}

/// The resources, in the order of discovery: clients use the last resource of a kind, which is
/// `templates` for Templates. They look up a name without a group in this order; `oc` has no other
/// name for Templates of OpenShift's group, ours have a short name.
pub static RESOURCES: [ApiResource; 9] = [
    processed(Group::OpenShift),
    stored(Group::OpenShift, Kind::Instance, "", &[STATUS]),
    stored(Group::OpenShift, Kind::Template, "", &[]),
    processed(Group::Krm),
    stored(Group::Krm, Kind::Instance, "tpli", &[PREVIEW, REVISIONS, STATUS]),
    stored(Group::Krm, Kind::Template, "tpl", &[PROCESSED, SCHEMA]),
    review(AUTHENTICATION, "selfsubjectreviews", "SelfSubjectReview", Review::Subject),
    review(AUTHORIZATION, "selfsubjectaccessreviews", "SelfSubjectAccessReview", Review::Access),
    review(AUTHORIZATION, "selfsubjectrulesreviews", "SelfSubjectRulesReview", Review::Rules),
];

const PROCESSED: Subresource =
    subresource("processed", "Parameters", &[Verb::Create], Handler::ProcessStored);
const SCHEMA: Subresource = subresource("schema", "Schema", &[Verb::Get], Handler::Schema);
const PREVIEW: Subresource =
    subresource("preview", "TemplateInstance", &[Verb::Create], Handler::Preview);
const REVISIONS: Subresource =
    subresource("revisions", "TemplateInstanceRevisionList", &[Verb::Get], Handler::Revisions);
const STATUS: Subresource = subresource(
    "status",
    "TemplateInstance",
    &[Verb::Get, Verb::Patch, Verb::Update],
    Handler::Status,
);

/// HTTP methods that are not verbs of resources.
const METHODS: [&str; 6] = ["head", "options", "post", "put", "connect", "trace"];

const fn subresource(
    name: &'static str,
    kind: &'static str,
    verbs: &'static [Verb],
    handler: Handler,
) -> Subresource {
    Subresource { name, kind, verbs, handler }
}

const fn stored(
    group: Group,
    kind: Kind,
    short_name: &'static str,
    subresources: &'static [Subresource],
) -> ApiResource {
    ApiResource {
        group: group.name(),
        version: group.version(),
        name: kind.resource(),
        kind: kind.name(),
        short_name,
        verbs: &Verb::ALL,
        handler: Handler::Objects,
        subresources,
    }
}

const fn processed(group: Group) -> ApiResource {
    ApiResource {
        name: "processedtemplates",
        verbs: &[Verb::Create],
        handler: Handler::Process,
        ..stored(group, Kind::Template, "", &[])
    }
}

const fn review(
    group: &'static str,
    name: &'static str,
    kind: &'static str,
    review: Review,
) -> ApiResource {
    let handler = Handler::Review(review);
    ApiResource { group, version: "v1", name, kind, handler, ..processed(Group::Krm) }
}

impl ApiResource {
    /// Returns `true` if its objects are in namespaces.
    pub const fn is_namespaced(&self) -> bool {
        !matches!(self.handler, Handler::Review(_))
    }
}

/// Returns the handler and the verb of a request. Reviews and namespaces are served only if
/// `standalone` is `true`: otherwise, the kube-apiserver in front of the server handles them.
///
/// # Errors
///
/// 404 for a resource that is not served, 405 for a verb that a served resource does not support.
pub fn of(request: &Resource, standalone: bool) -> Result<(Handler, Verb)> {
    let (handler, verbs) = found(request, standalone).ok_or_else(Status::no_such_path)?;
    let (has_namespace, has_name) = (request.namespace.is_some(), request.name.is_some());
    let is_place = match handler {
        Handler::Review(_) => !has_namespace && !has_name,
        Handler::Process => has_namespace && !has_name,
        Handler::Namespace => true,
        _ => has_namespace || !has_name,
    };
    if !is_place {
        return Err(Status::no_such_path());
    }
    let verb = request.verb.filter(|verb| match verb {
        Verb::Create if handler == Handler::Objects => has_namespace && !has_name,
        Verb::Update | Verb::Patch => has_name,
        Verb::DeleteCollection => has_namespace,
        _ => true,
    });
    let verb = verb.filter(|verb| verbs.contains(verb)).ok_or_else(not_allowed)?;
    Ok((handler, verb))
}

/// Returns the handler of a request for a served resource, and the supported verbs.
fn found(request: &Resource, standalone: bool) -> Option<(Handler, &'static [Verb])> {
    let wanted = (&*request.group, &*request.version, &*request.resource);
    let is_namespace = wanted == ("", "v1", "namespaces")
        && request.name.is_some()
        && request.subresource.is_none();
    if is_namespace && standalone {
        return Some((Handler::Namespace, &[Verb::Get]));
    }
    let mut resources = RESOURCES.iter().filter(|one| standalone || one.is_namespaced());
    let resource = resources.find(|one| (one.group, one.version, one.name) == wanted)?;
    let Some(subresource) = &request.subresource else {
        return Some((resource.handler, resource.verbs));
    };
    let mut subresources = resource.subresources.iter();
    let subresource = subresources.find(|one| one.name == subresource)?;
    Some((subresource.handler, subresource.verbs))
}

/// Returns the labels of a request's metrics. Unknown names become `other`, so that no label comes
/// from a client.
pub fn labels(verb: &str, request: Option<&Resource>) -> metrics::Request {
    let text = |field: fn(&Resource) -> &str| request.map(field).unwrap_or_default();
    let subresources = RESOURCES.iter().flat_map(|one| one.subresources);
    let subresource = text(|request| request.subresource.as_deref().unwrap_or_default());
    metrics::Request {
        verb: known(Verb::ALL.map(Verb::name).into_iter().chain(METHODS), verb),
        group: known(RESOURCES.iter().map(|one| one.group), text(|request| &request.group)),
        resource: known(RESOURCES.iter().map(|one| one.name), text(|request| &request.resource)),
        subresource: known(subresources.map(|one| one.name), subresource),
    }
}

fn known(mut values: impl Iterator<Item = &'static str>, value: &str) -> &'static str {
    if value.is_empty() { "" } else { values.find(|one| *one == value).unwrap_or("other") }
}

/// Returns the 405 error for a verb that a served resource does not support.
pub fn not_allowed() -> Box<Status> {
    let message = "the server does not allow this method on the requested resource";
    Status::new(405, "MethodNotAllowed", message).with(Details::default())
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::super::path::{self, Path};
    use super::super::query::Query;
    use super::*;

    fn request(method: &Method, path: &str) -> Resource {
        let Path::Resource(request) = path::parse(method, path, &Query::default()) else {
            panic!("{path} is not a resource");
        };
        request
    }

    #[track_caller]
    fn check(method: &Method, path: &str, reviews: bool) -> Result<(Handler, Verb), u16> {
        of(&request(method, path), reviews).map_err(|status| status.code)
    }

    #[test]
    fn subresources_are_those_of_our_group() {
        let path = |group: Group, rest: &str| {
            format!("/apis/{}/namespaces/shop/templates/web/{rest}", group.api_version())
        };
        let processed = path(Group::Krm, "processed");
        let stored = (Handler::ProcessStored, Verb::Create);
        assert_eq!(check(&Method::POST, &processed, false), Ok(stored));
        assert_eq!(check(&Method::GET, &processed, false), Err(405));
        let schema = path(Group::Krm, "schema");
        assert_eq!(check(&Method::GET, &schema, false), Ok((Handler::Schema, Verb::Get)));
        assert_eq!(check(&Method::PUT, &schema, false), Err(405));
        assert_eq!(check(&Method::GET, &path(Group::Krm, "status"), false), Err(404));
        assert_eq!(check(&Method::POST, &path(Group::OpenShift, "processed"), false), Err(404));
    }

    #[test]
    fn reviews_are_posted_without_a_namespace() {
        let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        let access = (Handler::Review(Review::Access), Verb::Create);
        assert_eq!(check(&Method::POST, path, true), Ok(access));
        assert_eq!(check(&Method::POST, path, false), Err(404));
        assert_eq!(check(&Method::GET, path, true), Err(405));
        let other = "/apis/authorization.k8s.io/v1/namespaces/a/selfsubjectaccessreviews";
        assert_eq!(check(&Method::POST, other, true), Err(404));
    }

    #[test]
    fn objects_have_their_place() {
        let all = "/apis/template.krm.dev/v1alpha1/templates";
        let shop = "/apis/template.krm.dev/v1alpha1/namespaces/shop/templates";
        let (web, other) = (format!("{shop}/web"), format!("{all}/web"));
        for (method, path, expected) in [
            (Method::GET, all, Ok(Verb::List)),
            (Method::POST, all, Err(405)),
            (Method::DELETE, all, Err(405)),
            (Method::GET, &other, Err(404)),
            (Method::GET, shop, Ok(Verb::List)),
            (Method::POST, shop, Ok(Verb::Create)),
            (Method::DELETE, shop, Ok(Verb::DeleteCollection)),
            (Method::PUT, shop, Err(405)),
            (Method::HEAD, shop, Err(405)),
            (Method::PUT, &web, Ok(Verb::Update)),
            (Method::POST, &web, Err(405)),
        ] {
            let found = check(&method, path, false);
            assert_eq!(found, expected.map(|verb| (Handler::Objects, verb)), "{method} {path}");
        }
    }

    #[test]
    fn the_labels_are_names_of_the_table() {
        let instance = "/apis/template.krm.dev/v1alpha1/namespaces/a/templateinstances/b/revisions";
        let labels = |path| {
            let metrics::Request { group, resource, subresource, .. } =
                labels("get", Some(&request(&Method::GET, path)));
            [group, resource, subresource]
        };
        assert_eq!(labels(instance), ["template.krm.dev", "templateinstances", "revisions"]);
        assert_eq!(labels("/apis/a/v1/namespaces/b/c/d/e"), ["other"; 3]);
        assert_eq!(super::labels("put", None).verb, "put");
        assert_eq!(super::labels("a", None).verb, "other");
    }
}

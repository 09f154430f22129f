//! The resources that the server serves, and their actions.

use crate::wire::path::{Resource, Verb};
use krm_template_server_core::groups::{Group, Kind};
use krm_template_server_core::status::{Details, Result, Status};

/// The API group of access reviews.
pub const AUTHORIZATION: &str = "authorization.k8s.io";
/// The API group of reviews of the user's identity.
pub const AUTHENTICATION: &str = "authentication.k8s.io";

/// A served operation on a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// Process the Template in the body.
    Process {
        /// The API group, which selects the dialect.
        group: Group,
        /// The namespace of the path.
        namespace: String,
    },
    /// Process a stored Template with the parameters in the body. Only in our group.
    ProcessStored {
        /// The namespace of the path.
        namespace: String,
        /// The name of the Template.
        name: String,
    },
    /// Return the JSON Schema of a stored Template's values. Only in our group.
    Schema {
        /// The namespace of the path.
        namespace: String,
        /// The name of the Template.
        name: String,
    },
    /// Access stored objects in one namespace, or in all.
    Objects {
        /// The API group of the path.
        group: Group,
        /// The kind of the objects.
        kind: Kind,
        /// Whether the path is that of the subresource `status`.
        is_status: bool,
        /// The namespace of the path. `None` for all namespaces, in lists and watches.
        namespace: Option<String>,
        /// The action, by method and path.
        action: Action,
    },
    /// Return the revisions of an instance. Only in our group.
    Revisions {
        /// The namespace of the path.
        namespace: String,
        /// The name of the instance.
        name: String,
    },
    /// Show what the instance in the body would change. Only in our group.
    Preview {
        /// The namespace of the path.
        namespace: String,
        /// The name of the instance.
        name: String,
    },
    /// Answer a question of a user about itself.
    Review(Review),
    /// Check whether a namespace exists. kubectl asks when a Template is not found, and reports the
    /// missing namespace instead of the Template.
    Namespace(String),
}

/// An action on stored objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Store the object in the body.
    Create,
    /// Read the object with this name.
    Get(String),
    /// Replace the object with this name.
    Update(String),
    /// Change parts of the object with this name.
    Patch(String),
    /// Delete the object with this name.
    Delete(String),
    /// Read the objects that the selectors match.
    List,
    /// Watch changes. A deprecated watch path may name a single object.
    Watch(Option<String>),
    /// Delete the objects that the selectors match.
    DeleteCollection,
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

/// Returns the endpoint of a request. Reviews and namespaces are served only if `standalone` is
/// `true`: otherwise, the kube-apiserver in front of the server handles them.
///
/// # Errors
///
/// 404 for a resource that is not served, 405 for a verb that a served resource does not support.
pub fn of(request: &Resource, standalone: bool) -> Result<Endpoint> {
    if let Some(name) = namespace(request).filter(|_| standalone) {
        return match request.verb {
            Some(Verb::Get) => Ok(Endpoint::Namespace(name.to_owned())),
            _ => Err(not_allowed()),
        };
    }
    if let Some(review) = review(request).filter(|_| standalone) {
        return match (request.verb, &request.name, &request.namespace) {
            (_, _, Some(_)) | (_, Some(_), _) => Err(Status::no_such_path()),
            (Some(Verb::Create), None, None) => Ok(Endpoint::Review(review)),
            _ => Err(not_allowed()),
        };
    }
    let group = Group::named(&request.group)
        .filter(|group| group.version() == request.version)
        .ok_or_else(Status::no_such_path)?;
    match request.resource.as_str() {
        "processedtemplates" => process(request, group),
        "templates" if request.subresource.is_some() => subresource(request, group),
        resource => match Kind::of_resource(resource) {
            Some(kind) => objects(request, group, kind),
            None => Err(Status::no_such_path()),
        },
    }
}

/// Returns the name of the Namespace object that a request addresses.
fn namespace(request: &Resource) -> Option<&str> {
    let is_namespace = (request.group.as_str(), request.version.as_str()) == ("", "v1")
        && request.resource == "namespaces"
        && request.subresource.is_none();
    request.name.as_deref().filter(|_| is_namespace)
}

fn process(request: &Resource, group: Group) -> Result<Endpoint> {
    match (request.verb, &request.namespace, &request.name) {
        (_, None, _) | (_, _, Some(_)) => Err(Status::no_such_path()),
        (Some(Verb::Create), Some(namespace), None) => {
            Ok(Endpoint::Process { group, namespace: namespace.clone() })
        }
        _ => Err(not_allowed()),
    }
}

fn subresource(request: &Resource, group: Group) -> Result<Endpoint> {
    let (Group::Krm, Some(namespace), Some(name), false) =
        (group, &request.namespace, &request.name, request.watch_prefix)
    else {
        return Err(Status::no_such_path());
    };
    let (namespace, name) = (namespace.clone(), name.clone());
    match (request.subresource.as_deref(), request.verb) {
        (Some("processed"), Some(Verb::Create)) => Ok(Endpoint::ProcessStored { namespace, name }),
        (Some("schema"), Some(Verb::Get)) => Ok(Endpoint::Schema { namespace, name }),
        (Some("processed" | "schema"), _) => Err(not_allowed()),
        _ => Err(Status::no_such_path()),
    }
}

fn objects(request: &Resource, group: Group, kind: Kind) -> Result<Endpoint> {
    if let (
        Some(part @ ("revisions" | "preview")),
        Group::Krm,
        Kind::Instance,
        false,
        Some(namespace),
        Some(name),
    ) = (
        request.subresource.as_deref(),
        group,
        kind,
        request.watch_prefix,
        &request.namespace,
        &request.name,
    ) {
        let (namespace, name) = (namespace.clone(), name.clone());
        return match (part, request.verb) {
            ("revisions", Some(Verb::Get)) => Ok(Endpoint::Revisions { namespace, name }),
            ("preview", Some(Verb::Create)) => Ok(Endpoint::Preview { namespace, name }),
            _ => Err(not_allowed()),
        };
    }
    let is_status = match request.subresource.as_deref() {
        None => false,
        Some("status") if !request.watch_prefix => true,
        Some(_) => return Err(Status::no_such_path()),
    };
    let namespace = request.namespace.clone();
    let action = match (request.verb, request.name.clone(), &namespace) {
        // Without a namespace, only lists and watches of all Templates are served.
        (_, Some(_), None) => return Err(Status::no_such_path()),
        (Some(Verb::List), None, _) => Action::List,
        (Some(Verb::Watch), name, _) => Action::Watch(name),
        (Some(Verb::Get), Some(name), _) => Action::Get(name),
        (Some(Verb::Update), Some(name), _) => Action::Update(name),
        (Some(Verb::Patch), Some(name), _) => Action::Patch(name),
        (Some(Verb::Delete), Some(name), _) => Action::Delete(name),
        (Some(Verb::Create), None, Some(_)) => Action::Create,
        (Some(Verb::DeleteCollection), None, Some(_)) => Action::DeleteCollection,
        _ => return Err(not_allowed()),
    };
    if is_status && !matches!(action, Action::Get(_) | Action::Update(_) | Action::Patch(_)) {
        return Err(not_allowed());
    }
    Ok(Endpoint::Objects { group, kind, is_status, namespace, action })
}

fn review(request: &Resource) -> Option<Review> {
    match (request.group.as_str(), request.version.as_str(), request.resource.as_str()) {
        (AUTHORIZATION, "v1", "selfsubjectaccessreviews") => Some(Review::Access),
        (AUTHORIZATION, "v1", "selfsubjectrulesreviews") => Some(Review::Rules),
        (AUTHENTICATION, "v1", "selfsubjectreviews") => Some(Review::Subject),
        _ => None,
    }
}

/// Returns the 405 error for a verb that a served resource does not support.
pub fn not_allowed() -> Box<Status> {
    let message = "the server does not allow this method on the requested resource";
    Status::new(405, "MethodNotAllowed", message).with(Details::default())
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;
    use crate::wire::path::{self, Path};
    use crate::wire::query::Query;

    #[track_caller]
    fn check(method: &Method, path: &str, reviews: bool) -> Result<Endpoint, u16> {
        let Path::Resource(request) = path::parse(method, path, &Query::default()) else {
            panic!("{path} is not a resource");
        };
        of(&request, reviews).map_err(|status| status.code)
    }

    #[test]
    fn subresources_are_those_of_our_group() {
        let path = |group: Group, rest: &str| {
            format!("/apis/{}/namespaces/shop/templates/web/{rest}", group.api_version())
        };
        let (namespace, name) = ("shop".to_owned(), "web".to_owned());
        let processed = path(Group::Krm, "processed");
        let stored = Endpoint::ProcessStored { namespace: namespace.clone(), name: name.clone() };
        assert_eq!(check(&Method::POST, &processed, false), Ok(stored));
        assert_eq!(check(&Method::GET, &processed, false), Err(405));
        let schema = path(Group::Krm, "schema");
        assert_eq!(check(&Method::GET, &schema, false), Ok(Endpoint::Schema { namespace, name }));
        assert_eq!(check(&Method::PUT, &schema, false), Err(405));
        assert_eq!(check(&Method::GET, &path(Group::Krm, "status"), false), Err(404));
        assert_eq!(check(&Method::POST, &path(Group::OpenShift, "processed"), false), Err(404));
    }

    #[test]
    fn reviews_are_posted_without_a_namespace() {
        let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        assert_eq!(check(&Method::POST, path, true), Ok(Endpoint::Review(Review::Access)));
        assert_eq!(check(&Method::POST, path, false), Err(404));
        assert_eq!(check(&Method::GET, path, true), Err(405));
        let other = "/apis/authorization.k8s.io/v1/namespaces/a/selfsubjectaccessreviews";
        assert_eq!(check(&Method::POST, other, true), Err(404));
    }

    #[test]
    fn an_old_path_of_watches_is_only_for_watches() {
        let path = "/apis/template.krm.dev/v1alpha1/watch/namespaces/shop/templates/web";
        let watch = Endpoint::Objects {
            group: Group::Krm,
            kind: Kind::Template,
            is_status: false,
            namespace: Some("shop".to_owned()),
            action: Action::Watch(Some("web".to_owned())),
        };
        assert_eq!(check(&Method::GET, path, false), Ok(watch));
        assert_eq!(check(&Method::DELETE, path, false), Err(405));
    }
}

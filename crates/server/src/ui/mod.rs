//! The web pages. Everything works without JavaScript.
//!
//! | file | purpose |
//! |---|---|
//! | `mod` | routing of requests |
//! | `upload` | uploaded Templates |
//! | `form` | the form of a Template and its result |
//! | `deployments` | deployments and their manifests |
//! | `instances` | instances and their upgrades |
//! | `list` | the list of Templates |
//! | `login` | logging in and out |
//! | `values` | parameter values from a form, and error messages of fields |
//! | `visit` | a request for a page, and its response |
//! | `session` | the session cookie, and protection against cross-site requests |
//! | `entered` | submitted form data |
//!
//! The pages have no rules of their own: a form is checked by [`process`](crate::templates), as a
//! request to the API is, and the causes are sorted to the fields. The script sends the form and
//! shows the answer.

mod deployments;
mod entered;
mod form;
mod instances;
mod list;
mod login;
mod pages;
mod session;
mod upload;
mod values;
mod visit;

use bytes::Bytes;
use http::Method;
use http::header::{ACCEPT, AUTHORIZATION, CACHE_CONTROL, HeaderValue};
use http_body::Body as HttpBody;

use crate::api::{AuditFields, Incoming, State};
use crate::http::{Answer, response};

use crate::request::resources;
use entered::Entered;
use krm_template_server_core::{Class, Group, Peer, Permit, Result, Status, flow_control::body};
use visit::Visit;

/// The maximum size of a body that is read without authentication, in bytes: a login, which can
/// contain a submitted form.
const MAX_LOGIN_BYTES: usize = 64 << 10;

/// The part of [`MAX_LOGIN_BYTES`] for the token.
const MAX_TOKEN_BYTES: usize = 16 << 10;

/// Returns `true` for a GET request that accepts HTML.
pub(crate) fn wants_pages(incoming: &Incoming) -> bool {
    let accepted = incoming.header(ACCEPT).unwrap_or_default();
    incoming.method == Method::GET && accepted.contains("text/html")
}

/// Redirects to the list of Templates.
pub(crate) fn to_list() -> Answer {
    visit::redirect(303, "/ui/")
}

/// Handles a request for a page. Errors are pages, too.
pub(crate) async fn answer(
    (state, incoming, peer): (&State, &Incoming, &Peer),
    segments: &[String],
    body: impl HttpBody<Error: std::error::Error + Send + Sync + 'static>,
    audited: &mut AuditFields,
) -> Result<Answer> {
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    if let ["assets", name] = segments.as_slice() {
        return asset(incoming, name);
    }
    let mut visit = Visit::new(state, incoming, peer);
    let outcome = handle(&mut visit, &segments, body, audited).await;
    Ok(outcome.unwrap_or_else(|status| visit.failure(&status)))
}

async fn handle(
    visit: &mut Visit<'_>,
    segments: &[&str],
    body: impl HttpBody<Error: std::error::Error + Send + Sync + 'static>,
    audited: &mut AuditFields,
) -> Result<Answer> {
    let (state, incoming) = (visit.state, visit.incoming);
    let is_post = match incoming.method {
        Method::GET | Method::HEAD => false,
        Method::POST => true,
        _ => return Err(resources::not_allowed()),
    };
    session::check_site(incoming, visit.peer, is_post)?;
    match segments {
        ["login"] if is_post => {
            let _place = enter_login(visit, body).await?;
            return login::log_in(visit).await;
        }
        ["login"] => return login::page(visit),
        ["logout"] if is_post => return Ok(login::log_out(visit)),
        _ => {}
    }
    let headers = session::credentials(incoming, visit.peer, &state.authenticator.sessions);
    // A browser has no token to send, only a session.
    let may_log_in =
        state.authenticator.takes_tokens() && !incoming.headers.contains_key(AUTHORIZATION);
    match state.authenticator.authenticate(&headers, visit.peer).await {
        Ok(user) => visit.user = user,
        Err(status) if status.code == 401 && may_log_in => {
            // The login page keeps a form that fits into it.
            let place = if is_post { enter_login(visit, body).await } else { Err(status) };
            if place.is_err() || visit.entered.encoded_length() > MAX_LOGIN_BYTES - MAX_TOKEN_BYTES
            {
                visit.entered = Entered::default();
            }
            return login::again(visit);
        }
        Err(status) => return Err(status),
    }
    let class = if is_post { Class::Write } else { Class::Read };
    let place = state.admission.enter(class)?;
    if is_post {
        let body = body::read(body, state.limits.max_body_bytes, state.limits.read_timeout).await?;
        audited.bytes_in = u64::try_from(body.len()).unwrap_or(u64::MAX);
        visit.entered = entered(visit, body).await?;
    }
    let answer = page(visit, segments, is_post, audited).await?;
    Ok(response::held(answer, place))
}

/// Reads a form of a user who is not logged in, within small limits. Returns its permit.
async fn enter_login(
    visit: &mut Visit<'_>,
    body: impl HttpBody<Error: std::error::Error + Send + Sync + 'static>,
) -> Result<Permit> {
    let state = visit.state;
    let place = state.admission.enter(Class::Login)?;
    let body = body::read(body, MAX_LOGIN_BYTES, state.limits.read_timeout).await?;
    visit.entered = entered(visit, body).await?;
    Ok(place)
}

async fn entered(visit: &Visit<'_>, body: Bytes) -> Result<Entered> {
    let read = |body| Entered::read(visit.incoming, body);
    let admission = &visit.state.admission;
    admission.work(body.len(), || read(body)).await
}

/// Handles a request of a user.
async fn page(
    visit: &mut Visit<'_>,
    segments: &[&str],
    is_post: bool,
    audited: &mut AuditFields,
) -> Result<Answer> {
    audited.user.clone_from(&visit.user);
    match segments {
        [] if !is_post => list::page(visit).await,
        ["upload"] if is_post => upload::open(visit).await,
        ["upload"] => upload::page(visit),
        ["deployments", path @ ..] if path.len() != 2 => {
            visit.home = deployments::HOME;
            // Boxed: otherwise the futures of all requests would be as large as these.
            Box::pin(deployments::answer(visit, path)).await
        }
        ["instances", path @ ..] if path.len() != 2 => {
            visit.home = instances::HOME;
            Box::pin(instances::answer(visit, path)).await
        }
        [namespace, group, name] => {
            let group = Group::named(group).ok_or_else(Status::no_such_path)?;
            let subject = form::Stored { group, namespace, name };
            audited.resource = Some(subject.resource(is_post));
            if is_post {
                form::submit(visit, &subject).await
            } else {
                form::page(visit, &subject).await
            }
        }
        [] => Err(resources::not_allowed()),
        _ => Err(Status::no_such_path()),
    }
}

/// Serves a style sheet or the script. Clients may cache it forever if the URL has its hash.
fn asset(incoming: &Incoming, name: &str) -> Result<Answer> {
    let asset = pages::asset(name).ok_or_else(Status::no_such_path)?;
    let mut answer = response::new(200, asset.content_type, asset.text);
    if incoming.query.first("v") == Some(asset.hash) {
        let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
        answer.headers_mut().insert(CACHE_CONTROL, forever);
    }
    Ok(answer)
}

//! Login with a token, and logout.

use http::header::{AUTHORIZATION, SET_COOKIE};
use minijinja::context;
use serde_json::json;

use super::pages::{self, Data};
use super::session;
use super::visit::{Visit, html, redirect, secured};
use crate::http::{Answer, response};
use krm_template_server_core::{Result, Status};

pub(super) fn page(visit: &Visit<'_>) -> Result<Answer> {
    if !visit.state.authenticator.takes_tokens() {
        return Ok(redirect(303, "/ui/"));
    }
    let next = next(visit.incoming.query.text("next")).to_owned();
    shown(visit, 200, context! { next })
}

/// Responds to a request without a valid login. The submitted data is kept.
pub(super) fn again(visit: &Visit<'_>) -> Result<Answer> {
    let target = visit.incoming.uri.path_and_query();
    let target = target.map_or("/ui/", |target| target.as_str());
    let address = format!("/ui/login?next={}", super::visit::encoded(target));
    let kept = visit.entered.kept();
    if visit.wants_json() {
        let message = "You are not logged in.";
        let body = json!({"login": address, "message": message, "errors": [], "form": [message]});
        return Ok(secured(response::json(401, &body)));
    }
    if kept.is_empty() {
        return Ok(redirect(303, &address));
    }
    shown(
        visit,
        401,
        context! {
            message => "Your login has expired. What you entered is kept.",
            next => target,
            kept => pages::data(&kept),
        },
    )
}

/// Checks a token, starts a session with it and redirects to the requested page.
pub(super) async fn log_in(visit: &Visit<'_>) -> Result<Answer> {
    let authenticator = &visit.state.authenticator;
    if !authenticator.takes_tokens() {
        return Err(Status::no_such_path());
    }
    let token = visit.entered.text("token").trim();
    let mut headers = visit.incoming.headers.clone();
    headers.remove(AUTHORIZATION);
    let value = session::bearer(token).filter(|_| !token.is_empty() && !token.contains(' '));
    if let Some(value) = value {
        headers.insert(AUTHORIZATION, value);
    }
    let next = next(visit.entered.text("next"));
    let kept = visit.entered.kept();
    if authenticator.authenticate(&headers, visit.peer).await.is_err() {
        return shown(
            visit,
            401,
            context! {
                message => "This token is not valid",
                is_wrong => true,
                next => next,
                kept => pages::data(&kept),
            },
        );
    }
    let sessions = &authenticator.sessions;
    if let Some(former) = session::id(visit.incoming, visit.peer) {
        sessions.end(former);
    }
    let id = sessions.start(token)?;
    // With 307, the browser submits the kept data to its page again.
    let mut answer = redirect(if kept.is_empty() { 303 } else { 307 }, next);
    if let Some(cookie) = session::set_cookie(visit.peer, Some(&id)) {
        answer.headers_mut().insert(SET_COOKIE, cookie);
    }
    Ok(answer)
}

/// Ends the session.
pub(super) fn log_out(visit: &Visit<'_>) -> Answer {
    if let Some(id) = session::id(visit.incoming, visit.peer) {
        visit.state.authenticator.sessions.end(id);
    }
    let mut answer = redirect(303, "/ui/login");
    if let Some(cookie) = session::set_cookie(visit.peer, None) {
        answer.headers_mut().insert(SET_COOKIE, cookie);
    }
    answer
}

fn shown(visit: &Visit<'_>, code: u16, login: Data) -> Result<Answer> {
    let frame = visit.frame("login", "Log in", "");
    Ok(html(code, pages::render("login.html", &frame, login)?))
}

/// Returns the page to show after the login. It must be a page of this server.
fn next(wanted: &str) -> &str {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    let is_page = wanted.starts_with("/ui/") && wanted.bytes().all(is_plain);
    if is_page { wanted } else { "/ui/" }
}

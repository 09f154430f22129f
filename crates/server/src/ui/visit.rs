//! A request for a page, and its response.

use http::header::{
    ACCEPT, CONTENT_SECURITY_POLICY, HeaderValue, LOCATION, REFERRER_POLICY, RETRY_AFTER,
};
use minijinja::context;
use serde_json::json;

use super::entered::Entered;
use super::pages::{self, Frame};
use super::session;
use crate::api::{Call, Incoming, State};
use crate::http::{Answer, response};
use krm_core::visible::counted;
use krm_template_server_core::{Attributes, Group, Kind, Peer, Result, Status, User};

/// The `Content-Security-Policy` of pages: only styles and scripts of the server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; \
     frame-ancestors 'none'";

/// A request for a page.
pub(super) struct Visit<'v> {
    pub(super) state: &'v State,
    pub(super) incoming: &'v Incoming,
    pub(super) peer: &'v Peer,
    pub(super) user: User,
    pub(super) entered: Entered,
    /// The address of the list that the page belongs to.
    pub(super) home: &'static str,
}

impl<'v> Visit<'v> {
    pub(super) fn new(state: &'v State, incoming: &'v Incoming, peer: &'v Peer) -> Self {
        Self {
            state,
            incoming,
            peer,
            user: User::default(),
            entered: Entered::default(),
            home: "/ui/",
        }
    }

    /// Returns the data that all pages share.
    pub(super) fn frame(&self, page: &'static str, title: &str, namespace: &str) -> Frame {
        let takes_tokens = self.state.authenticator.takes_tokens();
        let has_user = takes_tokens && !self.user.name.is_empty();
        Frame {
            page,
            title: title.to_owned(),
            home: self.home,
            theme: match session::cookie(self.incoming, "krm-theme") {
                Some("light") => Some("light"),
                Some("dark") => Some("dark"),
                _ => None,
            },
            namespace: namespace.to_owned(),
            namespaces: Vec::new(),
            user: has_user.then(|| self.user.name.clone()),
            hashes: pages::hashes(),
        }
    }

    /// Returns `true` if the script sent the request.
    pub(super) fn wants_json(&self) -> bool {
        let accepted = self.incoming.header(ACCEPT).unwrap_or_default();
        accepted.starts_with("application/json")
    }

    /// Authorizes an action on a Template.
    pub(super) async fn may(
        &self,
        verb: &str,
        (resource, subresource): (&str, &str),
        (group, namespace, name): (Group, &str, &str),
    ) -> Result<()> {
        let of = (group, Kind::Template);
        let wanted =
            Attributes { resource, subresource, ..Attributes::on(verb, of, namespace, name) };
        self.state.authorize(&self.user, &wanted).await
    }

    /// Creates a call about Templates in a namespace.
    pub(super) fn call<'c>(&'c self, group: Group, namespace: &'c str) -> Call<'c> {
        Call::new(self.state, &self.user, self.incoming, (group, namespace))
    }

    /// Responds with an error: a page, or JSON for the script.
    pub(super) fn failure(&self, status: &Status) -> Answer {
        let mut answer = if self.wants_json() {
            let message = &status.message;
            let body = json!({"message": message, "errors": [], "form": [message]});
            secured(response::json(status.code, &body))
        } else {
            let frame = self.frame("message", "Error", "");
            let page = context! {
                title => title(status.code),
                text => status.message.as_str(),
                again => self.incoming.uri.path(),
                kept => pages::data(&self.lengths()),
                resent => pages::data(&self.entered.kept()),
            };
            let page = pages::render("message.html", &frame, page);
            html(status.code, page.unwrap_or_else(|error| error.message.clone()))
        };
        let seconds = status.details.as_ref();
        let seconds = seconds.map_or(0, |details| details.retry_after_seconds);
        if seconds > 0 {
            let headers = answer.headers_mut();
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        answer
    }

    /// Returns the parameters with a value, and the length of each value, which can be secret.
    fn lengths(&self) -> Vec<(String, String)> {
        let values = self.entered.values().filter(|(_, value)| !value.is_empty());
        values
            .map(|(name, value)| {
                let count = value.chars().count();
                (name.to_owned(), counted(count, "character"))
            })
            .collect()
    }
}

/// Returns the title of an error page.
const fn title(code: u16) -> &'static str {
    match code {
        400 | 415 => "The request cannot be read",
        401 => "You are not logged in",
        403 => "You are not allowed to do this",
        404 => "Not found",
        405 => "Not possible here",
        409 => "It already exists or has changed",
        413 | 414 => "This is too large",
        422 => "The Template has mistakes",
        429 => "The server is busy",
        503 | 504 => "The server is unavailable",
        _ => "Internal server error",
    }
}

pub(super) fn html(code: u16, page: String) -> Answer {
    secured(response::new(code, "text/html; charset=utf-8", page))
}

/// Adds the security headers of pages to a response.
pub(super) fn secured(mut answer: Answer) -> Answer {
    let headers = answer.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    answer
}

pub(super) fn redirect(code: u16, to: &str) -> Answer {
    let mut answer = secured(response::new(code, "", ""));
    if let Ok(to) = HeaderValue::from_str(to) {
        answer.headers_mut().insert(LOCATION, to);
    }
    answer
}

/// Percent-encodes a part of a URL.
pub(super) fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

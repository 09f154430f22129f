//! The session cookie, and protection against cross-site requests.
//!
//! The cookie holds the token. Only the pages accept it. The API accepts no cookie, so other sites
//! cannot use it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use http::header::{AUTHORIZATION, COOKIE, HOST, HeaderValue, ORIGIN};

use super::super::incoming::Incoming;
use krm_template_server_core::status::{Details, Result, Status};
use krm_template_server_core::tls::Peer;

/// The lifetime of a login, in seconds.
const LIFETIME: u32 = 8 * 60 * 60;

/// Returns the name of the cookie. Browsers accept `__Host-` only over encrypted connections.
const fn name(peer: &Peer) -> &'static str {
    if peer.is_encrypted() {
        "__Host-krm"
    } else {
        "krm"
    }
}

/// Returns the value of a cookie of a request.
pub(super) fn cookie<'i>(incoming: &'i Incoming, name: &str) -> Option<&'i str> {
    let headers = incoming.headers.get_all(COOKIE).iter();
    let pairs = headers
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(';'));
    pairs
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(known, _)| *known == name)
        .map(|(_, value)| value)
}

/// Returns the headers of a request. If `Authorization` is missing, adds it with the token of the
/// cookie.
pub(super) fn credentials(incoming: &Incoming, peer: &Peer) -> HeaderMap {
    let mut headers = incoming.headers.clone();
    if headers.contains_key(AUTHORIZATION) {
        return headers;
    }
    let token = cookie(incoming, name(peer))
        .and_then(|value| URL_SAFE_NO_PAD.decode(value).ok())
        .and_then(|bytes| String::from_utf8(bytes).ok());
    if let Some(value) = token.and_then(|token| bearer(&token)) {
        headers.insert(AUTHORIZATION, value);
    }
    headers
}

/// Returns the value of the `Authorization` header with a token.
pub(super) fn bearer(token: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Returns the value of the `Set-Cookie` header that stores a token, or deletes the cookie.
pub(super) fn set_cookie(peer: &Peer, token: Option<&str>) -> Option<HeaderValue> {
    let value = URL_SAFE_NO_PAD.encode(token.unwrap_or_default());
    let age = if token.is_some() { LIFETIME } else { 0 };
    let secure = if peer.is_encrypted() { "; Secure" } else { "" };
    let text = format!(
        "{}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict{secure}",
        name(peer)
    );
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Rejects a form that another site submits.
///
/// # Errors
/// 403 if another site submits it, or its origin is unknown.
pub(super) fn same_origin(incoming: &Incoming, peer: &Peer) -> Result<()> {
    let text = |name: &str| incoming.headers.get(name)?.to_str().ok();
    let is_own = match (text("sec-fetch-site"), text(ORIGIN.as_str())) {
        (Some(site), _) => matches!(site, "same-origin" | "none"),
        (None, Some(origin)) => is_host(incoming, peer, origin),
        (None, None) => false,
    };
    if is_own {
        return Ok(());
    }
    let message = "another site sent the form, or the browser did not name its origin";
    Err(Status::new(403, "Forbidden", message).with(Details::default()))
}

/// Returns `true` if an origin is this server.
fn is_host(incoming: &Incoming, peer: &Peer, origin: &str) -> bool {
    let host = match incoming.uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => incoming.header(HOST),
    };
    let scheme_and_host = origin.split_once("://");
    scheme_and_host.is_some_and(|(scheme, own)| {
        let is_scheme = scheme == "https" || (scheme == "http" && !peer.is_encrypted());
        is_scheme && host.is_some_and(|host| host.eq_ignore_ascii_case(own))
    })
}

//! The session cookie, and protection against cross-site requests.
//!
//! The cookie has the identifier of a session, whose token the server keeps. Only the pages accept
//! it. The API accepts no cookie, so other sites cannot use it.

use http::HeaderMap;
use http::header::{AUTHORIZATION, COOKIE, HeaderValue};

use crate::api::Incoming;
use krm_template_server_core::auth::{RequestOrigin, Sessions};
use krm_template_server_core::{Peer, Result, auth::sessions::LIFETIME};

/// Returns the name of the cookie. Browsers accept `__Host-` only over encrypted connections.
const fn name(peer: &Peer) -> &'static str {
    if peer.is_encrypted() { "__Host-krm" } else { "krm" }
}

/// Returns the value of a cookie of a request.
pub(super) fn cookie<'i>(incoming: &'i Incoming, name: &str) -> Option<&'i str> {
    let headers = incoming.headers.get_all(COOKIE).iter();
    let pairs = headers.filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(';'));
    pairs
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(known, _)| *known == name)
        .map(|(_, value)| value)
}

/// Returns the identifier of the session in the cookie of a request.
pub(super) fn id<'i>(incoming: &'i Incoming, peer: &Peer) -> Option<&'i str> {
    cookie(incoming, name(peer))
}

/// Returns the headers of a request. If `Authorization` is missing, adds it with the token of the
/// session.
pub(super) fn credentials(incoming: &Incoming, peer: &Peer, sessions: &Sessions) -> HeaderMap {
    let mut headers = incoming.headers.clone();
    if headers.contains_key(AUTHORIZATION) {
        return headers;
    }
    let token = id(incoming, peer).and_then(|id| sessions.token(id));
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

/// Returns the value of the `Set-Cookie` header that stores the identifier of a session, or deletes
/// the cookie.
pub(super) fn set_cookie(peer: &Peer, id: Option<&str>) -> Option<HeaderValue> {
    let value = id.unwrap_or_default();
    let age = id.map_or(0, |_| LIFETIME.as_secs());
    let secure = if peer.is_encrypted() { "; Secure" } else { "" };
    let text =
        format!("{}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict{secure}", name(peer));
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Rejects a form that another site submits, and any request with the origin of another site.
///
/// # Errors
/// 403 if another site sends it, or if the origin of a form is unknown.
pub(super) fn check_site(incoming: &Incoming, peer: &Peer, is_form: bool) -> Result<()> {
    match RequestOrigin::of(&incoming.headers, peer) {
        RequestOrigin::Same => Ok(()),
        RequestOrigin::CrossNavigation | RequestOrigin::Unknown if !is_form => Ok(()),
        _ => Err(RequestOrigin::forbidden()),
    }
}

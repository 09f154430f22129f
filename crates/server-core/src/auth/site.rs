//! Requests that pages of other sites send.
//!
//! A browser adds client certificates and cookies to each request, whichever page sends it. And if
//! every user is anonymous, the requests of every page would be allowed. Other credentials, such as
//! bearer tokens, are known to the sender.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use http::header::{HOST, HeaderMap, HeaderValue, ORIGIN};
use http::uri::Authority;

use crate::status::{Details, Result, Status};
use crate::tls::Peer;

/// The maximum length of a host in a message, in bytes. A name in the DNS has at most 253.
const MAX_HOST: usize = 260;

/// The sender of a request, by the headers that a browser adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOrigin {
    /// A page of this server, or the user of the browser.
    Same,
    /// A page of another site, by the header `Origin`.
    Cross,
    /// A page of another site that has a link to this server.
    CrossNavigation,
    /// Not known: most clients that are not browsers.
    Unknown,
}

impl RequestOrigin {
    /// Returns the sender of a request.
    ///
    /// Browsers send `Sec-Fetch-Site` over TLS and to loopback addresses only. Scripts cannot set
    /// it, so it counts more than `Origin`: a page with `Referrer-Policy: no-referrer` sends the
    /// origin `null`, and a reverse proxy may change `Host`.
    #[must_use]
    pub fn of(headers: &HeaderMap, peer: &Peer) -> Self {
        let fetched = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        let mut origins = headers.get_all(ORIGIN).iter().peekable();
        let has_origin = origins.peek().is_some();
        match fetched {
            Some(b"same-origin" | b"none") => Self::Same,
            Some(b"cross-site") if has_origin => Self::Cross,
            Some(b"cross-site") => Self::CrossNavigation,
            _ if !has_origin => Self::Unknown,
            _ if origins.all(|origin| is_own(origin, headers, peer)) => Self::Same,
            _ => Self::Cross,
        }
    }

    /// Returns the 403 error for a request of another site.
    pub fn forbidden() -> Box<Status> {
        forbidden("a page of another site sent the request, or the browser did not name its origin")
    }
}

/// Returns `true` if an origin is the host of the request.
fn is_own(origin: &HeaderValue, headers: &HeaderMap, peer: &Peer) -> bool {
    let origin = origin.to_str().ok().and_then(|text| text.split_once("://"));
    origin.is_some_and(|(scheme, own)| {
        // A proxy in front of the server may add TLS.
        let is_scheme = scheme == "https" || (scheme == "http" && !peer.is_encrypted());
        is_scheme && host(headers).is_some_and(|host| host.eq_ignore_ascii_case(own))
    })
}

/// Returns the host of a request, unless it is missing, repeated or not ASCII.
fn host(headers: &HeaderMap) -> Option<&str> {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok(),
        _ => None,
    }
}

/// The hosts that a server without users answers for.
///
/// A page can give its own name the address of this server (DNS rebinding). Its requests are then
/// not from another site for the browser, but they have the name of the page as their host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    listen: SocketAddr,
    allowed: Vec<AllowedHost>,
}

impl Hosts {
    /// Creates the hosts of a server that listens on `listen`: loopback names and addresses with
    /// its port, and the hosts in `allowed`.
    #[must_use]
    pub const fn new(listen: SocketAddr, allowed: Vec<AllowedHost>) -> Self {
        Self { listen, allowed }
    }

    /// Sets the address on which the server listens.
    pub(super) const fn listens_on(&mut self, listen: SocketAddr) {
        self.listen = listen;
    }

    /// Checks that a request is for one of the hosts, and not from another site.
    ///
    /// # Errors
    /// 403 if it is not.
    pub fn check(&self, headers: &HeaderMap, peer: &Peer) -> Result<()> {
        let Some(host) = host(headers) else {
            return Err(forbidden("the request must have one header `Host`"));
        };
        if !self.has(host, peer) {
            return Err(self.unknown(host));
        }
        match RequestOrigin::of(headers, peer) {
            RequestOrigin::Same | RequestOrigin::Unknown => Ok(()),
            RequestOrigin::Cross | RequestOrigin::CrossNavigation => {
                Err(RequestOrigin::forbidden())
            }
        }
    }

    fn has(&self, host: &str, peer: &Peer) -> bool {
        let Some(host) = authority(host) else {
            return false;
        };
        let default = if peer.is_encrypted() { 443 } else { 80 };
        let port = host.port_u16().unwrap_or(default);
        (port == self.listen.port() && is_loopback(host.host()))
            || self.allowed.iter().any(|allowed| allowed.is(&host))
    }

    fn unknown(&self, host: &str) -> Box<Status> {
        let listen = self.listen;
        let answers = format!(
            "the server has no users, so it answers for localhost:{} and {listen} only",
            listen.port()
        );
        match authority(host).filter(|host| host.as_str().len() <= MAX_HOST) {
            Some(host) => forbidden(&format!(
                "{answers}, not for {host}: to allow this host, start the server with \
                 --allow-host {host}"
            )),
            None => forbidden(&format!("{answers}, not for the host of the request")),
        }
    }
}

/// A host of `--allow-host`: a name or an address. Without a port, any port matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost(Authority);

impl AllowedHost {
    fn is(&self, host: &Authority) -> bool {
        let is_port = self.0.port_u16().is_none() || self.0.port_u16() == host.port_u16();
        is_port && self.0.host().eq_ignore_ascii_case(host.host())
    }
}

impl FromStr for AllowedHost {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let host = authority(text).filter(|host| !host.host().is_empty());
        host.map(Self).ok_or("expected HOST or HOST:PORT, such as templates.example.com")
    }
}

/// Parses a host with an optional port, and without a user.
fn authority(text: &str) -> Option<Authority> {
    let authority = text.parse::<Authority>().ok()?;
    let is_host = |rest: &str| rest.is_empty() || rest.starts_with(':');
    let rest = text.strip_prefix(authority.host())?;
    (is_host(rest) && (rest.len() <= 1 || authority.port_u16().is_some())).then_some(authority)
}

fn is_loopback(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let address = address.unwrap_or(host).parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

fn forbidden(message: &str) -> Box<Status> {
    Status::new(403, "Forbidden", message).with(Details::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(list: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in list {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    fn peer() -> Peer {
        Peer::new("127.0.0.1:40000".parse().unwrap())
    }

    #[test]
    fn a_site_is_known_by_what_scripts_cannot_set() {
        const FETCH: &str = "sec-fetch-site";
        let cases: &[(&[(&'static str, &'static str)], RequestOrigin)] = &[
            (&[], RequestOrigin::Unknown),
            (&[("origin", "http://web:80")], RequestOrigin::Same),
            (&[("origin", "https://WEB:80")], RequestOrigin::Same),
            (&[("origin", "http://web")], RequestOrigin::Cross),
            (&[("origin", "http://evil.example")], RequestOrigin::Cross),
            (&[("origin", "null")], RequestOrigin::Cross),
            (&[("origin", "")], RequestOrigin::Cross),
            (
                &[("origin", "http://web:80"), ("origin", "http://evil.example")],
                RequestOrigin::Cross,
            ),
            (&[("origin", "null"), (FETCH, "same-origin")], RequestOrigin::Same),
            (&[("origin", "null"), (FETCH, "cross-site")], RequestOrigin::Cross),
            (&[("origin", "http://web:90"), (FETCH, "same-site")], RequestOrigin::Cross),
            (&[(FETCH, "same-site")], RequestOrigin::Unknown),
            (&[(FETCH, "cross-site")], RequestOrigin::CrossNavigation),
            (&[(FETCH, "none")], RequestOrigin::Same),
        ];
        for (list, expected) in cases {
            let all = [&[("host", "web:80")][..], *list].concat();
            assert_eq!(RequestOrigin::of(&headers(&all), &peer()), *expected, "{list:?}");
        }
        let two = [("host", "web"), ("host", "evil.example"), ("origin", "http://web")];
        assert_eq!(RequestOrigin::of(&headers(&two), &peer()), RequestOrigin::Cross);
    }

    #[test]
    fn a_server_without_users_answers_for_its_own_hosts() {
        let listen = "127.0.0.1:8080".parse().unwrap();
        let allowed =
            ["proxy.example", "[fd00::1]:443"].map(|host| host.parse::<AllowedHost>().unwrap());
        let hosts = Hosts::new(listen, allowed.to_vec());
        for (host, is_known) in [
            ("127.0.0.1:8080", true),
            ("127.9.9.9:8080", true),
            ("LocalHost:8080", true),
            ("[::1]:8080", true),
            ("proxy.example", true),
            ("PROXY.example:1234", true),
            ("[fd00::1]:443", true),
            ("localhost", false),
            ("localhost:8081", false),
            ("127.0.0.1:99999", false),
            ("[fd00::1]", false),
            ("evil.example:8080", false),
            ("evil.proxy.example:8080", false),
            ("localhost.evil.example:8080", false),
            ("127.0.0.1.evil.example:8080", false),
            ("localhost:8080@evil.example", false),
            ("evil.example@localhost:8080", false),
            ("0.0.0.0:8080", false),
            ("", false),
        ] {
            let sent = headers(&[("host", host)]);
            assert_eq!(hosts.check(&sent, &peer()).is_ok(), is_known, "{host}");
        }
        for list in [&[][..], &[("host", "localhost:8080"), ("host", "evil.example")]] {
            assert_eq!(hosts.check(&headers(list), &peer()).unwrap_err().code, 403);
        }
    }

    #[test]
    fn the_message_names_the_option_that_allows_a_host() {
        let hosts = Hosts::new("127.0.0.1:8080".parse().unwrap(), Vec::new());
        let message = |host| {
            let sent = headers(&[("host", host)]);
            hosts.check(&sent, &peer()).unwrap_err().message.clone()
        };
        assert_eq!(
            message("web.example:9000"),
            "the server has no users, so it answers for localhost:8080 and 127.0.0.1:8080 only, \
             not for web.example:9000: to allow this host, start the server with --allow-host \
             web.example:9000"
        );
        assert!(message("a b").ends_with("not for the host of the request"));
    }
}

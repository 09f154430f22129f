//! Authentication by the headers of a front proxy.
//!
//! Source: `k8s.io/apiserver/pkg/authentication/request/headerrequest`.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, bail};
use http::{HeaderMap, HeaderName};
use percent_encoding::percent_decode_str;
use rustls::pki_types::CertificateDer;

use super::request::User;
use crate::tls::{ClientCa, Peer};

/// The headers that identify the user. The default names are the ones that kube-apiserver sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The headers with the user's name; the first non-empty value counts.
    pub name: Vec<HeaderName>,
    /// The headers with the user's uid; the first non-empty value counts.
    pub uid: Vec<HeaderName>,
    /// The headers with the user's groups, one per value; all values count.
    pub group: Vec<HeaderName>,
    /// The prefixes of the headers with extra fields of the user, in lower case.
    pub extra_prefix: Vec<String>,
}

impl Default for Headers {
    fn default() -> Self {
        Self {
            name: vec![HeaderName::from_static("x-remote-user")],
            uid: vec![HeaderName::from_static("x-remote-uid")],
            group: vec![HeaderName::from_static("x-remote-group")],
            extra_prefix: vec!["x-remote-extra-".to_owned()],
        }
    }
}

/// A trusted front proxy, such as kube-apiserver.
#[derive(Debug)]
pub struct FrontProxy {
    /// The certificate authorities that sign the proxy's certificate.
    pub ca: Arc<ClientCa>,
    /// The allowed common names of its certificate; any if empty.
    pub allowed_names: Vec<String>,
    /// The headers that it sends.
    pub headers: Headers,
}

impl FrontProxy {
    /// Reads the front proxy from the data of the ConfigMap `extension-apiserver-authentication`;
    /// `None` if the data has no CA for it.
    ///
    /// # Errors
    /// If an entry is malformed, or if the list of headers for the user's name is empty.
    pub fn from_config_map(data: &BTreeMap<String, String>) -> anyhow::Result<Option<Self>> {
        let key = "requestheader-client-ca-file";
        let Some(pem) = data.get(key).filter(|pem| !pem.is_empty()) else {
            return Ok(None);
        };
        let ca = Arc::new(ClientCa::from_pem(pem.as_bytes()).context(key)?);
        let headers = Headers {
            name: header_names(data, "requestheader-username-headers")?,
            uid: header_names(data, "requestheader-uid-headers")?,
            group: header_names(data, "requestheader-group-headers")?,
            extra_prefix: texts(data, "requestheader-extra-headers-prefix")?
                .into_iter()
                .map(|prefix| prefix.to_ascii_lowercase())
                .collect(),
        };
        if headers.name.is_empty() {
            bail!("requestheader-username-headers: expected at least one header");
        }
        let allowed_names = texts(data, "requestheader-allowed-names")?;
        Ok(Some(Self { ca, allowed_names, headers }))
    }

    /// Checks that a CA of the proxy without allowed names is not also used for `others`.
    ///
    /// # Errors
    /// If it is: the owner of any of its certificates could name any user. kube-apiserver refuses
    /// this, too.
    pub(crate) fn check(&self, others: &[CertificateDer<'_>]) -> anyhow::Result<()> {
        if self.allowed_names.is_empty() && self.ca.is_related_to(others) {
            bail!(
                "the CA of the front proxy is also used for other certificates, and the owner of \
                 each could name any user: give the name in the certificate of the front proxy with \
                 --requestheader-allowed-names, such as `front-proxy-client`"
            );
        }
        Ok(())
    }

    /// Returns the user in the headers, if the peer is this proxy.
    pub fn user(&self, headers: &HeaderMap, peer: &Peer) -> Option<User> {
        let proxy = peer.names(&self.ca)?;
        let is_allowed = self.allowed_names.is_empty()
            || self.allowed_names.iter().any(|name| *name == proxy.common_name);
        if !is_allowed {
            return None;
        }
        let name = first(headers, &self.headers.name)?;
        if name.is_empty() {
            return None;
        }
        let uid = first(headers, &self.headers.uid)?;
        let groups = all(headers, &self.headers.group)?;
        let extra = self.extra(headers)?;
        Some(User { name, uid, groups, extra })
    }

    /// Returns the extra fields of the user, or `None` if a value is not UTF-8.
    fn extra(&self, headers: &HeaderMap) -> Option<BTreeMap<String, Vec<String>>> {
        let mut extra = BTreeMap::new();
        for (header, value) in headers {
            let mut prefixes = self.headers.extra_prefix.iter();
            let Some(key) = prefixes.find_map(|prefix| header.as_str().strip_prefix(&**prefix))
            else {
                continue;
            };
            let key = percent_decode_str(key)
                .decode_utf8()
                .map_or_else(|_| key.to_owned(), |key| key.into_owned().to_ascii_lowercase());
            let value = std::str::from_utf8(value.as_bytes()).ok()?;
            extra.entry(key).or_insert_with(Vec::new).push(value.to_owned());
        }
        Some(extra)
    }
}

/// Returns the first non-empty value, or an empty string if there is none; `None` if the value is
/// not UTF-8.
fn first(headers: &HeaderMap, names: &[HeaderName]) -> Option<String> {
    let mut values = names.iter().filter_map(|name| headers.get(name));
    match values.find(|value| !value.is_empty()) {
        Some(value) => Some(std::str::from_utf8(value.as_bytes()).ok()?.to_owned()),
        None => Some(String::new()),
    }
}

/// Returns all non-empty values, or `None` if one is not UTF-8.
fn all(headers: &HeaderMap, names: &[HeaderName]) -> Option<Vec<String>> {
    let values = names.iter().flat_map(|name| headers.get_all(name));
    values
        .filter(|value| !value.is_empty())
        .map(|value| std::str::from_utf8(value.as_bytes()).ok().map(str::to_owned))
        .collect()
}

fn texts(data: &BTreeMap<String, String>, key: &str) -> anyhow::Result<Vec<String>> {
    match data.get(key) {
        Some(json) if !json.is_empty() => {
            serde_json::from_str(json).with_context(|| format!("{key}: expected a list of strings"))
        }
        _ => Ok(Vec::new()),
    }
}

fn header_names(data: &BTreeMap<String, String>, key: &str) -> anyhow::Result<Vec<HeaderName>> {
    let names = texts(data, key)?;
    let names = names.iter().map(|name| name.parse().with_context(|| format!("{key}: {name:?}")));
    names.collect()
}

//! Arguments, and their valid combinations.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::bail;
use http::HeaderName;

use super::site::AllowedHost;
use crate::units::duration;

/// The option that the other options of the front proxy need.
const PROXY_CA: &str = "requestheader_client_ca_file";

/// The arguments for authentication, authorization and TLS.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Security")]
pub struct Args {
    /// How users are authenticated; may be repeated
    ///
    /// `none` (the default): everyone is system:anonymous and may do everything, on a loopback
    /// address and for its hosts only (--allow-host). `tokens=FILE`: bearer tokens from a CSV file
    /// of token, user, uid and "group,group"; a token may be written as sha256:HEX.
    /// `client-certificates=CA`: client certificates signed by a CA in a PEM file; CN is the user,
    /// O are the groups. `front-proxy`: headers of kube-apiserver's aggregation layer, with its
    /// certificate only. `token-review`: bearer tokens that a cluster reviews.
    #[arg(long = "auth", value_name = "WAY")]
    pub auth: Vec<AuthenticationMethod>,

    /// Another host under which clients reach a server without users; may be repeated
    ///
    /// With `--auth none`, the server refuses requests whose host is not a loopback name or address
    /// with its port, because a web page could have sent them. A host without a port has every port.
    #[arg(long = "allow-host", value_name = "HOST[:PORT]")]
    pub allow_hosts: Vec<AllowedHost>,

    /// A file or folder with RBAC roles and bindings
    ///
    /// Without it, a cluster authorizes requests if --auth is front-proxy or token-review;
    /// otherwise every user may do everything.
    #[arg(long, value_name = "DIR")]
    pub rbac: Option<PathBuf>,

    /// The certificate chain of the server, in PEM; reread when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// The private key of the server, in PEM; reread when it changes
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// How long the old content of certificates, tokens and roles counts when their files cannot be
    /// used any more
    ///
    /// Until then, and afterwards, the server is not ready. It applies to the settings of a cluster
    /// for its front proxy, too.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration)]
    pub reload_grace: Duration,

    /// The kubeconfig of the cluster for front-proxy, token-review and --apply; without it, the
    /// cluster in which the server runs
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Whether `--apply` also uses the cluster.
    #[arg(skip)]
    pub applies: bool,

    /// The files of CAs that the store trusts.
    #[arg(skip)]
    pub store_cas: Vec<PathBuf>,

    /// The CA certificates for the front proxy, in PEM; without it, the settings of the cluster
    /// apply
    #[arg(long, value_name = "FILE")]
    pub requestheader_client_ca_file: Option<PathBuf>,

    /// The allowed common names of the front proxy's certificate; any if not given, unless its CA is
    /// also used for other certificates
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = PROXY_CA)]
    pub requestheader_allowed_names: Vec<String>,

    /// Headers with the user's name [default: X-Remote-User]
    #[arg(long, value_name = "HEADER", value_delimiter = ',', requires = PROXY_CA)]
    pub requestheader_username_headers: Vec<HeaderName>,

    /// Headers with the user's uid [default: X-Remote-Uid]
    #[arg(long, value_name = "HEADER", value_delimiter = ',', requires = PROXY_CA)]
    pub requestheader_uid_headers: Vec<HeaderName>,

    /// Headers with the user's groups [default: X-Remote-Group]
    #[arg(long, value_name = "HEADER", value_delimiter = ',', requires = PROXY_CA)]
    pub requestheader_group_headers: Vec<HeaderName>,

    /// Prefixes of the headers with extra fields of the user [default: X-Remote-Extra-]
    #[arg(long, value_name = "PREFIX", value_delimiter = ',', requires = PROXY_CA)]
    pub requestheader_extra_headers_prefix: Vec<String>,
}

/// A method of authentication, with its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthenticationMethod {
    /// No authentication: every user is anonymous.
    None,
    /// Bearer tokens from a file.
    Tokens(PathBuf),
    /// Client certificates, signed by the CAs in a file.
    ClientCertificates(PathBuf),
    /// Headers of a front proxy.
    FrontProxy,
    /// Bearer tokens that a cluster reviews.
    TokenReview,
}

impl FromStr for AuthenticationMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            None if text == "none" => Ok(Self::None),
            None if text == "front-proxy" => Ok(Self::FrontProxy),
            None if text == "token-review" => Ok(Self::TokenReview),
            Some(("tokens", file)) if !file.is_empty() => Ok(Self::Tokens(file.into())),
            Some(("client-certificates", file)) if !file.is_empty() => {
                Ok(Self::ClientCertificates(file.into()))
            }
            _ => Err("expected none, tokens=FILE, client-certificates=CA, front-proxy or \
                      token-review"
                .to_owned()),
        }
    }
}

impl Args {
    /// Returns `true` if an authentication method was given.
    pub fn has(&self, way: &AuthenticationMethod) -> bool {
        self.auth.contains(way)
    }

    /// Returns `true` if all users are anonymous: without `--auth`, or with `--auth none`.
    pub fn is_anonymous(&self) -> bool {
        self.auth.is_empty() || self.has(&AuthenticationMethod::None)
    }

    /// Returns `true` if the server requests client certificates.
    pub fn asks_for_certificates(&self) -> bool {
        self.auth.iter().any(|way| {
            matches!(
                way,
                AuthenticationMethod::ClientCertificates(_) | AuthenticationMethod::FrontProxy
            )
        })
    }

    /// Returns `true` if the settings of the front proxy come from a cluster.
    pub fn reads_settings(&self) -> bool {
        self.has(&AuthenticationMethod::FrontProxy) && self.requestheader_client_ca_file.is_none()
    }

    /// Returns `true` if a cluster authorizes requests.
    pub fn reviews_access(&self) -> bool {
        self.rbac.is_none()
            && (self.has(&AuthenticationMethod::FrontProxy)
                || self.has(&AuthenticationMethod::TokenReview))
    }

    /// Returns `true` if authentication or authorization needs a cluster.
    pub fn needs_cluster(&self) -> bool {
        self.has(&AuthenticationMethod::TokenReview)
            || self.reads_settings()
            || self.reviews_access()
    }

    /// Returns the files of CAs and certificates other than those of the front proxy.
    pub(super) fn trusted_files(&self) -> Vec<PathBuf> {
        let of_clients = self.auth.iter().filter_map(|way| match way {
            AuthenticationMethod::ClientCertificates(path) => Some(path),
            _ => None,
        });
        let all = of_clients.chain(&self.tls_cert).chain(&self.store_cas);
        all.cloned().collect()
    }

    /// Checks that the arguments are compatible, and safe for a server that listens on `listen`.
    ///
    /// # Errors
    /// If they are not. The error names the arguments and a remedy.
    pub fn check(&self, listen: SocketAddr) -> anyhow::Result<()> {
        let is_loopback = listen.ip().is_loopback();
        if self.is_anonymous() {
            if self.auth.iter().any(|way| *way != AuthenticationMethod::None) {
                bail!("--auth none cannot be combined with another --auth");
            }
            if self.rbac.is_some() {
                bail!("--rbac needs users: set --auth, such as --auth tokens=FILE");
            }
            if !is_loopback {
                bail!(
                    "--listen {listen} is not a loopback address, and every client may do \
                     everything: set --auth, such as --auth tokens=FILE"
                );
            }
        }
        if !self.allow_hosts.is_empty() && !self.is_anonymous() {
            bail!("--allow-host is used by --auth none only");
        }
        if self.tls_cert.is_none() {
            if !is_loopback {
                bail!("--listen {listen} is not a loopback address: set --tls-cert and --tls-key");
            }
            if self.asks_for_certificates() {
                bail!(
                    "--auth client-certificates and --auth front-proxy need TLS: set --tls-cert \
                     and --tls-key"
                );
            }
        }
        if self.requestheader_client_ca_file.is_some()
            && !self.has(&AuthenticationMethod::FrontProxy)
        {
            bail!("--requestheader-client-ca-file needs --auth front-proxy");
        }
        if self.kubeconfig.is_some() && !self.needs_cluster() && !self.applies {
            bail!(
                "--kubeconfig is used by --auth front-proxy, --auth token-review and --apply only"
            );
        }
        Ok(())
    }
}

//! Arguments, and which of them go together.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::bail;
use http::HeaderName;

/// Who may use the server, and how it proves who it is.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Security")]
pub struct Args {
    /// How requests say who sends them; may be given several times
    ///
    /// `none`: everybody is system:anonymous and may do everything, on a loopback address only
    /// (the default). `tokens=FILE`: bearer tokens, a CSV of token, user, uid and "group,group";
    /// in place of a token, sha256:HEX. `client-certificates=CA`: certificates of the authorities
    /// in a PEM file; CN is the user, O the groups. `front-proxy`: headers of kube-apiserver's
    /// aggregation layer, with its certificate only. `token-review`: bearer tokens that a cluster
    /// knows.
    #[arg(long = "auth", value_name = "WAY")]
    pub auth: Vec<Way>,

    /// A file or folder with roles and bindings of RBAC, for what users may do
    ///
    /// Without it a cluster decides if --auth is front-proxy or token-review; else every user
    /// may do everything.
    #[arg(long, value_name = "DIR")]
    pub rbac: Option<PathBuf>,

    /// The certificate of the server and its intermediates, in PEM; reread when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// The private key of the server, in PEM; reread when it changes
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// The cluster for front-proxy, token-review and --apply; without it, the one in which this runs
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Whether the cluster is also used by others than this module.
    #[arg(skip)]
    pub applies: bool,

    /// What vouches for the front proxy, in PEM; without it, the cluster's settings are read
    #[arg(long, value_name = "FILE")]
    pub requestheader_client_ca_file: Option<PathBuf>,

    /// Common names that the front proxy's certificate may have; any if not given
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        requires = "requestheader_client_ca_file"
    )]
    pub requestheader_allowed_names: Vec<String>,

    /// Headers with the user's name [default: X-Remote-User]
    #[arg(
        long,
        value_name = "HEADER",
        value_delimiter = ',',
        requires = "requestheader_client_ca_file"
    )]
    pub requestheader_username_headers: Vec<HeaderName>,

    /// Headers with the user's uid [default: X-Remote-Uid]
    #[arg(
        long,
        value_name = "HEADER",
        value_delimiter = ',',
        requires = "requestheader_client_ca_file"
    )]
    pub requestheader_uid_headers: Vec<HeaderName>,

    /// Headers with groups [default: X-Remote-Group]
    #[arg(
        long,
        value_name = "HEADER",
        value_delimiter = ',',
        requires = "requestheader_client_ca_file"
    )]
    pub requestheader_group_headers: Vec<HeaderName>,

    /// What headers with further facts begin with [default: X-Remote-Extra-]
    #[arg(
        long,
        value_name = "PREFIX",
        value_delimiter = ',',
        requires = "requestheader_client_ca_file"
    )]
    pub requestheader_extra_headers_prefix: Vec<String>,
}

/// A way to say who sends a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// Nobody says it.
    None,
    /// Bearer tokens of a file.
    Tokens(PathBuf),
    /// Client certificates, by the authorities in a file.
    ClientCertificates(PathBuf),
    /// Headers of a front proxy.
    FrontProxy,
    /// Bearer tokens that a cluster reviews.
    TokenReview,
}

impl FromStr for Way {
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
            _ => Err(
                "expected none, tokens=FILE, client-certificates=CA, front-proxy or \
                      token-review"
                    .to_owned(),
            ),
        }
    }
}

impl Args {
    /// Whether a way to authenticate was given.
    #[must_use]
    pub fn has(&self, way: &Way) -> bool {
        self.auth.contains(way)
    }

    /// Whether nobody says who they are: without `--auth`, or with `--auth none`.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.auth.is_empty() || self.has(&Way::None)
    }

    /// Whether client certificates are looked at.
    #[must_use]
    pub fn asks_for_certificates(&self) -> bool {
        self.auth
            .iter()
            .any(|way| matches!(way, Way::ClientCertificates(_) | Way::FrontProxy))
    }

    /// Whether the front proxy is described by a cluster.
    #[must_use]
    pub fn reads_settings(&self) -> bool {
        self.has(&Way::FrontProxy) && self.requestheader_client_ca_file.is_none()
    }

    /// Whether a cluster decides what users may do.
    #[must_use]
    pub fn reviews_access(&self) -> bool {
        self.rbac.is_none() && (self.has(&Way::FrontProxy) || self.has(&Way::TokenReview))
    }

    /// Whether a cluster is asked for something.
    #[must_use]
    pub fn needs_cluster(&self) -> bool {
        self.has(&Way::TokenReview) || self.reads_settings() || self.reviews_access()
    }

    /// Checks that the arguments go together, and are safe for a server that listens on
    /// `listen`.
    ///
    /// # Errors
    /// If they do not or are not: the error says which, and what to do.
    pub fn check(&self, listen: SocketAddr) -> anyhow::Result<()> {
        let is_loopback = listen.ip().is_loopback();
        if self.is_anonymous() {
            if self.auth.iter().any(|way| *way != Way::None) {
                bail!("--auth none cannot be combined with another --auth");
            }
            if self.rbac.is_some() {
                bail!("--rbac needs users: give --auth, such as --auth tokens=FILE");
            }
            if !is_loopback {
                bail!(
                    "--listen {listen} is not a loopback address, and everybody may do \
                     everything: give --auth, such as --auth tokens=FILE"
                );
            }
        }
        if self.tls_cert.is_none() {
            if !is_loopback {
                bail!("--listen {listen} is not a loopback address: give --tls-cert and --tls-key");
            }
            if self.asks_for_certificates() {
                bail!(
                    "--auth client-certificates and --auth front-proxy need TLS: give --tls-cert \
                     and --tls-key"
                );
            }
        }
        if self.requestheader_client_ca_file.is_some() && !self.has(&Way::FrontProxy) {
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

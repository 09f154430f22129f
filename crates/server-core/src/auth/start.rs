//! Sets up authentication, authorization and TLS from the arguments.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use rustls::pki_types::CertificateDer;
use tokio_rustls::TlsAcceptor;

use super::args::{Args, AuthenticationMethod};
use super::authenticator::Authenticator;
use super::authorizer::Authorizer;
use super::cluster::Cluster;
use super::delegated::Delegated;
use super::front_proxy::{FrontProxy, Headers};
use super::rbac::Policy;
use super::site::Hosts;
use super::tokens::Tokens;
use crate::reload::{Reload, Watched};
use crate::tls::{self, ClientCa, ClientCertificates};

/// The authentication, authorization and TLS of a server.
pub struct Auth {
    /// Finds the user of a request.
    pub authenticator: Authenticator,
    /// Decides whether the user may do it.
    pub authorizer: Authorizer,
    /// Accepts TLS; `None` for plain HTTP.
    pub tls: Option<TlsAcceptor>,
    /// The files that [`follow`](crate::reload::follow) reloads.
    pub files: Arc<[Arc<dyn Reload>]>,
    /// Warnings for the operator, logged at the start.
    pub warnings: Vec<String>,
}

/// Reads all files, and the settings of the cluster if necessary.
///
/// # Errors
/// The same as [`Args::check`], and if a file or the cluster cannot be used.
pub async fn start(args: &Args, listen: SocketAddr) -> anyhow::Result<Auth> {
    args.check(listen)?;
    let mut files: Vec<Arc<dyn Reload>> = Vec::new();
    let cluster = if args.needs_cluster() {
        Some(Arc::new(Cluster::of(args.kubeconfig.as_deref()).await?))
    } else {
        None
    };
    let others = args.trusted_files();
    let roots = cluster.iter().flat_map(|cluster| &cluster.roots);
    let roots = roots.cloned().map(CertificateDer::from).collect();
    let mut authenticator = by_files(args, (&others, roots), &mut files)?;
    if args.is_anonymous() {
        authenticator.anonymous = Some(Hosts::new(listen, args.allow_hosts.clone()));
    }
    if let Some(cluster) = &cluster {
        if args.has(&AuthenticationMethod::TokenReview) {
            authenticator.token_review = Some(Arc::clone(cluster));
        }
        if args.reads_settings() {
            let delegated = Delegated::start(Arc::clone(cluster), others).await;
            files.push(Arc::clone(&delegated) as Arc<dyn Reload>);
            authenticator.delegated = Some(delegated);
        }
    }
    let authorizer = match (&args.rbac, cluster) {
        (Some(path), _) => {
            let policy = Policy::open(path.clone())?;
            files.push(Arc::clone(&policy) as Arc<dyn Reload>);
            Authorizer::Rbac(policy)
        }
        (None, Some(cluster)) => Authorizer::Cluster(cluster),
        (None, None) => Authorizer::Everything,
    };
    let tls = acceptor(args, &mut files)?;
    let mut warnings = Vec::new();
    if matches!(authorizer, Authorizer::Everything) && !args.is_anonymous() {
        warnings.push(
            "every user may do everything in all namespaces, because --rbac is not set".to_owned(),
        );
    }
    if args.applies && args.is_anonymous() {
        warnings.push(
            "with --apply and without users, the cluster would see each change as one of \
             system:anonymous, and this server applies nothing for that name: set --auth"
                .to_owned(),
        );
    }
    Ok(Auth { authenticator, authorizer, tls, files: files.into(), warnings })
}

/// The files and the CAs that the server uses for something else than its front proxy.
type Others<'o> = (&'o [PathBuf], Vec<CertificateDer<'static>>);

fn by_files(
    args: &Args,
    others: Others<'_>,
    files: &mut Vec<Arc<dyn Reload>>,
) -> anyhow::Result<Authenticator> {
    let mut by = Authenticator::default();
    for way in &args.auth {
        match way {
            AuthenticationMethod::Tokens(path) => {
                let tokens = Tokens::open(path.clone())?;
                files.push(Arc::clone(&tokens) as Arc<dyn Reload>);
                by.tokens.push(tokens);
            }
            AuthenticationMethod::ClientCertificates(path) => {
                let ca = ClientCa::open(path)?;
                files.push(Arc::clone(&ca) as Arc<dyn Reload>);
                by.client_cas.push(ca);
            }
            AuthenticationMethod::None
            | AuthenticationMethod::FrontProxy
            | AuthenticationMethod::TokenReview => {}
        }
    }
    if let Some(path) = &args.requestheader_client_ca_file {
        let proxy = front_proxy(args, path, others)?;
        files.push(Arc::clone(&proxy) as Arc<dyn Reload>);
        by.front_proxies.push(proxy);
    }
    Ok(by)
}

fn front_proxy(
    args: &Args,
    path: &Path,
    (others, roots): Others<'_>,
) -> anyhow::Result<Arc<Watched<FrontProxy>>> {
    let mut headers = Headers::default();
    let given = [
        (&args.requestheader_username_headers, &mut headers.name),
        (&args.requestheader_uid_headers, &mut headers.uid),
        (&args.requestheader_group_headers, &mut headers.group),
    ];
    for (given, names) in given {
        if !given.is_empty() {
            names.clone_from(given);
        }
    }
    let prefixes = &args.requestheader_extra_headers_prefix;
    if !prefixes.is_empty() {
        headers.extra_prefix = prefixes.iter().map(|prefix| prefix.to_ascii_lowercase()).collect();
    }
    let allowed_names = args.requestheader_allowed_names.clone();
    let mut paths = vec![path.to_owned()];
    if allowed_names.is_empty() {
        paths.extend_from_slice(others);
    }
    Watched::open("--requestheader-client-ca-file", paths, move |contents| {
        let [content, others @ ..] = contents else { bail!("expected a file") };
        let ca = ClientCa::from_pem(&content.bytes);
        let ca = Arc::new(ca.with_context(|| content.path.display().to_string())?);
        let (allowed_names, headers) = (allowed_names.clone(), headers.clone());
        let proxy = FrontProxy { ca, allowed_names, headers };
        let others = others.iter().flat_map(|other| tls::certificates(&other.bytes));
        let others: Vec<_> = roots.iter().cloned().chain(others).collect();
        proxy.check(&others)?;
        Ok(proxy)
    })
}

fn acceptor(args: &Args, files: &mut Vec<Arc<dyn Reload>>) -> anyhow::Result<Option<TlsAcceptor>> {
    let (Some(certificate), Some(key)) = (&args.tls_cert, &args.tls_key) else {
        return Ok(None);
    };
    let identity = tls::identity(certificate, key)?;
    files.push(Arc::clone(&identity) as Arc<dyn Reload>);
    let clients = if args.asks_for_certificates() {
        ClientCertificates::Asked
    } else {
        ClientCertificates::Ignored
    };
    Ok(Some(tls::acceptor(identity, clients)?))
}

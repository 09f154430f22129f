//! The program `krm-template-server`: arguments, logs, the store, listening.

mod args;

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser as _;
use tokio::net::TcpListener;

use crate::args::{Args, Command, Serve, StoreAction};
use krm_template_cluster::Cluster;
use krm_template_exec::io as terminal;
use krm_template_server::templates;
use krm_template_server::{App, Documents, State, instances};
use krm_template_server_client as client;
use krm_template_server_core::{
    Admission, Measured, Metrics, aggregation::Aggregation, auth, flow_control::shutdown, reload,
    store, telemetry::audit::Audit, telemetry::logging,
};
use krm_template_server_deployments::{Dependencies, Deployments};

/// The interval between checks for changed files.
const RELOAD: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    if let Some(code) = krm_template_exec::python::enter_sandbox() {
        return code;
    }
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return terminal::refuse(&error).map_or(ExitCode::FAILURE, ExitCode::from),
    };
    let done = runtime().and_then(|runtime| runtime.block_on(run(args)));
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            terminal::print_error(&format!("krm-template-server: error: {error:#}\n"));
            ExitCode::FAILURE
        }
    }
}

/// Builds a runtime whose threads have the stack size that expansions need.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().thread_stack_size(templates::STACK);
    builder.build().context("cannot start the threads")
}

/// Runs the command, and returns the exit status.
async fn run(args: Args) -> anyhow::Result<u8> {
    match args.command {
        None => serve(args.serve).await.map(|()| 0),
        Some(Command::Deployments(args)) => client::run(&args).await,
        Some(Command::Instances(command)) => client::instances(&command).await,
        Some(Command::Templates { action }) => client::templates(&action).await,
        Some(Command::Store { action }) => work_on_store(action).await,
    }
}

/// Runs a subcommand of `store`, and returns the exit status.
async fn work_on_store(action: StoreAction) -> anyhow::Result<u8> {
    match action {
        StoreAction::Dump { store } => {
            let store = store.open().await?;
            let dumped = store::dump(&store, io::stdout().lock()).await;
            store.close().await;
            match dumped {
                // The reader, such as `head`, has read enough.
                Err(error) if is_closed_pipe(&error) => Ok(0),
                dumped => {
                    let damaged = dumped?;
                    name_damaged(&damaged);
                    Ok(u8::from(!damaged.is_empty()))
                }
            }
        }
        StoreAction::Load { store } => {
            let store = store.open().await?;
            let loaded = store::load(&store, io::stdin().lock()).await;
            store.close().await;
            loaded.map(|_| 0)
        }
        StoreAction::Check { file } => {
            let report = store::check(&file)?;
            tell(&file, &report, "whole");
            Ok(u8::from(!report.is_whole()))
        }
        StoreAction::Salvage { from, to } => {
            tell(&to, &store::salvage(&from, &to)?, "salvaged");
            Ok(0)
        }
        StoreAction::Compact { file } => {
            let (before, after) = store::compact(&file)?;
            let sizes = format!("{before} bytes before, {after} bytes now");
            say(&format!("{}: {sizes}", file.display()));
            Ok(0)
        }
    }
}

/// Prints the state of a file.
fn tell(file: &Path, report: &store::Report, done: &str) {
    name_damaged(&report.damaged);
    let (file, objects) = (file.display(), report.objects);
    let damaged = report.damaged.len();
    say(&format!("{file}: objects {done}: {objects}, damaged: {damaged}"));
    if let Some(why) = &report.index {
        say(&format!("{file}: the index is damaged: {why}"));
    }
}

/// Prints the keys of damaged objects.
fn name_damaged(keys: &[String]) {
    for key in keys {
        say(&format!("krm-template-server: {key:?} is damaged"));
    }
}

/// Prints a line to standard error.
fn say(line: &str) {
    // Nothing else can be done if standard error is closed.
    let _ = writeln!(io::stderr(), "{line}");
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let kind = match cause.downcast_ref::<serde_json::Error>() {
            Some(error) => error.io_error_kind(),
            None => cause.downcast_ref::<io::Error>().map(io::Error::kind),
        };
        kind == Some(io::ErrorKind::BrokenPipe)
    })
}

async fn serve(args: Serve) -> anyhow::Result<()> {
    logging::start(&args.logging)?;
    let args = checked(args)?;
    let mut auth = auth::start(&args.auth, args.listen).await?;
    for warning in &auth.warnings {
        tracing::warn!("{warning}");
    }
    let store = args.store.open().await?;
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    let address = listener.local_addr().context("the socket has no address")?;
    auth.authenticator.listens_on(address);
    let (shutdown, reload) = shutdown::listen(args.shutdown).context("cannot handle signals")?;
    let admission = Admission::new(&args.limits);
    let metrics = Arc::new(Metrics::new(
        admission.clone(),
        env!("CARGO_PKG_VERSION"),
        option_env!("KRM_TEMPLATE_COMMIT").unwrap_or_default(),
    ));
    let audit = Audit::start(&args.audit, Arc::clone(&metrics))?;
    let is_standalone = !auth.authorizer.is_delegated();
    let is_alone = store.name() != "etcd";
    let store = Arc::new(Measured::new(store, Arc::clone(&metrics)));
    let (deployments, cluster) = deployments(&args, &store, &admission, &metrics, is_alone).await?;
    let app = App::new(State {
        store,
        deployments: Arc::clone(&deployments),
        cluster,
        authenticator: auth.authenticator,
        files: auth.files,
        is_standalone,
        is_aggregated: args.auth.has(&auth::AuthenticationMethod::FrontProxy),
        aggregation: aggregation(&args.auth).await?,
        documents: Documents::new(is_standalone),
        authorizer: auth.authorizer,
        limits: args.limits,
        admission,
        metrics,
        audit,
        shutdown: shutdown.clone(),
    });
    reread(&app, args.auth.reload_grace, reload);
    let instances = tokio::spawn(instances::run(app.share(), args.instances, is_alone));
    greet(address, auth.tls.is_some(), args.logging.log_format);
    krm_template_server::serve(listener, auth.tls, app.clone(), shutdown.clone()).await;
    let changed = async {
        deployments.ended().await;
        // It returns nothing.
        let _ = instances.await;
    };
    tokio::select! {
        () = changed => {}
        () = shutdown.reached(shutdown::Phase::Ended) => {}
    }
    app.state().store.close().await;
    app.state().audit.end();
    Ok(())
}

/// Begins to follow the cluster of a kube-apiserver in front of the server, if there is one.
async fn aggregation(args: &auth::Args) -> anyhow::Result<Option<Aggregation>> {
    if !args.has(&auth::AuthenticationMethod::FrontProxy) || !args.needs_cluster() {
        return Ok(None);
    }
    let aggregation = Aggregation::start(args.kubeconfig.as_deref()).await?;
    Ok(Some(aggregation))
}

/// Checks the arguments of deployments, and tells authentication what it needs of the others.
fn checked(mut args: Serve) -> anyhow::Result<Serve> {
    args.auth.store_cas = args.store.cas();
    args.deployments.check(args.listen)?;
    args.deployments.check_sandbox()?;
    args.auth.applies = args.deployments.apply;
    Ok(args)
}

/// Connects to the cluster, if objects are applied to it.
async fn cluster(args: &Serve) -> anyhow::Result<Option<Arc<Cluster>>> {
    if !args.deployments.apply {
        return Ok(None);
    }
    let kubeconfig = args.auth.kubeconfig.as_deref();
    let client = auth::cluster::client(kubeconfig).await?;
    Ok(Some(Arc::new(Cluster::new(client))))
}

/// Sets up deployments. `is_alone` means that no other server uses the store. Also returns the
/// cluster in which instances are installed.
async fn deployments(
    args: &Serve,
    store: &Arc<Measured>,
    admission: &Admission,
    metrics: &Arc<Metrics>,
    is_alone: bool,
) -> anyhow::Result<(Arc<Deployments>, Option<Arc<Cluster>>)> {
    let cluster = cluster(args).await?;
    let deployments = Arc::new(Deployments::new(Dependencies {
        store: Arc::clone(store),
        limits: args.limits.clone(),
        admission: admission.clone(),
        metrics: Arc::clone(metrics),
        python: args.deployments.interpreters(args.limits.expansion_timeout),
        fetcher: args.deployments.fetcher()?,
        cluster: cluster.clone(),
    }));
    let recovered = deployments.recover(is_alone).await;
    recovered.context("cannot read the deployments")?;
    let of_instances = cluster.filter(|_| !args.instances.no_instances);
    Ok((deployments, of_instances))
}

/// Reads files again that change, and opens the audit log again.
fn reread(app: &App, grace: Duration, reload: shutdown::Reload) {
    let files = Arc::clone(&app.state().files);
    tokio::spawn(reload::follow(files, RELOAD, grace, reload.clone()));
    tokio::spawn(reopen(app.clone(), reload));
}

/// Opens the audit log again whenever a signal asks for it.
async fn reopen(app: App, mut reload: shutdown::Reload) {
    loop {
        reload.requested().await;
        app.state().audit.reopen();
    }
}

/// Reports the URL of the server. The text format adds commands to try.
fn greet(address: SocketAddr, is_encrypted: bool, format: logging::Format) {
    let scheme = if is_encrypted { "https" } else { "http" };
    let url = format!("{scheme}://{address}");
    if format == logging::Format::Json {
        tracing::info!(url, "serving");
        return;
    }
    // kubectl sends no token without encryption.
    let (kubectl, curl) = if is_encrypted {
        (
            " --certificate-authority CA --token TOKEN",
            " --cacert CA -H 'Authorization: Bearer TOKEN'",
        )
    } else {
        ("", "")
    };
    // The server also works without standard error.
    let _ = writeln!(
        io::stderr(),
        "krm-template-server: serving {url}\n\
         Try:\n  \
         kubectl --server {url}{kubectl} create -f examples/web/template.yaml\n  \
         kubectl --server {url}{kubectl} get tpl\n  \
         curl{curl} '{url}/templates/web/processed?output=list' -H 'Content-Type: \
         application/json' --data '{{\"values\": {{\"NAME\": \"shop\"}}}}'"
    );
}

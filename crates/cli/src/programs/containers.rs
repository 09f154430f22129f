//! The options of container functions, as kustomize has them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;

use krm_core::files;
use krm_template_composition::{Container, Mount};
use krm_template_exec::io::unreadable;
use krm_template_exec::subprocess::current_user;
use krm_yaml::diagnostic::Result;

/// The user and group `nobody` as numbers: an image may lack a file with the names.
const NOBODY: &str = "65534:65534";

/// How a mount is written.
const MOUNT: &str = "write `type=bind,src=DIR,dst=DIR`";

/// The options of container functions.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ContainerOptions {
    /// Give network access to container functions with `network: true`
    #[arg(long)]
    pub(crate) network: bool,

    /// Accepted for compatibility with kustomize, where it has no effect either: functions with a
    /// network have that of the host
    #[arg(long, value_name = "NAME", hide = true)]
    network_name: Option<String>,

    /// Mount storage into the containers of functions: `type=bind,src=DIR,dst=DIR`, with `rw=true`
    /// writable
    #[arg(long = "mount", value_name = "MOUNT", value_parser = mount)]
    mounts: Vec<String>,

    /// Set a variable in the containers of functions: `NAME=VALUE`, or `NAME` for one of this
    /// environment
    #[arg(short, long, value_name = "NAME[=VALUE]")]
    env: Vec<String>,

    /// Run container functions as the current user instead of `nobody`
    #[arg(long)]
    as_current_user: bool,
}

impl ContainerOptions {
    /// The arguments of the container engine for the network and the user of a function.
    pub(crate) fn access(&self, container: &Container) -> [String; 4] {
        let network = if container.network { "host" } else { "none" };
        let user = self.as_current_user.then(current_user).flatten();
        let user = user.unwrap_or_else(|| NOBODY.to_owned());
        ["--network".into(), network.into(), "--user".into(), user]
    }

    /// The arguments of the container engine for the storage and the environment of a function.
    ///
    /// # Errors
    /// If a mount leaves its root.
    pub(crate) fn surroundings(&self, container: &Container, roots: &Roots) -> Result<Vec<String>> {
        let mut all = Vec::new();
        let own = container.mounts.iter().map(|mount| roots.resolved(mount));
        let own = own.collect::<Result<Vec<String>>>()?;
        for mount in own.into_iter().chain(self.mounts.iter().cloned()) {
            all.extend(["--mount".to_owned(), mount]);
        }
        for variable in container.envs.iter().chain(&self.env) {
            all.extend(["--env".to_owned(), variable.clone()]);
        }
        Ok(all)
    }
}

/// The directories that bind mounts must not leave, without links, as they were before anything ran:
/// a container may replace a directory below its mount by a link.
#[derive(Default)]
pub(crate) struct Roots(RefCell<BTreeMap<String, PathBuf>>);

impl Roots {
    /// Notes the directories of a function.
    ///
    /// # Errors
    /// If one is not there.
    pub(crate) fn note(&self, container: &Container) -> Result<()> {
        for root in container.mounts.iter().flat_map(|mount| &mount.root) {
            let known = real(root)?;
            self.0.borrow_mut().entry(root.clone()).or_insert(known);
        }
        Ok(())
    }

    /// A mount as container engines read it, with the source that its links lead to now.
    fn resolved(&self, mount: &Mount) -> Result<String> {
        let Some(root) = &mount.root else {
            return Ok(spelled(mount));
        };
        let source = real(&mount.source)?;
        let target = source.display().to_string();
        let known = self.0.borrow();
        let is_below = known.get(root).is_some_and(|root| source.starts_with(root));
        if is_below && source.to_str().is_some_and(Mount::is_plain) {
            let mut mount = mount.clone();
            mount.source = target;
            return Ok(spelled(&mount));
        }
        Err(files::outside(&mount.source, root, Some(&target), "the Composition").into())
    }
}

/// A path without links.
fn real(path: &str) -> Result<PathBuf> {
    std::fs::canonicalize(path).map_err(|error| unreadable(path, &error))
}

/// The value of `--mount` as container engines read it.
fn mount(text: &str) -> std::result::Result<String, String> {
    let mut read = Mount {
        kind: "bind".to_owned(),
        source: String::new(),
        target: String::new(),
        is_writable: false,
        root: None,
    };
    for option in text.split(',') {
        let Some((key, value)) = option.split_once('=') else {
            return Err(format!("unknown option `{option}`: {MOUNT}"));
        };
        match key {
            "type" => value.clone_into(&mut read.kind),
            "src" | "source" => value.clone_into(&mut read.source),
            "dst" | "target" | "destination" => value.clone_into(&mut read.target),
            "rw" => read.is_writable = value == "true",
            _ => return Err(format!("unknown option `{key}`: {MOUNT}")),
        }
    }
    if read.target.is_empty() {
        return Err(format!("there is no `dst`: {MOUNT}"));
    }
    Ok(spelled(&read))
}

/// A mount as container engines read it. The source of a bind mount becomes absolute.
fn spelled(mount: &Mount) -> String {
    let kind = &mount.kind;
    let source = match mount.source.as_str() {
        "" => String::new(),
        source if kind == "bind" => {
            let here = std::env::current_dir().unwrap_or_default();
            format!(",source={}", here.join(source).display())
        }
        source => format!(",source={source}"),
    };
    let access = if mount.is_writable { "" } else { ",readonly" };
    format!("type={kind}{source},target={}{access}", mount.target)
}

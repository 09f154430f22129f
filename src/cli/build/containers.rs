//! The options of container functions, as kustomize has them.

use clap::Args;

use crate::composition::{Container, Mount};
use krm_template_exec::subprocess::current_user;

/// The user and group `nobody` as numbers: an image may lack a file with the names.
const NOBODY: &str = "65534:65534";

/// How a mount is written.
const MOUNT: &str = "write `type=bind,src=DIR,dst=DIR`";

/// The options of container functions.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ContainerOptions {
    /// Give network access to container functions with `network: true`
    #[arg(long)]
    pub(super) network: bool,

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
    pub(super) fn access(&self, container: &Container) -> [String; 4] {
        let network = if container.network { "host" } else { "none" };
        let user = self.as_current_user.then(current_user).flatten();
        let user = user.unwrap_or_else(|| NOBODY.to_owned());
        ["--network".into(), network.into(), "--user".into(), user]
    }

    /// The arguments of the container engine for the storage and the environment of a function.
    pub(super) fn surroundings(&self, container: &Container) -> Vec<String> {
        let mut all = Vec::new();
        let own = container.mounts.iter().map(spelled);
        for mount in own.chain(self.mounts.iter().cloned()) {
            all.extend(["--mount".to_owned(), mount]);
        }
        for variable in container.envs.iter().chain(&self.env) {
            all.extend(["--env".to_owned(), variable.clone()]);
        }
        all
    }
}

/// The value of `--mount` as container engines read it.
fn mount(text: &str) -> Result<String, String> {
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

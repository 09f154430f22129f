//! The arguments of `build`.

use clap::{Args, ValueEnum, value_parser};

use crate::args::environment::SeedScope;
use crate::args::fail_on::FailOn;
use crate::args::object_check;
use crate::output::destination::Directory;
use crate::programs::chart::HelmOptions;
use crate::programs::containers::ContainerOptions;
use krm_template_composition::Ending;
use krm_template_engine::Format;
use krm_template_exec::disk::LoadRestrictor;
use krm_template_exec::io;
#[cfg(feature = "deployment-manager")]
use krm_template_exec::python::PythonArguments;
use krm_yaml::diagnostic::{Diagnostic, Result};

/// The name and version of kustomize, as it labels objects.
const KUSTOMIZE: &str = "kustomize-v5.8.1";
/// The default time limit of a function in seconds, as in kpt.
const TIMEOUT: u64 = 300;

/// Build the resources of a Kustomization or Composition and print them
///
/// A Kustomization is built as kustomize builds it, but keeps comments and layout:
/// docs/kustomization.md. A Composition (KEP-2299) lists transformers that generate and change
/// resources in order. It can import, override and reorder the transformers of other Compositions:
/// docs/composition.md. Built-in transformers and Templates run inside this program. Nothing is
/// printed unless all transformers succeed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option, and they are independent")]
pub(crate) struct Arguments {
    /// The directory with `kustomization.yaml` or `composition.yaml`, or the file of a Composition
    #[arg(value_name = "DIR|FILE", default_value = ".")]
    path: String,

    /// Files with resources for the first transformer; `-` is standard input
    ///
    /// So it is a post-renderer of Helm. If `-` is the only argument, what is built is in the current
    /// directory. A Kustomization adds its own resources after them.
    #[arg(value_name = "RESOURCES")]
    resources: Vec<String>,

    #[command(flatten)]
    pub(super) objects: object_check::Check,

    /// Output format: `yaml`, `json`, `resourcelist` or `name`; or as in kustomize a file, or a
    /// directory for a file for each object
    ///
    /// A path has a dot or a slash, or is an existing directory. Files in it are replaced, and have the
    /// names that kustomize gives them.
    #[arg(short, long, value_name = "FORMAT|PATH", default_value = "yaml", value_parser = destination)]
    pub(super) output: Destination,

    /// Print YAML in the style of another program instead of that of the files
    ///
    /// Keys are sorted, and comments are lost.
    #[arg(long, value_name = "PROGRAM")]
    pub(super) style: Option<Style>,

    #[command(flatten)]
    pub(super) directory: Directory,

    /// Show as a unified diff what would change in this file or directory, and write nothing
    ///
    /// FILE is an earlier output of `build`, DIR an earlier `--output-dir`. A file in DIR that
    /// krm-template wrote and that no longer has an object is shown as `Only in DIR: FILE`; other
    /// files without an object are ignored. Secrets are masked, also those
    /// that parameters of Templates hold. The exit status is 0 if
    /// nothing would change, 1 if something would change, and 2 if an error occurred.
    #[arg(long, value_name = "FILE|DIR", conflicts_with = "output_dir")]
    pub(super) diff_against: Option<String>,

    /// Print the transformers after all imports and overrides, with the origin of each part as
    /// comments, and exit
    #[arg(long, conflicts_with_all = ["output", "style", "output_dir", "diff_against", "resources"])]
    pub(super) show_consolidated: bool,

    /// Print how long each transformer takes to standard error
    #[arg(long)]
    pub(super) stats: bool,

    /// Allow container functions, run by `docker`, `podman` or `nerdctl`, as user nobody and without
    /// network access unless options say otherwise
    #[arg(long)]
    pub(super) enable_alpha_plugins: bool,

    #[command(flatten)]
    pub(super) containers: ContainerOptions,

    /// Allow functions that are local executables
    #[arg(long)]
    pub(super) enable_exec: bool,

    #[command(flatten)]
    pub(super) seed_scope: SeedScope,

    #[command(flatten)]
    pub(super) helm: HelmOptions,

    /// Allow git repositories as directories of Kustomizations, for which git runs
    #[arg(long)]
    pub(super) enable_git: bool,

    /// Which files a Composition may name, as in kustomize
    #[arg(long, value_name = "RESTRICTION", default_value = "LoadRestrictionsRootOnly")]
    pub(super) load_restrictor: LoadRestrictor,

    /// Accepted for compatibility with kustomize; has no effect, because Starlark is not supported
    #[arg(long)]
    enable_star: bool,

    /// The order of the objects of a Kustomization without `sortOptions`
    #[arg(long, value_name = "ORDER", default_value = "legacy")]
    reorder: Reorder,

    /// Give all objects of a Kustomization the label `app.kubernetes.io/managed-by`
    #[arg(long, env = "KUSTOMIZE_ENABLE_MANAGEDBY_LABEL")]
    enable_managedby_label: bool,

    /// Stop a function that runs longer than this
    #[arg(long, value_name = "SECONDS", default_value_t = TIMEOUT, value_parser = value_parser!(u64).range(1..))]
    pub(super) function_timeout: u64,

    #[command(flatten)]
    pub(super) fail_on: FailOn,

    #[cfg(feature = "deployment-manager")]
    #[command(flatten)]
    pub(super) python: PythonArguments,
}

const EXAMPLES: &str = "\
Examples:
  krm-template build
  krm-template build staging | kubectl apply -f -
  krm-template build staging --output-dir out
  krm-template build staging --diff-against out
  helm template ./chart | krm-template build staging -
  krm-template build staging --show-consolidated
  krm-template build --stats --enable-exec staging/composition.yaml > resources.yaml

Environment:
  KRM_FN_RUNTIME  the container engine; by default the first found of docker, podman, nerdctl";

/// The value of `-o`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// Standard output, or what other options say.
    Format(Format),
    /// A file or a directory.
    Path(String),
}

/// The names of formats.
const FORMATS: [(&str, Format); 4] = [
    ("yaml", Format::Yaml),
    ("json", Format::Json),
    ("resourcelist", Format::ResourceList),
    ("name", Format::Name),
];

/// Reads the value of `-o`.
fn destination(text: &str) -> std::result::Result<Destination, String> {
    if let Some((_, format)) = FORMATS.iter().find(|(name, _)| *name == text) {
        return Ok(Destination::Format(*format));
    }
    if text.contains(['.', '/']) || io::is_folder(text) {
        return Ok(Destination::Path(text.to_owned()));
    }
    let names = FORMATS.map(|(name, _)| name);
    Err(format!("it is one of {}, or a path with a dot or a slash", names.join(", ")))
}

/// The value of `--style`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Style {
    /// Byte for byte as `kustomize build`
    Kustomize,
}

/// The value of `--reorder`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Reorder {
    /// By kind, so that each object comes after what it needs
    Legacy,
    /// As they were added
    None,
}

impl Arguments {
    /// How the build of a Kustomization ends.
    pub(super) fn ending(&self) -> Ending {
        Ending {
            keeps_order: self.reorder == Reorder::None,
            labels: self.enable_managedby_label,
            manager: self.style.map(|Style::Kustomize| KUSTOMIZE.to_owned()),
            ..Ending::default()
        }
    }

    /// The Composition, and the files with resources for it.
    pub(super) fn inputs(&self) -> (&str, &[String]) {
        if self.path == "-" && self.resources.is_empty() {
            return (".", std::slice::from_ref(&self.path));
        }
        (&self.path, &self.resources)
    }

    /// Whether there is a file for each object.
    pub(super) fn goes_to_folder(&self) -> bool {
        self.directory.is_wanted(self.diff_against.as_deref().into_iter().chain(self.output_path()))
    }

    /// The format of the output.
    pub(super) const fn format(&self) -> Format {
        match self.output {
            Destination::Format(format) => format,
            Destination::Path(_) => Format::Yaml,
        }
    }

    /// The path of `-o`.
    pub(super) fn output_path(&self) -> Option<&str> {
        match &self.output {
            Destination::Format(_) => None,
            Destination::Path(path) => Some(path),
        }
    }

    /// Reports invalid combinations of arguments that clap does not find.
    pub(super) fn check(&self) -> Result<()> {
        let (path, resources) = self.inputs();
        let path = path.to_owned();
        io::check_stdin(resources.iter().chain([&path]))?;
        if self.style.is_some() && self.format() != Format::Yaml {
            let error = Diagnostic::error("`--style` is a style of YAML");
            return Err(error.hint("use `-o yaml`, or leave `--style` out").into());
        }
        let is_text = matches!(self.format(), Format::Yaml | Format::Json);
        let problem = match (&self.directory.output_dir, &self.diff_against) {
            (Some(_), _) | (_, Some(_)) if self.output_path().is_some() => {
                let error = Diagnostic::error("`-o PATH` is an output of its own");
                let hint = "give a format to `-o`, or leave the other option out";
                return Err(error.hint(hint).into());
            }
            (Some(_), _) if !is_text => "`--output-dir` writes only YAML or JSON",
            (_, Some(_)) if !is_text => "`--diff-against` compares only YAML or JSON",
            _ => return Ok(()),
        };
        let error = Diagnostic::error(problem);
        Err(error.hint("use `-o yaml` or `-o json`").into())
    }
}

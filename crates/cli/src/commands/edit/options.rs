//! The options of `edit add`, `set` and `remove`, and which go with which field.

use clap::{Args, ValueEnum};

use krm_yaml::diagnostic::{Diagnostic, Result};

/// What `add` and `remove` change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum What {
    /// Files and directories in `resources`
    Resource,
    /// Directories in `resources`, as in older versions of kustomize
    #[value(hide = true)]
    Base,
    /// Directories in `components`
    Component,
    /// Files in `configurations`
    Configuration,
    /// Files in `generators`
    Generator,
    /// Files in `transformers`
    Transformer,
    /// Files in `validators`
    Validator,
    /// Words in `buildMetadata`
    #[value(name = "buildmetadata")]
    BuildMetadata,
    /// A patch in `patches`
    Patch,
    /// A generator in `configMapGenerator`
    #[value(name = "configmap")]
    ConfigMap,
    /// A generator in `secretGenerator`
    Secret,
    /// Labels in `commonLabels` or `labels`
    Label,
    /// Annotations in `commonAnnotations`
    Annotation,
}

impl What {
    /// The field, and what one of it is called.
    pub(super) const fn field(self) -> (&'static str, &'static str) {
        match self {
            Self::Resource | Self::Base => ("resources", "resource"),
            Self::Component => ("components", "component"),
            Self::Configuration => ("configurations", "configuration"),
            Self::Generator => ("generators", "generator"),
            Self::Transformer => ("transformers", "transformer"),
            Self::Validator => ("validators", "validator"),
            Self::BuildMetadata => ("buildMetadata", "buildmetadata"),
            Self::Patch => ("patches", "patch"),
            Self::ConfigMap => ("configMapGenerator", "configmap"),
            Self::Secret => ("secretGenerator", "secret"),
            Self::Label => ("commonLabels", "label"),
            Self::Annotation => ("commonAnnotations", "annotation"),
        }
    }
}

/// The options of labels.
#[derive(Args, Debug, Default)]
pub(super) struct Labels {
    /// Add the label to `labels`, which leaves selectors alone, instead of `commonLabels`
    #[arg(short = 'w', long)]
    pub(super) without_selector: bool,

    /// Also set the label in pod templates (with `labels`)
    #[arg(short = 't', long, requires = "without_selector")]
    pub(super) include_templates: bool,
}

/// The options of a patch: those of its target, and itself.
#[derive(Args, Debug, Default)]
pub(super) struct Patch {
    /// File of the patch
    #[arg(long, value_name = "FILE")]
    pub(super) path: Option<String>,

    /// Text of the patch
    #[arg(long = "patch", value_name = "TEXT", conflicts_with = "path")]
    pub(super) text: Option<String>,

    /// API group of the patch target
    #[arg(long, value_name = "GROUP")]
    pub(super) group: Option<String>,

    /// API version of the patch target
    #[arg(long, value_name = "VERSION")]
    pub(super) version: Option<String>,

    /// Kind of the patch target
    #[arg(long, value_name = "KIND")]
    pub(super) kind: Option<String>,

    /// Name of the patch target
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,

    /// Namespace of the patch target, or of the configmap or secret
    #[arg(long, value_name = "NAMESPACE")]
    pub(super) namespace: Option<String>,

    /// Label selector of the patch targets
    #[arg(long, value_name = "SELECTOR")]
    pub(super) label_selector: Option<String>,

    /// Annotation selector of the patch targets
    #[arg(long, value_name = "SELECTOR")]
    pub(super) annotation_selector: Option<String>,
}

impl Patch {
    /// The fields of the target that are given, in the order of the file.
    pub(super) fn target(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("group", &self.group),
            ("version", &self.version),
            ("kind", &self.kind),
            ("name", &self.name),
            ("namespace", &self.namespace),
            ("labelSelector", &self.label_selector),
            ("annotationSelector", &self.annotation_selector),
        ];
        let given = all.into_iter();
        let given = given.filter_map(|(field, text)| Some((field, text.as_deref()?)));
        given.filter(|(_, text)| !text.is_empty()).collect()
    }

    /// The patch itself.
    pub(super) fn body(&self) -> Option<(&'static str, &str)> {
        let path = self.path.as_deref().map(|path| ("path", path));
        path.or_else(|| Some(("patch", self.text.as_deref()?)))
    }

    /// The options of a patch that are given, apart from `--namespace`.
    pub(super) fn is_given(&self) -> bool {
        let mut target = self.target().into_iter();
        self.body().is_some() || target.any(|(field, _)| field != "namespace")
    }
}

/// The options of a generator.
#[derive(Args, Debug, Default)]
pub(super) struct Generator {
    /// Files of the configmap or secret, or patterns of files; each with its own option, or
    /// separated by commas
    #[arg(long, value_name = "[KEY=]FILE", value_delimiter = ',')]
    pub(super) from_file: Vec<String>,

    /// Value in the configmap or secret
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) from_literal: Vec<String>,

    /// File with lines KEY=VALUE for the configmap or secret
    #[arg(long, value_name = "FILE")]
    pub(super) from_env_file: Option<String>,

    /// Add no hash to the name of the configmap or secret
    #[arg(long = "disableNameSuffixHash")]
    pub(super) disable_name_suffix_hash: bool,

    /// How the configmap or secret treats one of the same name
    #[arg(long, value_name = "BEHAVIOR", value_parser = ["create", "merge", "replace"])]
    pub(super) behavior: Option<String>,

    /// Type of the secret
    #[arg(long = "type", value_name = "TYPE")]
    pub(super) secret_type: Option<String>,
}

impl Generator {
    pub(super) fn has_content(&self) -> bool {
        !self.from_file.is_empty() || !self.from_literal.is_empty() || self.from_env_file.is_some()
    }

    pub(super) fn is_given(&self) -> bool {
        self.has_content() || self.disable_name_suffix_hash || self.behavior.is_some()
    }
}

/// Options that go with some fields only: whether one is given, its name, and those fields.
pub(super) type Row<'w> = (bool, &'static str, &'w [What]);

/// Reports options that do not go with the field.
pub(super) fn check(what: What, rows: &[Row<'_>]) -> Result<()> {
    let mut wrong = rows.iter().filter(|(given, _, fields)| *given && !fields.contains(&what));
    let Some((_, options, fields)) = wrong.next() else {
        return Ok(());
    };
    let (_, name) = what.field();
    let problem = format!("{options} cannot be used with `{name}`");
    let names: Vec<String> = fields.iter().map(|one| format!("`{}`", one.field().1)).collect();
    let hint = format!("use it with {}", names.join(" or "));
    Err(Diagnostic::error(problem).hint(hint).into())
}

/// The only word; an error says what is needed.
pub(super) fn only<'w>(words: &'w [String], needed: &str) -> Result<&'w str> {
    match words {
        [one] => Ok(one),
        _ => {
            Err(Diagnostic::error(format!("expected {needed}, found {} words", words.len())).into())
        }
    }
}

/// Reports that no words were given.
pub(super) fn some(words: &[String], what: &str) -> Result<()> {
    if words.is_empty() {
        return Err(Diagnostic::error(format!("name at least one {what}")).into());
    }
    Ok(())
}

//! The options for the input of an expansion, and for its checks.

use std::sync::Arc;

use clap::Args;

use crate::cli::console::Console;
use crate::cli::disk::{Disk, LoadRestrictor};
use crate::cli::interruption::Interruption;
use crate::cli::python::PythonArguments;
use crate::cli::status::{FAILED, USAGE};
use crate::deployment_manager::error::ExpandError;
use crate::deployment_manager::expand::expand;
use crate::deployment_manager::expansion::Expansion;
use crate::deployment_manager::imports::collect;
use crate::deployment_manager::model::{Config, Env, Import, Options, Request};
use crate::deployment_manager::request::DEFAULT_NAME;
use crate::deployment_manager::{properties, request, template, yaml};
use crate::files::join;
use krm_yaml::Value;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Way};
use krm_yaml::source::Source;

/// How templates are checked and run.
#[derive(Args, Debug, Default)]
pub(super) struct Running {
    /// The name of the deployment, `env["deployment"]`; by default the name of the file
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,

    /// The project, `env["project"]`
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    /// Another variable of templates, such as `current_time`; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    env: Vec<String>,

    /// One more import, which wins over those of the configuration; NAME may be an address;
    /// repeatable
    #[arg(long = "import", value_name = "NAME=FILE")]
    imports: Vec<String>,

    /// Do not check properties against schemas, nor set defaults
    #[arg(long)]
    no_validate_schema: bool,

    /// Report types such as `int` in schemas as errors, as the original does
    #[arg(long)]
    strict_schemas: bool,

    /// Do not collect outputs, nor replace references to them
    #[arg(long)]
    no_outputs: bool,

    #[command(flatten)]
    python: PythonArguments,
}

/// The input of the expansion.
#[derive(Args, Debug)]
pub(super) struct Input {
    /// The configuration; `-` for standard input
    #[arg(value_name = "CONFIG", group = "input")]
    positional: Option<String>,

    /// The configuration, as in gcloud
    #[arg(long, value_name = "FILE", group = "input")]
    config: Option<String>,

    /// A template in Jinja or Python, to be expanded on its own
    #[arg(long, value_name = "FILE", group = "input")]
    template: Option<String>,

    /// A request in JSON: a configuration with its imports
    #[arg(long, value_name = "FILE", group = "input")]
    request: Option<String>,

    /// Properties of the template: `zone:us-central1-a,count:3`, values in YAML; repeatable
    #[arg(long, value_name = "KEY:VALUE,…")]
    properties: Vec<String>,

    /// A YAML file with properties of the template; those of `--properties` win
    #[arg(long, value_name = "FILE")]
    properties_file: Option<String>,

    #[command(flatten)]
    pub(super) running: Running,

    #[command(flatten)]
    ignored: Ignored,
}

/// Options of gcloud that are accepted without effect, so that a command line can be reused.
#[derive(Args, Debug)]
struct Ignored {
    #[arg(long, hide = true)]
    preview: bool,
    #[arg(long = "async", hide = true)]
    asynchronous: bool,
    #[arg(long, hide = true, value_name = "TEXT")]
    description: Option<String>,
    #[arg(long, hide = true, value_name = "KEY=VALUE,…")]
    labels: Option<String>,
    #[arg(long, hide = true, value_name = "TYPE")]
    composite_type: Option<String>,
}

impl Ignored {
    fn check(&self, diagnostics: &mut Diagnostics) {
        let given = [
            ("--preview", self.preview),
            ("--async", self.asynchronous),
            ("--description", self.description.is_some()),
            ("--labels", self.labels.is_some()),
        ];
        for (option, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
            let message = format!("`{option}` is ignored: nothing is deployed");
            diagnostics.push(Diagnostic::warning(message));
        }
        if self.composite_type.is_some() {
            let message = "`--composite-type` needs the service of Google, which has ended";
            let error = Diagnostic::error(message);
            diagnostics.push(error.hint("use `--template FILE` with the template of the type"));
        }
    }
}

impl Input {
    /// Expands the configuration, makes the output from the expansion, and prints all messages.
    /// Returns the exit status if there is no output.
    pub(super) fn expand<T>(
        &self,
        console: Console,
        output: impl FnOnce(&Request, Expansion<'_>, &mut Diagnostics) -> Option<T>,
    ) -> Result<T, u8> {
        let mut diagnostics = self.check();
        if diagnostics.has_errors() {
            console.report(&diagnostics);
            return Err(USAGE);
        }
        let interruption = Interruption::new();
        let made = self.read(console, &mut diagnostics).and_then(|request| {
            match self.running.expand(&request, &interruption) {
                Ok(mut expansion) => {
                    diagnostics.append(std::mem::take(&mut expansion.diagnostics));
                    output(&request, expansion, &mut diagnostics)
                }
                Err(error) => {
                    diagnostics.append(error.diagnostics);
                    None
                }
            }
        });
        diagnostics.address(Way::Arguments);
        diagnostics.dedup();
        console.report(&diagnostics);
        interruption.obey();
        made.ok_or(FAILED)
    }

    /// Errors in the combination of arguments, and warnings about those without effect.
    fn check(&self) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        self.ignored.check(&mut diagnostics);
        let has_properties = !self.properties.is_empty() || self.properties_file.is_some();
        if has_properties && self.template.is_none() {
            let error = Diagnostic::error("`--properties` is only for `--template`");
            diagnostics.push(error.hint("write the properties into the configuration"));
        }
        if let Some(path) = self
            .template
            .as_ref()
            .filter(|path| !template::is_template(path))
        {
            diagnostics.push(template::no_template(path));
        }
        let config = self.positional.as_ref().or(self.config.as_ref());
        if let Some(path) = config {
            diagnostics.append(check_config(path));
        } else if self.template.is_none() && self.request.is_none() {
            let hint =
                "name one, or `-` for standard input: `krm-template deployment expand CONFIG`";
            let error = Diagnostic::error("no configuration is given");
            diagnostics.push(error.hint(hint));
        }
        diagnostics
    }

    /// Reads the request; `None` if there was an error.
    fn read(&self, console: Console, diagnostics: &mut Diagnostics) -> Option<Request> {
        if let Some(path) = &self.request {
            let source = diagnostics.take(console.read(path))?;
            let read = request::read(&source, self.running.options());
            let request = read.map_err(|errors| diagnostics.append(errors)).ok()?;
            return self.running.complete(request, console, diagnostics);
        }
        if let Some(path) = &self.template {
            diagnostics.take(console.read(path))?;
            let disk = disk(console);
            let properties = self.read_properties(console, diagnostics)?;
            let made = template::config(path, properties, &disk);
            let config = made.map_err(|errors| diagnostics.append(errors)).ok()?;
            return self.running.request(config, path, console, diagnostics);
        }
        let path = self.positional.as_ref().or(self.config.as_ref())?;
        let config = diagnostics.take(console.read(path))?;
        self.running.request(config, path, console, diagnostics)
    }

    fn read_properties(
        &self,
        console: Console,
        diagnostics: &mut Diagnostics,
    ) -> Option<Value<'static>> {
        let mut all = Value::mapping(Vec::new());
        if let Some(path) = &self.properties_file {
            let source = diagnostics.take(console.read(path))?;
            let parsed = yaml::read(&source, diagnostics);
            let parsed = parsed.map_err(|errors| diagnostics.append(errors)).ok()?;
            // A file in which everything is commented out has no properties.
            if parsed.value.entries().is_none() && !parsed.value.is_null() {
                let found = yaml::kind_of(&parsed.value);
                let message = format!("`{path}` is a mapping of properties, found {found}");
                diagnostics.push(Diagnostic::error(message));
                return None;
            }
            if !parsed.value.is_null() {
                all = parsed.value.without_origin();
            }
        }
        for argument in &self.properties {
            let added = properties::add(argument, &mut all, diagnostics);
            diagnostics.take(added)?;
        }
        Some(all)
    }
}

/// Reads a configuration with its imports for another program, and prints what is wrong with them.
/// `imports` are as `NAME=FILE`, `env` as `KEY=VALUE`.
///
/// # Errors
/// With the exit status, if there is something wrong.
pub fn request(path: &str, imports: &[String], env: &[String]) -> Result<Request, u8> {
    let console = Console::default();
    let mut diagnostics = check_config(path);
    if diagnostics.has_errors() {
        console.report(&diagnostics);
        return Err(USAGE);
    }
    let running = Running {
        imports: imports.to_vec(),
        env: env.to_vec(),
        ..Running::default()
    };
    let config = diagnostics.take(console.read(path));
    let request =
        config.and_then(|config| running.request(config, path, console, &mut diagnostics));
    diagnostics.address(Way::Arguments);
    console.report(&diagnostics);
    request.ok_or(FAILED)
}

/// Refuses a template in place of a configuration.
pub(super) fn check_config(path: &str) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    if template::is_template(path) {
        let error = Diagnostic::error(format!("`{path}` is a template, not a configuration"));
        diagnostics.push(error.hint(format!("use `--template {path}`")));
    }
    diagnostics
}

/// The files of this machine; an import may be anywhere.
fn disk(console: Console) -> Disk {
    Disk {
        console,
        restrictor: LoadRestrictor::None,
        way_out: "",
    }
}

impl Running {
    fn options(&self) -> Options {
        Options {
            validate_schema: !self.no_validate_schema,
            strict_schemas: self.strict_schemas,
            outputs: !self.no_outputs,
        }
    }

    /// The request for a configuration from a file, with its imports.
    pub(super) fn request(
        &self,
        config: Arc<Source>,
        path: &str,
        console: Console,
        diagnostics: &mut Diagnostics,
    ) -> Option<Request> {
        let given = self.given(console, diagnostics)?;
        let directory = match path {
            "-" => ".".to_owned(),
            path => join(path, ".."),
        };
        let config = Config::new(config);
        let imports = collect(&config, &directory, &disk(console), given);
        let imports = imports.map_err(|errors| diagnostics.append(errors)).ok()?;
        let name = self.name.clone().unwrap_or_else(|| name_of(path));
        let mut env = Env::from([("deployment".to_owned(), Value::string(name.clone()))]);
        self.add_env(&mut env, diagnostics)?;
        Some(Request {
            name,
            config,
            imports,
            env,
            options: self.options(),
        })
    }

    /// Adds the values of the options to a request.
    fn complete(
        &self,
        mut request: Request,
        console: Console,
        diagnostics: &mut Diagnostics,
    ) -> Option<Request> {
        let options = self.options();
        request.options.validate_schema &= options.validate_schema;
        request.options.outputs &= options.outputs;
        if let Some(name) = &self.name {
            request.name.clone_from(name);
            let name = Value::string(name.clone());
            request.env.insert("deployment".to_owned(), name);
        }
        for import in self.given(console, diagnostics)? {
            request.imports.insert(import);
        }
        self.add_env(&mut request.env, diagnostics)?;
        Some(request)
    }

    fn add_env(&self, env: &mut Env, diagnostics: &mut Diagnostics) -> Option<()> {
        if let Some(project) = &self.project {
            env.insert("project".to_owned(), Value::string(project.clone()));
        }
        for argument in &self.env {
            let (key, value) = pair(argument, "--env", "KEY=VALUE", diagnostics)?;
            env.insert(key.to_owned(), Value::string(value.to_owned()));
        }
        Some(())
    }

    fn given(&self, console: Console, diagnostics: &mut Diagnostics) -> Option<Vec<Import>> {
        let mut imports = Vec::new();
        for argument in &self.imports {
            let (name, path) = pair(argument, "--import", "NAME=FILE", diagnostics)?;
            let content = diagnostics.take(console.read(path))?;
            // The ending decides the language.
            let path = if template::is_template(path) || !template::is_template(name) {
                path
            } else {
                name
            };
            imports.push(Import {
                name: name.to_owned(),
                path: path.to_owned(),
                content,
            });
        }
        Some(imports)
    }

    /// Expands a request, with Python if that is allowed.
    pub(super) fn expand<'r>(
        &self,
        request: &'r Request,
        interruption: &Interruption,
    ) -> Result<Expansion<'r>, ExpandError> {
        let interpreters = self.python.interpreters(interruption);
        expand(request, interpreters.interpreter().as_mut())
    }
}

/// Both sides of the last `=`, before which an address may have others.
fn pair<'a>(
    argument: &'a str,
    option: &str,
    form: &str,
    diagnostics: &mut Diagnostics,
) -> Option<(&'a str, &'a str)> {
    let parts = match option {
        "--import" => argument.rsplit_once('='),
        _ => argument.split_once('='),
    };
    if parts.is_none() {
        let message = format!("`{option} {argument}` has no `=`");
        diagnostics.push(Diagnostic::error(message).hint(format!("write `{option} {form}`")));
    }
    parts
}

/// The name of a file without its ending.
fn name_of(path: &str) -> String {
    let base = path.rsplit('/').next().unwrap_or(path);
    match base.rsplit_once('.').map_or(base, |(name, _)| name) {
        "-" | "" => DEFAULT_NAME.to_owned(),
        name => name.to_owned(),
    }
}

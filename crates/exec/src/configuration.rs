//! The options for the configuration of an expansion, and for its checks.

use std::sync::Arc;

use clap::Args;

use crate::console::Console;
use crate::disk::{Disk, LoadRestrictor, WAY_OUT};
use crate::interruption::Interruption;
use crate::python::PythonArguments;
use crate::status::{FAILED, USAGE};
use krm_core::files::join;
use krm_template_deployment_manager::error::ExpandError;
use krm_template_deployment_manager::expand::expand;
use krm_template_deployment_manager::expansion::Expansion;
use krm_template_deployment_manager::imports::collect;
use krm_template_deployment_manager::model::{Config, Env, Import, Options, Request};
use krm_template_deployment_manager::request::DEFAULT_NAME;
use krm_template_deployment_manager::template;
use krm_yaml::Value;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Way};
use krm_yaml::source::Source;

/// How templates are checked and run.
#[derive(Args, Debug, Default)]
pub struct Running {
    /// The name of the deployment, `env["deployment"]`; by default the name of the file
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

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

    /// Which files the configuration may import, as in `build`
    #[arg(long, value_name = "RESTRICTION", default_value = "LoadRestrictionsRootOnly")]
    load_restrictor: LoadRestrictor,

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

/// Reads a configuration with its imports for a program, and prints what is wrong with them.
/// `imports` are as `NAME=FILE`, `env` as `KEY=VALUE`.
///
/// # Errors
/// With the exit status, if there is something wrong.
pub fn request(
    path: &str,
    imports: &[String],
    env: &[String],
    load_restrictor: LoadRestrictor,
) -> Result<Request, u8> {
    let console = Console::default();
    let mut diagnostics = check_config(path);
    if diagnostics.has_errors() {
        console.report(&diagnostics);
        return Err(USAGE);
    }
    let running = Running {
        imports: imports.to_vec(),
        env: env.to_vec(),
        load_restrictor,
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
pub fn check_config(path: &str) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    if template::is_template(path) {
        let error = Diagnostic::error(format!("`{path}` is a template, not a configuration"));
        diagnostics.push(error.hint(format!("use `--template {path}`")));
    }
    diagnostics
}

impl Running {
    /// The files that a configuration may import.
    pub fn disk(&self, console: Console) -> Disk {
        Disk {
            console,
            restrictor: self.load_restrictor,
            owner: "the configuration",
            way_out: WAY_OUT,
            clones: None,
        }
    }

    /// The options of the expansion.
    pub fn options(&self) -> Options {
        Options {
            validate_schema: !self.no_validate_schema,
            strict_schemas: self.strict_schemas,
            outputs: !self.no_outputs,
        }
    }

    /// The request for a configuration from a file, with its imports.
    pub fn request(
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
        let imports = collect(&config, &directory, &self.disk(console), given);
        let imports = imports.map_err(|errors| diagnostics.append(errors)).ok()?;
        let name = self.name.clone().unwrap_or_else(|| name_of(path));
        let mut env = Env::from([("deployment".to_owned(), Value::string(name.clone()))]);
        self.add_env(&mut env, diagnostics)?;
        Some(Request { name, config, imports, env, options: self.options() })
    }

    /// Adds the values of the options to a request.
    pub fn complete(
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
            imports.push(Import { name: name.to_owned(), path: path.to_owned(), content });
        }
        Some(imports)
    }

    /// Expands a request, with Python if that is allowed.
    ///
    /// # Errors
    /// All errors of the expansion.
    pub fn expand<'r>(
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

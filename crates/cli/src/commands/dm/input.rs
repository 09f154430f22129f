//! The options for the input of an expansion.

use clap::Args;

use krm_template_deployment_manager::expansion::Expansion;
use krm_template_deployment_manager::model::Request;
use krm_template_deployment_manager::{properties, request, template, yaml};
use krm_template_exec::configuration::{Running, check_config};
use krm_template_exec::console::Console;
use krm_template_exec::interruption::Interruption;
use krm_template_exec::status::{FAILED, USAGE};
use krm_yaml::Value;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Way};

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
        let interruption = Interruption::listen();
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
        if let Some(path) = self.template.as_ref().filter(|path| !template::is_template(path)) {
            diagnostics.push(template::no_template(path));
        }
        let config = self.positional.as_ref().or(self.config.as_ref());
        if let Some(path) = config {
            diagnostics.append(check_config(path));
        } else if self.template.is_none() && self.request.is_none() {
            let hint = "name one, or `-` for standard input: `krm-template dm expand CONFIG`";
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
            let disk = self.running.disk(console);
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

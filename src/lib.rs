//! krm-template: a template engine for Kubernetes configuration that keeps your YAML as you wrote
//! it.
//!
//! # Data flow
//!
//! The text is the model. A [`Document`](krm_yaml::Document) is the source text and a table of byte
//! ranges. Reading turns a node into a [`Value`](krm_yaml::Value): plain data that remembers its
//! nodes. Expanding a Template changes plain data. Writing compares the data with the original
//! text, rewrites only the differences, and reads the new text again to check it. All messages are
//! [`Diagnostic`](krm_yaml::diagnostic::Diagnostic)s.
//!
//! # Layers
//!
//! The modules are crates under shorter names, which `ARCHITECTURE.md` lists. Only [`cli`] touches
//! files, the environment and the standard streams.
//!
//! # Entry points
//!
//! [`function::run`] is the KRM function, from text to text:
//!
//! ```
//! use krm_template::function::{self, Environment};
//! use krm_yaml::source::Source;
//!
//! let input = r#"apiVersion: config.kubernetes.io/v1
//! kind: ResourceList
//! items: []
//! functionConfig:
//!   apiVersion: template.krm.dev/v1alpha1
//!   kind: Template
//!   metadata:
//!     name: web
//!   parameters:
//!   - name: PORT
//!     value: "80"
//!   objects:
//!   - apiVersion: v1
//!     kind: Service
//!     metadata:
//!       name: web
//!     spec:
//!       ports:
//!       - port: $((PORT)) # a number
//! "#;
//! let output = function::run(&Source::new("stdin", input), &Environment::default());
//! assert!(!output.diagnostics.has_errors());
//! assert!(output.text().contains("    - port: 80 # a number\n"));
//! ```
//!
//! [`template::print`] expands a [`Template`](template::Template) with given values and prints
//! its objects; [`template::process`] hands them to a sink instead:
//!
//! ```
//! use std::sync::Arc;
//!
//! use krm_yaml::diagnostic::Diagnostics;
//! use krm_yaml::source::Source;
//! use krm_template::template::{self, Format, Generation, Assignment, Options, Template};
//! use krm_yaml::{Document, SharedNode};
//!
//! # fn main() -> krm_yaml::diagnostic::Result<()> {
//! let text = r#"apiVersion: template.openshift.io/v1
//! kind: Template
//! parameters:
//! - name: NAME
//!   required: true
//! objects:
//! - apiVersion: v1
//!   kind: ServiceAccount # for the pods
//!   metadata:
//!     name: "${NAME}"
//! "#;
//! let document = Arc::new(Document::parse(&Source::new("template.yaml", text))?);
//! let mut diagnostics = Diagnostics::new();
//! let root = SharedNode::roots(&document).next().expect("the text is not empty");
//! let template = Template::read(&root, &mut diagnostics).expect("it is a Template");
//! let options = Options {
//!     labels: Vec::new(),
//!     namespace: None,
//!     ignore_unknown_parameters: false,
//!     strict: false,
//!     require_name: false,
//!     inspect: None,
//!     keep_namespace: false,
//!     shows_secrets: false,
//!     budget: None,
//!     generation: Generation::Random,
//! };
//! let given = [Assignment::text("NAME", "web", "-p NAME")];
//! let printed = template::print(&template, &given, &options, Format::Yaml, &mut diagnostics);
//! assert!(!diagnostics.has_errors());
//! assert_eq!(
//!     printed.expect("there are no errors").pieces.concat(),
//!     "apiVersion: v1\nkind: ServiceAccount # for the pods\nmetadata:\n  name: \"web\"\n"
//! );
//! # Ok(())
//! # }
//! ```
//!
//! [`Parameters`](template::Parameters) are the values in one expansion.

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod testing;

pub use krm_core as krm;
pub use krm_core::{files, report, threads};
#[cfg(feature = "form")]
pub use krm_template_authoring::form;
pub use krm_template_authoring::{lint, merge, schema};
pub use krm_template_cli as cli;
pub use krm_template_composition as composition;
#[cfg(feature = "deployment-manager")]
pub use krm_template_deployment_manager as deployment_manager;
pub use krm_template_engine as template;
pub use krm_template_export as export;
pub use krm_template_function as function;

//! krm-template: a template engine for Kubernetes configuration that keeps your YAML as you wrote
//! it.
//!
//! # Data flow
//!
//! Text is the model. A [`Document`](krm_yaml::Document) is the source text and a table of byte
//! ranges. Reading makes a [`Value`](krm_yaml::Value) of a node: plain data, each part of which
//! remembers the node it came from. Expanding a Template changes plain data. Writing compares the
//! data with the text it came from, and rewrites only what differs; then it reads the new text
//! again, which must give what was meant. All there is to say on the way is a
//! [`Diagnostic`](diagnostic::Diagnostic).
//!
//! # Layers
//!
//! Each module uses those below it, never those beside it. Only [`cli`] touches files, the
//! environment and the standard streams.
//!
//! | module | what it is for |
//! |---|---|
//! | [`cli`] | arguments, files, standard streams, exit codes |
//! | [`function`], [`schema`], [`lint`] | ResourceList in, ResourceList out; the schemas of our kinds; finding mistakes in Templates |
//! | [`template`], [`report`] | expanding a Template; drawing and listing diagnostics |
//! | [`krm`] | the ResourceList, the identity of objects |
//! | [`yaml`] | a document that prints as it was read |
//! | [`files`], `suggest` | bytes to sources; "did you mean" |
//! | [`diagnostic`] | the one shape of all that is reported |
//! | [`source`] | a text with a name, and places in it |
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
//! use krm_yaml::diagnostic::Diagnostics;
//! use krm_yaml::source::Source;
//! use krm_template::template::{self, Format, Generation, Assignment, Options, Template};
//! use krm_yaml::Document;
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
//! let document = Document::parse(&Source::new("template.yaml", text))?;
//! let mut diagnostics = Diagnostics::new();
//! let root = document.roots().next().expect("the text is not empty");
//! let template = Template::read(root, &mut diagnostics).expect("it is a Template");
//! let options = Options {
//!     labels: Vec::new(),
//!     namespace: None,
//!     ignore_unknown_parameters: false,
//!     strict: false,
//!     require_name: false,
//!     inspect: None,
//!     keep_namespace: false,
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
//! [`Parameters`](template::Parameters) are the values that are in force in one expansion.

pub mod cli;
pub mod composition;
pub mod files;
pub mod function;
pub mod krm;
pub mod lint;
mod plan;
pub mod report;
pub mod schema;
pub mod template;
mod threads;

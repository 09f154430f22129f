//! `krm-template schema`: the JSON Schemas of the kinds that this program reads.

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use krm_template_exec::io;
use krm_template_exec::status::OK;

/// Print the JSON Schema of a kind
///
/// The schema is for editors and for checks of files. Without a kind, lists the kinds that have
/// one. For the schema of the values of one Template, run `krm-template parameters FILE -o schema`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The kind, such as `Template`
    #[arg(ignore_case = true)]
    kind: Option<Kind>,
}

const EXAMPLES: &str = "\
Examples:
  krm-template schema
  krm-template schema Template > template.schema.json

  # in the first line of a Template, for editors that use the YAML language server
  # yaml-language-server: $schema=template.schema.json";

/// A kind with a schema.
#[derive(Clone, Copy, Debug)]
struct Kind {
    name: &'static str,
    schema: &'static str,
}

/// The kinds, as `functionconfig/` has them.
#[rustfmt::skip]
const KINDS: &[Kind] = &[
    Kind { name: "Template", schema: include_str!("../../../../functionconfig/template.schema.json") },
    Kind { name: "TemplateInstance", schema: include_str!("../../../../functionconfig/templateinstance.schema.json") },
    Kind { name: "ParameterValues", schema: include_str!("../../../../functionconfig/parametervalues.schema.json") },
    Kind { name: "TemplateExport", schema: include_str!("../../../../functionconfig/templateexport.schema.json") },
    Kind { name: "Composition", schema: include_str!("../../../../functionconfig/composition.schema.json") },
    Kind { name: "Kustomization", schema: include_str!("../../../../functionconfig/kustomization.schema.json") },
    Kind { name: "DeploymentConfiguration", schema: include_str!("../../../../functionconfig/deploymentconfiguration.schema.json") },
];

impl ValueEnum for Kind {
    fn value_variants<'a>() -> &'a [Self] {
        KINDS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name))
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    match arguments.kind {
        Some(kind) => io::print([kind.schema])?,
        None => io::print(KINDS.iter().flat_map(|kind| [kind.name, "\n"]))?,
    }
    Ok(OK)
}

//! The one file with a Template that a command reads.

use clap::Args;

/// The file with a Template.
#[derive(Args, Debug)]
pub(super) struct TemplateFile {
    /// The YAML or JSON file with the Template; `-` for standard input
    #[arg(value_name = "FILE", required_unless_present = "filename")]
    file: Option<String>,

    /// The file with the Template, like the argument
    #[arg(short, long, value_name = "FILE", conflicts_with = "file")]
    filename: Option<String>,
}

impl TemplateFile {
    /// Its path, or `-`.
    pub(super) fn path(&self) -> &str {
        let path = self.file.as_deref().or(self.filename.as_deref());
        path.unwrap_or("-")
    }
}

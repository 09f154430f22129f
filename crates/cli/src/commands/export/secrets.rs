//! The file with the values of secrets, which only its owner can read.

use std::path::Path;

use anyhow::bail;

use krm_template_exec::staged::{Access, Staged};

/// Writes the file, in place of an older one.
pub(super) fn write(path: &str, text: &str) -> anyhow::Result<()> {
    if path == "-" {
        bail!(
            "`--secrets-to -` would write the secrets next to the Template: give the name of a file"
        );
    }
    let mut staged = Staged::default();
    staged.add(Path::new(path), text, Access::Owner)?;
    staged.commit()
}

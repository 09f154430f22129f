//! The file with the values of secrets, which only its owner can read.

use std::io::Write as _;
use std::path::Path;

use anyhow::{anyhow, bail};

use krm_template_exec::reason::reason;

/// Writes the file, in place of an older one.
pub(super) fn write(path: &str, text: &str) -> anyhow::Result<()> {
    if path == "-" {
        bail!(
            "`--secrets-to -` would write the secrets next to the Template: give the name of a file"
        );
    }
    let path = Path::new(path);
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let refuse = |error: &std::io::Error| {
        anyhow!("`{}` cannot be written: {}", path.display(), reason(error))
    };
    // A temporary file has the mode 0600.
    let file = tempfile::Builder::new()
        .prefix(".krm-template-")
        .tempfile_in(folder.unwrap_or(Path::new(".")));
    let mut file = file.map_err(|error| refuse(&error))?;
    file.write_all(text.as_bytes())
        .map_err(|error| refuse(&error))?;
    file.persist(path).map_err(|failed| refuse(&failed.error))?;
    Ok(())
}

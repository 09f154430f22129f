//! The reasons for errors of the file system.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::anyhow;

/// The reason for an error of the file system.
pub fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            "a file with this name exists".to_owned()
        }
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::StorageFull => "no space left on the device".to_owned(),
        // Omits the name of the temporary file.
        _ => match error.get_ref().and_then(std::error::Error::source) {
            Some(source) => source.to_string(),
            None => error.to_string(),
        },
    }
}

/// The error for a directory that cannot be created.
pub fn refuse_folder(folder: &Path, error: &std::io::Error) -> anyhow::Error {
    let reason = reason(error);
    anyhow!("the directory `{}` cannot be created: {reason}", folder.display())
}

//! The record of the files in a folder that this program wrote, as `sha256sum` writes it.
//!
//! A record, since an annotation on the objects would change what is applied. Files are written
//! under temporary names, and renamed when all of them are complete.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// The file in the folder.
pub(super) const NAME: &str = ".krm-template.sha256";
/// The first line of it.
const HEAD: &str = "# What `krm-template process --output-dir` wrote here.\n";
/// How long a record may be: more than a million files.
const MAX_LENGTH: u64 = 256 << 20;

/// The digest of each file, by its path in the folder, with `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    digests: BTreeMap<String, String>,
}

impl Record {
    /// The record of a folder; an empty one if there is none that can be read.
    pub(super) fn of(folder: &Path) -> Self {
        let path = folder.join(NAME);
        let is_file = std::fs::symlink_metadata(&path)
            .is_ok_and(|there| there.is_file() && there.len() <= MAX_LENGTH);
        #[expect(clippy::disallowed_methods, reason = "this is the command line")]
        let text = std::fs::read_to_string(path).ok().filter(|_| is_file);
        Self::parse(&text.unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let entries = lines.filter_map(|line| line.split_once("  "));
        Self {
            digests: entries
                .map(|(digest, path)| (path.to_owned(), digest.to_owned()))
                .collect(),
        }
    }

    /// The text of the file.
    pub(super) fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        for (path, digest) in &self.digests {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{digest}  {path}");
        }
        text
    }

    /// Whether `path` is one of the files.
    pub(super) fn knows(&self, path: &str) -> bool {
        self.digests.contains_key(path)
    }

    /// Whether `path` was written with the content that has this digest.
    pub(super) fn holds(&self, path: &str, digest: &str) -> bool {
        self.digests.get(path).is_some_and(|known| known == digest)
    }

    /// Enters a file with the digest of its content.
    pub(super) fn enter(&mut self, path: &str, digest: String) {
        self.digests.insert(path.to_owned(), digest);
    }

    /// Removes files that no longer exist.
    pub(super) fn keep(&mut self, is_there: impl Fn(&str) -> bool) {
        self.digests.retain(|path, _| is_there(path));
    }
}

/// The digest of a text.
pub(super) fn digest(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// The digest of a file, which is read in chunks.
pub(super) fn digest_of(path: &Path) -> io::Result<String> {
    let mut hasher = Hasher(Sha256::new());
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(hex(&hasher.0.finalize()))
}

struct Hasher(Sha256);

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Record, digest};

    #[test]
    fn a_record_reads_back_and_tells_its_files_from_others() {
        let mut record = Record::default();
        record.enter("ns/a  b.yaml", digest("a\n"));
        record.enter("c.yaml", digest(""));
        let read = Record::parse(&record.text());
        assert_eq!(read, record);
        assert!(read.holds("ns/a  b.yaml", &digest("a\n")));
        assert!(!read.holds("ns/a  b.yaml", &digest("changed")));
        assert!(!read.knows("d.yaml"));
    }

    #[test]
    fn what_is_not_a_record_knows_no_files() {
        for text in ["", "# only\n", "\u{0}\u{1}", "one\ntwo three\n"] {
            assert_eq!(Record::parse(text), Record::default(), "{text:?}");
        }
    }
}

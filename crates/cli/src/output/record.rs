//! The record of the files in a folder that this program wrote, as `sha256sum` writes it.
//!
//! A record, since an annotation on the objects would change what is applied. Files are written
//! under temporary names, and renamed when all of them are complete.
//!
//! The record may be in a repository that the files with secrets are not in, and the digest of such
//! a file would confirm guesses of a short secret. Its digest is therefore salted. The salt is in a
//! file for the owner only, who can read the secrets anyway; without it, such a file is replaced
//! only if asked. Leaving digests out would do that at each change of a secret.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::Path;

use anyhow::anyhow;
use krm_core::visible::hex;
use sha2::{Digest as _, Sha256};

/// The file in the folder.
pub(crate) const NAME: &str = ".krm-template.sha256";
/// The file with the salt.
pub(crate) const SALT: &str = ".krm-template.salt";
/// The first line of the record.
const HEAD: &str = "# Written by krm-template with --output-dir.\n";
/// Begins the line of a salted digest, which is a comment for `sha256sum`.
const SALTED: &str = "# salted ";
/// How long a record may be: more than a million files.
const MAX_LENGTH: u64 = 256 << 20;

/// The digest of each file, by its path in the folder, with `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    digests: BTreeMap<String, Recorded>,
    /// Random digits; empty if there are none.
    salt: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Recorded {
    digest: String,
    is_salted: bool,
}

/// The state of a file according to a record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Knowledge {
    /// The file is not in it.
    Nothing,
    /// The salt of its digest is missing.
    NoSalt,
    /// The file has the recorded content.
    Same,
    /// It has other content.
    Changed,
}

impl Record {
    /// The record of a folder; an empty one if there is none that can be read.
    pub(crate) fn of(folder: &Path) -> Self {
        let salt = read(&folder.join(SALT)).trim_end().to_owned();
        Self::parse(&read(&folder.join(NAME)), salt)
    }

    fn parse(text: &str, salt: String) -> Self {
        let entries = text.lines().filter_map(|line| {
            let salted = line.strip_prefix(SALTED);
            let entry = salted.or(Some(line).filter(|line| !line.starts_with('#')));
            let (digest, path) = entry?.split_once("  ")?;
            let recorded = Recorded { digest: digest.to_owned(), is_salted: salted.is_some() };
            Some((path.to_owned(), recorded))
        });
        Self { digests: entries.collect(), salt }
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        for (path, recorded) in &self.digests {
            let start = if recorded.is_salted { SALTED } else { "" };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{start}{}  {path}", recorded.digest);
        }
        text
    }

    /// The text of the file with the salt.
    pub(crate) fn salt(&self) -> String {
        format!("{}\n", self.salt)
    }

    /// Makes the salt if there is none.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub(crate) fn add_salt(&mut self) -> anyhow::Result<()> {
        if self.salt.is_empty() {
            let mut bytes = [0; 32];
            getrandom::fill(&mut bytes)
                .map_err(|error| anyhow!("the system has no random numbers: {error}"))?;
            self.salt = hex(&bytes);
        }
        Ok(())
    }

    /// The state of the file `name` with the content of `path`.
    pub(crate) fn look_up(&self, name: &str, path: &Path) -> io::Result<Knowledge> {
        let Some(recorded) = self.digests.get(name) else {
            return Ok(Knowledge::Nothing);
        };
        if recorded.is_salted && self.salt.is_empty() {
            return Ok(Knowledge::NoSalt);
        }
        let found = digest_of(path, &self.start(name, recorded.is_salted))?;
        Ok(if found == recorded.digest { Knowledge::Same } else { Knowledge::Changed })
    }

    /// Enters a file with the digest of its content.
    pub(crate) fn enter(&mut self, path: &str, text: &str, is_secret: bool) {
        let recorded =
            Recorded { digest: digest(text, &self.start(path, is_secret)), is_salted: is_secret };
        self.digests.insert(path.to_owned(), recorded);
    }

    /// The paths of the files, in alphabetical order.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.digests.keys().map(String::as_str)
    }

    /// Removes files that no longer exist.
    pub(crate) fn keep(&mut self, is_there: impl Fn(&str) -> bool) {
        self.digests.retain(|path, _| is_there(path));
    }

    /// The text before the content of a file in its digest. With the path, equal secrets differ.
    fn start(&self, path: &str, is_salted: bool) -> String {
        if is_salted { format!("{} {path}\n", self.salt) } else { String::new() }
    }
}

/// The text of a file; nothing if it cannot be read.
#[expect(clippy::disallowed_methods, reason = "this is the command line")]
fn read(path: &Path) -> String {
    let is_file = std::fs::symlink_metadata(path)
        .is_ok_and(|there| there.is_file() && there.len() <= MAX_LENGTH);
    let text = is_file.then(|| std::fs::read_to_string(path).ok());
    text.flatten().unwrap_or_default()
}

/// Whether a file has this content.
pub(crate) fn holds(path: &Path, text: &str) -> io::Result<bool> {
    Ok(digest_of(path, "")? == digest(text, ""))
}

/// The digest of `start` and a text.
fn digest(text: &str, start: &str) -> String {
    hex(&Sha256::new_with_prefix(start).chain_update(text).finalize())
}

/// The digest of `start` and a file, which is read in chunks.
fn digest_of(path: &Path, start: &str) -> io::Result<String> {
    let mut hasher = Hasher(Sha256::new_with_prefix(start));
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

#[cfg(test)]
mod tests {
    use super::{Knowledge, Record, digest};

    #[test]
    fn a_record_reads_back_and_tells_its_files_from_others() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "a\n").unwrap();
        let mut record = Record::default();
        record.add_salt().unwrap();
        record.enter("ns/a  b.yaml", "a\n", false);
        record.enter("c.yaml", "", false);
        record.enter("secret.yaml", "a\n", true);
        let read = Record::parse(&record.text(), record.salt.clone());
        assert_eq!(read, record);
        for (name, expected) in [
            ("ns/a  b.yaml", Knowledge::Same),
            ("secret.yaml", Knowledge::Same),
            ("c.yaml", Knowledge::Changed),
            ("d.yaml", Knowledge::Nothing),
        ] {
            assert_eq!(read.look_up(name, &file).unwrap(), expected, "{name}");
        }
        let without_salt = Record::parse(&record.text(), String::new());
        let found = without_salt.look_up("secret.yaml", &file).unwrap();
        assert_eq!(found, Knowledge::NoSalt);
    }

    #[test]
    fn digests_of_secrets_confirm_no_guess() {
        let record = |path: &str| {
            let mut record = Record::default();
            record.add_salt().unwrap();
            record.enter(path, "password\n", true);
            record.text()
        };
        let (first, second) = (record("a"), record("a"));
        assert!(!first.contains(&digest("password\n", "")), "{first}");
        assert_ne!(first, second);
    }

    #[test]
    fn what_is_not_a_record_knows_no_files() {
        for text in ["", "# only\n", "\u{0}\u{1}", "one\ntwo three\n"] {
            let record = Record::parse(text, String::new());
            assert_eq!(record, Record::default(), "{text:?}");
        }
    }
}

//! Static tokens and their users, from a file.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::request::{AUTHENTICATED, User};
use crate::reload::{Content, Watched};

/// The prefix of a token that is given as its SHA-256.
const HASHED: &str = "sha256:";

/// Users by the SHA-256 of their tokens.
#[derive(Default)]
pub struct Tokens(Vec<([u8; 32], User)>);

impl Tokens {
    /// Opens a token file, which is reread when it changes.
    ///
    /// # Errors
    /// The same as [`parse`](Self::parse), and if the file cannot be read.
    pub fn open(path: PathBuf) -> anyhow::Result<Arc<Watched<Self>>> {
        Watched::open("--auth tokens", vec![path], |contents: &[Content]| {
            let [content] = contents else { bail!("expected one file") };
            Self::parse(&content.bytes).with_context(|| content.path.display().to_string())
        })
    }

    /// Parses kube-apiserver's CSV format: token, user, uid, and optionally `"group1,group2"`.
    ///
    /// A token may be written as `sha256:HEX`. The last user of a repeated token wins.
    ///
    /// # Errors
    /// If a record is malformed. The error has the line number, but no token.
    pub fn parse(csv: &[u8]) -> anyhow::Result<Self> {
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(csv);
        let mut tokens = Vec::new();
        for record in reader.byte_records() {
            let record = record.context("cannot read the file of tokens")?;
            let line = record.position().map_or(0, csv::Position::line);
            if let Some(token) = read_record(&record).with_context(|| format!("line {line}"))? {
                tokens.push(token);
            }
        }
        Ok(Self(tokens))
    }

    /// Returns the user of a token. The time does not depend on whether and where the file has the
    /// token.
    pub fn user(&self, token: &str) -> Option<&User> {
        let digest: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        self.0.iter().fold(
            None,
            |found, (known, user)| {
                if bool::from(known.ct_eq(&digest)) { Some(user) } else { found }
            },
        )
    }

    /// Returns `true` if a user of an earlier request is still there, with all groups of then.
    pub fn has(&self, user: &User) -> bool {
        self.0.iter().any(|(_, known)| {
            let mut groups = user.groups.iter();
            known.name == user.name
                && (user.uid.is_empty() || user.uid == known.uid)
                && groups.all(|group| group == AUTHENTICATED || known.is_in(group))
        })
    }
}

/// Parses a record. It returns `None` for an empty token, which kube-apiserver skips, too.
fn read_record(record: &csv::ByteRecord) -> anyhow::Result<Option<([u8; 32], User)>> {
    let mut fields = Vec::new();
    for field in record {
        let field = std::str::from_utf8(field).ok().context("the line is not UTF-8")?;
        if field.chars().any(char::is_control) {
            bail!("a field has a line break or a control character: is a quote missing?");
        }
        fields.push(field);
    }
    let [token, name, uid, rest @ ..] = fields.as_slice() else {
        bail!("expected token, user name, uid and maybe groups, found {} fields", fields.len());
    };
    if token.is_empty() {
        return Ok(None);
    }
    if name.is_empty() {
        bail!("the user name is empty");
    }
    let digest = match token.strip_prefix(HASHED) {
        Some(hex) => from_hex(hex).context("expected 64 hexadecimal digits after `sha256:`")?,
        None => Sha256::digest(token.as_bytes()).into(),
    };
    let groups = match rest.first() {
        Some(groups) if !groups.is_empty() => groups.split(',').map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let user = User { name: (*name).to_owned(), uid: (*uid).to_owned(), groups, ..User::default() };
    Ok(Some((digest, user)))
}

fn from_hex(hex: &str) -> Option<[u8; 32]> {
    let digits: Vec<u8> =
        hex.chars().map(|digit| digit.to_digit(16)?.try_into().ok()).collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(high << 4 | low),
            _ => None,
        })
        .collect::<Option<_>>()?;
    bytes.try_into().ok()
}

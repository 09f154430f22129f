//! Tokens in a file, with the users they belong to.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::request::User;
use crate::reload::{Content, Watched};

/// How a line says that it has the token's SHA-256 in place of the token.
const HASHED: &str = "sha256:";

/// Users by their tokens, of which only the SHA-256 is kept.
#[derive(Default)]
pub struct Tokens(Vec<([u8; 32], User)>);

impl Tokens {
    /// A file of tokens that is reread.
    ///
    /// # Errors
    /// If it cannot be read, or as [`parse`](Self::parse).
    pub fn open(path: PathBuf) -> anyhow::Result<Arc<Watched<Self>>> {
        Watched::open(vec![path], |contents: &[Content]| {
            let [content] = contents else {
                bail!("expected one file")
            };
            Self::parse(&content.bytes).with_context(|| content.path.display().to_string())
        })
    }

    /// Reads kube-apiserver's CSV of static tokens: token, user, uid, and `"group1,group2"` if
    /// there are groups. In place of a token, `sha256:HEX` may stand. A token that comes twice
    /// belongs to the last user with it.
    ///
    /// # Errors
    /// If a record is not such a line; the error names the line and no token.
    pub fn parse(csv: &[u8]) -> anyhow::Result<Self> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(csv);
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

    /// The user of a token. Takes the same time whether and where the token is in the file.
    #[must_use]
    pub fn user(&self, token: &str) -> Option<&User> {
        let digest: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        self.0.iter().fold(None, |found, (known, user)| {
            if bool::from(known.ct_eq(&digest)) {
                Some(user)
            } else {
                found
            }
        })
    }
}

/// A line; `None` if its token is empty, which kube-apiserver leaves out as well.
fn read_record(record: &csv::ByteRecord) -> anyhow::Result<Option<([u8; 32], User)>> {
    let mut fields = Vec::new();
    for field in record {
        let field = std::str::from_utf8(field)
            .ok()
            .context("the line is not UTF-8")?;
        if field.chars().any(char::is_control) {
            bail!("a field has a line break or a control character: is a quote missing?");
        }
        fields.push(field);
    }
    let [token, name, uid, rest @ ..] = fields.as_slice() else {
        bail!(
            "expected token, user name, uid and maybe groups, found {} fields",
            fields.len()
        );
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
    let user = User {
        name: (*name).to_owned(),
        uid: (*uid).to_owned(),
        groups,
        ..User::default()
    };
    Ok(Some((digest, user)))
}

fn from_hex(hex: &str) -> Option<[u8; 32]> {
    let digits: Vec<u8> = hex
        .chars()
        .map(|digit| digit.to_digit(16)?.try_into().ok())
        .collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(high << 4 | low),
            _ => None,
        })
        .collect::<Option<_>>()?;
    bytes.try_into().ok()
}

//! What a form sent.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use multer::{Constraints, Multipart, SizeLimit};

use super::super::incoming::Incoming;
use crate::status::{Result, Status};

/// The most fields of one form.
const MAX_FIELDS: usize = 20_000;

/// What a form sent.
#[derive(Debug, Default)]
pub(super) struct Entered {
    fields: Vec<(String, String)>,
    files: Vec<(String, Bytes)>,
}

impl Entered {
    /// Reads the body of a request.
    pub(super) async fn read(incoming: &Incoming, body: Bytes) -> Result<Self> {
        let content_type = incoming.header(CONTENT_TYPE).unwrap_or_default();
        let kind = content_type.split(';').next().unwrap_or_default().trim();
        match kind.to_ascii_lowercase().as_str() {
            "multipart/form-data" => Self::multipart(content_type, body).await,
            "application/x-www-form-urlencoded" => Self::urlencoded(&body),
            _ => Err(Status::new(
                415,
                "UnsupportedMediaType",
                "a form must be application/x-www-form-urlencoded or multipart/form-data",
            )),
        }
    }

    fn urlencoded(body: &[u8]) -> Result<Self> {
        let mut entered = Self::default();
        for (name, value) in form_urlencoded::parse(body) {
            entered.check()?;
            entered.add(name.into_owned(), &value);
        }
        Ok(entered)
    }

    async fn multipart(content_type: &str, body: Bytes) -> Result<Self> {
        let wrong = |error: multer::Error| Status::bad_request(format!("the form: {error}"));
        let boundary = multer::parse_boundary(content_type).map_err(wrong)?;
        let size = SizeLimit::new().whole_stream(body.len() as u64 + 1);
        let constraints = Constraints::new().size_limit(size);
        let body = stream::iter([Ok::<_, Infallible>(body)]);
        let mut parts = Multipart::with_constraints(body, boundary, constraints);
        let mut entered = Self::default();
        while let Some(part) = parts.next_field().await.map_err(wrong)? {
            entered.check()?;
            let name = part.name().unwrap_or_default().to_owned();
            let is_file = part.file_name().is_some();
            let bytes = part.bytes().await.map_err(wrong)?;
            if is_file {
                if !bytes.is_empty() {
                    entered.files.push((name, bytes));
                }
            } else {
                let text = std::str::from_utf8(&bytes);
                let text = text.map_err(|_| Status::bad_request("the form is not UTF-8 text"))?;
                entered.add(name, text);
            }
        }
        Ok(entered)
    }

    fn check(&self) -> Result<()> {
        if self.fields.len() + self.files.len() < MAX_FIELDS {
            return Ok(());
        }
        let message = format!("the form has more than {MAX_FIELDS} fields");
        Err(Status::bad_request(message))
    }

    /// Adds a field. Browsers send each line break as CR LF.
    fn add(&mut self, name: String, value: &str) {
        self.fields.push((name, value.replace("\r\n", "\n")));
    }

    /// The last value of a field.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter().rev();
        fields
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The last value of a field; empty if there is none.
    pub(super) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// The bytes of a file.
    pub(super) fn file(&self, name: &str) -> Option<&Bytes> {
        let mut files = self.files.iter();
        files
            .find(|(known, _)| known == name)
            .map(|(_, bytes)| bytes)
    }

    /// All fields.
    pub(super) fn fields(&self) -> &[(String, String)] {
        &self.fields
    }
}

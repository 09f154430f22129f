//! The data of submitted forms, within limits.

use std::collections::BTreeMap;
use std::convert::Infallible;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::{FutureExt as _, stream};
use http::header::CONTENT_TYPE;
use multer::{Constraints, Multipart, SizeLimit};

use crate::api::Incoming;
use krm_template_server_core::{Result, Status};

/// The maximum number of fields in a form.
const MAX_FIELDS: usize = 20_000;

/// Submitted form data. If several fields have the same name, the last one wins.
#[derive(Debug, Default)]
pub(super) struct Entered {
    fields: BTreeMap<String, String>,
    /// The file from the upload page.
    file: Option<Bytes>,
}

impl Entered {
    /// Parses the body of a request.
    pub(super) fn read(incoming: &Incoming, body: Bytes) -> Result<Self> {
        let content_type = incoming.header(CONTENT_TYPE).unwrap_or_default();
        let kind = content_type.split(';').next().unwrap_or_default().trim();
        match kind.to_ascii_lowercase().as_str() {
            "multipart/form-data" => {
                // The whole body is there, so this does not wait.
                let read = Self::multipart(content_type, body).now_or_never();
                read.unwrap_or_else(|| Err(Status::internal("the form cannot be read")))
            }
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
        for (index, (name, value)) in form_urlencoded::parse(body).enumerate() {
            check(index)?;
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
        let mut count = 0;
        while let Some(part) = parts.next_field().await.map_err(wrong)? {
            check(count)?;
            count += 1;
            let name = part.name().unwrap_or_default().to_owned();
            let is_file = part.file_name().is_some();
            let bytes = part.bytes().await.map_err(wrong)?;
            if is_file {
                entered.add_file(&name, bytes);
            } else {
                let text = std::str::from_utf8(&bytes);
                let text = text.map_err(|_| Status::bad_request("the form is not UTF-8 text"))?;
                entered.add(name, text);
            }
        }
        Ok(entered)
    }

    /// Adds a field. Browsers send each line break as CR LF.
    fn add(&mut self, name: String, value: &str) {
        self.fields.insert(name, value.replace("\r\n", "\n"));
    }

    /// Adds a file. The file of a parameter replaces its text field, which precedes the file in the
    /// form. Browsers send an empty file if none is selected.
    fn add_file(&mut self, name: &str, bytes: Bytes) {
        if bytes.is_empty() {
            return;
        }
        if let Some(parameter) = name.strip_prefix("f.") {
            let value = STANDARD.encode(bytes);
            self.fields.insert(format!("p.{parameter}"), value);
        } else if name == "file" {
            self.file = Some(bytes);
        }
    }

    /// Returns the value of a field.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }

    /// Returns the value of a field; empty if it is missing.
    pub(super) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// Returns the file from the upload page.
    pub(super) fn file(&self) -> Option<&Bytes> {
        self.file.as_ref()
    }

    /// Returns the names and values of the parameters.
    pub(super) fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        let fields = self.fields.iter();
        fields.filter_map(|(name, value)| Some((name.strip_prefix("p.")?, value.as_str())))
    }

    /// Returns the size of the form if it is submitted without files, in bytes.
    pub(super) fn encoded_length(&self) -> usize {
        let kept = self.kept();
        let texts = kept.iter().flat_map(|(name, value)| [name, value]);
        let parts = texts.flat_map(|text| form_urlencoded::byte_serialize(text.as_bytes()));
        parts.map(str::len).sum::<usize>() + 2 * kept.len()
    }

    /// Returns the fields that a form without files can submit again. The login is left out.
    pub(super) fn kept(&self) -> Vec<(String, String)> {
        let mut kept = self.fields.clone();
        kept.remove("token");
        kept.remove("next");
        let file = self.file.as_deref().map(std::str::from_utf8);
        if let Some(Ok(text)) = file {
            kept.insert("text".to_owned(), text.to_owned());
        }
        kept.into_iter().collect()
    }
}

/// Checks that the form may have another field after `count` fields.
fn check(count: usize) -> Result<()> {
    if count < MAX_FIELDS {
        return Ok(());
    }
    let message = format!("the form has more than {MAX_FIELDS} fields");
    Err(Status::bad_request(message))
}

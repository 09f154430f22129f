//! Fetches the templates of types that are URLs, with their schemas.

use std::collections::VecDeque;
use std::sync::Arc;

use krm_template_deployment_manager::imports::MAX_FILES;
use krm_template_deployment_manager::model::{Import, Request};
use krm_template_deployment_manager::template::is_template;
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys, Value, diagnostic::Diagnostics};

use super::web::{Host, Web};
use krm_template_server_core::{Cause, Details, Result, Status};

/// The maximum number of files that an expansion fetches.
const MAX_COUNT: usize = 100;

/// A fetcher of files from allowed hosts.
pub struct Fetcher {
    pub(super) web: Web,
}

struct Wanted {
    /// The name of the import.
    name: String,
    address: String,
    /// Whether it is the schema of a template, which need not exist.
    is_schema: bool,
}

impl Fetcher {
    /// Creates a fetcher for these hosts.
    ///
    /// # Errors
    ///
    /// If the system has no certificate authorities.
    pub fn new(hosts: &[Host]) -> anyhow::Result<Self> {
        let web = Web::new(hosts)?;
        Ok(Self { web })
    }

    /// Returns `true` if a type is the URL of a template on an allowed host.
    pub(super) fn is_wanted(&self, kind: &str) -> bool {
        is_template(kind) && self.web.allows(kind)
    }

    /// Adds templates to the imports, with their schemas and the imports of the schemas. `fetched`
    /// counts the files of this expansion.
    ///
    /// # Errors
    ///
    /// 400 if a file cannot be read, or if there are too many.
    pub(super) async fn add(
        &self,
        request: &mut Request,
        templates: impl IntoIterator<Item = String>,
        fetched: &mut usize,
    ) -> Result<()> {
        let mut waiting: VecDeque<Wanted> = VecDeque::new();
        for address in templates {
            waiting.push_back(Wanted { name: address.clone(), address, is_schema: false });
        }
        let sizes = request.imports.iter().map(|one| one.content.text().len());
        let mut bytes: usize = sizes.sum();
        while let Some(wanted) = waiting.pop_front() {
            if request.imports.get(&wanted.name).is_some() {
                continue;
            }
            *fetched += 1;
            if *fetched > MAX_COUNT {
                return Err(failed(&wanted, &format!("more than {MAX_COUNT} files")));
            }
            let Some(text) = self.read(&wanted).await? else {
                continue;
            };
            bytes = bytes.saturating_add(text.len());
            if bytes > MAX_FILES {
                return Err(failed(&wanted, "all imports together are too large"));
            }
            let content = Source::new(wanted.address.clone(), text);
            if is_template(&wanted.address) {
                waiting.push_back(Wanted {
                    name: format!("{}.schema", wanted.name),
                    address: format!("{}.schema", wanted.address),
                    is_schema: true,
                });
            } else if wanted.is_schema {
                waiting.extend(imports(&wanted.address, &content));
            }
            request.imports.insert(Import { name: wanted.name, path: wanted.address, content });
        }
        Ok(())
    }

    async fn read(&self, wanted: &Wanted) -> Result<Option<String>> {
        match self.web.read(&wanted.address).await {
            Ok(None) if !wanted.is_schema => Err(failed(wanted, "the host does not have it")),
            Ok(text) => Ok(text),
            Err(error) => Err(failed(wanted, &format!("{error:#}"))),
        }
    }
}

/// Returns the imports of a schema. Their paths are relative to its URL.
fn imports(schema: &str, content: &Arc<Source>) -> Vec<Wanted> {
    let Ok(document) = Document::parse(content) else {
        // The expansion reports the error.
        return Vec::new();
    };
    let root = document.roots().next().and_then(|root| root.get("imports"));
    let list = root.and_then(|list| list.value(DuplicateKeys::Refuse, &mut Diagnostics::default()));
    let items = list.as_ref().and_then(Value::items).unwrap_or_default();
    let paths = items.iter().filter_map(|item| {
        let path = item.str_at(&["path"])?;
        Some(Wanted {
            name: item.str_at(&["name"]).unwrap_or(path).to_owned(),
            address: relative(schema, path),
            is_schema: false,
        })
    });
    paths.collect()
}

/// Resolves a path relative to the URL `base`.
fn relative(base: &str, path: &str) -> String {
    if path.contains("://") {
        return path.to_owned();
    }
    let (host, inside) = match base.split_once("://") {
        Some((scheme, rest)) => {
            let end = rest.find('/').map_or(base.len(), |at| scheme.len() + 3 + at);
            base.split_at_checked(end).unwrap_or((base, ""))
        }
        None => ("", base),
    };
    let folder = inside.rsplit_once('/').map_or("", |(folder, _)| folder);
    let folder = if path.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("{host}/{}", parts.join("/"))
}

/// Returns a 400: a file cannot be fetched.
fn failed(wanted: &Wanted, why: &str) -> Box<Status> {
    let message = format!("{} cannot be fetched: {why}", wanted.address);
    let cause = Cause::new("FieldValueInvalid", "imports", message.clone());
    Status::bad_request(message).with(Details { causes: vec![cause], ..Details::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_address_of_their_file() {
        let schema = "https://example.com/a/b/vm.jinja.schema";
        for (path, expected) in [
            ("disk.jinja", "https://example.com/a/b/disk.jinja"),
            ("./c/disk.jinja", "https://example.com/a/b/c/disk.jinja"),
            ("../disk.jinja", "https://example.com/a/disk.jinja"),
            ("../../../../disk.jinja", "https://example.com/disk.jinja"),
            ("/disk.jinja", "https://example.com/disk.jinja"),
            ("https://other.com/disk.jinja", "https://other.com/disk.jinja"),
        ] {
            assert_eq!(relative(schema, path), expected);
        }
    }
}

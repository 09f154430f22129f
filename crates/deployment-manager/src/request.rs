//! Reads a request: a configuration with its imports, in one file.

use std::sync::Arc;

use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys, Value};

use crate::model::{Config, Env, Import, Imports, Options, Request};
use crate::yaml::kind_of;

/// The name of a deployment that has none.
pub const DEFAULT_NAME: &str = "deployment";

/// Reads `{name, content, imports: [{name, path, content}], env, validateSchema, strictSchemas,
/// outputs}`, or `{config, imports: {NAME: {path, content}}, env, validate_schema, strict_schemas,
/// outputs}`, where an import may also be its content. `options` are those of fields that are
/// missing.
///
/// # Errors
/// If it is neither.
pub fn read(source: &Arc<Source>, options: Options) -> Result<Request, Diagnostics> {
    let document = Document::parse(source)?;
    let mut diagnostics = Diagnostics::new();
    let root = document.roots().next();
    let Some(root) = root else {
        return Err(Diagnostic::error(format!("`{}` is empty", source.name())).into());
    };
    let Some(value) = root.value(DuplicateKeys::Refuse, &mut diagnostics) else {
        return Err(diagnostics);
    };
    of_value(&value.into_owned(), options).map_err(|error| match error.place {
        None => (*error).at(root.place()).into(),
        Some(_) => error.into(),
    })
}

/// The request that a value is.
///
/// # Errors
/// If the value is not a request.
pub fn of_value(value: &Value<'static>, options: Options) -> Result<Request> {
    let name = text(value, "name")?;
    let content = match text(value, "content")? {
        Some(content) => Some(content),
        None => text(value, "config")?,
    };
    let Some(content) = content else {
        return Err(Diagnostic::error("a request has no `content`")
            .hint("write `{\"name\": NAME, \"content\": CONFIGURATION, \"imports\": []}`")
            .into());
    };
    let mut env = match value.get("env") {
        None => Env::new(),
        Some(env) if env.is_null() => Env::new(),
        Some(env) => {
            let entries = env.entries().ok_or_else(|| wrong("env", "a mapping", env))?;
            let entries = entries.iter();
            entries.map(|(key, value)| (key.to_string(), value.clone())).collect()
        }
    };
    if let Some(name) = name {
        let deployment = || Value::string(name.to_owned());
        env.entry("deployment".to_owned()).or_insert_with(deployment);
    }
    let deployment = env.get("deployment").and_then(Value::as_str);
    Ok(Request {
        name: name.or(deployment).unwrap_or(DEFAULT_NAME).to_owned(),
        config: Config::new(Source::new("config", content)),
        imports: imports(value.get("imports"))?,
        env,
        options: Options {
            validate_schema: flag(value, ["validateSchema", "validate_schema"])?
                .unwrap_or(options.validate_schema),
            strict_schemas: flag(value, ["strictSchemas", "strict_schemas"])?
                .unwrap_or(options.strict_schemas),
            outputs: flag(value, ["outputs", "outputs"])?.unwrap_or(options.outputs),
        },
    })
}

fn wrong(field: &str, wanted: &str, found: &Value<'_>) -> Box<Diagnostic> {
    let message = format!("`{field}` is {wanted}, found {}", kind_of(found));
    Diagnostic::error(message).field(field).into()
}

fn text<'v>(value: &'v Value<'static>, field: &str) -> Result<Option<&'v str>> {
    match value.get(field) {
        None => Ok(None),
        Some(found) => match found.as_str() {
            Some(text) => Ok(Some(text)),
            None => Err(wrong(field, "a string", found)),
        },
    }
}

fn flag(value: &Value<'static>, fields: [&str; 2]) -> Result<Option<bool>> {
    use krm_yaml::{Data, Scalar};
    let found = fields.into_iter().find_map(|field| Some((field, value.get(field)?)));
    match found {
        None => Ok(None),
        Some((field, found)) => match &found.data {
            Data::Scalar(Scalar::Bool(flag)) => Ok(Some(*flag)),
            _ => Err(wrong(field, "`true` or `false`", found)),
        },
    }
}

fn imports(value: Option<&Value<'static>>) -> Result<Imports> {
    let mut imports = Imports::default();
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return Ok(imports);
    };
    if let Some(items) = value.items() {
        for item in items {
            let name = text(item, "name")?.or(text(item, "path")?);
            let name = name.ok_or_else(|| Diagnostic::error("an import has no `name`"))?;
            imports.insert(import(name, item)?);
        }
        return Ok(imports);
    }
    let entries = value.entries().ok_or_else(|| wrong("imports", "a list", value))?;
    for (name, item) in entries {
        imports.insert(import(name, item)?);
    }
    Ok(imports)
}

fn import(name: &str, value: &Value<'static>) -> Result<Import> {
    let path = text(value, "path")?.unwrap_or(name);
    let content = match value.as_str() {
        Some(content) => Some(content),
        None => text(value, "content")?,
    };
    let content =
        content.ok_or_else(|| Diagnostic::error(format!("import `{name}` has no `content`")))?;
    Ok(Import { name: name.to_owned(), path: path.to_owned(), content: Source::new(path, content) })
}

//! The minijinja environment of an expansion: loader, limits, formatter.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::{fmt, io};

use krm_yaml::source::{Place, Source};
use minijinja::{AutoEscape, Environment, Error, ErrorKind};

use super::print::{self, MAX_TEXT};
use super::rewrite::{Refused, rewrite};
use super::{checks, filters, globals, methods, operators};

/// How many steps the templates of one expansion may take together: ten million, and as many for
/// the data that they make, of which 64 bytes are a step.
pub(super) const FUEL: u64 = 20_000_000;

/// How deep templates call macros and one another.
const RECURSION: usize = 100;

/// The sources of templates, by import name.
pub(super) type Sources = Arc<BTreeMap<String, Arc<Source>>>;

/// An environment with these templates.
pub(super) fn environment(sources: &Sources) -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_debug(true);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(RECURSION);
    environment.set_unknown_method_callback(methods::unknown);
    environment.set_formatter(|out, state, value| {
        if *state.auto_escape() == AutoEscape::None || value.is_safe() {
            return print::print(out, value);
        }
        let text = operators::escaped(&print::text(value)?);
        out.write_str(&text).map_err(Error::from)
    });
    let loaded = Arc::clone(sources);
    environment.set_loader(move |name| loaded.get(name).map(load).transpose());
    operators::add_to(&mut environment);
    filters::add_to(&mut environment);
    checks::add_to(&mut environment);
    globals::add_to(&mut environment);
    environment
}

/// The text of a template as minijinja reads it.
fn load(source: &Arc<Source>) -> Result<String, Error> {
    let rewritten = rewrite(source.text());
    if let Some(refused) = rewritten.refused {
        let error = Error::new(ErrorKind::SyntaxError, refused.message.clone());
        let source = Arc::clone(source);
        return Err(error.with_source(Refusal { refused, source }));
    }
    let text = rewritten.text.into_owned();
    if text.contains('\r') {
        return Ok(text.replace("\r\n", "\n").replace('\r', "\n"));
    }
    Ok(text)
}

/// Why a template is refused.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The message and the hint.
    pub refused: Refused,
    source: Arc<Source>,
}

impl Refusal {
    /// Where it is.
    pub(super) fn place(&self) -> Place {
        Place {
            source: Arc::clone(&self.source),
            range: self.refused.range.clone(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.refused.message)
    }
}

impl std::error::Error for Refusal {}

/// A text of bounded length that is written to.
#[derive(Debug, Default)]
pub(super) struct Output {
    bytes: Vec<u8>,
}

impl Output {
    /// The text.
    pub(super) fn into_text(self) -> String {
        String::from_utf8(self.bytes).unwrap_or_default()
    }
}

impl io::Write for &mut Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > MAX_TEXT {
            return Err(io::Error::other("the rendered text is longer than 16 MiB"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

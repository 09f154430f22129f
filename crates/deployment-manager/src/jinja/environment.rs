//! The minijinja environment of an expansion: loader, limits, output.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::{fmt, io};

use krm_yaml::source::{Place, Source};
use minijinja::{AutoEscape, Environment, Error, ErrorKind};

use super::functions;
use super::rewrite::{Refused, rewrite};
use super::values::MAX_TEXT;

/// The steps of all templates of one expansion; 64 bytes of data are a step, too.
pub(super) const FUEL: u64 = 10_000_000;

/// How deep templates call macros and one another.
const RECURSION: usize = 100;

/// The sources of templates, by import name.
pub(super) type Sources = Arc<BTreeMap<String, Arc<Source>>>;

/// An environment with these templates.
pub(super) fn environment(sources: &Sources) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_debug(true);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(RECURSION);
    let loaded = Arc::clone(sources);
    environment.set_loader(move |name| loaded.get(name).map(load).transpose());
    functions::add_to(&mut environment);
    environment
}

/// The text of a template as minijinja reads it.
fn load(source: &Arc<Source>) -> Result<String, Error> {
    match rewrite(source.text()) {
        Ok(text) if text.contains('\r') => Ok(text.replace("\r\n", "\n").replace('\r', "\n")),
        Ok(text) => Ok(text),
        Err(refused) => {
            let error = Error::new(ErrorKind::SyntaxError, refused.message.clone());
            let source = Arc::clone(source);
            Err(error.with_source(Refusal { refused, source }))
        }
    }
}

/// Why a template is refused.
#[derive(Debug)]
pub(super) struct Refusal {
    pub refused: Refused,
    source: Arc<Source>,
}

impl Refusal {
    pub(super) fn place(&self) -> Place {
        Place { source: Arc::clone(&self.source), range: self.refused.range.clone() }
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
pub(super) struct Output(Vec<u8>);

impl Output {
    pub(super) fn into_text(self) -> String {
        String::from_utf8(self.0).unwrap_or_default()
    }
}

impl io::Write for &mut Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_TEXT {
            return Err(io::Error::other("the rendered text is longer than 16 MiB"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

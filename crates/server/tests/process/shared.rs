//! Access to the shared folder, and calls to the module under test.

#![expect(clippy::disallowed_methods, reason = "a test reads its data")]

use std::path::PathBuf;
use std::thread;

use krm_template_server::request::Format;
use krm_template_server::templates::{self, Limits, Output, Processed, Request, STACK, Text};
use krm_template_server_core::{Group, Result};

/// Returns a path in the shared folder, if there is one.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    Some(crate::shared()?.join(path))
}

/// Reads a file.
pub(crate) fn read(path: impl AsRef<std::path::Path>) -> String {
    let path = path.as_ref();
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns a request in the namespace `shop` for a response in JSON.
pub(crate) fn request(group: Group) -> Request<'static> {
    Request {
        group,
        namespace: "shop",
        labels: Vec::new(),
        target_namespace: None,
        output: Output::Template,
        source_map: false,
        checks: false,
        syntax: Format::Json,
        limits: Limits::of_server(&|| false),
    }
}

pub(crate) const fn json(text: &str) -> Text<'_> {
    Text { text, syntax: Format::Json }
}

pub(crate) const fn yaml(text: &str) -> Text<'_> {
    Text { text, syntax: Format::Yaml }
}

/// Processes a Template on a thread with the stack size of the server.
pub(crate) fn template(request: &Request<'_>, body: Text<'_>) -> Result<Processed> {
    on_thread(|| templates::template(request, body))
}

pub(crate) fn on_thread<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        thread.expect("a thread starts").join().expect("no panic")
    })
}

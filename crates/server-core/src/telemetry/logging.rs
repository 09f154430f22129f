//! Logs on standard error, as text or as lines of JSON.

use std::io::{self, IsTerminal as _};
use std::panic::{self, PanicHookInfo};

use tracing::{Span, Subscriber, error_span};
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

/// The log arguments.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Logs")]
pub struct Args {
    /// The format of logs on standard error
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub log_format: Format,

    /// The log level (error, warn, info, debug or trace), or levels of modules as in
    /// `warn,krm_template_server=debug`
    #[arg(long, value_name = "LEVEL", env = "RUST_LOG", default_value = "info")]
    pub log_level: String,
}

/// The format of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Human-readable lines.
    Text,
    /// One JSON object per line.
    Json,
}

/// Starts logging to standard error, including panics.
///
/// # Errors
///
/// Fails if the level is invalid, or if logging was already started.
pub fn start(args: &Args) -> anyhow::Result<()> {
    let colours = args.log_format == Format::Text && io::stderr().is_terminal();
    match args.log_format {
        Format::Text => text(&args.log_level, colours, io::stderr)?.try_init()?,
        Format::Json => json(&args.log_level, io::stderr)?.try_init()?,
    }
    panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// Logs a panic without a formatted message, which could contain a value of a request.
fn log_panic(panicked: &PanicHookInfo<'_>) {
    let message = panicked.payload().downcast_ref::<&'static str>();
    let place = panicked.location().map(ToString::to_string);
    tracing::error!(place, constant = message, "panicked");
}

fn text<W>(level: &str, colours: bool, writer: W) -> anyhow::Result<impl Subscriber + use<W>>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    Ok(tracing_subscriber::fmt()
        .with_env_filter(filter(level)?)
        .with_ansi(colours)
        .with_span_events(FmtSpan::NONE)
        .with_writer(writer)
        .finish())
}

fn json<W>(level: &str, writer: W) -> anyhow::Result<impl Subscriber + use<W>>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    Ok(tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(true)
        .with_span_list(false)
        .with_env_filter(filter(level)?)
        .with_writer(writer)
        .finish())
}

fn filter(level: &str) -> anyhow::Result<EnvFilter> {
    EnvFilter::builder()
        .parse(level)
        .map_err(|_| anyhow::anyhow!("`--log-level {level}`: expected a level such as `info`"))
}

/// The length of a `traceparent` of version 00 in bytes.
///
/// Source: <https://www.w3.org/TR/trace-context/#traceparent-header>.
const TRACE_PARENT: usize = 55;

/// Returns the span of a request. Its log lines have the `audit_id` and, if the client sent one,
/// the header `traceparent` with the trace ID.
///
/// The span has the error level, so errors name their request at every log level.
pub fn request_span(audit_id: &str, traceparent: Option<&str>) -> Span {
    let is_known = |text: &&str| {
        text.len() == TRACE_PARENT
            && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
    };
    let Some(traceparent) = traceparent.filter(is_known) else {
        return error_span!("request", audit_id);
    };
    error_span!("request", audit_id, traceparent)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::Value;
    use tracing::subscriber::with_default;

    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Written {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    fn log() {
        request_span("id-1", Some(PARENT)).in_scope(|| {
            tracing::info!(code = 200, "answered");
            tracing::debug!("not logged");
        });
    }

    #[test]
    fn a_line_of_json_names_the_request_and_its_trace() {
        let written = Written::default();
        let writer = written.clone();
        with_default(json("info", move || writer.clone()).unwrap(), log);
        let text = written.text();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let [line] = lines.as_slice() else { panic!("one line expected:\n{text}") };
        for (pointer, expected) in [
            ("/level", "INFO"),
            ("/message", "answered"),
            ("/span/name", "request"),
            ("/span/audit_id", "id-1"),
            ("/span/traceparent", PARENT),
        ] {
            assert_eq!(line.pointer(pointer).and_then(Value::as_str), Some(expected), "{text}");
        }
        assert_eq!(line["code"], 200);
    }

    #[test]
    fn text_has_the_same_without_colours() {
        let written = Written::default();
        let writer = written.clone();
        with_default(text("info", false, move || writer.clone()).unwrap(), log);
        let text = written.text();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("answered code=200"), "{text}");
        assert!(text.contains("audit_id=\"id-1\""), "{text}");
    }

    #[test]
    fn a_panic_is_one_line_without_values() {
        let written = Written::default();
        let writer = written.clone();
        let known = panic::take_hook();
        let panicking = std::thread::current().id();
        panic::set_hook(Box::new(move |panicked| {
            if std::thread::current().id() == panicking {
                log_panic(panicked);
            } else {
                known(panicked);
            }
        }));
        with_default(json("error", move || writer.clone()).unwrap(), || {
            let value = written.text() + "canary";
            let handled = panic::catch_unwind(|| {
                request_span("id-1", None).in_scope(|| panic!("a wrong value: {value}"));
            });
            assert!(handled.is_err());
        });
        let text = written.text();
        assert_eq!(text.lines().count(), 1, "{text}");
        let line: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(line["message"], "panicked");
        assert_eq!(line["span"]["audit_id"], "id-1");
        assert!(line["place"].as_str().unwrap().starts_with(file!()), "{text}");
        assert!(!text.contains("canary"), "{text}");
    }

    #[test]
    fn a_wrong_level_is_an_error() {
        let error = filter("krm_template_server=loud").unwrap_err().to_string();
        assert_eq!(
            error,
            "`--log-level krm_template_server=loud`: expected a level such as `info`"
        );
    }

    #[test]
    fn only_the_text_of_a_trace_is_logged() {
        for (traceparent, is_logged) in
            [(PARENT, true), ("4bf92f3577b34da6a3ce929d0e0e4736", false), ("", false)]
        {
            let written = Written::default();
            let writer = written.clone();
            with_default(json("info", move || writer.clone()).unwrap(), || {
                request_span("id-1", Some(traceparent)).in_scope(|| tracing::info!("answered"));
            });
            assert_eq!(written.text().contains("traceparent"), is_logged, "{traceparent:?}");
        }
    }
}

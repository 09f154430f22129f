//! The limits of the server, as arguments with their defaults.

use std::num::NonZeroUsize;
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto;

use crate::status::{Details, Result, Status};
use crate::store::MAX_VALUE_BYTES;
use crate::units::{bytes, timeout};

/// The limits of requests, of concurrency, and of an expansion.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Limits")]
pub struct Limits {
    /// The maximum size of a request body
    #[arg(long, value_name = "BYTES", default_value = "3Mi", value_parser = bytes)]
    pub max_body_bytes: usize,

    /// The maximum size of a stored object, at most 1Mi
    #[arg(long, value_name = "BYTES", default_value = "1Mi", value_parser = stored_bytes)]
    pub max_object_bytes: usize,

    /// The maximum size of the request line and headers, at least 8Ki
    #[arg(long, value_name = "BYTES", default_value = "64Ki", value_parser = header_bytes)]
    pub max_header_bytes: usize,

    /// The maximum size of a request's path and query
    #[arg(long, value_name = "BYTES", default_value = "16Ki", value_parser = bytes)]
    pub max_url_bytes: usize,

    /// How long a client may take to send the headers, and then the body, of a request
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = timeout)]
    pub read_timeout: Duration,

    /// How long a request may take, except a watch
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = timeout)]
    pub request_timeout: Duration,

    /// How long an idle connection stays open
    #[arg(long, value_name = "DURATION", default_value = "120s", value_parser = timeout)]
    pub idle_timeout: Duration,

    /// The maximum number of concurrent requests that read
    #[arg(long, value_name = "COUNT", default_value = "400")]
    pub max_reads: NonZeroUsize,

    /// The maximum number of concurrent requests that write or process
    #[arg(long, value_name = "COUNT", default_value = "200")]
    pub max_writes: NonZeroUsize,

    /// The maximum number of open watches
    #[arg(long, value_name = "COUNT", default_value = "1000")]
    pub max_watches: NonZeroUsize,

    /// The maximum number of open connections
    #[arg(long, value_name = "COUNT", default_value = "2000")]
    pub max_connections: NonZeroUsize,

    /// The maximum number of open connections from one IP address, or one IPv6 network of 64 bits
    #[arg(long, value_name = "COUNT", default_value = "1000")]
    pub max_connections_per_address: NonZeroUsize,

    /// The maximum number of concurrent expansions [default: the number of processors]
    #[arg(long, value_name = "COUNT")]
    pub max_expansions: Option<NonZeroUsize>,

    /// The maximum number of queued expansions
    #[arg(long, value_name = "COUNT", default_value_t = 64)]
    pub max_waiting_expansions: usize,

    /// The maximum number of objects of an expansion
    #[arg(long, value_name = "COUNT", default_value = "10000")]
    pub max_expansion_objects: NonZeroUsize,

    /// The maximum size of the output of an expansion
    #[arg(long, value_name = "BYTES", default_value = "16Mi", value_parser = bytes)]
    pub max_expansion_bytes: usize,

    /// How long an expansion may take
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = timeout)]
    pub expansion_timeout: Duration,

    /// The maximum number of parameters of a Template
    #[arg(long, value_name = "COUNT", default_value = "5000")]
    pub max_parameters: NonZeroUsize,

    /// The maximum number of TemplateInstances in a namespace, of both groups together
    #[arg(long, value_name = "COUNT", default_value = "1000")]
    pub max_instances_per_namespace: NonZeroUsize,
}

/// The minimum size of the header buffer in hyper.
const MIN_HEADER_BYTES: usize = 8 << 10;

/// The maximum number of header lines over HTTP/1. A front proxy sends one for each group of a user.
const MAX_HEADERS: usize = 256;

/// The maximum number of concurrent streams of an HTTP/2 connection.
const MAX_STREAMS: u32 = 250;

impl Limits {
    /// Returns the maximum number of concurrent expansions.
    pub fn expansions(&self) -> NonZeroUsize {
        self.max_expansions
            .or_else(|| std::thread::available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN)
    }

    /// Returns a connection builder that enforces the header limits.
    ///
    /// An HTTP/1 request whose headers are too large gets 431. An HTTP/2 connection is closed if
    /// its client does not answer a ping. The HTTP/1 timeouts are not set here: hyper has only one
    /// timeout for the headers and the idle time before them.
    pub fn connections(&self) -> auto::Builder<TokioExecutor> {
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(None)
            .max_headers(MAX_HEADERS)
            .max_buf_size(self.max_header_bytes);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(self.idle_timeout)
            .keep_alive_timeout(self.read_timeout)
            .max_concurrent_streams(MAX_STREAMS)
            .max_header_list_size(u32::try_from(self.max_header_bytes).unwrap_or(u32::MAX));
        builder
    }

    /// Checks the length of a path with its query.
    ///
    /// # Errors
    ///
    /// 414 if it is too long.
    pub fn check_url(&self, path_and_query: &str) -> Result<()> {
        if path_and_query.len() <= self.max_url_bytes {
            return Ok(());
        }
        let message = format!("Request URI too long: limit is {}", self.max_url_bytes);
        Err(Status::new(414, "RequestURITooLong", message))
    }

    /// Returns 504 for a request that took longer than `request_timeout`.
    ///
    /// Source of the text: `TimeoutHandler` of `k8s.io/apiserver`.
    pub fn timed_out(&self) -> Box<Status> {
        let message = format!(
            "Timeout: request did not complete within requested timeout - {}s",
            self.request_timeout.as_secs_f64()
        );
        Status::new(504, "Timeout", message).with(Details::default())
    }
}

fn stored_bytes(text: &str) -> Result<usize, String> {
    bytes(text).and_then(|size| {
        if size <= MAX_VALUE_BYTES { Ok(size) } else { Err("must be at most 1Mi".to_owned()) }
    })
}

fn header_bytes(text: &str) -> Result<usize, String> {
    bytes(text).and_then(|size| {
        if size >= MIN_HEADER_BYTES { Ok(size) } else { Err("must be at least 8Ki".to_owned()) }
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        limits: Limits,
    }

    /// Parses limits; returns the message of an error.
    pub(crate) fn limits(arguments: &[&str]) -> Result<Limits, String> {
        Program::try_parse_from([&["server"], arguments].concat())
            .map(|program| program.limits)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_defaults_are_those_of_the_documentation() {
        let expected = Limits {
            max_body_bytes: 3_145_728,
            max_object_bytes: 1_048_576,
            max_header_bytes: 65_536,
            max_url_bytes: 16_384,
            read_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_mins(1),
            idle_timeout: Duration::from_mins(2),
            max_reads: NonZeroUsize::new(400).unwrap(),
            max_writes: NonZeroUsize::new(200).unwrap(),
            max_watches: NonZeroUsize::new(1_000).unwrap(),
            max_connections: NonZeroUsize::new(2_000).unwrap(),
            max_connections_per_address: NonZeroUsize::new(1_000).unwrap(),
            max_expansions: None,
            max_waiting_expansions: 64,
            max_expansion_objects: NonZeroUsize::new(10_000).unwrap(),
            max_expansion_bytes: 16_777_216,
            expansion_timeout: Duration::from_secs(5),
            max_parameters: NonZeroUsize::new(5_000).unwrap(),
            max_instances_per_namespace: NonZeroUsize::new(1_000).unwrap(),
        };
        assert_eq!(limits(&[]), Ok(expected));
    }

    #[test]
    fn values_that_cannot_work_are_refused() {
        for (arguments, message) in [
            (["--max-object-bytes", "2Mi"], "must be at most 1Mi"),
            (["--max-header-bytes", "1Ki"], "must be at least 8Ki"),
            (["--max-reads", "0"], "number would be zero"),
            (["--read-timeout", "0s"], "must be more than 0"),
            (["--max-body-bytes", "many"], "expected a number of bytes"),
        ] {
            let error = limits(&arguments).unwrap_err();
            assert!(error.contains(message), "{arguments:?}: {error}");
        }
    }

    #[test]
    fn a_url_may_be_as_long_as_the_limit() {
        let limits = limits(&["--max-url-bytes", "5"]).unwrap();
        assert_eq!(limits.check_url("/apis"), Ok(()));
        let status = limits.check_url("/apis/").unwrap_err();
        assert_eq!(
            (status.code, status.message.as_str()),
            (414, "Request URI too long: limit is 5")
        );
    }
}

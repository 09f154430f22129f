//! The classification of etcd errors.
//!
//! Source: `api/v3rpc/rpctypes/error.go` of etcd, and the status codes of gRPC.

use etcd_client::Error;

/// The cause of a failed request.
#[derive(Debug)]
pub(super) enum Failure {
    /// The revision has been compacted.
    Compacted,
    /// The revision is in the future.
    Future,
    /// The response exceeds the maximum size.
    TooMuch,
    /// etcd rejects the request, and so would every other member.
    Refused(String),
    /// The request did not reach the cluster. It can be retried.
    NotSent(String),
    /// The connection broke or the request timed out. The request may have been executed.
    Unknown(String),
}

impl Failure {
    pub(super) fn of(error: &Error) -> Self {
        let Error::GRpcStatus(status) = error else {
            return Self::Unknown(error.to_string());
        };
        let text = status.message();
        let why = text.to_owned();
        match i32::from(status.code()) {
            // OUT_OF_RANGE
            11 if text.contains("compacted") => Self::Compacted,
            11 if text.contains("future revision") => Self::Future,
            11 if text.contains("message length too large") => Self::TooMuch,
            // INVALID_ARGUMENT, PERMISSION_DENIED, RESOURCE_EXHAUSTED, UNAUTHENTICATED
            3 | 7 | 8 | 16 => Self::Refused(why),
            // UNAVAILABLE: the member rejects the request before it proposes it.
            14 if text == "etcdserver: no leader" => Self::NotSent(why),
            _ if is_connection_refused(status) => Self::NotSent("connection refused".to_owned()),
            _ => Self::Unknown(why),
        }
    }

    pub(super) fn why(self) -> String {
        match self {
            Self::Compacted => "the revision has been compacted".to_owned(),
            Self::Future => "the revision lies in the future".to_owned(),
            Self::TooMuch => "the answer is too large".to_owned(),
            Self::Refused(why) | Self::NotSent(why) | Self::Unknown(why) => why,
        }
    }
}

fn is_connection_refused(error: &dyn std::error::Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        let io = error.downcast_ref::<std::io::Error>();
        if io.is_some_and(|io| io.kind() == std::io::ErrorKind::ConnectionRefused) {
            return true;
        }
        cause = error.source();
    }
    false
}

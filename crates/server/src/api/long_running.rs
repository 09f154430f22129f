//! Long-running responses: watches, large lists and dumps. They end once their user may no longer
//! read them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use http_body_util::{BodyExt as _, StreamBody};
use tokio::time::{Instant, sleep_until};

use super::request_head::Incoming;
use super::state::State;
use crate::http::Body;
use crate::request::Resource;
use krm_template_server_core::{Attributes, Peer, User};

/// The interval between two checks of the user and of the rights.
const PERIOD: Duration = Duration::from_secs(10);

/// The rights that a response needs as long as it lasts.
pub(crate) struct Rights {
    pub(crate) state: Arc<State>,
    pub(crate) incoming: Arc<Incoming>,
    pub(crate) peer: Arc<Peer>,
    /// The user when the response began.
    pub(crate) user: User,
    pub(crate) resource: Option<Resource>,
}

impl Rights {
    /// Returns `true` if the credentials of the request are still those of the same user, with the
    /// same groups, and the user still has the permission.
    async fn last(&self) -> bool {
        let authenticator = &self.state.authenticator;
        let user = authenticator.authenticate(&self.incoming.headers, &self.peer);
        if user.await.ok().as_ref() != Some(&self.user) {
            return false;
        }
        let verb = self.incoming.method.as_str().to_ascii_lowercase();
        let wanted = match &self.resource {
            Some(resource) => resource.attributes(),
            None => Attributes::on_path(&verb, self.incoming.uri.path()),
        };
        self.state.authorize(&self.user, &wanted).await.is_ok()
    }
}

/// Returns a body that ends with the rights of its user: a watch as always, another one with an
/// error, so that the client notices that the rest is missing.
pub(crate) fn renewed(body: Body, rights: Rights, is_watch: bool) -> Body {
    let start = (body, rights, Instant::now() + PERIOD);
    let frames = stream::try_unfold(start, move |(mut body, rights, mut due)| async move {
        loop {
            tokio::select! {
                biased;
                () = sleep_until(due) => {
                    // Boxed: the future of each frame would be as large.
                    if !Box::pin(rights.last()).await {
                        let why = io::Error::other("the user may not read this any more");
                        return if is_watch { Ok(None) } else { Err(why) };
                    }
                    due = Instant::now() + PERIOD;
                }
                frame = body.frame() => {
                    return Ok(frame.transpose()?.map(|frame| (frame, (body, rights, due))));
                }
            }
        }
    });
    StreamBody::new(frames).boxed_unsync()
}

//! `/store/dump`: all objects as JSON lines, while the server runs.

use std::io;
use std::sync::Arc;
use std::vec;

use bytes::Bytes;
use futures_util::stream;
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};

use super::state::State;
use crate::http::{Answer, response};
use krm_template_server_core::store::{Error, Page, dump_head, dump_line};
use krm_template_server_core::{Item, Measured, Result, Revision, Status};

/// The size from which lines are sent, in bytes.
const PIECE: usize = 64 << 10;

/// The media type of JSON lines.
const LINES: &str = "application/jsonl";

/// Responds with all objects of one revision. `store load` reads them.
pub(crate) async fn answer(state: &State) -> Result<Answer> {
    let store = Arc::clone(&state.store);
    let first = store.list("", None, store.chunk(), None).await;
    let first = first.map_err(|error| {
        Status::new(503, "ServiceUnavailable", format!("the store cannot be read: {error}"))
    })?;
    let mut dump = Dump {
        store,
        ready: dump_head(first.revision),
        revision: first.revision,
        next: None,
        items: Vec::new().into_iter(),
    };
    dump.take(first);
    let lines = stream::try_unfold(dump, |mut dump| async move {
        let piece = dump.piece().await.map_err(io::Error::other)?;
        Ok::<_, io::Error>(piece.map(|piece| (Frame::data(piece), dump)))
    });
    let body = StreamBody::new(lines).boxed_unsync();
    Ok(response::with_body(200, LINES, body))
}

/// A dump that is being sent.
struct Dump {
    store: Arc<Measured>,
    revision: Revision,
    /// Lines that have not been sent yet.
    ready: Vec<u8>,
    /// The items of a page without a line yet.
    items: vec::IntoIter<Item>,
    /// The key after which the next page begins, if there is one.
    next: Option<String>,
}

impl Dump {
    fn take(&mut self, page: Page) {
        for key in &page.damaged {
            tracing::warn!(key, "a damaged object is left out of a dump");
        }
        let last = page.items.last().map(|item| item.key.clone());
        self.next = last.filter(|_| page.remaining > 0);
        self.items = page.items.into_iter();
    }

    /// Returns the next lines; `None` at the end.
    async fn piece(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            while self.ready.len() < PIECE
                && let Some(item) = self.items.next()
            {
                self.ready.extend(dump_line(&item));
            }
            if self.ready.len() < PIECE
                && let Some(after) = self.next.take()
            {
                let at = Some(self.revision);
                let page = self.store.list("", Some(&after), self.store.chunk(), at);
                let page = page.await?;
                self.take(page);
                continue;
            }
            let piece = std::mem::take(&mut self.ready);
            return Ok((!piece.is_empty()).then(|| piece.into()));
        }
    }
}

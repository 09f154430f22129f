//! Logins in a browser: random identifiers in place of tokens.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::cache::{Cache, Key};
use crate::status::{Result, Status};

/// The lifetime of a session.
pub const LIFETIME: Duration = Duration::from_hours(8);

/// The maximum number of sessions. Beyond it, the oldest one ends.
pub const MAX_SESSIONS: usize = 4_096;

/// The maximum length of a token in a session, in bytes.
pub const MAX_TOKEN: usize = 16 << 10;

/// The length of a random identifier, in bytes.
const ID_LENGTH: usize = 32;

/// The tokens of the sessions, by the SHA-256 of the identifier. They are in memory only.
///
/// The token is checked at each request, so a session also ends with its token.
#[derive(Debug)]
pub struct Sessions(Cache<String>);

impl Default for Sessions {
    fn default() -> Self {
        Self(Cache::new(LIFETIME, MAX_SESSIONS))
    }
}

impl Sessions {
    /// Starts a session with a valid token, and returns its identifier.
    ///
    /// # Errors
    /// 400 if the token is too long, 500 if the system has no random numbers.
    pub fn start(&self, token: &str) -> Result<String> {
        if token.len() > MAX_TOKEN {
            let message = format!("the token is longer than {MAX_TOKEN} bytes");
            return Err(Status::bad_request(message));
        }
        let mut bytes = [0; ID_LENGTH];
        getrandom::fill(&mut bytes).map_err(|error| {
            Status::internal(format!("cannot generate random numbers: {error}"))
        })?;
        let id = URL_SAFE_NO_PAD.encode(bytes);
        self.0.put(key(&id), token.to_owned(), Instant::now());
        Ok(id)
    }

    /// Returns the token of a session, unless it has ended.
    pub fn token(&self, id: &str) -> Option<String> {
        self.0.get(&key(id), Instant::now())
    }

    /// Ends a session.
    pub fn end(&self, id: &str) {
        self.0.remove(&key(id));
    }
}

fn key(id: &str) -> Key {
    Sha256::digest(id.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_session_ends_by_logout_and_by_time() {
        let sessions = Sessions::default();
        let (first, second) = (sessions.start("a").unwrap(), sessions.start("a").unwrap());
        assert_ne!(first, second);
        assert_eq!(first.len(), 43, "256 bits");
        sessions.end(&first);
        assert_eq!(sessions.token(&first), None);
        tokio::time::advance(LIFETIME.saturating_sub(Duration::from_secs(1))).await;
        assert_eq!(sessions.token(&second).as_deref(), Some("a"));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(sessions.token(&second), None);
    }

    #[test]
    fn sessions_and_their_tokens_are_bounded() {
        let sessions = Sessions::default();
        let first = sessions.start("a").unwrap();
        assert_eq!(sessions.start(&"a".repeat(MAX_TOKEN + 1)).unwrap_err().code, 400);
        for _ in 1..MAX_SESSIONS {
            sessions.start("b").unwrap();
        }
        assert!(sessions.token(&first).is_some());
        sessions.start("c").unwrap();
        assert_eq!(sessions.token(&first), None);
    }
}

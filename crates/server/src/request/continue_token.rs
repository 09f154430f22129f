//! Continue tokens of lists.
//!
//! Source: `k8s.io/apiserver/pkg/storage/continue.go`.

use base64::DecodeError;
use base64::alphabet::URL_SAFE;
use base64::engine::Engine;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use serde::{Deserialize, Serialize};

use krm_template_server_core::{Result, Revision, Status};

const VERSION: &str = "meta.k8s.io/v1";
/// The revision in a token for the newest state.
const NEWEST: i64 = -1;

/// URL-safe Base64 without padding. As in Go, unused bits of the last character are ignored.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

/// The position where a list continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Continue {
    /// The revision of the list. `None` for the newest.
    pub revision: Option<Revision>,
    /// The key of the last item, without the prefix of the list and without a leading `/`.
    pub after: String,
}

#[derive(Serialize, Deserialize)]
struct Token {
    #[serde(default)]
    v: String,
    #[serde(default)]
    rv: i64,
    #[serde(default)]
    start: String,
}

impl Continue {
    /// Returns the token for `continue` in the metadata of a list.
    pub fn encode(&self) -> String {
        let rv =
            self.revision.map_or(NEWEST, |revision| i64::try_from(revision).unwrap_or(i64::MAX));
        // The smallest key after the last one.
        let token = Token { v: VERSION.to_owned(), rv, start: format!("/{}\0", self.after) };
        BASE64.encode(serde_json::to_vec(&token).unwrap_or_default())
    }

    /// Parses a token.
    ///
    /// # Errors
    ///
    /// 400 for a malformed token.
    pub fn decode(text: &str) -> Result<Self> {
        let token = token(text).map_err(|why| invalid(&why))?;
        if token.v != VERSION {
            return Err(invalid(&format!(
                "server does not recognize this encoded version {}",
                token.v
            )));
        }
        if token.rv == 0 {
            return Err(invalid(&format!(
                "incorrect encoded start resourceVersion (version {VERSION})"
            )));
        }
        if token.start.is_empty() {
            return Err(invalid(&format!("encoded start key empty (version {VERSION})")));
        }
        let key = token.start.strip_prefix('/').unwrap_or(&token.start);
        let after = key
            .strip_suffix('\0')
            .filter(|key| key.split('/').all(|part| !matches!(part, "" | "." | "..")))
            .ok_or_else(|| invalid(&token.start))?;
        // Like −1, every negative number means the newest state.
        Ok(Self { revision: Revision::try_from(token.rv).ok(), after: after.to_owned() })
    }
}

fn invalid(why: &str) -> Box<Status> {
    Status::bad_request(format!("invalid continue token: continue key is not valid: {why}"))
}

fn token(text: &str) -> Result<Token, String> {
    let bytes = BASE64.decode(text).map_err(|error| {
        let at = match error {
            DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol(at, _) => at,
            DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => text.len(),
        };
        format!("illegal base64 data at input byte {at}")
    })?;
    serde_json::from_slice(&bytes).map_err(|_| "the token is not from this server".to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tokens_are_those_of_kubernetes() {
        let token = Continue { revision: Some(578), after: "p1".to_owned() };
        let text = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NTc4LCJzdGFydCI6Ii9wMVx1MDAwMCJ9";
        assert_eq!(token.encode(), text);
        // As in the response to an expired list: the newest state, and no `/`.
        let text = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiZTBcdTAwMDAifQ";
        let token = Continue { revision: None, after: "e0".to_owned() };
        assert_eq!(Continue::decode(text), Ok(token));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC*", bytes in any::<Vec<u8>>()) {
            let _ = Continue::decode(&text);
            let _ = Continue::decode(&BASE64.encode(bytes));
        }

        #[test]
        fn a_token_never_leaves_the_list(start in "[./a\\x00]{0,8}") {
            let token = Token { v: VERSION.to_owned(), rv: 1, start };
            let text = BASE64.encode(serde_json::to_vec(&token).unwrap());
            if let Ok(token) = Continue::decode(&text) {
                prop_assert!(token.after.split('/').all(|part| !part.is_empty() && part != ".."));
            }
        }

        #[test]
        fn tokens_come_back(
            revision in prop::option::of(1..u64::MAX / 2),
            after in "[a-z]{1,5}(/[a-z.]{1,5}[a-z])?",
        ) {
            let token = Continue { revision, after };
            prop_assert_eq!(Continue::decode(&token.encode()), Ok(token));
        }
    }
}

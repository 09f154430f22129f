//! Query strings of URLs, decoded.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use krm_template_server_core::{Result, Status};

/// The maximum number of parameters in a query.
pub const MAX_PARAMETERS: usize = 1_000;

/// The decoded parameters of a query, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Parses a query string, without its `?`. Skips a parameter that is not percent-encoded UTF-8,
    /// or contains a `;`.
    ///
    /// Source: `ParseQuery` of Go's `net/url`.
    ///
    /// # Errors
    ///
    /// 400 if there are more than [`MAX_PARAMETERS`].
    pub fn parse(text: &str) -> Result<Self> {
        let mut pairs = Vec::new();
        for part in text.split('&').filter(|part| !part.is_empty() && !part.contains(';')) {
            if pairs.len() == MAX_PARAMETERS {
                let message = format!("the query has more than {MAX_PARAMETERS} parameters");
                return Err(Status::bad_request(message));
            }
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            if let (Some(name), Some(value)) = (decode(name), decode(value)) {
                pairs.push((name, value));
            }
        }
        Ok(Self(pairs))
    }

    /// Returns the first value of a parameter.
    pub fn first(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Returns the first value of a parameter. Empty if there is none.
    pub fn text(&self, name: &str) -> &str {
        self.first(name).unwrap_or_default()
    }

    /// Returns all values of a parameter.
    pub fn all<'q>(&'q self, name: &str) -> impl Iterator<Item = &'q str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the value of a boolean parameter, if it is present: `false` for `false` and `0`,
    /// `true` for anything else, including an empty value.
    ///
    /// Source: `Convert_Slice_string_To_bool` of `k8s.io/apimachinery`.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.first(name).map(|value| !(value.eq_ignore_ascii_case("false") || value == "0"))
    }

    /// Returns the value of an integer parameter, if it is present.
    ///
    /// # Errors
    ///
    /// 400 if it is not a 64-bit integer.
    pub fn integer(&self, name: &str) -> Result<Option<i64>> {
        let parse = |text: &str| {
            text.parse().map_err(|error: std::num::ParseIntError| {
                Status::bad_request(not_a_number("ParseInt", text, &error))
            })
        };
        self.first(name).map(parse).transpose()
    }
}

/// Returns the message of Go's `strconv` for an invalid number.
pub(super) fn not_a_number(function: &str, text: &str, error: &std::num::ParseIntError) -> String {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    let what = match error.kind() {
        PosOverflow | NegOverflow => "value out of range",
        _ => "invalid syntax",
    };
    format!("strconv.{function}: parsing {text:?}: {what}")
}

/// Decodes a name or value. Returns `None` if it is not percent-encoded UTF-8.
fn decode(text: &str) -> Option<String> {
    let spaced: Cow<'_, str> =
        if text.contains('+') { text.replace('+', " ").into() } else { text.into() };
    percent_decoded(&spaced)
}

/// Decodes percent-encoded text. Returns `None` if it is not percent-encoded UTF-8.
pub(super) fn percent_decoded(text: &str) -> Option<String> {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
    let bytes = text.as_bytes();
    let is_encoded = |at: usize| is_digit(bytes.get(at + 1)) && is_digit(bytes.get(at + 2));
    if text.match_indices('%').any(|(at, _)| !is_encoded(at)) {
        return None;
    }
    Some(percent_decode_str(text).decode_utf8().ok()?.into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parameters_are_decoded_and_the_first_one_counts() {
        let query = Query::parse("a=1&a=2&b+c=%20x%2C&d&=e&&bad=%zz&bad=%ff&semi=1;2").unwrap();
        assert_eq!(query.first("a"), Some("1"));
        assert_eq!(query.all("a").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(query.first("b c"), Some(" x,"));
        assert_eq!(query.first("d"), Some(""));
        assert_eq!(query.first(""), Some("e"));
        assert_eq!(query.first("bad"), None);
        assert_eq!(query.first("semi"), None);
    }

    #[test]
    fn only_false_and_0_are_false() {
        let query = Query::parse("a=true&b=maybe&c=&d&e=FALSE&f=0").unwrap();
        let flags = ["a", "b", "c", "d", "e", "f", "g"].map(|name| query.flag(name));
        let yes = Some(true);
        assert_eq!(flags, [yes, yes, yes, yes, Some(false), Some(false), None]);
    }

    #[test]
    fn too_many_parameters_are_refused() {
        let query = |count| Query::parse(&vec!["a"; count].join("&"));
        assert!(query(MAX_PARAMETERS).is_ok());
        assert_eq!(query(MAX_PARAMETERS + 1).unwrap_err().code, 400);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC*") {
            let _ = Query::parse(&text);
        }

        #[test]
        fn an_encoded_parameter_comes_back(name in "\\PC{0,8}", value in any::<String>()) {
            let encode = |text: &str| {
                percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
            };
            let query = Query::parse(&format!("{}={}", encode(&name), encode(&value))).unwrap();
            prop_assert_eq!(query.first(&name), Some(value.as_str()));
        }
    }
}

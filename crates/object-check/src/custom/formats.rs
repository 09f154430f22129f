//! Formats that the schemas of custom resources name.

use crate::formats::{is_ipv4, is_subdomain};
use crate::scalars::{is_base64, is_time};

/// Whether a text has a format that the API server checks.
pub(super) fn has_format(text: &str, format: &str) -> bool {
    match format {
        "date-time" | "datetime" => is_time(&text.to_ascii_uppercase()),
        "date" => is_time(&format!("{text}T00:00:00Z")),
        "byte" => is_base64(text),
        "ipv4" => is_ipv4(text),
        "ipv6" => text.parse::<std::net::Ipv6Addr>().is_ok(),
        "cidr" => crate::formats::cidr(text).is_some(),
        "duration" => is_duration(text),
        "hostname" => {
            text.len() <= 255
                && !text.is_empty()
                && (is_subdomain(&text.to_ascii_lowercase())
                    || !text.is_ascii()
                    || text.contains('_'))
        }
        "uuid" | "uuid3" | "uuid4" | "uuid5" => {
            let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
            digits == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        }
        "email" => text.contains('@'),
        "uri" => {
            !text.is_empty() && (text.contains(':') || text.starts_with('/')) && !text.contains(' ')
        }
        _ => true,
    }
}

/// Whether a text is a duration: of Go, or in words.
fn is_duration(text: &str) -> bool {
    let trimmed = text.trim();
    trimmed.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
        && trimmed.contains(|c: char| c.is_alphabetic())
        || trimmed == "0"
}

#[cfg(test)]
mod tests {
    use super::has_format;

    #[test]
    fn formats_are_told_apart() {
        for (format, valid, invalid) in [
            ("date-time", "2026-11-30T10:00:00Z", "2026-11-30"),
            ("date", "2026-11-30", "2026-13-30"),
            ("byte", "YQ==", "Y"),
            ("ipv4", "10.0.0.1", "::1"),
            ("ipv6", "::1", "a:b"),
            ("cidr", "10.0.0.0/8", "10.0.0.0"),
            ("duration", "1h", "1"),
            ("hostname", "web.example.com", "-"),
            ("uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6ba7b810"),
            ("email", "a@b.c", "a"),
        ] {
            assert!(has_format(valid, format), "{format}: {valid}");
            assert!(!has_format(invalid, format), "{format}: {invalid}");
        }
    }
}

//! Formats of texts, with the words for what they are.

use std::net::Ipv6Addr;

use krm_core::names::{LABEL, SUBDOMAIN, is_dns_label, is_label_key, is_label_text};

/// A format of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Subdomain,
    Label,
    Label1035,
    QualifiedName,
    LabelValue,
    KindName,
    PortName,
    Ip,
    Cidr,
    CountOrPercent,
    AbsolutePath,
    RelativePath,
    PathSegment,
    HeaderName,
    EnvironmentName,
    OldEnvironmentName,
    CIdentifier,
    Trimmed,
    /// A key of a ConfigMap or Secret.
    DataKey,
    DriverName,
    Host,
    Image,
    Repository,
    JsonPath,
    StreamImage,
    StreamTag,
    Word,
}

impl Format {
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "subdomain" => Self::Subdomain,
            "label" => Self::Label,
            "label-1035" => Self::Label1035,
            "qualified-name" => Self::QualifiedName,
            "label-value" => Self::LabelValue,
            "kind-name" => Self::KindName,
            "port-name" => Self::PortName,
            "ip" => Self::Ip,
            "cidr" => Self::Cidr,
            "count-or-percent" => Self::CountOrPercent,
            "absolute-path" => Self::AbsolutePath,
            "relative-path" => Self::RelativePath,
            "path-segment" => Self::PathSegment,
            "header-name" => Self::HeaderName,
            "environment-name" => Self::EnvironmentName,
            "c-identifier" => Self::CIdentifier,
            "trimmed" => Self::Trimmed,
            "old-environment-name" => Self::OldEnvironmentName,
            "data-key" => Self::DataKey,
            "driver-name" => Self::DriverName,
            "host" => Self::Host,
            "image" => Self::Image,
            "repository" => Self::Repository,
            "json-path" => Self::JsonPath,
            "stream-image" => Self::StreamImage,
            "stream-tag" => Self::StreamTag,
            "word" => Self::Word,
            _ => return None,
        })
    }

    pub(crate) fn fits(self, text: &str) -> bool {
        match self {
            Self::Subdomain => is_subdomain(text),
            Self::Label => is_label(text),
            Self::Label1035 => is_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase()),
            Self::QualifiedName => is_label_key(text),
            Self::LabelValue => text.is_empty() || is_label_text(text),
            Self::KindName => Self::Label1035.fits(&text.to_ascii_lowercase()),
            Self::PortName => {
                text.len() <= 15
                    && is_dns_label(text)
                    && text.bytes().any(|byte| byte.is_ascii_lowercase())
                    && !text.contains("--")
            }
            Self::Ip => is_ip(text),
            // An API server takes the source ranges of a load balancer with spaces around them.
            Self::Cidr => cidr(text.trim()).is_some(),
            Self::CountOrPercent => {
                let digits = text.strip_suffix('%').unwrap_or_default();
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            }
            Self::AbsolutePath => text.starts_with('/'),
            Self::RelativePath => {
                !text.starts_with('/') && text.split('/').all(|part| part != "..")
            }
            Self::PathSegment => !matches!(text, "." | "..") && !text.contains(['/', '%']),
            Self::HeaderName => {
                !text.is_empty()
                    && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            }
            Self::EnvironmentName => {
                !text.is_empty()
                    && text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'=')
            }
            Self::OldEnvironmentName => {
                text.bytes().all(is_name_byte)
                    && text.starts_with(|c: char| !c.is_ascii_digit())
                    && !matches!(text, "." | "..")
            }
            Self::CIdentifier => {
                Self::Word.fits(text) && text.starts_with(|c: char| !c.is_ascii_digit())
            }
            Self::Trimmed => text.trim() == text,
            Self::DataKey => {
                (1..=253).contains(&text.len())
                    && text.bytes().all(is_name_byte)
                    && text != "."
                    && !text.starts_with("..")
            }
            Self::DriverName => text.len() <= 63 && is_subdomain(&text.to_ascii_lowercase()),
            Self::Host => is_subdomain(text) && text.split('.').all(is_label),
            Self::Image => is_image(text),
            Self::Repository => is_repository(text),
            Self::JsonPath => text.starts_with('.'),
            Self::StreamImage => text.split('@').count() == 2,
            Self::StreamTag => text
                .split_once(':')
                .is_some_and(|(stream, tag)| !stream.is_empty() && !tag.is_empty()),
            Self::Word => text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
        }
    }

    /// A description of the texts of this format.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Subdomain => {
                "a DNS name: up to 253 lower case letters, digits, `-` and `.`, with a letter or digit at both ends of each part"
            }
            Self::Label => {
                "a DNS label: up to 63 lower case letters, digits and `-`, with a letter or digit at both ends"
            }
            Self::Label1035 => {
                "a DNS label that begins with a letter: up to 63 lower case letters, digits and `-`"
            }
            Self::QualifiedName => {
                "a name of up to 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends, after an optional domain and `/`"
            }
            Self::LabelValue => {
                "the value of a label: up to 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends"
            }
            Self::KindName => "the name of a kind: letters, digits and `-`",
            Self::PortName => {
                "the name of a port: up to 15 lower case letters, digits and `-`, at least one of them a letter"
            }
            Self::Ip => "an IP address",
            Self::Cidr => "a range of IP addresses such as `10.9.8.0/24`",
            Self::CountOrPercent => "a number of at least 0 or a percentage such as `25%`",
            Self::AbsolutePath => "an absolute path",
            Self::RelativePath => "a relative path without `..`",
            Self::PathSegment => "a name without `/` and `%`",
            Self::HeaderName => "the name of an HTTP header: letters, digits and `-`",
            Self::EnvironmentName => {
                "the name of an environment variable: printable ASCII without `=`"
            }
            Self::OldEnvironmentName => {
                "the name of an environment variable: letters, digits, `_`, `-` and `.`, not beginning with a digit"
            }
            Self::CIdentifier => {
                "the name of an environment variable: letters, digits and `_`, not beginning with a digit"
            }
            Self::Trimmed => "a text without spaces at its ends",
            Self::DataKey => "a key of letters, digits, `-`, `_` and `.`",
            Self::DriverName => "the name of a driver: a DNS name of up to 63 characters",
            Self::Host => "a DNS name of parts of up to 63 lower case letters, digits and `-`",
            Self::Image => "the name of an image",
            Self::Repository => {
                "a repository of images: lower case letters, digits, `.`, `-` and `_`"
            }
            Self::JsonPath => "a simple JSON path that begins with `.`",
            Self::StreamImage => "the name of an image stream, `@` and a digest",
            Self::StreamTag => "the name of an image stream, `:` and a tag",
            Self::Word => "letters, digits and `_`",
        }
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

pub(crate) fn is_subdomain(text: &str) -> bool {
    text.len() <= SUBDOMAIN && text.split('.').all(is_dns_label)
}

pub(crate) fn is_label(text: &str) -> bool {
    text.len() <= LABEL && is_dns_label(text)
}

/// Whether a text is a name that has a domain and a `/`, as those of finalizers.
pub(crate) fn is_fully_qualified(text: &str) -> bool {
    text.contains('/') && is_label_key(text)
}

/// Whether a text is a DNS name that may begin with `*.`.
pub(crate) fn is_wildcard_subdomain(text: &str) -> bool {
    is_subdomain(text.strip_prefix("*.").unwrap_or(text))
}

/// Whether a text is an IP address, as Go's lenient parser reads it for old fields.
pub(crate) fn is_ip(text: &str) -> bool {
    is_ipv4(text) || text.parse::<Ipv6Addr>().is_ok()
}

/// An IPv4 address; zeros may come before a number.
pub(crate) fn is_ipv4(text: &str) -> bool {
    let parts = || text.split('.');
    let is_number = |part: &str| {
        (1..=3).contains(&part.len())
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse::<u16>().is_ok_and(|number| number <= 255)
    };
    parts().count() == 4 && parts().all(is_number)
}

/// The address and the number of bits of a range.
pub(crate) fn cidr(text: &str) -> Option<(u128, u8, bool)> {
    let (address, bits) = text.split_once('/')?;
    let is_number = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
    let bits: u8 = is_number.then(|| bits.parse().ok()).flatten()?;
    if is_ipv4(address) {
        let plain = address.split('.').filter_map(|part| part.parse::<u8>().ok());
        let address = plain.fold(0u128, |all, part| all << 8 | u128::from(part));
        return (bits <= 32).then_some((address, bits, true));
    }
    let address: Ipv6Addr = address.parse().ok()?;
    (bits <= 128).then_some((address.to_bits(), bits, false))
}

/// Whether a name is a repository on its own.
pub(crate) fn is_repository(name: &str) -> bool {
    let is_outer = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = name.as_bytes();
    bytes.first().is_some_and(|byte| is_outer(*byte))
        && bytes.last().is_some_and(|byte| is_outer(*byte))
        && bytes.iter().all(|byte| is_outer(*byte) || matches!(byte, b'.' | b'-' | b'_'))
        && !name.contains("..")
        && name.len() <= 255
}

/// Whether a text names an image, with a registry, a tag or a digest or without.
pub(crate) fn is_image(name: &str) -> bool {
    let (name, digest) = name.split_once('@').unwrap_or((name, "sha256:0"));
    if digest.is_empty() || !digest.contains(':') {
        return false;
    }
    let (path, last) = name.rsplit_once('/').map_or(("", name), |(path, last)| (path, last));
    let (last, tag) = last.split_once(':').unwrap_or((last, "x"));
    let is_tag = |tag: &str| {
        !tag.is_empty()
            && tag.len() <= 128
            && tag.bytes().all(is_name_byte)
            && !tag.starts_with(['.', '-'])
    };
    let mut parts = path.split('/').filter(|_| !path.is_empty());
    let first = parts.next();
    let is_host = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':'))
    };
    let first_fits = first.is_none_or(|part| is_repository(part) || is_host(part));
    is_tag(tag) && is_repository(last) && first_fits && parts.all(is_repository)
}

/// Whether a name can stand before a suffix: it may end with `-`.
pub(crate) fn without_final_dash(name: &str) -> String {
    match name.strip_suffix('-') {
        Some(rest) if name.len() > 1 => format!("{rest}a"),
        _ => name.to_owned(),
    }
}

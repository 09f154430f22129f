//! Formats of texts, with the words for what they are.

use std::net::Ipv6Addr;

use krm_core::names::{LABEL, SUBDOMAIN, is_dns_label, is_label_key, is_label_text};

/// Declares the formats: the name in `data`, the words after "must be", and whether a text fits.
macro_rules! formats {
    ($($format:ident, $name:literal, $words:expr, $fits:expr;)*) => {
        /// A format of a text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Format {
            $($format,)*
        }

        impl Format {
            pub(crate) fn of(name: &str) -> Option<Self> {
                Some(match name {
                    $($name => Self::$format,)*
                    _ => return None,
                })
            }

            pub(crate) fn fits(self, text: &str) -> bool {
                let fits: fn(&str) -> bool = match self {
                    $(Self::$format => $fits,)*
                };
                fits(text)
            }

            /// A description of the texts of this format.
            pub(crate) const fn words(self) -> &'static str {
                match self {
                    $(Self::$format => $words,)*
                }
            }
        }
    };
}

formats! {
    Subdomain, "subdomain",
        "a DNS name: up to 253 lower case letters, digits, `-` and `.`, with a letter or digit at both ends of each part",
        is_subdomain;
    Label, "label",
        "a DNS label: up to 63 lower case letters, digits and `-`, with a letter or digit at both ends",
        is_label;
    Label1035, "label-1035",
        "a DNS label that begins with a letter: up to 63 lower case letters, digits and `-`",
        |text| is_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase());
    QualifiedName, "qualified-name",
        "a name of up to 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends, after an optional domain and `/`",
        is_label_key;
    LabelValue, "label-value",
        "the value of a label: up to 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends",
        |text| text.is_empty() || is_label_text(text);
    KindName, "kind-name", "the name of a kind: letters, digits and `-`",
        |text| Format::Label1035.fits(&text.to_ascii_lowercase());
    PortName, "port-name",
        "the name of a port: up to 15 lower case letters, digits and `-`, at least one of them a letter",
        |text| text.len() <= 15 && is_dns_label(text) && !text.contains("--")
            && text.bytes().any(|byte| byte.is_ascii_lowercase());
    Ip, "ip", "an IP address", is_ip;
    // An API server takes the source ranges of a load balancer with spaces around them.
    Cidr, "cidr", "a range of IP addresses such as `10.9.8.0/24`", |text| cidr(text.trim()).is_some();
    CountOrPercent, "count-or-percent", "a number of at least 0 or a percentage such as `25%`",
        |text| text.strip_suffix('%').is_some_and(is_number);
    AbsolutePath, "absolute-path", "an absolute path", |text| text.starts_with('/');
    RelativePath, "relative-path", "a relative path without `..`",
        |text| !text.starts_with('/') && Format::NoParent.fits(text);
    NoParent, "no-parent", "a path without `..`", |text| text.split('/').all(|part| part != "..");
    NoLeadingDots, "no-leading-dots", "", |text| !text.starts_with("..") || text.starts_with("../");
    InSource, "in-source", "a path in the source", |text| text.split('/').next() != Some("..");
    PathSegment, "path-segment", "a name without `/` and `%`",
        |text| !matches!(text, "." | "..") && !text.contains(['/', '%']);
    HeaderName, "header-name", "the name of an HTTP header: letters, digits and `-`",
        |text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    EnvironmentName, "environment-name", "the name of an environment variable: printable ASCII without `=`",
        |text| !text.is_empty() && text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'=');
    OldEnvironmentName, "old-environment-name",
        "the name of an environment variable: letters, digits, `_`, `-` and `.`, not beginning with a digit",
        |text| text.bytes().all(is_name_byte) && !matches!(text, "." | "..")
            && text.starts_with(|c: char| !c.is_ascii_digit());
    CIdentifier, "c-identifier",
        "the name of an environment variable: letters, digits and `_`, not beginning with a digit",
        |text| Format::Word.fits(text) && text.starts_with(|c: char| !c.is_ascii_digit());
    Trimmed, "trimmed", "a string without spaces at its ends", |text| text.trim() == text;
    // A key of a ConfigMap or Secret.
    DataKey, "data-key", "a key of letters, digits, `-`, `_` and `.`",
        |text| (1..=253).contains(&text.len()) && text.bytes().all(is_name_byte)
            && text != "." && !text.starts_with("..");
    DriverName, "driver-name", "the name of a driver: a DNS name of up to 63 characters",
        |text| text.len() <= 63 && is_subdomain(&text.to_ascii_lowercase());
    Host, "host", "a DNS name of parts of up to 63 lower case letters, digits and `-`",
        |text| is_subdomain(text) && text.split('.').all(is_label);
    ExternalName, "external-name", Format::Subdomain.words(),
        |text| is_subdomain(text.strip_suffix('.').unwrap_or(text));
    ThreeParts, "three-parts", "", |text| !is_subdomain(text) || text.split('.').count() >= 3;
    Image, "image", "the name of an image", is_image;
    Repository, "repository", "a repository of images: lower case letters, digits, `.`, `-` and `_`",
        is_repository;
    RepositoryStart, "repository-start", "", |text| is_repository(&format!("{text}a"));
    Untagged, "untagged", "", |text| !text.rsplit('/').next().unwrap_or_default().contains([':', '@']);
    TaggedOrImage, "tagged-or-image", "", |text| !Format::Untagged.fits(text) || is_image(text);
    JsonPath, "json-path", "a simple JSON path that begins with `.`", |text| text.starts_with('.');
    StreamImage, "stream-image", "the name of an image stream, `@` and a digest",
        |text| text.split('@').count() == 2;
    StreamTag, "stream-tag", "the name of an image stream, `:` and a tag",
        |text| text.split_once(':').is_some_and(|(stream, tag)| !stream.is_empty() && !tag.is_empty());
    Word, "word", "letters, digits and `_`",
        |text| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    Sysctl, "sysctl", "the name of a sysctl",
        |text| text.len() <= 253 && text.split(['.', '/']).all(is_sysctl_part);
    ControllerName, "controller-name", "", |text| text.len() <= 250 && domain_of(text).is_some();
    SignerName, "signer-name", "", |text| domain_of(text).is_some_and(|domain| domain.contains('.'));
    // The beginning of a block of PEM, as base64.
    Pem, "pem", "", |text| text.trim_start().starts_with("LS0tLS1");
    HttpsAddress, "https-address", "", |text| https_host(text).is_some();
    PlainAddress, "plain-address", "",
        |text| https_host(text).is_none_or(|host| !host.contains('@') && !text.contains(['?', '#']));
    ServicePath, "service-path", "", |text| text == "/" || text.strip_prefix('/').is_some_and(|rest| {
        rest.strip_suffix('/').unwrap_or(rest).split('/').all(is_subdomain)
    });
    Version, "version", "", |text| text.split('/').count() <= 2;
    GroupVersion, "group-version", "",
        |text| text.split_once('/').is_some_and(|(group, version)| {
            !group.is_empty() && !version.is_empty() && !version.contains('/')
        });
    TimeZone, "time-zone", "", is_time_zone;
    Unzoned, "unzoned", "", |text| !text.starts_with("TZ=") && !text.starts_with("CRON_TZ=");
    Schedule, "schedule", "", |text| !Format::Unzoned.fits(text) || is_schedule(text);
    NotLocal, "not-local", "", |text| !is_ip(text) || !is_local(text);
    Dotted, "dotted", "", |text| text.contains('.');
    Unreserved, "unreserved", "", |text| !text.starts_with("system-");
    FieldSubscript, "field-subscript", "", is_field_subscript;
}

/// Whether a text is a number without a sign.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_sysctl_part(part: &str) -> bool {
    !part.is_empty()
        && !part.starts_with(['-', '_'])
        && !part.ends_with(['-', '_'])
        && part.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_')
        })
}

/// The domain before a path.
fn domain_of(text: &str) -> Option<&str> {
    let (domain, path) = text.split_once('/')?;
    (is_subdomain(domain) && !path.is_empty()).then_some(domain)
}

fn https_host(text: &str) -> Option<&str> {
    let host = text.strip_prefix("https://")?.split(['/', '?', '#']).next()?;
    Some(host).filter(|host| !host.is_empty())
}

/// Whether a text is `metadata.labels['KEY']` or the same of annotations.
fn is_field_subscript(text: &str) -> bool {
    let starts = ["metadata.labels['", "metadata.annotations['"];
    let keys = starts.into_iter().filter_map(|start| text.strip_prefix(start)?.strip_suffix("']"));
    keys.into_iter().any(|key| is_label_key(&key.to_lowercase()))
}

fn is_time_zone(text: &str) -> bool {
    let is_part = |part: &str| {
        let is_own = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+');
        !part.is_empty() && part.bytes().all(is_own)
    };
    let begins = text.starts_with(|c: char| c.is_ascii_uppercase());
    begins && text != "Local" && text.len() >= 2 && text.split('/').all(is_part)
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
    let is_byte = |part: &str| {
        part.len() <= 3 && is_number(part) && part.parse::<u16>().is_ok_and(|number| number <= 255)
    };
    parts().count() == 4 && parts().all(is_byte)
}

/// The address and the number of bits of a range.
pub(crate) fn cidr(text: &str) -> Option<(u128, u8, bool)> {
    let (address, bits) = text.split_once('/')?;
    let bits: u8 = is_number(bits).then(|| bits.parse().ok()).flatten()?;
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

/// Whether an address is one of the node itself, or of its link.
pub(crate) fn is_local(ip: &str) -> bool {
    if is_ipv4(ip) {
        ["127.", "169.254.", "224.0.0."].iter().any(|start| ip.starts_with(start))
            || ip == "0.0.0.0"
    } else {
        matches!(ip, "::" | "::1") || ip.to_ascii_lowercase().starts_with("fe80:")
    }
}

/// Whether the library `robfig/cron` reads a schedule.
fn is_schedule(schedule: &str) -> bool {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
    if let Some(word) = schedule.strip_prefix('@') {
        let every = word.strip_prefix("every ");
        return every.is_some_and(is_duration)
            || matches!(
                word,
                "yearly" | "annually" | "monthly" | "weekly" | "daily" | "midnight" | "hourly"
            );
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    let [minute, hour, day, month, weekday] = fields[..] else {
        return false;
    };
    is_cron(minute, 0, 59, &[])
        && is_cron(hour, 0, 23, &[])
        && is_cron(day, 1, 31, &[])
        && is_cron(month, 1, 12, &MONTHS)
        && is_cron(weekday, 0, 6, &DAYS)
}

/// Whether a text is a duration of Go.
fn is_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    let is_there = !rest.is_empty();
    while !rest.is_empty() {
        let unit = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        if unit.len() == rest.len() {
            return false;
        }
        let units = ["ns", "us", "µs", "ms", "s", "m", "h"];
        let Some(after) = units.iter().find_map(|name| unit.strip_prefix(name)) else {
            return false;
        };
        rest = after;
    }
    is_there
}

fn is_cron(field: &str, least: u32, most: u32, names: &[&str]) -> bool {
    let value = |text: &str| -> Option<u32> {
        let lower = text.to_ascii_lowercase();
        let position = names.iter().position(|name| *name == lower);
        // Months begin with 1, days with 0.
        let first = u32::from(names.len() == 12);
        let position = position.and_then(|at| u32::try_from(at).ok());
        let word = position.map(|at| at + first);
        word.or_else(|| is_number(text).then(|| text.parse().ok()).flatten())
    };
    let is_part = |part: &str| {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (part, None),
        };
        if step.is_some_and(|step| value(step).is_none_or(|step| step == 0)) {
            return false;
        }
        if matches!(range, "*" | "?") {
            return true;
        }
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        match (value(from), value(to)) {
            (Some(from), Some(to)) => least <= from && from <= to && to <= most,
            _ => false,
        }
    };
    field.split(',').filter(|part| !part.is_empty()).all(is_part) && !field.is_empty()
}

//! Content negotiation: the format and shape of responses, from `Accept`.
//!
//! Source: `k8s.io/apiserver/pkg/endpoints/handlers/negotiation`, and the check of go-restful
//! before it.

use std::cmp::Reverse;

use super::content_type::Format;
use super::query::Query;
use krm_template_server_core::{Details, Result, Status};

/// The media types of objects.
const FORMATS: [(&str, Format); 2] =
    [("application/json", Format::Json), ("application/yaml", Format::Yaml)];
const NAMES: &str = "application/json, application/yaml";
const STREAM: &str = "application/json;stream=watch";

/// The maximum number of media ranges that are read from an `Accept`.
const MAX_RANGES: usize = 100;

/// The representation of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseFormat {
    /// The format. Always JSON for a watch.
    pub format: Format,
    /// Whether JSON is indented, by `?pretty` or the client.
    pub pretty: bool,
    /// The shape of the objects.
    pub shape: Shape,
}

/// The form in which objects are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The complete objects, as stored.
    Plain,
    /// The rows of a `Table`.
    Table(MetaVersion, Include),
    /// Only the metadata: a `PartialObjectMetadata`, or a list of them.
    Partial(MetaVersion),
}

/// A version of the group `meta.k8s.io`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetaVersion {
    /// The current version, `v1`.
    V1,
    /// The older version, `v1beta1`.
    V1Beta1,
}

impl MetaVersion {
    /// Returns the group and version, as in the field `apiVersion`.
    pub const fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// The content of the field `object` in the rows of a `Table`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Include {
    /// Nothing: rows have cells only.
    None,
    /// The metadata of the object.
    Metadata,
    /// The complete object, as stored.
    Object,
}

/// The content of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A single object or a `Status`.
    One,
    /// A list with any number of objects.
    List,
    /// Watch events, each with one object.
    Watch,
}

/// The form of a discovery document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discovery {
    /// Only the list of groups or versions.
    Plain(Format),
    /// The aggregated document of `apidiscovery.k8s.io`.
    Aggregated(DiscoveryVersion),
}

/// A version of the group `apidiscovery.k8s.io`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscoveryVersion {
    /// The current version, `v2`.
    V2,
    /// The older version, `v2beta1`.
    V2Beta1,
}

impl DiscoveryVersion {
    /// Returns the name of the version.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V2 => "v2",
            Self::V2Beta1 => "v2beta1",
        }
    }
}

/// Negotiates the representation of a response.
///
/// # Errors
///
/// 406 if the server supports nothing that the client accepts, 400 for an unknown `includeObject`
/// of a Table.
pub fn negotiate(
    accept: Option<&str>,
    user_agent: Option<&str>,
    query: &Query,
    scope: Scope,
) -> Result<ResponseFormat> {
    let ranges = ranges(accept);
    let is_known = |range: &&Range<'_>| range.is_any() || range.format().is_some();
    if !ranges.is_empty() && !ranges.iter().any(|range| is_known(&range)) {
        return Err(unknown(scope));
    }
    let found = ranges.iter().find_map(|range| {
        let kind = Conversion::of(range)?;
        range.matching().map(|format| (format, kind))
    });
    let (format, conversion) = match found {
        Some(found) => found,
        None if ranges.is_empty() => (Format::Json, Conversion::Plain),
        None => return Err(not_acceptable(NAMES)),
    };
    if scope == Scope::Watch && format != Format::Json {
        return Err(not_acceptable(STREAM));
    }
    let shape = match (conversion, scope) {
        (Conversion::Plain, _) => Shape::Plain,
        (Conversion::Table(version), _) => Shape::Table(version, include(query)?),
        (Conversion::Partial(version), Scope::One | Scope::Watch)
        | (Conversion::PartialList(version), Scope::List) => Shape::Partial(version),
        (Conversion::Partial(_), Scope::List) => {
            return Err(other_number("PartialObjectMetadata", "a list (TemplateList)"));
        }
        (Conversion::PartialList(_), Scope::One | Scope::Watch) => {
            return Err(other_number("PartialObjectMetadataList", "not a list (Template)"));
        }
    };
    Ok(ResponseFormat { format, pretty: is_pretty(user_agent, query), shape })
}

/// Returns the format of a document, which has only one shape. The default is JSON.
pub fn format(accept: Option<&str>) -> Format {
    ranges(accept).iter().find_map(Range::matching).unwrap_or(Format::Json)
}

/// Returns the format of an error. Returns `None` if the client accepts neither plain JSON nor
/// plain YAML, for example only a Table.
pub fn of_error(accept: Option<&str>) -> Option<Format> {
    let ranges = ranges(accept);
    if ranges.is_empty() {
        return Some(Format::Json);
    }
    ranges
        .iter()
        .filter(|range| matches!(Conversion::of(range), Some(Conversion::Plain)))
        .find_map(Range::matching)
}

/// Returns the document that a client requests from `/api` or `/apis`. Each version of the
/// aggregated document is only for clients that request it: older ones cannot read the newer one.
///
/// # Errors
///
/// 406 if the server supports nothing that the client accepts.
pub fn discovery(accept: Option<&str>) -> Result<Discovery> {
    let ranges = ranges(accept);
    if ranges.is_empty() {
        return Ok(Discovery::Plain(Format::Json));
    }
    let found = ranges.iter().find_map(|range| {
        let format = range.matching()?;
        match (range.get("as"), range.get("g"), range.get("v"), format) {
            (None, None, None, _) => Some(Discovery::Plain(format)),
            (Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), version, Format::Json) => {
                let known = [DiscoveryVersion::V2, DiscoveryVersion::V2Beta1];
                let version = known.into_iter().find(|known| Some(known.name()) == version)?;
                Some(Discovery::Aggregated(version))
            }
            _ => None,
        }
    });
    found.ok_or_else(|| not_acceptable(NAMES))
}

/// Returns `true` if a client accepts a media type, such as `application/json`. Ignores parameters.
pub fn accepts(accept: Option<&str>, media_type: &str) -> bool {
    let ranges = ranges(accept);
    let kind = media_type.split('/').next().unwrap_or_default();
    ranges.is_empty()
        || ranges.iter().any(|range| {
            range.is_any()
                || range.media_type.eq_ignore_ascii_case(media_type)
                || range.media_type.strip_suffix("/*").is_some_and(|found| found == kind)
        })
}

/// Returns `true` if JSON is indented: by `?pretty=`, or by default for browsers, curl and wget.
pub fn is_pretty(user_agent: Option<&str>, query: &Query) -> bool {
    match query.text("pretty") {
        "" => user_agent.is_some_and(|agent| {
            ["curl", "Wget", "Mozilla/5.0"].iter().any(|known| agent.starts_with(known))
        }),
        value => matches!(value, "1" | "t" | "T" | "true" | "TRUE" | "True"),
    }
}

/// A media range of `Accept`.
struct Range<'a> {
    media_type: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Range<'a> {
    fn is_any(&self) -> bool {
        self.media_type == "*/*"
    }

    fn format(&self) -> Option<Format> {
        let found = FORMATS.iter().find(|(name, _)| self.media_type.eq_ignore_ascii_case(name));
        found.map(|(_, format)| *format)
    }

    /// Returns the format of a response in this range.
    fn matching(&self) -> Option<Format> {
        let is_wide = self.is_any() || self.media_type == "application/*";
        self.format().or(is_wide.then_some(Format::Json))
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.parameters.iter().rev().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    fn quality(&self) -> u32 {
        let quality: Option<f32> = self.get("q").map(|text| text.parse().unwrap_or_default());
        // The bits of positive floats sort like the floats.
        quality.filter(|quality| *quality >= 0.0).unwrap_or(1.0).to_bits()
    }
}

/// Returns the media ranges by preference. A quality of 0 does not exclude a range.
fn ranges(accept: Option<&str>) -> Vec<Range<'_>> {
    let parts = accept.unwrap_or_default().split(',').map(str::trim);
    let mut ranges: Vec<Range<'_>> = parts
        .filter(|part| !part.is_empty())
        .take(MAX_RANGES)
        .map(|part| {
            let (media_type, parameters) = part.split_once(';').unwrap_or((part, ""));
            let parameters = parameters.split(';').filter_map(|parameter| {
                let (key, value) = parameter.split_once('=')?;
                Some((key.trim(), value.trim().trim_matches('"')))
            });
            Range { media_type: media_type.trim(), parameters: parameters.collect() }
        })
        .collect();
    let stars = |range: &Range<'_>| range.media_type.matches('*').count();
    ranges.sort_by_key(|range| (Reverse(range.quality()), stars(range)));
    ranges
}

#[derive(Clone, Copy)]
enum Conversion {
    Plain,
    Table(MetaVersion),
    Partial(MetaVersion),
    PartialList(MetaVersion),
}

impl Conversion {
    /// Returns the requested conversion of a range, or `None` if it is unknown.
    fn of(range: &Range<'_>) -> Option<Self> {
        if range.get("stream").is_some_and(|stream| !matches!(stream, "" | "watch")) {
            return None;
        }
        let (kind, group, version) = (range.get("as"), range.get("g"), range.get("v"));
        if kind.or(group).or(version).is_none() {
            return Some(Self::Plain);
        }
        let version = match (group?, version?) {
            ("meta.k8s.io", "v1") => MetaVersion::V1,
            ("meta.k8s.io", "v1beta1") => MetaVersion::V1Beta1,
            _ => return None,
        };
        match kind? {
            "Table" => Some(Self::Table(version)),
            "PartialObjectMetadata" => Some(Self::Partial(version)),
            "PartialObjectMetadataList" => Some(Self::PartialList(version)),
            _ => None,
        }
    }
}

fn include(query: &Query) -> Result<Include> {
    match query.text("includeObject") {
        "" | "Metadata" => Ok(Include::Metadata),
        "None" => Ok(Include::None),
        "Object" => Ok(Include::Object),
        other => Err(Status::bad_request(format!(
            "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be 'Metadata', 'Object', 'None', or empty"
        ))),
    }
}

/// Returns the 406 error for ranges without a supported type.
fn unknown(scope: Scope) -> Box<Status> {
    let streams = if scope == Scope::One { String::new() } else { format!(", {STREAM}") };
    let message = format!("406: Not Acceptable\n\nAvailable representations: {NAMES}{streams}");
    Status::new(406, "NotAcceptable", message).with(Details::default())
}

fn not_acceptable(accepted: &str) -> Box<Status> {
    let message = format!("only the following media types are accepted: {accepted}");
    Status::new(406, "NotAcceptable", message)
}

fn other_number(asked: &str, found: &str) -> Box<Status> {
    let message = format!("you requested {asked}, but the requested object is {found}");
    Status::new(406, "NotAcceptable", message)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formats_follow_quality_and_then_order() {
        let cases = [
            ("application/json;q=0.5,application/yaml;q=0.9", Format::Yaml),
            ("application/yaml, application/json", Format::Yaml),
            ("application/xml, application/json", Format::Json),
            ("*/*, application/yaml", Format::Yaml),
            ("text/html,application/xhtml+xml,*/*;q=0.8", Format::Json),
            ("application/json;q=0", Format::Json),
            ("application/yaml;q=x, application/json;q=0.1", Format::Json),
            ("", Format::Json),
        ];
        for (text, expected) in cases {
            let answer = negotiate(Some(text), None, &Query::default(), Scope::One).unwrap();
            assert_eq!((answer.format, answer.shape), (expected, Shape::Plain), "{text}");
        }
    }

    #[test]
    fn tables_hold_what_is_asked_for() {
        let table = |query: &str| {
            let accept = "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
            let query = Query::parse(query).unwrap();
            negotiate(Some(accept), None, &query, Scope::List).map(|answer| answer.shape)
        };
        let of = |include| Ok(Shape::Table(MetaVersion::V1Beta1, include));
        assert_eq!(table(""), of(Include::Metadata));
        assert_eq!(table("includeObject=Object"), of(Include::Object));
        assert_eq!(table("includeObject=None"), of(Include::None));
        assert_eq!(table("includeObject=x").unwrap_err().code, 400);
    }

    #[test]
    fn people_get_indented_json() {
        let pretty = |agent: &str, query: &str| {
            let query = Query::parse(query).unwrap();
            negotiate(None, Some(agent), &query, Scope::One).unwrap().pretty
        };
        assert!(pretty("curl/8.0", ""));
        assert!(pretty("kubectl", "pretty=1"));
        assert!(!pretty("curl/8.0", "pretty=false"));
        assert!(!pretty("kubectl/v1.33.0", ""));
        assert!(!pretty("kubectl", "pretty=yes"));
    }

    #[test]
    fn only_a_version_of_discovery_that_was_asked_for_is_answered() {
        let of = |version: &str| {
            format!("application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList")
        };
        let ask = |text: &str| discovery(Some(text)).ok();
        let both = format!("{},{},application/json", of("v2"), of("v2beta1"));
        assert_eq!(ask(&both), Some(Discovery::Aggregated(DiscoveryVersion::V2)));
        let old = format!("{},application/json", of("v2beta1"));
        assert_eq!(ask(&old), Some(Discovery::Aggregated(DiscoveryVersion::V2Beta1)));
        let unknown = format!("{},application/json", of("v9"));
        assert_eq!(ask(&unknown), Some(Discovery::Plain(Format::Json)));
        assert_eq!(ask(&of("v9")), None);
        assert_eq!(ask("application/yaml"), Some(Discovery::Plain(Format::Yaml)));
        assert_eq!(discovery(None), Ok(Discovery::Plain(Format::Json)));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[a-z*/;,=.0-9 ]{0,60}|\\PC*") {
            for scope in [Scope::One, Scope::List, Scope::Watch] {
                let _ = negotiate(Some(&text), Some(&text), &Query::default(), scope);
            }
            let _ = discovery(Some(&text));
            let _ = format(Some(&text));
        }
    }
}

//! Walks a value with a schema of Draft 4, as Python's jsonschema 3.2.0 does: sets its defaults, or
//! finds what does not fit.

use krm_yaml::{Data, FieldPath, Step, Value};

use crate::references::size;
use crate::schema::deadline::Deadline;
use crate::schema::keywords::Pair;
use crate::schema::patterns::Patterns;
use crate::schema::pointer::target;
use crate::schema::problem::Problem;

/// How deep schemas are visited for one value.
pub(super) const MAX_DEPTH: usize = 300;

/// The most errors of one value that are reported; the others are counted.
const MAX_FINDINGS: usize = 1_000;

/// How many schemas are visited for one value.
const MAX_VISITS: usize = 1_000_000;

/// The steps that a visit takes at least, for the deadline.
const VISIT: usize = 64;

/// A valid schema, which sets defaults in values and checks them.
pub(super) struct Checker {
    pub(super) schema: Value<'static>,
    patterns: Patterns,
}

/// An error at one place.
#[derive(Clone, Debug)]
pub(super) struct Finding<'s> {
    /// The path of the value from the properties down.
    pub(super) path: FieldPath,
    /// The keyword that it violates.
    pub(super) keyword: &'s str,
    /// The violation, without the path and the value.
    pub(super) text: String,
    /// The schema with this keyword.
    pub(super) schema: &'s Value<'static>,
}

impl Checker {
    /// A checker for a schema that is valid.
    pub(super) fn new(schema: Value<'static>) -> Self {
        Self { schema, patterns: Patterns::default() }
    }

    /// Sets the defaults in a value where a validator visits it.
    pub(super) fn set_defaults(
        &self,
        value: &mut Value<'static>,
        deadline: &Deadline<'_>,
    ) -> Result<(), Problem> {
        let mut walk = Walk::new(self, deadline, Purpose::Defaults);
        walk.schema(&self.schema, value, 0).map(|_| ())
    }

    /// The errors in a value, which stays as it is, in the order of their places. The last one
    /// counts those beyond [`MAX_FINDINGS`].
    pub(super) fn findings(
        &self,
        value: &mut Value<'static>,
        deadline: &Deadline<'_>,
    ) -> Result<Vec<Finding<'_>>, Problem> {
        let mut walk = Walk::new(self, deadline, Purpose::Findings);
        walk.schema(&self.schema, value, 0)?;
        let (mut findings, more) = (walk.findings, walk.more);
        findings.sort_by(|one, other| {
            let by_path = one.path.cmp(&other.path);
            let by_keyword = one.keyword.cmp(other.keyword);
            by_path.then(by_keyword).then_with(|| one.text.cmp(&other.text))
        });
        if more > 0 {
            findings.push(Finding {
                path: FieldPath::root(),
                keyword: "",
                text: format!("have {more} more errors"),
                schema: &self.schema,
            });
        }
        Ok(findings)
    }
}

/// The purpose of a walk over a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Setting defaults. `required` and what is in `properties` do not decide whether a value fits.
    Defaults,
    Findings,
    /// Whether the value fits, and nothing else.
    Fit,
}

struct Walk<'s, 'c> {
    checker: &'s Checker,
    deadline: &'c Deadline<'c>,
    purpose: Purpose,
    /// Where the value is that is checked.
    path: FieldPath,
    findings: Vec<Finding<'s>>,
    /// The number of the other errors.
    more: usize,
    /// How many more schemas are visited.
    visits: usize,
}

impl<'s, 'c> Walk<'s, 'c> {
    fn new(checker: &'s Checker, deadline: &'c Deadline<'c>, purpose: Purpose) -> Self {
        let (path, findings) = (FieldPath::root(), Vec::new());
        Self { checker, deadline, purpose, path, findings, more: 0, visits: MAX_VISITS }
    }

    /// Whether a value fits a schema.
    fn schema(
        &mut self,
        schema: &'s Value<'static>,
        value: &mut Value<'static>,
        depth: usize,
    ) -> Result<bool, Problem> {
        self.deadline.take(VISIT)?;
        self.visits = self.visits.checked_sub(1).ok_or(Problem::Endless)?;
        if depth > MAX_DEPTH {
            return Err(Problem::Endless);
        }
        if let Some(reference) = schema.str_at(&["$ref"]) {
            return self.schema(target(&self.checker.schema, reference)?, value, depth + 1);
        }
        let mut fits = true;
        for (keyword, limit) in schema.entries().unwrap_or_default() {
            fits &= self.keyword(keyword, limit, schema, value, depth)?;
            if !fits && self.purpose == Purpose::Fit {
                break;
            }
        }
        Ok(fits)
    }

    fn keyword(
        &mut self,
        keyword: &'s str,
        limit: &'s Value<'static>,
        schema: &'s Value<'static>,
        value: &mut Value<'static>,
        depth: usize,
    ) -> Result<bool, Problem> {
        let is_of_defaults = self.purpose == Purpose::Defaults;
        if is_of_defaults && keyword == "properties" {
            self.add_defaults(limit, value)?;
        }
        let branches = limit.items().unwrap_or_default();
        let wrong = match keyword {
            "anyOf" => {
                let fitting = self.fitting(branches, value, depth, 1)?;
                (fitting == 0).then_some("must match a schema of `anyOf`")
            }
            "oneOf" => {
                let fitting = self.fitting(branches, value, depth, usize::MAX)?;
                (fitting != 1).then_some("must match exactly one schema of `oneOf`")
            }
            "not" => {
                let fitting = self.fitting(std::slice::from_ref(limit), value, depth, 1)?;
                (fitting == 1).then_some("must not match the schema of `not`")
            }
            _ => None,
        };
        let wrong: Vec<String> = match (wrong, keyword) {
            (Some(wrong), _) => vec![wrong.to_owned()],
            (None, "required") if is_of_defaults => Vec::new(),
            (None, _) => self.pair(schema, value).wrong(keyword)?,
        };
        let mut fits = wrong.is_empty();
        self.find(keyword, schema, wrong);
        for part in parts(keyword, limit, self.pair(schema, value))? {
            fits &= self.part(part, value, depth)? || (is_of_defaults && keyword == "properties");
        }
        Ok(fits)
    }

    const fn pair<'p>(&self, schema: &'p Value<'static>, value: &'p Value<'static>) -> Pair<'p>
    where
        's: 'p,
        'c: 'p,
    {
        Pair { schema, value, patterns: &self.checker.patterns, deadline: self.deadline }
    }

    fn find(&mut self, keyword: &'s str, schema: &'s Value<'static>, texts: Vec<String>) {
        if self.purpose == Purpose::Findings {
            let room = MAX_FINDINGS - self.findings.len();
            self.more = self.more.saturating_add(texts.len().saturating_sub(room));
            let found = texts.into_iter().take(room);
            let path = &self.path;
            let found = found.map(|text| Finding { path: path.clone(), keyword, text, schema });
            self.findings.extend(found);
        }
    }

    /// The number of branches that a value fits, up to this number.
    fn fitting(
        &mut self,
        branches: &'s [Value<'static>],
        value: &mut Value<'static>,
        depth: usize,
        enough: usize,
    ) -> Result<usize, Problem> {
        let purpose = self.purpose;
        if purpose == Purpose::Findings {
            self.purpose = Purpose::Fit;
        }
        let mut fitting = 0;
        for branch in branches {
            if fitting < enough && self.schema(branch, value, depth + 1)? {
                fitting += 1;
            }
        }
        self.purpose = purpose;
        Ok(fitting)
    }

    fn part(
        &mut self,
        part: Part<'s>,
        value: &mut Value<'static>,
        depth: usize,
    ) -> Result<bool, Problem> {
        let Some(index) = part.index else {
            return self.schema(part.schema, value, depth + 1);
        };
        let (step, child) = match &mut value.data {
            Data::Mapping(entries) => match entries.get_mut(index) {
                Some((key, child)) => (Step::Key(key.to_string()), child),
                None => return Ok(true),
            },
            Data::Sequence(items) => match items.get_mut(index) {
                Some(child) => (Step::Index(index), child),
                None => return Ok(true),
            },
            Data::Scalar(_) => return Ok(true),
        };
        self.path.push(step);
        let fits = self.schema(part.schema, child, depth + 1)?;
        self.path.pop();
        Ok(fits)
    }

    /// Adds the properties that a mapping does not have and these schemas have defaults for.
    fn add_defaults(
        &self,
        properties: &'s Value<'static>,
        value: &mut Value<'static>,
    ) -> Result<(), Problem> {
        for (key, property) in properties.entries().unwrap_or_default() {
            let Some(entries) = value.entries() else { break };
            self.deadline.take(entries.len())?;
            if value.get(key).is_some() {
                continue;
            }
            let property = match property.str_at(&["$ref"]) {
                Some(reference) => target(&self.checker.schema, reference)?,
                None => property,
            };
            if let Some(default) = property.get("default") {
                self.deadline.take(size(default))?;
                value.insert(key.clone(), default.clone().without_origin());
            }
        }
        Ok(())
    }
}

/// A value, or a value in it, that a keyword describes with a schema of its own.
#[derive(Clone, Copy)]
struct Part<'s> {
    /// Which entry or item it is; none for the value itself.
    index: Option<usize>,
    schema: &'s Value<'static>,
}

/// The parts of a value that must fit the schemas of a keyword.
fn parts<'s>(
    keyword: &str,
    limit: &'s Value<'static>,
    pair: Pair<'_>,
) -> Result<Vec<Part<'s>>, Problem> {
    let at = |index, schema| Part { index: Some(index), schema };
    let itself = |schema| Part { index: None, schema };
    let branches = limit.items().unwrap_or_default();
    let named = limit.entries().unwrap_or_default();
    // A schema for all that no other keyword describes.
    let is_schema = limit.entries().is_some();
    let items = pair.value.items().map_or(0, <[_]>::len);
    let mut parts = Vec::new();
    match keyword {
        "allOf" => parts.extend(branches.iter().map(itself)),
        "properties" => {
            for (name, schema) in named {
                parts.extend(pair.position(name)?.map(|index| at(index, schema)));
            }
        }
        "patternProperties" => {
            let properties = pair.value.entries().unwrap_or_default();
            for (pattern, schema) in named {
                for (index, (name, _)) in properties.iter().enumerate() {
                    if pair.matches(pattern, name)? {
                        parts.push(at(index, schema));
                    }
                }
            }
        }
        "additionalProperties" if is_schema => {
            parts.extend(pair.additional()?.into_iter().map(|(index, _)| at(index, limit)));
        }
        "dependencies" => {
            for (name, needed) in named {
                if needed.entries().is_some() && pair.position(name)?.is_some() {
                    parts.push(itself(needed));
                }
            }
        }
        "items" if is_schema => parts.extend((0..items).map(|index| at(index, limit))),
        "items" => {
            let branches = branches.iter().take(items).enumerate();
            parts.extend(branches.map(|(index, schema)| at(index, schema)));
        }
        "additionalItems" if is_schema => {
            let additional = pair.additional_items();
            parts.extend((items - additional..items).map(|index| at(index, limit)));
        }
        _ => {}
    }
    Ok(parts)
}

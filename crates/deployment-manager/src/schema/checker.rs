//! Checks values with one schema of Draft 4, as Python's jsonschema 3.2.0 does.

use krm_yaml::shorten::{MAX_MESSAGE, cut};
use krm_yaml::{FieldPath, Step, Value};

use crate::repr::{quoted, text};
use crate::schema::clock::Clock;
use crate::schema::keywords::Pair;
use crate::schema::patterns::Patterns;
use crate::schema::pointer::target;
use crate::schema::problem::Problem;

/// How deep schemas are visited for one value.
const MAX_DEPTH: usize = 300;

/// The most errors of one value that are reported; the others are counted.
const MAX_FINDINGS: usize = 1_000;

/// How many schemas are visited for one value.
const MAX_VISITS: usize = 1_000_000;

/// The steps that a visit takes at least, for the clock.
const VISIT: usize = 64;

/// A schema that is ready to check values.
pub(super) struct Checker {
    schema: Value<'static>,
    patterns: Patterns,
}

/// An error at one place.
#[derive(Clone, Debug)]
pub(super) struct Finding<'s> {
    /// The path of the value from the properties down.
    pub(super) path: FieldPath,
    /// The keyword that it violates.
    pub(super) keyword: &'s str,
    /// The message without the path.
    pub(super) text: String,
    /// The schema with this keyword.
    pub(super) schema: &'s Value<'static>,
}

impl Finding<'_> {
    /// A line of the original.
    pub(super) fn line(&self) -> String {
        if self.path.steps().is_empty() {
            return self.text.clone();
        }
        let steps = self.path.steps().iter().map(|step| match step {
            Step::Key(key) => text(key),
            Step::Index(index) => index.to_string(),
        });
        format!("{} at [{}]", self.text, steps.collect::<Vec<_>>().join(", "))
    }
}

impl Checker {
    /// A checker for a schema that is valid.
    pub(super) fn new(schema: Value<'static>) -> Self {
        let patterns = Patterns::default();
        Self { schema, patterns }
    }

    pub(super) const fn schema(&self) -> &Value<'static> {
        &self.schema
    }

    /// The regular expressions of the schema.
    pub(super) const fn patterns(&self) -> &Patterns {
        &self.patterns
    }

    /// The errors in a value, in the order of their places. The last one counts those beyond
    /// [`MAX_FINDINGS`].
    pub(super) fn findings<'s>(
        &'s self,
        value: &Value<'static>,
        clock: &Clock<'_>,
    ) -> Result<Vec<Finding<'s>>, Problem> {
        let mut walk = Walk {
            checker: self,
            clock,
            more: 0,
            path: FieldPath::root(),
            findings: Some(Vec::new()),
            visits: MAX_VISITS,
        };
        walk.schema(&self.schema, value, 0)?;
        let mut findings = walk.findings.unwrap_or_default();
        findings.sort_by(|one, other| {
            let by_path = one.path.cmp(&other.path);
            let by_keyword = one.keyword.cmp(other.keyword);
            by_path.then(by_keyword).then_with(|| one.text.cmp(&other.text))
        });
        if walk.more > 0 {
            findings.push(Finding {
                path: FieldPath::root(),
                keyword: "",
                text: format!("{} more errors", walk.more),
                schema: &self.schema,
            });
        }
        Ok(findings)
    }
}

struct Walk<'s, 'c> {
    checker: &'s Checker,
    clock: &'c Clock<'c>,
    /// Where the value is that is checked.
    path: FieldPath,
    /// The errors so far; none if only whether the value fits matters.
    findings: Option<Vec<Finding<'s>>>,
    /// The number of the others.
    more: usize,
    /// How many more schemas are visited.
    visits: usize,
}

impl<'s, 'c> Walk<'s, 'c> {
    /// Whether a value fits a schema.
    fn schema(
        &mut self,
        schema: &'s Value<'static>,
        value: &Value<'static>,
        depth: usize,
    ) -> Result<bool, Problem> {
        self.clock.take(VISIT)?;
        self.visits = self.visits.checked_sub(1).ok_or(Problem::Endless)?;
        if depth > MAX_DEPTH {
            return Err(Problem::Endless);
        }
        if let Some(reference) = schema.str_at(&["$ref"]) {
            return match target(&self.checker.schema, reference) {
                Some(target) => self.schema(target, value, depth + 1),
                // Setting defaults reports it, if it is needed.
                None => Ok(true),
            };
        }
        let mut fits = true;
        for (keyword, _) in schema.entries().unwrap_or_default() {
            fits &= self.keyword(keyword, schema, value, depth)?;
            if !fits && self.findings.is_none() {
                break;
            }
        }
        Ok(fits)
    }

    fn keyword(
        &mut self,
        keyword: &'s str,
        schema: &'s Value<'static>,
        value: &Value<'static>,
        depth: usize,
    ) -> Result<bool, Problem> {
        let branches = schema.get(keyword).and_then(Value::items);
        let branches = branches.unwrap_or_default();
        let pair = self.pair(schema, value);
        let fits_itself = match keyword {
            "anyOf" => !self.fitting(branches, value, depth, 1)?.is_empty(),
            "oneOf" => {
                let fitting = self.fitting(branches, value, depth, usize::MAX)?;
                if let [first, later @ ..] = fitting.as_slice()
                    && !later.is_empty()
                {
                    self.find(keyword, schema, || Ok(vec![several(value, first, later)]))?;
                    return Ok(false);
                }
                fitting.len() == 1
            }
            "not" => {
                let not = schema.get(keyword).map_or(&[][..], std::slice::from_ref);
                self.fitting(not, value, depth, 1)?.is_empty()
            }
            _ => pair.fits(keyword)?,
        };
        if !fits_itself {
            self.find(keyword, schema, || pair.messages(keyword))?;
        }
        let mut fits = fits_itself;
        for part in parts(keyword, pair, schema)? {
            fits &= self.part(part, depth)?;
        }
        Ok(fits)
    }

    const fn pair<'p>(&self, schema: &'p Value<'static>, value: &'p Value<'static>) -> Pair<'p>
    where
        's: 'p,
        'c: 'p,
    {
        let patterns = &self.checker.patterns;
        Pair { schema, value, patterns, clock: self.clock }
    }

    fn find(
        &mut self,
        keyword: &'s str,
        schema: &'s Value<'static>,
        messages: impl FnOnce() -> Result<Vec<String>, Problem>,
    ) -> Result<(), Problem> {
        let Some(findings) = &mut self.findings else {
            return Ok(());
        };
        if findings.len() >= MAX_FINDINGS {
            self.more = self.more.saturating_add(1);
            return Ok(());
        }
        let texts = messages()?;
        let room = MAX_FINDINGS - findings.len();
        self.more = self.more.saturating_add(texts.len().saturating_sub(room));
        findings.extend(texts.into_iter().take(room).map(|mut text| {
            cut(&mut text, MAX_MESSAGE);
            Finding { path: self.path.clone(), keyword, text, schema }
        }));
        Ok(())
    }

    /// The branches that a value fits, up to this number.
    fn fitting(
        &mut self,
        branches: &'s [Value<'static>],
        value: &Value<'static>,
        depth: usize,
        enough: usize,
    ) -> Result<Vec<&'s Value<'static>>, Problem> {
        let findings = self.findings.take();
        let mut fitting = Vec::new();
        for branch in branches {
            if fitting.len() < enough && self.schema(branch, value, depth + 1)? {
                fitting.push(branch);
            }
        }
        self.findings = findings;
        Ok(fitting)
    }

    fn part(&mut self, part: Part<'s, '_>, depth: usize) -> Result<bool, Problem> {
        let has_step = part.step.is_some();
        if let Some(step) = part.step {
            self.path.push(step);
        }
        let fits = self.schema(part.schema, part.value, depth + 1)?;
        if has_step {
            self.path.pop();
        }
        Ok(fits)
    }
}

/// A value, or a value in it, that a keyword describes with a schema of its own.
struct Part<'s, 'v> {
    /// Where it is; none for the value itself.
    step: Option<Step>,
    schema: &'s Value<'static>,
    value: &'v Value<'static>,
}

/// The parts of a value that must fit the schemas of a keyword.
fn parts<'s, 'v>(
    keyword: &str,
    pair: Pair<'v>,
    schema: &'s Value<'static>,
) -> Result<Vec<Part<'s, 'v>>, Problem> {
    let value = pair.value;
    let key = |name: &str| Some(Step::Key(name.to_owned()));
    let at = |index| Some(Step::Index(index));
    let part = |step, schema, value| Part { step, schema, value };
    let limit = schema.get(keyword);
    let branches = limit.and_then(Value::items).unwrap_or_default();
    let named = limit.and_then(Value::entries).unwrap_or_default();
    // A schema for all that no other keyword describes.
    let other = limit.filter(|limit| limit.entries().is_some());
    let properties = value.entries().unwrap_or_default();
    let items = value.items().unwrap_or_default();
    let mut parts = Vec::new();
    match keyword {
        "allOf" => parts.extend(branches.iter().map(|branch| part(None, branch, value))),
        "properties" => {
            for (name, schema) in named {
                if let Some(value) = pair.property(name)? {
                    parts.push(part(key(name), schema, value));
                }
            }
        }
        "patternProperties" => {
            for (pattern, schema) in named {
                for (name, value) in properties {
                    if pair.matches(pattern, name)? {
                        parts.push(part(key(name), schema, value));
                    }
                }
            }
        }
        "additionalProperties" if let Some(schema) = other => {
            let additional = pair.additional()?.into_iter();
            parts.extend(additional.map(|(name, value)| part(key(name), schema, value)));
        }
        "dependencies" => {
            for (name, needed) in named {
                if needed.entries().is_some() && pair.property(name)?.is_some() {
                    parts.push(part(None, needed, value));
                }
            }
        }
        "items" if let Some(schema) = other => {
            let items = items.iter().enumerate();
            parts.extend(items.map(|(index, item)| part(at(index), schema, item)));
        }
        "items" => {
            let items = items.iter().zip(branches).enumerate();
            parts.extend(items.map(|(index, (item, schema))| part(at(index), schema, item)));
        }
        "additionalItems" if let Some(schema) = other => {
            let additional = pair.additional_items();
            let items = (items.len() - additional.len()..).zip(additional);
            parts.extend(items.map(|(index, item)| part(at(index), schema, item)));
        }
        _ => {}
    }
    Ok(parts)
}

/// The most schemas that a message names; more would be cut from it.
const MAX_NAMED: usize = 1_000;

/// The message about a value that fits several branches of `oneOf`: the later ones, then the first.
fn several(value: &Value<'static>, first: &Value<'static>, later: &[&Value<'static>]) -> String {
    let branches = later.iter().copied().chain([first]);
    let branches: Vec<String> = branches.take(MAX_NAMED).map(quoted).collect();
    let found = quoted(value);
    format!("{found} is valid under each of {}", branches.join(", "))
}

//! Rules over several fields that are data: the lines of `data/relations.txt`.
//!
//! A line has the definitions, the field that is refused, the message, and conditions that must all hold,
//! with tabs between them. The field `.` is the object; of fields with `|`, all but the first are refused.
//! The message `enum A|B` has the words, `form F` is a condition too, and `labels` checks a map of labels.
//! `@kind` and `@group` are those of the object, and `@in` are the keys on the way to the field.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use krm_yaml::{Scalar, View};

use super::containers::amount;
use super::metadata::label_map;
use crate::formats::Format;
use crate::schema::{self, Schema};
use crate::walk::{Part, Walk, at, is_filled, word};

/// A line.
#[derive(Debug)]
struct Relation {
    field: &'static str,
    message: &'static str,
    conditions: Vec<Condition>,
}

/// A condition on a field, or several with `|`.
#[derive(Debug)]
struct Condition {
    field: &'static str,
    test: Test,
}

#[derive(Debug)]
enum Test {
    /// How many of the fields are there.
    Set(fn(usize) -> bool),
    /// Whether one of the fields is there and not empty.
    Filled(bool),
    /// The text is empty, or has only spaces.
    Blank,
    /// Whether it is one of these words; the empty word means that the text is missing.
    Is(bool, &'static str),
    /// The same with letters in upper or lower case.
    IsLike(bool, &'static str),
    /// Whether it is the same text as in another field.
    Equals(bool, &'static str),
    /// It is this number, and no text.
    Number(&'static str),
    /// Compares it with a number or the number of another field.
    Compare(fn(f64, f64) -> bool, &'static str),
    /// The text does not have this format.
    Misfits(Format),
}

impl Condition {
    fn new(words: &'static str) -> Option<Self> {
        let (first, rest) = words.split_once(' ').unwrap_or((words, ""));
        let of_several = match first {
            "no" => Some(Test::Set(|count| count == 0)),
            "several" => Some(Test::Set(|count| count > 1)),
            "not-one" => Some(Test::Set(|count| count != 1)),
            "has" => Some(Test::Filled(true)),
            "lacks" => Some(Test::Filled(false)),
            "blank" => Some(Test::Blank),
            _ => None,
        };
        if let Some(test) = of_several {
            return Some(Self { field: rest, test });
        }
        let (operator, operand) = rest.split_once(' ').unwrap_or((rest, ""));
        let test = match operator {
            "" => Test::Set(|count| count > 0),
            "=" => Test::Is(true, operand),
            "!=" => Test::Is(false, operand),
            "equals" => Test::Equals(true, operand),
            "differs" => Test::Equals(false, operand),
            "number" => Test::Number(operand),
            "<" => Test::Compare(|own, other| own < other, operand),
            "<=" => Test::Compare(|own, other| own <= other, operand),
            ">" => Test::Compare(|own, other| own > other, operand),
            "~" => Test::IsLike(true, operand),
            "!~" => Test::IsLike(false, operand),
            "misfits" => Test::Misfits(Format::of(operand)?),
            _ => return None,
        };
        Some(Self { field: first, test })
    }

    fn holds<'v>(&self, walk: &Walk<'v>, view: View<'v>) -> bool {
        let of = |field: &str| at_path(view, field);
        let mut set = self.field.split('|').filter_map(of);
        match &self.test {
            Test::Set(is_enough) => is_enough(set.count()),
            Test::Filled(wanted) => set.any(is_filled) == *wanted,
            Test::Blank => filled(of(self.field)).is_none_or(|text| text.trim().is_empty()),
            Test::IsLike(wanted, words) => {
                let text = filled(of(self.field)).unwrap_or_default();
                let mut words = words.split('|');
                !walk.is_placeholder_text(&text)
                    && words.any(|word| word.eq_ignore_ascii_case(&text)) == *wanted
            }
            Test::Is(wanted, words) => {
                let is_one = |text: &str| words.split('|').any(|word| word == text);
                let found = match self.field {
                    "@kind" => is_one(walk.kind),
                    "@group" => is_one(&walk.group),
                    "@in" => words.split('|').any(|key| walk.passes(key)),
                    field => {
                        // Another rule finds a number in place of a text.
                        let is_plain = |word| matches!(word, "" | "0" | "true" | "false");
                        let read = if words.split('|').all(is_plain) { word } else { filled };
                        let text = |value| read(value).unwrap_or_default();
                        let texts: Vec<_> = match field.strip_suffix("[]").map(of) {
                            Some(list) => {
                                let items = list.and_then(View::items).into_iter().flatten();
                                items.map(|item| text(Some(item))).collect()
                            }
                            None => vec![text(of(field))],
                        };
                        let found = texts.iter().any(|text| is_one(text));
                        // Nothing else is certain about a text that is only known later.
                        let is_certain = found && *wanted;
                        if !is_certain && texts.iter().any(|text| walk.is_placeholder_text(text)) {
                            return false;
                        }
                        found
                    }
                };
                found == *wanted
            }
            Test::Equals(wanted, other) => {
                let (own, other) = (filled(of(self.field)), filled(of(other)));
                let is_placeholder = |text: &Option<Cow<'_, str>>| {
                    text.as_ref().is_some_and(|text| walk.is_placeholder_text(text))
                };
                !is_placeholder(&own) && !is_placeholder(&other) && (own == other) == *wanted
            }
            Test::Number(digits) => {
                let number = of(self.field).and_then(View::scalar);
                number.is_some_and(|own| matches!(own, Scalar::Number(own) if own == *digits))
            }
            Test::Compare(is_so, limit) => {
                let other = limit.trim_end_matches('%').parse().ok();
                let other = other.or_else(|| amount(of(limit)?));
                let own = number_of(of(self.field), limit.ends_with('%'));
                own.zip(other).is_some_and(|(own, other)| is_so(own, other))
            }
            Test::Misfits(format) => filled(of(self.field)).is_some_and(|text| !format.fits(&text)),
        }
    }
}

/// The number of a value, its percentage, or the number of its items.
fn number_of(value: Option<View<'_>>, is_percentage: bool) -> Option<f64> {
    let value = value?;
    match value.items() {
        Some(items) => u32::try_from(items.count()).ok().map(f64::from),
        None if is_percentage => value.as_str()?.strip_suffix('%')?.parse().ok(),
        None => amount(value),
    }
}

/// A text, unless it is empty.
fn filled(value: Option<View<'_>>) -> Option<Cow<'_, str>> {
    value?.as_str().filter(|text| !text.is_empty())
}

/// The value at keys with dots between them.
fn at_path<'v>(view: View<'v>, path: &str) -> Option<View<'v>> {
    path.split('.').try_fold(view, |view, key| at(view, &[key]))
}

/// Applies the lines of the definition with an index.
pub(super) fn apply<'v>(walk: &mut Walk<'v>, definition: usize, view: View<'v>) {
    for relation in relations().get(&definition).into_iter().flatten() {
        if relation.conditions.iter().all(|condition| condition.holds(walk, view)) {
            relation.refuse(walk, view);
        }
    }
}

fn relations() -> &'static BTreeMap<usize, Vec<Relation>> {
    static RELATIONS: OnceLock<BTreeMap<usize, Vec<Relation>>> = OnceLock::new();
    RELATIONS.get_or_init(|| {
        let text = schema::text(include_bytes!(concat!(env!("OUT_DIR"), "/relations.txt")));
        let mut relations: BTreeMap<usize, Vec<Relation>> = BTreeMap::new();
        for line in text.lines() {
            let mut cells = line.split('\t');
            let names = cells.next().unwrap_or_default();
            let (field, message) =
                (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
            for definition in names.split(',').filter_map(|name| Schema::get().named(name)) {
                let conditions: Option<Vec<_>> = cells.clone().map(Condition::new).collect();
                let relation = conditions.map(|conditions| Relation { field, message, conditions });
                relations.entry(definition).or_default().extend(relation);
            }
        }
        relations
    })
}

impl Relation {
    fn refuse<'v>(&self, walk: &mut Walk<'v>, view: View<'v>) {
        if self.field.contains('|') {
            let set = self.field.split('|').filter(|field| at_path(view, field).is_some());
            for field in set.skip(1) {
                walk.refuse(view, &[Part::from(field)], self.message);
            }
            return;
        }
        let steps: Vec<Part<'v>> =
            self.field.split('.').filter(|key| !key.is_empty()).map(Part::from).collect();
        let around = self.field.rsplit_once('.').and_then(|(around, _)| at_path(view, around));
        if around.is_some_and(|around| !around.is_mapping()) {
            return;
        }
        let value = filled(at_path(view, self.field));
        match self.message.split_once(' ') {
            None => label_map(walk, view, self.field),
            Some(("enum", words)) => {
                let words: Vec<&str> = words.split('|').collect();
                walk.not_one_of(view, &steps, &value.unwrap_or_default(), &words);
            }
            Some(("form", format)) => {
                let format = Format::of(format)
                    .filter(|format| value.as_ref().is_some_and(|text| !format.fits(text)));
                if let Some(format) = format {
                    walk.refuse(view, &steps, &format!("must be {}", format.words()));
                }
            }
            Some(_) => walk.refuse(view, &steps, &self.message.replace("{kind}", walk.kind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_about_a_definition_and_can_be_read() {
        for line in include_str!("../../data/relations.txt").lines() {
            let cells: Vec<&'static str> = line.split('\t').collect();
            let [names, field, message, conditions @ ..] = &cells[..] else { panic!("{line}") };
            let schema = Schema::get();
            for name in names.split(',') {
                let definition = schema.named(name).and_then(|at| schema.definition(at));
                let fields = &definition.expect(line).fields;
                let first = field.split(['.', '|']).next().unwrap_or_default();
                assert!(fields.iter().any(|one| first.is_empty() || one.name == first), "{line}");
            }
            assert!(message.strip_prefix("form ").is_none_or(|form| Format::of(form).is_some()));
            assert!(conditions.iter().all(|one| Condition::new(one).is_some()), "{line}");
        }
    }
}

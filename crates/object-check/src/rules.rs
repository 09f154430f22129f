//! Rules for the value of one field: a line of `data/rules.txt`.

use crate::formats::Format;

/// The values that are allowed.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule, and they are independent")]
pub(crate) struct Rules {
    /// It must be there and not be empty or 0.
    pub(crate) is_required: bool,
    /// It must be there.
    pub(crate) is_present: bool,
    /// Checked as an empty object if it is not there.
    pub(crate) is_implied: bool,
    /// An empty text is not like none.
    pub(crate) is_not_empty: bool,
    pub(crate) format: Option<Format>,
    pub(crate) minimum: Option<i64>,
    pub(crate) maximum: Option<i64>,
    /// The words it may be; an empty one if it may be empty.
    pub(crate) words: Vec<&'static str>,
    /// The most bytes of a text, or items.
    pub(crate) longest: Option<usize>,
    pub(crate) unique: Option<Unique>,
}

/// The fields in which list items must differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Unique {
    /// The fields of an item, with a default; none for the item itself. An item that lacks one is ignored.
    pub(crate) keys: Vec<(&'static str, Option<&'static str>)>,
    /// Where the key must be unique; `None` if the item is refused, and not its key.
    pub(crate) place: Option<&'static str>,
}

impl Unique {
    fn new(keys: &'static str, place: Option<&'static str>) -> Self {
        let keys = keys.split_whitespace().map(|key| match key.split_once('=') {
            Some((key, default)) => (key, Some(default)),
            None => (key, None),
        });
        Self { keys: keys.collect(), place }
    }
}

impl Rules {
    /// Whether there is something to check if the field is not there.
    pub(crate) const fn is_about_absence(&self) -> bool {
        self.is_required || self.is_present || self.is_implied
    }

    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.is_required |= other.is_required;
        self.is_present |= other.is_present;
        self.is_implied |= other.is_implied;
        self.is_not_empty |= other.is_not_empty;
        self.format = self.format.or(other.format);
        self.minimum = self.minimum.or(other.minimum);
        self.maximum = self.maximum.or(other.maximum);
        self.longest = self.longest.or(other.longest);
        self.unique = self.unique.take().or_else(|| other.unique.clone());
        if self.words.is_empty() {
            self.words.clone_from(&other.words);
        }
    }
}

/// Reads the rules after the name of a field.
pub(crate) fn rules_of(words: impl Iterator<Item = &'static str>) -> Rules {
    let mut rules = Rules::default();
    for word in words {
        let (name, rest) = word.split_once(' ').unwrap_or((word, ""));
        match name {
            "required" => rules.is_required = true,
            "present" => rules.is_present = true,
            "implied" => rules.is_implied = true,
            "not-empty" => {
                rules.is_not_empty = true;
                rules.format = rules.format.or(Format::of(rest));
            }
            "range" => {
                let (least, most) = rest.split_once(' ').unwrap_or((rest, ""));
                rules.minimum = rules.minimum.or(least.parse().ok());
                rules.maximum = rules.maximum.or(most.parse().ok());
            }
            "at-most" => rules.longest = rest.parse().ok(),
            "enum" => rules.words = rest.split('|').collect(),
            "unique" => {
                let (key, place) = rest.split_once(' ').unwrap_or((rest, ""));
                rules.unique = Some(Unique::new(key, Some(place)));
            }
            "distinct" => rules.unique = Some(Unique::new(rest, None)),
            _ => rules.format = rules.format.or(Format::of(name)),
        }
    }
    rules
}

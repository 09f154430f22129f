//! Finds the known name for a mistyped one.

use std::cell::LazyCell;
use std::cmp::Reverse;

/// Names longer than this get no suggestion: comparing takes time and memory in the product of
/// both lengths, and a name this long is not typed by hand.
const MAX_LENGTH: usize = 256;

/// So many known names are compared: many mistyped names among many known ones would take long.
const MAX_KNOWN: usize = 1_000;

/// The name of `known` that `name` is probably a slip of, for a "did you mean".
///
/// A name that differs only in upper and lower case comes first. Otherwise it is the one with the
/// smallest Damerau-Levenshtein distance (insertions, deletions, replacements and swapped
/// neighbours, case ignored), as long as that is at most a third of the longer name's length, so
/// that one- and two-letter names never suggest each other. Of equally close ones the one that
/// keeps more of the case wins, then the first in alphabetical order: up to 1,000 names, the
/// order of `known` does not matter.
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = LazyCell::new(|| name.to_lowercase());
    let letters = name.is_ascii().then(|| letters(name));
    known
        .into_iter()
        .take(MAX_KNOWN)
        .filter(|candidate| letters.is_none_or(|letters| may_be_close(name, letters, candidate)))
        .filter_map(|candidate| Some((distance(&folded, &candidate.to_lowercase())?, candidate)))
        .min_by_key(|&(distance, candidate)| {
            (distance, Reverse(same_characters(name, candidate)), candidate)
        })
        .map(|(_, candidate)| candidate)
}

/// Whether the [distance](distance) of a name in ASCII and another one may be small enough, at a
/// fraction of the cost.
fn may_be_close(name: &str, letters: u32, candidate: &str) -> bool {
    if !candidate.is_ascii() || name.eq_ignore_ascii_case(candidate) {
        return true;
    }
    let [a, b] = [name.len(), candidate.len()];
    let longer = a.max(b);
    let allowed = longer / 3;
    longer <= MAX_LENGTH
        && a.abs_diff(b) <= allowed
        && other_letters(letters, self::letters(candidate)) <= allowed
        && least_distance(name, candidate) <= allowed
}

/// The set of the letters of a name in ASCII, some of them taken for one another.
fn letters(name: &str) -> u32 {
    let letters = name.bytes();
    letters.fold(0, |set, letter| set | 1 << (letter % 32))
}

/// How many letters only one of two names has, or fewer, if they are taken for others: no more than
/// their [least distance](least_distance), at a fraction of the cost.
fn other_letters(a: u32, b: u32) -> usize {
    (a & !b).count_ones().max((b & !a).count_ones()) as usize
}

/// How far apart two names are, if they are close enough for one to be a slip of the other.
fn distance(name: &str, candidate: &str) -> Option<usize> {
    if name == candidate {
        return Some(0);
    }
    let [a, b] = [name, candidate].map(|text| text.chars().count());
    let longer = a.max(b);
    let allowed = longer / 3;
    if longer > MAX_LENGTH || a.abs_diff(b) > allowed {
        return None;
    }
    let distance = strsim::damerau_levenshtein(name, candidate);
    (distance <= allowed).then_some(distance)
}

/// The least distance of two names in ASCII by the letters that only one of them has: each
/// insertion, deletion and replacement brings in or takes out one letter, and a swap none.
fn least_distance(a: &str, b: &str) -> usize {
    let mut counts = [0i16; 128];
    for (text, step) in [(a, 1), (b, -1)] {
        for byte in text.bytes() {
            if let Some(count) = counts.get_mut(usize::from(byte.to_ascii_lowercase())) {
                *count += step;
            }
        }
    }
    let (mut only_a, mut only_b) = (0, 0);
    for byte in a.bytes().chain(b.bytes()) {
        // Each letter once.
        let count = counts.get_mut(usize::from(byte.to_ascii_lowercase()));
        match count.map(std::mem::take) {
            Some(count) if count > 0 => only_a += usize::from(count.unsigned_abs()),
            Some(count) => only_b += usize::from(count.unsigned_abs()),
            None => {}
        }
    }
    only_a.max(only_b)
}

/// How many characters are equal in the same place of both.
fn same_characters(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).filter(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MAX_LENGTH, closest, distance, letters, may_be_close};

    proptest! {
        #[test]
        fn what_is_not_close_has_no_distance(a in "[a-eA-Eé]{0,12}", b in "[a-eA-Eé]{0,12}") {
            let distance = distance(&a.to_lowercase(), &b.to_lowercase());
            let is_close = !a.is_ascii() || may_be_close(&a, letters(&a), &b);
            prop_assert!(is_close || distance.is_none());
        }
    }

    #[track_caller]
    fn check(name: &str, known: &[&str], expected: Option<&str>) {
        assert_eq!(closest(name, known.iter().copied()), expected);
        assert_eq!(
            closest(name, known.iter().rev().copied()),
            expected,
            "the order of the known names matters"
        );
    }

    #[test]
    fn finds_slips_seen_in_real_templates() {
        let fields =
            ["name", "displayName", "description", "value", "required", "generate", "from"];
        check("requited", &fields, Some("required"));
        check("displayname", &fields, Some("displayName"));
        check("desciption", &fields, Some("description"));
        check("genrate", &fields, Some("generate"));
        check("form", &fields, Some("from"));
        check("example", &fields, None);
    }

    #[test]
    fn another_case_comes_before_another_letter() {
        check("Name", &["Names", "NAME", "Game"], Some("NAME"));
        check("mongodb_usr", &["MONGODB_USER"], Some("MONGODB_USER"));
    }

    #[test]
    fn equally_close_names_are_told_apart_by_case_then_alphabet() {
        check("Name", &["nAME", "NAme"], Some("NAme"));
        check("PORT1", &["PORT3", "PORT2"], Some("PORT2"));
    }

    #[test]
    fn a_swap_is_one_slip() {
        check("PROT", &["PORT"], Some("PORT"));
    }

    #[test]
    fn short_names_suggest_each_other_only_for_case() {
        check("A", &["B"], None);
        check("AB", &["AC"], None);
        check("ab", &["AC", "AB"], Some("AB"));
        check("ABC", &["ABD"], Some("ABD"));
        check("DB", &["DBS"], Some("DBS"));
    }

    #[test]
    fn far_names_are_not_suggested() {
        check("DATABASE", &["USER", "PASSWORD"], None);
        check("ABCDEF", &["ABCXYZ"], None);
        check("A", &[], None);
        check("", &["A"], None);
    }

    #[test]
    fn characters_count_not_bytes() {
        check("größe", &["grösse", "grüße"], Some("grüße"));
    }

    #[test]
    fn very_long_names_are_not_compared() {
        let long = "a".repeat(MAX_LENGTH + 1);
        let typo = format!("{}b", "a".repeat(MAX_LENGTH));
        check(&typo, &[&long], None);
        check(&long, &[&long.to_uppercase()], Some(&long.to_uppercase()));
    }
}

//! The lines that some places are on.

use std::ops::Range;
use std::sync::Arc;

use crate::source::place::{Place, Source};

/// Whole lines of texts. Looking for a place in them takes the logarithm of their number.
pub(crate) struct WholeLines {
    /// The ranges of each text, in order.
    known: Vec<(Arc<Source>, Vec<Range<usize>>)>,
}

impl WholeLines {
    /// The lines of these places.
    pub(crate) fn of(places: &[Place]) -> Self {
        let mut known: Vec<(Arc<Source>, Vec<Range<usize>>)> = Vec::new();
        for place in places {
            let mut of_source = known.iter_mut();
            let of_source = of_source.find(|(source, _)| Arc::ptr_eq(source, &place.source));
            match of_source {
                Some((_, ranges)) => ranges.push(place.range.clone()),
                None => known.push((place.source.clone(), vec![place.range.clone()])),
            }
        }
        for (source, ranges) in &mut known {
            ranges.sort_by_key(|range| range.start);
            *ranges = lines(source.text().as_bytes(), ranges);
        }
        Self { known }
    }

    /// Whether a place is on one of them.
    pub(crate) fn have(&self, place: &Place) -> bool {
        let mut known = self.known.iter();
        let lines = known.find(|(source, _)| Arc::ptr_eq(source, &place.source));
        let Some((_, lines)) = lines else {
            return false;
        };
        let next = lines.partition_point(|line| line.end < place.range.start);
        let next = lines.get(next);
        next.is_some_and(|line| line.start <= place.range.end)
    }
}

/// The lines of ranges, which are in the order of their starts.
fn lines(text: &[u8], ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        let start = range.start.min(text.len());
        let end = range.end.clamp(start, text.len());
        let last = lines.last_mut().filter(|last| start <= last.end);
        if last.as_ref().is_some_and(|last| end <= last.end) {
            continue;
        }
        let after = text.get(end..).unwrap_or_default();
        let to = end + memchr::memchr(b'\n', after).unwrap_or(after.len());
        match last {
            Some(last) => last.end = to,
            None => {
                let before = text.get(..start).unwrap_or_default();
                let from = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
                lines.push(from..to);
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::WholeLines;
    use crate::source::{Place, Source};

    /// By the definition: a line of one is a line of the other.
    fn share(text: &str, [one, other]: [&Range<usize>; 2]) -> bool {
        let line = |at: usize| {
            text.as_bytes()
                .iter()
                .take(at)
                .filter(|byte| **byte == b'\n')
                .count()
        };
        line(one.start) <= line(other.end) && line(other.start) <= line(one.end)
    }

    #[test]
    fn places_are_found_on_the_lines_of_others() {
        let source = Source::new("t", "ab\n\nc\nde f\n");
        let length = source.text().len();
        let place = |range: &Range<usize>| Place {
            source: source.clone(),
            range: range.clone(),
        };
        let ranges = (0..=length).flat_map(|start| (start..=length).map(move |end| start..end));
        let ranges: Vec<Range<usize>> = ranges.collect();
        for one in &ranges {
            for other in &ranges {
                let lines = WholeLines::of(&[place(other), place(one)]);
                for third in ranges.iter().step_by(7) {
                    let expected = [one, other]
                        .iter()
                        .any(|range| share(source.text(), [range, third]));
                    assert_eq!(
                        lines.have(&place(third)),
                        expected,
                        "{one:?} {other:?} {third:?}"
                    );
                }
            }
        }
        let elsewhere = Source::new("t", source.text());
        let elsewhere = Place {
            source: elsewhere,
            range: 0..1,
        };
        assert!(!WholeLines::of(&[place(&(0..1))]).have(&elsewhere));
    }
}

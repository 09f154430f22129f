//! Plain scalars that a writer of YAML spells another way, as `yes`, `0x1F`, or `a: b` in braces.

use crate::export::draft::Draft;
use krm_yaml::scalar::{Context, write_string};
use krm_yaml::{Cursor, Data, Document, Patched, Scalar, ViewMut};

/// Lets scalars be written anew that nobody writes as they are spelled: readers of YAML may take
/// them for something else. Returns whether one of them is a text, which gets quotes and keeps them if
/// it is changed afterwards, or a node for which `matters` is true.
pub(crate) fn canonical(
    object: &mut Draft<'_>,
    document: &Document,
    matters: &dyn Fn(Cursor<'_>) -> bool,
) -> bool {
    match object {
        Draft::Node(object) if object.only_lacks_parts() => of_node(object, matters),
        object => of_part(object.view_mut(), document, matters, false),
    }
}

fn of_node(object: &mut Patched<'_>, matters: &dyn Fn(Cursor<'_>) -> bool) -> bool {
    let may_be_typed =
        |raw: &str| raw.starts_with(|c: char| c.is_ascii_digit() || "+-.tTfF".contains(c));
    let mut odd = Vec::new();
    let mut any_matters = false;
    for node in object.plain_scalars() {
        let (raw, in_flow) = (node.raw(), node.is_in_flow());
        if is_usual(raw) || !in_flow && !may_be_typed(raw) {
            continue;
        }
        let scalar = node.scalar().ok().flatten();
        if let Some(scalar) = scalar.filter(|scalar| is_odd(scalar, node, in_flow)) {
            any_matters |= matches!(scalar, Scalar::String(_)) || matters(node);
            odd.push((node, scalar));
        }
    }
    for (node, scalar) in odd {
        object.set(node, Data::Scalar(scalar));
        object.value_mut(node).origin = None;
    }
    any_matters
}

/// Whether a quick look shows that a plain scalar is written as it is spelled: `true`, a natural
/// number, or one before a unit.
fn is_usual(raw: &str) -> bool {
    // An `e` may begin an exponent.
    let is_unit = |c: char| c == '%' || c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E');
    let digits = raw.trim_end_matches(is_unit);
    let is_natural = || {
        let mut bytes = digits.bytes();
        matches!(bytes.next(), Some(b'1'..=b'9')) && bytes.all(|byte| byte.is_ascii_digit())
    };
    matches!(raw, "" | "true" | "false") || is_natural()
}

/// `in_flow` says whether the part is in braces or brackets.
fn of_part(
    mut part: ViewMut<'_, '_>,
    document: &Document,
    matters: &dyn Fn(Cursor<'_>) -> bool,
    in_flow: bool,
) -> bool {
    let view = part.view();
    let node = view.origin().map(|origin| document.cursor(origin));
    if let Some(scalar) = view.scalar() {
        let odd = node.filter(|node| is_odd(&scalar, *node, in_flow));
        let is_text = matches!(scalar, Scalar::String(_));
        if odd.is_some() {
            part.value().origin = None;
        }
        return odd.is_some_and(|node| is_text || matters(node));
    }
    let in_flow = in_flow || node.is_some_and(Cursor::is_flow);
    let mut any_matters = false;
    let mut below =
        |part: ViewMut<'_, '_>| any_matters |= of_part(part, document, matters, in_flow);
    part.by_ref().each_item(&mut below);
    part.each_entry(|_, part| below(part));
    any_matters
}

fn is_odd(scalar: &Scalar<'_>, node: Cursor<'_>, in_flow: bool) -> bool {
    let differs = |usual: &str| {
        let spelling = node.raw();
        spelling != usual && !spelling.starts_with('*')
    };
    match scalar {
        Scalar::Bool(true) => differs("true"),
        Scalar::Bool(false) => differs("false"),
        Scalar::Number(digits) => differs(digits),
        Scalar::String(text) if in_flow && node.raw() == text => {
            let mut new = String::new();
            write_string(&mut new, text, Context::FlowValue, None, 0, "\n");
            differs(&new)
        }
        Scalar::String(_) | Scalar::Null => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_odd, is_usual};
    use krm_yaml::source::Source;
    use krm_yaml::{Cursor, Document};

    /// Whether a value is written as it is spelled, in a block and in braces.
    fn stays(text: &str) -> bool {
        let document = format!("a: {text}\nb: {{c: {text}}}\n");
        let document = Document::parse(&Source::new("test", document)).unwrap();
        let root = document.roots().next().unwrap();
        let is_odd = |node: Cursor<'_>| {
            let scalar = node.scalar().unwrap().unwrap();
            is_odd(&scalar, node, node.is_in_flow())
        };
        let in_flow = root.children().last().unwrap().children().next().unwrap();
        !is_odd(root.children().next().unwrap()) && !is_odd(in_flow)
    }

    #[test]
    fn a_quick_look_finds_only_scalars_that_stay() {
        for text in ["", "true", "false", "1", "80", "250m", "64Mi", "50%", "5d"] {
            assert!(is_usual(text) && stays(text), "{text}");
        }
        for text in [
            "yes", "True", "0", "0644", "0x1F", "1e3", "1E", "1_0", "1:30", "1.5", "m",
        ] {
            assert!(!is_usual(text), "{text}");
        }
        let characters = "019eEmxobBfiny_.:+-%";
        let mut texts = vec![String::new()];
        for _ in 0..3 {
            for text in std::mem::take(&mut texts) {
                texts.extend(characters.chars().map(|last| format!("{text}{last}")));
            }
            for text in &texts {
                assert!(!is_usual(text) || stays(text), "{text}");
            }
        }
    }
}

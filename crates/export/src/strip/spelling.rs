//! Plain scalars that a writer of YAML spells another way, as `yes`, `0x1F`, or `a: b` in braces.

use krm_yaml::scalar::{Context, write_string};
use krm_yaml::{Cursor, Data, Document, Scalar, Value};

/// Lets scalars be written anew that nobody writes as they are spelled: readers of YAML may take
/// them for something else. `in_flow` says whether the part is in braces or brackets.
pub(crate) fn canonical(part: &mut Value<'_>, document: &Document, in_flow: bool) {
    let node = part.origin.map(|origin| document.cursor(origin));
    let below = in_flow || node.is_some_and(Cursor::is_flow);
    match &mut part.data {
        Data::Scalar(scalar) => {
            if node.is_some_and(|node| is_odd(scalar, node, in_flow)) {
                part.origin = None;
            }
        }
        Data::Sequence(items) => {
            for item in items {
                canonical(item, document, below);
            }
        }
        Data::Mapping(entries) => {
            for (_, value) in entries {
                canonical(value, document, below);
            }
        }
    }
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

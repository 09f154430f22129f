//! Plain scalars that a writer of YAML spells another way, as `yes`, `0x1F`, or `a: b` in braces.

use krm_yaml::scalar::{Context, write_string};
use krm_yaml::{Data, Document, Scalar, Value};

/// Lets scalars be written anew that nobody writes as they are spelled: readers of YAML may take
/// them for something else. `in_flow` says whether the value is in braces or brackets.
pub(crate) fn canonical(value: &mut Value<'_>, document: &Document, in_flow: bool) {
    let node = value.origin.map(|origin| document.cursor(origin));
    let spelling = node.map(krm_yaml::Cursor::raw);
    if spelling.is_some_and(|spelling| is_odd(value, spelling, in_flow)) {
        value.origin = None;
    }
    let in_flow = in_flow || node.is_some_and(krm_yaml::Cursor::is_flow);
    match &mut value.data {
        Data::Scalar(_) => {}
        Data::Sequence(items) => items
            .iter_mut()
            .for_each(|item| canonical(item, document, in_flow)),
        Data::Mapping(entries) => entries
            .iter_mut()
            .for_each(|(_, value)| canonical(value, document, in_flow)),
    }
}

fn is_odd(value: &Value<'_>, spelling: &str, in_flow: bool) -> bool {
    if spelling.starts_with('*') {
        return false;
    }
    match &value.data {
        Data::Scalar(Scalar::Bool(true)) => spelling != "true",
        Data::Scalar(Scalar::Bool(false)) => spelling != "false",
        Data::Scalar(Scalar::Number(digits)) => spelling != digits,
        Data::Scalar(Scalar::String(text)) if in_flow && spelling == text => {
            let mut new = String::new();
            write_string(&mut new, text, Context::FlowValue, None, 0, "\n");
            new != spelling
        }
        _ => false,
    }
}

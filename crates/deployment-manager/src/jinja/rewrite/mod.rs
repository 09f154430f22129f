//! Rewrites literals and operators of a template to calls of functions that act as Python does.
//!
//! minijinja has no hook for literals and operators. Only the insides of `{{ }}` and `{% %}`
//! change, and no line moves.

mod expressions;
mod macros;
mod sizes;
mod tags;
mod tokens;

use std::borrow::Cow;
use std::ops::Range;

use expressions::Parser;
use krm_yaml::suggest::closest;
use macros::Macros;
use sizes::Sizes;
use tags::{Tag, tags};
use tokens::Tokens;

/// The functions that rewritten templates call; templates must not use these names.
pub(crate) const RESERVED: [&str; 20] = [
    "_list", "_dict", "_slice", "_in", "_add", "_mul", "_mod", "_concat", "_neg", "_macro",
    "_item", "_set", "_part", "_operand", "_eq", "_ne", "_lt", "_le", "_gt", "_ge",
];

/// The tags of Jinja2 without extensions.
const TAGS: [&str; 25] = [
    "for",
    "endfor",
    "if",
    "elif",
    "else",
    "endif",
    "macro",
    "endmacro",
    "call",
    "endcall",
    "filter",
    "endfilter",
    "set",
    "endset",
    "include",
    "import",
    "from",
    "extends",
    "block",
    "endblock",
    "with",
    "endwith",
    "autoescape",
    "endautoescape",
    "raw",
];

/// A template whose literals and operators are calls of functions.
#[derive(Debug)]
pub(crate) struct Rewritten<'t> {
    /// The text.
    pub text: Cow<'t, str>,
    /// The first thing in it that Jinja2 or we refuse.
    pub refused: Option<Refused>,
}

/// Something that must not be in a template.
#[derive(Debug)]
pub(crate) struct Refused {
    /// The message.
    pub message: String,
    /// The hint.
    pub hint: Option<String>,
    /// Where it is in the original.
    pub range: Range<usize>,
}

/// Rewrites a template.
pub(crate) fn rewrite(source: &str) -> Rewritten<'_> {
    let mut out = String::with_capacity(source.len());
    let mut copied = 0;
    let mut refused = None;
    let mut macros = Macros::of(source);
    let mut sizes = Sizes::default();
    for tag in tags(source) {
        let inside = source.get(tag.start..tag.end).unwrap_or_default();
        let mut tokens = Tokens::of(inside);
        if refused.is_none() {
            refused = refusal(&tokens, &tag).or_else(|| {
                let (message, hint, range) = sizes.check(&tokens, &tag)?;
                let hint = Some(hint.to_owned());
                Some(Refused {
                    message,
                    hint,
                    range,
                })
            });
        }
        if refused.is_some() {
            break;
        }
        Parser::mark(&mut tokens, tag.is_statement);
        if tag.is_statement {
            macros.mark(&mut tokens);
        }
        out.push_str(source.get(copied..tag.start).unwrap_or_default());
        tokens.write(&mut out);
        copied = tag.end;
    }
    out.push_str(source.get(copied..).unwrap_or_default());
    let text = if out == source {
        Cow::Borrowed(source)
    } else {
        Cow::Owned(out)
    };
    Rewritten { text, refused }
}

/// The error in a tag.
fn refusal(tokens: &Tokens<'_>, tag: &Tag) -> Option<Refused> {
    if let Some((name, at)) = tokens.first_of(&RESERVED) {
        return Some(Refused {
            message: format!("the name `{name}` is reserved"),
            hint: Some("choose a name without `_` at its start".to_owned()),
            range: tag.start + at..tag.start + at + name.len(),
        });
    }
    let name = tokens.name().filter(|_| tag.is_statement)?;
    let is_known = TAGS.contains(&name.text) || name.text == "endraw";
    (!is_known).then(|| Refused {
        message: format!("unknown tag `{}`", name.text),
        hint: match name.text {
            "do" => Some("write `{% set _ = … %}`".to_owned()),
            text => closest(text, TAGS).map(|tag| format!("did you mean `{tag}`?")),
        },
        range: tag.start + name.start..tag.start + name.start + name.text.len(),
    })
}

#[cfg(test)]
mod tests;

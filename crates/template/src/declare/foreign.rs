//! References in the syntax of the other dialect: which spelling is the right one, and where the
//! text is for a shell or another program.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::declare::dialect::Dialect;
use crate::declare::model::Template;
use crate::declare::reference;
use krm_yaml::diagnostic::Diagnostic;
use krm_yaml::{Cursor, Kind};

/// The rule that such a reference breaks.
const RULE: &str = "other-dialect";

/// The parameters that a Template refers to in its own syntax.
pub(crate) struct Usage<'t> {
    template: &'t Template,
    /// Found out when it is asked for the first time.
    names: OnceLock<BTreeSet<String>>,
}

impl<'t> Usage<'t> {
    pub(crate) const fn of(template: &'t Template) -> Self {
        Self {
            template,
            names: OnceLock::new(),
        }
    }

    /// Whether the Template refers to a parameter in its own syntax.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.get_or_init(|| self.names()).contains(name)
    }

    fn names(&self) -> BTreeSet<String> {
        let template = self.template;
        let parts = [template.objects(), template.labels(), template.message()];
        let mut names = BTreeSet::new();
        for part in parts.into_iter().flatten() {
            collect(part, template.dialect, &mut names);
        }
        names
    }
}

fn collect(part: Cursor<'_>, dialect: Dialect, names: &mut BTreeSet<String>) {
    if !part.raw().contains('$') {
        return;
    }
    let part = part.open();
    let part = part.cursor();
    let mut add = |text: &str| names.extend(reference::names(text, dialect).map(str::to_owned));
    if let Kind::Scalar(_) = part.kind() {
        add(&part.text().ok().flatten().unwrap_or_default());
        return;
    }
    for child in part.children() {
        if let Ok(key) = child.key() {
            names.extend(reference::names(&key, dialect).map(str::to_owned));
        }
        collect(child, dialect, names);
    }
}

/// Says of `spelling`, which is the other dialect's, how a Template in `dialect` refers to the
/// parameter. What is not an error stays as it is.
pub(crate) fn diagnostic(
    dialect: Dialect,
    name: &str,
    spelling: &str,
    is_error: bool,
) -> Diagnostic {
    let is_raw = spelling.starts_with("${{") || spelling.starts_with("$((");
    let message = format!("`{spelling}` does not refer to parameter `{name}` in this Template");
    let diagnostic = if is_error {
        Diagnostic::error(message)
    } else {
        Diagnostic::warning(message)
    };
    let diagnostic = diagnostic.rule(RULE);
    match dialect {
        Dialect::Proposal => diagnostic
            .hint(if is_raw {
                format!("to insert the value, write `$(({name}))`")
            } else {
                format!("to insert the value, write `$({name})`")
            })
            .hint(format!(
                "to keep the text for a shell or another program, write `${spelling}`"
            )),
        Dialect::OpenShift if is_raw => {
            diagnostic.hint(format!("to insert the value, write `${{{{{name}}}}}`"))
        }
        Dialect::OpenShift => diagnostic.hint(format!("to insert the value, write `${{{name}}}`")),
    }
}

//! How much of the diagnostics a report shows.

use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};

/// Beyond this many bytes, a report only counts.
pub(super) const MAX_BYTES: usize = 512 * 1024;

/// The diagnostics about those that a report does not show: all but the first ones.
pub(super) fn rest(diagnostics: &Diagnostics, shown: usize) -> Diagnostics {
    let mut rest = Diagnostics::new();
    for severity in [Severity::Error, Severity::Warning, Severity::Info] {
        let others = diagnostics.iter().skip(shown);
        let others = others.filter(|one| one.severity == severity).count();
        let count = others + diagnostics.more(severity);
        let (one, several) = match severity {
            Severity::Error => ("error is", "errors are"),
            Severity::Warning => ("warning is", "warnings are"),
            Severity::Info => ("message is", "messages are"),
        };
        let are = if count == 1 { one } else { several };
        if count > 0 {
            rest.push(Diagnostic {
                severity,
                ..Diagnostic::error(format!("{count} more {are} not shown"))
            });
        }
    }
    rest
}

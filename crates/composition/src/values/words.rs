//! Words that messages share.

/// `` `a`, `b`, `c` ``.
pub(crate) fn backticked(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

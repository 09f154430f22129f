//! Regular expressions of a Template as the HTML attribute `pattern`.

/// Converts a pattern that matches a part of the value to one that matches the whole value.
///
/// The result has the syntax of browsers, with the flag `v` of JavaScript. A browser ignores a
/// pattern that it cannot parse.
pub(super) fn for_browsers(pattern: &str) -> String {
    let mut out = String::from(r"[\s\S]*(?:");
    let mut in_class = false;
    let mut is_first = false;
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        let was_first = std::mem::take(&mut is_first);
        match character {
            '\\' => {
                let next = characters.next().unwrap_or('\\');
                let has_escape = next.is_ascii_alphanumeric()
                    || r"^$\.*+?()[]{}|/".contains(next)
                    || in_class && r"&-!#%,:;<=>@`~".contains(next);
                if has_escape {
                    out.push('\\');
                }
                out.push(next);
            }
            '[' if !in_class => {
                out.push('[');
                (in_class, is_first) = (true, true);
            }
            '^' if was_first => {
                out.push('^');
                is_first = true;
            }
            ']' if in_class && !was_first => {
                out.push(']');
                in_class = false;
            }
            '-' if in_class => {
                let is_last = characters.peek() == Some(&']');
                out.push_str(if was_first || is_last { r"\-" } else { "-" });
            }
            '(' | ')' | '[' | ']' | '{' | '}' | '/' | '|' if in_class => {
                out.extend(['\\', character]);
            }
            _ => out.push(character),
        }
    }
    out.push_str(r")[\s\S]*");
    out
}

#[cfg(test)]
mod tests {
    use super::for_browsers;

    #[track_caller]
    fn check(pattern: &str, expected: &str) {
        assert_eq!(for_browsers(pattern), format!(r"[\s\S]*(?:{expected})[\s\S]*"));
    }

    #[test]
    fn a_class_is_written_for_the_flag_v() {
        check("^[a-z0-9-]+$", r"^[a-z0-9\-]+$");
        check("[-a]", r"[\-a]");
        check("[^-a]", r"[^\-a]");
        check("[a(/|]", r"[a\(\/\|]");
        check("[]a]", r"[\]a]");
        check(r"[\w\-]", r"[\w\-]");
    }

    #[test]
    fn escapes_that_browsers_refuse_are_left_out() {
        check(r"a\-b\_c\.d\/e", r"a-b_c\.d\/e");
        check(r"\d{1,3}", r"\d{1,3}");
    }
}

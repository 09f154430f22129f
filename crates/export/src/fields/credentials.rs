//! Finds credentials: by the names of what holds them, and in texts such as arguments and URLs.

use std::ops::Range;

/// Words for secrets, as whole words of a name.
const WORDS: &[&str] =
    &["cred", "credential", "credentials", "creds", "pass", "secret", "secrets", "token"];
/// Words for secrets, also as parts of a word: `PGPASSWORD`.
const PARTS: &[&str] = &["apikey", "passphrase", "passwd", "password"];
/// Words for secrets, if another word is before them: `DB_PWD`.
const SECOND_WORDS: &[&str] = &["pw", "pwd"];
/// Words for secrets, unless a word before them tells of something else.
const KEYS: &[&str] = &["key", "keys"];
/// Words for secrets that are also in the names of references.
const REFERENCES: &[&str] = &["secret", "key", "keys"];
/// Words before `key` that tell of something else than a secret.
const OTHER_KEYS: &[&str] = &[
    "cache",
    "foreign",
    "hash",
    "index",
    "partition",
    "primary",
    "public",
    "routing",
    "shard",
    "sort",
    "topology",
    "unique",
];
/// Last words of names that tell of something about a secret.
const ABOUT: &[&str] = &[
    "algorithm",
    "column",
    "count",
    "dir",
    "directory",
    "enabled",
    "endpoint",
    "expiration",
    "expiry",
    "field",
    "file",
    "format",
    "header",
    "host",
    "issuer",
    "length",
    "limit",
    "max",
    "min",
    "name",
    "namespace",
    "path",
    "policy",
    "port",
    "prefix",
    "ref",
    "rotation",
    "seconds",
    "size",
    "timeout",
    "ttl",
    "type",
    "uri",
    "url",
    "version",
];
/// Schemes of a header that are followed by a credential.
const SCHEMES: &[&str] = &["Basic", "Bearer"];
/// The minimum length of a credential after a scheme.
const MIN_CREDENTIAL: usize = 8;

/// A credential in a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Credential {
    pub(crate) range: Range<usize>,
    /// Its name there.
    pub(crate) name: String,
}

/// Whether a name is that of a secret: by its words, so `KEYBOARD` and `PRIMARY_KEY_COLUMN` are
/// none.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let mut before: Option<&str> = None;
    let is_secret = words(name).any(|word| {
        let previous = before.replace(word);
        is_one_of(word, WORDS)
            || has_one_of(word, PARTS)
            || (is_one_of(word, SECOND_WORDS) && previous.is_some())
            || (is_one_of(word, KEYS)
                && previous.is_none_or(|previous| !is_one_of(previous, OTHER_KEYS)))
    });
    is_secret && words(name).last().is_some_and(|last| !is_one_of(last, ABOUT))
}

/// The words of a name: `apiKey`, `API_KEY` and `api-key` have two.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let mut was_lower = false;
        let ends = |c: char| {
            let begins = c.is_uppercase() && was_lower;
            was_lower = c.is_lowercase() || c.is_ascii_digit();
            begins || !c.is_alphanumeric()
        };
        let (word, after) = rest.split_at_checked(rest.find(ends).unwrap_or(rest.len()))?;
        rest = after;
        Some(word).filter(|word| !word.is_empty())
    })
}

/// Whether a word is one of some words in lower case.
fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|one| word.eq_ignore_ascii_case(one))
}

/// Whether a word has one of some parts in lower case.
fn has_one_of(word: &str, parts: &[&str]) -> bool {
    let shortest = parts.iter().map(|part| part.len()).min();
    shortest.is_some_and(|shortest| word.len() >= shortest) && {
        let word = word.to_ascii_lowercase();
        parts.iter().any(|part| word.contains(part))
    }
}

/// Whether a name has a word that is also in the names of references.
pub(crate) fn may_name_reference(name: &str) -> bool {
    words(name).any(|word| is_one_of(word, REFERENCES))
}

/// Whether a text may be a credential: it is no reference, path or switch.
fn may_be_credential(text: &str) -> bool {
    let is_reference = text.starts_with(['$', '<', '{', '%', '*']) || text.contains("$(");
    let is_path = text.starts_with('/') && text.matches('/').count() > 1 && !text.contains('+');
    let is_switch = matches!(text, "true" | "false" | "yes" | "no" | "null" | "none");
    !text.is_empty() && !is_reference && !is_path && !is_switch
}

/// The credentials in a text, in order: passwords of URLs, `NAME=VALUE` and `NAME: VALUE` with the
/// name of a secret, options with their value, and headers.
pub(crate) fn find(text: &str) -> Vec<Credential> {
    // A word alone has no name and value.
    if !text.contains(|c| is_end(c) || matches!(c, '=' | ':')) {
        return Vec::new();
    }
    let mut found = in_urls(text);
    for line in lines(text) {
        in_line(text, line, &mut found);
    }
    found.sort_by_key(|one| one.range.start);
    let mut end = 0;
    found.retain(|one| {
        let is_next = one.range.start >= end;
        end = end.max(one.range.end);
        is_next
    });
    found
}

/// Whether an argument is an option whose value is the next argument, which is a secret.
pub(crate) fn is_secret_option(argument: &str) -> bool {
    let is_one = !argument.contains(|c: char| c == '=' || c.is_whitespace());
    argument.starts_with('-') && is_one && is_secret_name(argument)
}

/// Whether an argument may be the value of such an option.
pub(crate) fn is_value(argument: &str) -> bool {
    !argument.starts_with('-') && may_be_credential(argument)
}

/// The passwords in `scheme://user:password@host`.
fn in_urls(text: &str) -> Vec<Credential> {
    let starts = text.match_indices("://");
    let passwords = starts.filter_map(|(at, mark)| {
        let start = at + mark.len();
        let rest = text.get(start..)?;
        let is_end = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '<');
        let authority = rest.get(..rest.find(is_end).unwrap_or(rest.len()))?;
        let (user, _) = authority.rsplit_once('@')?;
        let (name, password) = user.split_once(':')?;
        let start = start + name.len() + 1;
        let range = start..start + password.len();
        may_be_credential(password).then(|| Credential { range, name: "password".to_owned() })
    });
    passwords.collect()
}

/// The ranges of the lines of a text.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        at += line.len();
        at - line.len()..at
    })
}

/// Whether a word of a line ends at a character.
fn is_end(c: char) -> bool {
    c.is_ascii_whitespace() || matches!(c, ';' | '&' | '?' | ',' | '"' | '\'')
}

/// The credentials in the words of a line.
fn in_line(text: &str, line: Range<usize>, found: &mut Vec<Credential>) {
    let mut name: Option<String> = None;
    let mut before = "";
    let mut at = line.start;
    for word in text.get(line).unwrap_or_default().split(is_end) {
        let start = at;
        at += word.len() + 1;
        if word.is_empty() {
            continue;
        }
        let before = std::mem::replace(&mut before, word);
        let is_named = |name: &str| is_secret_name(name) && !name.contains(['/', '{', '(']);
        if matches!(word, "=" | ":") {
            name = Some(before.to_owned()).filter(|name| is_named(name));
            continue;
        }
        if let Some(name) = name.take()
            && is_value(word)
        {
            let range = start..start + word.len();
            found.push(Credential { range, name });
            continue;
        }
        if let Some((key, value)) = word.split_once(['=', ':'])
            && is_named(key)
            && !value.starts_with("//")
        {
            let key = key.trim_start_matches('-').to_owned();
            if may_be_credential(value) {
                let range = start + word.len() - value.len()..start + word.len();
                found.push(Credential { range, name: key });
            } else if value.is_empty() && word.ends_with(':') {
                name = Some(key);
            }
        } else if is_secret_option(word) {
            name = Some(word.trim_start_matches('-').to_owned());
        } else if SCHEMES.contains(&word) {
            let next = text.get(at..).unwrap_or_default().split(is_end).next();
            let is_long = next.is_some_and(|next| next.len() >= MIN_CREDENTIAL);
            name = is_long.then(|| "authorization".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{find, is_secret_name};

    #[test]
    fn the_words_of_a_name_tell_of_a_secret() {
        for name in [
            "DB_PASSWORD",
            "PGPASSWORD",
            "dbPassword",
            "CREDENTIALS",
            "API_KEY",
            "apiKey",
            "KEY",
            "AWS_ACCESS_KEY_ID",
            "DB_PWD",
            "--token",
            "auth-token",
            "MYSQL_PASS",
            "SECRET",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "KEYBOARD",
            "PRIMARY_KEY_COLUMN",
            "PRIMARY_KEY",
            "MONKEY",
            "TOKENIZER",
            "MAX_TOKENS",
            "SECRETARY",
            "PWD",
            "TOKEN_URL",
            "PASSWORD_FILE",
            "COMPASS",
            "topologyKey",
            "",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = find(text);
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|one| (one.name.as_str(), text.get(one.range.clone()).unwrap()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn credentials_in_texts_are_found() {
        check("--token=abc", &[("token", "abc")]);
        check("postgres://u:p:w@db:5432/x?sslmode=on", &[("password", "p:w")]);
        check("https://user@host/a:b@c", &[]);
        check("run --db-password 'a b' --x", &[("db-password", "a")]);
        check("export DB_PASSWORD=x; run", &[("DB_PASSWORD", "x")]);
        check("jdbc:mysql://db/x?user=a&password=b", &[("password", "b")]);
        check(
            "a: 1\ndb.password = x\ndb.password: y\n",
            &[("db.password", "x"), ("db.password", "y")],
        );
        check("Authorization: Bearer abcdefgh.ij", &[("authorization", "abcdefgh.ij")]);
        check("Basic things", &[]);
        for text in [
            "--token=$(TOKEN)",
            "--token-file=/a/b",
            "--password-file /run/x",
            "KEYBOARD=us",
            "--password=${PW}",
            "http://a:$(PW)@b",
            "--use-token=true",
            "",
        ] {
            check(text, &[]);
        }
    }
}

//! The responses of `/livez`, `/readyz` and `/healthz`.
//!
//! Source: `pkg/server/healthz` of `k8s.io/apiserver`.

use std::fmt::Write as _;

use crate::status::Status;

/// A health check, by its endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `/livez`: whether the process must be restarted.
    Live,
    /// `/readyz`: whether it should receive requests.
    Ready,
    /// `/healthz`: the older endpoint that both replace.
    Health,
}

impl Kind {
    /// Returns the name in the path and in the response.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Live => "livez",
            Self::Ready => "readyz",
            Self::Health => "healthz",
        }
    }
}

/// Returns the status code, the content type and the body of a response.
///
/// `check` is the rest of the path, such as `store` in `/readyz/store`. `verbose` and `exclude` are
/// the query parameters, which a single check ignores. `results` are the checks and their outcomes,
/// in the order of the response. As in Kubernetes, only the response for a single check has the
/// reason of a failure.
pub fn answer(
    kind: Kind,
    check: Option<&str>,
    verbose: bool,
    exclude: &[&str],
    results: &[(&str, Result<(), String>)],
) -> (u16, &'static str, String) {
    const TEXT: &str = "text/plain; charset=utf-8";
    match check {
        None => {
            let (code, body) = all(kind, verbose, exclude, results);
            (code, TEXT, body)
        }
        Some(name) => match results.iter().find(|(known, _)| *known == name) {
            Some((_, Ok(()))) => (200, TEXT, "ok".to_owned()),
            Some((_, Err(why))) => (500, TEXT, format!("internal server error: {why}\n")),
            None => (404, "application/json", format!("{}\n", Status::no_such_path().object())),
        },
    }
}

fn all(
    kind: Kind,
    verbose: bool,
    exclude: &[&str],
    results: &[(&str, Result<(), String>)],
) -> (u16, String) {
    let mut lines = String::new();
    let mut failed = false;
    for (name, outcome) in results {
        // Writing to a String does not fail.
        let _ = if exclude.contains(name) {
            writeln!(lines, "[+]{name} excluded: ok")
        } else if outcome.is_ok() {
            writeln!(lines, "[+]{name} ok")
        } else {
            failed = true;
            writeln!(lines, "[-]{name} failed: reason withheld")
        };
    }
    let mut unknown: Vec<String> = exclude
        .iter()
        .filter(|&name| !results.iter().any(|(known, _)| known == name))
        .map(|name| format!("{name:?}"))
        .collect();
    unknown.sort();
    unknown.dedup();
    if !unknown.is_empty() {
        let _ = writeln!(
            lines,
            "warn: some health checks cannot be excluded: no matches for {}",
            unknown.join(",")
        );
    }
    let kind = kind.name();
    match (failed, verbose) {
        (true, _) => (500, format!("{lines}{kind} check failed\n")),
        (false, true) => (200, format!("{lines}{kind} check passed\n")),
        (false, false) => (200, "ok".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Vec<(&'static str, Result<(), String>)> {
        vec![
            ("ping", Ok(())),
            ("store", Err("etcd does not answer".to_owned())),
            ("shutdown", Ok(())),
        ]
    }

    /// The recorded texts have other checks; their lines have the same form.
    #[test]
    fn answers_are_those_of_kubernetes() {
        let good = [("ping", Ok(())), ("etcd", Ok(())), ("shutdown", Ok(()))];
        let bad = results();
        let cases: [(_, _, &[&str], &[_], u16, &str); 9] = [
            (Kind::Health, false, &[], &good, 200, "ok"),
            (Kind::Ready, false, &[], &good, 200, "ok"),
            (
                Kind::Live,
                true,
                &[],
                &good,
                200,
                "[+]ping ok\n[+]etcd ok\n[+]shutdown ok\nlivez check passed\n",
            ),
            (
                Kind::Ready,
                true,
                &["etcd"],
                &good,
                200,
                "[+]ping ok\n[+]etcd excluded: ok\n[+]shutdown ok\nreadyz check passed\n",
            ),
            (
                Kind::Ready,
                false,
                &[],
                &bad,
                500,
                "[+]ping ok\n[-]store failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n",
            ),
            (Kind::Ready, false, &["store"], &bad, 200, "ok"),
            (Kind::Live, false, &["nope"], &good, 200, "ok"),
            (
                Kind::Live,
                true,
                &["zzz", "nope", "nope"],
                &good[..1],
                200,
                "[+]ping ok\nwarn: some health checks cannot be excluded: no matches for \
                 \"nope\",\"zzz\"\nlivez check passed\n",
            ),
            (Kind::Live, false, &[], &[], 200, "ok"),
        ];
        for (kind, verbose, exclude, results, code, body) in cases {
            assert_eq!(
                answer(kind, None, verbose, exclude, results),
                (code, "text/plain; charset=utf-8", body.to_owned()),
                "{kind:?} verbose={verbose} exclude={exclude:?}"
            );
        }
    }

    #[test]
    fn one_check_is_asked_by_its_name() {
        let cases = [
            ("ping", 200, "ok"),
            ("store", 500, "internal server error: etcd does not answer\n"),
            ("nope", 404, "\"reason\":\"NotFound\""),
        ];
        for (name, expected, part) in cases {
            let (code, _, body) = answer(Kind::Ready, Some(name), false, &[], &results());
            assert_eq!(code, expected, "{name}");
            assert!(body.contains(part), "{name}: {body}");
        }
    }
}

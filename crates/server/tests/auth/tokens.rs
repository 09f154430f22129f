//! Token files.

use krm_template_server_core::auth::{Args, AuthenticationMethod, start};
use krm_template_server_core::{Peer, auth::tokens::Tokens};

use crate::auth::support::{address, headers, write};

tests!(
    reads_the_csv_of_kube_apiserver,
    says_which_line_is_wrong_and_not_what_is_in_it,
    takes_bearer_tokens_from_the_authorization_header_and_rereads_the_file
);

/// The name, uid and groups of a user.
type Expected<'a> = (&'a str, &'a str, &'a [&'a str]);

/// Returns the name, uid and groups of the user with a token.
fn user(csv: &str, token: &str) -> Option<(String, String, Vec<String>)> {
    let tokens = Tokens::parse(csv.as_bytes()).unwrap();
    let user = tokens.user(token)?;
    Some((user.name.clone(), user.uid.clone(), user.groups.clone()))
}

fn reads_the_csv_of_kube_apiserver() {
    // The SHA-256 of `secret`.
    let hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    let cases: &[(&str, &str, Option<Expected>)] = &[
        ("secret,anna,1\n", "secret", Some(("anna", "1", &[]))),
        ("secret,anna,1", "secret", Some(("anna", "1", &[]))),
        ("secret,anna,1,\"devs,ops\"\r\n", "secret", Some(("anna", "1", &["devs", "ops"]))),
        ("secret,anna,1,devs\n\nother,bob,2\n", "other", Some(("bob", "2", &[]))),
        ("secret,anna,1,\n", "secret", Some(("anna", "1", &[]))),
        ("\"se\"\"cret\",\"anna, the first\",\n", "se\"cret", Some(("anna, the first", "", &[]))),
        ("secret,anna,1,devs,more\n", "secret", Some(("anna", "1", &["devs"]))),
        ("secret,anna,1\nsecret,bob,2\n", "secret", Some(("bob", "2", &[]))),
        (",anna,1\n", "", None),
        ("secret,anna,1\n", "Secret", None),
        ("secret,anna,1\n", "secre", None),
        ("", "secret", None),
        (&format!("sha256:{hash},anna,1\n"), "secret", Some(("anna", "1", &[]))),
        (&format!("sha256:{},anna,1\n", hash.to_uppercase()), "secret", Some(("anna", "1", &[]))),
        (&format!("sha256:{hash},anna,1\n"), &format!("sha256:{hash}"), None),
        (&format!("sha256:{hash},anna,1\n"), hash, None),
    ];
    for (csv, token, expected) in cases {
        let expected = expected.map(|(name, uid, groups)| {
            (name.to_owned(), uid.to_owned(), groups.iter().map(|&group| group.into()).collect())
        });
        assert_eq!(user(csv, token), expected, "{csv}");
    }
}

fn says_which_line_is_wrong_and_not_what_is_in_it() {
    let cases = [
        (
            "a,b,c\nsecret,anna\n",
            "line 2: expected token, user name, uid and maybe groups, found 2 fields",
        ),
        ("secret,,1\n", "line 1: the user name is empty"),
        ("sha256:secret,anna,1\n", "line 1: expected 64 hexadecimal digits after `sha256:`"),
        (
            "secret,anna,1,\"devs\nother,bob,2\n",
            "line 1: a field has a line break or a control character: is a quote missing?",
        ),
    ];
    for (csv, expected) in cases {
        let error = format!("{:#}", Tokens::parse(csv.as_bytes()).err().unwrap());
        assert_eq!(error, expected);
    }
    assert!(Tokens::parse(b"\xff,anna,1\n").is_err());
}

#[tokio::main(flavor = "current_thread")]
async fn takes_bearer_tokens_from_the_authorization_header_and_rereads_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "tokens", "secret,anna,1\n");
    let args = Args { auth: vec![AuthenticationMethod::Tokens(file)], ..Args::default() };
    let auth = start(&args, address()).await.unwrap();
    let peer = Peer::new(address());
    let cases = [
        ("Bearer secret", true),
        ("bearer secret", true),
        (" BEARER secret ", true),
        ("Bearer  secret", false),
        ("Bearer secret2", false),
        ("Bearer ", false),
        ("Basic secret", false),
        ("secret", false),
    ];
    for (value, is_known) in cases {
        let sent = headers(&[("authorization", value)]);
        let user = auth.authenticator.authenticate(&sent, &peer).await;
        assert_eq!(user.is_ok(), is_known, "{value}");
    }
    let sent = headers(&[("authorization", "Bearer secret")]);
    let reload = || {
        auth.files.iter().for_each(|file| file.reload(std::time::Duration::MAX));
    };
    write(folder.path(), "tokens", "broken\n");
    reload();
    assert!(auth.authenticator.authenticate(&sent, &peer).await.is_ok());
    write(folder.path(), "tokens", "other,anna,1\n");
    reload();
    let status = auth.authenticator.authenticate(&sent, &peer).await.unwrap_err();
    assert_eq!(status.code, 401);
}

//! Validation of the arguments.

use clap::Parser;
use krm_template_server_core::auth::Args;

tests!(refuses_what_does_not_go_together_or_is_not_safe);

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    auth: Args,
}

/// Returns the error in the arguments, or an empty string.
fn check(listen: &str, arguments: &str) -> String {
    let arguments = std::iter::once("server").chain(arguments.split_whitespace());
    match Program::try_parse_from(arguments) {
        Ok(program) => match program.auth.check(listen.parse().unwrap()) {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        },
        Err(error) => error.to_string().lines().next().unwrap_or_default().to_owned(),
    }
}

fn refuses_what_does_not_go_together_or_is_not_safe() {
    const TLS: &str = "--tls-cert=c --tls-key=k";
    let near = "127.0.0.1:8080";
    let far = "0.0.0.0:8443";
    let cases = [
        (near, String::new(), ""),
        ("[::1]:8080", String::new(), ""),
        (near, "--auth=none".to_owned(), ""),
        (near, format!("--auth=none {TLS}"), ""),
        (near, "--auth=tokens=t --rbac=d".to_owned(), ""),
        (far, format!("--auth=tokens=t {TLS}"), ""),
        (far, format!("--auth=tokens=t --auth=client-certificates=ca {TLS} --rbac=d"), ""),
        (far, format!("--auth=front-proxy --auth=token-review {TLS} --kubeconfig=k"), ""),
        (far, String::new(), "every client may do everything"),
        (far, format!("--auth=none {TLS}"), "every client may do everything"),
        ("[::]:8080", "--auth=none".to_owned(), "every client may do everything"),
        (far, "--auth=tokens=t".to_owned(), "set --tls-cert and --tls-key"),
        (near, "--auth=none --auth=tokens=t".to_owned(), "cannot be combined"),
        (near, "--auth=none --rbac=d".to_owned(), "--rbac needs users"),
        (near, "--rbac=d".to_owned(), "--rbac needs users"),
        (near, "--auth=client-certificates=ca".to_owned(), "need TLS"),
        (near, "--auth=front-proxy".to_owned(), "need TLS"),
        (near, format!("--auth=tokens=t --kubeconfig=k {TLS}"), "--kubeconfig is used by"),
        (
            near,
            format!("--auth=tokens=t --requestheader-client-ca-file=f {TLS}"),
            "needs --auth front-proxy",
        ),
        (near, "--tls-cert=c".to_owned(), "required arguments"),
        (near, "--tls-key=k".to_owned(), "required arguments"),
        (near, "--requestheader-allowed-names=a".to_owned(), "required arguments"),
        (near, "--auth=tokens".to_owned(), "invalid value"),
        (near, "--auth=tokens=".to_owned(), "invalid value"),
        (near, "--auth=basic".to_owned(), "invalid value"),
        (near, "--allow-host=a --allow-host=[::2]:80".to_owned(), ""),
        (near, "--allow-host=http://a".to_owned(), "invalid value"),
        (near, "--allow-host=a:b".to_owned(), "invalid value"),
        (near, "--allow-host=u@a".to_owned(), "invalid value"),
        (
            near,
            "--auth=tokens=t --allow-host=a".to_owned(),
            "--allow-host is used by --auth none only",
        ),
    ];
    for (listen, arguments, expected) in cases {
        let found = check(listen, &arguments);
        let fits = if expected.is_empty() { found.is_empty() } else { found.contains(expected) };
        assert!(fits, "{listen} {arguments}: {found}");
    }
}

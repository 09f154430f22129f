//! What the kernel refuses to an interpreter, without the audit hook of the runner.

use std::process::{Command, Stdio};

use libtest_mimic::{Failed, Trial};

use crate::needs;

/// The program that an interpreter runs to describe itself.
const QUESTION: &str = include_str!("../../crates/exec/src/sandbox/interpreter.py");

/// Statements that must fail in the sandbox.
const REFUSED: &[&str] = &[
    // files of others, and writing
    "open('/etc/passwd')",
    "open('/proc/self/environ')",
    "os.listdir('/')",
    "open('/tmp/krm-template-sandbox', 'w')",
    "os.open('/tmp/krm-template-sandbox', os.O_CREAT)",
    "os.open(sys.prefix + '/lib', os.O_RDWR)",
    "os.mkdir('/tmp/krm-template-sandbox')",
    "os.mkfifo('/tmp/krm-template-sandbox')",
    "os.mknod('/tmp/krm-template-sandbox')",
    "os.symlink('/', '/tmp/krm-template-sandbox')",
    "os.link('/etc/passwd', '/tmp/krm-template-sandbox')",
    "os.rename('/tmp', '/tmp/krm-template-sandbox')",
    "os.chmod('/tmp', 0o1777)",
    "os.utime('/tmp')",
    "os.truncate('/dev/null', 0)",
    "os.chroot('/')",
    // processes
    "os.fork()",
    "os.forkpty()",
    "os.posix_spawn(sys.executable, ['python3', '-c', ''], {})",
    "subprocess.run([sys.executable, '-c', ''])",
    "os.execv('/bin/sh', ['sh', '-c', 'true'])",
    "os.execv('/usr/bin/env', ['env'])",
    "os.setsid()",
    "os.nice(1)",
    // other processes
    "os.kill(os.getppid(), 0)",
    "os.kill(1, 0)",
    "os.pidfd_open(os.getppid())",
    "resource.prlimit(os.getppid(), resource.RLIMIT_CORE)",
    // networks
    "socket.socket()",
    "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "socket.socket(socket.AF_UNIX)",
    "socket.socketpair()",
    // more of the kernel: io_uring, bpf, keys, namespaces, mounts
    "call(425, 1, 0)",
    "call(321, 0, 0, 0)",
    "call(250, 0, -3, 0)",
    "call(272, 0x10000000)",
    "call(165, 0, 0, 0, 0, 0)",
];

/// The files of an interpreter.
const ALLOWED: &[&str] = &[
    "import yaml, six, hashlib, random, json, re, datetime, ipaddress, uuid, decimal, ssl, socket",
    "hashlib.sha256(b'').hexdigest()",
    "random.random(); time.localtime(); time.sleep(0); os.urandom(1)",
    "open(yaml.__file__).read()",
    "os.kill(os.getpid(), 0)",
    "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))",
    "'a' * 10**7",
];

pub(crate) fn trials() -> Vec<Trial> {
    let test = Trial::test("python/the_kernel_refuses_what_the_hook_would_miss", kernel);
    let has_yaml = Command::new("python3").args(["-c", "import yaml"]).output();
    let has_yaml = has_yaml.is_ok_and(|output| output.status.success());
    let is_there = has_yaml && needs::has_landlock();
    let reason = (!is_there).then(|| "needs Landlock and python3 with PyYAML".to_owned());
    let refused = Trial::test("python/without_a_sandbox_it_is_not_run", refused);
    let reason_of_refused = (!has_yaml).then(|| "needs python3 with PyYAML".to_owned());
    vec![needs::ignored(test, reason), needs::ignored(refused, reason_of_refused)]
}

/// The system calls of Landlock, and `seccomp`.
const CALLS: [(&str, &str); 2] = [
    ("444,445,446", "the kernel has no Landlock"),
    (
        if cfg!(target_arch = "x86_64") { "317" } else { "277" },
        "the kernel has no seccomp for programs",
    ),
];

/// A configuration with a Python template.
const CONFIG: &str = "{resources: [{name: a, type: a.py}], imports: [{path: a.py}]}";
const TEMPLATE: &str = "def GenerateConfig(context):\n  return 'resources: [{name: b, type: v}]'\n";

/// On a kernel without a part of the sandbox, only `unconfined` runs Python.
fn refused() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("c.yaml"), CONFIG)?;
    std::fs::write(folder.path().join("a.py"), TEMPLATE)?;
    for (calls, reason) in CALLS {
        let expand = |option: &str| {
            Command::new("python3")
                .args(["-c", include_str!("without.py"), calls])
                .args([env!("CARGO_BIN_EXE_krm-template"), "dm", "expand", "c.yaml"])
                .arg(option)
                .current_dir(folder.path())
                .output()
        };
        for option in ["--allow-python", "--allow-python=confined"] {
            let output = expand(option)?;
            let messages = String::from_utf8(output.stderr)?;
            let expected =
                format!("`python3` is not run, because there is no sandbox for it: {reason}");
            if output.status.success()
                || !output.stdout.is_empty()
                || !messages.contains(&expected)
                || !messages.contains(": `--allow-python=unconfined`")
            {
                return Err(format!("{option}: {messages}").into());
            }
        }
        let output = expand("--allow-python=unconfined")?;
        let printed = String::from_utf8(output.stdout)?;
        if !printed.contains("name: b") {
            return Err(String::from_utf8(output.stderr)?.into());
        }
    }
    Ok(())
}

/// The output of Python in the sandbox.
fn sandboxed(program: &str) -> Result<String, Failed> {
    let output = Command::new("python3").args(["-c", QUESTION]).output()?;
    let answer = String::from_utf8(output.stdout)?;
    let mut parts = answer.trim_end_matches('\0').split('\0');
    let interpreter = parts.next().unwrap_or_default();
    let (reads, executes): (Vec<&str>, Vec<&str>) = parts.partition(|part| part.starts_with('r'));
    let output = Command::new(env!("CARGO_BIN_EXE_krm-template"))
        .arg("__sandbox")
        .args(reads.iter().filter_map(|read| read.strip_prefix('r')))
        .arg("--")
        .args(executes.iter().filter_map(|one| one.strip_prefix('x')))
        .args(["--", interpreter, "-B", "-c", program])
        .stderr(Stdio::inherit())
        .output()?;
    Ok(String::from_utf8(output.stdout)?)
}

fn kernel() -> Result<(), Failed> {
    let program = format!(
        "import ctypes, hashlib, os, random, resource, socket, subprocess, sys, time, yaml\n\
         def call(*arguments):\n  \
           if ctypes.CDLL(None, use_errno=True).syscall(*arguments) < 0:\n    \
             raise OSError(ctypes.get_errno(), 'refused')\n\
         parent = os.getpid()\n\
         for body in {REFUSED:?}:\n  \
           try:\n    exec(body)\n  \
           except OSError: pass\n  \
           else: print('was not refused:', body)\n  \
           if os.getpid() != parent: os._exit(0)\n\
         for body in {ALLOWED:?}:\n  \
           try: exec(body)\n  \
           except BaseException as error: print('was refused:', body, repr(error))\n\
         print('end')\n"
    );
    let printed = sandboxed(&program)?;
    if printed == "end\n" { Ok(()) } else { Err(printed.into()) }
}

//! Small Python templates: what they may do, what they may return, and how they fail.

use krm_template::deployment_manager::model::{Config, Env, Import, Imports, Options, Request};
use krm_yaml::source::Source;
use libtest_mimic::{Failed, Trial};

use crate::{needs, python, run};

/// A test of templates that are not in the shared data.
fn with_python(name: &str, test: fn() -> Result<(), Failed>) -> Trial {
    let reason = (!python::is_there()).then(|| "needs python3 with PyYAML and six".to_owned());
    needs::ignored(Trial::test(format!("python/{name}"), test), reason)
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        with_python("sandbox", sandbox),
        with_python("limits", limits),
        with_python("values", values),
        with_python("values_that_yaml_cannot_hold", values_that_yaml_cannot_hold),
        with_python("python_2_that_cannot_run", python_2_that_cannot_run),
        with_python("methods_of_python_2", methods_of_python_2),
        with_python("modules", modules),
        with_python("modules_that_are_missing", modules_that_are_missing),
        with_python("functions", functions),
        with_python("properties_that_change", properties_that_change),
        with_python("prints", prints),
    ]
}

/// Expands `t.py` with these other imports: the layout as JSON, or the errors.
fn expand(template: &str, others: &[(&str, &str)], properties: &str) -> Result<String, String> {
    let mut imports = Imports::default();
    for (name, text) in [("t.py", template)].iter().chain(others) {
        imports.insert(Import {
            name: (*name).to_owned(),
            path: (*name).to_owned(),
            content: Source::new(*name, *text),
        });
    }
    let config = format!("resources: [{{name: x, type: t.py, properties: {properties}}}]");
    let request = Request {
        name: "test".to_owned(),
        config: Config::new(Source::new("config.yaml", config)),
        imports,
        env: Env::new(),
        options: Options::default(),
    };
    match run(&request) {
        Ok(expansion) => {
            let mut json = String::new();
            krm_yaml::json(&mut json, &expansion.into_value(), None, 0);
            Ok(json)
        }
        Err(error) => {
            let errors = error.diagnostics.errors();
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Err(errors.join("\n"))
        }
    }
}

/// A template whose function has this body.
fn function(body: &str) -> String {
    format!("def GenerateConfig(context):\n  {body}\n")
}

/// Fails unless each body ends in an error that contains the text beside it.
fn all_fail(bodies: &[(&str, &str)]) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for (body, expected) in bodies {
        match expand(&function(body), &[], "{}") {
            Err(error) if error.contains(expected) => {}
            other => wrong.push(format!("{body}\n  wanted {expected}\n  {other:?}")),
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// A line of a template, and the error.
const REFUSED: &[(&str, &str)] = &[
    ("open('/etc/passwd')", "t.py:2:3: a template may not read `/etc/passwd`"),
    ("open('/tmp/x', 'w')", "a template may not write `/tmp/x`"),
    ("import os; os.open('/tmp/x', os.O_RDWR)", "a template may not write `/tmp/x`"),
    ("import os; os.listdir('/')", "a template may not read `/`"),
    ("import os; os.remove('/tmp/x')", "a template may not use os.remove"),
    ("import os; os.chdir('/tmp')", "a template may not use os.chdir"),
    ("import os; os.system('true')", "a template may not use os.system"),
    ("import os; os.fork()", "a template may not use os.fork"),
    ("import os; os.kill(1, 0)", "a template may not use os.kill"),
    ("import subprocess; subprocess.call(['true'])", "a template may not use subprocess.Popen"),
    ("import socket; socket.socket()", "a template may not use socket.__new__"),
    ("import ctypes; ctypes.CDLL(None)", "a template may not use ctypes.dlopen"),
    (
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1/')",
        "a template may not use urllib.Request",
    ),
    ("import shutil; shutil.rmtree('/tmp/x')", "a template may not use shutil.rmtree"),
    ("import resource; resource.setrlimit(0, (1, 1))", "a template may not use resource.setrlimit"),
    ("input()", "a template may not use builtins.input"),
    ("import os; os.mkfifo('/tmp/x')", "a template may not use os.mkfifo"),
    (
        "import _posixsubprocess; _posixsubprocess.fork_exec()",
        "a template may not use _posixsubprocess.fork_exec",
    ),
    ("import _xxsubinterpreters", "a template may not import _xxsubinterpreters"),
    (
        "import signal; signal.pidfd_send_signal(1, 2)",
        "a template may not use signal.pidfd_send_signal",
    ),
    // as it was before it was replaced
    (
        "import importlib, sys; del sys.modules['posix']; importlib.import_module('posix')",
        "a template may not use _imp.create_builtin",
    ),
    // what the hook would look up
    (
        "import __main__ as m; m.REFUSED = m.READS = frozenset(); import os; os.system('true')",
        "a template may not use os.system",
    ),
    (
        "import os; os.path.realpath = lambda path: '/usr/lib'; open('/etc/passwd')",
        "a template may not read `/etc/passwd`",
    ),
    ("import os; open(os.__file__ + '/../../../../../etc/passwd')", "a template may not read"),
];

fn sandbox() -> Result<(), Failed> {
    all_fail(REFUSED)
}

fn limits() -> Result<(), Failed> {
    all_fail(&[
        ("while True: pass", "t.py:2:3: the templates used more than 10 s of processor time"),
        ("'a' * 2**31", "t.py:2:3: `t.py` failed: MemoryError"),
        ("return GenerateConfig(context)", "`t.py` failed: RecursionError"),
        ("import sys; sys.exit(1)", "`t.py` failed: SystemExit: 1"),
        ("import os; os._exit(0)", "`python3` ended with exit status 0 before it answered"),
        ("a = []; a.append(a); return {'resources': a}", "more than 100 levels in the result"),
        (
            "a = []\n  for _ in range(9): a = [a] * 9\n  return {'resources': a}",
            "more than 1000000 parts in the result",
        ),
    ])
}

/// What a template returns, and how it arrives.
fn values() -> Result<(), Failed> {
    for (returned, expected) in [
        ("None", "null"),
        ("[True, False]", "[true,false]"),
        ("[0, -1, 10**30]", "[0,-1,1000000000000000000000000000000]"),
        ("[1.0, 1.5, 1e22]", "[1.0,1.5,1e+22]"),
        ("[float('inf'), -float('inf'), float('nan')]", "[.inf,-.inf,.nan]"),
        (r#"['a', u'\u00e9', 'a"\n']"#, r#"["a","é","a\"\n"]"#),
        ("(1, (2,))", "[1,[2]]"),
        ("{'b': 1, 'a': 2}", r#"{"b":1,"a":2}"#),
        ("{1: 'a', True: 'b', None: 'c', 1.5: 'd'}", r#"{"1":"b","null":"c","1.5":"d"}"#),
        ("{'b', 'a'}", r#"{"a":null,"b":null}"#),
        ("b'abc'", r#""abc""#),
        ("datetime.date(2020, 1, 2)", r#""2020-01-02""#),
        ("datetime.datetime(2020, 1, 2, 3, 4, 5)", r#""2020-01-02 03:04:05""#),
        ("collections.OrderedDict([('z', 1), ('a', 2)])", r#"{"z":1,"a":2}"#),
    ] {
        let template = format!(
            "import collections, datetime\n{}",
            function(&format!(
                "return {{'resources': [{{'name': 'p', 'type': 'q', 'properties': {returned}}}]}}"
            ))
        );
        let found = expand(&template, &[], "{}")?;
        let expected = format!(
            r#"{{"config":{{"resources":[{{"name":"p","type":"q","properties":{expected}}}]}}"#
        );
        if !found.starts_with(&expected) {
            return Err(format!("{returned}\nwanted {expected}\nfound  {found}").into());
        }
    }
    Ok(())
}

fn values_that_yaml_cannot_hold() -> Result<(), Failed> {
    all_fail(&[
        (
            "return {'resources': [{'name': object()}]}",
            "t.py:1:1: `resources[0].name` of the result is of type `object`, which YAML cannot hold",
        ),
        (
            "context.properties['f'] = len; return {'resources': []}",
            "`f` of the properties is of type `builtin_function_or_method`, which YAML cannot hold",
        ),
        ("return {(1, 2): 3}", "the result is of type `tuple`, which YAML cannot hold"),
        ("return {1: 2, '1': 3}", "the result has the key `1` twice"),
        (r"return '\ud800'", "the result is not valid Unicode"),
        (r"return b'\xff'", "the result is not valid Unicode"),
        ("return ['a']", "`t.py` must return a mapping or a string, found list"),
        ("pass", "`t.py` must return a mapping or a string, found NoneType"),
    ])
}

fn python_2_that_cannot_run() -> Result<(), Failed> {
    const HINT: &str = "help: this is Python 2; 2to3 rewrites it";
    for body in [
        "print 'x'",
        "exec 'x = 1'",
        "raise ValueError, 'x'",
        "x = 0777",
        "x = 1L",
        "x = 1 <> 2",
        "x = ur'x'",
        "x = `1`",
        "def f(a, (b, c)): pass",
        "try: pass\n  except ValueError, e: pass",
        "return {'a': 1}.keys()[0]",
        "return {'a': 1}.items() + []",
        "return map(str, []).sort()",
        "import sys; print >>sys.stderr, 'x'",
        "import urlparse",
        "return cmp(1, 2)",
    ] {
        let line = 2 + body.matches('\n').count();
        let error = expand(&function(body), &[], "{}").err().unwrap_or_default();
        if !error.contains(&format!("error: t.py:{line}:")) || !error.ends_with(HINT) {
            return Err(format!("{body}\n{error}").into());
        }
    }
    let other = expand(&function("x = (1"), &[], "{}").err().unwrap_or_default();
    if !other.contains("SyntaxError") || other.contains("2to3") {
        return Err(other.into());
    }
    Ok(())
}

/// Fails unless each expression is true.
fn all_hold(expressions: &[&str]) -> Result<(), Failed> {
    for expression in expressions {
        let body = format!("assert {expression}\n  return {{'resources': []}}");
        let template = format!("import six, yaml\n{}", function(&body));
        expand(&template, &[], "{a: 1}").map_err(|error| format!("{expression}\n{error}"))?;
    }
    Ok(())
}

fn methods_of_python_2() -> Result<(), Failed> {
    all_hold(&[
        "list(context.properties.iteritems()) == [('a', 1)]",
        "list({'a': {'b': 1}}['a'].iterkeys()) == ['b']",
        "sum({'a': 1}.itervalues()) == 1",
        "context.properties.has_key('a') and not context.properties.has_key('b')",
        "list(six.iteritems({'a': 1})) == [('a', 1)]",
        "type('T', (), {'iteritems': lambda self: 'own'})().iteritems() == 'own'",
        "unicode is str and basestring is str and long is int",
        "list(xrange(2)) == [0, 1] and unichr(65) == 'A'",
        "reduce(lambda a, b: a + b, [1, 2, 3]) == 6",
        "yaml.load('a: 1') == {'a': 1} == yaml.load('a: 1', Loader=yaml.Loader)",
    ])?;
    let helper = "def keys(x): return list(x.iterkeys()) + [unicode(1)]\n";
    let template = "import helper\ndef GenerateConfig(c):\n  assert helper.keys({'a': 1}) == ['a', '1']\n  return {'resources': []}\n";
    expand(template, &[("helper.py", helper)], "{}")?;
    Ok(())
}

fn modules() -> Result<(), Failed> {
    let others = [
        ("helpers/common.py", "X = 'common'\n"),
        ("./lib/../helpers/extra/more.py", "from helpers import common\nX = 'more ' + common.X\n"),
        ("package/__init__.py", "X = 'package'\n"),
        ("package/part.py", "X = 'part'\n"),
        ("json.py", "raise ValueError('the module of the interpreter is hidden')\n"),
    ];
    for (import, expression, expected) in [
        ("from helpers import common", "common.X", "common"),
        ("import helpers.extra.more", "helpers.extra.more.X", "more common"),
        // As in the original.
        ("import helpers", "helpers.extra.more.X", "more common"),
        ("from helpers.extra.more import X as y", "y", "more common"),
        ("import package", "package.X + package.part.X", "packagepart"),
        ("import json", "json.dumps('')", "\"\""),
    ] {
        let body = format!("assert {expression} == {expected:?}\n  return {{'resources': []}}");
        let template = format!("{import}\n{}", function(&body));
        expand(&template, &others, "{}").map_err(|error| format!("{import}\n{error}"))?;
    }
    let template = "import helper\ndef GenerateConfig(c):\n  return helper.f()\n";
    let helper = "\ndef f():\n  return {}['port']\n";
    let error = expand(template, &[("helper.py", helper)], "{prot: 1}").err();
    if !error.is_some_and(|error| {
        error.starts_with("error: helper.py:3:3: `t.py` failed: KeyError: 'port'")
    }) {
        return Err("the error of a module is not placed in it".into());
    }
    Ok(())
}

fn modules_that_are_missing() -> Result<(), Failed> {
    let error = |module: &str| {
        let template = format!("import {module}\n{}", function("pass"));
        let others = [("helpers/network.py", "")];
        expand(&template, &others, "{}").err().unwrap_or_default()
    };
    for (module, hint) in [
        ("helpers.netwrok", "did you mean `helpers.network`?"),
        ("nowhere", "a module of your own is an import: add `nowhere.py` to `imports`"),
    ] {
        let found = error(module);
        if !found.contains("error: t.py:1:1: `t.py` failed: ModuleNotFoundError")
            || !found.contains(hint)
        {
            return Err(format!("{module}\n{found}").into());
        }
    }
    Ok(())
}

fn functions() -> Result<(), Failed> {
    const EMPTY: &str = "return {'resources': []}";
    let error = expand("x = 1\n", &[], "{}").err().unwrap_or_default();
    if !error.starts_with("error: t.py:1:1: `GenerateConfig` is missing") {
        return Err(error.into());
    }
    expand(&format!("def generate_config(context): {EMPTY}\n"), &[], "{}")?;
    expand(&format!("def generate_config(context): fail\n{}", function(EMPTY)), &[], "{}")?;
    // A module of a call does not see the names of another.
    let template = "def GenerateConfig(c):\n  assert 'seen' not in globals()\n  globals()['seen'] = 1\n  return {'resources': [{'name': 'p', 'type': 't.py'}] if c.properties else []}\n";
    expand(template, &[], "{a: 1}")?;
    Ok(())
}

/// The properties of a template in the layout are those after it ran. What another template does to a
/// part that it was given is not seen in them.
fn properties_that_change() -> Result<(), Failed> {
    let template = function(
        "context.properties['new'] = 1\n  \
         return {'resources': [{'name': 's', 'type': 's.py', 'properties': context.properties['part']}]}",
    );
    let inner = function(
        "context.properties['inner'] = 2\n  return {'resources': [{'name': 'p', 'type': 'q'}]}",
    );
    let found = expand(&template, &[("s.py", &inner)], "{part: {a: 1}}")?;
    let expected = r#""properties":{"part":{"a":1},"new":1}"#;
    if !found.contains(expected) {
        return Err(format!("wanted {expected}\nfound {found}").into());
    }
    Ok(())
}

/// The output of `print` does not count as an answer.
fn prints() -> Result<(), Failed> {
    let body = "import sys; print('{}'); sys.stdout.write('x\\n'); sys.stdout.close()\n  assert sys.stdin.read() == ''\n  return {'resources': [{'name': 's', 'type': 's.py'}]}";
    expand(&function(body), &[("s.py", &function("return 'resources: []'"))], "{}")?;
    Ok(())
}

"""Runs the Python templates of one expansion for krm-template.

Standard input has a request a line, standard output an answer a line, both in JSON.

A request:
    name: str              the template, by the name of its import
    properties: any        missing if the resource has none
    env: {str: any}        `context.env`
    imports: {str: str}    only the first: name and text of each import
    modules: {str: str}    only the first: the import of each module, `helpers.common`

An answer, one of:
    dict: {str: any}, properties: any
    text: str, properties: any
    type: str, properties: any      the template returned another type
    error: str                      the template did what it must not do
    exception: str                  Python's words
        for both: trace: [[file, line, function]], of imports only, the failing line last
        for exceptions, if known:
        column: int
        python2: true               Python 2 would run it
        missing: str                the module that was not found
        key: str                    the key that was not found

JSON has no infinity and no NaN. In requests they are as the module `json` reads them, in answers
they are {"\\0": ".inf"}, {"\\0": "-.inf"} and {"\\0": ".nan"}.
"""

import sys

if sys.version_info < (3, 8):
    sys.exit("krm-template needs Python 3.8 or later")

import builtins
import datetime
import functools
import importlib.machinery
import json
import math
import os
import re
import types
import warnings

# The limits of one expansion.
PROCESSOR_SECONDS = 10
MEMORY = 1 << 30

# The limits of what one template returns.
MAX_DEPTH = 100
MAX_PARTS = 1_000_000

# Modules of the interpreter that no import replaces: the original had loaded them itself.
INTERPRETER_MODULES = frozenset(
    "collections copy hashlib ipaddress json random re six string yaml".split()
)

# ---------------------------------------------------------------------------
# Python 2
# ---------------------------------------------------------------------------

# Methods that only Python 2 has, by the number of their arguments.
PYTHON2_METHODS = {"iteritems": 0, "iterkeys": 0, "itervalues": 0, "has_key": 1}
PYTHON2_CALL = "__python2_call__"


def python2_call(value, method, *arguments):
    """Calls a method of Python 2, or does what it did if `value` has no such method."""
    if hasattr(value, method):
        return getattr(value, method)(*arguments)
    if method == "has_key":
        return arguments[0] in value
    return iter(getattr(value, method[len("iter"):])())


# The built-in names of templates and their modules.
BUILTINS = dict(
    vars(builtins),
    basestring=str,
    long=int,
    reduce=functools.reduce,
    unichr=chr,
    unicode=str,
    xrange=range,
)
BUILTINS[PYTHON2_CALL] = python2_call

# What the syntax of Python 3 refuses and that of Python 2 does not. A line has one of them.
PYTHON2_SYNTAX = re.compile(
    r"""
      ^\s*print\b\s*[^\s(=.,\[]     # print "text"
    | ^\s*exec\b\s*[^\s(=.,\[]      # exec "text"
    | ^\s*except\b[^:]*,[^:]*:      # except Error, error:
    | ^\s*raise\b[^(]*,             # raise Error, "text"
    | (?<![\w.])0[0-7]+\b           # 0777
    | (?<![\w.])\d+[lL]\b           # 1L
    | <>                            # a <> b
    | \b[uU][rR]['"]                # ur"text"
    | `[^`]*`                       # `value`
    | \bdef\b.*[(,]\s*\(            # def f(a, (b, c)):
    | \blambda\s*\(                 # lambda (a, b): a
    """,
    re.VERBOSE,
)

# What Python 2 has, and Python 3 does not: names, modules, lists for iterators, `print >> file`.
PYTHON2_NAMES = frozenset(
    """
    BaseHTTPServer ConfigParser Queue StandardError StringIO __builtin__ apply cPickle cStringIO
    cmp coerce commands execfile file httplib intern raw_input reload urllib2 urlparse
    """.split()
)
PYTHON2_VALUES = re.compile(
    r"'(dict_keys|dict_values|dict_items|filter|map|range|zip)'|>>: 'builtin_function_or_method'"
)


def is_python2(error):
    """Whether Python 2 would not have failed here."""
    if isinstance(error, SyntaxError):
        return bool(PYTHON2_SYNTAX.search(error.text or ""))
    if isinstance(error, (NameError, ImportError)):
        # Before 3.10, a NameError does not tell the name.
        return any(word in PYTHON2_NAMES for word in re.findall(r"\w+", str(error)))
    return type(error) in (AttributeError, TypeError) and bool(PYTHON2_VALUES.search(str(error)))


@functools.lru_cache(maxsize=None)
def compiled(source, name):
    """The code of a template or module, where calls of Python 2's methods work."""
    source = source.lstrip("\ufeff")
    if "yaml" in source:
        default_loader()
    if not any(method in source for method in PYTHON2_METHODS):
        return compile(source, name, "exec", dont_inherit=True)

    import ast

    class Methods(ast.NodeTransformer):
        """Rewrites `value.iteritems()` to `__python2_call__(value, "iteritems")`."""

        def visit_Call(self, call):
            self.generic_visit(call)
            method = call.func
            if not isinstance(method, ast.Attribute) or call.keywords:
                return call
            # `six.iteritems(value)` has an argument more.
            if PYTHON2_METHODS.get(method.attr) != len(call.args):
                return call
            arguments = [method.value, ast.Constant(method.attr), *call.args]
            function = ast.Name(PYTHON2_CALL, ast.Load())
            return ast.copy_location(ast.Call(function, arguments, []), call)

    tree = compile(source, name, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    tree = ast.fix_missing_locations(Methods().visit(tree))
    return compile(tree, name, "exec", dont_inherit=True)


def default_loader():
    """Lets `yaml.load(text)` work without a loader, and only with safe types."""
    try:
        import yaml
    except ImportError:
        return  # The template gets this error where it imports the module.
    for function in (yaml.load, yaml.load_all):
        function.__defaults__ = (yaml.SafeLoader,)


# ---------------------------------------------------------------------------
# Modules from imports
# ---------------------------------------------------------------------------


class Modules:
    """Finds and loads the modules that are imports; first in `sys.meta_path`."""

    def __init__(self, imports, modules):
        self.imports = imports
        self.modules = modules
        self.packages = set()
        for name in modules:
            while "." in name:
                name = name.rpartition(".")[0]
                self.packages.add(name)

    def find_spec(self, name, path=None, target=None):
        if name in INTERPRETER_MODULES:
            return None
        if name not in self.modules and name not in self.packages:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=name in self.packages)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__
        module.__builtins__ = BUILTINS
        if name in self.packages:
            # As in the original, `import helpers` is enough for `helpers.common`.
            module.__getattr__ = functools.partial(self.child, name)
        if name in self.modules:
            file = self.modules[name]
            exec(compiled(self.imports[file], file), vars(module))

    def child(self, package, name):
        full = package + "." + name
        if full not in self.modules and full not in self.packages:
            raise AttributeError("module '%s' has no attribute '%s'" % (package, name))
        return importlib.import_module(full)


# ---------------------------------------------------------------------------
# What templates may do: for mistakes, and in words. On Linux, a sandbox of the kernel is around it.
# ---------------------------------------------------------------------------

# Audit events begin with the name of a module. All events of these are refused …
REFUSED = frozenset(
    """
    _winapi ctypes ensurepip fcntl ftplib gc http imaplib mmap msvcrt nntplib os poplib pty
    resource shutil signal smtplib socket sqlite3 subprocess syslog telnetlib tempfile urllib
    webbrowser winreg builtins.breakpoint builtins.input cpython.PyInterpreterState_New
    sys.addaudithook sys.remote_exec sys.setprofile sys.settrace
    """.split()
)
# … but not these, which importing a module needs.
READS = frozenset(["open", "os.listdir", "os.scandir"])

# Some functions raise no event. These modules have them …
SILENT_MODULES = frozenset(
    """
    _curses _dbm _gdbm _interpchannels _interpqueues _interpreters _multiprocessing _posixshmem
    _remote_debugging _testcapi _testinternalcapi _tkinter _xxinterpchannels _xxsubinterpreters nis
    ossaudiodev readline spwd
    """.split()
)
# … and these functions of other modules are the ones that reach outside of the process.
SILENT_FUNCTIONS = {
    "_posixsubprocess": "fork_exec",
    "_signal": "pidfd_send_signal",
    "posix": """
        chroot initgroups login_tty mkfifo mknod nice openpty pidfd_open posix_openpt
        sched_setaffinity sched_setparam sched_setscheduler setegid seteuid setgid setgroups setns
        setpgid setpgrp setpriority setregid setresgid setresuid setreuid setsid setuid sync
        tcsetpgrp unshare
    """,
    "time": "clock_settime clock_settime_ns",
}
# Modules with the same functions.
ALIASES = {"_signal": "signal", "posix": "os"}

WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Refused(PermissionError):
    """A template did what it may not do."""


class Overtime(BaseException):
    """The templates used all their processor time."""


def refuse_all_but(directories):
    """Refuses what a template may not do; it may read in these directories."""
    # A template can change everything that has a name here or in another module, so the hook uses
    # only its own parameters and methods of `str`.
    def hook(
        event,
        arguments,
        below=tuple(os.path.join(each, "") for each in directories),
        reads=READS,
        refused=REFUSED,
        modules=SILENT_MODULES,
        write_flags=WRITE_FLAGS,
        separator=os.sep,
        error=Refused,
        type_of=type,
        integer=int,
        string=str,
    ):
        if event in reads:
            path = arguments[0]
            mode, flags = arguments[1:3] if event == "open" else ("r", 0)
            if type_of(path) is integer:
                return  # A file that is open already.
            for letter in mode or "":
                if letter in "wax+":
                    flags = write_flags
            if (flags or 0) & write_flags:
                raise error("a template may not write `%s`" % (path,))
            # Other types may tell another path the second time. Links are those of the interpreter.
            whole = path + separator if type_of(path) is string else ""
            if not whole.startswith(below) or "/../" in whole.replace("\\", "/"):
                raise error("a template may not read `%s`" % (path,))
        elif event in refused or event.partition(".")[0] in refused:
            raise error("a template may not use %s" % event)
        elif event == "import" and arguments[0] in modules:
            raise error("a template may not import %s" % arguments[0])

    sys.addaudithook(hook)


def interpreter_directories():
    """The directories of the interpreter's own modules, also by their names without links."""
    paths = [path for path in sys.path if os.path.isabs(path)]
    return sorted({*paths, *map(os.path.realpath, paths)})


def refuse_silent_functions():
    """Replaces the functions that raise no event."""

    def refusing(name):
        def refuse(*arguments, **options):
            raise Refused("a template may not use %s" % name)

        return refuse

    # A built-in module that is loaded later, or again, would have the functions.
    for name in sys.builtin_module_names:
        if name in SILENT_MODULES:
            sys.modules[name] = None
        elif name not in sys.modules:
            try:
                importlib.import_module(name)
            except ImportError:
                pass
    sys.modules["_imp"].create_builtin = refusing("_imp.create_builtin")
    for module, names in SILENT_FUNCTIONS.items():
        try:
            modules = [importlib.import_module(module)]
        except ImportError:
            continue  # Another system.
        modules.extend(filter(None, [sys.modules.get(ALIASES.get(module))]))
        for name in names.split():
            for each in modules:
                if hasattr(each, name):
                    setattr(each, name, refusing("%s.%s" % (ALIASES.get(module, module), name)))


def limit_resources():
    """Limits processor time, memory and the size of files, where the system can."""
    try:
        import resource
        import signal
    except ImportError:
        return

    def overtime(number, frame):
        raise Overtime("the templates used more than %d s of processor time" % PROCESSOR_SECONDS)

    signal.signal(signal.SIGXCPU, overtime)
    limits = [
        ("RLIMIT_CPU", PROCESSOR_SECONDS, PROCESSOR_SECONDS + 1),
        ("RLIMIT_AS", MEMORY, MEMORY),
        ("RLIMIT_FSIZE", 0, 0),
        ("RLIMIT_CORE", 0, 0),
        # No processes: an audit hook does not see all ways to start one.
        ("RLIMIT_NPROC", 0, 0),
    ]
    for name, soft, hard in limits:
        try:
            resource.setrlimit(getattr(resource, name), (soft, hard))
        except (AttributeError, OSError, ValueError):
            pass  # The system does not know this limit, or has a lower one.


# ---------------------------------------------------------------------------
# From Python to JSON
# ---------------------------------------------------------------------------


class Unrepresentable(Exception):
    """A template returned what YAML cannot hold."""


class Plain:
    """Turns what a template returns into what `json` writes, as PyYAML would dump it."""

    def __init__(self, root):
        self.root = root
        self.parts = 0

    def value(self, value, path=()):
        self.parts += 1
        if self.parts > MAX_PARTS:
            raise Unrepresentable("more than %d parts in %s" % (MAX_PARTS, self.root))
        if len(path) > MAX_DEPTH:
            raise Unrepresentable("more than %d levels in %s" % (MAX_DEPTH, self.root))
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return self.float(float(value))
        if isinstance(value, (str, bytes, datetime.date)):
            return self.text(value, path)
        if isinstance(value, dict):
            return self.mapping(value.items(), path)
        if isinstance(value, (list, tuple)):
            return [self.value(item, path + (at,)) for at, item in enumerate(value)]
        if isinstance(value, (set, frozenset)):
            # YAML's set is a mapping of nulls.
            items = sorted(value, key=lambda item: (type(item).__name__, item))
            return self.mapping([(item, None) for item in items], path)
        raise self.wrong(value, path)

    def mapping(self, entries, path):
        plain = {}
        for key, value in entries:
            name = self.key(key, path)
            if name in plain:
                raise Unrepresentable("%s has the key `%s` twice" % (self.at(path), name))
            plain[name] = self.value(value, path + (name,))
        return plain

    def key(self, key, path=()):
        """A key as YAML spells it: all keys of JSON are texts."""
        if isinstance(key, (str, bytes, datetime.date)):
            return self.text(key, path)
        if key is None:
            return "null"
        if isinstance(key, bool):
            return "true" if key else "false"
        if isinstance(key, int):
            return str(int(key))
        if isinstance(key, float):
            plain = self.float(float(key))
            return plain["\0"] if isinstance(plain, dict) else repr(plain)
        raise self.wrong(key, path)

    def text(self, value, path):
        try:
            if isinstance(value, bytes):
                # Python 2 had one type for both.
                return value.decode("utf-8")
            if isinstance(value, datetime.datetime):
                return value.isoformat(" ")
            if isinstance(value, datetime.date):
                return value.isoformat()
            value.encode("utf-8")
            return str(value)
        except UnicodeError:
            raise Unrepresentable("%s is not valid Unicode" % self.at(path)) from None

    @staticmethod
    def float(value):
        if math.isfinite(value):
            return value
        return {"\0": ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"}

    def wrong(self, value, path):
        kind = type(value).__name__
        return Unrepresentable("%s is of type `%s`, which YAML cannot hold" % (self.at(path), kind))

    def at(self, path):
        steps = ["[%d]" % step if isinstance(step, int) else "." + step for step in path]
        return "`%s` of %s" % ("".join(steps).lstrip("."), self.root) if steps else self.root


# ---------------------------------------------------------------------------
# Templates
# ---------------------------------------------------------------------------


class Context:
    """What a template is called with."""

    def __init__(self, properties, env, imports):
        self.properties = properties
        self.env = env
        self.imports = imports


class Missing(Exception):
    """A template has no function that can be called."""


def generate(name, source, context):
    """What a template returns, and the file and line of its function."""
    namespace = {"__builtins__": BUILTINS, "__name__": "template"}
    exec(compiled(source, name), namespace)
    for function in ("GenerateConfig", "generate_config"):
        if function in namespace:
            return namespace[function](context), namespace[function]
    raise Missing("`GenerateConfig` is missing")


def answer(request, imports):
    """The answer to a request, for a template that runs without an error."""
    properties = request.get("properties")
    context = Context(properties, request["env"], dict(imports))
    name = request["name"]
    result, function = generate(name, imports[name], context)
    try:
        after = {"properties": Plain("the properties").value(properties)}
        if isinstance(result, dict):
            return dict(after, dict=Plain("the result").value(result))
        if isinstance(result, (str, bytes)):
            return dict(after, text=Plain("the result").value(result))
        return dict(after, type=type(result).__name__)
    except Unrepresentable as error:
        code = getattr(function, "__code__", None)
        trace = [[code.co_filename, code.co_firstlineno, code.co_name]] if code else []
        return {"error": str(error), "trace": trace}


def failure(error, imports):
    """The answer to a request that failed."""
    trace, step = [], error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if code.co_filename in imports:
            trace.append([code.co_filename, step.tb_lineno, code.co_name])
        step = step.tb_next
    ours = isinstance(error, (Missing, Overtime, Refused))
    wrong = {"error" if ours else "exception": words(error), "trace": trace}
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        trace.append([error.filename, error.lineno, "<module>"])
        wrong["column"] = error.offset or 1
    if is_python2(error):
        wrong["python2"] = True
    if isinstance(error, ModuleNotFoundError) and isinstance(error.name, str):
        wrong["missing"] = error.name
    if type(error) is KeyError and error.args and isinstance(error.args[0], str):
        wrong["key"] = error.args[0]
    return wrong


def words(error):
    """An error as Python prints it, but ours without the type."""
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except BaseException:
        text = ""
    if isinstance(error, (Missing, Overtime, Refused)):
        return text
    kind = type(error)
    name = kind.__qualname__
    if kind.__module__ not in ("builtins", "template"):
        name = "%s.%s" % (kind.__module__, name)
    return "%s: %s" % (name, text) if text else name


def encoded(value):
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def take_streams():
    """The streams of requests and answers, which templates do not get.

    What a template prints goes to standard error, and it has nothing to read.
    """
    # Of the program that started this one.
    os.closerange(3, 1024)
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def main():
    requests, answers = take_streams()
    warnings.simplefilter("ignore")
    sys.path[:] = [path for path in sys.path if os.path.isabs(path)]
    limit_resources()
    refuse_silent_functions()
    refuse_all_but(interpreter_directories())
    imports = {}
    for line in requests:
        try:
            request = json.loads(line)
            if "imports" in request:
                imports = request["imports"]
                sys.meta_path.insert(0, Modules(imports, request["modules"]))
            out = encoded(answer(request, imports))
        except BaseException as error:
            out = encoded(failure(error, imports))
        answers.write(out + b"\n")
        answers.flush()
        try:
            sys.stdout.flush()
        except Exception:
            pass  # The template has closed or replaced it.


main()

//! The functions of Jinja2.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use minijinja::value::{Enumerator, Object, ObjectRepr, Rest, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, Value};

use super::arguments::{bind, required, split, values, whole};
use super::containers::{Dict, Range};
use super::methods;
use super::wrong::wrong;

/// Adds the functions.
pub(super) fn add_to(environment: &mut Environment<'_>) {
    environment.add_function("range", |args: Rest<Value>| range(&args));
    environment.add_function("dict", |args: Rest<ValueOrKwargs>| {
        Dict::of(methods::pairs(&values(args))?)
    });
    environment.add_function("namespace", minijinja::functions::namespace);
    environment.add_function("cycler", |args: Rest<Value>| cycler(&args));
    environment.add_function("joiner", joiner);
    environment.add_function("lipsum", |_: Rest<ValueOrKwargs>| Err::<Value, _>(random()));
}

/// The names of the functions.
pub(super) const NAMES: [&str; 5] = ["range", "dict", "namespace", "cycler", "joiner"];

/// The message of the error of random functions.
pub(super) const NO_RANDOM: &str =
    "random values are not supported: an expansion always gives the same result";

/// The error of random functions.
pub(super) fn random() -> Error {
    wrong(NO_RANDOM)
}

fn range(args: &[Value]) -> Result<Value, Error> {
    let [first, second, by] = bind(args, ["start", "stop", "step"])?;
    let first = whole(Some(&required(first, "stop")?), 0)?;
    let by = whole(by.as_ref(), 1)?;
    if by == 0 {
        return Err(wrong("the step of `range` is zero"));
    }
    let (start, stop) = match second {
        None => (0, first),
        Some(second) => (first, whole(Some(&second), 0)?),
    };
    Ok(Value::from_object(Range {
        start,
        stop,
        step: by,
    }))
}

/// Gives its values in turn.
#[derive(Debug)]
struct Cycler {
    values: Vec<Value>,
    next: AtomicUsize,
}

fn cycler(args: &[Value]) -> Result<Value, Error> {
    let (values, _) = split(args)?;
    if values.is_empty() {
        return Err(wrong("`cycler` needs at least one value"));
    }
    Ok(Value::from_object(Cycler {
        values: values.to_vec(),
        next: AtomicUsize::new(0),
    }))
}

impl Cycler {
    fn current(&self) -> Option<Value> {
        self.values.get(self.next.load(Ordering::Relaxed)).cloned()
    }
}

impl Object for Cycler {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.values.clone())
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        (key.as_str() == Some("current")).then(|| self.current())?
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        let [] = bind(args, [])?;
        match method {
            "next" => {
                let value = self.current().unwrap_or_default();
                let next = self.next.load(Ordering::Relaxed) + 1;
                let next = if next == self.values.len() { 0 } else { next };
                self.next.store(next, Ordering::Relaxed);
                Ok(value)
            }
            "reset" => {
                self.next.store(0, Ordering::Relaxed);
                Ok(Value::from(()))
            }
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }
}

/// Nothing at its first call, then a separator.
#[derive(Debug)]
struct Joiner {
    separator: Value,
    is_used: AtomicBool,
}

fn joiner(args: Rest<ValueOrKwargs>) -> Result<Value, Error> {
    let [separator] = bind(&values(args), ["sep"])?;
    Ok(Value::from_object(Joiner {
        separator: separator.unwrap_or_else(|| Value::from(", ")),
        is_used: AtomicBool::new(false),
    }))
}

impl Object for Joiner {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(vec![self.separator.clone()])
    }

    fn call(self: &Arc<Self>, _: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        let [] = bind(args, [])?;
        if self.is_used.swap(true, Ordering::Relaxed) {
            return Ok(self.separator.clone());
        }
        Ok(Value::from(""))
    }
}

//! Counts what an expansion makes, and stops one that makes too much.

use krm_yaml::Value;

use crate::error::Overrun;
use crate::model::Limits;
use crate::references::{MAX_REPLACED, size};

/// Counts what an expansion makes. Without limits, it counts nothing.
pub(super) struct Budget<'l> {
    limits: Option<Limits<'l>>,
    bytes: usize,
}

impl<'l> Budget<'l> {
    /// A budget of which nothing is used yet.
    pub(super) const fn new(limits: Option<Limits<'l>>) -> Self {
        Self { limits, bytes: 0 }
    }

    /// Tells whether the time is up, if it is limited.
    pub(super) fn is_late(&self) -> Option<&'l dyn Fn() -> bool> {
        self.limits.as_ref().map(|limits| limits.is_late)
    }

    /// Checks the time and the number of resources.
    pub(super) fn check(&self, resources: usize) -> Result<(), Overrun> {
        let Some(limits) = &self.limits else {
            return Ok(());
        };
        if (limits.is_late)() {
            return Err(Overrun::Time);
        }
        if resources > limits.resources {
            return Err(Overrun::Resources(limits.resources));
        }
        Ok(())
    }

    /// Counts bytes that were made.
    pub(super) fn add(&mut self, bytes: usize) -> Result<(), Overrun> {
        let Some(limits) = &self.limits else {
            return Ok(());
        };
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > limits.bytes {
            return Err(Overrun::Bytes(limits.bytes));
        }
        Ok(())
    }

    /// Counts a value that was made.
    pub(super) fn add_value(&mut self, value: Option<&Value<'_>>) -> Result<(), Overrun> {
        if self.limits.is_none() {
            return Ok(());
        }
        self.add(value.map_or(0, size))
    }

    /// The bytes that values in place of references may have.
    pub(super) fn left(&self) -> usize {
        let limit = self.limits.as_ref().map(|one| one.bytes);
        limit.unwrap_or(MAX_REPLACED).saturating_sub(self.bytes)
    }

    /// The error if [`left`](Self::left) is not enough.
    pub(super) fn used_up(&self) -> Overrun {
        let limit = self.limits.as_ref().map(|one| one.bytes);
        Overrun::Bytes(limit.unwrap_or(MAX_REPLACED))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use crate::error::Overrun;
    use crate::expand::expand_within;
    use crate::model::{Limits, Options};
    use crate::python::Forbidden;
    use crate::request;
    use krm_yaml::source::Source;

    /// How an expansion within limits ends; it is late after so many looks.
    fn expanded(
        content: &str,
        template: &str,
        resources: usize,
        bytes: usize,
        looks: usize,
    ) -> Option<Overrun> {
        let import = serde_json::json!({"name": "a.jinja", "content": template});
        let schema = "properties: {a: {default: xxxxxxxx}}";
        let schema = serde_json::json!({"name": "a.jinja.schema", "content": schema});
        let text = serde_json::json!({"content": content, "imports": [import, schema]});
        let source = Source::new("request", text.to_string());
        let request = request::read(&source, Options::default()).unwrap();
        let looked = Cell::new(0);
        let is_late = || {
            looked.set(looked.get() + 1);
            looked.get() > looks
        };
        let limits = Limits { resources, bytes, is_late: &is_late };
        match expand_within(&request, &mut Forbidden(&[]), limits) {
            Ok(_) => None,
            Err(error) => {
                assert_eq!(error.diagnostics.errors().iter().count(), 1, "{error:?}");
                Some(error.overrun.unwrap())
            }
        }
    }

    const TWO: &str = "resources: [{name: a, type: a.jinja}, {name: b, type: a.jinja}]";
    const NONE: &str = "resources: []";

    #[test]
    fn what_templates_and_defaults_make_is_limited() {
        // 13 bytes of text, a default of 8 bytes with its key of one, and two parts of 8.
        let once = NONE.len() + 8 + 1 + 16;
        assert_eq!(expanded(TWO, NONE, 9, 2 * once, 9), None);
        assert_eq!(expanded(TWO, NONE, 9, 2 * once - 1, 9), Some(Overrun::Bytes(2 * once - 1)));
    }

    #[test]
    fn outputs_that_double_are_limited() {
        let levels: Vec<String> = (0..40)
            .map(|level| {
                let inner = level + 1;
                format!(
                    "{{% if properties.level == {level} %}}{{name: n, type: a.jinja, properties: {{level: {inner}}}}}{{% endif %}}"
                )
            })
            .collect();
        let levels = levels.concat();
        let template = format!(
            "resources: [{levels}]\noutputs: [{{name: o, value: '{{{{ \"x\" if properties.level == 40 else \"$(ref.n.o)$(ref.n.o)\" }}}}'}}]"
        );
        let config = "resources: [{name: n, type: a.jinja, properties: {level: 0}}]";
        assert_eq!(expanded(config, &template, 99, 1 << 20, 999), Some(Overrun::Bytes(1 << 20)));
    }

    #[test]
    fn resources_and_time_are_limited() {
        let three = "resources: [{name: a, type: A}, {name: b, type: A}, {name: c, type: A}]";
        let bytes = 1 << 20;
        assert_eq!(expanded(three, NONE, 3, bytes, 9), None);
        assert_eq!(expanded(three, NONE, 1, bytes, 9), Some(Overrun::Resources(1)));
        assert_eq!(expanded(three, NONE, 3, bytes, 2), Some(Overrun::Time));
    }
}

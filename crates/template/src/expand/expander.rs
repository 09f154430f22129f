//! Expanders create objects from values: a Template, and other kinds of configuration.

use crate::declare::model::Template;
use crate::declare::parameter::Parameter;
use crate::expand::expansion::{Options, Sink, process};
use crate::values::given::Assignment;
use krm_yaml::diagnostic::{Diagnostics, ObjectReference};

/// Creates objects from the values that are given for its parameters, perhaps on several threads at
/// the same time.
pub trait Expander: Send + Sync {
    /// The object that it was read from, for reports.
    fn reference(&self) -> &ObjectReference;

    /// The parameters that values may be given for, in the order they are declared.
    fn parameters(&self) -> &[Parameter];

    /// Expands it with `given` values, of which later ones override earlier ones, and hands each
    /// object to `sink` in order. Returns its message, if it has one. All errors and warnings go to
    /// `diagnostics`; after an error the objects are of no use.
    fn expand(
        &self,
        given: &[Assignment],
        options: &Options<'_>,
        diagnostics: &mut Diagnostics,
        sink: &mut Sink<'_>,
    ) -> Option<String>;

    /// The Template, if it is one: only a Template has annotations, references and a trace.
    fn template(&self) -> Option<&Template> {
        None
    }

    /// Whether it has a parameter with this name.
    fn declares(&self, name: &str) -> bool {
        let mut parameters = self.parameters().iter();
        parameters.any(|parameter| parameter.name == name)
    }
}

impl Expander for Template {
    fn reference(&self) -> &ObjectReference {
        &self.reference
    }

    fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    fn expand(
        &self,
        given: &[Assignment],
        options: &Options<'_>,
        diagnostics: &mut Diagnostics,
        sink: &mut Sink<'_>,
    ) -> Option<String> {
        process(self, given, options, diagnostics, sink)
    }

    fn template(&self) -> Option<&Template> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use std::collections::BTreeMap;

    use crate::{Assignment, Expander, Format, Generation, Options, Template, print};
    use krm_core::long_lists::LONG_LISTS;
    use krm_yaml::diagnostic::Diagnostics;
    use krm_yaml::source::Source;
    use krm_yaml::{Document, SharedNode};

    /// Reads a Template to be kept.
    fn kept(text: &str) -> Arc<Template> {
        let document = Document::open(&Source::new("test", text), LONG_LISTS).unwrap();
        let document = Arc::new(document.upgrade().unwrap().unwrap_or(document));
        let root = SharedNode::roots(&document).next().unwrap();
        Arc::new(Template::read(&root, &mut Diagnostics::new()).unwrap())
    }

    fn expanded(template: &Template, name: &str) -> String {
        printed(template, name, Format::Name)
    }

    fn printed(template: &Template, name: &str, format: Format) -> String {
        let options = Options::new(Generation::Random);
        let given = [Assignment::text("NAME", name, "test")];
        let printed = print(template, &given, &options, format, &mut Diagnostics::new());
        printed.unwrap().pieces.concat()
    }

    /// A text as the kubelet expands it: `$(NAME)` of a known variable is its value, `$$` is `$`.
    fn by_kubelet(text: &str, known: &BTreeMap<&str, &str>) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            let variable = after.strip_prefix('(').and_then(|one| one.split_once(')'));
            rest = if let Some(after) = after.strip_prefix('$') {
                out.push('$');
                after
            } else if let Some((value, after)) =
                variable.and_then(|(name, after)| Some((known.get(name)?, after)))
            {
                out.push_str(value);
                after
            } else {
                out.push('$');
                after
            };
        }
        out + rest
    }

    /// The advice about a variable that has the name of a parameter.
    #[test]
    fn kubernetes_inserts_a_variable_behind_a_dollar_that_is_a_parameter() {
        let template = kept(
            "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nparameters:\n- name: NAME\n\
             - {name: DOLLAR, value: $}\nobjects:\n- apiVersion: v1\n  kind: Pod\n  \
             metadata: {name: $(NAME)}\n  spec:\n    containers:\n    - name: a\n      \
             env: [{name: NAME, value: variable}]\n      \
             args: [$(DOLLAR)(NAME), $$(NAME)]\n",
        );
        let printed = printed(&template, "parameter", Format::Yaml);
        let args = printed.split_once("args: [").unwrap().1;
        let args = args.split_once(']').unwrap().0;
        let known = BTreeMap::from([("NAME", "variable")]);
        assert_eq!(by_kubelet(args, &known), "variable, $(NAME)");
    }

    #[test]
    fn a_template_that_is_kept_is_expanded_by_several_threads() {
        const fn may_be_kept<T: Send + Sync + 'static>() {}
        const { may_be_kept::<Template>() };
        const { may_be_kept::<Arc<dyn Expander>>() };
        let head =
            "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nparameters:\n- name: NAME\n";
        let deferred = "objects:\n- {apiVersion: v1, kind: Pod, metadata: {name: $(NAME)}}\n";
        let whole = "objects:\n- &a {apiVersion: v1, kind: Pod, metadata: {name: $(NAME)}}\n";
        for objects in [deferred, whole] {
            let template = kept(&format!("{head}{objects}"));
            let threads = ["a", "b", "c"].map(|name| {
                let template = Arc::clone(&template);
                std::thread::spawn(move || (expanded(&template, name), format!("pod/{name}\n")))
            });
            for thread in threads {
                let (printed, expected) = thread.join().unwrap();
                assert_eq!(printed, expected);
            }
        }
    }
}

//! Renders texts in a fresh environment.

use krm_yaml::Value;
use krm_yaml::diagnostic::Result;
use krm_yaml::source::Source;

use super::rewrite::rewrite;
use super::{Context, Environment, FUEL, Rendered};
use crate::model::{Env, Import, Imports};

/// Renders the first of these imports for this resource.
pub(super) fn render(imports: &[(&str, &str)], resource: &str, env: &str) -> Result<Rendered> {
    let mut all = Imports::default();
    for (name, content) in imports {
        all.insert(Import {
            name: (*name).to_owned(),
            path: (*name).to_owned(),
            content: Source::new(*name, *content),
        });
    }
    let data = |text: &str| Value::from(serde_json::from_str::<serde_json::Value>(text).unwrap());
    let env: Env = data(env)
        .entries()
        .unwrap()
        .iter()
        .map(|(key, value)| (key.to_string(), value.clone()))
        .collect();
    let template = all.iter().next().unwrap();
    let environment = Environment::new(&all);
    // Enough for these tests, and less to wait for.
    environment.engine.borrow_mut().set_fuel(Some(FUEL / 10));
    environment.render(template, Context { resource: &data(resource), env: &env })
}

const RECORDED: &str = include_str!("recorded.json");

#[test]
fn templates_render_as_jinja2_renders_them() {
    let recorded: serde_json::Value = serde_json::from_str(RECORDED).unwrap();
    let mut failures = Vec::new();
    let mut count = 0;
    for group in recorded["groups"].as_array().unwrap() {
        let [resource, env] = ["resource", "env"].map(|name| group[name].to_string());
        for case in group["cases"].as_array().unwrap() {
            let template = case[0].as_str().unwrap();
            let mut imports = vec![("t.jinja", template)];
            let others = group["imports"].as_object().unwrap();
            imports
                .extend(others.iter().map(|(name, text)| (name.as_str(), text.as_str().unwrap())));
            let rendered = render(&imports, &resource, &env);
            let found = rendered.as_ref().ok().map(|rendered| rendered.text.as_str());
            if found != case[1].as_str() {
                let error = rendered.as_ref().err().map(ToString::to_string);
                failures
                    .push(format!("{template:?}\n  gives {found:?} {error:?}\n  not {}", case[1]));
            }
            count += 1;
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(count > 850, "{count} templates");
}

#[test]
fn operands_are_marked() {
    for (template, expected) in [
        ("{{ a.b['c'](d) }}", "{{ a.b['c'](d|_c)|_c }}"),
        ("{{- not -a[0] + 1 ~ 'x' -}}", "{{- not -a[0]|_c + 1 ~ 'x' -}}"),
        ("{{ a[b][1:] }}", "{{ ((a|_i)[b|_c]|_i)[1:]|_c }}"),
        ("{{ [a, {'b': c}] }}", "{{ [a|_c, {'b': c|_c}|_c]|_c }}"),
        ("{{ a|f(b, c=d)|g }}", "{{ a|_c|f(b|_c, c=d|_c)|_c|g|_c }}"),
        ("{{ a is defined and b is in c }}", "{{ a|_c is defined and b|_c is in (c|_c) }}"),
        ("{{ '%s' % a|f ~ b }}", "{{ '%s' |_format( a|_c|f|_c) ~ b|_c }}"),
        ("{% if a == b %}", "{% if a|_c == b|_c %}"),
        ("{% set a, b = c %}", "{% set a, b = c|_c %}"),
        ("{% set a = c + 1 -%}", "{% set a = (c|_c + 1)|_c -%}"),
        ("{% for a, b in c if a recursive %}", "{% for a, b in c|_c if a|_c recursive %}"),
        ("{% for a in 1, b %}", "{% for a in (1, b|_c) %}"),
        ("{% include a with context %}", "{% include a|_c with context %}"),
        ("{% macro m(a, b=[]) %}", "{% macro m(a, b=[]) %}"),
        ("{% raw %}{{ a }}{% endraw %}{# {{ a }} #}", "{% raw %}{{ a }}{% endraw %}{# {{ a }} #}"),
        ("{{ 'a }}' }} {{ a", "{{ 'a }}' }} {{ a|_c"),
    ] {
        assert_eq!(rewrite(template).unwrap(), expected);
    }
}

#[track_caller]
fn check_error(template: &str, expected: &str) {
    let imports = [("t.jinja", template), ("other.jinja", "\n{{ x.y }}")];
    let resource = r#"{"properties": {"zone": "a", "nested": {"alpha": 1}}}"#;
    let error = render(&imports, resource, r#"{"deployment": "d"}"#).unwrap_err();
    assert_eq!(error.to_string(), format!("error: {expected}"));
}

#[test]
fn errors_name_the_word_and_the_nearest_one() {
    check_error(
        "\n{{ properties.zoen.x }}",
        "t.jinja:2:15: `properties` has no `zoen`\n  help: did you mean `zone`?",
    );
    check_error(
        "{{ properties['nested']['alhpa'].x }}",
        "t.jinja:1:26: `properties.nested` has no `alhpa`\n  help: did you mean `alpha`?",
    );
    check_error(
        "{{ propertis.zone }}",
        "t.jinja:1:4: `propertis` is undefined\n  help: did you mean `properties`?",
    );
    check_error(
        "{{ [1] + ['a'|uper] }}",
        "t.jinja:1:15: unknown filter `uper`\n  help: did you mean `upper`?",
    );
    check_error(
        "{{ 1 is defnied }}",
        "t.jinja:1:9: unknown test `defnied`\n  help: did you mean `defined`?",
    );
    check_error(
        "{{ rnage(3) }}",
        "t.jinja:1:4: unknown function `rnage`\n  help: did you mean `range`?",
    );
    check_error("{{ 'a'.foo() }}", "t.jinja:1:8: a string has no method `foo`");
    check_error("{% include 'other.jinja' %}", "other.jinja:2:4: `x` is undefined");
    check_error(
        "{% include 'othr.jinja' %}",
        "t.jinja:1:13: `othr.jinja` is not among the imports\n  help: did you mean `other.jinja`?",
    );
}

#[test]
fn tags_that_jinja2_does_not_have_are_refused() {
    check_error(
        "\n  {% do [].append(1) %}",
        "t.jinja:2:6: unknown tag `do`\n  help: write `{% set _ = … %}`",
    );
    check_error(
        "{%- inlcude 'x' %}",
        "t.jinja:1:5: unknown tag `inlcude`\n  help: did you mean `include`?",
    );
}

#[test]
fn variables_of_the_service_that_are_not_given_are_errors_when_they_are_read() {
    for expression in [
        "env.project",
        "env.project.x",
        "env.project[:3]",
        "env['project'] ~ 'x'",
        "env.project|upper",
        "[env.project]",
        "env.project.split('-')",
        "env.project + 'x'",
        "'%s' % env.project",
        "'%s'|format(env.project)",
    ] {
        let template = format!("{{{{ {expression} }}}}");
        let column = template.find("project").unwrap() + 1;
        check_error(&template, &format!("t.jinja:1:{column}: `env` has no `project`"));
    }
    let template = "{{ env.project|default('d') }} {{ env.project is defined }} \
        {{ env.get('project') }} {{ env }} {% if env.project %}x{% endif %}";
    let rendered = render(&[("t.jinja", template)], "{}", r#"{"deployment": "a"}"#).unwrap();
    assert_eq!(rendered.text, "d False None {'deployment': 'a'} ");
}

#[test]
fn a_variable_that_is_not_given_has_a_hint_for_each_way() {
    let error = render(&[("t.jinja", "{{ env.project }}")], "{}", "{}").unwrap_err();
    let hints: Vec<&str> = error.advice.iter().map(|(_, hint)| hint.as_str()).collect();
    assert_eq!(hints, ["add `--project ID`", "set `spec.env.project`"]);
}

const TOO_LONG: &str = "the template makes a text of more than 16 MiB";
const TOO_MANY: &str = "the template runs too long";
const TOO_LARGE: &str = "a number of `range` is too large";
const PARTS: &str = "a value has more than 200,000 parts";
const TOO_DEEP: &str = "lists and mappings nest more than 100 deep, or contain themselves";

#[test]
fn texts_and_lists_have_limits() {
    for (expression, expected) in [
        ("'a' * 10**7 * 2", TOO_LONG),
        ("'a' * 10**9", TOO_MANY),
        ("'%1000000000d' % 5", TOO_LONG),
        ("'%.1000000000f' % 5", TOO_LONG),
        ("'{:1000000000}'.format(5)", TOO_LONG),
        ("'{0}{0}{0}'.format('a' * 10000000)", TOO_LONG),
        ("'a'|indent(10**9, true)", TOO_LONG),
        ("('a' * 100000)|replace('a', 'b' * 100000)", TOO_MANY),
        ("('a' * 100000).replace('a', 'b' * 100000)", TOO_MANY),
        ("(['a' * 1000000] * 30)|join", TOO_LONG),
        ("['a' * 1000000] * 30", TOO_LONG),
        ("([[1] * 1000] * 1000)|length", PARTS),
        ("[1]|batch(10**9, 0)", TOO_MANY),
        ("[1]|slice(10**9)", TOO_MANY),
        ("([u] * 9000)|map('default', 'a' * 1000000)|join", TOO_MANY),
        ("([u] * 9000)|map('default', 'a' * 1000000)|upper", TOO_MANY),
        ("[1] * 10**9", "repeated sequence is too large"),
        ("range(10**9)|list", "range has too many elements"),
        ("range(2**63 - 1, -2, -1)|list", TOO_LARGE),
        ("range(0, 1, -2**63)|list", TOO_LARGE),
        ("(-2**127)|abs", "overflow on abs"),
        ("[[1]]|tojson(indent=2**62)", TOO_LONG),
        ("([1] * 10000)|tojson(70000)", TOO_LONG),
    ] {
        let template = format!("{{{{ {expression} }}}}");
        let error = render(&[("t.jinja", &template)], "{}", "{}").unwrap_err();
        assert_eq!(error.message, expected, "{expression}");
    }
}

#[test]
fn numbers_at_their_limits_have_results() {
    for (expression, expected) in [
        ("1.5|round(-400)", "0.0"),
        ("(-1.5)|round(400)", "-1.5"),
        ("(10**38)|round(-38)", "100000000000000000000000000000000000000"),
        ("5|round(-2147483648)", "0"),
        ("(2**126)|round(-38, 'ceil')", "100000000000000000000000000000000000000"),
        ("'abc'[::-2**63]", "c"),
        ("'abc'[::(-9223372036854775808)]", "c"),
        ("[1, 2, 3][-2**63:2**63 - 1:2**63 - 1]|list", "[1]"),
        ("{'a': 'abc'}['a'][2:0:-1]", "cb"),
        (
            "[[1, 2], {'a': 'x,[\"'}]|tojson(indent=1)",
            "[\n [\n  1,\n  2\n ],\n {\n  \"a\": \"x,[\\\"\"\n }\n]",
        ),
        ("[1]|tojson(70000)|length", "70005"),
        ("range(3, 0, -2)|list", "[3, 1]"),
    ] {
        let template = format!("{{{{ {expression} }}}}");
        let rendered = render(&[("t.jinja", &template)], "{}", "{}");
        let text = rendered.map_or_else(|error| error.message, |rendered| rendered.text);
        assert_eq!(text, expected, "{expression}");
    }
}

#[test]
fn loops_macros_and_nests_have_limits() {
    let million = "{% set t = 'äb' * 500000 %}{% set u = 'äb' * 500000 %}\
        {% for i in range(100000) %}";
    let double =
        |times: usize| "{% set a = [a, a] %}{% set b = [b, b] %}{% set c = (c, c) %}".repeat(times);
    let start = "{% set a = [1] %}{% set b = [1] %}{% set c = (1,) %}";
    for (template, expected) in [
        ("{% for i in range(90000) %}{% for i in range(200) %}{% endfor %}{% endfor %}".to_owned(), TOO_MANY),
        (format!("{million}{{% if t == u %}}{{% endif %}}{{% endfor %}}"), TOO_MANY),
        (format!("{million}{{{{ t[i] }}}}{{% endfor %}}"), TOO_MANY),
        (format!("{million}{{% if 'aa' is in t %}}{{% endif %}}{{% endfor %}}"), TOO_MANY),
        (format!("{start}{}", double(60)), PARTS),
        (
            format!("{start}{}{{% for i in range(100000) %}}{{% if a == b %}}{{% endif %}}{{% endfor %}}", double(12)),
            TOO_MANY,
        ),
        (
            format!("{start}{}{{% for i in range(100000) %}}{{% if {{c: 1}} %}}{{% endif %}}{{% endfor %}}", double(12)),
            TOO_MANY,
        ),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}".to_owned(), "recursion limit exceeded"),
        ("{% include 't.jinja' %}".to_owned(), "recursion limit exceeded"),
        ("{% set l = [] %}{% set _ = l.append(l) %}".to_owned(), TOO_DEEP),
        ("{% set l = [] %}{% set _ = l.append(l + [1]) %}".to_owned(), TOO_DEEP),
        ("{% set l = [] %}{% set _ = l.append({'a': (l,)}) %}".to_owned(), TOO_DEEP),
        ("{% set a = (a,) %}".repeat(10_000), TOO_DEEP),
        ("{% set a = {'a': a} %}".repeat(10_000), TOO_DEEP),
        (
            // Each list is inside of the one before it.
            "{% set l = [[]] %}{% for i in range(10000) %}{% set n = [] %}\
             {% set _ = l[i].append(n) %}{% set _ = l.append(n) %}{% endfor %}"
                .to_owned(),
            TOO_DEEP,
        ),
        (
            "{% set l = [] %}{% for x in [l] %}{% set _ = l.append(loop) %}{% endfor %}".to_owned(),
            "`loop` cannot be a part of another value",
        ),
        (
            "{% set l = [] %}{% for i in range(100000) %}{% set _ = l.append('x' * 1000000) %}{% endfor %}".to_owned(),
            TOO_MANY,
        ),
        ("{% include ['a'] * 90000000 %}".to_owned(), PARTS),
    ] {
        let start: String = template.chars().take(200).collect();
        let error = render(&[("t.jinja", &template)], r#"{"properties": {}}"#, "{}").unwrap_err();
        assert_eq!(error.message, expected, "{start}");
    }
}

#[test]
fn long_expressions_and_conditions_are_refused_before_they_are_read() {
    let words = "an expression has more than 1000 words and signs";
    for (start, part, end) in [
        ("{{ 'a'", "|upper", " }}"),
        ("{{ a", ".a", " }}"),
        ("{{ a", "[0]", " }}"),
        ("{{ a", "()", " }}"),
        ("{{ ", "not ", "1 }}"),
        ("{{ ", "- ", "1 }}"),
        ("{{ 1", "-1", " }}"),
        ("{{ 1", "**1", " }}"),
        ("{{ 1", " and 1", " }}"),
        ("{{ 1", " if 0 else 1", " }}"),
        ("{{ 1", " is defined", " }}"),
        ("{{ 1", "<1", " }}"),
        ("{{ ", "[", " }}"),
        ("{{ ", "(", " }}"),
        ("{% set x = 1", "~1", " %}"),
    ] {
        for (count, is_long) in [(100_000, true), (1002, true), (150, false)] {
            let template = [start, &part.repeat(count), end].concat();
            let found = render(&[("t.jinja", &template)], "{}", "{}").err();
            let found = found.map(|error| error.message).unwrap_or_default();
            assert_eq!(found == words, is_long, "{start}{part} {count} {found}");
        }
    }
    for (count, expected) in [(60_000, "more than 500 `elif` in a row"), (500, "")] {
        let template = ["{% if 0 %}", &"{% elif 0 %}".repeat(count), "{% endif %}"].concat();
        let found = render(&[("t.jinja", &template)], "{}", "{}").err();
        let found = found.map(|error| error.message).unwrap_or_default();
        assert_eq!(found, expected, "{count}");
    }
    // The longest that is read fits on the stack.
    for part in ["|upper", ".a", "[0]", "-1", "**1", " and 1", " if 0 else 1"] {
        let count = 990 / part.split_inclusive(['|', '.', '[', '-', '*', ' ']).count().max(2);
        let template = ["{{ '1'", &part.repeat(count), " }}"].concat();
        let _ = render(&[("t.jinja", &template)], "{}", "{}");
    }
}

#[test]
fn fuel_is_shared_by_all_templates_of_an_expansion() {
    let mut imports = Imports::default();
    let text = "{% for i in range(5000) %}{% endfor %}";
    imports.insert(Import {
        name: "t.jinja".to_owned(),
        path: "t.jinja".to_owned(),
        content: Source::new("t.jinja", text),
    });
    let environment = Environment::new(&imports);
    environment.engine.borrow_mut().set_fuel(Some(FUEL / 10));
    let resource = Value::mapping(Vec::new());
    let context = Context { resource: &resource, env: &Env::new() };
    let template = imports.iter().next().unwrap();
    let results: Vec<bool> =
        (0..100).map(|_| environment.render(template, context).is_ok()).collect();
    assert_eq!(results.first(), Some(&true));
    assert_eq!(results.last(), Some(&false));
}

#[test]
fn lists_can_change() {
    let text = "{% set l = [1] %}{% set _ = l.append(2) %}{% set d = {'a': l, 'b': []} %}\
        {% set _ = d.b.append(l) %}{% set _ = l.append(3) %}{{ d }}";
    let rendered = render(&[("t.jinja", text)], "{}", "{}").unwrap();
    assert_eq!(rendered.text, "{'a': [1, 2, 3], 'b': [[1, 2, 3]]}");
}

#[test]
fn changed_properties_are_returned() {
    let text = "{% set _ = properties.a.append({'b': (2.5, None)}) %}";
    let rendered =
        render(&[("t.jinja", text)], r#"{"properties": {"a": [1.10], "c": 2}}"#, "{}").unwrap();
    let properties = rendered.properties.unwrap();
    let expected =
        serde_json::from_str::<serde_json::Value>(r#"{"a": [1.10, {"b": [2.5, null]}], "c": 2}"#);
    assert_eq!(properties, Value::from(expected.unwrap()));
}

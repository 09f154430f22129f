//! Texts, and their rewritten form.

use proptest::prelude::*;

use super::rewrite;
use super::tags::tags;

#[track_caller]
fn check(source: &str, expected: &str) {
    let rewritten = rewrite(source);
    assert!(rewritten.refused.is_none(), "{:?}", rewritten.refused);
    assert_eq!(rewritten.text, expected);
}

#[test]
fn literals_become_lists_and_mappings() {
    check("{{ [1, [2]] }}", "{{ _list([1, _list([2])]) }}");
    check("{{ {'a': [1]} }}", "{{ _dict({'a': _list([1])}) }}");
    check("{{ {'a': {}}}}", "{{ _dict({'a': _dict({})})}}");
    check("{% for x in[1] %}", "{% for x in _in(_list([1])) %}");
    check("{{ x is in [1] }}", "{{ x is in _list([1]) }}");
    check(
        "{% include ['a', 'b'] %}",
        "{% include _list(['a', 'b']) %}",
    );
    check("{% macro m(a=[]) %}", "{% macro m(a=_list([])) %}");
}

#[test]
fn subscripts_are_not_literals() {
    for source in [
        "{{ a['b'][0].c }}",
        "{{ f(1)['b'] }}",
        "{{ 'abc'[0] }}",
        "{{ (a)['b'] }}",
    ] {
        check(source, source);
    }
    check("{{ a[b] }}", "{{ _item(a,(b)) }}");
    check("{{ a.b[1:] }}", "{{ _slice(a.b,1, none) }}");
    check("{{ a[:2] }}", "{{ _slice(a, none,2) }}");
    check("{{ a[::-1] }}", "{{ _slice(a, none, none,-1) }}");
}

#[test]
fn operators_have_the_precedence_of_jinja2() {
    check("{{ 2 * 9 % 4 }}", "{{ _mod(_mul(2 , 9) , 4) }}");
    check("{{ '%s' % x|upper }}", "{{ _mod('%s' , x|upper) }}");
    check("{{ a + b - c + d }}", "{{ _add(_add(a , b) - c , d) }}");
    check("{{ a + b + c }}", "{{ _add(a , b , c) }}");
    check("{{ a ~ b + c }}", "{{ _add(_concat(a , b) , c) }}");
    check("{{ a / b % c }}", "{{ _mod(a / b , c) }}");
    check("{{ -a|abs }}", "{{ _neg(a)|abs }}");
    check("{{ not a == b and c }}", "{{ not _eq(a , b) and c }}");
    check("{{ a < b < c }}", "{{ a < b < _operand(c) }}");
    check("{{ 1, 2 -}}", "{{ (1, 2) -}}");
    check("{{- a % b -}}", "{{- _mod(a , b) -}}");
}

#[test]
fn comments_texts_and_raw_blocks_stay() {
    for source in [
        "[1] % {2} {# {{ [1] }} #} {% raw %}{{ [1] % 2 }}{% endraw %}",
        "{{ '[1] % 2 }}' }}",
        "{%- raw -%} {% for x in [1] %} {%- endraw +%}",
        "{{ x",
        "{% if x",
        "{# x",
        "{{ 'x }}",
    ] {
        check(source, source);
    }
}

#[test]
fn values_of_variables_are_checked() {
    check("{% set a = b %}", "{% set a = _set(b) %}");
    check("{% set a, b = 1, 2 -%}", "{% set a, b = _set((1, 2)) -%}");
    check("{% set n.a = (b, c) %}", "{% set n.a = _part((b, c)) %}");
    check("{% set a %}", "{% set a %}");
    check(
        "{% set a | replace('=', b) %}",
        "{% set a | replace('=', b) %}",
    );
}

#[test]
fn macros_take_any_arguments_if_they_use_them() {
    check(
        "{% macro m(a) %}{{ varargs }}{% endmacro -%}",
        "{% macro m(a, varargs=(), kwargs=_dict({})) %}{{ varargs }}\
         {% endmacro%}{% set m = _macro(m)  -%}",
    );
    check(
        "{% macro m(a, b=a ~ 1) %}{% endmacro %}",
        "{% macro m(a, b  ) %}{% if b is undefined %}{% set b = _concat(a , 1) %}{% endif %}\
         {% endmacro %}",
    );
}

#[test]
fn escapes_are_those_of_python() {
    check(r"{{ '\/ \n \' \a' }}", r"{{ '\\/ \n \' \x07' }}");
    check("{{ 'a\\\nb' }}", "{{ 'ab'\n }}");
}

/// The text outside of tags.
fn outside(source: &str) -> String {
    let mut out = String::new();
    let mut end = 0;
    for tag in tags(source) {
        out.push_str(source.get(end..tag.start - 2).unwrap());
        end = (tag.end + 2).min(source.len());
    }
    out.push_str(source.get(end..).unwrap());
    out
}

fn templates() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{{ ",
        " }}",
        "{% ",
        " %}",
        "{#",
        "#}",
        "{%- ",
        " -%}",
        "raw",
        "endraw",
        "for x in ",
        "if ",
        "set a = ",
        "macro m(a, b=a)",
        "endmacro",
        "varargs",
        "[",
        "]",
        "{",
        "}",
        "(",
        ")",
        "'",
        "\"",
        "\\",
        "1",
        "1.5",
        "a",
        ".b",
        " % ",
        " + ",
        " - ",
        " * ",
        " ~ ",
        " / ",
        " ** ",
        " == ",
        " < ",
        " in ",
        " not ",
        " is ",
        " and ",
        " if ",
        " else ",
        "|upper",
        "|d(1)",
        ", ",
        ":",
        "\n",
        " ",
        "text",
        "é",
        "\r\n",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Whole tags with expressions between texts.
fn tidy_templates() -> impl Strategy<Value = String> {
    let expression = prop::sample::select(vec![
        "a",
        "a.b",
        "f(a, b=1)",
        "a|upper",
        "a is defined",
        "a if b else c",
        "not a",
        "'x'",
        "a and b",
        "a + b",
        "a ~ 1",
        "-a",
        "a * 2 + 1",
        "a == b",
        "a in b",
        "a['b']",
        "(a, b)",
        "1 < 2 < 3",
    ]);
    let piece = prop_oneof![
        expression
            .clone()
            .prop_map(|text| format!("{{{{ {text} }}}}")),
        expression
            .clone()
            .prop_map(|text| format!("{{%- if {text} %}}\n{{% endif -%}}")),
        expression.prop_map(|text| format!("{{% for x in {text} %}}{{% endfor %}}")),
        Just("text [1] % {2}\n".to_owned()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_line_moves(source in templates()) {
        let rewritten = rewrite(&source);
        prop_assert_eq!(source.matches('\n').count(), rewritten.text.matches('\n').count());
    }

    #[test]
    fn text_outside_of_tags_stays(source in tidy_templates()) {
        let rewritten = rewrite(&source);
        prop_assert_eq!(outside(&source), outside(&rewritten.text));
    }

    #[test]
    fn a_second_time_changes_nothing(source in tidy_templates()) {
        let once = rewrite(&source).text.into_owned();
        prop_assert_eq!(&rewrite(&once).text, &once);
    }
}

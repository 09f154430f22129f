//! The meaning of texts to kubectl 1.37: each value was printed by
//! `kubectl annotate --local -o json`.

use crate::diagnostic::Diagnostics;
use crate::read::document::Document;
use crate::read::values::DuplicateKeys;
use crate::source::Source;
use crate::testing::{compare, moved, unchanged};

/// The first document as JSON, or the first error.
fn read(text: &str) -> Result<String, String> {
    let document = Document::parse(&Source::new("test", text)).map_err(|error| error.message)?;
    let mut diagnostics = Diagnostics::new();
    let root = document.roots().next().unwrap();
    let value = root.value(DuplicateKeys::Refuse, &mut diagnostics);
    value.map(|value| value.to_json()).ok_or_else(|| {
        let first = diagnostics.iter().next().unwrap();
        first.message.clone()
    })
}

#[track_caller]
fn means(text: &str, json: &str) {
    assert_eq!(read(text).as_deref(), Ok(json), "{text:?}");
    compare(text).unwrap();
    unchanged(text).unwrap();
    moved(text).unwrap();
}

#[track_caller]
fn refuses(text: &str, message: &str) {
    assert_eq!(read(text), Err(message.to_owned()), "{text:?}");
}

#[test]
fn the_end_of_the_file_ends_the_last_line_of_a_block_scalar() {
    means("a: |\n    x", r#"{"a":"x\n"}"#);
    means("a: |-\n    x", r#"{"a":"x"}"#);
    means("a: |+\n    x", r#"{"a":"x\n"}"#);
    means("a: |+\n    x\n    ", r#"{"a":"x\n\n"}"#);
    means("a: |\n    x\n    ", r#"{"a":"x\n"}"#);
    means("a: |\n    x\n     ", r#"{"a":"x\n \n"}"#);
    means("a: >\n    x\n    y", r#"{"a":"x y\n"}"#);
    means("a: |+\n  ", r#"{"a":"\n"}"#);
    means("a: |\n  ", r#"{"a":""}"#);
    means("a: |+", r#"{"a":""}"#);
}

#[test]
fn json_strings_mean_what_they_mean_in_json() {
    means("{\"a\":\"p\u{7f}q\"}", "{\"a\":\"p\\u007Fq\"}");
    means("{\"a\":\"p\u{9f}q\"}", "{\"a\":\"p\\u009Fq\"}");
    means("{\"a\":\"p\u{ffff}q\"}", "{\"a\":\"p\\uFFFFq\"}");
    means("{\"a\":\"p\u{85}q\"}", "{\"a\":\"p\\u0085q\"}");
    means("{\"a\":\"p \u{2028} q\"}", "{\"a\":\"p \\u2028 q\"}");
    means("{\"a\":\"p\u{2029}q\"}", "{\"a\":\"p\\u2029q\"}");
    means("[\"\\ud800\"]", "[\"\u{fffd}\"]");
    means("[\"\\udc00x\"]", "[\"\u{fffd}x\"]");
    means("[\"\\ud83d\\u0041\"]", "[\"\u{fffd}A\"]");
    means("[\"\\ud83d\\ude00\"]", "[\"😀\"]");
    // Not JSON, so the line breaks are those of go-yaml.
    means("{\"a\":\"p\u{85}q\", b: c}", r#"{"a":"p q","b":"c"}"#);
    means("{a: \"p \u{2028} q\"}", "{\"a\":\"p\\u2028q\"}");
}

#[test]
fn keys_that_are_numbers_are_what_kubectl_makes_of_them() {
    means("1.10: a\n", r#"{"1.1":"a"}"#);
    means("{1e3: a}\n", r#"{"1000":"a"}"#);
    means(".inf: a\n", r#"{".inf":"a"}"#);
    means("-0: a\n", r#"{"0":"a"}"#);
    means("!!str 1.10: a\n", r#"{"1.10":"a"}"#);
    means("!!str yes: a\n", r#"{"yes":"a"}"#);
    means("!!int \"1\": a\n", r#"{"1":"a"}"#);
    means("!!float 1: a\n", r#"{"1":"a"}"#);
    means("!!float 6789012: a\n", r#"{"6.789012e+06":"a"}"#);
    means("!foo 1: a\n", r#"{"1":"a"}"#);
    means("!!binary aGk=: a\n", r#"{"hi":"a"}"#);
    refuses("1.10: a\n\"1.1\": b\n", "duplicate mapping key `1.1`");
    refuses("1.0: a\n1: b\n", "duplicate mapping key `1`");
    refuses(
        "9223372036854775808: a\n",
        "a mapping key must be a string, found a number beyond 63 bits",
    );
    refuses("!!int 1.5: a\n", "expected an integer of 64 bits after the tag `!!int`, found `1.5`");
}

#[test]
fn tags_accept_the_values_that_go_yaml_accepts() {
    means("a: !!null ''\n", r#"{"a":null}"#);
    means("a: !!null \"null\"\n", r#"{"a":null}"#);
    means("a: !!null\n", r#"{"a":null}"#);
    means("a: !!int '1'\n", r#"{"a":1}"#);
    means("a: !!int 0x10\n", r#"{"a":16}"#);
    means("a: !!int 18446744073709551615\n", r#"{"a":18446744073709551615}"#);
    means("a: !!float 1\n", r#"{"a":1}"#);
    means("a: !!float 18446744073709551616\n", r#"{"a":18446744073709551616}"#);
    means("a: !!bool 'yes'\n", r#"{"a":true}"#);
    means("a: !!timestamp '2001-01-01'\n", r#"{"a":"2001-01-01"}"#);
    means("a: !!timestamp 2001-1-1T1:2:3Z\n", r#"{"a":"2001-1-1T1:2:3Z"}"#);
    means("a: !!str\n", r#"{"a":""}"#);
    for (value, expected) in [
        ("!!null x", "null"),
        ("!!null 0", "null"),
        ("!!timestamp xx", "a date"),
        ("!!timestamp 'xx'", "a date"),
        ("!!timestamp 5", "a date"),
        ("!!timestamp 2001-02-30", "a date"),
        ("!!int 1.5", "an integer of 64 bits"),
        ("!!int 1.0", "an integer of 64 bits"),
        ("!!int 1e3", "an integer of 64 bits"),
        ("!!int 08", "an integer of 64 bits"),
        ("!!int 18446744073709551616", "an integer of 64 bits"),
        ("!!int -9223372036854775809", "an integer of 64 bits"),
        ("!!int true", "an integer of 64 bits"),
        ("!!float 1e400", "a number"),
        ("!!bool 1", "a bool"),
        ("!!binary a Gk=", "the base64 encoding of a text"),
    ] {
        let (tag, found) = value.split_once(' ').unwrap();
        let found = found.trim_matches('\'');
        refuses(
            &format!("a: {value}\n"),
            &format!("expected {expected} after the tag `{tag}`, found `{found}`"),
        );
    }
    refuses("a: !!timestamp\n", "expected a date after the tag `!!timestamp`, found ``");
}

#[test]
fn spellings_that_only_go_yaml_allows_are_read() {
    means(r#"a: "it\'s""#, r#"{"a":"it's"}"#);
    means("\"it\\'s\": [\"\\'\"]\n", r#"{"it's":["'"]}"#);
    means("a: [b]#c\nd: e\n", r#"{"a":["b"],"d":"e"}"#);
    means("a: {b: c}#\nd: e\n", r#"{"a":{"b":"c"},"d":"e"}"#);
    means("a: \"b\"#é {\nd: 'e'#f", r#"{"a":"b","d":"e"}"#);
    means("a: |#c\n  x\nb: |-#c\n  y\n", r#"{"a":"x\n","b":"y"}"#);
    means("a:\n- >2#c\n   x\n- \"y\"#z\n- z\n", r#"{"a":[" x\n","y","z"]}"#);
    means("a: [b,#c\n  d]\n", r#"{"a":["b","d"]}"#);
    means("a: [#c\n  {#c\n  b: c}]\n", r#"{"a":[{"b":"c"}]}"#);
    means("a: [\"b\"#c\n  , d]\n", r#"{"a":["b","d"]}"#);
    means("a: [b#c\n ]#d", r#"{"a":["b#c"]}"#);
    means("a: [-]\n", r#"{"a":["-"]}"#);
    means("a: [-, b, -]\nc: {d: -}\n", r#"{"a":["-","b","-"],"c":{"d":"-"}}"#);
    means("[-]", r#"["-"]"#);
    means(
        "a: [1.2.3.4, 2001:db8::]\nb: {ip: fd00::}\n",
        r#"{"a":["1.2.3.4","2001:db8::"],"b":{"ip":"fd00::"}}"#,
    );
    means(
        "[b:, c :, {d: e:, f: 'g:'}, h: i:, j\n k:]\n",
        r#"["b:","c :",{"d":"e:","f":"g:"},{"h":"i:"},"j k:"]"#,
    );
    means("[fd00:: , -:, fd00:::]\n", r#"[{"fd00:":null},"-:","fd00:::"]"#);
    // Text that looks like it.
    means("a: b]#c, [-]\nd: [e]#f\n", r#"{"a":"b]#c, [-]","d":["e"]}"#);
    means("a: |\n  \"b\"#c\nd: [e]#f\n", r##"{"a":"\"b\"#c\n","d":["e"]}"##);
    means("a: 'b]#c'\nd: \"[-]\"#f\n", r#"{"a":"b]#c","d":"[-]"}"#);
}

#[test]
fn texts_that_go_yaml_refuses_too_stay_refused() {
    for text in [
        "\"a\":#c\n  b\n",
        "a: &x#c\n",
        "a: !!str#c\n",
        "a: [- ]\n",
        "a: [ - , b]\n",
        "a: [-\n  ]\n",
        "a: -\n",
        "a: [b:[c]]\n",
        "a: {b: c:{d: e}}\n",
        "a: [::]\n",
        "a: \"\\q\"#c\n",
        "a: [b]#c\nd: [\n",
        "a: b\n\u{feff}---\nc: d\n",
        "a: b\n---\u{feff}\nc: d\n",
        "a: b\n---\n\n\u{feff}c: d\n",
        "a: b\n---\n# c\n\u{feff}c: d\n",
        "a: b\n---\n\u{feff}\u{feff}c: d\n",
        "# c\n\u{feff}a: b\n",
    ] {
        assert!(read(text).is_err(), "{text:?}");
    }
}

#[test]
fn errors_after_spellings_of_go_yaml_are_reported() {
    let source = Source::new("test", "a: [b]#c\nd: [\ne: f\n");
    let error = Document::parse(&source).unwrap_err();
    assert!(!error.message.contains("comments"), "{}", error.message);
}

#[test]
fn a_later_document_may_begin_with_a_byte_order_mark() {
    for text in [
        "a: b\n---\n\u{feff}c: d\ne:\n  f: g\n",
        "a: b\r\n--- # x\r\n\u{feff}c: d\r\ne:\r\n  f: g\r\n",
        "\u{feff}a: b\n---\n\u{feff}# x\nc: d\ne:\n  f: g\n",
        "a: b\n---\n\u{feff}{\"c\":\"d\",\"e\":{\"f\":\"g\"}}\n",
    ] {
        let document = Document::parse(&Source::new("test", text)).unwrap();
        let roots = document.roots().map(|root| {
            let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new());
            value.unwrap().to_json()
        });
        assert_eq!(
            roots.collect::<Vec<_>>(),
            [r#"{"a":"b"}"#, r#"{"c":"d","e":{"f":"g"}}"#],
            "{text:?}"
        );
        unchanged(text).unwrap();
        moved(text).unwrap();
    }
}

#[test]
fn an_alias_may_refer_to_a_key() {
    means("&k a: x\nb: *k\n", r#"{"a":"x","b":"a"}"#);
    means("&k a: *k\n", r#"{"a":"a"}"#);
    means("&k yes: x\nb: *k\n", r#"{"true":"x","b":true}"#);
    means("&k 1.10: x\nb: [*k]\n", r#"{"1.1":"x","b":[1.10]}"#);
    means("&k !!str 1: x\nb: *k\n", r#"{"1":"x","b":"1"}"#);
    means("{&k a: x, b: *k}\n", r#"{"a":"x","b":"a"}"#);
    means("? &k a\n: x\nb: *k\n", r#"{"a":"x","b":"a"}"#);
    means("&k a: {b: c}\nd: [*k]\n", r#"{"a":{"b":"c"},"d":["a"]}"#);
    means("&k a: &k x\nb: *k\n", r#"{"a":"x","b":"x"}"#);
}

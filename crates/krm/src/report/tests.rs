//! Tests of the layout of reports.
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

use std::ops::Range;
use std::sync::Arc;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::{AllPlaces, TextRenderer, findings, results, text};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, ObjectReference};
use krm_yaml::source::{Place, Source};

const TEMPLATE: &str = "\
kind: Template
metadata:
  name: mongodb
parameters:
- name: REPLICAS
  value: three
objects:
- kind: Deployment
  spec:
    replicas: $((REPLICAS))
";

/// The place of `part` in `source`.
#[track_caller]
fn find(source: &Arc<Source>, part: &str) -> Place {
    let start = source.text().find(part).unwrap();
    at(source, start..start + part.len())
}

fn at(source: &Arc<Source>, range: Range<usize>) -> Place {
    Place { source: Arc::clone(source), range }
}

fn template() -> ObjectReference {
    ObjectReference {
        api_version: "template.krm.dev/v1alpha1".to_owned(),
        kind: "Template".to_owned(),
        name: "mongodb".to_owned(),
        ..ObjectReference::default()
    }
}

#[track_caller]
fn check(diagnostic: Diagnostic, expected: &Expect) {
    check_all([diagnostic], expected);
}

#[track_caller]
fn check_all(list: impl IntoIterator<Item = Diagnostic>, expected: &Expect) {
    expected.assert_eq(&text(&collect(list), false));
}

#[track_caller]
fn check_results(list: impl IntoIterator<Item = Diagnostic>, expected: &Expect) {
    let results = results(&collect(list));
    expected.assert_eq(&serde_json::to_string_pretty(&results).unwrap());
}

fn collect(list: impl IntoIterator<Item = Diagnostic>) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for diagnostic in list {
        diagnostics.push(diagnostic);
    }
    diagnostics
}

fn not_an_integer() -> Diagnostic {
    let source = Source::new("stdin", TEMPLATE);
    let mut diagnostic = Diagnostic::error("parameter `REPLICAS` must be an integer here")
        .at(find(&source, "$((REPLICAS))"))
        .related(find(&source, "three"), "its value")
        .field("objects[0].spec.replicas")
        .hint("write `value: \"3\"`")
        .hint("or use `$(REPLICAS)` for text");
    diagnostic.object = Some(template());
    diagnostic
}

#[test]
fn draws_place_related_place_note_and_hints() {
    check(
        not_an_integer(),
        &expect![[r#"
        error: parameter `REPLICAS` must be an integer here
          --> stdin:10:15
           |
         6 |   value: three
           |          ----- its value
        ...
        10 |     replicas: $((REPLICAS))
           |               ^^^^^^^^^^^^^
           |
           = note: in Template/mongodb, field objects[0].spec.replicas
           = help: write `value: "3"`
           = help: or use `$(REPLICAS)` for text
    "#]],
    );
}

#[test]
fn says_the_file_an_orchestrator_read_the_object_from() {
    let mut diagnostic = Diagnostic::error("`objects` is missing");
    diagnostic.object =
        Some(ObjectReference { path: Some("app/mongodb.yaml".to_owned()), ..template() });
    check(
        diagnostic,
        &expect![[r#"
        error: `objects` is missing
         |
         = note: in Template/mongodb (app/mongodb.yaml)
    "#]],
    );
}

#[test]
fn without_a_place_there_are_message_and_hints() {
    check(
        Diagnostic::error("there is nothing on stdin"),
        &expect![[r#"
            error: there is nothing on stdin
        "#]],
    );
    check(
        Diagnostic::error("there is nothing on stdin").hint("pipe a `ResourceList` into it"),
        &expect![[r#"
            error: there is nothing on stdin
             |
             = help: pipe a `ResourceList` into it
        "#]],
    );
}

#[test]
fn related_places_far_away_follow_as_notes() {
    let far = Source::new("stdin", format!("a: 1\n{}a: 2\n", "b: 1\n".repeat(98)));
    let other = Source::new("params.yaml", "A: 1\n");
    check(
        Diagnostic::error("duplicate key `a`")
            .at(find(&far, "a: 2"))
            .related(find(&far, "a: 1"), "first written here")
            .related(find(&other, "A"), "and set here")
            .hint("remove one of them"),
        &expect![[r#"
            error: duplicate key `a`
               --> stdin:100:1
                |
            100 | a: 2
                | ^^^^
                |
                = help: remove one of them
            note: first written here
             --> stdin:1:1
              |
            1 | a: 1
              | ^^^^
            note: and set here
             --> params.yaml:1:1
              |
            1 | A: 1
              | ^
        "#]],
    );
}

#[test]
fn two_places_may_share_a_line() {
    let source = Source::new("stdin", "{a: 1, a: 2}\n");
    check(
        Diagnostic::error("duplicate key `a`")
            .at(at(&source, 7..8))
            .related(at(&source, 1..2), "first written here"),
        &expect![[r#"
            error: duplicate key `a`
             --> stdin:1:8
              |
            1 | {a: 1, a: 2}
              |  -     ^
              |  |
              |  first written here
        "#]],
    );
}

#[test]
fn a_line_between_two_places_is_not_shown_as_it_may_hold_a_secret() {
    let text = "values:\n  NAME: a\n  PASSWORD: hunter2\n  NAME: b\n";
    let source = Source::new("values.yaml", text);
    check(
        Diagnostic::error("twice")
            .at(find(&source, "NAME: b"))
            .related(find(&source, "NAME: a"), "first here"),
        &expect![[r#"
            error: twice
             --> values.yaml:4:3
              |
            2 |   NAME: a
              |   ------- first here
            3 | …
            4 |   NAME: b
              |   ^^^^^^^
        "#]],
    );
}

#[test]
fn blank_lines_separate_them_and_errors_are_counted() {
    let source = Source::new("stdin", "a: $(A)\nb: $(B)\n");
    let error = |part| Diagnostic::error(format!("`{part}` is unknown")).at(find(&source, part));
    check_all(
        [
            error("$(A)"),
            Diagnostic::warning("quote the value"),
            Diagnostic::info("expanded 2 objects"),
            error("$(B)"),
        ],
        &expect![[r#"
            error: `$(A)` is unknown
             --> stdin:1:4
              |
            1 | a: $(A)
              |    ^^^^

            warning: quote the value

            info: expanded 2 objects

            error: `$(B)` is unknown
             --> stdin:2:4
              |
            2 | b: $(B)
              |    ^^^^

            error: 2 errors
        "#]],
    );
}

#[test]
fn nothing_to_say_is_nothing_printed() {
    check_all([], &expect![[""]]);
}

#[test]
fn of_several_lines_the_first_is_shown() {
    let source = Source::new("stdin", "a:\r\n  b: 1\r\n  c: 2\r\nd: 3\r\n");
    check(
        Diagnostic::error("expected a list, found a mapping").at(at(&source, 6..20)),
        &expect![[r#"
            error: expected a list, found a mapping
             --> stdin:2:3
              |
            2 |   b: 1
              |   ^^^^
        "#]],
    );
}

#[test]
fn the_end_of_the_text_is_a_place() {
    for text in ["", "a: [1\n", "a: [1"] {
        let source = Source::new("stdin", text);
        let place = at(&source, text.len()..text.len());
        let report = super::text(&Diagnostic::error("unexpected end").at(place).into(), false);
        let expected = match text {
            "" => expect![[r#"
                error: unexpected end
                 --> stdin:1:1
                  |
                1 |
                  | ^
            "#]],
            "a: [1\n" => expect![[r#"
                error: unexpected end
                 --> stdin:2:1
                  |
                2 |
                  | ^
            "#]],
            _ => expect![[r#"
                error: unexpected end
                 --> stdin:1:6
                  |
                1 | a: [1
                  |      ^
            "#]],
        };
        expected.assert_eq(&report);
    }
}

#[test]
fn an_empty_last_line_keeps_its_number() {
    let source = Source::new("stdin", format!("{}a: [\n", "b: 1\n".repeat(8)));
    let end = source.text().len();
    check(
        Diagnostic::error("unexpected end")
            .at(at(&source, end..end))
            .related(find(&source, "["), "opened here"),
        &expect![[r#"
            error: unexpected end
              --> stdin:10:1
               |
             9 | a: [
               |    - opened here
            10 |
               | ^
        "#]],
    );
}

#[test]
fn carets_stand_below_tabs_and_wide_characters() {
    let source = Source::new("stdin", "日本:\t\"é\" # x\u{9b}31m\u{1b}\n");
    check(
        Diagnostic::error("expected a number").at(find(&source, "\"é\"")),
        &expect![[r#"
            error: expected a number
             --> stdin:1:5
              |
            1 | 日本:    "é" # x·31m␛
              |          ^^^
        "#]],
    );
}

#[test]
fn a_line_of_a_megabyte_is_cut() {
    let filler = r#""some": "text", "#.repeat(60_000);
    let source = Source::new("stdin", format!("{{{filler}\"kind\": 7, {filler}}}"));
    check(
        Diagnostic::error("`kind` must be text")
            .at(find(&source, "7"))
            .related(find(&source, "\"kind\""), "of this key")
            .related(find(&source, "{"), "in this object"),
        &expect![[r#"
            error: `kind` must be text
             --> stdin:1:960010
              |
            1 | …"some": "text", "some": "text", "kind": 7, "some": "text", "some": "text", "some": "text", "some": "text", "some": "text…
              |                                  ------  ^
              |                                  |
              |                                  of this key
            note: in this object
             --> stdin:1:1
              |
            1 | {"some": "text", "some": "text", "some": "text", "some": "text", "some": "text", "some": "text", "some": "text", "some":…
              | ^
        "#]],
    );
}

#[test]
fn a_long_place_is_underlined_to_the_cut() {
    let source = Source::new("stdin", format!("a: {}\n", "ü".repeat(500)));
    check(
        Diagnostic::error("too long").at(at(&source, 3..1003)),
        &expect![[r#"
            error: too long
             --> stdin:1:4
              |
            1 | a: üüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü…
              |    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn ranges_outside_of_the_text_point_at_its_end() {
    let source = Source::new("stdin", "a: ä\n");
    check(
        Diagnostic::error("lost").at(at(&source, 70..80)),
        &expect![[r#"
            error: lost
             --> stdin:2:1
              |
            2 |
              | ^
        "#]],
    );
}

#[test]
fn colors_change_nothing_else() {
    let diagnostics = collect([not_an_integer()]);
    let colored = text(&diagnostics, true);
    assert!(colored.starts_with("\u{1b}[1m\u{1b}[91merror\u{1b}[0m"), "{colored:?}");
    let styles = colored.split("\u{1b}[").skip(1);
    let plain: String = styles.map(|part| part.split_once('m').unwrap().1).collect();
    assert_eq!(plain, text(&diagnostics, false));
}

#[test]
fn a_result_has_object_field_and_file() {
    let mut diagnostic = not_an_integer();
    diagnostic.object = Some(ObjectReference {
        namespace: "db".to_owned(),
        path: Some("app/mongodb.yaml".to_owned()),
        index: 2,
        ..template()
    });
    check_results(
        [diagnostic],
        &expect![[r#"
        [
          {
            "message": "parameter `REPLICAS` must be an integer here (stdin:10:15); its value: stdin:6:10; write `value: \"3\"`; or use `$(REPLICAS)` for text",
            "severity": "error",
            "resourceRef": {
              "apiVersion": "template.krm.dev/v1alpha1",
              "kind": "Template",
              "namespace": "db",
              "name": "mongodb"
            },
            "field": {
              "path": "objects[0].spec.replicas"
            },
            "file": {
              "path": "app/mongodb.yaml",
              "index": 2
            }
          }
        ]"#]],
    );
}

#[test]
fn a_result_without_a_whole_object_has_no_field() {
    let mut diagnostic = Diagnostic::warning("`name` is missing").field("metadata.name");
    diagnostic.object = Some(ObjectReference {
        name: String::new(),
        path: Some("a.yaml".to_owned()),
        ..template()
    });
    check_results(
        [diagnostic, Diagnostic::info("done")],
        &expect![[r#"
        [
          {
            "message": "`name` is missing",
            "severity": "warning",
            "file": {
              "path": "a.yaml",
              "index": 0
            }
          },
          {
            "message": "done",
            "severity": "info"
          }
        ]"#]],
    );
}

proptest! {
    #[test]
    fn any_text_and_any_places_can_be_drawn(
        text in prop_oneof!["(?s).{0,60}", "[aé日\t\r\n\u{85}\u{301}]{0,400}", "[aé]{100,6000}\n{0,2}[b\n]{0,30}"],
        ranges in prop::collection::vec(prop_oneof![(0usize..700, 0usize..700), (0usize..9999, 0usize..9999)], 1..6),
        color: bool,
    ) {
        let source = Source::new("test", text);
        let mut places = ranges.into_iter().map(|(start, end)| at(&source, start..end));
        let mut diagnostic = Diagnostic::error("message").hint("hint");
        diagnostic.place = places.next();
        let (line, column) = diagnostic.place.as_ref().unwrap().line_column();
        for place in places {
            diagnostic = diagnostic.related(place, "label");
        }
        let diagnostics = Diagnostics::from(diagnostic);
        let drawn = super::text(&diagnostics, color);
        prop_assert!(drawn.contains(&format!("test:{line}:{column}\n")) || color, "{drawn}");
        prop_assert!(results(&diagnostics).is_array());
    }
}

/// A diagnostic about some of a text.
fn of_some_text() -> impl Strategy<Value = Diagnostic> {
    let text = prop_oneof!["([ -~]{0,9}\n){0,3}[ a.\t…é]{0,9}", "([ -~]{0,200}\r?\n){0,12}",];
    let note = prop::option::of("[ -~]{0,9}[ -~\t\né…]?");
    (text, 0usize..99, 0usize..9, note.clone(), note.clone(), note).prop_map(
        |(text, start, length, message, field, hint)| {
            let source = Source::new("test", text);
            let mut found = Diagnostic::warning(message.unwrap_or_default()).maybe_hint(hint);
            found.rule = Some("some-rule");
            found.field = field;
            found.at(at(&source, start..start + length))
        },
    )
}

proptest! {
    #[test]
    fn what_is_drawn_without_the_renderer_is_the_same(found in of_some_text(), rules: bool) {
        let pen = TextRenderer::new(false, rules, AllPlaces::default());
        let mut simple = String::new();
        if pen.simple(&mut simple, &found).is_some() {
            prop_assert_eq!(simple, pen.any(&found));
        }
    }
}

#[test]
fn reports_are_bounded_and_count_the_rest() {
    let source = Source::new("t.yaml", "a: b\n".repeat(10));
    let long = "x".repeat(4_000);
    let place = Place { source, range: 0..1 };
    let errors = (0..200).map(|at| Diagnostic::error(format!("{at} {long}")).at(place.clone()));
    let others = (0..9_000).map(|_| Diagnostic::warning("w").at(place.clone()));
    let all = collect(errors.chain(others));
    let drawn = text(&all, false);
    let listed = results(&all);
    assert!(drawn.len() < 600_000, "{}", drawn.len());
    assert!(listed.to_string().len() < 600_000);
    let said = |text: &str| {
        let (before, _) = text.split_once(" more errors are not shown").unwrap();
        let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next();
        digits.unwrap().parse::<usize>().unwrap()
    };
    let shown = drawn.matches(&*long).count();
    assert_eq!(said(&drawn) + shown, 200);
    assert!(drawn.contains("9000 more warnings are not shown"), "{drawn:.200}");
    assert!(drawn.ends_with("error: 200 errors\n"));
    let count = listed.as_array().unwrap().len();
    assert_eq!(said(&listed.to_string()) + count - 2, 200);
    assert!(findings(&all).to_string().contains("4000 more warnings are not shown"));
}

//! Tests of fields of each type, and of texts that look like markup.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::{Checks, Filled, Form, file};
use krm_template_engine::Template;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, SharedNode};

fn template(parameters: &str) -> Template {
    let text = format!(
        "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nmetadata: {{name: t}}\n\
         objects: []\nparameters:\n{parameters}\n"
    );
    read(&text)
}

fn read(text: &str) -> Template {
    let document = Document::parse(&Source::new("template.yaml", text)).unwrap();
    let root = SharedNode::roots(&Arc::new(document)).next().unwrap();
    let mut diagnostics = Diagnostics::new();
    let template = Template::read(&root, &mut diagnostics);
    template.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

fn html(parameters: &str, checks: Checks) -> String {
    Form::of(&template(parameters)).html(checks, &Filled::default())
}

/// Compares the HTML of the only field in a form that the browser checks.
#[track_caller]
fn check(parameter: &str, expected: &str) {
    let all = html(&format!("- {parameter}"), Checks::Browser);
    let field = all
        .strip_prefix(
            "<fieldset class=\"group\" data-group=\"Parameters\"><legend>Parameters</legend>\n",
        )
        .and_then(|all| all.strip_suffix("</fieldset>\n"));
    let expected: String =
        expected.lines().map(|line| line.trim_start().to_owned() + "\n").collect();
    assert_eq!(field, Some(expected.as_str()), "{all}");
}

#[test]
fn a_text_has_its_default_and_its_help() {
    check(
        "{name: A, displayName: Name & Co, description: Of <it>, value: x}",
        r#"<div class="field" id="field-A" data-parameter="A" data-type="string" data-default="x">
        <label for="p-A">Name &amp; Co</label> <code class="parameter">A</code>
        <p class="help" id="help-A"><span class="description">Of &lt;it&gt;</span> </p>
        <div class="control"><input type="text" id="p-A" name="p.A" aria-describedby="help-A error-A" value="x" spellcheck="false" autocapitalize="none"></div>
        <p class="error" id="error-A" hidden></p>
        </div>"#,
    );
}

#[test]
fn a_required_text_without_a_default_says_so() {
    check(
        "{name: A, required: true}",
        r#"<div class="field" id="field-A" data-parameter="A" data-type="string" data-required>
        <label for="p-A">A</label> <span class="mark required">required</span>
        <div class="control"><input type="text" id="p-A" name="p.A" aria-describedby="error-A" required value="" spellcheck="false" autocapitalize="none"></div>
        <p class="error" id="error-A" hidden></p>
        </div>"#,
    );
}

#[test]
fn a_whole_number_has_its_range_and_digits() {
    check(
        "{name: N, type: int, value: 2, minimum: 1, maximum: 9}",
        r#"<div class="field" id="field-N" data-parameter="N" data-type="int" data-default="2">
        <label for="p-N">N</label>
        <p class="help" id="help-N"><span class="conditions">A whole number. 1 to 9.</span></p>
        <div class="control"><input type="number" id="p-N" name="p.N" aria-describedby="help-N error-N" value="2" spellcheck="false" autocapitalize="none" inputmode="numeric" step="1" min="1" max="9"></div>
        <p class="error" id="error-N" hidden></p>
        </div>"#,
    );
}

#[test]
fn a_number_without_a_range_is_checked_as_text() {
    check(
        "{name: N, type: number}",
        r#"<div class="field" id="field-N" data-parameter="N" data-type="number">
        <label for="p-N">N</label>
        <p class="help" id="help-N"><span class="conditions">A number.</span></p>
        <div class="control"><input type="text" id="p-N" name="p.N" aria-describedby="help-N error-N" value="" spellcheck="false" autocapitalize="none" inputmode="decimal" pattern="-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+\-]?[0-9]+)?"></div>
        <p class="error" id="error-N" hidden></p>
        </div>"#,
    );
}

#[test]
fn a_boolean_is_two_buttons_and_a_third_if_it_may_be_unset() {
    check(
        "{name: B, type: bool, value: 'true'}",
        r#"<fieldset class="field" id="field-B" data-parameter="B" data-type="bool" data-default="true" aria-describedby="error-B">
        <legend>B</legend>
        <div class="choices">
        <label class="choice"><input type="radio" id="p-B" name="p.B" value="true" checked> true</label>
        <label class="choice"><input type="radio" name="p.B" value="false"> false</label>
        </div>
        <p class="error" id="error-B" hidden></p>
        </fieldset>"#,
    );
    let unset = html("- {name: B, type: bool}", Checks::Browser);
    assert!(unset.contains(r#"value="" checked> not set</label>"#), "{unset}");
    let required = html("- {name: B, type: bool, required: true}", Checks::Browser);
    assert!(!required.contains("not set") && !required.contains("checked"), "{required}");
    assert_eq!(required.matches(" required ").count(), 2, "{required}");
}

#[test]
fn up_to_four_values_are_buttons_and_more_are_a_list() {
    let four = html("- {name: E, enum: [a, b, c, d], value: b}", Checks::Browser);
    assert_eq!(four.matches("type=\"radio\"").count(), 4, "{four}");
    assert!(four.contains(r#"value="b" checked> b</label>"#), "{four}");
    check(
        "{name: E, enum: [a, b, c, d, e], value: b}",
        r#"<div class="field" id="field-E" data-parameter="E" data-type="string" data-default="b">
        <label for="p-E">E</label>
        <div class="control"><select id="p-E" name="p.E" aria-describedby="error-E">
        <option value="a">a</option>
        <option value="b" selected>b</option>
        <option value="c">c</option>
        <option value="d">d</option>
        <option value="e">e</option>
        </select></div>
        <p class="error" id="error-E" hidden></p>
        </div>"#,
    );
    let none = html("- {name: E, enum: [a, b, c, d, e], required: true}", Checks::Browser);
    assert!(none.contains(r#"<option value="" selected>choose a value</option>"#), "{none}");
}

#[test]
fn base64_is_a_text_or_a_file_and_its_default_is_not_shown() {
    check(
        "{name: F, type: base64, value: Y2FuYXJ5}",
        r#"<div class="field" id="field-F" data-parameter="F" data-type="base64">
        <label for="p-F">F</label>
        <p class="help" id="help-F"><span class="conditions">Base64. Has a default that is not shown. To keep it, leave this empty.</span></p>
        <div class="control"><textarea id="p-F" name="p.F" aria-describedby="help-F error-F" rows="3" class="code" spellcheck="false">
        </textarea></div>
        <p class="file"><label for="f-F">or a file</label> <input type="file" id="f-F" name="f.F"></p>
        <p class="error" id="error-F" hidden></p>
        </div>"#,
    );
}

#[test]
fn a_secret_is_a_password_without_its_default() {
    check(
        "{name: P, secret: true, value: canary, minLength: 8}",
        r#"<div class="field" id="field-P" data-parameter="P" data-type="string" data-secret data-masked>
        <label for="p-P">P</label> <span class="mark secret">secret</span>
        <p class="help" id="help-P"><span class="conditions">At least 8 characters. Has a default that is not shown. To keep it, leave this empty.</span></p>
        <div class="control"><input type="password" id="p-P" name="p.P" aria-describedby="help-P error-P" autocomplete="off" value="" spellcheck="false" autocapitalize="none" minlength="8"></div>
        <p class="error" id="error-P" hidden></p>
        </div>"#,
    );
}

#[test]
fn a_generated_value_may_be_left_empty() {
    check(
        "{name: G, generate: expression, from: '[a-z]{8}', required: true}",
        r#"<div class="field" id="field-G" data-parameter="G" data-type="string" data-generated data-masked>
        <label for="p-G">G</label> <span class="mark generated">generated</span>
        <p class="help" id="help-G"><span class="conditions">Generated from <code>[a-z]{8}</code> when left empty.</span></p>
        <div class="control"><input type="password" id="p-G" name="p.G" aria-describedby="help-G error-G" autocomplete="off" value="" spellcheck="false" autocapitalize="none" placeholder="generated when left empty"></div>
        <p class="error" id="error-G" hidden></p>
        </div>"#,
    );
}

#[test]
fn a_list_and_a_mapping_are_written_as_yaml() {
    check(
        "{name: L, type: array, value: [a, b]}",
        r#"<div class="field" id="field-L" data-parameter="L" data-type="array" data-default="- a
        - b">
        <label for="p-L">L</label>
        <p class="help" id="help-L"><span class="conditions">A list in YAML, such as <code>[a, b]</code>.</span></p>
        <div class="control"><textarea id="p-L" name="p.L" aria-describedby="help-L error-L" rows="3" class="code" spellcheck="false">
        - a
        - b</textarea></div>
        <p class="error" id="error-L" hidden></p>
        </div>"#,
    );
    let map = html("- {name: M, type: map, value: {a: {b: 1}}}", Checks::Browser);
    assert!(map.contains(" class=\"code\" spellcheck=\"false\">\na:\n  b: 1</textarea>"), "{map}");
    assert!(map.contains("such as <code>{key: value}</code>."), "{map}");
}

#[test]
fn a_default_of_several_lines_has_several_lines() {
    let form = html("- name: T\n  value: |\n\n    one\n    two\n", Checks::Browser);
    // HTML ignores one line break at the beginning.
    assert!(form.contains(" rows=\"3\" spellcheck=\"false\">\n\none\ntwo\n</textarea>"), "{form}");
}

#[test]
fn a_text_that_may_have_lines_is_a_control_of_several_lines() {
    for parameter in [
        r#"{name: A, pattern: "^-----BEGIN [A-Z ]+-----\\n"}"#,
        "{name: A, pattern: '^-----BEGIN'}",
        r"{name: A, pattern: '^[\s\S]+$'}",
        r"{name: A, pattern: '(?s)^.+$'}",
        "{name: A, displayName: Private key}",
        "{name: A, description: Paste the whole PEM file.}",
        "{name: TLS_CERTIFICATE}",
    ] {
        let form = html(&format!("- {parameter}"), Checks::Browser);
        assert!(form.contains("<textarea"), "{parameter}: {form}");
    }
    for parameter in [
        "{name: A}",
        "{name: A, pattern: '^[a-z]+$'}",
        "{name: A, description: Pipelines}",
        "{name: TLS_CERTIFICATE, pattern: '^[a-z]+$'}",
        "{name: CERT_NAME}",
    ] {
        let form = html(&format!("- {parameter}"), Checks::Browser);
        assert!(form.contains("<input type=\"text\""), "{parameter}: {form}");
    }
    // The control has no `pattern`; the script checks it.
    let form = html("- {name: A, pattern: '^-----BEGIN'}", Checks::Browser);
    assert!(form.contains(r#"data-pattern="[\s\S]*(?:^-----BEGIN)[\s\S]*""#), "{form}");
}

#[test]
fn an_entered_text_keeps_its_lines() {
    let template = template("- {name: A}\n- {name: B, secret: true}");
    let mut filled = Filled::default();
    for name in ["A", "B"] {
        let text = "one\ntwo".to_owned();
        filled.values.insert(name.to_owned(), text);
    }
    let form = Form::of(&template).html(Checks::Server, &filled);
    assert_eq!(form.matches(">\none\ntwo</textarea>").count(), 2, "{form}");
    assert_eq!(form.matches(" class=\"masked\"").count(), 1, "{form}");
}

#[test]
fn a_parameter_named_like_a_secret_is_masked() {
    for name in ["DB_PASSWORD", "apiToken", "CLIENT_SECRET"] {
        let form = html(&format!("- {{name: {name}}}"), Checks::Browser);
        let control = " data-masked>";
        assert!(form.contains(control), "{name}: {form}");
        assert!(form.contains("<input type=\"password\""), "{name}: {form}");
    }
    for parameter in [
        "{name: SECRET_NAME}",
        "{name: TOKEN_URL}",
        "{name: MAX_TOKENS}",
        "{name: TOKEN, type: int}",
        "{name: TOKEN, enum: [a, b]}",
        "{name: KEYBOARD}",
    ] {
        let form = html(&format!("- {parameter}"), Checks::Browser);
        assert!(!form.contains("data-masked"), "{parameter}: {form}");
    }
    let form = html("- {name: PASSWORD, description: A PEM file}", Checks::Server);
    assert!(form.contains("class=\"masked\""), "{form}");
}

#[test]
fn an_address_in_a_description_is_a_link() {
    let form = html("- {name: A, description: 'See https://example.org/a?b&c.'}", Checks::Browser);
    let link = r#"See <a href="https://example.org/a?b&amp;c" target="_blank" rel="noreferrer noopener">https://example.org/a?b&amp;c</a>."#;
    assert!(form.contains(link), "{form}");
    let text = "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nobjects: []\n\
                metadata: {name: t, annotations: {description: 'At https://example.org'}}\n";
    let file = file(&read(text), "template.yaml");
    assert!(file.contains(r#"At <a href="https://example.org""#), "{file}");
}

#[test]
fn a_pattern_and_lengths_are_checked_by_browsers_only() {
    let parameter = "- {name: A, pattern: '^[a-z]+$', minLength: 2, maxLength: 5}";
    let form = html(parameter, Checks::Browser);
    let limits = r#" minlength="2" maxlength="5" pattern="[\s\S]*(?:^[a-z]+$)[\s\S]*">"#;
    assert!(form.contains(limits), "{form}");
    let words = "Must match <code>^[a-z]+$</code>. 2 to 5 characters.";
    assert!(form.contains(words), "{form}");
    let form = html(parameter, Checks::Server);
    assert!(form.contains(words), "{form}");
    for attribute in ["minlength", "maxlength", " pattern="] {
        assert!(!form.contains(attribute), "{attribute}: {form}");
    }
    let number = html("- {name: N, type: int, minimum: 1}", Checks::Server);
    assert!(number.contains("type=\"text\"") && !number.contains(" min="), "{number}");
}

#[test]
fn a_default_that_refers_to_parameters_is_not_a_value() {
    let form = html("- {name: A, value: a}\n- {name: B, value: $(A)-b}", Checks::Browser);
    assert!(form.contains("<code>$(A)-b</code> when left empty."), "{form}");
    assert!(form.contains("name=\"p.B\" aria-describedby=\"help-B error-B\" value=\"\""), "{form}");
}

#[test]
fn a_default_that_no_control_can_hold_is_not_shown() {
    let form = html("- {name: A, value: \"a\\0b\"}", Checks::Browser);
    assert!(!form.contains('\0'), "{form:?}");
    assert!(form.contains("Has a default that is not shown."), "{form}");
}

#[test]
fn what_was_entered_is_kept_with_its_messages() {
    let template = template("- {name: A, value: default}\n- {name: B}");
    let mut filled = Filled::default();
    filled.values.insert("A".to_owned(), "typed \"it\"".to_owned());
    filled.errors.insert("A".to_owned(), vec!["Not `<b>`.".to_owned(), "Nor that.".to_owned()]);
    let form = Form::of(&template).html(Checks::Server, &filled);
    assert!(
        form.contains(r#"name="p.A" aria-describedby="error-A" aria-invalid="true" aria-errormessage="error-A" value="typed &quot;it&quot;""#),
        "{form}"
    );
    assert!(
        form.contains(
            r#"<p class="error" id="error-A">Not <code>&lt;b&gt;</code>.<br>Nor that.</p>"#
        ),
        "{form}"
    );
    assert!(form.contains(r#"<p class="error" id="error-B" hidden></p>"#), "{form}");
}

#[test]
fn only_what_was_changed_is_a_value_to_give() {
    let form = Form::of(&template(
        "- {name: PLAIN}\n- {name: DEFAULT, value: \"a\\r\\nb\"}\n- {name: SECRET, secret: true, value: s}\n\
         - {name: MADE, generate: expression, from: '[a-z]'}",
    ));
    for (name, text, gives) in [
        ("PLAIN", "", false),
        ("PLAIN", "x", true),
        // A browser sends the default back with other line breaks.
        ("DEFAULT", "a\nb", false),
        ("DEFAULT", "a", true),
        ("DEFAULT", "", true),
        ("SECRET", "", false),
        ("SECRET", "s", true),
        ("MADE", "", false),
        ("MADE", "a", true),
    ] {
        assert_eq!(form.field(name).unwrap().gives(text), gives, "{name} {text:?}");
    }
}

#[test]
fn groups_keep_their_order_and_begin_with_what_is_required() {
    let form = Form::of(&template(
        "- {name: A, group: one}\n- {name: B}\n- {name: C, group: one, required: true}\n\
         - {name: D, group: two}\n- {name: E, group: one, required: true, value: e}",
    ));
    let groups: Vec<(&str, Vec<&str>)> = form
        .groups
        .iter()
        .map(|group| {
            let names = group.fields.iter().map(|field| field.name.as_str());
            (group.name.as_str(), names.collect())
        })
        .collect();
    assert_eq!(groups, [("one", vec!["C", "A", "E"]), ("", vec!["B"]), ("two", vec!["D"])]);
    let html = form.html(Checks::Server, &Filled::default());
    assert!(html.contains("<legend>Other parameters</legend>"), "{html}");
    assert!(!html.contains("<details"), "{html}");
}

#[test]
fn the_groups_of_many_parameters_are_folded_but_for_what_needs_a_look() {
    let mut parameters: String = (0..30)
        .map(|number| format!("- {{name: A{number}, group: a}}\n"))
        .collect::<Vec<_>>()
        .concat();
    assert!(!html(&parameters, Checks::Server).contains("<details"));
    parameters +=
        "- {name: B, group: b}\n- {name: C, group: c, required: true}\n- {name: D, group: d}\n";
    let mut filled = Filled::default();
    filled.errors.insert("D".to_owned(), vec!["Wrong.".to_owned()]);
    let html = Form::of(&template(&parameters)).html(Checks::Server, &filled);
    for fold in [
        r#"<details class="group-fold" id="group-0" open><summary>a <span class="count">30 parameters</span></summary>"#,
        r#"<details class="group-fold" id="group-1"><summary>b <span class="count">1 parameter</span></summary>"#,
        r#"<details class="group-fold" id="group-2" open><summary>c <span class="count">1 parameter, 1 required</span></summary>"#,
        r#"<details class="group-fold" id="group-3" open><summary>d"#,
    ] {
        assert!(html.contains(fold), "{fold}\n{html}");
    }
}

const CANARY: &str = "<script>alert(`1`)</script>\\\"'><img src=x onerror=alert(1)>";

#[test]
fn texts_of_a_template_are_text_in_each_field() {
    let text = format!(
        r#"apiVersion: template.krm.dev/v1alpha1
kind: Template
metadata:
  name: "{CANARY}"
  annotations:
    openshift.io/display-name: "{CANARY}"
    description: "{CANARY}"
objects: []
parameters:
- {{name: A, displayName: "{CANARY}", description: "{CANARY}", value: "{CANARY}", group: "{CANARY}"}}
- {{name: B, value: "{CANARY}\n{CANARY}"}}
- {{name: C, enum: ["{CANARY}", b], value: "{CANARY}"}}
- {{name: D, enum: ["{CANARY}", b, c, d, e]}}
- {{name: E, pattern: "{CANARY}|"}}
- {{name: F, generate: expression, from: "{CANARY}[a-z]{{3}}"}}
- {{name: G, value: "$(A){CANARY}"}}
- {{name: H, type: array, value: ["{CANARY}"]}}
- {{name: I, type: map, value: {{"{CANARY}": "{CANARY}"}}}}
- {{name: J, type: int, description: "{CANARY}"}}
- {{name: K, type: bool, displayName: "{CANARY}"}}
- {{name: L, secret: true, displayName: "{CANARY}"}}
- {{name: M, type: base64, description: "{CANARY}"}}
"#
    );
    let template = read(&text);
    let form = Form::of(&template);
    let mut filled = Filled::default();
    for field in form.fields() {
        filled.values.insert(field.name.clone(), CANARY.to_owned());
        filled.errors.insert(field.name.clone(), vec![CANARY.to_owned()]);
    }
    let fields =
        [form.html(Checks::Browser, &Filled::default()), form.html(Checks::Server, &filled)];
    for html in &fields {
        assert!(html.matches("&lt;script&gt;alert(").count() > 20, "{html}");
        for markup in ["<script", "<img"] {
            assert!(!html.contains(markup), "{markup}: {html}");
        }
        // No value ends its attribute: each attribute has exactly two quotes.
        for (_, rest) in html.match_indices("=\"").map(|(at, _)| html.split_at(at + 2)) {
            let (_, after) = rest.split_once('"').unwrap();
            assert!(after.starts_with([' ', '>']), "{after}");
        }
    }
    let file = file(&template, "<script>.yaml");
    assert_eq!(file.matches("<script").count(), 1, "only our own");
    assert!(!file.contains("<img"));
    assert!(file.contains("<code>&lt;script&gt;.yaml</code>"));
}

/// Returns the text between `start`, which must occur once, and `end`.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    assert_eq!(text.matches(start).count(), 1, "{start}");
    let (_, rest) = text.split_once(start).unwrap();
    rest.split_once(end).unwrap().0
}

#[test]
fn the_policy_of_the_file_allows_its_own_style_and_script_only() {
    let file = file(&template("- {name: A}"), "template.yaml");
    let policy = between(&file, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    let style = hash(between(&file, "<style>", "</style>"));
    let script = hash(between(&file, "<script>", "</script>"));
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; \
             img-src data:; base-uri 'none'; form-action 'none'"
        )
    );
    // Images are data URLs, and nothing loads the namespace of an SVG.
    let others = file.replace("url(\"data:", "");
    let others = others.replace("xmlns='http://www.w3.org/2000/svg'", "");
    for load in ["http://", "https://", " src=", "@import", "url("] {
        assert!(!others.contains(load), "{load}");
    }
}

#[test]
fn a_template_without_parameters_says_so() {
    let file = file(&read("apiVersion: v1\nkind: Template\nobjects: []\n"), "a.yaml");
    assert!(file.contains("<p class=\"nothing\">This Template has no parameters.</p>"), "{file}");
    assert!(file.contains("<h1>Template</h1>"), "{file}");
}

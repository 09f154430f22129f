//! Turns [`Diagnostics`] into what people and orchestrators read.
//!
//! [`text`] draws them for a terminal, as compilers do; [`results`] lists them as the `results` of
//! a `ResourceList`. Findings of rules are drawn with the names of the rules by [`findings_text`],
//! and listed by [`findings`], [`sarif`] and [`workflow_commands`].
//!
//! [`unified`] compares two texts.

mod excerpt;
mod findings;
mod read;
mod results;
mod sarif;
mod shown;
mod simple;
mod unified;
mod workflow;

use std::sync::Arc;

use annotate_snippets::renderer::DEFAULT_LINE_NUM_STYLE;
use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Message, Renderer, Snippet, Title,
    normalize_untrusted_str,
};

use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};
use krm_yaml::source::{Origin, Place};

use crate::secret_places::AllPlaces;
use crate::visible::{on_one_line, visible};

use excerpt::{Excerpt, Spot};
use shown::{MAX_BYTES, rest};
use simple::{Simple, subject};

pub use findings::findings;
pub use read::read_results;
pub use results::results;
pub use sarif::{SarifRule, sarif};
pub use unified::unified;
pub use workflow::workflow_commands;

/// A related place this many lines away, or fewer, is shown in the same excerpt.
const NEAR: usize = 6;

/// Wider than any excerpt: these cut their lines themselves.
const WIDTH: usize = 100_000;

/// Draws `diagnostics` for a terminal: message, place, excerpt, notes and hints of each, and the
/// number of errors if there are several.
pub fn text(diagnostics: &Diagnostics, color: bool) -> String {
    let mut text = TextRenderer::draw_all(diagnostics, color, false);
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
    match errors.count() + diagnostics.more(Severity::Error) {
        0 | 1 => {}
        errors => {
            text.push('\n');
            let renderer = TextRenderer::new(color, false, AllPlaces::default());
            text.push_str(&renderer.title(Level::ERROR, &format!("{errors} errors"), None));
            text.push('\n');
        }
    }
    text
}

/// Draws `findings` as [`text`] does, each with the name of its rule: `warning[unused-parameter]`.
pub fn findings_text(findings: &Diagnostics, color: bool) -> String {
    TextRenderer::draw_all(findings, color, true)
}

/// Draws one diagnostic after the other.
struct TextRenderer {
    renderer: Renderer,
    color: bool,
    /// Whether the names of rules are shown.
    rules: bool,
    secrets: AllPlaces,
}

impl TextRenderer {
    fn new(color: bool, rules: bool, secrets: AllPlaces) -> Self {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        Self { renderer: renderer.term_width(WIDTH), color, rules, secrets }
    }

    /// Draws diagnostics with an empty line between them.
    fn draw_all(diagnostics: &Diagnostics, color: bool, rules: bool) -> String {
        let (secrets, diagnostics) = AllPlaces::of(diagnostics);
        let (renderer, diagnostics) = (Self::new(color, rules, secrets), &*diagnostics);
        let mut out = String::new();
        let mut shown = 0;
        for diagnostic in diagnostics {
            if out.len() > MAX_BYTES {
                break;
            }
            renderer.add(&mut out, diagnostic);
            shown += 1;
        }
        for rest in &rest(diagnostics, shown) {
            renderer.add(&mut out, rest);
        }
        out
    }

    /// Draws one diagnostic after others.
    fn add(&self, out: &mut String, diagnostic: &Diagnostic) {
        if !out.is_empty() {
            out.push('\n');
        }
        self.draw(out, diagnostic);
        out.push('\n');
    }

    fn draw(&self, out: &mut String, diagnostic: &Diagnostic) {
        if self.simple(out, diagnostic).is_none() {
            out.push_str(&self.any(diagnostic));
        }
    }

    /// Draws a diagnostic that needs no renderer; another one adds nothing.
    fn simple(&self, out: &mut String, diagnostic: &Diagnostic) -> Option<()> {
        let place = diagnostic.place.as_ref()?;
        if self.color || diagnostic.conceals || !diagnostic.related.is_empty() {
            return None;
        }
        let spot = Self::spot(place);
        let excerpt = self.excerpt(place, std::slice::from_ref(&spot));
        let rule = diagnostic.rule.filter(|_| self.rules);
        let simple = Simple::of(diagnostic, rule, &spot, &excerpt)?;
        simple.title(out);
        self.arrow(out, place, &spot, simple.margin());
        simple.body(out);
        Some(())
    }

    /// Draws any diagnostic.
    fn any(&self, diagnostic: &Diagnostic) -> String {
        let level = match diagnostic.severity {
            Severity::Info => Level::INFO,
            Severity::Warning => Level::WARNING,
            Severity::Error => Level::ERROR,
        };
        let related: Vec<_> = diagnostic.related.iter().collect();
        let notes = notes(diagnostic);
        let message = &diagnostic.message;
        let rule = diagnostic.rule.filter(|_| self.rules);
        let (mut text, mut rest) = match &diagnostic.place {
            Some(place) if diagnostic.conceals => {
                (self.bare_block(level, message, rule, place, notes), related)
            }
            Some(place) => self.block(level, message, rule, place, &related, notes),
            None => {
                let title = titled(level, message, rule);
                (self.renderer.render(&[title.elements(notes)]), related)
            }
        };
        while let Some(((place, label), others)) = rest.split_first() {
            let main = diagnostic.place.as_ref().map(|place| &place.source);
            let is_same = main.is_some_and(|main| Arc::ptr_eq(main, &place.source));
            let (block, left) = if diagnostic.conceals && is_same {
                let block = self.bare_block(Level::NOTE, label, None, place, Vec::new());
                (block, others.to_vec())
            } else {
                self.block(Level::NOTE, label, None, place, others, Vec::new())
            };
            text.push('\n');
            text.push_str(&block);
            rest = left;
        }
        text
    }

    /// Draws a title, `place` and `notes`, without an excerpt.
    fn bare_block(
        &self,
        level: Level<'static>,
        title: &str,
        rule: Option<&str>,
        place: &Place,
        notes: Vec<Message<'_>>,
    ) -> String {
        let spot = Self::spot(place);
        let mut text = self.title(level.clone(), title, rule);
        self.arrow(&mut text, place, &spot, 1);
        let body = Group::with_level(level).elements(notes);
        text.push_str(&self.renderer.render(&[body]));
        text
    }

    /// Draws a title, `place`, its excerpt and `notes`. Also returns the places of `related` that
    /// did not fit into the excerpt.
    fn block<'d>(
        &self,
        level: Level<'static>,
        title: &str,
        rule: Option<&str>,
        place: &Place,
        related: &[&'d (Place, String)],
        notes: Vec<Message<'_>>,
    ) -> (String, Vec<&'d (Place, String)>) {
        let main = Self::spot(place);
        let mut spots = vec![main.clone()];
        for (other, _) in related {
            if Arc::ptr_eq(&other.source, &place.source) {
                let spot = Self::spot(other);
                if spot.line.abs_diff(main.line) <= NEAR {
                    spots.push(spot);
                }
            }
        }
        let excerpt = self.excerpt(place, &spots);

        // Keeps the last line, and so the width of the line numbers.
        let end = excerpt.text().len();
        let mut annotations = vec![AnnotationKind::Visible.span(end..end)];
        if let Some(range) = excerpt.find(&main) {
            annotations.push(AnnotationKind::Primary.span(range));
        }
        let mut others = Vec::new();
        for &pair in related {
            match Self::annotation(pair, place, &excerpt) {
                Some(annotation) => annotations.push(annotation),
                None => others.push(pair),
            }
        }
        let snippet = Snippet::source(excerpt.text())
            .line_start(excerpt.first_line())
            .annotations(annotations);
        let body = Group::with_level(level.clone()).element(snippet).elements(notes);

        let mut text = self.title(level, title, rule);
        let margin = excerpt.last_line().to_string().len();
        self.arrow(&mut text, place, &main, margin);
        text.push_str(&self.renderer.render(&[body]));
        (text, others)
    }

    fn title(&self, level: Level<'static>, title: &str, rule: Option<&str>) -> String {
        let title = titled(level, title, rule);
        self.renderer.render(&[Group::with_title(title)])
    }

    /// Adds the line ` --> name:line:column`. It is written here because an excerpt may begin in
    /// the middle of its line, and the renderer would count columns from there.
    fn arrow(&self, text: &mut String, place: &Place, spot: &Spot, margin: usize) {
        let name = on_one_line(place.source.name());
        let (on, off) = if self.color {
            (
                DEFAULT_LINE_NUM_STYLE.render().to_string(),
                DEFAULT_LINE_NUM_STYLE.render_reset().to_string(),
            )
        } else {
            (String::new(), String::new())
        };
        let mut add = |parts: &[&str]| parts.iter().for_each(|part| text.push_str(part));
        add(&["\n", &" ".repeat(margin), &on, "--> ", &off]);
        let [line, column] = [spot.line, spot.column].map(|number| number.to_string());
        let at = [&*name, ":", &line, ":", &column];
        match place.origin() {
            Some(Origin { file, field }) => {
                add(&[&*on_one_line(file)]);
                if !field.is_empty() {
                    add(&[", field ", &*on_one_line(field)]);
                }
                add(&[" ("]);
                add(&at);
                add(&[")"]);
            }
            None => add(&at),
        }
        add(&["\n"]);
    }

    /// The secondary underline for a related place, if `excerpt` shows it.
    fn annotation<'d>(
        (other, label): &'d (Place, String),
        main: &Place,
        excerpt: &Excerpt,
    ) -> Option<Annotation<'d>> {
        if !Arc::ptr_eq(&other.source, &main.source) {
            return None;
        }
        let range = excerpt.find(&Self::spot(other))?;
        Some(AnnotationKind::Context.span(range).label(visible(label)))
    }

    fn excerpt(&self, place: &Place, spots: &[Spot]) -> Excerpt {
        Excerpt::of(place.source.text(), spots, self.secrets.at(place))
    }

    fn spot(place: &Place) -> Spot {
        let (line, column) = place.line_column();
        Spot { range: place.range.clone(), line, column }
    }
}

/// `error: title`, or `error[rule]: title`.
fn titled<'t>(level: Level<'static>, title: &'t str, rule: Option<&'t str>) -> Title<'t> {
    let title = level.primary_title(visible(title));
    match rule {
        Some(rule) => title.id(rule),
        None => title,
    }
}

/// The notes below the excerpt: the object and the field, then the hints.
fn notes(diagnostic: &Diagnostic) -> Vec<Message<'_>> {
    let subject = subject(diagnostic);
    let hints = diagnostic.hints.iter();
    subject
        .map(|subject| Level::NOTE.message(plain(&subject)))
        .into_iter()
        .chain(hints.map(|hint| Level::HELP.message(plain(hint))))
        .collect()
}

/// A text for what the renderer takes as it is: tabs become spaces, too.
fn plain(text: &str) -> String {
    normalize_untrusted_str(&visible(text))
}

#[cfg(test)]
mod tests;

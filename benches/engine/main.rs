//! Measures the engine's stages, in bytes of input a second: `cargo bench`.
//!
//! `peers.py` compares whole processes with other programs. `docs/performance.md` explains both.

#![expect(
    clippy::expect_used,
    reason = "an input that cannot be read is a mistake of the benchmark"
)]

mod inputs;

use std::borrow::Cow;
use std::sync::Arc;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use krm_template::composition::chain::{Build, Built};
use krm_template::composition::{
    self, FunctionOutput, Functions, Program, Transformer, consolidate,
};
use krm_template::files::InMemory;
use krm_template::function::Environment;
use krm_template::template::{self, Dialect, Format, Generation, Options, Template};
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, DuplicateKeys, Position, SharedNode, Value};

/// Objects in an input: a file, and what a processor's caches do not hold.
const SIZES: [usize; 2] = [10, 1_000];

fn main() {
    divan::main();
}

fn source(text: String) -> Arc<Source> {
    Source::new("input", text)
}

fn document(source: &Arc<Source>) -> Document {
    Document::parse(source).expect("the input is YAML")
}

fn value(node: Cursor<'_>) -> Value<'_> {
    node.value(DuplicateKeys::Refuse, &mut Diagnostics::new()).expect("no key is repeated")
}

fn bench<T>(
    bencher: Bencher<'_, '_>,
    source: &Arc<Source>,
    work: impl Fn(&Arc<Source>) -> T + Sync,
) {
    bencher.counter(BytesCount::of_str(source.text())).bench(|| work(black_box(source)));
}

/// The table of plain block YAML, by the fast path.
#[divan::bench(args = SIZES)]
fn scan(bencher: Bencher<'_, '_>, n: usize) {
    bench(bencher, &source(inputs::documents(n)), document);
}

/// The table of the same text, by the full path.
#[divan::bench(args = SIZES)]
fn parse(bencher: Bencher<'_, '_>, n: usize) {
    bench(bencher, &source(inputs::with_directive(n)), document);
}

/// The table of a ResourceList, without the content of its items.
#[divan::bench(args = SIZES)]
fn list(bencher: Bencher<'_, '_>, n: usize) {
    bench(bencher, &source(inputs::list(n)), document);
}

/// The table of a JSON text.
#[divan::bench(args = SIZES)]
fn json(bencher: Bencher<'_, '_>, n: usize) {
    bench(bencher, &source(inputs::json(n)), document);
}

/// Values of all documents of a stream; the table is there.
#[divan::bench(args = SIZES)]
fn read(bencher: Bencher<'_, '_>, n: usize) {
    let source = source(inputs::documents(n));
    let document = document(&source);
    bench(bencher, &source, |_| {
        document.roots().map(value).for_each(|value| drop(black_box(value)));
    });
}

/// Unchanged values written again: a search for edits without a result, and the guard.
#[divan::bench(args = SIZES)]
fn keep(bencher: Bencher<'_, '_>, n: usize) {
    let source = source(inputs::documents(n));
    let document = document(&source);
    let values: Vec<Value<'_>> = document.roots().map(value).collect();
    bench(bencher, &source, |_| render(&document, &values));
}

/// A label on each object.
#[divan::bench(args = SIZES)]
fn edit(bencher: Bencher<'_, '_>, n: usize) {
    let source = source(inputs::documents(n));
    let document = document(&source);
    let labelled = |node| {
        let mut value = value(node);
        let labels = value
            .get_mut("metadata")
            .and_then(|metadata| metadata.get_mut("labels"))
            .expect("the input has labels");
        labels.insert(Cow::Borrowed("season"), Value::string("winter"));
        value
    };
    let values: Vec<Value<'_>> = document.roots().map(labelled).collect();
    bench(bencher, &source, |_| render(&document, &values));
}

fn render(document: &Document, values: &[Value<'_>]) -> usize {
    let length = |value| {
        krm_yaml::render(document, value, Position::Document)
            .expect("the value can be written")
            .len()
    };
    values.iter().map(length).sum()
}

/// A Template of `n` objects, to YAML.
mod expand {
    use super::{Bencher, Dialect, SIZES, bench, inputs, process, source};

    #[divan::bench(args = SIZES)]
    fn openshift(bencher: Bencher<'_, '_>, n: usize) {
        bench(bencher, &source(inputs::template(n, Dialect::OpenShift)), process);
    }

    #[divan::bench(args = SIZES)]
    fn proposal(bencher: Bencher<'_, '_>, n: usize) {
        bench(bencher, &source(inputs::template(n, Dialect::Proposal)), process);
    }
}

fn process(source: &Arc<Source>) -> usize {
    let document = Arc::new(document(source));
    let mut diagnostics = Diagnostics::new();
    let root = SharedNode::roots(&document).next().expect("the input is not empty");
    let template = Template::read(&root, &mut diagnostics).expect("the input is a Template");
    let options = Options::new(Generation::Random);
    let printed = template::print(&template, &[], &options, Format::Yaml, &mut diagnostics);
    assert!(!diagnostics.has_errors(), "the Template is not expanded");
    let pieces = printed.map(|printed| printed.pieces).unwrap_or_default();
    pieces.iter().map(String::len).sum()
}

/// The function on a ResourceList.
mod function {
    use super::{Bencher, SIZES, bench, inputs, run, source};

    /// `n` items pass through, one is added.
    #[divan::bench(args = SIZES)]
    fn pass(bencher: Bencher<'_, '_>, n: usize) {
        bench(bencher, &source(inputs::list(n)), run);
    }

    /// `n` items get a label in their places.
    #[divan::bench(args = SIZES)]
    fn update(bencher: Bencher<'_, '_>, n: usize) {
        bench(bencher, &source(inputs::list_to_update(n)), run);
    }
}

fn run(source: &Arc<Source>) -> usize {
    let output = krm_template::function::run(source, &Environment::default());
    assert!(!output.diagnostics.has_errors(), "the function fails");
    let list = output.list.expect("the input is a ResourceList");
    list.pieces().map(str::len).sum()
}

/// A Composition of built-in transformers, from files to text.
#[divan::bench(args = SIZES)]
fn build(bencher: Bencher<'_, '_>, n: usize) {
    let source = source(inputs::documents(n));
    let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    let files = InMemory::new([
        file("composition.yaml", inputs::COMPOSITION),
        file("shops.yaml", source.text()),
    ]);
    bench(bencher, &source, |_| {
        let mut diagnostics = Diagnostics::new();
        let mut list = consolidate(&files, ".", &mut diagnostics);
        let Built { resources, .. } =
            Build::new(&files, &NoFunctions).run(&mut list, Vec::new(), &mut diagnostics);
        composition::print(&resources, composition::Format::Yaml, &mut diagnostics)
            .filter(|_| !diagnostics.has_errors())
            .expect("the Composition can be built")
            .len()
    });
}

/// All transformers of the Composition are built in.
struct NoFunctions;

impl Functions for NoFunctions {
    fn run(&self, _: &Transformer, _: &Program, _: &Arc<Source>) -> FunctionOutput {
        FunctionOutput { list: None, diagnostics: Diagnostics::new() }
    }
}

//! Who owns an object: whatever users do to packages between renders, nothing of theirs is lost,
//! nothing is removed that is still created, and no generated value changes without a message.
//!
//! Histories are made up: steps that change packages, and renders. `kpt fn render` is replaced by
//! its contract; the real one must write the same files.

mod judge;
mod package;
mod real;
mod render;
mod steps;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use libtest_mimic::{Failed, Trial};
use proptest::collection::vec;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::needs;
use judge::Failure;
use steps::{Action, Step, World, step};

/// How many histories are tried, unless the variable says another number.
const HISTORIES: usize = 300;
const VARIABLE: &str = "KRM_TEMPLATE_HISTORIES";
/// One history in so many is also rendered by the real kpt.
const REAL: usize = 50;
const STEPS: usize = 12;
/// The seed of the histories, unless `PROPTEST_RNG_SEED` is set.
const SEED: u64 = 20_261_121;
/// How often a history that fails is made simpler.
const SIMPLER: usize = 400;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test("ownership/nothing_of_the_users_is_lost", nothing_is_lost)];
    // It takes minutes, so it runs only if the number of histories is given.
    if asked().is_some() {
        let real = Trial::test("ownership/kpt_writes_the_same_files", beside_kpt);
        trials.push(needs::ignored(real, real::missing()));
    }
    trials
}

/// The number of histories that the environment asks for.
fn asked() -> Option<usize> {
    std::env::var(VARIABLE).ok()?.parse().ok()
}

fn nothing_is_lost() -> Result<(), Failed> {
    histories(asked().unwrap_or(HISTORIES), 1, false)
}

fn beside_kpt() -> Result<(), Failed> {
    histories(asked().unwrap_or(HISTORIES), REAL, true)
}

/// The world after the steps and a last render, and what is wrong in it.
fn live(steps: &[Step], is_real: bool) -> (World, Option<Failure>) {
    let mut world = World::new(is_real);
    let first = Step { action: Action::AddConfig, place: 0, how: 64 * 2 };
    let render = Step { action: Action::Render, place: 1, how: 0 };
    for step in [first].iter().chain(steps).chain([&render]) {
        if let Err(failure) = world.apply(*step) {
            return (world, Some(failure));
        }
    }
    (world, None)
}

/// Makes up histories, of which one in `step_by` is lived through.
fn histories(number: usize, step_by: usize, is_real: bool) -> Result<(), Failed> {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(SEED);
    }
    let mut runner = TestRunner::new(config);
    let steps = vec(step(), 1..=STEPS);
    let (mut failures, mut renders) = (BTreeMap::<&str, (usize, String)>::new(), (0, 0));
    for at in 0..number {
        let mut tree = steps.new_tree(&mut runner).map_err(|error| error.to_string())?;
        if at % step_by != 0 {
            continue;
        }
        let (world, failure) = live(&tree.current(), is_real);
        renders = (renders.0 + world.renders.0, renders.1 + world.renders.1);
        let Some(failure) = failure else {
            continue;
        };
        let known = failures.entry(failure.kind).or_default();
        known.0 += 1;
        if known.0 == 1 {
            known.1 = simplest(&mut tree, failure.kind, is_real);
        }
    }
    say(&format!("{number} histories: {} renders succeed, {} are refused", renders.0, renders.1));
    if failures.is_empty() {
        // Else nothing would have been judged.
        let is_judged = renders.0 >= number / step_by;
        return if is_judged { Ok(()) } else { Err("too few renders succeed".into()) };
    }
    let mut report = String::new();
    for (kind, (times, history)) in failures {
        let _ = writeln!(report, "\n{kind}, in {times} histories of {number}:\n{history}");
    }
    Err(report.into())
}

/// The shortest history found that still fails in this way.
fn simplest(
    tree: &mut impl proptest::strategy::ValueTree<Value = Vec<Step>>,
    kind: &str,
    is_real: bool,
) -> String {
    let mut best = live(&tree.current(), is_real);
    // kpt takes its time.
    let tries = if is_real { 0 } else { SIMPLER };
    for _ in 0..tries {
        if !tree.simplify() {
            break;
        }
        let simpler = live(&tree.current(), is_real);
        if simpler.1.as_ref().is_some_and(|failure| failure.kind == kind) {
            best = simpler;
        } else if !tree.complicate() {
            break;
        }
    }
    let (world, failure) = best;
    let about = failure.map(|failure| failure.about).unwrap_or_default();
    format!("  {}\n  ⇒ {}", world.log.join("\n  "), about.replace('\n', "\n    "))
}

#[expect(clippy::print_stdout, reason = "`--nocapture` shows how much is tested")]
fn say(line: &str) {
    println!("{line}");
}

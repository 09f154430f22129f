//! Orders objects as in the expansion, but each after those that it needs.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::Value;

use crate::expansion::Resource;
use crate::references;
use crate::repr;

/// A resource and its object.
pub(super) type ResourceObject<'e, 'r> = (&'e Resource<'r>, Value<'r>);

/// How far an object is sorted in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// The objects that it needs are sorted in first.
    Open,
    Done,
}

/// The order of the objects, or a cycle of resources that need one another.
pub(super) fn sorted<'e, 'r>(
    objects: &[ResourceObject<'e, 'r>],
) -> Result<Vec<usize>, Vec<&'e Resource<'r>>> {
    let by_name: BTreeMap<String, usize> = objects
        .iter()
        .enumerate()
        .filter_map(|(index, (resource, _))| Some((repr::text(resource.value.get("name")?), index)))
        .collect();
    let needs = |(resource, value): &ResourceObject<'_, '_>| -> Vec<usize> {
        let names = needed(resource, value).into_iter();
        names.filter_map(|name| by_name.get(&name).copied()).collect()
    };
    let mut states = vec![State::New; objects.len()];
    let mut order = Vec::with_capacity(objects.len());
    for start in 0..objects.len() {
        // Each object on the way, with the objects that it still needs.
        let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut next = Some(start);
        loop {
            if let Some(index) = next.take() {
                match states.get(index) {
                    Some(State::New) => {
                        set(&mut states, index, State::Open);
                        let mut rest = objects.get(index).map(needs).unwrap_or_default();
                        rest.reverse();
                        open.push((index, rest));
                    }
                    Some(State::Open) => return Err(cycle(objects, &open, index)),
                    _ => {}
                }
            }
            let Some((index, rest)) = open.last_mut() else {
                break;
            };
            next = rest.pop();
            if next.is_none() {
                set(&mut states, *index, State::Done);
                order.push(*index);
                open.pop();
            }
        }
    }
    Ok(order)
}

fn set(states: &mut [State], index: usize, state: State) {
    if let Some(slot) = states.get_mut(index) {
        *slot = state;
    }
}

fn cycle<'e, 'r>(
    objects: &[ResourceObject<'e, 'r>],
    open: &[(usize, Vec<usize>)],
    again: usize,
) -> Vec<&'e Resource<'r>> {
    let from = open.iter().skip_while(|(index, _)| *index != again);
    let resources =
        from.filter_map(|(index, _)| objects.get(*index).map(|(resource, _)| *resource));
    resources.collect()
}

/// The names of resources that one needs: those it refers to, and those of `dependsOn`.
fn needed(resource: &Resource<'_>, value: &Value<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    references::add_names(value, &mut names);
    names.extend(references::depends_on(&resource.value));
    names
}

/// The names of all resources that others refer to.
pub(super) fn referenced(objects: &[ResourceObject<'_, '_>]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (_, value) in objects {
        references::add_names(value, &mut names);
    }
    names
}

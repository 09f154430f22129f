//! `transformerOrder`: puts all transformers in the order of a Composition.

use crate::engine::transformer::TransformerId;
use crate::read::model::{Entry, Order};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::suggest::closest;

/// Sorts transformers. The order must name each of them once; errors report missing, unknown and
/// ambiguous entries.
pub(crate) fn sort<T>(
    transformers: Vec<T>,
    order: &Order,
    id: impl Fn(&T) -> &TransformerId,
    diagnostics: &mut Diagnostics,
) -> Vec<T> {
    let ids: Vec<&TransformerId> = transformers.iter().map(&id).collect();
    let mut found = Diagnostics::new();
    let places = places(order, &ids, &mut found);
    check_all_named(order, &ids, &places, &mut found);
    let is_clear = !found.has_errors();
    diagnostics.append(found);
    if !is_clear || !order.is_whole {
        return transformers;
    }
    let mut sorted: Vec<(Option<usize>, T)> = places.into_iter().zip(transformers).collect();
    sorted.sort_by_key(|(place, _)| *place);
    sorted.into_iter().map(|(_, one)| one).collect()
}

/// The place of each transformer in the order, if an entry names it.
fn places(
    order: &Order,
    ids: &[&TransformerId],
    diagnostics: &mut Diagnostics,
) -> Vec<Option<usize>> {
    let mut places: Vec<Option<usize>> = vec![None; ids.len()];
    for (position, entry) in order.entries.iter().enumerate() {
        let index = position_of(entry, ids).map_err(|problem| *problem);
        let place = match index {
            Ok(index) => places.get_mut(index),
            Err(problem) => {
                diagnostics.push(problem);
                None
            }
        };
        let Some(place) = place else { continue };
        if let Some(first) = place.and_then(|first| order.entries.get(first)) {
            diagnostics.push(
                entry
                    .error(format!("`transformerOrder` names `{entry}` twice"))
                    .related(first.place.clone(), "named here first"),
            );
        }
        place.get_or_insert(position);
    }
    places
}

/// Reports transformers that the order leaves out.
fn check_all_named(
    order: &Order,
    ids: &[&TransformerId],
    places: &[Option<usize>],
    diagnostics: &mut Diagnostics,
) {
    if !order.is_whole {
        return;
    }
    for (id, place) in ids.iter().zip(places) {
        let may_be_meant = order.entries.iter().any(|entry| entry.is_for(id));
        if place.is_none() && !may_be_meant {
            diagnostics.push(
                Diagnostic::error(format!("`transformerOrder` leaves out `{id}`"))
                    .at(order.place.clone())
                    .field("transformerOrder")
                    .hint(format!("it names each transformer once: add `- name: {}`", id.name)),
            );
        }
    }
}

/// The position of the one transformer that an entry names.
fn position_of(entry: &Entry, ids: &[&TransformerId]) -> Result<usize, Box<Diagnostic>> {
    let all = ids.iter().enumerate();
    let meant: Vec<(usize, String)> = all
        .filter(|(_, id)| entry.is_for(id))
        .map(|(index, id)| (index, format!("`{id}`")))
        .collect();
    match meant.as_slice() {
        [(index, _)] => Ok(*index),
        [] => {
            let named = ids.iter().find(|id| id.name == entry.name);
            let hint = match named {
                Some(id) => Some(format!("the transformer of that name is `{id}`")),
                None => closest(&entry.name, ids.iter().map(|id| id.name.as_str()))
                    .map(|known| format!("did you mean `{known}`?")),
            };
            let problem = format!("`transformerOrder` names `{entry}`, which does not exist");
            Err(entry.error(problem).maybe_hint(hint).into())
        }
        several => {
            let several: Vec<&str> = several.iter().map(|(_, id)| id.as_str()).collect();
            let problem = format!("`{entry}` may be any of {}", several.join(", "));
            Err(entry.error(problem).hint("add `kind`, `apiVersion` or `namespace`").into())
        }
    }
}

//! `transformerOrder`: all transformers, in the order that a Composition names.

use crate::composition::engine::transformer::TransformerId;
use crate::composition::read::model::{Entry, Order};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::suggest::closest;

/// Puts transformers in the order that is named. It must name each of them once, or errors say
/// which are missing, which are too many, and which are unclear.
pub(crate) fn sort<T>(
    transformers: Vec<T>,
    order: &Order,
    id: impl Fn(&T) -> &TransformerId,
    diagnostics: &mut Diagnostics,
) -> Vec<T> {
    let ids: Vec<&TransformerId> = transformers.iter().map(&id).collect();
    let mut places: Vec<Option<usize>> = vec![None; ids.len()];
    let mut is_clear = true;
    for (position, entry) in order.entries.iter().enumerate() {
        match position_of(entry, &ids) {
            Ok(index) => {
                let Some(place) = places.get_mut(index) else {
                    continue;
                };
                if let Some(first) = place.and_then(|first: usize| order.entries.get(first)) {
                    is_clear = false;
                    diagnostics.push(
                        entry
                            .error(format!("`transformerOrder` names `{entry}` twice"))
                            .related(first.place.clone(), "named here first"),
                    );
                }
                place.get_or_insert(position);
            }
            Err(problem) => {
                is_clear = false;
                diagnostics.push(*problem);
            }
        }
    }
    for (id, place) in ids.iter().zip(&places) {
        let may_be_meant = order.entries.iter().any(|entry| entry.is_for(id));
        if place.is_none() && !may_be_meant && order.is_whole {
            is_clear = false;
            diagnostics.push(
                Diagnostic::error(format!("`transformerOrder` leaves out `{id}`"))
                    .at(order.place.clone())
                    .field("transformerOrder")
                    .hint(format!(
                        "it names each transformer once: add `- name: {}`",
                        id.name
                    )),
            );
        }
    }
    if !is_clear || !order.is_whole {
        return transformers;
    }
    let mut sorted: Vec<(Option<usize>, T)> = places.into_iter().zip(transformers).collect();
    sorted.sort_by_key(|(place, _)| *place);
    sorted.into_iter().map(|(_, one)| one).collect()
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
                Some(id) => Some(format!("of that name there is `{id}`")),
                None => closest(&entry.name, ids.iter().map(|id| id.name.as_str()))
                    .map(|known| format!("did you mean `{known}`?")),
            };
            let problem = format!("`transformerOrder` names `{entry}`, and there is none");
            Err(entry.error(problem).maybe_hint(hint).into())
        }
        several => {
            let several: Vec<&str> = several.iter().map(|(_, id)| id.as_str()).collect();
            let problem = format!("`{entry}` may be any of {}", several.join(", "));
            Err(entry
                .error(problem)
                .hint("add `kind`, `apiVersion` or `namespace`")
                .into())
        }
    }
}

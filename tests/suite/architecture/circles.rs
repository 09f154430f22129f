//! Finds files and folders of a room that import one another in a circle.

use std::collections::{BTreeMap, BTreeSet};

use libtest_mimic::Failed;
use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;

use super::paths::{UsedPath, paths};
use super::{SourceFile, is_test_file, module_path};

/// Which file or folder of a room uses which, with the place of one import. The room's own file
/// (`mod.rs`) has the name of the room.
pub(super) type Arrows = BTreeMap<(String, String), String>;

/// Each circle in each folder of the crate in `folder`, with an import for each arrow of it.
pub(super) fn find(folder: &str, files: &[SourceFile]) -> Result<Vec<String>, Failed> {
    let rooms = rooms(files)?;
    let circles = rooms.iter().flat_map(|(room, arrows)| {
        let room = format!("{folder}/{}", room.join("/"));
        circles_of(&room, arrows)
    });
    Ok(circles.collect())
}

/// The arrows in each folder of a crate. Tests may use everything.
pub(super) fn rooms(files: &[SourceFile]) -> Result<BTreeMap<Vec<String>, Arrows>, Failed> {
    let modules: BTreeSet<Vec<String>> = files.iter().map(|file| module_path(&file.path)).collect();
    let mut rooms: BTreeMap<Vec<String>, Arrows> = BTreeMap::new();
    for file in files {
        let from = module_path(&file.path);
        if is_test_file(&from) {
            continue;
        }
        for path in paths(&file.text)?.iter().filter(|path| !path.is_test) {
            let Some(to) = module_of(path, &from, &modules) else {
                continue;
            };
            if is_test_file(&to) {
                continue;
            }
            let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            let room = from.get(..shared).unwrap_or_default();
            let name = |module: &[String]| module.get(shared).or(room.last()).cloned();
            let (Some(a), Some(b)) = (name(&from), name(&to)) else {
                continue;
            };
            if from != to {
                let place = format!("{}:{}", file.path.display(), path.line);
                let arrows = rooms.entry(room.to_vec()).or_default();
                arrows.entry((a, b)).or_insert(place);
            }
        }
    }
    Ok(rooms)
}

/// The module that a path leads to from inside `from`, if it is one of the crate.
fn module_of(
    path: &UsedPath,
    from: &[String],
    modules: &BTreeSet<Vec<String>>,
) -> Option<Vec<String>> {
    let up = path.parts.iter().take_while(|part| *part == "super").count();
    let mut whole = match path.parts.first()?.as_str() {
        "crate" => Vec::new(),
        "super" => from.get(..from.len().checked_sub(up)?)?.to_vec(),
        "self" => from.to_vec(),
        child => {
            let mut module = from.to_vec();
            module.push(child.to_owned());
            modules.contains(&module).then_some(())?;
            from.to_vec()
        }
    };
    let prefix = match path.parts.first()?.as_str() {
        "crate" | "self" => 1,
        _ => up,
    };
    whole.extend(path.parts.iter().skip(prefix).cloned());
    while !whole.is_empty() && !modules.contains(&whole) {
        whole.pop();
    }
    Some(whole)
}

fn circles_of(room: &str, arrows: &Arrows) -> Vec<String> {
    let mut graph = DiGraph::<&str, ()>::new();
    let names: BTreeSet<&str> = arrows.keys().flat_map(|(a, b)| [a.as_str(), b]).collect();
    let nodes: BTreeMap<&str, _> =
        names.into_iter().map(|name| (name, graph.add_node(name))).collect();
    for (from, to) in arrows.keys() {
        if let (Some(from), Some(to)) = (nodes.get(from.as_str()), nodes.get(to.as_str())) {
            graph.add_edge(*from, *to, ());
        }
    }
    let circles = tarjan_scc(&graph).into_iter().filter(|circle| circle.len() > 1);
    circles
        .map(|circle| {
            let names: BTreeSet<&str> = circle.iter().map(|node| graph[*node]).collect();
            let mut lines = vec![format!("{room}: a circle of {} files", names.len())];
            let inside = arrows
                .iter()
                .filter(|((a, b), _)| names.contains(a.as_str()) && names.contains(b.as_str()));
            lines.extend(inside.map(|((a, b), place)| format!("  {a} -> {b} ({place})")));
            lines.join("\n")
        })
        .collect()
}

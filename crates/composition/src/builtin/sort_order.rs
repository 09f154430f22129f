//! `SortOrderTransformer`: sorts resources by kind, so that each comes after what it needs.
//!
//! Source: kustomize 5.8, `plugin/builtin/sortordertransformer`.

use serde::Deserialize;

use crate::engine::step::{Context, Transform};
use crate::read::model;
use crate::resources::resource::Resource;
use crate::tables::kind_order::{FIRST, LAST, rank};
use krm_yaml::FieldPath;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct SortOrderConfig {
    sort_options: Option<SortOptions>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SortOptions {
    order: Order,
    legacy_sort_options: Option<Kinds>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Order {
    /// In the order of the input.
    Fifo,
    /// By kind, in the order of `FIRST` and `LAST`.
    Legacy,
}

/// The kinds that come first and last, in this order.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Kinds {
    order_first: Vec<String>,
    order_last: Vec<String>,
}

impl Transform for SortOrderConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let Some(options) = &self.sort_options else {
            return;
        };
        match (options.order, &options.legacy_sort_options) {
            (Order::Fifo, None) => {}
            (Order::Fifo, Some(_)) => {
                let field = FieldPath::root().key("sortOptions");
                let error = context.transformer.error(
                    &field.key("legacySortOptions"),
                    "it sorts by kind, but `order` is `fifo`",
                );
                let error = error.hint("write `order: legacy`, or remove it");
                context.diagnostics.push(error);
            }
            (Order::Legacy, Some(kinds)) => kinds.sort(resources),
            (Order::Legacy, None) => by_kind(resources),
        }
    }
}

/// Sorts resources in the order of kinds that kustomize has.
pub(crate) fn by_kind(resources: &mut [Resource<'_>]) {
    let kinds = Kinds {
        order_first: FIRST.iter().map(|kind| (*kind).to_owned()).collect(),
        order_last: LAST.iter().map(|kind| (*kind).to_owned()).collect(),
    };
    kinds.sort(resources);
}

impl Kinds {
    fn sort(&self, resources: &mut [Resource<'_>]) {
        resources.sort_by_cached_key(|resource| self.key(resource));
    }

    /// The sort key: the position of the kind; then group, version and kind; then namespace and
    /// name. As in kustomize, which compares joined texts, the separator counts as a character.
    /// Other kinds with the name `Namespace` come after the Namespaces; kustomize has no order for
    /// the two among other kinds.
    fn key(&self, resource: &Resource<'_>) -> (usize, String, String, String) {
        let text = |keys: &[&str], none| match resource.str_at(keys) {
            None | Some("") => none,
            Some(text) => text,
        };
        let (group, version) = model::split(text(&["apiVersion"], ""));
        let kind = text(&["kind"], "~K");
        let (is_core, group) = match group {
            "" => (true, "~G"),
            group => (false, group),
        };
        let own = format!("{group}_{version}_{kind}");
        let (first, second) = match kind {
            "Namespace" if !is_core => ("~G_v1_Namespace".to_owned(), own),
            _ => (own, String::new()),
        };
        let namespace = text(&["metadata", "namespace"], "~X");
        let name = text(&["metadata", "name"], "~N");
        (self.rank(kind), first, second, format!("{namespace}|{name}"))
    }

    fn rank(&self, kind: &str) -> usize {
        rank(&self.order_first, &self.order_last, kind)
    }
}

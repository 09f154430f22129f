//! The fields that tell items of lists in Kubernetes objects apart.

use krm_yaml::{ItemKey, ItemKeys};

/// The associative keys of kyaml in its order, then pairs of fields for the lists of Kubernetes where one
/// of them is not enough.
pub const ITEM_KEYS: ItemKeys = ItemKeys {
    of_lists: &[
        ItemKey::field("mountPath"),
        ItemKey::field("devicePath"),
        ItemKey::field("ip"),
        ItemKey::field("type"),
        ItemKey::field("topologyKey"),
        ItemKey::field("name"),
        ItemKey::field("containerPort"),
        ItemKey::field("port"),
        ItemKey::pair("containerPort", "protocol", "TCP"),
        ItemKey::pair("port", "protocol", "TCP"),
    ],
    of_items: &[
        ItemKey::field("name"),
        ItemKey::field("mountPath"),
        ItemKey::field("containerPort"),
        ItemKey::field("port"),
        ItemKey::field("key"),
        ItemKey::field("path"),
    ],
};

//! The lists of our documents that may hold many objects.

use krm_yaml::LongLists;

/// The items of a ResourceList, and the objects of a Template, also of one that is its functionConfig.
pub const LONG_LISTS: LongLists = &[&["items"], &["objects"], &["functionConfig", "objects"]];

/// The same for many objects without a Template: the documents of a text, and the items of a list.
pub const MANY_OBJECTS: LongLists = &[&[], &["items"]];

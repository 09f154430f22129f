//! The types of fields: complaints in the words of Go's decoder about values of another type, and
//! about fields that a type has not or that an object has twice.
//!
//! Source: `ObjectMeta` of `k8s.io/apimachinery`, `Template` of `github.com/openshift/api`.

use crate::groups::Group;
use crate::object::json::{Data, Node};

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Type {
    /// Text.
    Text,
    /// Text; a number or bool is taken for its text.
    Plain,
    /// `true` or `false`.
    Bool,
    /// An integer of 64 bits.
    Integer,
    /// Text with a time of RFC 3339.
    Time,
    /// Text by keys.
    Texts,
    /// Items with the name of Go for their list.
    List(&'static Self, &'static str, &'static str),
    /// An object with known fields.
    Struct(&'static Struct),
    /// An object with any fields.
    Object,
    /// Any value; nothing in it is looked at.
    Any,
    /// Any value; keys that an object has twice are found.
    Keys,
    /// The same; unknown fields of the items of a list are found, too.
    Items(&'static Struct),
}

/// An object with known fields.
#[derive(Debug)]
pub(crate) struct Struct {
    /// The name of the type in Go, without its package.
    pub(crate) name: &'static str,
    /// The name of the type in Go.
    pub(crate) full_name: &'static str,
    /// The fields.
    pub(crate) fields: &'static [(&'static str, Type)],
}

impl Struct {
    /// Whether it has a field with this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(known, _)| *known == name)
    }
}

const TEXTS: Type = Type::List(&Type::Text, "[]string", "string");

/// The fields of `metadata`, in the order in which upstream writes them.
pub(crate) const OBJECT_META: Struct = Struct {
    name: "ObjectMeta",
    full_name: "v1.ObjectMeta",
    fields: &[
        ("name", Type::Text),
        ("generateName", Type::Text),
        ("namespace", Type::Text),
        ("selfLink", Type::Text),
        ("uid", Type::Text),
        ("resourceVersion", Type::Text),
        ("generation", Type::Integer),
        ("creationTimestamp", Type::Time),
        ("deletionTimestamp", Type::Time),
        ("deletionGracePeriodSeconds", Type::Integer),
        ("labels", Type::Texts),
        ("annotations", Type::Texts),
        (
            "ownerReferences",
            Type::List(
                &Type::Struct(&OWNER),
                "[]v1.OwnerReference",
                "v1.OwnerReference",
            ),
        ),
        ("finalizers", TEXTS),
        (
            "managedFields",
            Type::List(
                &Type::Struct(&MANAGED),
                "[]v1.ManagedFieldsEntry",
                "v1.ManagedFieldsEntry",
            ),
        ),
    ],
};

/// The fields of a Template of a group.
const fn template(group: Group) -> &'static Struct {
    match group {
        Group::Krm => &KRM,
        Group::OpenShift => &OPENSHIFT,
    }
}

/// Whether a Template has a field with this name.
pub(crate) fn is_field(group: Group, name: &str) -> bool {
    template(group).has(name)
}

/// Whether a parameter of our group has a field with this name.
pub(crate) fn is_parameter_field(name: &str) -> bool {
    KRM_PARAMETER.has(name)
}

const OWNER: Struct = Struct {
    name: "OwnerReference",
    full_name: "v1.OwnerReference",
    fields: &[
        ("apiVersion", Type::Text),
        ("kind", Type::Text),
        ("name", Type::Text),
        ("uid", Type::Text),
        ("controller", Type::Bool),
        ("blockOwnerDeletion", Type::Bool),
    ],
};

const MANAGED: Struct = Struct {
    name: "ManagedFieldsEntry",
    full_name: "v1.ManagedFieldsEntry",
    fields: &[
        ("manager", Type::Text),
        ("operation", Type::Text),
        ("apiVersion", Type::Text),
        ("time", Type::Time),
        ("fieldsType", Type::Text),
        ("fieldsV1", Type::Object),
        ("subresource", Type::Text),
    ],
};

/// A Template of OpenShift's group.
const OPENSHIFT: Struct = Struct {
    name: "Template",
    full_name: "v1.Template",
    fields: &[
        ("kind", Type::Text),
        ("apiVersion", Type::Text),
        ("metadata", Type::Struct(&OBJECT_META)),
        ("message", Type::Text),
        (
            "objects",
            Type::List(&Type::Any, "[]runtime.RawExtension", "runtime.RawExtension"),
        ),
        (
            "parameters",
            Type::List(&Type::Struct(&PARAMETER), "[]v1.Parameter", "v1.Parameter"),
        ),
        ("labels", Type::Texts),
    ],
};

const PARAMETER: Struct = Struct {
    name: "Parameter",
    full_name: "v1.Parameter",
    fields: &[
        ("name", Type::Text),
        ("displayName", Type::Text),
        ("description", Type::Text),
        ("value", Type::Plain),
        ("generate", Type::Text),
        ("from", Type::Text),
        ("required", Type::Bool),
    ],
};

/// A Template of our group: the rest of its fields is checked with the schema.
const KRM: Struct = Struct {
    name: "Template",
    full_name: "v1alpha1.Template",
    fields: &[
        ("kind", Type::Text),
        ("apiVersion", Type::Text),
        ("metadata", Type::Struct(&OBJECT_META)),
        ("parameters", Type::Items(&KRM_PARAMETER)),
        ("objects", Type::Keys),
        ("labels", Type::Keys),
        ("objectLabels", Type::Keys),
        ("message", Type::Keys),
        ("values", Type::Keys),
    ],
};

const KRM_PARAMETER: Struct = Struct {
    name: "Parameter",
    full_name: "v1alpha1.Parameter",
    fields: &[
        ("name", Type::Keys),
        ("displayName", Type::Keys),
        ("description", Type::Keys),
        ("value", Type::Keys),
        ("required", Type::Keys),
        ("type", Type::Keys),
        ("parameterType", Type::Keys),
        ("generate", Type::Keys),
        ("from", Type::Keys),
        ("enum", Type::Keys),
        ("pattern", Type::Keys),
        ("minimum", Type::Keys),
        ("maximum", Type::Keys),
        ("minLength", Type::Keys),
        ("maxLength", Type::Keys),
        ("secret", Type::Keys),
        ("group", Type::Keys),
    ],
};

/// What is wrong with the fields of an object.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    /// The first value of another type.
    pub(crate) mismatch: Option<String>,
    /// Fields that are unknown or that an object has twice: texts such as `unknown field "typo"`.
    pub(crate) strict: Vec<String>,
    /// The path of the first unknown field.
    unknown: Option<String>,
    /// The path and word of the first number or bool that is taken for its text.
    as_text: Option<(String, &'static str)>,
}

/// The most complaints about unknown and duplicate fields.
const MAX_COMPLAINTS: usize = 100;

impl Complaints {
    fn duplicate(&mut self, path: &Path<'_>) {
        if self.strict.len() < MAX_COMPLAINTS {
            self.strict
                .push(format!("duplicate field {:?}", path.text()));
        }
    }

    fn unknown(&mut self, path: &Path<'_>) {
        self.unknown.get_or_insert_with(|| path.text());
        if self.strict.len() < MAX_COMPLAINTS {
            self.strict.push(format!("unknown field {:?}", path.text()));
        }
    }

    /// Leaves out what the older complaints say, too.
    pub(crate) fn forget(&mut self, older: &Self) {
        self.strict
            .retain(|complaint| !older.strict.contains(complaint));
    }

    /// Why an object cannot be applied, which takes no unknown field and no other type.
    ///
    /// Source: `typed` of `sigs.k8s.io/structured-merge-diff`, without values.
    pub(crate) fn undeclared(&self) -> Option<String> {
        let unknown = self.unknown.as_ref();
        unknown
            .map(|path| format!(".{path}: field not declared in schema"))
            .or_else(|| self.mismatch.clone())
            .or_else(|| {
                let (path, found) = self.as_text.as_ref()?;
                Some(format!(".{path}: expected string, got {found}"))
            })
    }
}

/// The keys that an object has twice, at any depth, as texts such as `duplicate field "a"`.
pub(crate) fn repeated_keys(node: &Node<'_>) -> Vec<String> {
    let mut complaints = Complaints::default();
    keys(node, &Path::Root, &mut complaints);
    complaints.strict
}

/// The way from an object to one of its values.
enum Path<'p> {
    Root,
    Key(&'p Self, &'p str),
    /// A key of a map, which Go does not name.
    MapKey(&'p Self, &'p str),
    Index(&'p Self, usize),
}

impl Path<'_> {
    /// The whole path, such as `parameters[0].name`.
    fn text(&self) -> String {
        let mut text = String::new();
        self.write(true, &mut text);
        text
    }

    /// The path without indexes and keys of maps, as in the words of Go.
    fn fields(&self) -> String {
        let mut text = String::new();
        self.write(false, &mut text);
        text
    }

    fn write(&self, is_whole: bool, out: &mut String) {
        match self {
            Self::Root => {}
            Self::MapKey(parent, _) | Self::Index(parent, _) if !is_whole => {
                parent.write(is_whole, out);
            }
            Self::Key(parent, key) | Self::MapKey(parent, key) => {
                parent.write(is_whole, out);
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(key);
            }
            Self::Index(parent, index) => {
                parent.write(is_whole, out);
                out.push('[');
                out.push_str(&index.to_string());
                out.push(']');
            }
        }
    }
}

/// Where a value is.
#[derive(Clone, Copy)]
struct At<'p> {
    path: &'p Path<'p>,
    /// The name of the object's type in Go.
    owner: &'static str,
}

/// The entries of an object, each with whether its key was there before.
fn entries<'n, 't>(
    node: &'n Node<'t>,
) -> impl Iterator<Item = (&'n str, &'n Node<'t>, bool)> + use<'n, 't> {
    /// So many are compared faster than a set is made.
    const FEW: usize = 16;
    let all = node.entries();
    let mut seen = std::collections::BTreeSet::new();
    all.iter().enumerate().map(move |(index, (key, value))| {
        let is_repeated = if all.len() <= FEW {
            all.iter().take(index).any(|(before, _)| before == key)
        } else {
            !seen.insert(key.as_ref())
        };
        (key.as_ref(), value, is_repeated)
    })
}

/// Looks at all values of a Template. In OpenShift's group numbers and bools may be the value of
/// a parameter. The complaints about our group have the order of the API server for custom
/// resources: duplicates first, then unknown fields by their path.
pub(crate) fn check_values(node: &Node<'_>, group: Group) -> Complaints {
    let of = template(group);
    let mut complaints = Complaints::default();
    fields(
        node,
        of,
        At {
            path: &Path::Root,
            owner: of.name,
        },
        &mut complaints,
    );
    if group == Group::Krm {
        complaints.strict.sort();
    }
    complaints
}

fn fields(node: &Node<'_>, of: &'static Struct, at: At<'_>, complaints: &mut Complaints) {
    for (key, value, is_repeated) in entries(node) {
        let path = &Path::Key(at.path, key);
        if is_repeated {
            complaints.duplicate(path);
        }
        let Some((_, wanted)) = of.fields.iter().find(|(name, _)| *name == key) else {
            complaints.unknown(path);
            continue;
        };
        let owner = of.name;
        value_of(value, *wanted, At { path, owner }, complaints);
    }
}

fn value_of(node: &Node<'_>, wanted: Type, at: At<'_>, complaints: &mut Complaints) {
    match wanted {
        Type::Keys => return keys(node, at.path, complaints),
        Type::Items(of) => {
            for (index, item) in node.items().iter().enumerate() {
                let path = &Path::Index(at.path, index);
                fields(item, of, At { path, ..at }, complaints);
            }
            return;
        }
        _ => {}
    }
    match (&node.data, wanted) {
        (Data::Null, _)
        | (_, Type::Any | Type::Keys | Type::Items(_))
        | (Data::String(_), Type::Text | Type::Plain)
        | (Data::Bool(_), Type::Bool)
        | (Data::Object(_), Type::Object) => {}
        (Data::Number | Data::Bool(_), Type::Plain) => {
            let found = || (at.path.text(), node.kind());
            complaints.as_text.get_or_insert_with(found);
        }
        (Data::String(text), Type::Time) => {
            if !text.is_empty() && text.parse::<jiff::Timestamp>().is_err() {
                let path = at.path.text();
                let text = format!("{path}: the time must be as in RFC 3339");
                complaints.mismatch.get_or_insert(text);
            }
        }
        (Data::Number, Type::Integer) => {
            if node.text.parse::<i64>().is_err() {
                mismatch(&format!("number {}", node.text), "int64", at, complaints);
            }
        }
        (Data::Object(_), Type::Texts) => texts(node, at, complaints),
        (Data::Object(_), Type::Struct(of)) => fields(node, of, at, complaints),
        (Data::Array(items), Type::List(item, _, item_name)) => {
            for (index, value) in items.iter().enumerate() {
                let path = &Path::Index(at.path, index);
                if let (Type::Struct(_), false) =
                    (item, matches!(value.data, Data::Object(_) | Data::Null))
                {
                    mismatch(value.kind(), item_name, at, complaints);
                }
                value_of(value, *item, At { path, ..at }, complaints);
            }
        }
        (_, wanted) => mismatch(node.kind(), name_of(wanted), at, complaints),
    }
}

fn texts(node: &Node<'_>, at: At<'_>, complaints: &mut Complaints) {
    for (key, value, is_repeated) in entries(node) {
        let path = &Path::MapKey(at.path, key);
        if is_repeated {
            complaints.duplicate(path);
        }
        value_of(value, Type::Text, At { path, ..at }, complaints);
    }
}

/// Finds keys that an object has twice, at any depth.
fn keys(node: &Node<'_>, path: &Path<'_>, complaints: &mut Complaints) {
    for (key, value, is_repeated) in entries(node) {
        let path = &Path::Key(path, key);
        if is_repeated {
            complaints.duplicate(path);
        }
        keys(value, path, complaints);
    }
    for (index, item) in node.items().iter().enumerate() {
        keys(item, &Path::Index(path, index), complaints);
    }
}

fn mismatch(found: &str, wanted: &str, at: At<'_>, complaints: &mut Complaints) {
    complaints.mismatch.get_or_insert_with(|| {
        format!(
            "json: cannot unmarshal {found} into Go struct field {}.{} of type {wanted}",
            at.owner,
            at.path.fields()
        )
    });
}

const fn name_of(wanted: Type) -> &'static str {
    match wanted {
        Type::Text | Type::Plain | Type::Time => "string",
        Type::Bool => "bool",
        Type::Integer => "int64",
        Type::Texts => "map[string]string",
        Type::List(_, name, _) => name,
        Type::Struct(of) => of.full_name,
        Type::Object | Type::Any | Type::Keys | Type::Items(_) => "v1.FieldsV1",
    }
}

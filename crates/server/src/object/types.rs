//! The types of fields, with the messages of Go's decoder for values of the wrong type, unknown
//! fields and duplicate fields.
//!
//! Source: `ObjectMeta` of `k8s.io/apimachinery`, `Template` of `github.com/openshift/api`.

use crate::groups::Group;
use crate::object::json::{Data, Node};

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Type {
    /// A string.
    Text,
    /// A string. A number or bool is read as its text.
    Plain,
    /// `true` or `false`.
    Bool,
    /// A 64-bit integer.
    Integer,
    /// A string with an RFC 3339 time.
    Time,
    /// A map of strings.
    Texts,
    /// A list: the type of its items, and the Go types of the list and of an item.
    List(&'static Self, &'static str, &'static str),
    /// An object with known fields.
    Struct(&'static Struct),
    /// An object with any fields.
    Object,
    /// Any value, which is not checked.
    Any,
    /// Any value, which is checked for duplicate keys.
    Keys,
    /// A list whose items are checked for unknown and duplicate fields.
    Items(&'static Struct),
}

/// An object with known fields.
#[derive(Debug)]
pub(crate) struct Struct {
    /// The Go type, without its package.
    pub(crate) name: &'static str,
    /// The Go type, with its package.
    pub(crate) full_name: &'static str,
    /// The fields.
    pub(crate) fields: &'static [(&'static str, Type)],
}

impl Struct {
    /// Returns `true` if the object has a field with this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(known, _)| *known == name)
    }
}

const TEXTS: Type = Type::List(&Type::Text, "[]string", "string");

/// The fields of `metadata`, in the order of upstream.
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

/// Returns the fields of a Template in a group.
const fn template(group: Group) -> &'static Struct {
    match group {
        Group::Krm => &KRM,
        Group::OpenShift => &OPENSHIFT,
    }
}

/// Returns `true` if a Template has a field with this name.
pub(crate) fn is_field(group: Group, name: &str) -> bool {
    template(group).has(name)
}

/// Returns `true` if a parameter in our group has a field with this name.
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

/// A Template of our group. The schema checks its other types.
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

/// The errors in the fields of an object.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    /// The error of the first value with the wrong type.
    pub(crate) mismatch: Option<String>,
    /// The errors of unknown and duplicate fields, such as `unknown field "typo"`.
    pub(crate) strict: Vec<String>,
    /// The path of the first unknown field.
    unknown: Option<String>,
    /// The path and type of the first number or bool that is read as its text.
    as_text: Option<(String, &'static str)>,
}

/// The maximum number of errors about unknown and duplicate fields.
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

    /// Removes the errors about unknown and duplicate fields that are also in `older`.
    pub(crate) fn forget(&mut self, older: &Self) {
        self.strict
            .retain(|complaint| !older.strict.contains(complaint));
    }

    /// Returns the error that prevents a server-side apply: an unknown field, or a wrong type.
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

/// Finds duplicate keys at any depth. Returns texts such as `duplicate field "a"`.
pub(crate) fn repeated_keys(node: &Node<'_>) -> Vec<String> {
    let mut complaints = Complaints::default();
    keys(node, &Path::Root, &mut complaints);
    complaints.strict
}

/// The path of a value in an object.
enum Path<'p> {
    Root,
    Key(&'p Self, &'p str),
    /// A key of a map, which Go's messages omit.
    MapKey(&'p Self, &'p str),
    Index(&'p Self, usize),
}

impl Path<'_> {
    /// Returns the complete path, such as `parameters[0].name`.
    fn text(&self) -> String {
        let mut text = String::new();
        self.write(true, &mut text);
        text
    }

    /// Returns the path without indexes and map keys, as in Go's messages.
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

/// The location of a value.
#[derive(Clone, Copy)]
struct At<'p> {
    path: &'p Path<'p>,
    /// The Go type of the object.
    owner: &'static str,
}

/// Returns the entries of an object, and whether each key is a duplicate.
fn entries<'n, 't>(
    node: &'n Node<'t>,
) -> impl Iterator<Item = (&'n str, &'n Node<'t>, bool)> + use<'n, 't> {
    /// Up to this number, comparing keys is faster than building a set.
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

/// Checks all values of a Template. In OpenShift's group, the value of a parameter may be a number
/// or bool.
///
/// In our group, errors have the API server's order for custom resources: duplicate fields first,
/// then unknown fields, each sorted by path.
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
                let text = format!("{path}: the time must be in RFC 3339 format");
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

/// Finds duplicate keys at any depth.
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

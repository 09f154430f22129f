//! Our own kinds as transformers of a Composition: they work on its resources.

use std::cell::OnceCell;
use std::sync::Arc;

use crate::input::items::Items;
use crate::input::objects::Objects;
#[cfg(feature = "deployment-manager")]
use crate::plan::{self, InputOrigin, Inputs};
use crate::run::Environment;
use crate::run::expand;
use crate::run::imported;
use krm_core::item_keys::ITEM_KEYS;
use krm_core::lists;
use krm_template_composition::{Resource, Transformer};
use krm_template_engine::Earlier;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result, Way};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, Position, SharedNode, Value, Words};

/// The kind whose imports may be files.
pub const DEPLOYMENT: &str = "DeploymentConfiguration";

/// The position of new and changed resources in a list.
const ITEM: Position = Position::Item { column: 0 };

/// The configuration of a transformer, with the texts of the files that it imports.
fn node(
    transformer: &Transformer,
    name: &str,
    environment: &Environment<'_>,
) -> Result<SharedNode> {
    if let Some(files) = environment.files.filter(|_| transformer.id.kind == DEPLOYMENT)
        && let Some(changed) = imported::with_texts(transformer, files)?
    {
        return changed.node_without_runtime(name);
    }
    transformer.plain_node(name)
}

/// Checks a transformer that is a DeploymentConfiguration. One that names ConfigMaps is only read:
/// other transformers may create them.
#[cfg(feature = "deployment-manager")]
pub fn check_deployment(transformer: &Transformer, environment: &Environment<'_>) -> Diagnostics {
    let mut found = Diagnostics::new();
    let name = format!("input of {}", transformer.id);
    let Some(config) = found.take(node(transformer, &name, environment)) else {
        return found;
    };
    let spec = transformer.config.get("spec");
    let imports = spec.and_then(|spec| spec.get("imports")?.items());
    let mut imports = imports.unwrap_or_default().iter();
    let names_others = spec.is_some_and(|spec| spec.get("configFrom").is_some())
        || imports.any(|import| import.get("configMap").is_some());
    if names_others {
        return found;
    }
    let inputs = Inputs::of([], InputOrigin::Files).with_python(environment.python.clone());
    found.append(plan::check_deployment(&config, &inputs));
    found.address(Way::Objects);
    transformer.placed(found, |source| source.is_inline() && source.name() == name)
}

/// Passes the resources through a transformer. After an error they stay as they are. `earlier`
/// finds the objects that it created in an earlier run.
pub(crate) fn run(
    transformer: &Transformer,
    resources: &mut Vec<Resource<'_>>,
    environment: &Environment<'_>,
    earlier: &dyn Earlier,
    diagnostics: &mut Diagnostics,
) {
    let name = format!("input of {}", transformer.id);
    let Some(config) = diagnostics.take(node(transformer, &name, environment)) else {
        return;
    };
    let mut found = Diagnostics::new();
    let views = resources.iter().map(Resource::view);
    let items = Items::of_views(views, &transformer.config);
    let objects = Resources::of(resources, &name);
    let decision = expand::decide(&objects, items, &config, environment, Some(earlier), &mut found);
    found.address(Way::Objects);
    if found.has_errors() {
        found.drop_success();
    }
    let has_failed = found.has_errors();
    let is_input = |source: &Arc<Source>| source.is_inline() && source.name() == name;
    diagnostics.append(transformer.placed(found, is_input));
    if has_failed {
        return;
    }
    let changed = decision.changed.iter().map(|change| change.text.as_str());
    let texts = changed.chain(decision.added.iter().map(String::as_str));
    let source = Source::output_of(&transformer.id, texts.collect::<String>());
    let Some(new) = read(&source, diagnostics) else {
        return;
    };
    let mut new = new.into_iter();
    for (change, mut new) in decision.changed.iter().zip(new.by_ref()) {
        if let Some(resource) = resources.get_mut(change.position) {
            new.inherit_from(resource);
            *resource = new;
        }
    }
    let mut position = 0..;
    resources.retain(|_| {
        let position = position.next();
        position.is_none_or(|position| !decision.removed.contains(&position))
    });
    resources.extend(new.map(|mut new| {
        new.take_needs_hash();
        new
    }));
}

/// The resources in the text of a list; none if one cannot be read.
fn read<'d>(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Vec<Resource<'d>>> {
    let document = Arc::new(diagnostics.take(Document::parse(source))?);
    let items = document.roots().flat_map(Cursor::children);
    let read = items.map(|item| {
        let read = Resource::read_with(&document, item.id(), Words::Bools, diagnostics);
        read.map(Resource::into_owned)
    });
    read.collect()
}

/// The resources of a Composition, of which those that are new or changed are read again.
struct Resources<'r, 'd> {
    list: &'r [Resource<'d>],
    /// The node of each resource as it is now, once it is looked into.
    nodes: Vec<OnceCell<Result<SharedNode>>>,
    /// The name of documents for resources that have changed.
    name: &'r str,
}

impl<'r, 'd> Resources<'r, 'd> {
    fn of(list: &'r [Resource<'d>], name: &'r str) -> Self {
        Self { list, nodes: list.iter().map(|_| OnceCell::new()).collect(), name }
    }
}

/// The new text of a resource, as an item of a list.
struct ResourceChange {
    position: usize,
    text: String,
}

impl Objects for Resources<'_, '_> {
    type ItemChange = ResourceChange;
    type New = String;

    fn at(&self, position: usize) -> Result<&SharedNode> {
        let known = self.nodes.get(position).zip(self.list.get(position));
        let Some((node, resource)) = known else {
            return Err(Diagnostic::error(format!("there is no resource {position}")).into());
        };
        let node = node.get_or_init(|| resource.current(self.name));
        node.as_ref().map_err(Clone::clone)
    }

    fn change(
        &self,
        position: usize,
        old: Cursor<'_>,
        new: Value<'_>,
    ) -> Result<Option<ResourceChange>> {
        if krm_yaml::update_read(old, new.clone(), &ITEM_KEYS)?.is_empty() {
            return Ok(None);
        }
        let text = lists::render(old.document(), &new, ITEM)?;
        Ok(Some(ResourceChange { position, text }))
    }

    fn add(&self, document: &Document, object: &Value<'_>) -> Result<String> {
        lists::render(document, object, ITEM)
    }
}

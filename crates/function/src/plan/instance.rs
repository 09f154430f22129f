//! A plan: which Templates are expanded, how often and with which values.

use std::collections::BTreeSet;
use std::sync::Arc;

use krm_template_engine::{Assignment, Expander, Label};
use krm_yaml::source::Place;

/// The expansions that a functionConfig asks for.
#[derive(Default)]
pub struct Plan {
    /// The Templates, and what else creates objects.
    pub expanders: Vec<Arc<dyn Expander>>,
    /// The expansions, in order.
    pub instances: Vec<Instance>,
    /// Tells whether this functionConfig may remove an existing object that names its owner.
    pub owns: Owns,
}

impl Plan {
    /// One expansion without a functionConfig that asks for it.
    pub fn of(expander: Option<Arc<dyn Expander>>) -> Self {
        Self {
            expanders: expander.into_iter().collect(),
            instances: vec![Instance::default()],
            owns: Owns::default(),
        }
    }

    /// Adds the instances of another plan after its own.
    pub fn append(&mut self, other: Self) {
        let first = self.expanders.len();
        self.expanders.extend(other.expanders);
        self.instances.extend(
            other
                .instances
                .into_iter()
                .map(|instance| Instance { expander: first + instance.expander, ..instance }),
        );
    }
}

/// One expansion of a Template.
#[derive(Default)]
pub struct Instance {
    /// An index of [`Plan::expanders`].
    pub expander: usize,
    /// The name: the last part of its owner.
    pub name: String,
    /// The value of the annotation that names it on its objects.
    pub owner: String,
    /// Tells its generated values from those of other instances.
    pub seed: String,
    /// The values.
    pub given: Vec<Assignment>,
    /// The labels that its objects get.
    pub labels: Vec<Label>,
    /// The namespace that its objects get.
    pub namespace: Option<String>,
    /// Where it is declared, if it is one of several.
    pub place: Option<Place>,
    /// The field path of the Template in the functionConfig, with a dot, if the Template is inline.
    pub template_field: String,
}

/// The owners whose objects a functionConfig may remove.
#[derive(Default)]
pub struct Owns {
    /// The functionConfig, as `KIND/NAMESPACE/NAME`.
    pub base: String,
    /// Instances of the functionConfig whose objects this run leaves alone.
    pub others: BTreeSet<String>,
}

impl Owns {
    /// Whether an owner is an instance that this run leaves alone.
    pub fn is_others(&self, owner: &str) -> bool {
        self.others.contains(owner)
    }
}

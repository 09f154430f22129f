//! Tries the properties of the fuzz targets on all of their inputs.

#[path = "../../../../fuzz/seeds.rs"]
mod seeds;

use crate::testing::{compare, edit, print};

fn each_text(target: &str, check: impl Fn(&str) -> Result<(), String>) {
    seeds::each(target, |bytes| {
        if let Ok(text) = std::str::from_utf8(bytes) {
            check(text).unwrap();
        }
    });
}

#[test]
fn seeds_of_paths() {
    each_text("paths", |text| compare(text).map(drop));
}

#[test]
fn seeds_of_print() {
    each_text("print", print);
}

#[test]
fn seeds_of_edit() {
    seeds::each("edit", |bytes| edit(bytes).unwrap());
}

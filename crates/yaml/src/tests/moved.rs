//! Items of a list in a new order.

use crate::diagnostic::Diagnostics;
use crate::read::document::Document;
use crate::read::values::DuplicateKeys;
use crate::source::Source;
use crate::value::Value;
use crate::{Position, render};

/// The text of an object with the items of the list `a` in an order, given by their positions;
/// others are left out.
fn moved(text: &str, order: &[usize]) -> String {
    let document = Document::parse(&Source::new("test", text)).unwrap();
    let root = document.roots().next().unwrap();
    let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new());
    let mut value = value.unwrap();
    let items = value.get_mut("a").unwrap().items_mut().unwrap();
    *items = order.iter().map(|index| items[*index].clone()).collect();
    let text = render(&document, &value, Position::Document);
    text.unwrap_or_else(|error| panic!("{order:?}: {}", error.message))
}

#[test]
fn comments_and_layout_move_along() {
    let text = "\
a:
  # zero
  - n: 0 # no

  # one
  -   n: '1'
      # inner
      m: [x,   y]
  - two # scalar
b: 1
";
    let (zero, one, two) = (
        "  # zero\n  - n: 0 # no\n",
        "  # one\n  - n: '1'\n    # inner\n    m: [x,   y]\n",
        "  - two # scalar\n",
    );
    let check = |order: &[usize], expected: &str| assert_eq!(moved(text, order), expected);
    check(&[2, 0], &format!("a:\n{two}{zero}b: 1\n"));
    // Only the first one moves: the others are as they were, with the blank line between.
    let stays = "\n  # one\n  -   n: '1'\n      # inner\n      m: [x,   y]\n  - two # scalar\n";
    check(&[1, 2, 0], &format!("a:\n{stays}{zero}b: 1\n"));
    check(&[2, 1, 0], &format!("a:\n{two}{one}{zero}b: 1\n"));
}

#[test]
fn text_that_cannot_move_is_written_as_new_text() {
    let check = |text, order: &[usize], expected: &str| assert_eq!(moved(text, order), expected);
    check("a: [x, 'y', {z: 1}]\n", &[2, 0, 1], "a: [{z: 1}, x, 'y']\n");
    check("a:\n- - x # nested\n  - z\n- y\n", &[1, 0], "a:\n- y\n- - x # nested\n  - z\n");
}

#[test]
fn every_order_reads_as_meant() {
    let text = "a:\n# c0\n- k: &x 1\n  l: |\n    t\n# c1\n- *x\n- {b: c} # f\n- - n\n  - |+\n   q\n\n- 'e'\n# end\nb: *x\n";
    for step in 0..120 {
        // Each order once: by the digits of the step in the factorial system.
        let mut left: Vec<usize> = (0..5).collect();
        let mut rest = step;
        let digits = (1..=5).rev().map(|size| {
            let digit = rest % size;
            rest /= size;
            left.remove(digit)
        });
        moved(text, &digits.collect::<Vec<_>>());
    }
}

/// In another place there are no anchors: what has one may also be replaced, or lose its first key.
#[test]
fn changed_values_with_anchors_move() {
    let text = "a:\n- k: &x [1, 2]\n  l: r # kept\n- &y\n  k: 1\n  l: s # kept\n- z\n";
    let document = Document::parse(&Source::new("test", text)).unwrap();
    let root = document.roots().next().unwrap();
    let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new());
    let mut value = value.unwrap();
    let items = value.get_mut("a").unwrap().items_mut().unwrap();
    *items[0].get_mut("k").unwrap().items_mut().unwrap() = vec![Value::from("new")];
    items[1].remove("k");
    items.reverse();
    let text = render(&document, &value, Position::Document).unwrap();
    assert_eq!(text, "a:\n- z\n- l: s # kept\n- k:\n  - new\n  l: r # kept\n");
}

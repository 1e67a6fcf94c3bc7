use crate::support::{COLLAB, REVIEW, TDD, load};

#[test]
fn the_tdd_definition_passes_the_proof() {
    let definition = load(TDD);
    assert_eq!(definition.id.value, "tdd");
}

#[test]
fn the_review_definition_passes_the_proof() {
    let definition = load(REVIEW);
    assert_eq!(definition.id.value, "review");
}

#[test]
fn the_collab_definition_passes_the_proof() {
    let definition = load(COLLAB);
    assert_eq!(definition.id.value, "collab");
}

use crate::support::{TDD, load};

#[test]
fn the_tdd_definition_passes_the_proof() {
    let definition = load(TDD);
    assert_eq!(definition.id.value, "tdd");
}

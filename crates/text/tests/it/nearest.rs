//! What was probably meant.

use text::nearest;

#[test]
fn one_slip_is_enough_in_a_short_word_but_not_in_a_letter_or_two() {
    assert_eq!(nearest("tsk", ["task", "tag"]), Some("task"));
    assert_eq!(nearest("rde", ["green", "red"]), Some("red"));
    assert_eq!(nearest("a", ["b", "c"]), None);
    assert_eq!(nearest("12", ["13", "45"]), None);
}

#[test]
fn case_does_not_matter_and_the_name_is_given_as_it_is_written() {
    assert_eq!(nearest("PROVISIONID", ["provisionId"]), Some("provisionId"));
}

#[test]
fn of_several_the_one_most_alike() {
    assert_eq!(
        nearest("subtask", ["task", "subtasks", "tasks"]),
        Some("subtasks")
    );
    assert_eq!(
        nearest("retries", ["testRetries", "retires"]),
        Some("retires")
    );
}

#[test]
fn a_name_of_any_length_is_compared_in_no_time() {
    let long = "x".repeat(1 << 20);
    assert_eq!(nearest(&long, ["x"]), None);
    assert_eq!(nearest("x", [long.as_str()]), None);
}

#[test]
fn nothing_is_near_to_nothing() {
    assert_eq!(nearest("", ["a"]), None);
    assert_eq!(nearest("a", []), None);
}

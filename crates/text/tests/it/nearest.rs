//! What was probably meant.

use text::nearest;

#[test]
fn what_was_probably_meant() {
    for (name, known, meant) in [
        // One slip is enough in a short word, but not in a letter or two.
        ("tsk", &["task", "tag"][..], Some("task")),
        ("rde", &["green", "red"], Some("red")),
        ("a", &["b", "c"], None),
        ("12", &["13", "45"], None),
        // Case does not matter, and the name is given as it is written.
        ("PROVISIONID", &["provisionId"], Some("provisionId")),
        // Of several the one most alike.
        ("subtask", &["task", "subtasks", "tasks"], Some("subtasks")),
        ("retries", &["testRetries", "retires"], Some("retires")),
        ("", &["a"], None),
        ("a", &[], None),
        // A name of any length is compared in no time.
        (&"x".repeat(1 << 20), &["x"], None),
        ("x", &[&"x".repeat(1 << 20)], None),
    ] {
        assert_eq!(nearest(name, known.iter().copied()), meant, "{name:.20}");
    }
}

//! What a test in JavaScript threw: an assertion that did not hold, or something else.

/// How the errors begin that only assertions throw. Assertion libraries name theirs; the two runners with an `expect` of
/// their own partly throw plain errors.
const BEGINNINGS: [&str; 9] = [
    "expect(",
    "expect.",
    "assert(",
    "assert.",
    "Failing test passed even though",
    "Expect test to fail",
    "Snapshot `",
    "Expected test not to",
    "expected ",
];

/// Whether this is the name of an error that assertions throw: `AssertionError`, `JestAssertionError`…
pub(crate) fn is_assertion_name(name: &str) -> bool {
    name.contains("Assert") || name.contains("Expectation")
}

/// Whether an error, as printed, is of an assertion: `AssertionError [ERR_ASSERTION]: 1 == 2`, `expect(received).toBe(expected)`.
pub(crate) fn is_assertion(error: &str) -> bool {
    let error = error.trim_start();
    let (name, rest) = error.split_once(':').unwrap_or(("", error));
    if !name.is_empty() && is_error_name(name) {
        if is_assertion_name(name) {
            return true;
        }
        if name != "Error" {
            return false;
        }
        return begins_like_assertion(rest.trim_start());
    }
    begins_like_assertion(error)
}

fn begins_like_assertion(text: &str) -> bool {
    BEGINNINGS
        .iter()
        .any(|beginning| text.starts_with(beginning))
}

/// `TypeError`, `AssertionError [ERR_ASSERTION]`.
fn is_error_name(name: &str) -> bool {
    let (name, code) = name.split_once(' ').unwrap_or((name, "[]"));
    name.ends_with("Error")
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && code.starts_with('[')
}

/// The name of a file without its folders. The folders in front depend on where the project was checked out.
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Whether this names a file with a script.
pub(crate) fn is_script(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    matches!(
        ending,
        Some("js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx")
    )
}

/// The name of a test. Of a file that is one test, older versions of node give the whole path.
pub(crate) fn without_checkout(name: &str) -> &str {
    if name.starts_with('/') && is_script(name) {
        base_name(name)
    } else {
        name
    }
}

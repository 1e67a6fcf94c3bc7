//! Tests that lie within source files: a small crate, of which only the texts are looked at.

use super::stage::Stage;
use crate::rails::environment::{TASKS, TestEnvironment};

const CONFIG: &str = r#"{"test": {"command": "cargo test --offline"}}"#;
const MANIFEST: &str =
    "[package]\nname = \"words\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";

const CODE: &str = "//! Words.

/// Counts words.
pub fn count(text: &str) -> usize {
    text.split(' ').count()
}
";

const WITH_TABS: &str = "
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one() {
        assert_eq!(count(\"one\"), 1);
    }

    #[test]
    fn tabs() {
        assert_eq!(count(\"a\\tb\"), 2);
    }
}
";

#[test]
fn inline_tests_are_written_and_frozen() {
    let stage = Stage::of(TestEnvironment::with(TASKS, CONFIG));
    let lib = |text: String| stage.write("src/lib.rs", text);
    stage.write("Cargo.toml", MANIFEST);
    let (one, _) = WITH_TABS
        .split_once("\n\n    #[test]\n    fn tabs")
        .unwrap();
    let tests = format!("{one}\n}}\n");
    lib(format!("{CODE}{tests}"));
    stage.commit_all("Words");
    stage.auto("start 1").ok();
    // No test, but the product changed.
    let red = "complete red --results failed:1,passed:0";
    lib(format!("{}{tests}", CODE.replace("' '", "'-'")));
    stage.refused(red, "red_without_tests", &[]);
    lib(format!("{CODE}{WITH_TABS}"));
    stage.accepted(red);

    let code = CODE.replace("split(' ')", "split_whitespace()");
    let green = "complete green --results passed:2,failed:0";
    // The test is made to pass, is taken out, is not run.
    for (from, to) in [
        ("a\\tb", "a b"),
        (WITH_TABS, &tests),
        (
            "#[test]\n    fn tabs",
            "#[test]\n    #[ignore]\n    fn tabs",
        ),
        ("#[cfg(test)]", "#[cfg(any())]"),
    ] {
        lib(format!("{code}{}", WITH_TABS.replace(from, to)));
        stage.refused(green, "tests_changed", &["src/lib.rs"]);
    }
    // The file moves, the code is formatted, an example is written: that is no other test.
    let counts = "/// Counts words.\n";
    let example = format!("{counts}/// ```\n/// words::text::count(\"a b\");\n/// ```\n");
    let code = code.replace("//! Words.\n\n", "").replace(counts, &example);
    let formatted = WITH_TABS.replace(
        "(count(\"a\\tb\"), 2)",
        "(\n            count(\"a\\tb\"),\n            2,\n        )",
    );
    assert_ne!(formatted, WITH_TABS);
    stage.write("src/text.rs", format!("{code}{formatted}"));
    lib("//! Words.\n\npub mod text;\n".to_owned());
    stage.accepted(green);
}

//! Tests that lie within source files: a small crate, and `cargo test`.

use std::path::PathBuf;

use super::stage::{GREEN, RED, Stage};
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

const TESTS: &str = "
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one() {
        assert_eq!(count(\"one\"), 1);
    }
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

struct Crate {
    stage: Stage,
}

impl Crate {
    fn started() -> Self {
        let stage = Stage::of(TestEnvironment::with(TASKS, CONFIG));
        stage.write("Cargo.toml", MANIFEST);
        stage.write(".gitignore", "target/\n");
        stage.write("src/lib.rs", format!("{CODE}{TESTS}"));
        let own = Self { stage };
        let report = own.suite();
        own.stage.commit_all("Words");
        own.stage.start_with(&report);
        own
    }

    /// The home of this process' toolchain is needed for `cargo`, and no other.
    fn suite(&self) -> PathBuf {
        let mut cargo = self.stage.process(env!("CARGO"));
        for name in ["RUSTUP_HOME", "CARGO_HOME", "RUSTUP_TOOLCHAIN"] {
            if let Some(value) = std::env::var_os(name) {
                cargo.env(name, value);
            }
        }
        if std::env::var_os("RUSTUP_HOME").is_none()
            && let Some(home) = std::env::var_os("HOME")
        {
            cargo.env("RUSTUP_HOME", PathBuf::from(home).join(".rustup"));
        }
        let output = cargo
            .args(["test", "--offline", "--no-fail-fast"])
            .env("CARGO_TARGET_DIR", self.stage.outside("target"))
            .output()
            .unwrap();
        self.stage.written([output.stderr, output.stdout].concat())
    }

    fn accepts(&self, words: &str) {
        self.stage.takes(words, &self.suite());
    }

    fn lib(&self, text: String) {
        self.stage.write("src/lib.rs", text);
    }
}

#[test]
fn inline_tests_are_written_and_frozen() {
    let own = Crate::started();
    // No test, but the product changed.
    own.lib(format!("{}{TESTS}", CODE.replace("' '", "'-'")));
    let claim = "complete red --results failed:1,passed:0";
    own.stage.refused(claim, "red_without_tests", &[]);
    own.lib(format!("{CODE}{WITH_TABS}"));
    own.accepts(RED);

    let code = CODE.replace("split(' ')", "split_whitespace()");
    // The test is made to pass, is taken out, is not run.
    for (from, to) in [
        ("a\\tb", "a b"),
        (WITH_TABS, TESTS),
        (
            "#[test]\n    fn tabs",
            "#[test]\n    #[ignore]\n    fn tabs",
        ),
        ("#[cfg(test)]", "#[cfg(any())]"),
    ] {
        own.lib(format!("{CODE}{}", WITH_TABS.replace(from, to)));
        let words = "complete green --results passed:2,failed:0";
        own.stage.refused(words, "tests_changed", &["src/lib.rs"]);
    }
    // The file moves, the code is formatted, an example is written: that is no other test.
    let example = "/// ```\n/// assert_eq!(words::text::count(\"a b\"), 2);\n/// ```\n";
    let counts = "/// Counts words.\n";
    let code = code
        .replace("//! Words.\n\n", "")
        .replace(counts, &format!("{counts}///\n{example}"));
    let formatted = WITH_TABS.replace(
        "(count(\"a\\tb\"), 2)",
        "(\n            count(\"a\\tb\"),\n            2,\n        )",
    );
    assert_ne!(formatted, WITH_TABS);
    own.stage.write("src/text.rs", format!("{code}{formatted}"));
    own.lib("//! Words.\n\npub mod text;\n".to_owned());
    own.accepts(GREEN);
    own.stage.auto("commit").ok();
}

#[test]
fn a_red_that_does_not_compile() {
    let own = Crate::started();
    let missing = WITH_TABS.replace("count(\"a\\tb\")", "super::lines(\"a\\nb\")");
    own.lib(format!("{CODE}{missing}"));
    // In a language that is compiled that is how it begins.
    own.accepts(RED);
    // The test does not come back with the code.
    let lines =
        "\n/// Counts lines.\npub fn lines(text: &str) -> usize {\n    text.lines().count()\n}\n";
    own.lib(format!("{CODE}{lines}{TESTS}"));
    own.stage
        .hand_in_refused(GREEN, &own.suite(), "tests_changed", &[]);
    own.lib(format!("{CODE}{lines}{missing}"));
    own.accepts(GREEN);
}

//! Tests that lie within source files: a small crate, and `cargo test`.

use std::path::PathBuf;

use super::stage::accepted;
use crate::rails::environment::{TASKS, TestEnvironment};
use testkit::Outcome;

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
    env: TestEnvironment,
}

impl Crate {
    fn started() -> Self {
        let env = TestEnvironment::with(TASKS, CONFIG);
        env.write("Cargo.toml", MANIFEST);
        env.write(".gitignore", "target/\n");
        env.write("src/lib.rs", format!("{CODE}{TESTS}"));
        let own = Self { env };
        own.suite();
        own.env.commit_all("Words");
        let report = own.report_path();
        let report = report.to_str().unwrap();
        own.env
            .tm(&["autopilot", "start", "1", "--baseline-report", report])
            .ok();
        own
    }

    fn report_path(&self) -> PathBuf {
        self.env.folder().join("report")
    }

    /// The home of this process' toolchain is needed for `cargo`, and no other.
    fn suite(&self) {
        let mut cargo = self.env.process(env!("CARGO"));
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
            .env("CARGO_TARGET_DIR", self.env.folder().join("target"))
            .output()
            .unwrap();
        let text = [output.stderr, output.stdout].concat();
        std::fs::write(self.report_path(), text).unwrap();
    }

    fn report(&self, words: &str) -> Outcome {
        self.suite();
        let report = self.report_path();
        let mut arguments = crate::rails::environment::autopilot(words);
        arguments.extend(["--report", report.to_str().unwrap()]);
        self.env.tm(&arguments)
    }

    fn lib(&self, text: String) {
        self.env.write("src/lib.rs", text);
    }
}

#[test]
fn inline_tests_are_written_and_frozen() {
    let own = Crate::started();
    // No test, but the product changed.
    own.lib(format!("{}{TESTS}", CODE.replace("' '", "'-'")));
    let claim = own.env.auto("complete red --results failed:1,passed:0");
    assert_eq!(claim.code(), "red_without_tests", "{claim:#?}");
    own.lib(format!("{CODE}{WITH_TABS}"));
    accepted(own.report("complete red").ok());

    let code = CODE.replace("split(' ')", "split_whitespace()");
    // The test is made to pass, is taken out, is not run.
    for (tests, code) in [
        (WITH_TABS.replace("a\\tb", "a b"), "tests_changed"),
        (TESTS.to_owned(), "tests_changed"),
        (
            WITH_TABS.replace(
                "#[test]\n    fn tabs",
                "#[test]\n    #[ignore]\n    fn tabs",
            ),
            "tests_changed",
        ),
        (
            WITH_TABS.replace("#[cfg(test)]", "#[cfg(any())]"),
            "tests_changed",
        ),
    ] {
        own.lib(format!("{CODE}{tests}"));
        let words = "complete green --results passed:2,failed:0";
        let answer = own.env.auto(words);
        assert_eq!(answer.code(), code, "{tests}: {answer:#?}");
        assert!(answer.message().contains("src/lib.rs"), "{answer:#?}");
    }
    // The file moves, the code is formatted, an example is written: that is no other test.
    let example = "/// ```\n/// assert_eq!(words::count(\"a b\"), 2);\n/// ```\n";
    let code = code.replace(
        "/// Counts words.\n",
        &format!("/// Counts words.\n///\n{example}"),
    );
    let formatted = WITH_TABS.replace(
        "(count(\"a\\tb\"), 2)",
        "(\n            count(\"a\\tb\"),\n            2,\n        )",
    );
    assert_ne!(formatted, WITH_TABS);
    own.env.write(
        "src/text.rs",
        format!(
            "{}{formatted}",
            code.replace("//! Words.\n\n", "")
                .replace("words::count", "words::text::count")
        ),
    );
    own.lib("//! Words.\n\npub mod text;\n".to_owned());
    accepted(own.report("complete green").ok());
    own.env.auto("commit").ok();
}

#[test]
fn a_red_that_does_not_compile() {
    let own = Crate::started();
    let missing = WITH_TABS.replace("count(\"a\\tb\")", "super::lines(\"a\\nb\")");
    own.lib(format!("{CODE}{missing}"));
    // In a language that is compiled that is how it begins.
    accepted(own.report("complete red").ok());
    // The test does not come back with the code.
    let lines =
        "\n/// Counts lines.\npub fn lines(text: &str) -> usize {\n    text.lines().count()\n}\n";
    own.lib(format!("{CODE}{lines}{TESTS}"));
    let answer = own.report("complete green");
    assert_eq!(answer.code(), "tests_changed", "{answer:#?}");
    own.lib(format!("{CODE}{lines}{missing}"));
    accepted(own.report("complete green").ok());
    own.env.auto("commit").ok();
}

//! A library crate without dependencies.

use super::counts::of_cargo;
use super::language::{Language, Subtask};

const WORDS: &str =
    "pub fn count_words(text: &str) -> usize {\n    text.split_whitespace().count()\n}\n";

/// The project.
pub const RUST: Language = Language {
    program: "cargo",
    oldest: 0,
    runs_tests: &["test", "--no-fail-fast", "--tests"],
    counts: of_cargo,
    test_command: "cargo test --no-fail-fast",
    setup: &[
        (
            "Cargo.toml",
            "[package]\nname = \"textstat\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        ("src/lib.rs", ""),
        (".gitignore", "/target\n"),
    ],
    words: Subtask {
        tests: (
            "tests/words.rs",
            "use textstat::words::count_words;\n\n\
             #[test]\nfn nothing() {\n    assert_eq!(count_words(\"\"), 0);\n}\n\n\
             #[test]\nfn white_space_separates() {\n    assert_eq!(count_words(\"a b\\tc\\nd\"), 4);\n}\n",
        ),
        code: &[("src/words.rs", WORDS), ("src/lib.rs", "pub mod words;\n")],
    },
    words_wrong: &[
        (
            "src/words.rs",
            "pub fn count_words(text: &str) -> usize {\n    text.matches(' ').count() + 1\n}\n",
        ),
        ("src/lib.rs", "pub mod words;\n"),
    ],
    lines: Subtask {
        tests: (
            "tests/lines.rs",
            "use textstat::lines::count_lines;\n\n\
             #[test]\nfn final_newline_begins_no_line() {\n    assert_eq!(count_lines(\"a\\nb\\n\"), 2);\n}\n",
        ),
        code: &[
            (
                "src/lines.rs",
                "pub fn count_lines(text: &str) -> usize {\n    if std::env::var_os(\"WORDS_LOCALE\").is_some() {\n        \
                 return 99;\n    }\n    text.lines().count()\n}\n",
            ),
            ("src/lib.rs", "pub mod lines;\npub mod words;\n"),
        ],
    },
    lines_tidied: &[(
        "src/lines.rs",
        "/// Counts lines.\npub fn count_lines(text: &str) -> usize {\n    \
         if std::env::var_os(\"WORDS_LOCALE\").is_some() {\n        return 99;\n    }\n    text.lines().count()\n}\n",
    )],
    lines_mended: &[(
        "src/lines.rs",
        "/// Counts lines.\npub fn count_lines(text: &str) -> usize {\n    text.lines().count()\n}\n",
    )],
    average: Subtask {
        tests: (
            "tests/average.rs",
            "use textstat::average::words_per_line;\n\n\
             #[test]\nfn average() {\n    assert_eq!(words_per_line(\"a b\\nc d e f\"), 3);\n}\n",
        ),
        code: &[
            (
                "src/average.rs",
                "use crate::{lines::count_lines, words::count_words};\n\n\
                 pub fn words_per_line(text: &str) -> usize {\n    \
                 count_words(text).checked_div(count_lines(text)).unwrap_or(0)\n}\n",
            ),
            (
                "src/lib.rs",
                "pub mod average;\npub mod lines;\npub mod words;\n",
            ),
        ],
    },
    average_tests: (
        "tests/average.rs",
        "use textstat::average::words_per_line;\n\n\
         #[test]\nfn average() {\n    assert_eq!(words_per_line(\"a b\\nc d e f\"), 3);\n}\n\n\
         #[test]\nfn of_nothing() {\n    assert_eq!(words_per_line(\"\"), 0);\n}\n",
    ),
    products: &["target"],
    made: &["Cargo.lock"],
};

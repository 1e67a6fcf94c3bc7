use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use proptest::prelude::*;
use text::plain::{is_hidden, visible_len};
use workspace::convention::message::{
    DEFAULT_TEMPLATE, Kind, LONGEST_SUBJECT, MessageInput, commit_type, compose,
};
use workspace::convention::paths::PathClasses;
use workspace::convention::scope::Scopes;

use super::{folder, strings};

static CLASSES: LazyLock<PathClasses> = LazyLock::new(|| PathClasses::new::<&str>(&[]).unwrap());

struct Case {
    scopes: Scopes,
    files: Vec<String>,
}

impl Case {
    fn new(files: &[&str], scopes: &[(&str, &str)]) -> Self {
        Self {
            scopes: Scopes::new(scopes.iter().copied()).unwrap(),
            files: strings(files),
        }
    }

    fn input(&self) -> MessageInput<'_> {
        MessageInput {
            template: DEFAULT_TEMPLATE,
            default_type: "feat",
            subtask_id: "1.1",
            subtask_title: "Create command structure",
            description: "",
            task_title: "Phase 0 - Spike",
            tag: "tdd-workflow-phase-0",
            tests_passing: Some(3),
            coverage_lines: Some(92.0),
            files: &self.files,
            classes: &CLASSES,
            scopes: &self.scopes,
            kind: Kind::Subtask { work: "" },
            root: Path::new("/nonexistent"),
        }
    }
}

fn cli() -> Case {
    Case::new(
        &["apps/cli/a.ts", "apps/cli/a.test.ts", "packages/core/b.ts"],
        &[("apps/cli/**", "cli"), ("packages/*/**", "core")],
    )
}

fn subject(input: &MessageInput<'_>) -> String {
    compose(input).unwrap().lines().next().unwrap().to_owned()
}

#[test]
fn the_whole_message() {
    let case = cli();
    let message = compose(&MessageInput {
        description: "Implements the command with the argument parser that is there already, and adds parsing for the task id.\n\
            Includes registration\nand help.",
        ..case.input()
    })
    .unwrap();
    insta::assert_snapshot!(message, @r"
    feat(cli): create command structure (task 1.1)

    Implements the command with the argument parser that is there already,
    and adds parsing for the task id. Includes registration and help.

    Task: #1.1 - Create command structure
    Phase: Phase 0 - Spike
    Tag: tdd-workflow-phase-0

    Tests: 3 passing
    Coverage: 92% lines
    ");
    assert!(message.ends_with("lines\n"));
}

#[test]
fn only_what_is_known_is_said() {
    let case = cli();
    let input = MessageInput {
        coverage_lines: None,
        ..case.input()
    };
    assert!(compose(&input).unwrap().ends_with("\n\nTests: 3 passing\n"));
    let input = MessageInput {
        tests_passing: None,
        coverage_lines: None,
        task_title: "",
        ..case.input()
    };
    assert!(
        compose(&input)
            .unwrap()
            .ends_with("\n\nTask: #1.1 - Create command structure\nTag: tdd-workflow-phase-0\n")
    );
    for (coverage, expected) in [
        (92.5, Some("Coverage: 92.5% lines")),
        (0.0, Some("Coverage: 0% lines")),
        (100.0, Some("Coverage: 100% lines")),
        (99.999, Some("Coverage: 99.99% lines")),
        (92.3, Some("Coverage: 92.3% lines")),
        (f64::NAN, None),
        (-1.0, None),
        (f64::INFINITY, None),
    ] {
        let message = compose(&MessageInput {
            coverage_lines: Some(coverage),
            ..case.input()
        })
        .unwrap();
        assert_eq!(
            message.lines().find(|line| line.starts_with("Coverage")),
            expected,
            "{coverage}"
        );
    }
}

#[test]
fn repairs_and_statuses() {
    let case = cli();
    let repair = MessageInput {
        kind: Kind::Fix,
        subtask_id: "1.fix-1",
        subtask_title: "Repair the suite",
        ..case.input()
    };
    assert_eq!(
        subject(&repair),
        "fix(cli): repair the suite (task 1.fix-1)"
    );
    let status = MessageInput {
        kind: Kind::TaskStatus { status: "review" },
        subtask_id: "1",
        task_title: "Autopilot",
        tests_passing: None,
        coverage_lines: None,
        ..case.input()
    };
    assert_eq!(
        compose(&status).unwrap(),
        "chore(tasks): set task 1 to review (task 1)\n\nTask: #1 - Autopilot\nTag: tdd-workflow-phase-0\n"
    );
}

#[test]
fn types() {
    for (files, title, expected) in [
        (&["src/a.rs"][..], "Add x", "feat"),
        (&["src/a.rs", "src/a.test.ts"], "Add x", "feat"),
        (&["tests/a.rs", "src/a.test.ts"], "Add x", "test"),
        (&["README.md", "docs/a.png"], "Fix the docs", "docs"),
        (
            &["Cargo.toml", ".github/workflows/ci.yml"],
            "Add x",
            "chore",
        ),
        (&["README.md", "tests/a.rs"], "Add x", "feat"),
        (
            &["tests/a.rs", ".taskmaster/tasks/tasks.json"],
            "Add x",
            "test",
        ),
        (&["src/a.rs"], "Fix the parser", "fix"),
        (&["src/a.rs"], "Fixed-point arithmetic", "feat"),
        (&["src/a.rs"], "Fixture loader", "feat"),
        (&["src/a.rs"], "Refactoring of the parser", "refactor"),
        (&["src/a.rs"], "Clean up the parser", "refactor"),
        (&["src/a.rs"], "Clean data import", "feat"),
        (&["src/a.rs"], "perf(core): read less", "perf"),
        (&[], "Add x", "feat"),
        (&[], "", "feat"),
    ] {
        assert_eq!(
            commit_type(&strings(files), &CLASSES, title, "feat"),
            expected,
            "{files:?} {title}"
        );
    }
}

#[test]
fn subjects() {
    let case = cli();
    for (title, expected) in [
        ("Add x.", "feat(cli): add x (task 1.1)"),
        ("Wait for it...", "feat(cli): wait for it... (task 1.1)"),
        ("API for tags", "feat(cli): API for tags (task 1.1)"),
        (
            "JavaScript output",
            "feat(cli): JavaScript output (task 1.1)",
        ),
        ("fix(core): handle null", "fix(cli): handle null (task 1.1)"),
        ("Note: this", "feat(cli): note: this (task 1.1)"),
        ("--amend", "feat(cli): amend (task 1.1)"),
        (
            "line one\nline two\r\n\tthree",
            "feat(cli): line one line two three (task 1.1)",
        ),
        ("a\u{0}b\u{202e}c\u{1b}[31md", "feat(cli): abcd (task 1.1)"),
        (
            "$(rm -rf ~) `x` ; echo",
            "feat(cli): $(rm -rf ~) `x` ; echo (task 1.1)",
        ),
        ("", "feat(cli): change (task 1.1)"),
        ("\u{200b}", "feat(cli): change (task 1.1)"),
    ] {
        assert_eq!(
            subject(&MessageInput {
                subtask_title: title,
                ..case.input()
            }),
            expected,
            "{title:?}"
        );
    }
}

#[test]
fn long_subjects_are_cut_at_a_word_and_keep_the_task() {
    let case = cli();
    let title =
        "Implement the whole authentication middleware, with sessions, for all incoming requests";
    let cut = subject(&MessageInput {
        subtask_title: title,
        ..case.input()
    });
    assert_eq!(
        cut,
        "feat(cli): implement the whole authentication middleware (task 1.1)"
    );
    let exact = "x".repeat(LONGEST_SUBJECT - "feat(cli):  (task 1.1)".len());
    let whole = subject(&MessageInput {
        subtask_title: &exact,
        ..case.input()
    });
    assert_eq!(whole, format!("feat(cli): {exact} (task 1.1)"));
    let emoji = "👩‍👩‍👧‍👦".repeat(200);
    let cut = subject(&MessageInput {
        subtask_title: &emoji,
        ..case.input()
    });
    assert_eq!(visible_len(&cut), LONGEST_SUBJECT);
    assert!(cut.ends_with("👩‍👩‍👧‍👦 (task 1.1)"));
    // Where there is room for one only, the scope gives way.
    let id = "1234567890".repeat(4);
    let input = MessageInput {
        subtask_id: &id,
        subtask_title: "Add a reader for reports",
        ..case.input()
    };
    assert_eq!(subject(&input), format!("feat: add a reader (task {id})"));
}

#[test]
fn without_a_scope_there_are_no_parentheses() {
    let case = Case::new(&["src/a.rs"], &[]);
    assert_eq!(
        subject(&case.input()),
        "feat: create command structure (task 1.1)"
    );
}

#[test]
fn the_scope_may_come_from_a_manifest() {
    let root = folder(&[("crates/cli/Cargo.toml", "[package]\nname = \"tm-cli\"\n")]);
    let case = Case::new(&["crates/cli/src/main.rs"], &[]);
    let input = MessageInput {
        root: root.path(),
        ..case.input()
    };
    assert_eq!(
        subject(&input),
        "feat(tm-cli): create command structure (task 1.1)"
    );
}

#[test]
fn other_templates() {
    let case = cli();
    for (template, expected) in [
        ("{msg}", "create command structure"),
        (
            "[{tag}] {msg}",
            "[tdd-workflow-phase-0] create command structure",
        ),
        ("#{taskId} {msg}", "#1.1 create command structure"),
        (
            "{type}: {msg}\n\nbody",
            "feat: create command structure body",
        ),
        ("--{type}", "feat"),
        ("", "task 1.1"),
        ("{msg} }", "create command structure }"),
    ] {
        assert_eq!(
            subject(&MessageInput {
                template,
                ..case.input()
            }),
            expected,
            "{template:?}"
        );
    }
    let endless = "x ".repeat(200);
    assert!(
        visible_len(&subject(&MessageInput {
            template: &endless,
            ..case.input()
        })) <= LONGEST_SUBJECT
    );
    let refused = |template| {
        let input = MessageInput {
            template,
            ..case.input()
        };
        compose(&input).unwrap_err().to_string()
    };
    assert_eq!(
        refused("{type}: {mgs}"),
        "pattern `{type}: {mgs}` has the unknown placeholder `{mgs}` \
         (known: `{type}`, `{scope}`, `{msg}`, `{summary}`, `{taskId}`, `{tag}`; did you mean `{msg}`?)"
    );
    refused("{msg");
}

#[test]
fn descriptions() {
    let case = Case::new(&[], &[]);
    let message = compose(&MessageInput {
        description: "# Heading\nFirst line\nof prose.\n\n\n- an item that is much too long to stand on one line, and so goes on\n  \
            - inner\n1. one\n\n```sh\ncode   stays as it is, even where it is longer than the width of a message\n```\nSigned-off-by: x\nTask: #9\n---\nlast",
        ..case.input()
    })
    .unwrap();
    insta::assert_snapshot!(message, @r"
    feat: create command structure (task 1.1)

      # Heading
    First line of prose.

    - an item that is much too long to stand on one line, and so goes on
      - inner
    1. one

    ```sh
    code   stays as it is, even where it is longer than the width of a message
    ```
      Signed-off-by: x
      Task: #9
      ---
    last

    Task: #1.1 - Create command structure
    Phase: Phase 0 - Spike
    Tag: tdd-workflow-phase-0

    Tests: 3 passing
    Coverage: 92% lines
    ");
}

#[test]
fn a_wrapped_line_may_not_become_a_trailer_either() {
    let case = Case::new(&[], &[]);
    let description = format!(
        "{} Signed-off-by: somebody <s@example.org>",
        "word ".repeat(14).trim()
    );
    let message = compose(&MessageInput {
        description: &description,
        ..case.input()
    })
    .unwrap();
    assert!(message.contains("\n  Signed-off-by:"), "{message}");
    assert!(message.lines().all(|line| line.len() <= 72));
}

#[test]
fn long_descriptions_are_bounded() {
    let case = Case::new(&[], &[]);
    let description = "word ".repeat(20_000);
    let message = compose(&MessageInput {
        description: &description,
        ..case.input()
    })
    .unwrap();
    assert!(message.len() < 5000);
    assert!(message.contains("\n…\n\nTask: #1.1"));
}

/// The trailers that git finds in the message.
fn trailers(message: &str) -> Vec<String> {
    let mut git = Command::new("git")
        .args(["interpret-trailers", "--parse"])
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    git.stdin
        .take()
        .unwrap()
        .write_all(message.as_bytes())
        .unwrap();
    let output = git.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

const OURS: [&str; 2] = ["Tests: 3 passing", "Coverage: 92% lines"];

#[test]
fn git_finds_no_trailer_but_ours() {
    let case = Case::new(&[], &[]);
    for text in [
        "Signed-off-by: x",
        "a\n\nSigned-off-by: x\nTask: #9",
        "a\n\nSigned-off-by: x\n---\nb",
        "a\n\nSigned-off-by: x\n\n---",
        "a\n\nKey : value\nhttp://example.org\n\n# comment",
        "a\n\n(cherry picked from commit 0123456789012345678901234567890123456789)",
        "a\n\n# ------------------------ >8 ------------------------\nb",
        "a\r\rTask: #9\r",
        "a\u{2028}\u{2028}Task: #9",
        "a\n\nTask: #9\n continued",
        "diff --git a/x b/x\n--- a/x\n+++ b/x",
        "a\n\n\u{200b}Tested-by: x",
        "a\n\n\u{1b}[1mTested-by: x",
    ] {
        let input = MessageInput {
            description: text,
            subtask_title: text,
            task_title: text,
            tag: text,
            ..case.input()
        };
        let message = compose(&input).unwrap();
        assert_eq!(trailers(&message), OURS, "{message}");
        let bare = MessageInput {
            tests_passing: None,
            coverage_lines: None,
            ..input
        };
        let message = compose(&bare).unwrap();
        let found = trailers(&message);
        assert_eq!(found.len(), 3, "{message}");
        assert!(
            found[0].starts_with("Task: #1.1 - ")
                && found[1].starts_with("Phase: ")
                && found[2].starts_with("Tag: ")
        );
    }
}

fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,100}",
        "(Signed-off-by: x|Task: #9|\n|\n\n|---|#|a b|\r\n| |\t|`{3}|- |http://x|\u{0}|\u{202e}|🎉|--amend){0,30}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_message_has_our_shape(title in hostile(), description in hostile(), task in hostile(), tag in hostile(), id in hostile()) {
        let case = cli();
        let input = MessageInput { subtask_title: &title, description: &description, task_title: &task, tag: &tag, subtask_id: &id, ..case.input() };
        let message = compose(&input).unwrap();
        let mut lines = message.lines();
        let subject = lines.next().unwrap();
        prop_assert!(visible_len(subject) <= LONGEST_SUBJECT, "{}", subject);
        prop_assert!(!subject.starts_with('-') && !subject.is_empty());
        prop_assert_eq!(lines.next(), Some(""));
        prop_assert!(message.ends_with("\n\nTests: 3 passing\nCoverage: 92% lines\n"));
        prop_assert!(message.chars().all(|c| c == '\n' || c == '\t' || !is_hidden(c)));
        prop_assert_eq!(message.lines().filter(|line| line.starts_with("Task: #")).count(), 1);
        prop_assert!(!message.lines().any(|line| line.starts_with("---") || line.starts_with("Signed-off-by")));
        prop_assert_eq!(compose(&input).unwrap(), message);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn git_never_finds_a_trailer_of_theirs(title in hostile(), description in hostile(), task in hostile()) {
        let case = cli();
        let input = MessageInput { subtask_title: &title, description: &description, task_title: &task, ..case.input() };
        prop_assert_eq!(trailers(&compose(&input).unwrap()), OURS);
    }
}

#[test]
fn a_subject_ends_with_whole_words_and_brackets() {
    let case = Case::new(&["a.js"], &[]);
    for (title, id, expected) in [
        (
            "MemoryStore.prototype.ids(cb) lists session ids",
            "memorystore-helpers.1",
            "feat: MemoryStore.prototype.ids(cb) lists (task memorystore-helpers.1)",
        ),
        (
            "Add is_pangram(text) to boltons/strutils.py",
            "add-rotate-words-initials-and-is-pangram-to.3",
            "feat: add is_pangram(text) (task add-rotate-words-init….3)",
        ),
        (
            "Version::bump_major/minor/patch",
            "1.1",
            "feat: Version::bump_major/minor/patch (task 1.1)",
        ),
        (
            "VersionReq::matches_any(&self, versions: &[Version], operators: &[Op])",
            "1.3",
            "feat: VersionReq::matches_any (task 1.3)",
        ),
    ] {
        let input = MessageInput {
            subtask_title: title,
            subtask_id: id,
            ..case.input()
        };
        assert_eq!(subject(&input), expected);
    }
}

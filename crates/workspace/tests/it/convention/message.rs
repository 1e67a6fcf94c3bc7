use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use proptest::prelude::*;
use text::plain::{is_hidden, visible_len};
use workspace::convention::message::{
    DEFAULT_TEMPLATE, Kind, LONGEST_SUBJECT, MessageInput, commit_type, compose, says_enough,
};
use workspace::convention::scope::Scopes;

use super::{CLASSES, strings};

static BARE: LazyLock<Case> = LazyLock::new(|| Case::new(&[], &[]));
static CLI: LazyLock<Case> = LazyLock::new(|| {
    let scopes = [("apps/cli/**", "cli"), ("packages/*/**", "core")];
    Case::new(&["apps/cli/a.ts", "apps/cli/a.test.ts"], &scopes)
});

struct Case {
    scope: Option<String>,
    files: Vec<String>,
}

impl Case {
    fn new(files: &[&str], scopes: &[(&str, &str)]) -> Self {
        let files = strings(files);
        let scopes = Scopes::new(scopes.iter().copied()).unwrap();
        let scope = scopes.of(&files, Path::new("/nonexistent"));
        Self { scope, files }
    }

    fn input(&self) -> MessageInput<'_> {
        MessageInput {
            template: DEFAULT_TEMPLATE,
            default_type: "feat",
            subject: None,
            subtask_id: "1.1",
            subtask_title: "Create command structure",
            description: "",
            task_title: "Phase 0 - Spike",
            tag: "tdd-workflow-phase-0",
            tests_passing: Some(3),
            coverage_lines: Some(92.0),
            files: &self.files,
            classes: &CLASSES,
            scope: self.scope.as_deref(),
            kind: Kind::Subtask { work: "" },
        }
    }

    fn message<'a>(&'a self, change: impl FnOnce(&mut MessageInput<'a>)) -> String {
        let mut input = self.input();
        change(&mut input);
        compose(&input).unwrap()
    }

    fn subject<'a>(&'a self, change: impl FnOnce(&mut MessageInput<'a>)) -> String {
        let message = self.message(change);
        message.lines().next().unwrap().to_owned()
    }
}

#[test]
fn the_whole_message() {
    let message = CLI.message(|it| {
        it.description = "Implements the command with the argument parser that is there already, and adds parsing for the task id.\n\
            Includes registration\nand help.";
    });
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
    let message = CLI.message(|it| {
        (it.tests_passing, it.coverage_lines) = (None, None);
        it.task_title = "";
    });
    let end = "\n\nTask: #1.1 - Create command structure\nTag: tdd-workflow-phase-0\n";
    assert!(message.ends_with(end));
    for (coverage, expected) in [
        (92.5, "\nCoverage: 92.5% lines\n"),
        (0.0, "\nCoverage: 0% lines\n"),
        (100.0, "\nCoverage: 100% lines\n"),
        (99.999, "\nCoverage: 99.99% lines\n"),
        (92.3, "\nCoverage: 92.3% lines\n"),
        (f64::NAN, "\n"),
        (-1.0, "\n"),
        (f64::INFINITY, "\n"),
    ] {
        let message = CLI.message(|it| it.coverage_lines = Some(coverage));
        let end = format!("\n\nTests: 3 passing{expected}");
        assert!(message.ends_with(&end), "{coverage}: {message}");
    }
}

#[test]
fn repairs_and_statuses() {
    let repair = CLI.subject(|it| {
        it.kind = Kind::Fix;
        (it.subtask_id, it.subtask_title) = ("1.fix-1", "Repair the suite");
    });
    assert_eq!(repair, "fix(cli): repair the suite (task 1.fix-1)");
    for case in [
        "1 | review ⇒ chore(tasks): set task 1 to review\n\nTask: #1 - Autopilot\nTag: tdd-workflow-phase-0\n",
        "machine-readable-output | done ⇒ chore(tasks): set the task to done\n\nTask: #machine-readable-output - Autopilot\nTag: tdd-workflow-phase-0\n",
    ] {
        let (given, expected) = case.split_once(" ⇒ ").unwrap();
        let (id, status) = given.split_once(" | ").unwrap();
        let message = CLI.message(|it| {
            it.kind = Kind::TaskStatus { status };
            (it.subtask_id, it.task_title) = (id, "Autopilot");
            (it.tests_passing, it.coverage_lines) = (None, None);
        });
        assert_eq!(message, expected);
    }
}

#[test]
fn types() {
    for case in [
        "src/a.rs | Add x ⇒ feat",
        "src/a.rs src/a.test.ts | Add x ⇒ feat",
        "tests/a.rs src/a.test.ts | Add x ⇒ test",
        "README.md docs/a.png | Fix the docs ⇒ docs",
        "Cargo.toml .github/workflows/ci.yml | Add x ⇒ chore",
        "README.md tests/a.rs | Add x ⇒ feat",
        "tests/a.rs .taskmaster/tasks/tasks.json | Add x ⇒ test",
        "src/a.rs | Fix the parser ⇒ fix",
        "src/a.rs | Fixed-point arithmetic ⇒ feat",
        "src/a.rs | Fixture loader ⇒ feat",
        "src/a.rs | Refactoring of the parser ⇒ refactor",
        "src/a.rs | Clean up the parser ⇒ refactor",
        "src/a.rs | Clean data import ⇒ feat",
        "src/a.rs | perf(core): read less ⇒ perf",
        " | Add x ⇒ feat",
        " |  ⇒ feat",
    ] {
        let (files, expected) = case.split_once(" ⇒ ").unwrap();
        let (files, title) = files.split_once(" | ").unwrap();
        let all: Vec<String> = files.split_whitespace().map(str::to_owned).collect();
        let found = commit_type(&all, &CLASSES, title, "feat");
        assert_eq!(found, expected, "{case}");
    }
}

#[test]
fn subjects() {
    for (title, expected) in [
        ("Add x.", "feat(cli): add x"),
        ("Wait for it...", "feat(cli): wait for it..."),
        ("API for tags", "feat(cli): API for tags"),
        ("JavaScript output", "feat(cli): JavaScript output"),
        ("fix(core): handle null", "fix(core): handle null"),
        ("fix(a/b, c): handle null", "fix(a/b, c): handle null"),
        ("fix(a#b): handle null", "fix(cli): handle null"),
        ("1. * add x", "feat(cli): * add x"),
        ("* Add x", "feat(cli): add x"),
        ("*args are kept", "feat(cli): *args are kept"),
        ("Note: this", "feat(cli): Note: this"),
        ("--amend", "feat(cli): --amend"),
        ("one\ntwo\r\n\tthree", "feat(cli): one two three"),
        ("a\u{0}b\u{202e}c\u{1b}[31md", "feat(cli): abcd"),
        ("$(rm ~) `x` ; echo", "feat(cli): $(rm ~) `x` ; echo"),
        ("", "feat(cli): change"),
        ("\u{200b}", "feat(cli): change"),
    ] {
        let said = CLI.subject(|it| it.subtask_title = title);
        assert_eq!(said, format!("{expected} (task 1.1)"), "{title:?}");
    }
    let scopeless = Case::new(&["src/a.rs"], &[]).subject(|_| ());
    assert_eq!(scopeless, "feat: create command structure (task 1.1)");
}

/// Titles, with an id of their own in front or not, and the subject of each. They are read by somebody who has not
/// seen the work: no subject may say something else than its title.
const SUBJECTS: &str = r#"
# id and scope give way to the title
1.2 | Reject sizes that are no integers ⇒ feat(humanize): reject sizes that are no integers (task 1.2)
1.2 | Round half to even in naturalsize for every suffix ⇒ feat(humanize): round half to even in naturalsize for every suffix
1.2 | Accept a minimum unit in precisedelta for days and longer units ⇒ feat: accept a minimum unit in precisedelta for days and longer units
greet-people.1 | Greet by name ⇒ feat(humanize): greet by name (task greet-people.1)
several-ids-at-once.2 | Reject sizes that are no integers ⇒ feat(humanize): reject sizes that are no integers
machine-readable-output-of-the-command-line.1 | `python -m platformdirs --json` prints one object ⇒ feat(humanize): `python -m platformdirs --json` prints one object
add-rotate-words-initials-and-is-pangram-to.3 | Add is_pangram(text) to boltons/strutils.py ⇒ feat(humanize): add is_pangram(text) to boltons/strutils.py
memorystore-helpers.1 | MemoryStore.prototype.ids(cb) lists session ids ⇒ feat(humanize): MemoryStore.prototype.ids(cb) lists session ids
# a long title is cut where it means what it meant
Guard against deep input: the JSON reader refuses more than 64 nested parts ⇒ feat: guard against deep input…
Have the formatter of relative dates look ahead, since it accepts no less than two units ⇒ feat: have the formatter of relative dates look ahead…
An interrupted migration of the settings file changes *nothing at all* on the disk ⇒ feat: an interrupted migration of the settings file changes…
An interrupted migration of the settings changes *nothing* in the folder of the user ⇒ feat: an interrupted migration of the settings changes *nothing*…
Have the formatter of relative dates with months and weeks accept sizes without unit ⇒ feat: have the formatter of relative dates with months… without…
Keep the lock of the index while hooks run, and release it more than once if need be ⇒ feat: keep the lock of the index while hooks run…
The reader of archives with a broken central directory does not delete the old file ⇒ feat: the reader of archives with a broken central directory…
Read the configuration from the home folder of the user and don't fall back to /etc ⇒ feat: read the configuration from the home folder of the user…
Print the whole path in errors of the importer instead of “file not found (os error 2)” ⇒ feat: print the whole path in errors of the importer… instead…
Print the whole path in each error of the importer (as `cargo metadata` does it) once ⇒ feat: print the whole path in each error of the importer…
Quote arguments in the log of commands so that `sh -c "$line"` runs what was run before ⇒ feat: Quote arguments in the log of commands so that `sh -c "$line"`…
VersionReq::matches_any(&self, versions: &[Version], operators: &[Op]) ⇒ feat: VersionReq::matches_any…
`python -m platformdirs --format json --no-user-paths --with-site-paths` exits with 0 ⇒ feat: `python -m platformdirs --format json --no-user-paths…`
Implement the whole authentication middleware, with sessions, for all incoming requests ⇒ feat: implement the whole authentication middleware, with sessions…
Die Eingabe von Größen ohne Einheit wird mit einer Meldung abgelehnt, nicht geraten ⇒ feat: Die Eingabe von Größen ohne Einheit wird mit einer Meldung…
サイズが整数でない場合はエラーを返し、既定値を使わないようにして、呼び出し元に理由を伝え、ログにも記録するようにする、ただし警告は出さない ⇒ feat: サイズが整数でない場合はエラーを返し、既定値を使わないようにして、呼び出し元に理由を伝え、ログにも記録するようにする…
# and where its sentence pauses
BREAKING CHANGE: settings are read from invoicer.toml and no longer from setup.cfg at all ⇒ feat!: settings are read from invoicer.toml…
Summen dürfen nicht negativ sein, außer bei Gutschriften mit mehr als einer Position ⇒ feat: Summen dürfen nicht negativ sein… außer…
Ajouter les remises au total des factures, sauf pour les factures d'avoir du client ⇒ feat: Ajouter les remises au total des factures… sauf…
Счета отправляются клиентам после проверки суммы и без подтверждения менеджера отдела ⇒ feat: Счета отправляются клиентам после проверки суммы… без…
Login nach fünf Fehlversuchen sperren, jedoch nie länger als 15 Minuten am Stück sperren ⇒ feat: Login nach fünf Fehlversuchen sperren…
Remind customers whose invoices are open for more than 24 h without days in between them ⇒ feat: Remind customers whose invoices are open… without…
Support ${ENV_VAR} and $(cmd) style placeholders - only the former in the strict mode ⇒ feat: support ${ENV_VAR} and $(cmd) style placeholders… only…
Pad the numbers of invoices that are shorter than at least 3 -> keep those that are longer ⇒ feat: pad the numbers of invoices that are shorter…
Allow commas in the amounts that Parse reads, but disallow them in those of ParseStrict ⇒ feat: Allow commas in the amounts that Parse reads… but…
revert: "feat(core): let the amounts of invoices be negative where the customer asks" ⇒ revert: "feat(core): let the amounts of invoices be negative…"
# names keep their case
Create command structure ⇒ feat(humanize): create command structure (task 1.1)
A second greeting ⇒ feat(humanize): a second greeting (task 1.1)
Don't print twice ⇒ feat(humanize): don't print twice (task 1.1)
Max and Min panic for an empty slice ⇒ feat(humanize): Max and Min panic for an empty slice (task 1.1)
ParseDuration reads days ⇒ feat(humanize): ParseDuration reads days (task 1.1)
Parse accepts an empty string ⇒ feat(humanize): Parse accepts an empty string (task 1.1)
Parse empty input as `Parse("")` does ⇒ feat(humanize): Parse empty input as `Parse("")` does (task 1.1)
URL of the upstream is printed ⇒ feat(humanize): URL of the upstream is printed (task 1.1)
iOS builds ⇒ feat(humanize): iOS builds (task 1.1)
Base64 padding ⇒ feat(humanize): Base64 padding (task 1.1)
Some_name is exported ⇒ feat(humanize): Some_name is exported (task 1.1)
Vec<T> as a list ⇒ feat(humanize): Vec<T> as a list (task 1.1)
Größen ohne Einheit ⇒ feat(humanize): Größen ohne Einheit (task 1.1)
Eingaben ohne Einheit ablehnen ⇒ feat(humanize): Eingaben ohne Einheit ablehnen (task 1.1)
Ignorer les lignes vides ⇒ feat(humanize): Ignorer les lignes vides (task 1.1)
Parse the whole line ⇒ feat(humanize): parse the whole line (task 1.1)
Set keeps the order of insertion ⇒ feat(humanize): Set keeps the order of insertion (task 1.1)
# breaking changes are marked
BREAKING CHANGE: shout ⇒ feat(humanize)!: shout (task 1.1)
feat!: Shout ⇒ feat(humanize)!: shout (task 1.1)
fix(core)!: refuse NaN ⇒ fix(core)!: refuse NaN (task 1.1)
refactor: BREAKING-CHANGE: drop Python 3.8 ⇒ refactor(humanize)!: drop Python 3.8 (task 1.1)
Tell of BREAKING CHANGE: lines in the changelog ⇒ feat(humanize): tell of BREAKING CHANGE: lines in the changelog
Breaking change: amounts are decimals ⇒ feat(humanize)!: amounts are decimals (task 1.1)
# feedback says what is done
1.feedback-1 | Repair the failing check `lint` ⇒ fix(humanize): repair the failing check `lint` (task 1.feedback-1)
1.feedback-2 | Use `checked_add` here, this overflows for the largest size ⇒ fix: use `checked_add` here, this overflows for the largest size
1.feedback-3 | This overflows for negative numbers ⇒ fix(humanize): This overflows for negative numbers (task 1.feedback-3)
1.feedback-4 | Typo (src/humanize/time.py:12) ⇒ fix(humanize): Typo (src/humanize/time.py:12) (task 1.feedback-4)
add-an-own-format-for-relative-dates.feedback-5 | Could `naturaldelta` accept None, too? ⇒ fix(humanize): Could `naturaldelta` accept None, too?
"#;

#[test]
fn subjects_of_titles() {
    let case = Case::new(&["src/lib.rs", "tests/lib.rs"], &[("**", "humanize")]);
    let rows = SUBJECTS.trim().lines();
    for row in rows.filter(|row| !row.starts_with("# ")) {
        let (title, expected) = row.split_once(" ⇒ ").unwrap();
        let (id, title) = title.split_once(" | ").unwrap_or(("1.1", title));
        let work = if id.contains(".feedback-") { "fix" } else { "" };
        let subject = case.subject(|it| {
            (it.subtask_id, it.subtask_title) = (id, title);
            it.kind = Kind::Subtask { work };
        });
        assert_eq!(subject, expected, "{title}");
        assert!(visible_len(&subject) <= LONGEST_SUBJECT, "{subject}");
    }
}

#[test]
fn names_keep_their_case_and_a_subject_is_bounded_by_what_is_seen() {
    let named = CLI.subject(|it| {
        it.subtask_title = "Parse negative numbers";
        it.description = "`Parse` is exported.";
    });
    assert_eq!(named, "feat(cli): Parse negative numbers (task 1.1)");
    let exact = "x".repeat(LONGEST_SUBJECT - "feat(cli):  (task 1.1)".len());
    for (title, end) in [(exact.clone(), " (task 1.1)"), (exact + "x", "")] {
        let subject = CLI.subject(|it| it.subtask_title = &title);
        assert_eq!(subject, format!("feat(cli): {title}{end}"));
    }
    let family = "👩‍👩‍👧‍👦".repeat(200);
    let cut = CLI.subject(|it| it.subtask_title = &family);
    let bounds = LONGEST_SUBJECT - 2..=LONGEST_SUBJECT;
    assert!(bounds.contains(&visible_len(&cut)), "{cut}");
    assert!(cut.ends_with("👩‍👩‍👧‍👦…"), "{cut}");
}

#[test]
fn a_title_says_enough_where_it_asks_for_something_that_fits() {
    let long = "Add a reader for the reports of runners that write no names but numbers";
    for (title, work, expected) in [
        ("Add a reader", "tdd", true),
        ("Parse the whole line", "tdd", true),
        ("fix: a crash", "tdd", true),
        ("A crash for an empty name", "fix", true),
        (long, "tdd", false),
        ("Null is accepted as an amount", "tdd", false),
        ("The importer crashes for an empty file", "tdd", false),
        ("Should comments count?", "tdd", false),
        ("Add comments, too?", "tdd", false),
        ("Eingaben ohne Einheit ablehnen", "tdd", false),
    ] {
        assert_eq!(says_enough(title, work), expected, "{title}");
    }
}

#[test]
fn breaking_changes_are_told_in_the_message() {
    let noted = "Louder.\n\nBREAKING CHANGE: `greet` returns\nan owned string.\n\nMore.";
    let messages = [
        ("BREAKING CHANGE: shout", "Louder.", DEFAULT_TEMPLATE),
        ("feat!: shout", noted, "[{type}] {msg}"),
        ("Shout", noted, "{msg}"),
    ];
    let messages = messages.map(|(title, description, template)| {
        BARE.message(|it| {
            (it.subtask_title, it.description) = (title, description);
            (it.template, it.task_title, it.tag) = (template, "", "");
            (it.tests_passing, it.coverage_lines) = (None, None);
        })
    });
    insta::assert_snapshot!(messages.join("---\n"), @r"
    feat!: shout (task 1.1)

    Louder.

    BREAKING CHANGE: shout

    Task: #1.1 - BREAKING CHANGE: shout
    ---
    [feat!] shout

    Louder.

    BREAKING CHANGE: `greet` returns an owned string.

    More.

    Task: #1.1 - feat!: shout
    ---
    shout

    Louder.

    BREAKING CHANGE: `greet` returns an owned string.

    More.

    Task: #1.1 - Shout
    ");
}

#[test]
fn other_templates() {
    // Of a slug no more than tells it from its siblings.
    let slug = "a-reader-for-reports-of-runs";
    for (id, template, expected) in [
        ("1.1", "{msg}", "create command structure"),
        ("1.1", "[{tag}] x", "[tdd-workflow-phase-0] x"),
        ("1.1", "#{taskId} {msg}", "#1.1 create command structure"),
        ("1.1", "{type}: x\n\nbody", "feat: x body"),
        ("1.1", "--{type}", "feat"),
        ("1.1", "", "task 1.1"),
        ("1.1", "{msg} }", "create command structure }"),
        ("PROJ-1234.2", "[{taskId}]", "[PROJ-1234.2]"),
        (&format!("{slug}.2"), "[{taskId}]", "[….2]"),
        (slug, "[{taskId}]", "[a-reader-for-rep…]"),
    ] {
        let message = CLI.message(|it| (it.subtask_id, it.template) = (id, template));
        assert_eq!(message.lines().next(), Some(expected), "{template:?}");
        let told = format!("\nTask: #{id} - Create");
        assert!(message.contains(&told), "{message}");
    }
    let endless = "x ".repeat(200);
    let cut = CLI.subject(|it| it.template = &endless);
    assert!(visible_len(&cut) <= LONGEST_SUBJECT);
    for template in ["{type}: {mgs}", "{msg"] {
        let input = MessageInput {
            template,
            ..CLI.input()
        };
        compose(&input).unwrap_err();
    }
}

#[test]
fn descriptions() {
    let message = BARE.message(|it| {
        it.description = "# Heading\nFirst line\nof prose.\n\n\n- an item that is much too long to stand on one line, and so goes on\n  \
            - inner\n1. one\n\n```sh\ncode   stays as it is, even where it is longer than the width of a message\n```\nSigned-off-by: x\nTask: #9\n---\nlast";
    });
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
fn a_description_is_wrapped_and_bounded() {
    // A wrapped line may not become a trailer either.
    let words = "word ".repeat(14);
    let wrapped = format!("{words}Signed-off-by: somebody <s@example.org>");
    let message = BARE.message(|it| it.description = &wrapped);
    assert!(message.contains("\n  Signed-off-by:"), "{message}");
    assert!(message.lines().all(|line| line.len() <= 72));
    let long = "word ".repeat(20_000);
    let message = BARE.message(|it| it.description = &long);
    assert!(message.len() < 5000 && message.contains("\n…\n\nTask: #1.1"));
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
    let mut to = git.stdin.take().unwrap();
    to.write_all(message.as_bytes()).unwrap();
    drop(to);
    let output = git.wait_with_output().unwrap();
    assert!(output.status.success());
    let found = String::from_utf8(output.stdout).unwrap();
    found.lines().map(str::to_owned).collect()
}

const OURS: [&str; 2] = ["Tests: 3 passing", "Coverage: 92% lines"];

#[test]
fn git_finds_no_trailer_but_ours() {
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
        let full = |it: &mut MessageInput<'static>| {
            (it.description, it.subtask_title) = (text, text);
            (it.task_title, it.tag) = (text, text);
        };
        assert_eq!(trailers(&BARE.message(full)), OURS, "{text:?}");
        let found = trailers(&BARE.message(|it| {
            full(it);
            (it.tests_passing, it.coverage_lines) = (None, None);
        }));
        let keys = found.iter().map(|line| line.split(' ').next().unwrap());
        let keys: Vec<&str> = keys.collect();
        assert_eq!(keys, ["Task:", "Phase:", "Tag:"], "{text:?}");
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
        let input = MessageInput { subtask_title: &title, description: &description, task_title: &task, tag: &tag, subtask_id: &id, ..CLI.input() };
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
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn git_never_finds_a_trailer_of_theirs(title in hostile(), description in hostile(), task in hostile()) {
        let input = MessageInput { subtask_title: &title, description: &description, task_title: &task, ..CLI.input() };
        prop_assert_eq!(trailers(&compose(&input).unwrap()), OURS);
    }
}

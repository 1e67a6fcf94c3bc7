//! The rule as a table: what is given of a report in a line, and the policies that find something in it.

use ::test_report::TestFormat;

use super::*;
use crate::capability::tests::difference::Protected;
use crate::capability::tests::known;

/// A report: what it is for; what each test did before, in RED and now, and without the product; what differs since the item began, and
/// since RED.
struct Row {
    role: &'static str,
    level: Level,
    base: &'static str,
    red: &'static str,
    now: &'static str,
    without: &'static str,
    /// With the tests of RED: a ledger, or numbers of tests that passed, failed and could not be built.
    own: &'static str,
    item: &'static str,
    since: &'static str,
    /// A test that failed before and is to pass.
    repairs: Option<&'static str>,
}

const ROW: Row = Row {
    role: "passing",
    level: Level::Verified,
    base: "a+ old-",
    red: "a+ old- new-",
    now: "a+ old- new+",
    without: "",
    own: "",
    item: "t/new+ src*",
    since: "src*",
    repairs: None,
};

const RED: Row = Row {
    role: "failing",
    now: "a+ old- new-",
    item: "t/new+",
    red: "",
    since: "",
    ..ROW
};

/// Tests by their ids, each with a sign behind it: it passes `+`, fails `-`, is skipped `?`, is expected to fail `~`, passed only when
/// it was tried again `^`, or was not collected `!`.
fn ledger(tests: &str) -> Option<Ledger> {
    let one = |test: &str| {
        let (id, sign) = test.split_at(test.len() - 1);
        let outcome = match sign {
            "+" => Outcome::Passed,
            "-" => Outcome::Failed,
            "?" => Outcome::Skipped,
            "~" => Outcome::ExpectedFailure,
            "^" => Outcome::Flaky,
            _ => Outcome::NotCollected,
        };
        (id.replace('_', " ").into(), outcome)
    };
    let (format, tests) = match tests.strip_prefix("tap: ") {
        Some(tests) => (TestFormat::Tap, tests),
        None => (TestFormat::Junit, tests),
    };
    let (every, tests) = match tests.strip_prefix("some: ") {
        Some(tests) => (false, tests),
        None => (true, tests),
    };
    (!tests.is_empty()).then(|| Ledger {
        format,
        every,
        tests: tests.split(' ').map(one).collect(),
    })
}

/// Files with a sign behind each: it was added `+`, changed `*`, or deleted `-`, has another form `=`. Those below `t/` are tests,
/// `conf` configures the runner, `docs` is a document, and others are product; in `both` there are tests inside of that.
fn differences(files: &str) -> Vec<Difference> {
    let one = |file: &str| {
        let (name, sign) = file.split_at(file.len() - 1);
        let entry = || {
            let oid = "1234567890123456789012345678901234567890".parse().unwrap();
            Some(TreeEntry {
                mode: 0o100_644,
                oid,
            })
        };
        let what = match sign {
            "+" => Protected::Added,
            "*" => Protected::Changed,
            "-" => Protected::Deleted,
            ">" => Protected::Extended,
            _ => Protected::Form,
        };
        let (protected, classes) = match name {
            name if name.starts_with("t/") => (Some(what), vec![FileClass::Tests]),
            "conf" => (Some(what), vec![FileClass::Build]),
            "docs" => (None, vec![FileClass::Docs]),
            "both" => (Some(what), vec![FileClass::Source, FileClass::Tests]),
            _ => (None, vec![FileClass::Source]),
        };
        Difference {
            path: if name == "both" {
                "both.rs"
            } else if name == "conf" {
                "pytest.ini"
            } else {
                name
            }
            .parse()
            .unwrap(),
            before: if sign == "+" { None } else { entry() },
            after: if sign == "-" { None } else { entry() },
            protected,
            configures: name == "conf",
            snapshots: Vec::new(),
            classes: if what == Protected::Form {
                Vec::new()
            } else {
                classes
            },
        }
    };
    files
        .split(' ')
        .filter(|file| !file.is_empty())
        .map(one)
        .collect()
}

fn role(name: &str) -> Role {
    let of = |only: &[FileClass]| Role {
        only: only.to_vec(),
        ..Role::default()
    };
    match name {
        "failing" => Role {
            shows: Some(Shows::NewFailure),
            ..Role::default()
        },
        "passing" => Role {
            against: Some("first".to_owned()),
            frozen: Some("tests".to_owned()),
            ..Role::default()
        },
        "form" => of(&[
            FileClass::Source,
            FileClass::Tests,
            FileClass::Build,
            FileClass::Docs,
        ]),
        "build" => of(&[FileClass::Build, FileClass::Docs]),
        "own" => of(&[FileClass::Tests]),
        _ => Role {
            suite: Some(machine::role::Suite::Full),
            ..Role::default()
        },
    }
}

/// The numbers of a ledger.
fn counts(ledger: Option<&Ledger>) -> Counts {
    let count = |such: fn(Outcome) -> bool| ledger.iter().flat_map(|one| one.those(such)).count();
    let errors = count(|one| one == Outcome::NotCollected) as u64;
    Counts {
        passed: count(Outcome::is_success) as u64,
        failed: count(Outcome::is_failure) as u64 - errors,
        skipped: 0,
        errors,
    }
}

/// What the tests of RED did, by name or in numbers.
fn own(told: &str) -> Option<(Counts, Option<Ledger>)> {
    let numbers: Vec<u64> = told
        .split(' ')
        .filter_map(|word| word.parse().ok())
        .collect();
    if let [passed, failed, errors] = numbers[..] {
        let counts = Counts {
            passed,
            failed,
            skipped: 0,
            errors,
        };
        return Some((counts, None));
    }
    let ledger = ledger(told)?;
    Some((counts(Some(&ledger)), Some(ledger)))
}

impl Row {
    /// The policies that find something, each once.
    fn found(&self) -> String {
        let role = role(self.role);
        let numbers = self.red.parse().ok();
        let red = if numbers.is_none() {
            ledger(self.red)
        } else {
            None
        };
        let repairs: Vec<String> = self.repairs.iter().copied().map(str::to_owned).collect();
        let base = ledger(self.base);
        let repaired = known::repaired(base.as_ref(), &repairs);
        let base = base.map(|base| base.without(&repaired));
        let now = ledger(self.now);
        let without = ledger(self.without);
        let (item, since) = (differences(self.item), differences(self.since));
        let tree: Oid = "1234567890123456789012345678901234567890".parse().unwrap();
        let counts = counts(now.as_ref());
        let own = own(self.own);
        // As it is where nobody knew then how they were before.
        let new: Vec<String> = red.iter().flat_map(|red| red.newly_failing(None)).collect();
        let errors = red
            .iter()
            .flat_map(|red| red.those(|one| one == Outcome::NotCollected));
        let is_held = self.role == "passing";
        let given = Given {
            role: &role,
            item: None,
            against: "RED",
            level: self.level,
            counts: &counts,
            now: now.as_ref(),
            base: base.as_ref(),
            red: is_held.then(|| Red {
                ledger: red.as_ref(),
                new: &new,
                errors: (errors.count() as u64, new.len() as u64),
                ran: numbers.unwrap_or_default(),
            }),
            removed: &["gone".to_owned()],
            repairs: &repaired,
            named_repairs: &repairs,
            of_item: &item,
            since: is_held.then_some((&tree, &since[..])),
            without_product: without.as_ref(),
            with_tests_of_red: own
                .as_ref()
                .map(|(counts, ledger)| (counts, ledger.as_ref())),
            ignored: &[],
            untouched: &[],
        };
        let mut found: Vec<String> = findings(&POLICIES, &given)
            .into_iter()
            .map(|finding| finding.policy)
            .collect();
        found.dedup();
        found.join(" ")
    }
}

#[test]
fn red_shows_a_new_test_that_fails_for_want_of_the_change() {
    for (row, expected) in [
        (RED, ""),
        (Row { item: "", ..RED }, "red_without_tests"),
        (
            Row {
                item: "src* docs+",
                ..RED
            },
            "red_without_tests",
        ),
        (
            Row {
                item: "t/new=",
                ..RED
            },
            "red_without_tests",
        ),
        (
            Row {
                item: "t/a-",
                ..RED
            },
            "red_without_tests",
        ),
        (
            Row {
                item: "both+",
                ..RED
            },
            "",
        ),
        (
            Row {
                now: "a+ old-",
                ..RED
            },
            "no_new_failure",
        ),
        // One that failed before is named.
        (
            Row {
                item: "",
                now: "a+ old-",
                repairs: Some("old"),
                ..RED
            },
            "",
        ),
        (
            Row {
                item: "",
                now: "a+ old-",
                repairs: Some("a"),
                ..RED
            },
            "red_without_tests no_new_failure",
        ),
        (
            Row {
                level: Level::Claimed,
                item: "",
                now: "",
                repairs: Some("old"),
                ..RED
            },
            "red_without_tests",
        ),
        (
            Row {
                without: "a+ new+ old-",
                ..RED
            },
            "no_new_failure",
        ),
        (
            Row {
                without: "a+ new! old-",
                ..RED
            },
            "",
        ),
        // What was there before is there, or said to be taken out.
        (
            Row {
                now: "old- new-",
                ..RED
            },
            "tests_missing",
        ),
        (
            Row {
                now: "a? old- new-",
                ..RED
            },
            "tests_missing",
        ),
        (
            Row {
                base: "a+ gone+",
                now: "a+ new-",
                ..RED
            },
            "",
        ),
        // A build that fails leaves tests without an outcome.
        (Row { now: "new!", ..RED }, ""),
        (
            Row {
                base: "",
                now: "new-",
                ..RED
            },
            "",
        ),
    ] {
        assert_eq!(
            row.found(),
            expected,
            "{}: {} ({})",
            row.role,
            row.now,
            row.item
        );
    }
}

#[test]
fn green_changes_the_product_and_no_test() {
    for (item, since, expected) in [
        ("t/new+ src*", "src*", ""),
        ("t/new+ src*", "src* t/new*", "tests_changed"),
        ("t/new+ src*", "src* t/a-", "tests_changed"),
        ("t/new+ src*", "both*", "tests_changed"),
        ("t/new+ src*", "src* t/new= t/more+", ""),
        ("t/new+ src*", "src* conf*", "runner_config_changed"),
        ("t/new+", "src*", "green_without_change"),
        ("t/new+ conf*", "src*", "green_without_change"),
        ("t/new+ docs*", "src*", ""),
    ] {
        let row = Row { item, since, ..ROW };
        assert_eq!(row.found(), expected, "{item}, since {since}");
    }
    let numbers = Row {
        level: Level::Claimed,
        red: "some: old- new-",
        now: "",
        ..ROW
    };
    assert_eq!(numbers.found(), "tests_missing");
    // What comes to a file of tests is held against the product of before, where it is run here.
    for (level, expected) in [(Level::Verified, ""), (Level::Ran, "tests_changed")] {
        let since = "src* t/new>";
        let row = Row {
            level,
            since,
            ..ROW
        };
        assert_eq!(row.found(), expected);
    }
}

#[test]
fn what_came_to_the_tests_is_no_reason_that_they_pass() {
    for (red, own, expected) in [
        ("a+ old- new-", "a+ old- new+", ""),
        ("a+ old- new-", "a+ old- new-", "tests_changed"),
        ("a+ old- new-", "a- old- new+", "tests_changed"),
        // They are neither skipped nor left out either.
        ("a+ old- new-", "a? old- new+", "tests_changed"),
        ("a+ old- new-", "a+ old-", "tests_changed"),
        // Nothing was to be built in RED, and what is new came later.
        ("shop!", "a+ old-", "tests_changed"),
        // By numbers.
        ("3", "3 0 0", ""),
        ("3", "2 1 0", "tests_changed"),
        ("3", "1 0 0", "tests_changed"),
        // A file of the product's own may have come with it.
        ("3", "0 0 1", ""),
    ] {
        let is_numbers = red.parse::<u64>().is_ok();
        let row = Row {
            base: if is_numbers { "" } else { ROW.base },
            now: if is_numbers { "" } else { "a+ old- new+ more+" },
            red,
            own,
            since: "src* t/more+",
            ..ROW
        };
        let mut found = row.found();
        // In numbers none runs now.
        if is_numbers {
            found = found.replace("tests_missing", "").trim().to_owned();
        }
        assert_eq!(found, expected, "{red}, {own}");
    }
}

#[test]
fn green_passes_what_passed_and_what_failed_in_red() {
    for (base, red, now, expected) in [
        // What passed before, and what failed in RED, passes.
        ("a+ old-", "a+ old- new-", "old- new+", "tests_missing"),
        ("a+ old-", "a+ old- new-", "a+ old-", "tests_missing"),
        ("a+ old-", "a+ old- new-", "a+ old- new?", "tests_missing"),
        ("a+ old-", "a+ old- new-", "a+ old- new~", "tests_missing"),
        ("a+ todo~", "a+ todo~ new-", "a+ todo~ new+", ""),
        // Every test that failed in RED had failed before.
        ("a+ old-", "a+ old-", "a+ old- new+", "tests_missing"),
        // By another format, in part, or by numbers nobody sees that.
        (
            "a+ old-",
            "a+ old- new-",
            "tap: a+ old- new+",
            "tests_missing",
        ),
        (
            "a+ old-",
            "a+ old- new-",
            "some: a+ old- new+",
            "tests_missing",
        ),
        ("a+ old-", "a+ old- new-", "", "tests_missing"),
        // Who names only what fails owes no names; numbers owe as many, less what was taken out on purpose.
        ("", "some: old- new-", "some: new+", ""),
        ("", "1", "", ""),
        ("", "2", "", "tests_missing"),
        // What could not be built may have a name of another format; what was named before is named again.
        ("a+ old-", "tap: some: shop!", "a+ old- new+", ""),
        (
            "a+ old-",
            "tap: some: shop!",
            "tap: some: new+",
            "tests_missing",
        ),
        // A build that failed in RED is answered by a test that was not there.
        ("a+ old-", "shop!", "a+ old- new+", ""),
        ("a+ old-", "shop!", "a+ old-", "tests_missing"),
        ("a+ old-", "shop!", "a+ old- shop+", ""),
        ("a+ old-", "shop!", "a+ old- new~", "tests_missing"),
        // Node names a test that failed before its subtests began by itself, and else by these.
        ("a+ old-", "a+ old- new-", "a+ old- new_>_one+", ""),
        (
            "a+ old-",
            "a+ old- new-",
            "a+ old- news_>_one+",
            "tests_missing",
        ),
    ] {
        let row = Row {
            base,
            red,
            now,
            ..ROW
        };
        assert_eq!(row.found(), expected, "{base}, {red}, {now}");
    }
}

/// What could not be built may be an old test that asks for something new.
#[test]
fn an_old_test_that_could_not_be_built_may_be_what_passes_now() {
    for (item, expected) in [("t/a* src*", ""), ("t/new+ src*", "tests_missing")] {
        let row = Row {
            red: "shop!",
            now: "a+ old-",
            item,
            ..ROW
        };
        assert_eq!(row.found(), expected, "{item}");
    }
}

#[test]
fn tests_may_have_other_names() {
    for (base, red, now, expected) in [
        // Cases whose parameters differ in each run.
        ("o[1]+ o[2]+", "o[3]+ o[4]+ n[a]-", "o[5]+ o[6]+ n[b]+", ""),
        (
            "f_>_took_17ms+",
            "f_>_took_18ms+ n-",
            "f_>_took_19ms+ n+",
            "",
        ),
        // Fewer cases are no problem, unless one of them is new, or none is left.
        ("o[1]+ o[2]+", "o[1]+ o[2]+ n-", "o[1]+ n+", ""),
        ("o[1]+", "o[1]+ n[a]- n[b]+", "o[1]+ n[b]+", "tests_missing"),
        ("o[1]+ a+", "o[1]+ a+ n-", "a+ n+", "tests_missing"),
        // A test that moved with its module, or its file.
        ("a::t::one+", "a::t::one+ n-", "b::t::one+ n+", ""),
        ("t/a.py::one+", "t/a.py::one+ n-", "t/b/a.py::one+ n+", ""),
        // One that came stands for one that went, and only if it passes.
        (
            "a::one+ b::one+",
            "a::one+ b::one+ n-",
            "c::one+ n+",
            "tests_missing",
        ),
        ("a::one+", "a::one+ n-", "b::one? n+", "tests_missing"),
        ("a::one+", "a::one+ n-", "a::one_more+ n+", "tests_missing"),
    ] {
        let row = Row {
            base,
            red,
            now,
            ..ROW
        };
        assert_eq!(row.found(), expected, "{base} → {now}");
    }
}

#[test]
fn other_kinds_of_work_leave_the_suite_as_it_was() {
    for (role, now, item, expected) in [
        ("form", "a+ old-", "src* t/a*", ""),
        ("form", "a+ old-", "src* conf*", "runner_config_changed"),
        ("form", "old-", "src*", "tests_missing"),
        ("build", "a+ old-", "conf*", ""),
        ("build", "a+ old-", "src*", "other_files_changed"),
        ("own", "a+ old- new+", "t/new+", ""),
        ("own", "a+ old-", "t/new+", "no_test_written"),
        ("own", "a+ old- new+", "t/new+ src*", "other_files_changed"),
        ("own", "a+ old-", "", "no_test_written"),
        ("all", "a+ old-", "", ""),
        ("all", "old-", "", "tests_missing"),
    ] {
        let row = Row {
            role,
            now,
            item,
            red: "",
            since: "",
            ..ROW
        };
        assert_eq!(row.found(), expected, "{role}: {now} ({item})");
    }
}

#[test]
fn what_failed_before_may_go_on_failing() {
    let role = role("passing");
    let (base, now) = (
        ledger("a- b- c+").unwrap(),
        ledger("a- b- c- new-").unwrap(),
    );
    let red = ledger("a- b- c+ new-").unwrap();
    let given = Given {
        role: &role,
        item: None,
        against: "RED",
        level: Level::Verified,
        counts: &Counts::default(),
        now: Some(&now),
        base: Some(&base),
        red: Some(Red {
            ledger: Some(&red),
            new: &[],
            errors: (0, 3),
            ran: 3,
        }),
        removed: &[],
        repairs: &[],
        named_repairs: &[],
        of_item: &[],
        since: None,
        without_product: None,
        with_tests_of_red: None,
        ignored: &[],
        untouched: &[],
    };
    assert_eq!(given.known(), ["a", "b"]);
}

#[test]
fn a_test_is_meant_by_its_own_name_and_by_that_of_pytest() {
    for named in [
        "tests.a::adds",
        "tests/a.py::adds",
        "tests.a::*",
        "tests/a.py::ad*",
    ] {
        assert!(is_meant(named, "tests.a::adds"), "{named}");
    }
    for named in ["tests.a::add", "tests/b.py::adds", "*", ""] {
        assert!(!is_meant(named, "tests.a::adds"), "{named}");
    }
}

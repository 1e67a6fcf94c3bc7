//! Projects with linters, formatters and type checkers, in the words of commands of their own: what these find is held against what they
//! found before.

use serde_json::{Value, json};

use super::work::{Before, DOUBLE, DOUBLES, SHOP, Way, Work};

/// A linter: it wants no tabs, and says where there are some.
pub const LINTER: &str = r#"grep -rn "$(printf '\t')" src | sed 's/^\([^:]*:[0-9]*\):.*/\1: error: a tab [no-tabs]/'
if grep -rq "$(printf '\t')" src; then exit 1; fi
"#;

/// The shop with it, where a file has a tab already.
pub const CHECKED: Before<'static> = Before {
    files: &[
        ("src/add.sh", "echo $(($1 + $2))\n"),
        ("src/old.sh", "echo\told\n"),
        (".config/lint.sh", LINTER),
        ("tests/add.test", "adds: test $(sh src/add.sh 1 2) = 3\n"),
    ],
    settings: r#""checks": {"commands": {"lint": "sh .config/lint.sh"}}"#,
    ..SHOP
};

/// A run in which its checks are run.
pub fn begin(before: &Before<'_>, way: Way) -> Work {
    Work::begin_with(before, way, |work| {
        work.trust(&["config", "trust", "--checks"]);
    })
}

pub fn to_green(before: &Before<'_>, way: Way) -> Work {
    let work = begin(before, way);
    work.write("tests/double.test", DOUBLES);
    work.red();
    work
}

fn refused(work: &Work, call: &[&str], code: &str) -> Value {
    let (status, told) = work.report(call);
    assert_eq!((status, &told["code"]), (3, &json!(code)), "{told:#}");
    told
}

#[test]
fn what_is_found_and_was_not_before_is_mended() {
    let way = Way::Reported;
    let work = to_green(&CHECKED, way);
    work.write("src/double.sh", "echo\t$(($1 * 2))\n");
    let told = refused(&work, &["complete", "green"], "new_findings");
    let message = told["message"].as_str().unwrap();
    assert!(message.contains("src/double.sh:1"), "{told:#}");
    assert!(!message.contains("old.sh"), "{told:#}");
    work.write("src/double.sh", DOUBLE);
    work.green();
    work.commit();
    work.finalize();
    let (status, verified) = work.shell("tm verify main..HEAD");
    assert_eq!(status, 0, "{verified:#}");
    let green = &verified["commits"][0]["green"];
    assert_eq!(green["checked"], json!(["lint"]), "{verified:#}");
}

/// What was there before moves with its file, and may be mended.
#[test]
fn old_findings_are_in_nobodys_way() {
    let way = Way::Reported;
    let work = to_green(&CHECKED, way);
    work.write("src/double.sh", DOUBLE);
    work.rename("src/old.sh", "src/older.sh");
    work.git(&["add", "--all", "src"]);
    work.green();
    work.commit();
    work.finalize();
}

#[test]
fn work_that_is_not_test_driven_is_checked_too() {
    let tasks = json!({ "master": { "tasks": [{
        "id": 1, "title": "Much", "status": "pending", "subtasks": [
            { "id": 1, "title": "Another form", "kind": "refactor" },
            { "id": 2, "title": "Settings", "kind": "chore" },
        ],
    }] } });
    let way = Way::Reported;
    let work = Work::begin_at(&CHECKED, way, "refactor", |work| {
        work.write(".taskmaster/tasks/tasks.json", &tasks.to_string());
        work.trust(&["config", "trust", "--checks"]);
    });
    work.write("src/add.sh", "expr\t$1 + $2\n");
    refused(&work, &["complete", "refactor"], "new_findings");
    work.write("src/add.sh", "expr $1 + $2\n");
    work.accept(&["complete", "refactor"], "commit");
    work.commit();
    // Whoever is to change what checks may do so.
    work.write(".config/lint.sh", "exit 0\n");
    work.warns(&["The checks of the project are not what they were: lint"]);
    work.accept(&["complete", "chore"], "commit");
    work.commit();
    work.finalize();
}

#[test]
fn the_whole_is_checked_at_the_end() {
    let way = Way::Reported;
    let before = Before {
        settings: r#""checks": {"commands": {"lint": "sh .config/lint.sh"}}, "evidence": {"policy": {"new_findings": "warn"}}"#,
        ..CHECKED
    };
    let work = to_green(&before, way);
    work.write("src/double.sh", "echo\t$(($1 * 2))\n");
    work.warns(&["1 problem found that was not there before"]);
    work.green();
    work.commit();
    work.warns(&["1 problem found that was not there before"]);
    work.finalize();
}

#[test]
fn what_nobody_trusted_is_not_run() {
    let way = Way::Reported;
    let work = Work::unbegun(&CHECKED, way);
    let started = work.tm(&["start", "1"]);
    let warnings = started["warnings"].to_string();
    assert!(warnings.contains("tm config trust --checks"), "{started:#}");
    work.write("tests/double.test", DOUBLES);
    let (status, told) = work.report(&["complete", "red"]);
    assert_eq!(status, 0, "{told:#}");
    work.write("src/double.sh", "echo\t$(($1 * 2))\n");
    let (status, told) = work.report(&["complete", "green"]);
    assert_eq!(status, 0, "{told:#}");
    let (_, log) = work.shell("tm runs log");
    assert!(
        !log.to_string().contains("durationMs\":0,\"name\":\"lint"),
        "{log:#}"
    );
}

/// What is run is what a person has trusted, and no less.
#[test]
fn a_check_is_altered() {
    let way = Way::Reported;
    let work = to_green(&CHECKED, way);
    work.write("src/double.sh", "echo\t$(($1 * 2))\n");
    work.write(".config/lint.sh", "exit 0\n");
    refused(&work, &["complete", "green"], "checks_changed");
    // Where it is gone its command fails, as it did not before.
    work.delete(".config/lint.sh");
    refused(&work, &["complete", "green"], "new_findings");
    work.write(".config/lint.sh", LINTER);
    refused(&work, &["complete", "green"], "new_findings");
    work.write("src/double.sh", DOUBLE);
    work.green();
    work.commit();
}

#[test]
fn a_check_is_told_to_overlook_something() {
    let way = Way::Reported;
    let work = to_green(&CHECKED, way);
    work.write(
        "src/double.sh",
        &format!("# shellcheck disable=SC2154\n{DOUBLE}"),
    );
    work.warns(&["checks are told to overlook something"]);
    work.green();
    work.commit();
}

/// Where the project's command fails and names no place, that it fails is what is found.
#[test]
fn a_command_that_names_no_place_is_held_to_its_end() {
    let way = Way::Reported;
    let before = Before {
        settings: r#""checks": {"commands": {"size": "sh -c 'test $(ls src | wc -l) -lt 3'"}}"#,
        ..CHECKED
    };
    let work = to_green(&before, way);
    work.write("src/double.sh", DOUBLE);
    refused(&work, &["complete", "green"], "new_findings");
    work.delete("src/old.sh");
    work.green();
    work.commit();
}

#[test]
fn a_check_that_cannot_be_run_is_told() {
    let way = Way::Reported;
    let before = Before {
        settings: r#""checks": {"commands": {"lint": "no-such-program"}}"#,
        ..CHECKED
    };
    let work = to_green(&before, way);
    work.write("src/double.sh", DOUBLE);
    work.warns(&["checks of the project could not be run"]);
    work.green();
    work.commit();
}

/// A tool that takes files: its program lies in the project, and wants no tabs.
const ESLINT: &str = r#"#!/bin/sh
out='['
for file; do
  case $file in -f | json) continue ;; esac
  [ -f "$file" ] || continue
  if grep -q "$(printf '\t')" "$file"; then
    out="$out{\"filePath\": \"$file\", \"messages\": [{\"ruleId\": \"no-tabs\", \"severity\": 2, \"message\": \"a tab\", \"line\": 1}]},"
  fi
done
printf '%s]\n' "$(printf %s "$out" | sed 's/,$//')"
"#;

/// The shop with it.
fn with_eslint(way: Way) -> Work {
    let before = Before {
        files: &[
            SHOP.files,
            &[
                (".eslintrc.json", "{}"),
                (".gitignore", "node_modules\n"),
                ("node_modules/.bin/eslint", ESLINT),
            ],
        ]
        .concat(),
        ..SHOP
    };
    Work::begin_with(&before, way, |work| {
        work.runs_well("chmod +x node_modules/.bin/eslint");
        work.trust(&["config", "trust", "--checks"]);
    })
}

#[test]
fn what_is_found_in_tests_is_told_before_they_are_frozen() {
    let way = Way::Reported;
    let work = with_eslint(way);
    work.write("tests/double.test", DOUBLES);
    work.write("tests/helper.js", "\t1;\n");
    let (status, told) = work.report(&["complete", "red"]);
    assert_eq!(status, 0, "{told:#}");
    let warning = told["warning"].as_str().unwrap();
    assert!(warning.contains("tests/helper.js:1 no-tabs"), "{told:#}");
    work.write("src/double.sh", DOUBLE);
    let told = refused(&work, &["complete", "green"], "new_findings");
    let way_out = told["suggestion"].as_str().unwrap();
    assert!(way_out.contains("reopen"), "{told:#}");
    work.git(&["stash", "push", "--quiet", "--include-untracked", "src"]);
    work.tm(&["reopen", "--reason", "a tab"]);
    work.write("tests/helper.js", "1;\n");
    let (status, told) = work.report(&["complete", "red"]);
    assert_eq!(status, 0, "{told:#}");
    work.git(&["stash", "pop", "--quiet"]);
    let (status, told) = work.report(&["complete", "green"]);
    assert_eq!(status, 0, "{told:#}");
}

#[test]
fn another_program_in_its_place_is_another_check() {
    let way = Way::Reported;
    let work = with_eslint(way);
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.write("src/double.js", "\t1;\n");
    work.write("node_modules/.bin/eslint", "#!/bin/sh\necho '[]'\n");
    let told = refused(&work, &["complete", "green"], "checks_changed");
    let message = told["message"].as_str().unwrap();
    assert!(message.contains("node_modules/.bin/eslint"), "{told:#}");
    work.write("node_modules/.bin/eslint", ESLINT);
    refused(&work, &["complete", "green"], "new_findings");
    // Settings of a folder count there, and files that are overlooked are.
    work.write("src/double.js", "1;\n");
    work.write("src/.eslintrc.json", "{}");
    let told = refused(&work, &["complete", "green"], "checks_changed");
    let message = told["message"].as_str().unwrap();
    assert!(message.contains("src/.eslintrc.json"), "{told:#}");
    work.delete("src/.eslintrc.json");
    work.green();
    work.commit();
}

/// Whoever trusts one list after another has trusted both.
#[test]
fn trust_goes_back_and_forth() {
    let work = Work::unbegun(&CHECKED, Way::Claimed);
    let settings = work.read(".taskmaster/config.json");
    work.trust(&["config", "trust", "--checks"]);
    work.write(
        ".taskmaster/config.json",
        &settings.replace("sh .config/lint.sh", "true"),
    );
    work.trust(&["config", "trust", "--checks"]);
    work.write(".taskmaster/config.json", &settings);
    work.tm(&["start", "1"]);
    work.write("tests/double.test", DOUBLES);
    work.report(&["complete", "red"]);
    work.write("src/double.sh", "echo\t$(($1 * 2))\n");
    refused(&work, &["complete", "green"], "new_findings");
}

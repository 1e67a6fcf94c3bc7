//! What happens where linters, formatters and type checkers are run.

use super::walk;
use crate::honest::checks::{CHECKED, LINTER, to_green};
use crate::honest::work::{Before, DOUBLE, Way, Work};

fn green(work: &Work) -> (i32, serde_json::Value) {
    work.report(&["complete", "green"])
}

#[test]
fn something_new_is_found() {
    let way = Way::Reported;
    let work = to_green(&CHECKED, way);
    work.write("src/double.sh", "echo\t$(($1 * 2))\n");
    let deed = |work: &Work| work.write("src/double.sh", DOUBLE);
    walk(&work, green, "new_findings", &[("mend them", deed)]);
}

#[test]
fn a_check_is_set_up_otherwise() {
    let way = Way::Reported;
    let work = to_green(&CHECKED, way);
    work.write("src/double.sh", DOUBLE);
    work.write(".config/lint.sh", "exit 0\n");
    let deed = |work: &Work| work.write(".config/lint.sh", LINTER);
    walk(
        &work,
        green,
        "checks_changed",
        &[("put back what sets them up", deed)],
    );
}

#[test]
fn a_check_is_told_to_overlook_something() {
    let before = Before {
        settings: r#""checks": {"commands": {"lint": "sh .config/lint.sh"}}, "evidence": {"policy": {"findings_silenced": "refuse"}}"#,
        ..CHECKED
    };
    let work = to_green(&before, Way::Verified);
    work.write(
        "src/double.sh",
        &format!("# shellcheck disable=all\n{DOUBLE}"),
    );
    let deed = |work: &Work| work.write("src/double.sh", DOUBLE);
    walk(
        &work,
        green,
        "findings_silenced",
        &[("mend what they find instead", deed)],
    );
}

#[test]
fn a_check_cannot_be_run() {
    let before = Before {
        files: &[
            CHECKED.files,
            &[(".eslintrc.json", "{}"), (".gitignore", "node_modules\n")],
        ]
        .concat(),
        settings: r#""evidence": {"policy": {"checks_not_run": "refuse"}}"#,
        ..CHECKED
    };
    let work = to_green(&before, Way::Verified);
    work.write("src/double.sh", DOUBLE);
    work.write("src/double.js", "1;\n");
    walk(
        &work,
        green,
        "checks_not_run",
        &[("see to it that they can be run here", |work: &Work| {
            work.write("node_modules/.bin/eslint", "#!/bin/sh\necho '[]'\n");
            work.runs_well("chmod +x node_modules/.bin/eslint");
        })],
    );
}

/// What it changes was tested by nobody.
#[test]
fn a_check_changes_files() {
    let fixes = r"touch cache.tmp
for file in src/*.sh; do sed 's/ *$//' $file > cache.tmp; cmp -s cache.tmp $file || cp cache.tmp $file; done
grep -q double src/*.sh && test ! -e made.txt && echo made > made.txt
exit 0
";
    let before = Before {
        files: &[
            ("src/add.sh", "echo $(($1 + $2))\n"),
            (".config/lint.sh", fixes),
            (".gitignore", "*.tmp\n"),
            ("tests/add.test", "adds: test $(sh src/add.sh 1 2) = 3\n"),
        ],
        ..CHECKED
    };
    let way = Way::Reported;
    let work = to_green(&before, way);
    work.write("src/double.sh", "echo $(($1 * 2)) # double  \n");
    let (status, told) = green(&work);
    assert_eq!(
        (status, &told["error"]["code"]),
        (3, &"changed_by_checks".into()),
        "{told:#}"
    );
    let files = &told["error"]["details"]["files"];
    assert_eq!(
        files,
        &serde_json::json!(["made.txt", "src/double.sh"]),
        "{told:#}"
    );
    work.write("src/double.sh", "echo $(($1 * 2)) # double  \n");
    walk(&work, green, "changed_by_checks", &[]);
    work.commit();
    work.finalize();
}

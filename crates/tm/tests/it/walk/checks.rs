//! What happens where linters, formatters and type checkers are run.

use super::{at, at_of, story};
use crate::honest::checks::{CHECKED, LINTER, TABBED, trust_checks};
use crate::honest::work::{Before, GREEN, SHOP, Way, Work};

const LINT: &str = ".config/lint.sh";

#[test]
fn what_checks_find_and_where_they_cannot() {
    let before = CHECKED.by(Way::Verified).settings(
        r#""checks": {"commands": {"lint": "sh .config/lint.sh"}}, "evidence": {"policy": {"findings_silenced": "refuse"}}"#,
    );
    at_of(&before, Before::with_code, GREEN).tell([
        story("something new", "new_findings")
            .done(|work| work.write("src/double.sh", TABBED))
            .deed(Work::code),
        story("they are set up otherwise", "checks_changed")
            .done(|work| work.write(LINT, "exit 0\n"))
            .deed(|work| work.write(LINT, LINTER)),
        story("they are told to overlook something", "findings_silenced")
            .done(|work| work.append("src/double.sh", "# shellcheck disable=all\n"))
            .deed(Work::code),
    ]);
    at(Before::with_code, GREEN).tell([story("one is not there", "checks_not_run")
        .of(SHOP
            .with(&[(".eslintrc.json", "{}"), (".gitignore", "node_modules\n")])
            .settings(r#""evidence": {"policy": {"checks_not_run": "refuse"}}"#)
            .prepared(trust_checks))
        .done(|work| work.write("src/double.js", "1;\n"))
        .deed(|work| work.write("node_modules/.bin/eslint", "#!/bin/sh\necho '[]'\n"))
        .deed(|work| work.runs_well("chmod +x node_modules/.bin/eslint"))]);
}

/// What it changes was tested by nobody.
#[test]
fn a_check_changes_files() {
    let fixes = r"touch cache.tmp
for file in src/*.sh; do sed 's/ *$//' $file > cache.tmp; cmp -s cache.tmp $file || cp cache.tmp $file; done
grep -q double src/*.sh && test ! -e made.txt && echo made > made.txt
exit 0
";
    let files = [(LINT, fixes), (".gitignore", "*.tmp\n")];
    let work = CHECKED.with(&files).at_green();
    let spaced = "echo $(($1 * 2)) # double  \n";
    work.write("src/double.sh", spaced);
    let told = work.refused(GREEN, "changed_since");
    let changed = &told["error"]["details"]["files"];
    assert_eq!(changed, &serde_json::json!(["made.txt", "src/double.sh"]));
    work.write("src/double.sh", spaced);
    super::walk(&work, &|work| work.report(GREEN), "changed_since", &[]);
    work.ends();
}

//! Projects with linters, formatters and type checkers, in the words of commands of their own: what these find is held against what they
//! found before.

use serde_json::json;

use super::work::{Before, CONFIG, GREEN, RED, SHOP, Work};
use super::{go_through, run};

/// A linter: it wants no tabs, and says where there are some.
pub const LINTER: &str = r#"grep -rn "$(printf '\t')" src | sed 's/^\([^:]*:[0-9]*\):.*/\1: error: a tab [no-tabs]/'
if grep -rq "$(printf '\t')" src; then exit 1; fi
"#;

/// The shop with it, where a file has a tab already, and nobody has trusted it.
const UNTRUSTED: Before<'static> = SHOP
    .with(&[("src/old.sh", "echo\told\n"), (".config/lint.sh", LINTER)])
    .settings(r#""checks": {"commands": {"lint": "sh .config/lint.sh"}}"#);

/// The same where its checks are run.
pub const CHECKED: Before<'static> = UNTRUSTED.prepared(trust_checks);

pub fn trust_checks(work: &Work) {
    work.trust(&["config", "trust", "--checks"]);
}

/// The code with a tab.
pub const TABBED: &str = "echo\t$(($1 * 2))\n";

#[test]
fn what_is_found_is_held_against_what_was_there_before() {
    testkit::by_chance!(3);
    go_through([
        run("what is new is mended, and what was there before moves with its file")
            .of(CHECKED)
            .green(|work| work.rename("src/old.sh", "src/older.sh"))
            .green(|work| work.git(&["add", "--all", "src"]))
            .green(|work| {
                work.write("src/double.sh", TABBED);
                let told = work.refused(GREEN, "new_findings")["message"].to_string();
                assert!(told.contains("src/double.sh:1"), "{told}");
                assert!(!told.contains("old"), "{told}");
            })
            // What is run is what was trusted; where it is gone its command fails, as it did not before.
            .green(|work| work.write(".config/lint.sh", "exit 0\n"))
            .green(|work| work.refused(GREEN, "checks_changed"))
            .green(|work| work.delete(".config/lint.sh"))
            .green(|work| work.refused(GREEN, "new_findings"))
            .green(|work| work.write(".config/lint.sh", LINTER))
            .green(Work::code)
            // What is overlooked is told.
            .green(|work| work.append("src/double.sh", "# shellcheck disable=SC2154\n"))
            .green(|work| work.warns(&["findings_silenced"]))
            .then(|work| {
                let (status, verified) = work.shell("tm verify main..HEAD");
                let checked = &verified["commits"][0]["green"]["checked"];
                assert_eq!((status, checked), (0, &json!(["lint"])), "{verified:#}");
            }),
        // Where the project's command fails and names no place, that it fails is what is found.
        run("a command that names no place is held to its end")
            .of(CHECKED.settings(
                r#""checks": {"commands": {"size": "sh -c 'test $(ls src | wc -l) -lt 3'"}}"#,
            ))
            .green(|work| work.refused(GREEN, "new_findings"))
            .green(|work| work.delete("src/old.sh")),
    ]);
}

#[test]
fn the_whole_is_checked_at_the_end() {
    for (code, settings) in [
        (
            "new_findings",
            r#""checks": {"commands": {"lint": "sh .config/lint.sh"}}, "evidence": {"policy": {"new_findings": "warn"}}"#,
        ),
        (
            "checks_not_run",
            r#""checks": {"commands": {"lint": "no-such-program"}}"#,
        ),
    ] {
        let work = CHECKED.settings(settings).at_green();
        work.write("src/double.sh", TABBED);
        work.warns(&[code]);
        work.green();
        work.commit();
        work.warns(&[code]);
        work.finalize();
    }
}

#[test]
fn work_that_is_not_test_driven_is_checked_too() {
    let work = CHECKED.kinds(&["refactor", "chore"]).begin();
    work.write("src/add.sh", "expr\t$1 + $2\n");
    work.refused(&["complete", "refactor"], "new_findings");
    work.write("src/add.sh", "expr $1 + $2\n");
    work.accept(&["complete", "refactor"], "commit");
    work.commit();
    // Whoever is to change what checks may do so.
    work.write(".config/lint.sh", "exit 0\n");
    work.warns(&["checks_altered lint"]);
    work.accept(&["complete", "chore"], "commit");
    work.ends();
}

/// What nobody trusted is not run; and whoever trusts one list after another has trusted both.
#[test]
fn what_is_trusted_is_run() {
    for is_trusted in [false, true] {
        let work = UNTRUSTED.unbegun();
        if is_trusted {
            trust_checks(&work);
            work.replace(CONFIG, "sh .config/lint.sh", "true");
            trust_checks(&work);
            work.replace(CONFIG, "true", "sh .config/lint.sh");
        }
        let warned = work.tm(&["start", "1"])["warnings"].to_string();
        assert_eq!(warned.contains("tm config trust --checks"), !is_trusted);
        work.test();
        work.accepted(RED);
        work.write("src/double.sh", TABBED);
        if is_trusted {
            work.refused(GREEN, "new_findings");
        } else {
            work.accepted(GREEN);
        }
    }
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

const ESLINT_PROGRAM: &str = "node_modules/.bin/eslint";

/// The shop with it.
const WITH_ESLINT: Before<'static> = SHOP
    .with(&[
        (".eslintrc.json", "{}"),
        (".gitignore", "node_modules\n"),
        (ESLINT_PROGRAM, ESLINT),
    ])
    .prepared(|work| {
        work.runs_well("chmod +x node_modules/.bin/eslint");
        trust_checks(work);
    });

#[test]
fn tools_that_take_files() {
    // What they find in tests is told before these are frozen.
    let work = WITH_ESLINT.at_red();
    work.write("tests/helper.js", "\t1;\n");
    work.warns(&["findings_in_tests tests/helper.js:1 no-tabs"]);
    work.red();
    work.code();
    let told = work.refused(GREEN, "new_findings");
    let steps = told["nextSteps"].as_array().unwrap();
    let leads_back = steps.iter().any(|step| step["step"] == "reopen");
    assert!(leads_back, "{told:#}");
    work.delete("src/double.sh");
    work.reopen("red");
    work.write("tests/helper.js", "1;\n");
    work.red();
    work.code();
    // Another program in its place is another check.
    let is_named = |path: &str| {
        let told = work.refused(GREEN, "checks_changed")["message"].to_string();
        assert!(told.contains(path), "{told}");
    };
    work.write("src/double.js", "\t1;\n");
    work.write(ESLINT_PROGRAM, "#!/bin/sh\necho '[]'\n");
    is_named(ESLINT_PROGRAM);
    work.write(ESLINT_PROGRAM, ESLINT);
    work.refused(GREEN, "new_findings");
    // Settings of a folder count there, and files that are overlooked are.
    work.write("src/double.js", "1;\n");
    work.write("src/.eslintrc.json", "{}");
    is_named("src/.eslintrc.json");
    work.delete("src/.eslintrc.json");
    work.green();
    work.commit();
}

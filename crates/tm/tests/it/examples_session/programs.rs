//! The programs of the example by themselves: what they answer to which response.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::sandbox::with_input;

use super::{example, has_python};

/// A project with a database of one table; none where its programs cannot be run.
fn project() -> Option<TempDir> {
    let folder = tempfile::tempdir().unwrap();
    let schema = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);\n\
                  INSERT INTO users (name) VALUES ('Ada'), (CAST(x'ff' AS TEXT));\n";
    fs::write(folder.path().join("schema.sql"), schema).unwrap();
    has_python().then_some(folder)
}

/// Runs one of them with an input that is another one than usual; nothing where it ends with a status other than 0.
fn answer(project: &TempDir, program: &str, response: &str, input: (&str, Value)) -> Option<Value> {
    let mut request = json!({
        "version": 1, "profile": "sqlite-migration", "phase": "generation", "session_id": "s", "iteration": 1,
        "inputs": {
            "number": 7, "name": "add-email", "change": "c", "schema": "schema.sql",
            "way_back": "keeps-rows", "attention": ["data"]
        },
        "response": response, "plan": "p",
        "response_path": project.path().join("r.md"), "project_root": project.path(),
        "session_dir": project.path(), "code_dir": project.path().join("code"),
    });
    request["inputs"][input.0] = input.1;
    let mut python = Command::new("python3");
    python.args(["-IB", program]).current_dir(example());
    let ran = with_input(&mut python, request.to_string());
    assert!(!ran.err.contains("Traceback"), "{ran:?}");
    (ran.status == 0).then(|| ran.json_with(0))
}

/// It answers a response with this status, and says why.
fn answers(project: &TempDir, program: &str, response: &str, status: &str, why: &str) -> Value {
    let made = answer(project, program, response, ("number", json!(7))).unwrap();
    let said = made["error_message"].as_str().unwrap_or_default();
    assert!(said.contains(why), "{response}: {made}");
    assert_eq!(made["status"], status, "{response}: {made}");
    made
}

fn both(up: &str, down: &str) -> String {
    format!("```sql up.sql\n{up}\n```\n\n~~~~ down.sql\n{down}\n~~~~\n")
}

const NEW: &str = "CREATE TABLE t (a);";
const GONE: &str = "DROP TABLE t;";
const NONE: &str = "SELECT 1;";

#[test]
fn what_goes_forward_and_back_is_taken() {
    let Some(project) = project() else { return };
    let trigger = "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END;";
    let column = "PRAGMA foreign_keys = OFF;\nALTER TABLE users ADD COLUMN b;";
    let copied = "CREATE TABLE n (id INTEGER PRIMARY KEY, name TEXT NOT NULL);\nINSERT INTO n SELECT id, name FROM users;\n\
                  DROP TABLE users;\nALTER TABLE n RENAME TO users;";
    for (up, down) in [
        (NEW, GONE),
        ("CREATE TABLE t (a DEFAULT ';'); -- ;\n/* ; */", GONE),
        (&*format!("{NEW}\n{trigger}"), GONE),
        (column, copied),
    ] {
        let made = answers(&project, "read_code.py", &both(up, down), "SUCCESS", "");
        assert_eq!(made["files"].as_array().unwrap().len(), 4);
    }
}

#[test]
fn what_may_not_be_is_an_error_that_says_why() {
    let Some(project) = project() else { return };
    let outside = project.path().join("outside.db");
    let attach = format!("ATTACH '{}' AS x;", outside.display());
    let endless = "CREATE TABLE t (a);\nWITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) \
                   INSERT INTO t SELECT x FROM c WHERE x < 0;";
    let [named, again] = ["x", "y"].map(|name| format!("UPDATE users SET name = '{name}';"));
    let refused = |response: &str, why: &str| {
        answers(&project, "read_code.py", response, "ERROR", why);
    };
    for (up, down, why) in [
        ("CREATE TABLE t (a)", GONE, "up.sql: the last statement"),
        (&attach, NONE, "ATTACH or VACUUM is not allowed"),
        ("PRAGMA writable_schema = 1;", NONE, "PRAGMA writable_sc"),
        ("SELECT load_extension('x');", NONE, "load_extension is not"),
        (endless, GONE, "statement 2: it takes far too many"),
        (NONE, NONE, "up.sql: it changes nothing"),
        (NEW, NONE, "down.sql: table t is still there"),
        ("ALTER TABLE users ADD b;", NONE, "users is not what it was"),
        (&named, &again, "down.sql: the rows of the table users"),
        ("SELECT '\0';", NONE, "there is a NUL"),
    ] {
        refused(&both(up, down), why);
    }
    for (response, why) in [
        ("``` up.sql\nSELECT 1;\n```", "block called down.sql"),
        ("``` up.sql\nSELECT 1;\n", "line 1: the code block does not"),
        ("```up.sql\n```\n```up.sql\n```", "line 3: there are two"),
    ] {
        refused(response, why);
    }
    assert!(!outside.exists());
    // Rows may be lost where that was said.
    let lossy = ("way_back", json!("may-lose-rows"));
    let made = answer(&project, "read_code.py", &both(&named, &again), lossy);
    assert_eq!(made.unwrap()["status"], "SUCCESS");
}

#[test]
fn inputs_that_lead_elsewhere_are_refused() {
    let Some(project) = project() else { return };
    for (name, value, status) in [
        ("name", json!("../x"), Some("ERROR")),
        ("number", json!(0), Some("ERROR")),
        ("schema", json!("../schema.sql"), None),
        ("schema", json!("not-there.sql"), None),
    ] {
        let made = answer(&project, "read_code.py", &both(NEW, GONE), (name, value));
        let found = made.as_ref().and_then(|made| made["status"].as_str());
        assert_eq!(found, status, "{name}: {made:?}");
    }
}

#[test]
fn a_table_of_findings_is_a_verdict() {
    let Some(project) = project() else { return };
    let table = |rows: &str| format!("| Severity | Where | Finding |\n|:--|---|--:|\n{rows}\n");
    for (rows, status, why) in [
        ("| minor | a | b \\| c |", "SUCCESS", ""),
        ("|critical|a|b|\n|minor|a|c|", "FAILED", "1 of 2 findings"),
        ("| **Major** | a | b |", "FAILED", "1 of 1 findings"),
        ("| bad | a | b |", "ERROR", "line 3: 'bad' is no severity"),
        ("| minor | a | b | c |", "ERROR", "line 3: a finding has"),
        ("|minor|a|b|\n\nNo findings.", "ERROR", "take one away"),
    ] {
        answers(&project, "read_review.py", &table(rows), status, why);
    }
    let twice = table("| minor | a | b |\n\n").repeat(2);
    for (response, status, why) in [
        ("All well.\n\n**No findings.**\n", "SUCCESS", ""),
        ("", "ERROR", "there is no finding"),
        (&twice, "ERROR", "several tables"),
    ] {
        answers(&project, "read_review.py", response, status, why);
    }
}

//! The programs of the example by themselves: what they answer to which response.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{example, has_python};

/// A project with a database of one table.
fn project() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let schema = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);\n\
                  INSERT INTO users (name) VALUES ('Ada'), (CAST(x'ff' AS TEXT));\n";
    fs::write(folder.path().join("schema.sql"), schema).unwrap();
    folder
}

fn request(project: &TempDir, response: &str) -> Value {
    json!({
        "version": 1, "profile": "sqlite-migration", "phase": "generation", "session_id": "s", "iteration": 1,
        "inputs": {
            "number": 7, "name": "add-email", "change": "c", "schema": "schema.sql",
            "way_back": "keeps-rows", "attention": ["data"]
        },
        "response": response, "plan": "p",
        "response_path": project.path().join("r.md"), "project_root": project.path(),
        "session_dir": project.path(), "code_dir": project.path().join("code"),
    })
}

/// Runs one of them; nothing where it ends with a status other than 0.
fn answer(program: &str, request: &Value) -> Option<Value> {
    let mut child = Command::new("python3")
        .args(["-IB", program])
        .current_dir(example())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(request.to_string().as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(
        !String::from_utf8_lossy(&output.stderr).contains("Traceback"),
        "{output:?}"
    );
    output
        .status
        .success()
        .then(|| serde_json::from_slice(&output.stdout).unwrap())
}

fn both(up: &str, down: &str) -> String {
    format!("```sql up.sql\n{up}\n```\n\n~~~~ down.sql\n{down}\n~~~~\n")
}

#[test]
fn what_goes_forward_and_back_is_taken() {
    if !has_python() {
        return;
    }
    let project = project();
    for (up, down) in [
        ("CREATE TABLE t (a);", "DROP TABLE t;"),
        (
            "CREATE TABLE t (a DEFAULT ';'); -- ;\n/* ; */",
            "DROP TABLE t;",
        ),
        (
            "CREATE TABLE t (a);\nCREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END;",
            "DROP TABLE t;",
        ),
        (
            "PRAGMA foreign_keys = OFF;\nALTER TABLE users ADD COLUMN b;",
            "CREATE TABLE n (id INTEGER PRIMARY KEY, name TEXT NOT NULL);\nINSERT INTO n SELECT id, name FROM users;\n\
             DROP TABLE users;\nALTER TABLE n RENAME TO users;",
        ),
    ] {
        let made = answer("read_code.py", &request(&project, &both(up, down))).unwrap();
        assert_eq!(made["status"], "SUCCESS", "{up}: {made}");
        assert_eq!(made["files"].as_array().unwrap().len(), 4);
    }
}

#[test]
fn what_may_not_be_is_an_error_that_says_why() {
    if !has_python() {
        return;
    }
    let project = project();
    let outside = project.path().join("outside.db");
    let endless = "CREATE TABLE t (a);\nWITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) \
                   INSERT INTO t SELECT x FROM c WHERE x < 0;";
    let cases = [
        (
            both("CREATE TABLE t (a)", "DROP TABLE t;"),
            "up.sql: the last statement does not end",
        ),
        (
            both("BEGIN; CREATE TABLE t (a); COMMIT;", "DROP TABLE t;"),
            "BEGIN is not allowed",
        ),
        (
            both(
                &format!("ATTACH '{}' AS x;", outside.display()),
                "SELECT 1;",
            ),
            "ATTACH or VACUUM is not allowed",
        ),
        (
            both(
                &format!("VACUUM INTO '{}';", outside.display()),
                "SELECT 1;",
            ),
            "ATTACH or VACUUM is not allowed",
        ),
        (
            both("PRAGMA writable_schema = 1;", "SELECT 1;"),
            "PRAGMA writable_schema is not allowed",
        ),
        (
            both("SELECT load_extension('x');", "SELECT 1;"),
            "load_extension is not allowed",
        ),
        (
            both(endless, "DROP TABLE t;"),
            "up.sql, statement 2: it takes far too many steps",
        ),
        (
            both("CREATE TABLE users (a);", "SELECT 1;"),
            "table users already exists",
        ),
        (both("SELECT 1;", "SELECT 1;"), "up.sql: it changes nothing"),
        (both("", "SELECT 1;"), "up.sql: there is no statement in it"),
        (
            both("CREATE TABLE t (a);", "SELECT 1;"),
            "down.sql: table t is still there",
        ),
        (
            both("CREATE TABLE t (a);", "DROP TABLE t; DROP TABLE users;"),
            "table users is gone",
        ),
        (
            both(
                "UPDATE users SET name = 'x';",
                "UPDATE users SET name = 'y';",
            ),
            "down.sql: the rows of the table users",
        ),
        (
            "Nothing.".to_owned(),
            "no code block called up.sql or down.sql",
        ),
        (
            "```sql up.sql\nSELECT 1;\n```".to_owned(),
            "no code block called down.sql",
        ),
        (
            "```sql up.sql\nSELECT 1;\n".to_owned(),
            "line 1: the code block does not end",
        ),
        (
            "```up.sql\n```\n```up.sql\n```".to_owned(),
            "line 3: there are two blocks",
        ),
        (both("SELECT '\0';", "SELECT 1;"), "there is a NUL"),
    ];
    for (response, why) in cases {
        let made = answer("read_code.py", &request(&project, &response)).unwrap();
        let said = made["error_message"].as_str().unwrap_or_default();
        assert!(
            made["status"] == "ERROR" && said.contains(why),
            "{response}: {made}"
        );
    }
    assert!(!outside.exists());
}

#[test]
fn rows_may_be_lost_where_that_was_said() {
    if !has_python() {
        return;
    }
    let project = project();
    let response = both(
        "UPDATE users SET name = 'x';",
        "UPDATE users SET name = 'y';",
    );
    let mut request = request(&project, &response);
    request["inputs"]["way_back"] = "may-lose-rows".into();
    assert_eq!(
        answer("read_code.py", &request).unwrap()["status"],
        "SUCCESS"
    );
}

#[test]
fn inputs_that_lead_elsewhere_are_refused() {
    if !has_python() {
        return;
    }
    let project = project();
    let response = both("CREATE TABLE t (a);", "DROP TABLE t;");
    for (name, value, ends) in [
        ("name", json!("../x"), false),
        ("name", json!("Add Email"), false),
        ("number", json!(0), false),
        ("schema", json!("../schema.sql"), true),
        ("schema", json!("/etc/passwd"), true),
        ("schema", json!("not-there.sql"), true),
    ] {
        let mut request = request(&project, &response);
        request["inputs"][name] = value.clone();
        let made = answer("read_code.py", &request);
        let right = match &made {
            None => ends,
            Some(made) => !ends && made["status"] == "ERROR",
        };
        assert!(right, "{name}={value}: {made:?}");
    }
}

#[test]
fn a_table_of_findings_is_a_verdict() {
    if !has_python() {
        return;
    }
    let project = project();
    let table = |rows: &str| format!("| Severity | Where | Finding |\n|:--|---|--:|\n{rows}\n");
    let cases = [
        ("No findings.".to_owned(), "SUCCESS", ""),
        ("All well.\n\n**No findings.**\n".to_owned(), "SUCCESS", ""),
        (table("| minor | a | b \\| c |"), "SUCCESS", ""),
        (
            table("| critical | a | b |\n| minor | a | c |"),
            "FAILED",
            "1 of 2 findings must be mended",
        ),
        (table("| **Major** | a | b |"), "FAILED", "1 of 1 findings"),
        (
            table("| bad | a | b |"),
            "ERROR",
            "line 3: 'bad' is no severity",
        ),
        (
            table("| minor | | b |"),
            "ERROR",
            "line 3: a finding has three cells",
        ),
        (
            table("| minor | a | b | c |"),
            "ERROR",
            "line 3: a finding has three cells",
        ),
        (table(""), "ERROR", "there is no finding"),
        (String::new(), "ERROR", "there is no finding"),
        (
            table("| minor | a | b |\n\nNo findings."),
            "ERROR",
            "take one away",
        ),
        (
            table("| minor | a | b |\n\n").repeat(2),
            "ERROR",
            "several tables",
        ),
    ];
    for (response, status, why) in cases {
        let made = answer("read_review.py", &request(&project, &response)).unwrap();
        let said = made["error_message"].as_str().unwrap_or_default();
        assert!(
            made["status"] == status && said.contains(why),
            "{response}: {made}"
        );
    }
}

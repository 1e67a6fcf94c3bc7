//! A session with the example, taken over as its page says.

use serde_json::{Value, json};

use super::{example, has_python};
use crate::program::environment::TestEnvironment;

const PLAN: &str = "## Forward\nA column email, and an index on it.\n\n## Back\nThe index goes, then the column.\n\n\
                    ## Rows\nThose that are there get NULL.\n";
const CODE: &str = "Here it is.\n\n```sql up.sql\nALTER TABLE users ADD COLUMN email TEXT;\n\
                    CREATE UNIQUE INDEX users_email ON users (email);\n```\n\n\
                    ```sql down.sql\nDROP INDEX users_email;\nALTER TABLE users DROP COLUMN email;\n```\n";
const REVIEW: &str = "| severity | where | finding |\n|---|---|---|\n\
                      | major | up.sql:2 | Two empty texts clash. |\n| minor | up.sql:1 | Say what NULL means. |\n";
const REVISION: &str = "```sql up.sql\nALTER TABLE users ADD COLUMN email TEXT; -- NULL: not known\n\
                        CREATE UNIQUE INDEX users_email ON users (email) WHERE email <> '';\n```\n";

#[test]
fn a_migration_is_written_reviewed_mended_and_handed_out() {
    if !has_python() {
        return;
    }
    let project = TestEnvironment::bare();
    let schema = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);\n\
                  INSERT INTO users (name) VALUES ('Ada'), ('Grace');\n";
    project.write("db/schema.sql", schema);
    let to = ".taskmaster/profiles/sqlite-migration";
    testkit::files::copy(&example(), &project.project().join(to));
    let init = "session init --profile sqlite-migration -i number=7 -i name=add-email -i change=Addresses -i attention=data,names";
    project.typed(init).text();
    let respond = |text: &str| {
        let respond = ["session", "respond", "-", "--run", "--json"];
        project.tm_with_input(&respond, text)
    };
    let asks = |told: &str| {
        let prompt = project.typed("session show prompt");
        assert!(prompt.text().contains(told), "{told}: {prompt:?}");
        prompt.out
    };
    project.typed_json("session run").json_with(7);
    asks("Migration 7, \"add-email\":");
    assert_eq!(respond(PLAN).json_with(7)["phase"], "GENERATING");

    // Code of others runs for nobody who has not looked at it.
    respond(CODE).fault(3, "untrusted");
    let [shown, _] = project.agreed("session trust sqlite-migration");
    assert!(shown.contains("read_code.py"), "{shown}");

    let step = project.typed_json("session step").ok();
    let ran = ["2 statements of up.sql ran", "2 statements of down.sql ran"];
    assert_eq!(step["messages"], json!(ran));
    let state = project.typed_json("session run").json_with(7);
    assert_eq!(state["phase"], "REVIEWING");
    assert!(!asks("- Names:").contains("- Speed:"));
    let state = respond(REVIEW).json_with(7);
    assert_eq!(state["phase"], "REVISING");
    asks("Two empty texts clash.");
    // A block that is left out stays as it was.
    assert_eq!(respond(REVISION).json_with(7)["phase"], "REVIEWING");
    let over = respond("No findings.\n").ok();
    assert_eq!(over["status"], "SUCCESS");

    project.typed("session export out").text();
    let read = |name: &str| project.read(&format!("out/migrations/0007-add-email/{name}"));
    assert!(read("up.sql").ends_with("WHERE email <> '';\n"));
    assert!(read("down.sql").starts_with("DROP INDEX users_email;\n"));
    assert!(read("schema.sql").contains("email TEXT"));
    let manifest: Value = serde_json::from_str(&read("migration.json")).unwrap();
    assert_eq!(manifest["adds"], json!(["index users_email"]));
    assert_eq!(manifest["changes"], json!(["table users"]));
}

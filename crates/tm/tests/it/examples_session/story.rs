//! A session with the example, taken over as its page says.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::{example, has_python};
use crate::program::environment::TestEnvironment;
use testkit::Person;

const PROFILE: &str = "sqlite-migration";
const PLAN: &str = "## Forward\nA column email, and an index on it.\n\n## Back\nThe index goes, then the column.\n\n\
                    ## Rows\nThose that are there get NULL.\n";
const CODE: &str = "Here it is.\n\n```sql up.sql\nALTER TABLE users ADD COLUMN email TEXT;\n\
                    CREATE UNIQUE INDEX users_email ON users (email);\n```\n\n\
                    ```sql down.sql\nDROP INDEX users_email;\nALTER TABLE users DROP COLUMN email;\n```\n";
const REVIEW: &str = "| severity | where | finding |\n|---|---|---|\n\
                      | major | up.sql:2 | Two empty texts clash. |\n| minor | up.sql:1 | Say what NULL means. |\n";
const REVISION: &str = "```sql up.sql\nALTER TABLE users ADD COLUMN email TEXT; -- NULL: not known\n\
                        CREATE UNIQUE INDEX users_email ON users (email) WHERE email <> '';\n```\n";

struct Story(TestEnvironment);

impl Story {
    /// A project with a database and the example, whose programs nobody trusts yet.
    fn begun() -> Self {
        let story = Self(TestEnvironment::bare());
        story.0.write(
            "db/schema.sql",
            "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);\n\
             INSERT INTO users (name) VALUES ('Ada'), ('Grace');\n",
        );
        let to = format!(".taskmaster/profiles/{PROFILE}");
        for entry in fs::read_dir(example()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let text = fs::read_to_string(&path).unwrap();
            story.0.write(&format!("{to}/{name}"), &text);
        }
        let id = story.0.tm(&[
            "session",
            "init",
            "--profile",
            PROFILE,
            "-i",
            "number=7",
            "-i",
            "name=add-email",
            "-i",
            "change=An address per user",
            "-i",
            "attention=data,names",
        ]);
        assert!(id.text().starts_with("review__sqlite-migration__"));
        story
    }

    fn trust(&self) {
        let (shown, status, _) =
            Person::at(self.0.program(&["session", "trust", PROFILE])).agrees();
        assert_eq!(status, 0, "{shown}");
        assert!(
            shown.contains("generation: python3 -IB read_code.py"),
            "{shown}"
        );
    }

    /// Steps until the session waits or is over.
    fn run(&self) -> Value {
        let ran = self.0.tm(&["session", "run", "--json"]);
        assert!(matches!(ran.status, 0 | 7 | 8), "{ran:?}");
        ran.json().clone()
    }

    /// Sends a response, and goes on.
    fn respond(&self, text: &str) -> Value {
        let sent = self.0.tm_with_input(&["session", "respond", "-"], text);
        assert_eq!(sent.status, 0, "{sent:?}");
        self.run()
    }

    fn prompt(&self) -> String {
        self.0.tm(&["session", "show", "prompt"]).text().to_owned()
    }

    fn project(&self) -> PathBuf {
        self.0.project()
    }
}

#[test]
fn a_migration_is_written_reviewed_mended_and_handed_out() {
    if !has_python() {
        return;
    }
    let story = Story::begun();
    assert_eq!(story.run()["phase"], "PLANNING");
    assert!(story.prompt().contains("Migration 7, \"add-email\":"));
    let state = story.respond(PLAN);
    assert_eq!(state["phase"], "GENERATING");

    // Code of others runs for nobody who has not looked at it.
    let sent = story.0.tm_with_input(&["session", "respond", "-"], CODE);
    assert_eq!(sent.status, 0, "{sent:?}");
    let refused = story.0.tm(&["session", "step", "--json"]).json_with(3);
    assert_eq!(refused["error"]["code"], "profile_untrusted");
    story.trust();

    let step = story.0.tm(&["session", "step", "--json"]).json_with(0);
    assert_eq!(
        step["messages"],
        serde_json::json!(["2 statements of up.sql ran", "2 statements of down.sql ran"])
    );
    let state = story.run();
    assert_eq!(state["phase"], "REVIEWING");
    let prompt = story.prompt();
    assert!(prompt.contains("- Names:") && !prompt.contains("- Speed:"));

    let state = story.respond(REVIEW);
    assert_eq!(
        (&state["phase"], &state["current_iteration"]),
        (&"REVISING".into(), &2.into())
    );
    assert!(story.prompt().contains("Two empty texts clash."));

    // A block that is left out stays as it was.
    let state = story.respond(REVISION);
    assert_eq!(state["phase"], "REVIEWING");
    let state = story.respond("No findings.\n");
    assert_eq!(
        (&state["phase"], &state["status"]),
        (&"COMPLETE".into(), &"SUCCESS".into())
    );

    let out = story.project().join("out");
    assert_eq!(story.0.tm(&["session", "export", "out"]).status, 0);
    let read =
        |name: &str| fs::read_to_string(out.join("migrations/0007-add-email").join(name)).unwrap();
    assert!(read("up.sql").ends_with("WHERE email <> '';\n"));
    assert!(read("down.sql").starts_with("DROP INDEX users_email;\n"));
    assert!(read("schema.sql").contains("email TEXT"));
    let manifest: Value = serde_json::from_str(&read("migration.json")).unwrap();
    assert_eq!(manifest["adds"], serde_json::json!(["index users_email"]));
    assert_eq!(manifest["changes"], serde_json::json!(["table users"]));
}

#[test]
fn a_way_back_that_leads_elsewhere_stops_the_session_and_a_person_takes_it_up_again() {
    if !has_python() {
        return;
    }
    let story = Story::begun();
    story.trust();
    story.run();
    story.respond(PLAN);
    let state = story.respond(&CODE.replace("ALTER TABLE users DROP COLUMN email;\n", ""));
    assert_eq!(state["phase"], "ERROR");
    let why = state["last_error"].as_str().unwrap();
    assert!(
        why.starts_with("down.sql: table users is not what it was"),
        "{why}"
    );
    let folder = PathBuf::from(state["folder"].as_str().unwrap());
    assert!(!folder.join("iteration-1/code").exists());

    let (shown, status, _) = Person::at(story.0.program(&["session", "reopen"])).agrees();
    assert_eq!(status, 0, "{shown}");
    assert_eq!(story.respond(CODE)["phase"], "REVIEWING");
}

#[test]
fn what_is_wrong_around_a_response_leaves_the_session_where_it_is() {
    if !has_python() {
        return;
    }
    let story = Story::begun();
    story.trust();
    story.run();
    story.respond(PLAN);
    let schema = story.project().join("db/schema.sql");
    let text = fs::read_to_string(&schema).unwrap();
    fs::remove_file(&schema).unwrap();
    story.0.tm_with_input(&["session", "respond", "-"], CODE);
    let died = story.0.tm(&["session", "step", "--json"]).json_with(6);
    assert_eq!(died["error"]["code"], "processor_died");
    let message = died["error"]["message"].as_str().unwrap();
    assert!(message.contains("the schema cannot be read"), "{message}");
    fs::write(schema, text).unwrap();
    assert_eq!(story.run()["phase"], "REVIEWING");
}

#[test]
fn a_change_of_a_program_asks_again() {
    if !has_python() {
        return;
    }
    let story = Story::begun();
    story.trust();
    story.run();
    story.respond(PLAN);
    let place = format!(".taskmaster/profiles/{PROFILE}/read_code.py");
    let text = fs::read_to_string(story.project().join(&place)).unwrap();
    story.0.write(&place, format!("{text}\n"));
    story.0.tm_with_input(&["session", "respond", "-"], CODE);
    let refused = story.0.tm(&["session", "step", "--json"]).json_with(3);
    assert_eq!(refused["error"]["code"], "profile_untrusted");
    story.0.write(&place, &text);
    assert_eq!(story.run()["phase"], "REVIEWING");
}

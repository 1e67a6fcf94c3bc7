//! Whole sessions with everything that can happen to them, act by act; each act can be killed, and done again.

use std::process::ExitStatus;

use testkit::Outcome;
use testkit::kill::{Death, dies_at};

use super::stage::{Stage, begun};
use crate::matrix;

/// One thing that somebody does.
#[derive(Debug, Clone, Copy)]
pub enum Act {
    /// Completes a skill.
    Skill(&'static str),
    /// The same of a unit that is named.
    Unit(&'static str, &'static str),
    /// Sets fields of the session.
    Update(&'static [&'static str]),
    /// Says what tasks came to.
    Task(&'static [&'static str]),
    /// Takes work up again, or gives it up.
    Turn(&'static [&'static str]),
    /// Hands a task graph over as text; of the item named, if there is a name.
    Sync(&'static str, &'static str),
    /// The same as a file of the project, which is written before.
    SyncFile(&'static str, &'static str, &'static str),
    /// Writes a document by hand.
    Write(&'static str, &'static str),
}

const CLEAR: Act = Act::Skill("collab-clear");

const DESIGN: &str = "# Words

### Item 1: Count by spaces
**Type:** bug

### Item 2a: The lexer
**Type:** feature

### Item 3: Ask what a word is
**Type:** spike
**Depends on:** 1

### Item 4: It counts one too many
**Type:** bug
**Status:** open
";

const LEXER: &str = "# Tasks\n\n```yaml\ntasks:\n  - id: types\n    files: [src/types.rs]\n```\n";
const BETTER_LEXER: &str = "# Tasks

```yaml
tasks:
  - id: types
    files: [src/types.rs]
  - id: lexer
    files: [src/lexer.rs]
    depends-on: [types]
```
";
const SPACES: &str =
    "tasks:\n  - id: types\n    files: [src/count.rs]\n  - id: count\n    files: [src/count.rs]\n";
const SPACES_TOO: &str = "tasks:
  - id: types
    files: [src/count.rs]
  - id: count
    files: [src/count.rs]
    depends-on: [types]
";
const WORD: &str = "tasks:\n  - id: ask\n  - id: write\n    depends-on: [ask]\n";

const BRAINSTORMING: [&str; 4] = [
    "brainstorming-exploring",
    "brainstorming-clarifying",
    "brainstorming-designing",
    "brainstorming-validating",
];
const DRAFTING: [&str; 3] = [
    "rough-draft-interface",
    "rough-draft-pseudocode",
    "rough-draft-skeleton",
];

/// Skills, each behind a clear.
fn cleared(skills: &[&'static str]) -> Vec<Act> {
    let each = skills.iter().flat_map(|skill| [CLEAR, Act::Skill(skill)]);
    each.collect()
}

/// Four items out of a design document, the second one first; their graphs as text, as a file and by hand.
pub fn by_document() -> Vec<Act> {
    let drafted = [&BRAINSTORMING[..], &DRAFTING].concat();
    [
        vec![
            Act::Skill("collab-start"),
            Act::Write("design.md", DESIGN),
            Act::Update(&["--current-item", "2a"]),
            Act::Skill("gather-session-goals"),
        ],
        // The lexer.
        cleared(&drafted),
        vec![
            CLEAR,
            Act::Write("task-graph.md", LEXER),
            Act::Skill("build-task-graph"),
            Act::Write("task-graph.md", BETTER_LEXER),
            CLEAR,
            Act::Update(&["--has-snapshot", "true"]),
            Act::Skill("rough-draft-handoff"),
            // Spaces.
            CLEAR,
            Act::Sync(SPACES, ""),
            Act::Sync(SPACES_TOO, ""),
            Act::Skill("systematic-debugging"),
        ],
        // What a word is.
        cleared(&BRAINSTORMING),
        vec![
            Act::SyncFile("docs/word.yaml", WORD, ""),
            Act::Skill("task-planning"),
        ],
        // One too many.
        cleared(&["systematic-debugging", "ready-to-implement"]),
        vec![
            CLEAR,
            Act::Task(&[
                "item-1/types=completed",
                "item-2a/types=completed",
                "item-4=completed",
            ]),
            Act::Skill("executing-plans"),
            CLEAR,
            Act::Task(&["count=completed", "lexer=completed"]),
            Act::Skill("executing-plans"),
            CLEAR,
            Act::Task(&["ask", "completed"]),
            Act::Skill("executing-plans"),
            CLEAR,
            Act::Task(&["write", "completed"]),
            Act::Skill("executing-plans"),
        ],
        cleared(&["finishing-a-development-branch"]),
        vec![Act::Skill("collab-cleanup")],
    ]
    .concat()
}

const BUGS: &str = r#"[{"number": 1, "title": "One", "type": "bugfix"}]"#;
const MORE_BUGS: &str = r#"[{"number": 1, "title": "One", "type": "bugfix"}, {"number": 2, "title": "Two", "type": "bugfix", "dependsOn": []}]"#;

const MEND: &str = "tasks:
  - id: find
    files: [src/a.rs]
  - id: mend
    files: [src/a.rs]
    depends-on: [find]
  - id: tell
    depends-on: [mend]
";
const MEND_MORE: &str = "tasks:
  - id: find
    files: [src/a.rs]
  - id: mend
    files: [src/a.rs, src/b.rs]
    depends-on: [find]
  - id: try
    files: [src/c.rs]
    depends-on: [find]
  - id: tell
    depends-on: [mend]
";
const OTHER: &str = "tasks:\n  - id: look\n  - id: leap\n    depends-on: [look]\n";
const OTHER_TOO: &str = "tasks:\n  - id: look\n  - id: leap\n    depends-on: [look]\n  - id: land\n    depends-on: [leap]\n";

/// Two items that are set by a call; tasks that fail, are tried again and skipped; graphs that change while they are executed.
pub const BY_CALL: &[Act] = &[
    Act::Update(&["--work-items", BUGS]),
    Act::Update(&["--work-items", MORE_BUGS, "--current-item", "2"]),
    Act::Skill("collab-start"),
    Act::Skill("gather-session-goals"),
    CLEAR,
    Act::Sync(OTHER, ""),
    Act::Turn(&["add", "Three", "--type", "bugfix", "--depends-on", "2"]),
    Act::Turn(&["skip", "--item", "3", "--reason", "not now"]),
    Act::Turn(&["reopen", "--item", "3", "--reason", "now"]),
    Act::Turn(&["skip", "--item", "3", "--reason", "or never"]),
    Act::Skill("systematic-debugging"),
    CLEAR,
    Act::Unit("systematic-debugging", "systematic-debugging-2"),
    CLEAR,
    Act::SyncFile("docs/mend.yaml", MEND, "1"),
    Act::Skill("ready-to-implement"),
    CLEAR,
    Act::Task(&["find", "failed"]),
    Act::Sync(MEND_MORE, "1"),
    Act::Task(&["find", "in_progress"]),
    Act::Task(&["find=completed", "look=completed"]),
    Act::SyncFile("docs/other.yaml", OTHER_TOO, "2"),
    Act::Skill("executing-plans"),
    CLEAR,
    Act::Task(&["mend", "failed"]),
    Act::Turn(&["reopen", "--task", "look", "--reason", "look again"]),
    Act::Task(&["look", "completed"]),
    Act::Task(&["mend", "skipped"]),
    Act::Turn(&["skip", "--task", "land", "--reason", "no land"]),
    Act::Turn(&["reopen", "--task", "land", "--reason", "land"]),
    Act::Task(&["leap=completed", "try=completed"]),
    Act::Skill("executing-plans"),
    CLEAR,
    Act::Sync(OTHER_TOO, "2"),
    Act::Task(&["land", "completed"]),
    Act::Skill("executing-plans"),
    CLEAR,
    Act::Skill("finishing-a-development-branch"),
    Act::Skill("collab-cleanup"),
];

impl matrix::Act for Act {
    fn can_die(self) -> bool {
        !matches!(self, Self::Write(..))
    }
}

impl Act {
    /// Does it.
    pub fn on(self, stage: &Stage, death: Option<Death>) -> Outcome {
        let mut input = "";
        let mut words = match self {
            Self::Skill(skill) => vec!["complete-skill", skill],
            Self::Unit(skill, unit) => vec!["complete-skill", skill, "--unit-id", unit],
            Self::Update(words) => [&["update"], words].concat(),
            Self::Task(words) => [&["task"], words].concat(),
            Self::Turn(words) => words.to_vec(),
            Self::Sync(text, _) => {
                input = text;
                vec!["sync", "-"]
            }
            Self::SyncFile(path, text, _) => {
                stage.write(path, text);
                vec!["sync", path]
            }
            Self::Write(name, text) => {
                stage.document(name, text);
                return Outcome::shown(ExitStatus::default(), "null\n".to_owned());
            }
        };
        if let Self::Sync(_, item) | Self::SyncFile(_, _, item) = self
            && !item.is_empty()
        {
            words.extend(["--item", item]);
        }
        let mut command = stage.collab(&words);
        if let Some(death) = death {
            dies_at(&mut command, death);
        }
        Outcome::waited(begun(&mut command, input))
    }
}

//! The workflows that come with Tramline: a definition and the templates of its instructions
//! each, embedded as text. Reading and checking them is the business of others.
//!
//! Templates are Jinja, rendered with undefined names as errors. What they may use:
//!
//! | name | what it is |
//! |---|---|
//! | `rules` | list of `{path, text}`: the project's rules files, in order |
//! | `task` | `{id, title}` |
//! | `subtask` | `{id, title, kind, description, details, testStrategy, dependencies}`; texts may be empty. Absent where a state has no item (`finalize.md`) |
//! | `context` | what `next --json` gives as `context`: `projectRoot` and `testCommand` always, the others where they belong to the phase |
//! | `unit` | `{id, attempt, maxAttempts, repair, brief}`; `brief` asks for what is new alone, for whoever had one of this phase before |
//! | `reason` | why the phase was reopened; empty if it was not |
//! | `last` | `{code, message, failing}` of the last report that was not accepted: texts empty and the list empty if there is none |
//! | `quoted` | a filter: text of others in a fence that it cannot close |
//! | `inline` | a filter: text of others as code in a line, likewise |
//!
//! Ids stand in commands as they are, so they must be plain words.

/// A workflow that comes with Tramline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// Its id, as in the definition.
    pub id: &'static str,
    /// The definition, in YAML.
    pub workflow: &'static str,
    /// The templates that the definition names: file name and text.
    pub templates: &'static [(&'static str, &'static str)],
}

impl Builtin {
    /// The text of the template with this file name.
    pub fn template(&self, name: &str) -> Option<&'static str> {
        self.templates
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, text)| *text)
    }
}

const ALL: &[Builtin] = &[
    Builtin {
        id: "tdd",
        workflow: include_str!("../tdd/workflow.yaml"),
        templates: &[
            ("red.md", include_str!("../tdd/red.md")),
            ("green.md", include_str!("../tdd/green.md")),
            ("refactor.md", include_str!("../tdd/refactor.md")),
            ("work.md", include_str!("../tdd/work.md")),
            ("commit.md", include_str!("../tdd/commit.md")),
            ("finalize.md", include_str!("../tdd/finalize.md")),
        ],
    },
    Builtin {
        id: "review",
        workflow: include_str!("../review/workflow.yaml"),
        // Its prompts are those of the session's profile.
        templates: &[],
    },
    Builtin {
        id: "collab",
        workflow: include_str!("../collab/workflow.yaml"),
        templates: &[
            (
                "brainstorming-clarifying.md",
                include_str!("../collab/brainstorming-clarifying.md"),
            ),
            (
                "brainstorming-designing.md",
                include_str!("../collab/brainstorming-designing.md"),
            ),
            (
                "brainstorming-exploring.md",
                include_str!("../collab/brainstorming-exploring.md"),
            ),
            (
                "brainstorming-validating.md",
                include_str!("../collab/brainstorming-validating.md"),
            ),
            (
                "build-task-graph.md",
                include_str!("../collab/build-task-graph.md"),
            ),
            (
                "collab-cleanup.md",
                include_str!("../collab/collab-cleanup.md"),
            ),
            ("collab-clear.md", include_str!("../collab/collab-clear.md")),
            ("collab-start.md", include_str!("../collab/collab-start.md")),
            (
                "executing-plans.md",
                include_str!("../collab/executing-plans.md"),
            ),
            (
                "finishing-a-development-branch.md",
                include_str!("../collab/finishing-a-development-branch.md"),
            ),
            (
                "gather-session-goals.md",
                include_str!("../collab/gather-session-goals.md"),
            ),
            (
                "ready-to-implement.md",
                include_str!("../collab/ready-to-implement.md"),
            ),
            (
                "rough-draft-handoff.md",
                include_str!("../collab/rough-draft-handoff.md"),
            ),
            (
                "rough-draft-interface.md",
                include_str!("../collab/rough-draft-interface.md"),
            ),
            (
                "rough-draft-pseudocode.md",
                include_str!("../collab/rough-draft-pseudocode.md"),
            ),
            (
                "rough-draft-skeleton.md",
                include_str!("../collab/rough-draft-skeleton.md"),
            ),
            (
                "systematic-debugging.md",
                include_str!("../collab/systematic-debugging.md"),
            ),
            (
                "task-planning.md",
                include_str!("../collab/task-planning.md"),
            ),
        ],
    },
];

/// All workflows that come with Tramline.
pub fn all() -> &'static [Builtin] {
    ALL
}

/// The workflow with this id.
pub fn builtin(id: &str) -> Option<&'static Builtin> {
    ALL.iter().find(|builtin| builtin.id == id)
}

/// A profile of sessions that comes with Tramline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltinProfile {
    /// Its name.
    pub name: &'static str,
    /// Its files: path below its folder, and text.
    pub files: &'static [(&'static str, &'static str)],
}

const PROFILES: &[BuiltinProfile] = &[BuiltinProfile {
    name: "generic",
    files: &[
        (
            "profile.yaml",
            include_str!("../review/generic/profile.yaml"),
        ),
        ("planning.md", include_str!("../review/generic/planning.md")),
        (
            "generation.md",
            include_str!("../review/generic/generation.md"),
        ),
        ("review.md", include_str!("../review/generic/review.md")),
        ("revision.md", include_str!("../review/generic/revision.md")),
        ("request.md", include_str!("../review/generic/request.md")),
        ("feedback.md", include_str!("../review/generic/feedback.md")),
        ("code.md", include_str!("../review/generic/code.md")),
        ("answer.md", include_str!("../review/generic/answer.md")),
    ],
}];

/// All profiles of sessions that come with Tramline.
pub fn builtin_profiles() -> &'static [BuiltinProfile] {
    PROFILES
}

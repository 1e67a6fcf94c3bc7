//! The message of a commit: the template of the settings, filled with what the commit is about.

use machine::RunState;
use workspace::convention::message::{self, Kind, MessageInput};
use workspace::convention::paths::PathClasses;
use workspace::convention::scope::Scopes;
use workspace::git::RepoPath;

use crate::call::Call;
use crate::capability::memory::{self, Memory, TESTED};
use crate::fault::{Fault, Kind as FaultKind, chain};
use crate::next_step::on_a_page;

/// The message that a subtask's commit gets: what is `said`, where that is more than a line; else by the template, with that
/// line as its subject.
pub fn message_of_subtask(
    call: &Call<'_>,
    run: &RunState,
    (token, of): (u32, Option<&String>),
    paths: &[RepoPath],
    said: Option<&str>,
) -> Result<String, Fault> {
    let said = said.map(str::trim).filter(|said| !said.is_empty());
    if let Some(whole) = said.filter(|said| said.contains('\n')) {
        return Ok(whole.to_owned());
    }
    let memory = Memory::of(run)?;
    let present = run
        .token(token)
        .ok_or_else(|| Fault::bug("a message for no token"))?;
    let item = run
        .item(present)
        .ok_or_else(|| Fault::bug("a message for no subtask"))?;
    let green = TESTED.read(&present.kept, of)?;
    let files: Vec<String> = in_project(&memory, paths);
    let scope = scopes(call)?.of(&files, call.root);
    compose(
        call,
        &memory,
        &MessageFields {
            subject: said,
            id: item.text("id"),
            title: item.text("title"),
            description: item.text("description"),
            tests: green.as_ref().map(|green| green.passed),
            lines: green.and_then(|green| green.lines),
            kind: if memory::is_repair(run, present) {
                Kind::Fix
            } else {
                Kind::Subtask {
                    work: item.text("kind"),
                }
            },
            files: &files,
            scope: scope.as_deref(),
        },
    )
}

/// The scope that a commit of the run will have, where all of the project's files have that one.
pub(crate) fn only_scope(call: &Call<'_>, memory: &Memory) -> Result<Option<String>, Fault> {
    let files = memory.repository().known_files()?;
    Ok(scopes(call)?.of(&in_project(memory, &files), call.root))
}

fn scopes(call: &Call<'_>) -> Result<Scopes, Fault> {
    let scopes = call.pinned.git.scopes.iter();
    Scopes::new(scopes.map(|(glob, name)| (glob.as_str(), name.as_str()))).map_err(|e| bad(&e))
}

fn bad(error: &dyn std::error::Error) -> Fault {
    Fault::new(FaultKind::Environment, "config_invalid", chain(error))
        .suggest("repair the setting in .taskmaster/config.json")
}

/// What a message says of its commit.
pub(crate) struct MessageFields<'a> {
    pub(crate) subject: Option<&'a str>,
    pub(crate) id: &'a str,
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    pub(crate) tests: Option<u64>,
    pub(crate) lines: Option<f64>,
    pub(crate) kind: Kind<'a>,
    pub(crate) files: &'a [String],
    pub(crate) scope: Option<&'a str>,
}

/// Fills the template.
pub(crate) fn compose(
    call: &Call<'_>,
    memory: &Memory,
    words: &MessageFields<'_>,
) -> Result<String, Fault> {
    let config = &call.pinned;
    let classes = PathClasses::new(&config.test.patterns).map_err(|e| bad(&e))?;
    message::compose(&MessageInput {
        template: &config.autopilot.commit_template,
        default_type: &config.autopilot.default_commit_type,
        subject: words.subject,
        subtask_id: words.id,
        subtask_title: words.title,
        description: words.description,
        task_title: &memory.start.task_title,
        tag: &memory.start.tag,
        tests_passing: words.tests,
        coverage_lines: words.lines,
        files: words.files,
        classes: &classes,
        scope: words.scope,
        kind: words.kind,
    })
    .map(|message| on_a_page(&message).into_owned())
    .map_err(|e| bad(&e))
}

/// Paths relative to the project root.
fn in_project(memory: &Memory, paths: &[RepoPath]) -> Vec<String> {
    let repository = memory.repository();
    let scope = repository.scope().into_owned();
    paths
        .iter()
        .filter(|path| Some(*path) != memory.start.tasks_path.as_ref())
        .map(|path| {
            let path = path.to_string();
            path.strip_prefix(&scope).map(str::to_owned).unwrap_or(path)
        })
        .collect()
}

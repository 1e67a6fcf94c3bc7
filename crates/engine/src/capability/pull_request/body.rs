//! What a pull request says: the project's own template, and what the run did. What people write around the part of the run
//! stays when that is brought up to date.

use machine::RunState;
use workspace::convention::message::Kind;
use workspace::forge::{ForgeKind, LONGEST_BODY, pull_request_template};
use workspace::git::{Oid, Repository};

use crate::call::Call;
use crate::capability::git::effects::message::{MessageFields, compose};
use crate::capability::memory::{self, Memory};
use crate::capability::pull_request::target::mark;
use crate::fault::Fault;
use crate::summary;

/// What stands behind the part of the run.
const END: &str = "<!-- tramline end -->";
/// Room for the marks and what stands between the parts, in bytes.
const BETWEEN: usize = 512;

/// The title: as the project writes the subjects of commits, since it is that of a squashed one.
pub(super) fn title(call: &Call<'_>, run: &RunState, memory: &Memory) -> Result<String, Fault> {
    let kinds: Vec<&str> = memory::subtasks(run)
        .map(|(_, item)| item.text("kind"))
        .collect();
    let work = match kinds.split_first() {
        Some((first, rest)) if rest.iter().all(|kind| kind == first) => first,
        _ => "",
    };
    let message = compose(
        call,
        memory,
        &MessageFields {
            subject: None,
            id: &memory.start.task_id,
            title: &memory.start.task_title,
            description: "",
            tests: None,
            lines: None,
            kind: Kind::Subtask { work },
            files: &[],
            scope: None,
        },
    )?;
    Ok(message.lines().next().unwrap_or_default().to_owned())
}

/// The whole body of a pull request that is new.
pub(super) fn whole(
    call: &Call<'_>,
    run: &RunState,
    repository: &Repository,
    commit: &Oid,
    kind: ForgeKind,
    issue: Option<&str>,
) -> Result<String, Fault> {
    let named = call.pinned.submit.template.as_deref();
    let template = pull_request_template(repository, commit, Some(kind), named)?;
    let template = template.map(|(_, text)| text.trim_end().to_owned());
    let room = LONGEST_BODY.saturating_sub(template.as_ref().map_or(0, String::len) + BETWEEN);
    let own = of_run(call, run, issue, room)?;
    Ok(match template {
        Some(template) => format!("{template}\n\n{own}"),
        None => own,
    })
}

/// The part of the run.
pub(super) fn of_run(
    call: &Call<'_>,
    run: &RunState,
    issue: Option<&str>,
    room: usize,
) -> Result<String, Fault> {
    let page = summary::page_within(&call.dir, room.saturating_sub(BETWEEN))?;
    // The pull request has a title of its own.
    let page = match page.split_once('\n') {
        Some((title, rest)) if title.starts_with("# ") => rest.trim_start(),
        _ => &page,
    };
    let closes = issue.map_or_else(String::new, |issue| format!("Closes {issue}\n\n"));
    Ok(format!(
        "{}\n{closes}{}\n{END}\n",
        mark(&run.run),
        page.trim_end()
    ))
}

/// The body that is there with the part of the run as it is now. Where people took that out, it is put behind what they wrote.
pub(super) fn renewed(there: &str, run: &RunState, own: &str) -> String {
    let mark = mark(&run.run);
    let Some(begin) = there.find(&mark) else {
        return match there.trim_end() {
            "" => own.to_owned(),
            before => format!("{before}\n\n{own}"),
        };
    };
    let behind = there[begin..]
        .find(END)
        .map_or("", |end| &there[begin + end + END.len()..]);
    let behind = behind.trim_start_matches('\n');
    let before = &there[..begin];
    if behind.is_empty() {
        format!("{before}{own}")
    } else {
        format!("{before}{own}\n{behind}")
    }
}

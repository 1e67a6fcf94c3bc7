//! What a git note says of a commit: lines of text that people can read, and that are read back.

use workspace::git::RepoPath;

use crate::proof::check::problem;
use crate::proof::replay::ReplayedCommit;
use crate::proof::source::Library;
use crate::proof::story::{Allowed, OtherFiles, Phase, Purpose, RunCommit};
use crate::proof::{CommitStanding, Verdict};
use machine::role::FileClass;

/// The reference that the notes are in.
pub const REFERENCE: &str = "refs/notes/tramline";

/// What the first line says. Another number would be another form.
const FIRST: &str = "tramline: 1";

/// The note of a commit. `left_out` are those of its files that GREEN's tree has as they were before.
///
/// The same commit always gets the same note, so that it does no harm to write it again.
pub fn text(made: &RunCommit, left_out: &[RepoPath]) -> String {
    let mut lines = vec![
        FIRST.to_owned(),
        format!("commit: {}", made.sha),
        format!("run: {}", made.run),
        format!("workflow: {}", made.workflow),
        format!("unit: {}", made.unit),
        format!("for: {}", purpose_name(made.purpose)),
    ];
    if !made.subtask.is_empty() {
        lines.push(format!("subtask: {}", made.subtask));
    }
    let phases = named(made);
    let each = |say: &dyn Fn(&Phase) -> String| -> String {
        let parts: Vec<String> = phases
            .iter()
            .map(|(name, phase)| format!("{name}={}", say(phase)))
            .collect();
        parts.join(", ")
    };
    if !phases.is_empty() {
        lines.push(format!("level: {}", each(&|phase| phase.level.clone())));
        lines.push(format!(
            "tests: {}",
            each(&|phase| format!(
                "{} passed {} failed {} errors",
                phase.passed, phase.failed, phase.errors
            ))
        ));
    }
    for (name, phase) in &phases {
        for hash in &phase.evidence {
            lines.push(format!("evidence: {name} sha256 {hash}"));
        }
    }
    if made.rule.is_own() {
        let only: Vec<&str> = made.rule.only.iter().map(|class| class.name()).collect();
        lines.push(format!(
            "kind: {}",
            made.rule.kind.replace(char::is_whitespace, "_")
        ));
        lines.push(format!("only: {}", only.join(", ")));
    }
    if !made.tree.is_empty() {
        lines.push(format!("tree: {}", made.tree));
    }
    for path in left_out {
        lines.push(format!("without: {}", on_one_line(path)));
    }
    lines.push(format!("base: {}", made.base));
    for (name, change) in [("change", &made.change), ("whole", &made.whole)] {
        if !change.is_empty() {
            lines.push(format!("{name}: {change}"));
        }
    }
    if made.handed_in {
        lines.push("handed-in: yes".to_owned());
    }
    if made.other == Some(OtherFiles::ByHooks) {
        lines.push("hooks: changed what the commit holds".to_owned());
    }
    for allowed in &made.allowed {
        lines.push(format!(
            "allowed: {} for {}",
            allowed.code,
            allowed.unit.replace(char::is_whitespace, "_")
        ));
    }
    lines.push(format!("journal: {}", made.journal));
    for line in &mut lines {
        line.retain(|character| !character.is_control());
    }
    lines.join("\n") + "\n"
}

/// A path that a line can end with: git takes blanks off there.
fn on_one_line(path: &RepoPath) -> String {
    let text = path.to_string();
    let end = text.trim_end().len();
    let mut line = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        if !character.is_control() && (at < end || !character.is_whitespace()) {
            line.push(character);
            continue;
        }
        let mut bytes = [0; 4];
        for byte in character.encode_utf8(&mut bytes).bytes() {
            line = format!("{line}\\x{byte:02x}");
        }
    }
    line
}

fn named(made: &RunCommit) -> Vec<(&'static str, &Phase)> {
    [
        ("red", &made.red),
        ("green", &made.green),
        ("suite", &made.suite),
    ]
    .into_iter()
    .filter_map(|(name, phase)| phase.as_ref().map(|phase| (name, phase)))
    .collect()
}

fn purpose_name(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Subtask => "subtask",
        Purpose::Repair => "repair",
        Purpose::Status => "status",
    }
}

/// Reads a note back. The error says what is wrong with it.
pub fn read(text: &str) -> Result<RunCommit, String> {
    let mut lines = text.lines();
    if lines.next() != Some(FIRST) {
        return Err(format!("it does not begin with `{FIRST}`"));
    }
    let mut made = RunCommit::default();
    for line in lines {
        let Some((key, value)) = line.split_once(": ") else {
            return Err(format!("`{}` is no line of a note", short(line)));
        };
        let value = value.trim_end();
        let wrong = || format!("`{key}` says `{}`", short(value));
        match key {
            "commit" => value.clone_into(&mut made.sha),
            "run" => value.clone_into(&mut made.run),
            "workflow" => value.clone_into(&mut made.workflow),
            "unit" => value.clone_into(&mut made.unit),
            "subtask" => value.clone_into(&mut made.subtask),
            "tree" => value.clone_into(&mut made.tree),
            "base" => value.clone_into(&mut made.base),
            "change" => value.clone_into(&mut made.change),
            "whole" => value.clone_into(&mut made.whole),
            "journal" => value.clone_into(&mut made.journal),
            "kind" => value.clone_into(&mut made.rule.kind),
            "only" => {
                for word in value.split(", ") {
                    made.rule
                        .only
                        .push(FileClass::of_name(word).ok_or_else(wrong)?);
                }
            }
            "hooks" => made.other = Some(OtherFiles::ByHooks),
            "handed-in" => made.handed_in = value == "yes",
            "for" => {
                made.purpose = [Purpose::Subtask, Purpose::Repair, Purpose::Status]
                    .into_iter()
                    .find(|purpose| purpose_name(*purpose) == value)
                    .ok_or_else(wrong)?;
            }
            "without" => made.exclude.push(value.parse().map_err(|_| wrong())?),
            "level" => {
                for part in value.split(", ") {
                    let (name, level) = part.split_once('=').ok_or_else(wrong)?;
                    level.clone_into(&mut phase(&mut made, name).ok_or_else(wrong)?.level);
                }
            }
            "tests" => {
                for part in value.split(", ") {
                    let (name, counts) = part.split_once('=').ok_or_else(wrong)?;
                    let words: Vec<&str> = counts.split(' ').collect();
                    let [passed, "passed", failed, "failed", errors, "errors"] = words[..] else {
                        return Err(wrong());
                    };
                    let number = |word: &str| word.parse::<u64>().map_err(|_| wrong());
                    let (passed, failed, errors) =
                        (number(passed)?, number(failed)?, number(errors)?);
                    let phase = phase(&mut made, name).ok_or_else(wrong)?;
                    (phase.passed, phase.failed, phase.errors) = (passed, failed, errors);
                }
            }
            "evidence" => {
                let words: Vec<&str> = value.split(' ').collect();
                let [name, "sha256", hash] = words[..] else {
                    return Err(wrong());
                };
                let hash = hash.to_owned();
                phase(&mut made, name)
                    .ok_or_else(wrong)?
                    .evidence
                    .push(hash);
            }
            "allowed" => {
                let (code, unit) = value.split_once(" for ").ok_or_else(wrong)?;
                made.allowed.push(Allowed {
                    unit: unit.to_owned(),
                    code: code.to_owned(),
                    ..Allowed::default()
                });
            }
            // A later version may say more.
            _ => {}
        }
    }
    for (what, value) in [
        ("commit", &made.sha),
        ("run", &made.run),
        ("unit", &made.unit),
        ("base", &made.base),
        ("journal", &made.journal),
    ] {
        if value.is_empty() {
            return Err(format!("it names no {what}"));
        }
    }
    Ok(made)
}

fn phase<'m>(made: &'m mut RunCommit, name: &str) -> Option<&'m mut Phase> {
    let slot = match name {
        "red" => &mut made.red,
        "green" => &mut made.green,
        "suite" => &mut made.suite,
        _ => return None,
    };
    Some(slot.get_or_insert_default())
}

fn short(text: &str) -> String {
    text.chars()
        .filter(|character| !character.is_control())
        .take(60)
        .collect()
}

impl Verdict {
    /// Refuses a commit whose only record is a note, unless its tests were run again and show what the note says.
    pub(super) fn on_notes_alone(&mut self, library: &Library, is_replayed: bool) {
        let counts = matches!(
            self.standing,
            CommitStanding::Earned | CommitStanding::WithoutTests
        );
        if self.source != Some("note") || !counts {
            return;
        }
        let is_in_journal = |sha: &String| {
            let found = library.of(sha);
            found.is_some_and(|(known, _)| known.source.kind != "note")
        };
        if self.held().iter().all(is_in_journal) {
            return;
        }
        let is_open = |replay: &ReplayedCommit| replay.undecided.is_some();
        let is_of_status = |sha: &String| {
            let found = library.of(sha);
            found.is_some_and(|(_, made)| made.purpose == Purpose::Status)
        };
        let has_tests = !self.held().iter().all(is_of_status);
        let run = self.run.clone().unwrap_or_default();
        if library.has_journal_of(&run) {
            self.standing = CommitStanding::Faulty;
            self.problems.push(problem(
                "unearned",
                format!("its note names {run}, and the journal of that run does not have it"),
            ));
        } else if !is_replayed
            || has_tests && self.part_of.is_none() && self.replay.as_ref().is_none_or(is_open)
        {
            self.standing = CommitStanding::NotProvable;
            self.problems.push(problem(
                "not_provable",
                "its only record is a note, which is no proof",
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made() -> RunCommit {
        let phase = |level: &str, passed, failed| Phase {
            checked: Vec::new(),
            level: level.to_owned(),
            passed,
            failed,
            evidence: vec!["e".repeat(64)],
            ..Phase::default()
        };
        RunCommit {
            run: "master__task-1__2026-01-01T00-00-00-000Z".to_owned(),
            workflow: "tdd".to_owned(),
            unit: "workUnit-1.1-COMMIT".to_owned(),
            subtask: "1.1".to_owned(),
            sha: "a".repeat(40),
            base: "b".repeat(40),
            change: "f".repeat(64),
            whole: "1".repeat(64),
            red: Some(phase("claimed", 2, 1)),
            green: Some(phase("verified", 3, 0)),
            tree: "c".repeat(40),
            exclude: ["with space/tasks.json", "two\nlines ", "blank "]
                .map(|path| path.parse().unwrap())
                .to_vec(),
            allowed: vec![Allowed {
                unit: "workUnit-1.1-RED".to_owned(),
                code: "red_without_tests".to_owned(),
                ..Allowed::default()
            }],
            journal: "d".repeat(64),
            ..RunCommit::default()
        }
    }

    #[test]
    fn a_note_is_read_back_as_it_was_written() {
        let made = made();
        let text = text(&made, &made.exclude);
        assert_eq!(read(&text).unwrap(), made);
        assert!(text.lines().count() < 22);
    }

    #[test]
    fn what_is_no_note_says_why() {
        let whole = text(&made(), &[]);
        for broken in [
            String::new(),
            "Reviewed-by: somebody\n".to_owned(),
            whole.replace("tramline: 1", "tramline: 2"),
            whole.replace("run: ", "run:"),
            whole.replace("base: ", "basis: "),
            whole.replace("1 failed", "some failed"),
            whole.replace("red=claimed", "blue=claimed"),
            whole.replace("for: subtask", "for: fun"),
        ] {
            assert!(read(&broken).is_err(), "{broken}");
        }
    }
}

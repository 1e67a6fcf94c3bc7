//! Words for an agent that has tools and no command line.
//!
//! The conductor's advice and the templates' instructions name commands. Here the commands that have a tool become that
//! tool, and flags its arguments. What only a person at a terminal can do stays as it is, and so does everything that
//! stands in a fence as data.

mod skills;

use serde_json::Value;

use self::skills::named_once;
use super::tools::collab;

/// The form in which an agent works on a run: a tool of one form leads to the tools of the same form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Phases,
    WorkUnits,
    Generic,
}

/// What a command is called in the three forms; the same in all where there is only one.
const COMMANDS: [(&str, [&str; 3]); 32] = [
    (
        "tm autopilot start",
        ["autopilot_start", "autopilot_start", "run_start"],
    ),
    (
        "tm autopilot next",
        ["autopilot_next", "autopilot_next_work_unit", "run_next"],
    ),
    (
        "tm autopilot complete",
        [
            "autopilot_complete_phase",
            "autopilot_complete_work_unit",
            "run_report",
        ],
    ),
    (
        "tm autopilot commit",
        [
            "autopilot_commit",
            "autopilot_complete_work_unit",
            "run_report",
        ],
    ),
    (
        "tm autopilot finalize",
        [
            "autopilot_finalize",
            "autopilot_complete_work_unit",
            "run_report",
        ],
    ),
    (
        "tm autopilot status",
        ["autopilot_status", "autopilot_get_state", "run_status"],
    ),
    ("tm autopilot reopen", ["autopilot_reopen"; 3]),
    ("tm autopilot skip", ["autopilot_skip"; 3]),
    ("tm autopilot pause", ["autopilot_pause"; 3]),
    ("tm autopilot resume", ["autopilot_resume"; 3]),
    ("tm autopilot abort", ["autopilot_abort"; 3]),
    ("tm run start", ["run_start"; 3]),
    ("tm run next", ["run_next"; 3]),
    ("tm run report", ["run_report"; 3]),
    ("tm run status", ["run_status"; 3]),
    ("tm session init", ["session_init"; 3]),
    ("tm session step", ["session_step"; 3]),
    ("tm session run", ["session_step"; 3]),
    ("tm session respond", ["session_step"; 3]),
    ("tm session status", ["session_status"; 3]),
    ("tm session approve", ["session_decide"; 3]),
    ("tm session reject", ["session_decide"; 3]),
    ("tm collab complete-skill", ["complete_skill"; 3]),
    ("tm collab state", ["get_session_state"; 3]),
    ("tm collab update", ["update_session_state"; 3]),
    ("tm collab task", ["update_task_status"; 3]),
    ("tm collab graph", ["get_task_graph"; 3]),
    ("tm collab sync", ["sync_task_graph"; 3]),
    ("tm runs report", ["tramline://runs/{id}/report"; 3]),
    ("tm runs log", ["tramline://runs/{id}/log"; 3]),
    ("tm runs show", ["tramline://runs/{id}/state"; 3]),
    ("tm runs list", ["tramline://runs"; 3]),
];

/// Flags and the arguments that mean the same.
const FLAGS: [(&str, &str); 38] = [
    ("--run-id", "runId"),
    ("--unit", "unitId"),
    ("--project-root", "projectRoot"),
    ("--tag", "tag"),
    ("--reason", "reason"),
    ("--results", "results"),
    ("--coverage", "coverage"),
    ("--coverage-report", "coverageReport"),
    ("--report", "report"),
    ("--baseline-report", "baselineReport"),
    ("--format", "format"),
    ("--verify", "verify"),
    ("--removed", "removed"),
    ("--files", "files"),
    ("--sha", "commitSha"),
    ("--message", "message"),
    ("--force", "force"),
    ("--cleanup", "cleanup"),
    ("--allow-dirty", "allowDirty"),
    ("--skip-coverage", "skipCoverage"),
    ("--dry-run", "dryRun"),
    ("--branch", "options.branch"),
    ("--max-attempts", "options.maxAttempts"),
    ("--title", "title"),
    ("--subtask", "subtasks"),
    ("--plan", "plan"),
    ("--outcome", "outcome"),
    ("--check", "check"),
    ("--session", "sessionId"),
    ("--profile", "profile"),
    ("--input", "inputs"),
    ("--inputs", "inputs"),
    ("--gate", "gates"),
    ("--max-iterations", "maxIterations"),
    ("--replace", "replaceResponse"),
    ("--unit-id", "unitId"),
    ("--feedback", "feedback"),
    ("--hash", "hash"),
];

/// What stands before the instructions of a unit that is not for an agent.
const FOR_A_PERSON: &str = "This is for a person, not for you. Show them what follows, wait for what they say, and report that and nothing else.\n\n";

/// The words of one agent.
pub struct Words<'a> {
    form: Form,
    /// Whether it works on a session of skills.
    skills: bool,
    has: &'a dyn Fn(&str) -> bool,
}

impl<'a> Words<'a> {
    /// The words of an agent that `has` these tools, and has called this one.
    pub fn after(tool: &str, has: &'a dyn Fn(&str) -> bool) -> Self {
        let form = if tool.contains("work_unit") || tool == "autopilot_get_state" {
            Form::WorkUnits
        } else if tool.starts_with("run_") {
            Form::Generic
        } else {
            Form::Phases
        };
        Self {
            form,
            skills: collab::NAMES.contains(&tool),
            has,
        }
    }

    /// Rewrites advice and instructions in an answer, or in the fault of a call.
    pub fn rewrite(&self, answer: &mut Value) {
        let told = match answer.get_mut("error") {
            Some(error) => error,
            None => answer,
        };
        // Here the command is the point: it is for the person.
        let code = told.get("code").and_then(Value::as_str);
        if matches!(code, Some("needs_confirmation" | "approval_too_weak")) {
            return;
        }
        if let Some(Value::String(suggestion)) = told.get_mut("suggestion") {
            *suggestion = self.advice(suggestion);
            if self.skills {
                *suggestion = suggestion.replace("`projectRoot`", "`project`");
            }
        }
        if let Some(Value::String(recovery)) = told.get_mut("recovery") {
            *recovery = self.command(recovery);
        }
        if let Some(Value::String(prompt)) = told.get_mut("prompt_text") {
            *prompt = self.instructions(prompt);
        }
        for problem in told
            .get_mut("problems")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            if let Some(Value::String(suggestion)) = problem.get_mut("suggestion") {
                *suggestion = self.advice(suggestion);
            }
        }
        for note in told
            .get_mut("notes")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            if let Value::String(text) = note {
                *text = self.advice(text);
            }
        }
        self.of_unit(told);
        for unit in told
            .get_mut("units")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            self.of_unit(unit);
        }
    }

    fn of_unit(&self, unit: &mut Value) {
        let for_a_person = unit.get("by").and_then(Value::as_str) == Some("person");
        if let Some(Value::String(text)) = unit.get_mut("instructions") {
            let rewritten = self.instructions(text);
            *text = if for_a_person {
                format!("{FOR_A_PERSON}{rewritten}")
            } else {
                rewritten
            };
        }
    }

    /// A whole prompt. What stands in fences is data and stays, except for the commands of ours that are to be run.
    pub fn instructions(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut lines = text.split_inclusive('\n');
        while let Some(line) = lines.next() {
            let fence = line.trim_start().chars().take_while(|&c| c == '`').count();
            if fence < 3 {
                // Most lines name nothing, and a prompt has many.
                if line.contains('`') || line.contains("--") {
                    out.push_str(&self.advice(line));
                } else {
                    out.push_str(line);
                }
                continue;
            }
            let closes = |line: &str| {
                let line = line.trim();
                line.len() >= fence && line.chars().all(|c| c == '`')
            };
            let mut block = line.to_owned();
            let mut inside = String::new();
            for line in lines.by_ref() {
                block.push_str(line);
                if closes(line) {
                    break;
                }
                inside.push_str(line);
            }
            let is_shell = line.trim().trim_start_matches('`') == "sh";
            match self.call(inside.trim()).filter(|_| is_shell) {
                Some(call) => {
                    out.push_str(&call);
                    out.push('\n');
                }
                None => out.push_str(&block),
            }
        }
        out
    }

    /// The call that does what a command in a fence would.
    fn call(&self, line: &str) -> Option<String> {
        if line.contains('\n') {
            return None;
        }
        if line.starts_with("tm collab ") {
            let told = self.command(line);
            let (tool, with) = told.split_once(" with ").unwrap_or((&told, ""));
            let with = match with {
                "" => String::new(),
                with => format!(" with {with}"),
            };
            return self.tool(line).map(|_| format!("   Call `{tool}`{with}"));
        }
        let words: Vec<&str> = line.split(' ').collect();
        let ["tm", "autopilot", command, rest @ ..] = words.as_slice() else {
            return None;
        };
        let tool = self.tool(line)?;
        let phase = match *command {
            "complete" => rest.first().copied().unwrap_or_default().to_uppercase(),
            other => other.to_uppercase(),
        };
        let with = match (self.form, *command) {
            (Form::WorkUnits, "commit") => {
                "`workUnitId` and `result`: {\"success\": true, \"phase\": \"COMMIT\"}".to_owned()
            }
            (Form::WorkUnits, "complete" | "finalize") => format!(
                "`workUnitId` and `result`: {{\"success\": true, \"phase\": \"{phase}\", \"testsFailed\": N, \"testsPassed\": N}}"
            ),
            (Form::Phases, "finalize") => "`results`: {\"passed\": N, \"failed\": N}".to_owned(),
            (_, "complete" | "finalize") => {
                "`unitId` and `results`: {\"failed\": N, \"passed\": N}".to_owned()
            }
            (_, "commit") => "`unitId`".to_owned(),
            _ => return None,
        };
        Some(format!("   Call `{tool}` with {with}"))
    }

    /// A sentence with commands between backticks and flags outside of them.
    fn advice(&self, text: &str) -> String {
        // A backtick without its other half is nobody's command.
        if text.matches('`').count() % 2 == 1 {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len());
        for (number, part) in text.split('`').enumerate() {
            if number % 2 == 0 {
                out.push_str(&self.flags(part));
                continue;
            }
            let told = self.command(part);
            out.push('`');
            // With its arguments beside it a tool stands between backticks of its own.
            if let Some((tool, arguments)) = told.split_once(" with ") {
                out.push_str(tool);
                out.push_str("` with ");
                out.push_str(arguments);
            } else {
                out.push_str(&told);
                out.push('`');
            }
        }
        if text.contains("`tm collab ") {
            named_once(out)
        } else {
            out
        }
    }

    /// The tool that does what a command does.
    fn tool(&self, command: &str) -> Option<&'static str> {
        if !command.starts_with("tm ") {
            return None;
        }
        let (_, names) = COMMANDS.iter().find(|(known, _)| {
            command
                .strip_prefix(known)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })?;
        let own = names[self.form as usize];
        // An agent may have called a tool of one form without having all of them.
        [own]
            .into_iter()
            .chain(*names)
            .find(|tool| tool.starts_with("tramline:") || (self.has)(tool))
    }

    /// A command as the tool that does the same, with the arguments that it names.
    fn command(&self, text: &str) -> String {
        let Some(tool) = self.tool(text) else {
            return self.flags(text);
        };
        let mut named: Vec<String> = if text.starts_with("tm collab ") {
            skills::arguments(text)
        } else {
            FLAGS
                .iter()
                .filter(|(flag, _)| text.split(' ').any(|word| word == *flag))
                .map(|(_, argument)| (*argument).to_owned())
                .collect()
        };
        // What makes this one another call of the same tool.
        if text.starts_with("tm session respond ") {
            named.push("response".to_owned());
        }
        if named.is_empty() {
            tool.to_owned()
        } else {
            format!("{tool} with {}", named.join(", "))
        }
    }

    /// A text with its flags as arguments.
    fn flags(&self, text: &str) -> String {
        let own: &[(&str, &str)] = if self.skills { &skills::FLAGS } else { &[] };
        flags(text, |word| {
            let mut known = own.iter().chain(&FLAGS);
            known.find(|(flag, _)| *flag == word).map(|known| known.1)
        })
    }
}

/// A text with the flags as arguments for which there is one.
fn flags(text: &str, argument: impl Fn(&str) -> Option<&'static str>) -> String {
    // What only a person does keeps the words that the person types; so does what is no command of ours.
    if text.starts_with("tm ") || text.starts_with("git ") || !text.contains("--") {
        return text.to_owned();
    }
    let of_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let (before, flag) = rest.split_at(at);
        let (word, behind) = flag.split_at(flag.find(|c| !of_word(c)).unwrap_or(flag.len()));
        out.push_str(before);
        let known = (!before.ends_with(of_word)).then(|| argument(word));
        out.push_str(known.flatten().unwrap_or(word));
        rest = behind;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn after(tool: &str) -> Words<'static> {
        Words::after(tool, &|_| true)
    }

    #[test]
    fn commands_become_tools_and_flags_arguments() {
        for (given, told) in [
            ("", ""),
            ("call again", "call again"),
            ("`tm autopilot next`", "`autopilot_next`"),
            (
                "mend it, or go back: `tm autopilot reopen --reason …`",
                "mend it, or go back: `autopilot_reopen` with reason",
            ),
            (
                "end it (`tm autopilot abort`), or supersede it with --force",
                "end it (`autopilot_abort`), or supersede it with force",
            ),
            ("name one with --run-id", "name one with runId"),
            (
                "a person can let it pass with `tm autopilot allow stuck --reason …`",
                "a person can let it pass with `tm autopilot allow stuck --reason …`",
            ),
            ("never --forced or x--force", "never --forced or x--force"),
            ("`git switch main`", "`git switch main`"),
            ("`git commit --message x`", "`git commit --message x`"),
            ("a lone ` stays", "a lone ` stays"),
            ("`tm log verify`", "`tm log verify`"),
            ("`tm autopilot starts`", "`tm autopilot starts`"),
        ] {
            assert_eq!(after("autopilot_next").advice(given), told);
        }
    }

    #[test]
    fn each_form_leads_to_tools_of_its_own() {
        for (called, next, reported) in [
            ("autopilot_next", "autopilot_next", "autopilot_commit"),
            (
                "autopilot_next_work_unit",
                "autopilot_next_work_unit",
                "autopilot_complete_work_unit",
            ),
            ("run_next", "run_next", "run_report"),
        ] {
            let words = after(called);
            assert_eq!(words.command("tm autopilot next"), next);
            assert_eq!(words.command("tm autopilot commit 1.1"), reported);
        }
        let some = |tool: &str| tool.starts_with("run_");
        let words = Words::after("run_next", &some);
        assert_eq!(words.command("tm autopilot skip"), "tm autopilot skip");
        assert_eq!(words.command("tm autopilot next"), "run_next");
    }

    #[test]
    fn instructions_name_calls_and_leave_data_alone() {
        let text = "Title:\n\n````text\nuse `tm autopilot next` --force\n```sh\ntm autopilot commit\n```\n````\n\n6. Report:\n\n```sh\ntm autopilot complete red 1.1 --results \"failed:N,passed:N\"\n```\n\n   Add `--coverage N`. Or: `tm autopilot skip 1.1 --reason \"…\"`.\n";
        assert_eq!(
            after("autopilot_next").instructions(text),
            "Title:\n\n````text\nuse `tm autopilot next` --force\n```sh\ntm autopilot commit\n```\n````\n\n6. Report:\n\n   Call `autopilot_complete_phase` with `unitId` and `results`: {\"failed\": N, \"passed\": N}\n\n   Add `coverage N`. Or: `autopilot_skip` with reason.\n"
        );
        let text =
            "```sh\ntm autopilot finalize --results \"passed:N,failed:N\" --coverage N\n```\n";
        assert_eq!(
            after("autopilot_next_work_unit").instructions(text),
            "   Call `autopilot_complete_work_unit` with `workUnitId` and `result`: {\"success\": true, \"phase\": \"FINALIZE\", \"testsFailed\": N, \"testsPassed\": N}\n"
        );
        let other =
            "```sh\nmake test\n```\nand a fence that never ends\n```text\n`tm autopilot next`";
        assert_eq!(after("run_next").instructions(other), other);
    }

    #[test]
    fn only_advice_is_rewritten_and_not_what_a_person_is_to_type() {
        let mut answer = json!({
            "error": {
                "code": "no_run", "message": "`tm autopilot next` failed",
                "suggestion": "`tm autopilot start <taskId>`", "recovery": "tm autopilot start",
            }
        });
        after("autopilot_next").rewrite(&mut answer);
        assert_eq!(answer["error"]["message"], "`tm autopilot next` failed");
        assert_eq!(answer["error"]["suggestion"], "`autopilot_start`");
        assert_eq!(answer["error"]["recovery"], "autopilot_start");

        let mut answer = json!({
            "error": { "code": "needs_confirmation", "recovery": "tm autopilot abort --cleanup" }
        });
        after("autopilot_abort").rewrite(&mut answer);
        assert_eq!(answer["error"]["recovery"], "tm autopilot abort --cleanup");
    }

    #[test]
    fn commands_of_a_session_become_its_tools_and_those_of_a_person_stay() {
        let words = after("session_step");
        for (given, told) in [
            (
                "put it in its place with --replace",
                "put it in its place with replaceResponse",
            ),
            (
                "`tm session status --session x`",
                "`session_status` with sessionId",
            ),
            (
                "`tm session respond x FILE`",
                "`session_step` with response",
            ),
            (
                "`tm session reopen --max-iterations 3`",
                "`tm session reopen --max-iterations 3`",
            ),
            ("`tm session restore`", "`tm session restore`"),
        ] {
            assert_eq!(words.advice(given), told);
        }
        let mut answer = json!({
            "prompt_text": "Then `tm session step x`.\n```text\n`tm session step x`\n```\n"
        });
        words.rewrite(&mut answer);
        assert_eq!(
            answer["prompt_text"],
            "Then `session_step`.\n```text\n`tm session step x`\n```\n"
        );
    }

    #[test]
    fn a_unit_for_a_person_says_so() {
        let mut answer = json!({
            "by": "person", "instructions": "Approve it",
            "units": [{ "by": "person", "instructions": "Approve it" }, { "by": "agent", "instructions": "Do it" }],
        });
        after("run_next").rewrite(&mut answer);
        let told = answer["instructions"].as_str().unwrap();
        assert!(told.starts_with("This is for a person") && told.ends_with("Approve it"));
        assert_eq!(answer["units"][0]["instructions"], told);
        assert_eq!(answer["units"][1]["instructions"], "Do it");
    }
}

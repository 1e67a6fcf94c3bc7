//! Advice for an agent that has tools and no command line.
//!
//! The conductor's advice names commands. Here the commands that have a tool become that tool, and flags its arguments.
//! What only a person at a terminal can do stays as it is.

use serde_json::Value;

/// Commands and the tools that do the same; the longer ones first, where one begins with another.
const COMMANDS: [(&str, &str); 20] = [
    ("tm autopilot start", "autopilot_start"),
    ("tm autopilot next", "autopilot_next"),
    ("tm autopilot complete", "autopilot_complete_phase"),
    ("tm autopilot commit", "autopilot_commit"),
    ("tm autopilot finalize", "autopilot_finalize"),
    ("tm autopilot reopen", "autopilot_reopen"),
    ("tm autopilot skip", "autopilot_skip"),
    ("tm autopilot status", "autopilot_status"),
    ("tm autopilot pause", "autopilot_pause"),
    ("tm autopilot resume", "autopilot_resume"),
    ("tm autopilot abort", "autopilot_abort"),
    ("tm run start", "run_start"),
    ("tm run next", "run_next"),
    ("tm run report", "run_report"),
    ("tm run status", "run_status"),
    ("tm runs report", "tramline://runs/{id}/report"),
    ("tm runs log", "tramline://runs/{id}/log"),
    ("tm autopilot watch", "tramline://runs/{id}/log"),
    ("tm runs show", "tramline://runs/{id}/state"),
    ("tm runs list", "tramline://runs"),
];

/// Flags and the arguments that mean the same.
const FLAGS: [(&str, &str); 22] = [
    ("--run-id", "runId"),
    ("--unit", "unitId"),
    ("--project-root", "projectRoot"),
    ("--tag", "tag"),
    ("--reason", "reason"),
    ("--results", "results"),
    ("--coverage", "coverage"),
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
];

/// Rewrites the advice in an answer, or in the fault of a call, for an agent that `has` these tools.
pub fn for_tools(answer: &mut Value, has: &dyn Fn(&str) -> bool) {
    let told = match answer.get_mut("error") {
        Some(error) => error,
        None => answer,
    };
    // Here the command is the point: it is for the person.
    if told.get("code").and_then(Value::as_str) == Some("needs_confirmation") {
        return;
    }
    if let Some(Value::String(suggestion)) = told.get_mut("suggestion") {
        *suggestion = advice(suggestion, has);
    }
    if let Some(Value::String(recovery)) = told.get_mut("recovery") {
        *recovery = command(recovery, has);
    }
}

/// A sentence with commands between backticks and flags outside of them.
fn advice(text: &str, has: &dyn Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for (number, part) in text.split('`').enumerate() {
        if number % 2 == 0 {
            out.push_str(&flags(part));
        } else {
            let told = command(part, has);
            // With its arguments beside it a tool stands between backticks of its own.
            match told.split_once(" with ") {
                Some((tool, arguments)) => {
                    out.push_str(&format!("`{tool}` with {arguments}"));
                }
                None => out.push_str(&format!("`{told}`")),
            }
        }
    }
    // A backtick without its other half is nobody's command.
    if text.matches('`').count() % 2 == 1 {
        return text.to_owned();
    }
    out
}

/// A command as the tool that does the same, with the arguments that it names.
fn command(text: &str, has: &dyn Fn(&str) -> bool) -> String {
    let found = COMMANDS.iter().find(|(command, tool)| {
        let is_there = has(tool) || tool.starts_with("tramline:");
        is_there
            && text
                .strip_prefix(command)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    let Some((_, tool)) = found else {
        return flags(text);
    };
    let named: Vec<&str> = FLAGS
        .iter()
        .filter(|(flag, _)| text.split(' ').any(|word| word == *flag))
        .map(|(_, argument)| *argument)
        .collect();
    if named.is_empty() {
        (*tool).to_owned()
    } else {
        format!("{tool} with {}", named.join(", "))
    }
}

/// A text with its flags as arguments.
fn flags(text: &str) -> String {
    // What only a person does keeps the words that the person types.
    if text.starts_with("tm ") {
        return text.to_owned();
    }
    let mut out = text.to_owned();
    for (flag, argument) in FLAGS {
        let mut from = 0;
        while let Some(at) = out[from..].find(flag).map(|at| at + from) {
            let end = at + flag.len();
            let goes_on = out[end..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
            let begins = !out[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
            if begins && !goes_on {
                out.replace_range(at..end, argument);
                from = at + argument.len();
            } else {
                from = end;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
            ("a lone ` stays", "a lone ` stays"),
            ("`tm log verify`", "`tm log verify`"),
            ("`tm autopilot starts`", "`tm autopilot starts`"),
        ] {
            assert_eq!(advice(given, &|_| true), told);
        }
    }

    #[test]
    fn only_advice_is_rewritten_and_not_what_a_person_is_to_type() {
        let mut answer = json!({
            "error": {
                "code": "no_run", "message": "`tm autopilot next` failed",
                "suggestion": "`tm autopilot start <taskId>`", "recovery": "tm autopilot start",
            }
        });
        for_tools(&mut answer, &|_| true);
        assert_eq!(answer["error"]["message"], "`tm autopilot next` failed");
        assert_eq!(answer["error"]["suggestion"], "`autopilot_start`");
        assert_eq!(answer["error"]["recovery"], "autopilot_start");

        let mut answer = json!({ "recovery": "tm autopilot start" });
        for_tools(&mut answer, &|tool| tool == "run_start");
        assert_eq!(answer["recovery"], "tm autopilot start");

        let mut answer = json!({
            "error": { "code": "needs_confirmation", "recovery": "tm autopilot abort --cleanup" }
        });
        for_tools(&mut answer, &|_| true);
        assert_eq!(answer["error"]["recovery"], "tm autopilot abort --cleanup");
    }
}

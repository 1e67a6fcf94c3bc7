//! Whether the advice of a refusal can be followed: every command that it names exists.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::environment::TestEnvironment;
use testkit::Outcome;

/// A refusal leaves nobody guessing: it has a message, a suggestion, and names only what there is.
pub fn check(env: &TestEnvironment, answer: &Outcome) {
    assert!(!answer.message().is_empty(), "{answer:#?}");
    assert!(!answer.suggestion().is_empty(), "{answer:#?}");
    for part in ["message", "suggestion", "recovery"] {
        let refusal = answer.json().get("error").unwrap_or(answer.json());
        let text = refusal[part].as_str().unwrap_or_default();
        for command in commands(text, part == "recovery") {
            check_command(env, command);
        }
    }
    if answer.json().get("error").is_none() {
        assert_eq!(answer.json()["validated"], false, "{answer:#?}");
        let next = &answer.json()["nextAction"]["action"];
        assert!(next.is_string(), "{answer:#?}");
    }
}

/// What stands between backticks; the whole text, where it is nothing else.
fn commands(text: &str, whole: bool) -> Vec<&str> {
    if whole {
        return vec![text];
    }
    text.split('`').skip(1).step_by(2).collect()
}

fn check_command(env: &TestEnvironment, command: &str) {
    let words: Vec<&str> = command.split_whitespace().collect();
    let Some(("tm", rest)) = words.split_first().map(|(first, rest)| (*first, rest)) else {
        return;
    };
    let is_name = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
    let names = rest.iter().copied().take_while(is_name).take(2);
    let names: Vec<&str> = names.collect();
    let help = help_of(env, &names);
    for flag in rest.iter().filter(|word| word.starts_with("--")) {
        let flag = flag.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        assert!(help.contains(flag), "`{command}`: there is no {flag}");
    }
}

/// The help of a command, which must exist. It is asked for once.
fn help_of(env: &TestEnvironment, names: &[&str]) -> String {
    static KNOWN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let command = names.join(" ");
    if let Some(help) = KNOWN.lock().unwrap().get(&command) {
        return help.clone();
    }
    let help = (**env).tm(&[names, &["--help"]].concat());
    assert_eq!(help.status, 0, "`tm {command}` does not exist");
    let help = help.out;
    KNOWN.lock().unwrap().insert(command, help.clone());
    help
}

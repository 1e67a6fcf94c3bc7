//! Whether what is advised can be done: that commands take the words, and tools the arguments, which a step is spelled with.
//! Asked of every step in every test: tests of the binary set `TRAMLINE_CHECK_ADVICE`, which only a debug build reads.

use clap::CommandFactory as _;
use clap::error::ErrorKind;
use serde_json::Value;

use crate::calls::command::family_command;
use crate::calls::families;
use crate::cli::Cli;

/// Whether a test runs this.
pub fn is_asked() -> bool {
    cfg!(test) || std::env::var_os("TRAMLINE_CHECK_ADVICE").is_some()
}

/// Panics where no command takes these words. What only stands for a value is none.
pub fn by_command(command: &str) {
    let words = words(command);
    let family = words.get(1);
    // All of them take a while to be put together, and there are many steps.
    let family = families().iter().find(|known| Some(&known.name) == family);
    let (parser, words) = match family {
        Some(family) => (family_command(family), &words[1..]),
        None => (Cli::command(), &words[..]),
    };
    let Err(error) = parser.try_get_matches_from(words) else {
        return;
    };
    let stands_for_a_value = matches!(
        error.kind(),
        ErrorKind::ValueValidation | ErrorKind::InvalidValue
    );
    assert!(stands_for_a_value, "`{command}` is advised: {error}");
}

/// Panics where the tool of this schema does not take these arguments.
pub fn by_tool(tool: &str, schema: &Value, arguments: &[(String, Option<Value>)]) {
    let Some(properties) = schema["properties"].as_object() else {
        return;
    };
    for (name, _) in arguments {
        let name = name.split(['.', ' ']).next().unwrap_or(name);
        assert!(
            properties.contains_key(name),
            "{tool} is advised with `{name}`"
        );
    }
}

/// The words of a command line, as a shell hands them on; what it would make of variables and the like stays as it stands.
pub fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            letter if quote == Some(letter) => quote = None,
            letter if quote.is_some() => word.get_or_insert_default().push(letter),
            ' ' => words.extend(word.take()),
            '\'' | '"' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            '\\' => word.get_or_insert_default().extend(letters.next()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_that_a_shell_hands_on() {
        assert_eq!(
            words(r"tm run skip 'it'\''s one' --reason=''"),
            ["tm", "run", "skip", "it's one", "--reason="]
        );
        by_command("tm autopilot complete red --results failed:N,passed:N");
        by_command("tm collab reopen --unit-id ID --reason …");
    }

    #[test]
    #[should_panic(expected = "is advised")]
    fn an_option_that_no_command_has_is_found() {
        by_command("tm run next --bogus");
    }
}

//! Questions to the person at the terminal, answered a line at a time.

use std::io::{self, BufRead};

use engine::Fault;

use crate::output::Output;

/// The longest answer that is read, in bytes.
const LONGEST_ANSWER: u64 = 64 * 1024;

/// Asks, and reads one line without the white space around it. `None` when there are no more lines.
pub fn ask(output: &mut Output, question: &str) -> Result<Option<String>, Fault> {
    output.text(question)?;
    let mut line = Vec::new();
    let read = io::Read::take(io::stdin().lock(), LONGEST_ANSWER)
        .read_until(b'\n', &mut line)
        .map_err(|error| {
            Fault::environment("io_failed", "standard input could not be read", &error)
        })?;
    if read == 0 {
        output.text("\n")?;
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()))
}

/// Asks a question that is answered by yes or no; an empty line means `default`, the end of input no.
pub fn confirm(output: &mut Output, question: &str, default: bool) -> Result<bool, Fault> {
    let choice = if default { "[Y/n]" } else { "[y/N]" };
    loop {
        let Some(answer) = ask(output, &format!("{question} {choice} "))? else {
            return Ok(false);
        };
        match answer.to_ascii_lowercase().as_str() {
            "" => return Ok(default),
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => output.text("Please answer yes or no.\n")?,
        }
    }
}

/// Asks for one of `count` numbered things. `None` when the person gives up.
pub fn choose(output: &mut Output, count: usize) -> Result<Option<usize>, Fault> {
    loop {
        let Some(answer) = ask(output, &format!("Which one? [1-{count}, Enter for none] "))? else {
            return Ok(None);
        };
        if answer.is_empty() {
            return Ok(None);
        }
        match answer.parse::<usize>() {
            Ok(number) if (1..=count).contains(&number) => return Ok(Some(number - 1)),
            _ => output.text("That is not one of the numbers.\n")?,
        }
    }
}

//! The commands that the pages of the documentation show: each is one that this program takes.

use clap::CommandFactory as _;
use testkit::documentation::{blocks, pages, typed};

use super::Cli;
use crate::steps::taken::words;

/// Pages that show the program's own words, or no commands.
const WITHOUT: [&str; 3] = ["cli.md", "SUMMARY.md", "CHANGELOG.md"];

/// The commands of a page's blocks: behind a prompt in `console`, whole lines in `sh`. One may go on in the next line.
fn commands(page: &str) -> Vec<String> {
    let mut all = Vec::new();
    for block in blocks(page) {
        match block.language {
            "console" => {
                let typed = typed(block.text);
                all.extend(typed.iter().map(|typed| typed.command.replace("\\\n", " ")));
            }
            "sh" => all.extend(block.text.replace("\\\n", " ").lines().map(str::to_owned)),
            _ => {}
        }
    }
    all
}

/// The calls of `tm` in a command line, each by its words.
fn calls(line: &str) -> Vec<Vec<String>> {
    let mut calls = Vec::new();
    // A comment, and what other programs get.
    let line = line.split(" # ").next().unwrap_or_default();
    let line = line.split("  #").next().unwrap_or_default();
    for part in line.split(['|', ';']).flat_map(|part| part.split("&&")) {
        let part = part.split(" > ").next().unwrap_or_default();
        let words = words(part);
        let begin = words.iter().position(|word| !word.contains('='));
        let Some(begin) = begin.filter(|at| words[*at] == "tm") else {
            continue;
        };
        calls.push(words[begin..].to_vec());
    }
    calls
}

#[test]
fn every_command_on_a_page_is_one_that_the_program_takes() {
    let mut wrong = Vec::new();
    let mut count = 0;
    let shown = pages().into_iter();
    for path in shown.filter(|path| !WITHOUT.iter().any(|name| path.ends_with(name))) {
        let page = std::fs::read_to_string(&path).unwrap();
        for line in commands(&page) {
            for call in calls(&line) {
                count += 1;
                if let Err(error) = Cli::command().try_get_matches_from(&call)
                    && !super::is_help(&error)
                {
                    wrong.push(format!("{}: {line}\n{error}", path.display()));
                }
            }
        }
    }
    assert!(count > 100, "only {count} were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

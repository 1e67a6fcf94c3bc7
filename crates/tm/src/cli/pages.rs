//! The commands that the pages of the documentation show: each is one that this program takes.

use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use markup::markdown::fenced_code;

use super::Cli;
use crate::steps::taken::words;

/// Pages that show the program's own words, or no commands.
const WITHOUT: [&str; 3] = ["cli.md", "SUMMARY.md", "CHANGELOG.md"];

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = [
        "",
        "docs",
        "docs/tutorials",
        "docs/explanation",
        "examples/collab",
        "examples/profiles",
        "plugins/tramline",
        "packaging/npm",
    ];
    let files = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap());
    files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .filter(|path| !WITHOUT.iter().any(|name| path.ends_with(name)))
        .collect()
}

/// The commands of a page's blocks: behind a prompt in `console`, whole lines in `sh`. One may go on in the next line.
fn commands(page: &str) -> Vec<String> {
    let mut all = Vec::new();
    for block in fenced_code(page) {
        let block = &page[block];
        let language = block
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches('`');
        let prompt = match language {
            "console" => "$ ",
            "sh" => "",
            _ => continue,
        };
        let joined = block.replace("\\\n", " ");
        let lines = joined.lines().skip(1);
        let commands = lines.filter_map(|line| line.strip_prefix(prompt));
        all.extend(commands.map(str::to_owned));
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
    for path in pages() {
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

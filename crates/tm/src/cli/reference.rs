//! The reference of the command line, `docs/cli.md`: the help of every command, held equal to it by a test.

use std::fmt::Write as _;
use std::path::Path;

use clap::CommandFactory;

use super::Cli;

fn reference() -> String {
    let mut text = "\
# Command line

The help of every command, written down from the program itself. `UPDATE_DOCS=1 cargo test -p tm` writes this file anew.

What most commands take is told once: `-h` and `--help` print the help, `--json` prints one JSON value on standard output and nothing else there,
`--no-color` prints without colour and symbols (so does a set `NO_COLOR`), and `--project-root DIR` names the project's folder, which is else found upward from
the current one.
"
    .to_owned();
    let mut command = without_common(Cli::command().term_width(100));
    // A definition that is not sound panics here.
    command.build();
    add(&mut command, &mut text);
    text
}

/// A command, and those below it, without the arguments that most have.
fn without_common(command: clap::Command) -> clap::Command {
    let hidden = |argument: clap::Arg| {
        let is_common = ["json", "no_color", "project_root"].contains(&argument.get_id().as_str());
        argument.hide(is_common)
    };
    command
        .disable_help_flag(true)
        .mut_args(hidden)
        .mut_subcommands(without_common)
}

fn add(command: &mut clap::Command, text: &mut String) {
    let name = command.get_bin_name().unwrap_or("tm").to_owned();
    let help = command.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let help = help.join("\n");
    let help = help.trim_end();
    let _ = write!(text, "\n## {name}\n\n```text\n{help}\n```\n");
    for below in command.get_subcommands_mut() {
        if below.get_name() != "help" {
            add(below, text);
        }
    }
}

#[test]
fn the_written_reference_is_what_the_program_says() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let now = reference();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &now).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == now,
        "docs/cli.md is not what the program says: run UPDATE_DOCS=1 cargo test -p tm"
    );
}

#[test]
fn every_argument_says_what_it_is() {
    fn walk(command: &clap::Command) {
        let name = command.get_name();
        assert!(command.get_about().is_some(), "{name}");
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{name} {argument}");
        }
        command.get_subcommands().for_each(walk);
    }
    walk(&Cli::command());
}

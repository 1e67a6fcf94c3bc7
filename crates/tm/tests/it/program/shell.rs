//! Help, version, completions, manual pages.

use super::environment::TestEnvironment;

/// Every command, as its words on the command line.
pub const COMMANDS: &[&str] = &[
    "autopilot start",
    "autopilot next",
    "autopilot complete",
    "autopilot commit",
    "autopilot finalize",
    "autopilot reopen",
    "autopilot skip",
    "autopilot allow",
    "autopilot status",
    "autopilot pause",
    "autopilot resume",
    "autopilot abort",
    "autopilot watch",
    "runs list",
    "runs show",
    "runs log",
    "runs report",
    "log verify",
    "log repair",
    "log replay",
    "workflow list",
    "workflow show",
    "workflow check",
    "config show",
    "doctor",
    "demo",
    "completions",
    "man",
];

#[test]
fn every_command_has_help() {
    let environment = TestEnvironment::bare();
    for command in COMMANDS {
        let mut arguments: Vec<&str> = command.split(' ').collect();
        arguments.push("--help");
        let ran = environment.tm(&arguments);
        assert!(
            ran.text().contains(&format!("Usage: tm {command}")),
            "{ran:?}"
        );
        assert_eq!(ran.err, "");
        assert!(!ran.out.contains('\u{1b}'), "{command}");
    }
}

#[test]
fn the_first_help_names_the_exit_statuses() {
    let ran = TestEnvironment::bare().tm(&["--help"]);
    for status in 0..=7 {
        assert!(ran.text().contains(&format!("\n  {status}  ")), "{status}");
    }
}

#[test]
fn the_version_is_one_line() {
    let ran = TestEnvironment::bare().tm(&["--version"]);
    assert_eq!(ran.text(), concat!("tm ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn completions_know_the_commands() {
    let environment = TestEnvironment::bare();
    for (shell, mark) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef tm"),
        ("fish", "complete -c tm"),
    ] {
        let ran = environment.tm(&["completions", shell]);
        assert!(ran.text().contains(mark), "{shell}");
        for word in ["autopilot", "finalize", "project-root", "max-attempts"] {
            assert!(ran.out.contains(word), "{shell} does not know {word}");
        }
    }
}

#[test]
fn a_completion_script_is_one_that_its_shell_can_read() {
    let environment = TestEnvironment::bare();
    let script = environment.tm(&["completions", "bash"]);
    environment.write("tm.bash", script.text());
    let Ok(ran) = environment.process("bash").args(["-n", "tm.bash"]).output() else {
        return; // no bash here
    };
    assert!(ran.status.success(), "{ran:?}");
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let environment = TestEnvironment::bare();
    let ran = environment.tm(&["man", "--dir", "pages/man1"]);
    assert_eq!(ran.text(), "");
    let folder = environment.project().join("pages/man1");
    for command in COMMANDS.iter().chain(&["", "autopilot", "runs", "log"]) {
        let name = format!("tm {command}").trim_end().replace(' ', "-");
        let page = std::fs::read_to_string(folder.join(format!("{name}.1"))).unwrap_or_default();
        assert!(page.contains(".SH SYNOPSIS"), "{name}.1");
    }
    let all = environment.tm(&["man"]);
    assert_eq!(
        all.text().matches(".SH SYNOPSIS").count(),
        std::fs::read_dir(folder).unwrap().count()
    );
}

#[test]
fn manual_pages_that_cannot_be_written_are_a_fault_of_the_environment() {
    let environment = TestEnvironment::bare();
    environment.write("file", "");
    let ran = environment.tm(&["man", "--dir", "file/pages"]);
    assert_eq!(ran.status, 6, "{ran:?}");
    assert!(
        ran.err
            .starts_with("error: the manual pages could not be written to file/pages"),
        "{ran:?}"
    );
}

#[test]
fn a_reader_who_goes_away_is_no_fault() {
    let environment = TestEnvironment::bare();
    let mut child = environment
        .program(&["man"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Nobody reads: all pages together are more than a pipe holds.
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert!(ended.stderr.is_empty(), "{ended:?}");
}

#[test]
fn an_answer_that_cannot_be_written_is_a_fault_of_the_environment() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
        return; // not on this system
    };
    let output = TestEnvironment::bare()
        .program(&["completions", "zsh"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(6), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.starts_with("error: standard output could not be written"),
        "{said}"
    );
}

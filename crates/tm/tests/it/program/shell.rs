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
    "self check",
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
fn there_is_a_completion_script_for_every_shell() {
    let environment = TestEnvironment::bare();
    for (shell, mark) in [
        ("bash", "complete -o"),
        ("zsh", "#compdef tm"),
        ("fish", "complete --keep-order"),
        ("elvish", "set edit:completion:arg-completer[tm]"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let ran = environment.tm(&["completions", shell]);
        assert!(ran.text().contains(mark), "{shell}: {ran:?}");
        assert!(ran.out.contains("TM_COMPLETE"), "{shell} asks nobody");
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

/// What bash offers behind these words.
fn offered(environment: &TestEnvironment, words: &[&str]) -> Option<Vec<String>> {
    let script = environment.tm(&["completions", "bash"]);
    let file = environment.home().join("tm.bash");
    std::fs::write(&file, script.text()).unwrap();
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let last = words.last().copied().unwrap_or_default();
    let typed = format!(
        "source {}; COMP_WORDS=({}); COMP_CWORD={}; COMP_TYPE=9; _clap_complete_tm tm '{last}' ''; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        file.display(),
        quoted.join(" "),
        words.len() - 1,
    );
    let mut bash = environment.process("bash");
    bash.env("PATH", testkit::sandbox::path_with_binary());
    let ran = bash.args(["-c", &typed]).output().ok()?;
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "");
    let said = String::from_utf8(ran.stdout).unwrap();
    Some(said.lines().map(str::to_owned).collect())
}

#[test]
fn a_shell_offers_what_is_there() {
    let environment = TestEnvironment::started();
    let run = environment.json(&["autopilot", "status"]).json_with(0)["runId"].clone();
    let run = run.as_str().unwrap();
    for (words, expected) in [
        (&["tm", "autopi"][..], "autopilot"),
        (&["tm", "runs", "show", ""], run),
        (&["tm", "autopilot", "status", "--run-id", "master"], run),
        (&["tm", "autopilot", "start", ""], "2"),
        (&["tm", "tasks", "show", ""], "1"),
        (&["tm", "autopilot", "skip", "1."], "1.1"),
        (&["tm", "workflow", "show", "t"], "tdd"),
        (&["tm", "autopilot", "--tag", "m"], "master"),
        (&["tm", "config", "set", "evidence.req"], "evidence.require"),
        (&["tm", "session", "init", "--gate", "plan="], "plan=human"),
        (&["tm", "completions", "z"], "zsh"),
    ] {
        let Some(offered) = offered(&environment, words) else {
            return; // no bash here
        };
        assert!(
            offered.iter().any(|word| word.trim() == expected),
            "{words:?}: {offered:?}"
        );
    }
    // Where nothing is there, nothing is said, and nothing is made.
    let empty = TestEnvironment::bare();
    let _ = std::fs::remove_dir_all(empty.store());
    let options = offered(&empty, &["tm", "runs", "show", ""]).unwrap_or_default();
    assert!(
        options.iter().all(|word| word.starts_with("--")),
        "{options:?}"
    );
    assert!(!empty.store().exists());
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

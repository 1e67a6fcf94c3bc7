//! Help, version, completions, manual pages.

use std::fs;
use std::path::Path;

use super::environment::{TestEnvironment, has};
use super::whole_run::says;
use testkit::Outcome;

#[test]
fn every_command_has_help_and_a_manual_page() {
    let environment = TestEnvironment::bare();
    environment.tm(&["man", "--dir", "pages/man1"]).text();
    let folder = environment.project().join("pages/man1");
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let reference = fs::read_to_string(reference).unwrap();
    let commands = reference
        .lines()
        .filter_map(|line| line.strip_prefix("## "));
    for command in commands.clone() {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = environment.tm(&words[1..]);
        says(help.text(), &[&format!("Usage: {command}")], &["\u{1b}"]);
        assert_eq!(help.err, "");
        let page = folder.join(format!("{}.1", command.replace(' ', "-")));
        let page = fs::read_to_string(page).unwrap_or_default();
        assert!(page.contains(".SH SYNOPSIS"), "{command}");
    }
    let all = environment.tm(&["man"]);
    let pages = all.text().matches(".SH SYNOPSIS").count();
    assert_eq!(pages, fs::read_dir(folder).unwrap().count());
    assert_eq!(pages, commands.count());
}

#[test]
fn the_first_help_names_the_exit_statuses_and_the_version_is_one_line() {
    let environment = TestEnvironment::bare();
    let help = environment.tm(&["--help"]);
    for status in 0..=7 {
        has(&help.text(), &format!("\n  {status}  "));
    }
    let version = environment.tm(&["--version"]);
    let expected = concat!("tm ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(version.text(), expected);
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

/// What bash offers behind these words.
fn offered(environment: &TestEnvironment, words: &[&str]) -> Option<Vec<String>> {
    let script = environment.tm(&["completions", "bash"]);
    let file = environment.home().join("tm.bash");
    fs::write(&file, script.text()).unwrap();
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
    let ran = Outcome::of(&bash.args(["-c", &typed]).output().ok()?);
    assert_eq!(ran.err, "");
    Some(ran.out.lines().map(str::to_owned).collect())
}

#[test]
fn a_shell_offers_what_is_there() {
    let environment = TestEnvironment::started();
    for (words, expected) in [
        (&["autopi"][..], "autopilot"),
        (&["runs", "show", ""], "r1"),
        (&["autopilot", "status", "--run-id", "r"], "r1"),
        (&["autopilot", "start", ""], "2"),
        (&["tasks", "show", ""], "1"),
        (&["autopilot", "skip", "1."], "1.1"),
        (&["workflow", "show", "t"], "tdd"),
        (&["autopilot", "--tag", "m"], "master"),
        (&["config", "set", "evidence.req"], "evidence.require"),
        (&["session", "init", "--gate", "plan="], "plan=human"),
        (&["completions", "z"], "zsh"),
    ] {
        let Some(offered) = offered(&environment, &[&["tm"], words].concat()) else {
            return; // no bash here
        };
        let is_offered = offered.iter().any(|word| word.trim() == expected);
        assert!(is_offered, "{words:?}: {offered:?}");
    }
    // Where nothing is there, nothing is said, and nothing is made.
    let empty = TestEnvironment::bare();
    let _ = fs::remove_dir_all(empty.store());
    let options = offered(&empty, &["tm", "runs", "show", ""]).unwrap_or_default();
    let are_options = options.iter().all(|word| word.starts_with("--"));
    assert!(are_options, "{options:?}");
    assert!(!empty.store().exists());
}

#[test]
fn what_cannot_be_written_is_a_fault_of_the_environment() {
    let environment = TestEnvironment::bare();
    environment.write("file", "");
    let pages = environment.tm(&["man", "--dir", "file/pages"]);
    assert_eq!(pages.status, 6, "{pages:?}");
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else {
        return; // not on this system
    };
    let mut script = environment.program(&["completions", "zsh"]);
    let script = Outcome::of(&script.stdout(full).output().unwrap());
    assert_eq!(script.status, 6, "{script:?}");
}

#[test]
fn a_reader_who_goes_away_is_no_fault() {
    let environment = TestEnvironment::bare();
    let mut child = environment.spawn(&["man"]);
    // Nobody reads: all pages together are more than a pipe holds.
    drop(child.stdout.take());
    let ended = Outcome::waited(child);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
}

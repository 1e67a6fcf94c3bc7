//! A journal that somebody edited, a disk that is full, a store that is none.

use std::fs;
use std::path::{Path, PathBuf};

use super::environment::{TestEnvironment, autopilot};
use super::terminal::agreed;
use testkit::Outcome;
use testkit::files::contents;
use testkit::sandbox::binary;

fn journal(env: &TestEnvironment) -> PathBuf {
    env.run_folder().join("activity.jsonl")
}

fn lines(env: &TestEnvironment) -> Vec<String> {
    let text = String::from_utf8(env.journal()).unwrap();
    text.split_inclusive('\n').map(str::to_owned).collect()
}

/// Every command names the file and the line, and writes nothing.
fn is_damaged_at(env: &TestEnvironment, line: usize) {
    // A snapshot would hide what lies before it from all but those who look at the whole chain.
    let _ = fs::remove_file(env.run_folder().join("snapshot.json"));
    for words in [
        "next",
        "status",
        "complete green --results failed:0,passed:2",
        "reopen",
        "pause",
        "abort",
    ] {
        let answer = env.refused(words, 6, "journal_damaged", "tm log repair");
        assert!(answer.message().contains("activity.jsonl"), "{answer:#?}");
        assert!(
            answer.message().contains(&format!("line {line}")),
            "line {line}: {answer:#?}"
        );
    }
    let before = env.everything();
    let verified = env.tm(&["log", "verify"]);
    assert_eq!(verified.status, 6, "{verified:#?}");
    assert_eq!(verified.json()["whole"], false);
    assert_eq!(verified.json()["line"], line, "{verified:#?}");
    assert_eq!(env.tm(&["runs", "list"]).ok()[0]["status"], "damaged");
    before.assert_same(&env.everything(), "looking at it");
}

fn in_green() -> TestEnvironment {
    let env = TestEnvironment::started();
    env.red();
    env
}

#[test]
fn an_edited_line_is_named() {
    let env = in_green();
    let mut all = lines(&env);
    let last = all.len() - 1;
    all[last - 1] = all[last - 1].replacen("ts\":\"20", "ts\":\"19", 1);
    fs::write(journal(&env), all.concat()).unwrap();
    is_damaged_at(&env, last + 1);
}

#[test]
fn missing_swapped_repeated_and_torn_lines_are_named() {
    type Harm = fn(&mut Vec<String>);
    let harms: [(Harm, usize); 4] = [
        (|all| drop(all.remove(2)), 3),
        (|all| all.swap(2, 3), 3),
        (|all| all.insert(3, all[2].clone()), 4),
        (|all| all[4] = "{\"ts\": \n".to_owned(), 5),
    ];
    for (harm, line) in harms {
        let env = in_green();
        let mut all = lines(&env);
        harm(&mut all);
        fs::write(journal(&env), all.concat()).unwrap();
        is_damaged_at(&env, line);
    }
}

#[test]
fn a_repair_keeps_what_is_whole_and_the_old_file() {
    let env = in_green();
    env.green();
    let mut all = lines(&env);
    let at = all
        .iter()
        .rposition(|line| line.contains("report:accepted"))
        .unwrap();
    all[at] = all[at].replacen("\"passed\":2", "\"passed\":3", 1);
    let harmed = all.concat();
    fs::write(journal(&env), &harmed).unwrap();
    let answer = env.refused_of(&["log", "repair"], 3, "needs_confirmation", "--yes");
    assert!(answer.message().contains("loses"), "{answer:#?}");
    let repaired = env.tm(&["log", "repair", "--yes"]).ok();
    assert_eq!(repaired["repaired"], true);
    let old = repaired["oldFile"].as_str().unwrap();
    assert_eq!(
        fs::read_to_string(old).unwrap(),
        harmed,
        "the old file is kept as it was"
    );
    assert_eq!(env.tm(&["log", "verify"]).ok()["whole"], true);
    // What was lost may have been that the run is stopped: a person has it go on.
    assert_eq!(env.action(), "paused");
    assert_eq!(env.auto("resume").code(), "needs_person");
    let (status, shown) = agreed(&env, &["autopilot", "resume"]);
    assert_eq!(status, 0, "{shown}");
    assert_eq!(env.action(), "green");
    env.green();
    env.auto("commit").ok();
    // There is nothing to mend twice.
    assert_eq!(env.tm(&["log", "repair", "--yes"]).ok()["repaired"], false);
}

#[test]
fn what_was_under_way_when_a_journal_was_repaired_is_no_going_on_while_stopped() {
    let env = in_green();
    env.green();
    env.auto("commit").ok();
    let mut all = lines(&env);
    let done = |line: &String| line.contains("effect:done") && line.contains("git.commit");
    let at = all.iter().rposition(done).unwrap();
    all[at] = all[at].replacen("ts\":\"20", "ts\":\"19", 1);
    fs::write(journal(&env), all.concat()).unwrap();
    env.tm(&["log", "repair", "--yes"]).ok();
    assert_eq!(env.action(), "paused");
    let (status, shown) = agreed(&env, &["autopilot", "resume"]);
    assert_eq!(status, 0, "{shown}");
    // The commit was there, and is known again.
    assert_eq!(env.action(), "red");
    let verified = env.tm(&["log", "verify"]);
    assert_eq!(verified.status, 0, "{verified:#?}");
    let earned = env.tm(&["verify"]);
    assert_eq!(earned.status, 0, "{earned:#?}");
}

#[test]
fn a_torn_end_is_what_a_crash_leaves_and_no_damage() {
    let env = in_green();
    let whole = env.journal();
    let end = fs::read(env.run_folder().join("lock")).unwrap();
    for torn in [
        "{",
        "{\"ts\":\"2026-01-01T00:00:00.000Z\",\"seq\":99",
        "\0\0\0\0",
    ] {
        let mut bytes = whole.clone();
        bytes.extend_from_slice(torn.as_bytes());
        fs::write(journal(&env), &bytes).unwrap();
        let verified = env.tm(&["log", "verify"]).ok();
        assert_eq!(verified["tornBytes"], torn.len());
        assert!(verified["tornWasWhole"].is_null());
        assert_eq!(env.action(), "green", "a reader ignores it");
        assert_eq!(env.journal(), bytes, "and leaves it");
        env.auto("complete green --results failed:1,passed:1");
        let after = env.journal();
        assert!(after.starts_with(&whole), "the next writer cuts it off");
        assert_eq!(env.tm(&["log", "verify"]).ok()["tornBytes"], 0);
        fs::write(journal(&env), &whole).unwrap();
        for known in ["snapshot.json", "lock"] {
            let _ = fs::remove_file(env.run_folder().join(known));
        }
    }
    // A unit of several events that was cut between two of its lines counts for nothing. It is said where it is known that
    // it was whole.
    fs::write(env.run_folder().join("lock"), &end).unwrap();
    let mut all = lines(&env);
    all.pop();
    fs::write(journal(&env), all.concat()).unwrap();
    let verified = env.tm(&["log", "verify"]).ok();
    assert_eq!(verified["tornWasWhole"], true);
    assert_eq!(env.action(), "red");
    env.auto("complete red --results failed:1,passed:1").ok();
    assert_eq!(env.tm(&["log", "verify"]).ok()["whole"], true);
}

#[test]
fn a_newer_format_is_refused_by_name() {
    let env = in_green();
    let mut all = lines(&env);
    assert!(all[0].contains("\"v\":2,"), "{}", all[0]);
    all[0] = all[0].replacen("\"v\":2,", "\"v\":3,", 1);
    fs::write(journal(&env), all.concat()).unwrap();
    for words in [
        "next",
        "status",
        "complete green --results failed:0,passed:2",
        "abort",
    ] {
        let answer = env.tm(&autopilot(words));
        assert_eq!(answer.status, 6, "{answer:#?}");
        assert!(answer.message().contains("version 3"), "{answer:#?}");
        assert!(answer.suggestion().contains("version of tm"), "{answer:#?}");
        super::advice::check(&env, &answer);
    }
    let answer = env.tm(&["log", "repair", "--yes"]);
    assert_eq!(answer.status, 6, "what is newer is not mended: {answer:#?}");
    assert_eq!(lines(&env), all);
}

/// Runs the binary with a limit on the length of the files that it writes, which it meets as a full disk: a write that
/// comes out short, and then an error.
fn with_little_room(env: &TestEnvironment, words: &str, blocks: u64) -> Outcome {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let mut shell = env.process("sh");
    shell
        .args(["-c", &script, "sh"])
        .arg(binary())
        .args(["autopilot", "--json"])
        .args(words.split_whitespace());
    Outcome::of(&shell.output().unwrap()).answered()
}

#[test]
fn a_full_disk_acknowledges_nothing_and_loses_nothing() {
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "test\n");
    let before = env.journal();
    let red = "complete red --results failed:1,passed:0";
    for blocks in [0, 1, 4, 16] {
        let answer = with_little_room(&env, red, blocks);
        assert_eq!(answer.status, 6, "{blocks}: {answer:#?}");
        assert!(!answer.suggestion().is_empty(), "{blocks}: {answer:#?}");
        super::advice::check(&env, &answer);
        assert_eq!(env.journal(), before, "{blocks}");
        assert_eq!(env.action(), "red", "{blocks}");
    }
    env.auto(red).ok();
    assert_eq!(env.tm(&["log", "verify"]).ok()["whole"], true);
    env.green_of("1.1");
    env.auto("commit").ok();
    env.finish();
}

#[test]
fn a_start_on_a_full_disk_leaves_nothing_behind() {
    let env = TestEnvironment::new();
    for blocks in [0, 4] {
        let answer = with_little_room(&env, "start 1", blocks);
        assert_eq!(answer.status, 6, "{answer:#?}");
        assert!(env.runs().is_empty(), "{:?}", env.runs());
        assert_eq!(env.git(&["branch", "--format=%(refname:short)"]), "main");
    }
    env.auto("start 1").ok();
}

#[test]
fn a_start_that_failed_in_git_goes_on_when_it_is_repeated() {
    let env = TestEnvironment::new();
    // No branch can be made where a file is in the place of its reflog's folder.
    env.write(".git/logs/refs/heads/master", "");
    let failed = env.auto("start 1");
    assert_eq!(failed.status, 6, "{failed:#?}");
    fs::remove_file(env.project().join(".git/logs/refs/heads/master")).unwrap();
    let first = env.run_folder();
    env.auto("start 1").ok();
    assert_eq!(env.runs(), [first]);
    assert_eq!(env.action(), "red");
}

/// What asks for something else is another start.
#[test]
fn a_start_that_failed_in_git_does_not_stand_for_another_one() {
    let title = ["autopilot", "start", "--title", "Sum", "--subtask", "add"];
    let baseline = ["--baseline-report", ".git/tap"];
    for other in [["--subtask", "subtract"], baseline] {
        let env = TestEnvironment::new();
        env.write(".git/tap", "TAP version 14\nok 1 - adds\n1..1\n");
        env.write(".git/logs/refs/heads/master", "");
        assert_eq!(env.tm(&title).status, 6);
        fs::remove_file(env.project().join(".git/logs/refs/heads/master")).unwrap();
        env.tm(&[&title[..], &other].concat()).ok();
        assert_eq!(env.runs().len(), 2, "{other:?}");
    }
}

#[test]
fn a_store_that_is_none_is_named() {
    let env = TestEnvironment::new();
    fs::write(env.store(), "a file\n").unwrap();
    let before = env.everything();
    for words in ["start 1", "next", "status"] {
        let answer = env.auto(words);
        assert!(matches!(answer.status, 4 | 6), "{answer:#?}");
        super::advice::check(&env, &answer);
        if words == "start 1" {
            assert_eq!(answer.status, 6, "{answer:#?}");
            assert!(answer.message().contains("store"), "{answer:#?}");
        }
    }
    before.assert_same(&env.everything(), "a store that is a file");
}

#[test]
fn a_store_that_cannot_be_written_changes_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "test\n");
    let journal = journal(&env);
    fs::set_permissions(&journal, fs::Permissions::from_mode(0o400)).unwrap();
    if fs::OpenOptions::new().append(true).open(&journal).is_ok() {
        // Whoever may do anything is not kept from it by a mode.
        return;
    }
    let answer = env.auto("complete red --results failed:1,passed:0");
    assert_eq!(answer.status, 6, "{answer:#?}");
    assert!(answer.message().contains("activity.jsonl"), "{answer:#?}");
    super::advice::check(&env, &answer);
    fs::set_permissions(&journal, fs::Permissions::from_mode(0o600)).unwrap();
    env.auto("complete red --results failed:1,passed:0").ok();
}

/// Where the units of the journal end, in lines.
fn unit_ends(all: &[String]) -> Vec<usize> {
    let ends = all.iter().enumerate().filter(|(_, line)| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["k"] == line["n"]
    });
    ends.map(|(at, _)| at + 1).collect()
}

#[test]
fn a_byte_of_the_last_unit_is_named() {
    let env = in_green();
    let whole = lines(&env);
    let last = whole.len();
    for (from, to) in [("\"event\":\"", "\"event\":\"x"), ("\"seq\":", "\"seq\": ")] {
        let mut all = whole.clone();
        all[last - 1] = all[last - 1].replacen(from, to, 1);
        fs::write(journal(&env), all.concat()).unwrap();
        is_damaged_at(&env, last);
    }
    let text = whole.concat();
    let mut bytes = text.clone().into_bytes();
    let at = bytes.len() - 200;
    bytes[at] ^= 1;
    fs::write(journal(&env), &bytes).unwrap();
    assert_eq!(env.tm(&["log", "verify"]).status, 6);
    assert_eq!(env.auto("next").code(), "journal_damaged");
    fs::write(journal(&env), text).unwrap();
    assert_eq!(env.action(), "green");
}

#[test]
fn a_journal_that_was_cut_at_the_end_of_a_unit_is_named() {
    let env = in_green();
    env.green();
    env.auto("commit").ok();
    let all = lines(&env);
    let ends = unit_ends(&all);
    let keep = ends[ends.len() - 3];
    fs::write(journal(&env), all[..keep].concat()).unwrap();
    is_damaged_at(&env, keep + 1);
    let doctor = env.tm(&["doctor"]);
    assert_eq!(doctor.status, 6, "{doctor:#?}");
    assert!(
        doctor.json().to_string().contains("ends before"),
        "{doctor:#?}"
    );
    let repaired = env.tm(&["log", "repair", "--yes"]).ok();
    assert_eq!(repaired["keptEvents"], keep);
    assert_eq!(repaired["lostEvents"], all.len() - keep);
    assert_eq!(env.tm(&["log", "verify"]).ok()["whole"], true);
}

#[test]
fn a_journal_that_was_emptied_takes_nothing_with_it() {
    let env = in_green();
    let report = env.run_folder().join("evidence");
    assert!(report.exists());
    for known in ["", "lock"] {
        fs::write(journal(&env), "").unwrap();
        if !known.is_empty() {
            fs::remove_file(env.run_folder().join(known)).unwrap();
            let _ = fs::remove_file(env.run_folder().join("snapshot.json"));
        }
        for words in ["next", "status"] {
            let answer = env.auto(words);
            assert_eq!(
                (answer.code(), answer.status),
                ("journal_damaged", 6),
                "{answer:#?}"
            );
            assert!(answer.suggestion().contains("from a copy"), "{answer:#?}");
        }
        let doctor = env.tm(&["doctor"]);
        assert_eq!(doctor.status, 6, "{doctor:#?}");
        assert!(
            !doctor.json().to_string().contains("delete "),
            "{doctor:#?}"
        );
        // A start clears away what other starts left, and nothing of this.
        env.auto("start 1 --force");
        assert!(report.exists());
    }
}

const LETTER: &str = "tramline: 1
id: letter
title: A letter
initial: write
states:
  write: { label: Write it, work: { instructions: letter.md }, to: written }
  written: { final: completed }
";

/// A kind of run: how it is begun, looked at, and begun again.
type Kind = (
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
);

const KINDS: [Kind; 4] = [
    (
        &["autopilot", "start", "1"],
        &["autopilot", "status"],
        &["autopilot", "start", "1", "--branch", "again"],
    ),
    (
        &["session", "init", "-i", "request=x"],
        &["session", "status"],
        &["session", "init", "-i", "request=x"],
    ),
    (
        &["collab", "complete-skill", "collab-start"],
        &["collab", "state"],
        &["collab", "complete-skill", "collab-start"],
    ),
    (
        &["run", "start", "letter"],
        &["run", "status"],
        &["run", "start", "letter"],
    ),
];

/// What becomes of a run's folder, and whether its journal can be repaired then.
type Damage = (&'static str, fn(&Path), bool);

fn change(run: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let journal = run.join("activity.jsonl");
    let mut bytes = fs::read(&journal).unwrap();
    change(&mut bytes);
    fs::write(journal, bytes).unwrap();
    // It would hide what lies before it.
    let _ = fs::remove_file(run.join("snapshot.json"));
}

const DAMAGES: [Damage; 6] = [
    ("emptied", |run| change(run, Vec::clear), false),
    (
        "missing",
        |run| fs::remove_file(run.join("activity.jsonl")).unwrap(),
        false,
    ),
    (
        "first byte",
        |run| change(run, |bytes| bytes[0] ^= 1),
        false,
    ),
    (
        "cut",
        |run| change(run, |bytes| bytes.truncate(bytes.len() / 3)),
        false,
    ),
    (
        "another run's",
        |run| {
            let mut other = run.as_os_str().to_owned();
            other.push("-2");
            fs::rename(run, other).unwrap();
        },
        false,
    ),
    (
        "snapshot",
        |run| fs::write(run.join("snapshot.json"), "{half").unwrap(),
        true,
    ),
];

/// Follows what is advised against damage; the answer of the last command.
fn follow(env: &TestEnvironment, damaged: &Outcome) -> Outcome {
    let advised = damaged
        .suggestion()
        .split('`')
        .find(|part| part.starts_with("tm log repair"));
    let words: Vec<&str> = advised
        .unwrap_or_else(|| panic!("{damaged:#?}"))
        .split(' ')
        .collect();
    let asked = env.tm(&words[1..]);
    assert_eq!(asked.code(), "needs_confirmation", "{asked:#?}");
    let recovery = asked.json()["error"]["recovery"].as_str().unwrap();
    let words: Vec<&str> = recovery.split(' ').collect();
    let repaired = env.tm(&words[1..]);
    // What was asked is what is done.
    let keeps_none = asked.message().contains("keeps 0 events");
    let is_given_up = repaired.json()["givenUp"].is_string();
    assert_eq!(keeps_none, is_given_up, "{asked:#?} {repaired:#?}");
    repaired
}

#[test]
fn each_damage_has_an_advised_way_out() {
    for (begin, look, again) in KINDS {
        for (name, harm, is_kept) in DAMAGES {
            let env = TestEnvironment::new();
            env.write(".taskmaster/workflows/letter.yaml", LETTER);
            env.write(".taskmaster/templates/letter.md", "Write.\n");
            env.commit_all("A workflow");
            env.tm(begin).ok();
            let run = env.runs().pop().unwrap();
            harm(&run);
            let seen = env.tm(look);
            if is_kept {
                seen.ok();
                continue;
            }
            assert_eq!(seen.status, 6, "{begin:?} {name}: {seen:#?}");
            let names = |folder: &Path| contents(folder).into_keys().collect::<Vec<_>>();
            let before = names(&env.runs().pop().unwrap());
            let repaired = follow(&env, &seen).ok();
            let kept = repaired["givenUp"]
                .as_str()
                .unwrap_or_else(|| panic!("{name}: {repaired}"));
            assert_eq!(names(Path::new(kept)), before, "{begin:?} {name}");
            assert!(env.runs().is_empty(), "{begin:?} {name}");
            env.tm(again).ok();
            env.tm(look).ok();
        }
    }
}

#[test]
fn journals_that_were_swapped_are_named() {
    let env = TestEnvironment::started();
    let first = env.run_folder();
    env.auto("abort").ok();
    env.git(&["switch", "--quiet", "main"]);
    env.auto("start 1 --branch second").ok();
    let second = fs::read_dir(first.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| *path != first)
        .unwrap();
    for name in ["activity.jsonl", "lock", "snapshot.json"] {
        let (one, other) = (first.join(name), second.join(name));
        let aside = first.join("aside");
        fs::rename(&one, &aside).unwrap();
        fs::rename(&other, &one).unwrap();
        fs::rename(&aside, &other).unwrap();
    }
    for run in [&first, &second] {
        let id = run.file_name().unwrap().to_str().unwrap();
        let status = env.tm(&["autopilot", "status", "--run-id", id]);
        assert_eq!(
            (status.code(), status.status),
            ("journal_swapped", 6),
            "{status:#?}"
        );
        let verified = env.tm(&["log", "verify", id]);
        assert_eq!(verified.status, 6, "{verified:#?}");
        assert_eq!(verified.json()["line"], 1, "{verified:#?}");
    }
}

#[test]
fn evidence_that_is_gone_is_named_by_those_who_verify() {
    let env = in_green();
    let folder = env.run_folder().join("evidence");
    let mut kept: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    kept.sort();
    assert!(!kept.is_empty());
    let verified = env.tm(&["log", "verify"]).ok();
    assert!(verified.get("evidence").is_none(), "{verified}");
    // Copies of tests lie there, too, which prove nothing.
    let named = kept.iter().find_map(|path| {
        let whole = fs::read(path).unwrap();
        fs::write(path, "something else").unwrap();
        let verified = env.tm(&["log", "verify"]);
        if verified.status == 6 {
            return Some((path.clone(), verified));
        }
        fs::write(path, whole).unwrap();
        None
    });
    let (path, changed) = named.unwrap();
    assert_eq!(changed.json()["whole"], true, "the chain itself is");
    assert_eq!(changed.json()["evidence"][0]["state"], "changed");
    fs::remove_file(&path).unwrap();
    let missing = env.tm(&["log", "verify"]);
    assert_eq!(missing.json()["evidence"][0]["state"], "missing");
    let name = path.file_name().unwrap().to_str().unwrap();
    assert_eq!(missing.json()["evidence"][0]["sha256"], name);
    let doctor = env.tm(&["doctor"]);
    assert_eq!(doctor.status, 6, "{doctor:#?}");
    assert!(
        doctor.json().to_string().contains("evidence"),
        "{doctor:#?}"
    );
}

#[test]
fn runs_are_found_without_the_file_that_names_their_project() {
    let env = in_green();
    let project = env.run_folder().join("../../project.json");
    fs::remove_file(&project).unwrap();
    assert_eq!(env.action(), "green");
    assert_eq!(env.tm(&["runs", "list"]).ok().as_array().unwrap().len(), 1);
    env.green();
    assert_eq!(env.action(), "commit");
}

/// A pipe would hold up whoever opens it.
#[test]
fn a_pipe_in_the_place_of_the_journal_holds_nobody_up() {
    let env = in_green();
    fs::remove_file(journal(&env)).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        journal(&env),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    for words in [
        &["autopilot", "status"][..],
        &["log", "verify"],
        &["doctor"],
    ] {
        let answer = env.tm(words);
        assert_eq!(answer.status, 6, "{words:?}: {answer:#?}");
    }
}

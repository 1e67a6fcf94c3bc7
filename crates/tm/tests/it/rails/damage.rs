//! A journal that somebody edited, and a disk that is full. What is harm, and where, is told where journals are read.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::environment::{GREEN, RED, TestEnvironment, autopilot, fails, tells};
use testkit::Outcome;
use testkit::files::contents;
use testkit::sandbox::binary;

fn lines(env: &TestEnvironment) -> Vec<String> {
    let text = String::from_utf8(env.journal()).unwrap();
    text.split_inclusive('\n').map(str::to_owned).collect()
}

fn set_lines(env: &TestEnvironment, lines: &[String]) {
    fs::write(env.journal_path(), lines.concat()).unwrap();
}

/// Loses files of the run, where they are there.
fn lose(env: &TestEnvironment, names: &[&str]) {
    for name in names {
        let _ = fs::remove_file(env.run_folder().join(name));
    }
}

/// Every command names the file and the line, and writes nothing.
fn is_damaged_at(env: &TestEnvironment, line: usize) {
    // A snapshot would hide what lies before it from all but those who look at the whole chain.
    lose(env, &["snapshot.json"]);
    for words in ["next", "status", GREEN, "reopen", "pause", "abort"] {
        let answer = env.refused(words, 6, "journal_damaged", "tm log repair");
        let place = format!("line {line}");
        tells(answer.message(), &["activity.jsonl", &place]);
    }
    let before = env.everything();
    let verified = env.tm(&["log", "verify"]).json_with(6);
    assert_eq!(verified["whole"], false);
    assert_eq!(verified["line"], line, "{verified:#}");
    assert_eq!(env.tm(&["runs", "list"]).ok()[0]["status"], "damaged");
    env.tm(&["doctor"]).json_with(6);
    before.assert_same(&env.everything(), "looking at it");
}

/// Changes a line, counted from the end.
fn replace(all: &mut [String], from_end: usize, from: &str, to: &str) {
    let line = &mut all[all.len() - from_end];
    assert!(line.contains(from), "{line}");
    *line = line.replacen(from, to, 1);
}

/// Changes the last line that holds all of these.
fn replace_last(env: &TestEnvironment, with: &[&str], from: &str, to: &str) -> String {
    let mut all = lines(env);
    let is_it = |line: &String| with.iter().all(|part| line.contains(part));
    let at = all.iter().rposition(is_it).unwrap();
    let from_end = all.len() - at;
    replace(&mut all, from_end, from, to);
    set_lines(env, &all);
    all.concat()
}

#[test]
fn the_line_that_was_harmed_is_named() {
    type Harm = fn(&mut Vec<String>);
    fn cut(all: &mut Vec<String>) {
        let last: Value = serde_json::from_str(all.last().unwrap()).unwrap();
        let count = usize::try_from(last["n"].as_u64().unwrap()).unwrap();
        all.truncate(all.len() - count);
    }
    testkit::by_chance!(3);
    let env = TestEnvironment::in_green();
    let whole = lines(&env);
    let last = whole.len();
    let mut units = whole.clone();
    cut(&mut units);
    // The last one loses a whole unit, which only those know of who know where the journal ends.
    let harms: [(Harm, usize); 3] = [
        (|all| drop(all.remove(2)), 3),
        (|all| replace(all, 1, "\"seq\":", "\"seq\": "), last),
        (cut, units.len() + 1),
    ];
    for (harm, line) in harms {
        let mut all = whole.clone();
        harm(&mut all);
        set_lines(&env, &all);
        is_damaged_at(&env, line);
    }
    set_lines(&env, &whole);
    assert_eq!(env.action(), "green");
}

/// What was lost may have been that the run is stopped: a person has it go on.
fn a_person_resumes(env: &TestEnvironment) {
    env.journal_is_whole();
    assert_eq!(env.action(), "paused");
    assert_eq!(env.auto("resume").code(), "needs_person");
    env.agreed(&["autopilot", "resume"]);
}

#[test]
fn a_repair_keeps_what_is_whole_and_the_old_file() {
    testkit::by_chance!(3);
    let env = TestEnvironment::in_commit();
    let accepted = ["report:accepted"];
    let harmed = replace_last(&env, &accepted, "\"passed\":2", "\"passed\":3");
    env.refuses_of(&["log", "repair"], "needs_confirmation");
    let repaired = env.tm(&["log", "repair", "--yes"]).ok();
    assert_eq!(repaired["repaired"], true);
    let [kept, lost] = ["keptEvents", "lostEvents"].map(|part| repaired[part].as_u64());
    assert_eq!(kept.unwrap() + lost.unwrap(), harmed.lines().count() as u64);
    let old = fs::read_to_string(repaired["oldFile"].as_str().unwrap());
    assert_eq!(old.unwrap(), harmed);
    a_person_resumes(&env);
    assert_eq!(env.action(), "green");
    env.green();
    env.commit();
    // There is nothing to mend twice.
    assert_eq!(env.tm(&["log", "repair", "--yes"]).ok()["repaired"], false);
}

#[test]
fn what_was_under_way_when_a_journal_was_repaired_is_no_going_on_while_stopped() {
    testkit::by_chance!(3);
    let env = TestEnvironment::in_commit();
    env.commit();
    let done = ["effect:done", "git.commit"];
    replace_last(&env, &done, "ts\":\"20", "ts\":\"19");
    env.tm(&["log", "repair", "--yes"]).ok();
    a_person_resumes(&env);
    // The commit was there, and is known again.
    assert_eq!(env.action(), "red");
    env.journal_is_whole();
    env.tm(&["verify"]).ok();
}

/// Runs the binary with a limit on the length of the files that it writes, which it meets as a full disk: a write that
/// comes out short, and then an error.
fn with_little_room(env: &TestEnvironment, words: &str, blocks: u64) {
    let script = format!("ulimit -f {blocks}; exec \"$@\"");
    let mut shell = env.process("sh");
    shell.args(["-c", &script, "sh"]).arg(binary());
    shell.args(autopilot(words)).arg("--json");
    let answer = Outcome::of(&shell.output().unwrap()).answered();
    assert_eq!(answer.status, 6, "{blocks}: {answer:#?}");
    super::advice::check(env, &answer);
}

#[test]
fn a_full_disk_acknowledges_nothing_and_loses_nothing() {
    testkit::by_chance!(3);
    let env = TestEnvironment::new();
    for blocks in [0, 4] {
        with_little_room(&env, "start 1", blocks);
        assert!(env.runs().is_empty(), "{:?}", env.runs());
        assert_eq!(env.branches(), "main");
    }
    env.auto("start 1").ok();
    env.write("tests/a.sh", "test\n");
    let before = env.journal();
    for blocks in [0, 1, 4, 16] {
        with_little_room(&env, RED, blocks);
        assert_eq!(env.journal(), before, "{blocks}");
        assert_eq!(env.action(), "red", "{blocks}");
    }
    env.auto(RED).ok();
    env.journal_is_whole();
    env.green();
    env.commit();
    env.finish();
}

#[test]
fn a_start_that_failed_in_git_goes_on_when_it_is_repeated_and_stands_for_no_other() {
    testkit::by_chance!(3);
    let again = ["autopilot", "start", "--title", "Sum", "--subtask", "add"];
    let baseline = ["--verify", "--report", "tap"];
    let subtask = ["--subtask", "subtract"];
    for (more, runs) in [(&[][..], 1), (&subtask, 2), (&baseline, 2)] {
        let env = TestEnvironment::new();
        env.write(
            "run.sh",
            "printf 'TAP version 14\\nok 1 - adds\\n1..1\\n' >tap\n",
        );
        env.commit_all("Tests");
        // No branch can be made where a file is in the place of its reflog's folder.
        env.write(".git/logs/refs/heads/master", "");
        assert_eq!(env.tm(&again).status, 6);
        env.delete(".git/logs/refs/heads/master");
        env.tm(&[&again, more].concat()).ok();
        assert_eq!(env.runs().len(), runs, "{more:?}");
        assert_eq!(env.action(), "red");
    }
}

/// A kind of run: how it is begun and looked at, and what is added to begin it again.
const KINDS: [(&str, &str, &str); 2] = [
    ("autopilot start 1", "autopilot status", " --branch again"),
    ("collab complete-skill collab-start", "collab state", ""),
];

/// What becomes of a run's folder.
type Damage = (&'static str, fn(&Path));

fn change(run: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let journal = run.join("activity.jsonl");
    let mut bytes = fs::read(&journal).unwrap();
    change(&mut bytes);
    fs::write(journal, bytes).unwrap();
    // It would hide what lies before it.
    let _ = fs::remove_file(run.join("snapshot.json"));
}

const DAMAGES: [Damage; 4] = [
    ("emptied", |run| change(run, Vec::clear)),
    ("missing", |run| {
        fs::remove_file(run.join("activity.jsonl")).unwrap();
    }),
    ("cut", |run| {
        change(run, |bytes| bytes.truncate(bytes.len() / 3));
    }),
    ("another run's", |run| {
        let id = run.display().to_string();
        let other = format!("{}2", id.trim_end_matches('1'));
        fs::rename(run, other).unwrap();
    }),
];

/// Runs a command that begins with the name of the binary, or not.
fn command(env: &TestEnvironment, words: &str) -> Outcome {
    let words = words.trim_start_matches("tm ").split(' ');
    env.tm(&words.collect::<Vec<_>>())
}

/// Follows what is advised against damage; the answer of the last command.
fn follow(env: &TestEnvironment, damaged: &Outcome) -> Value {
    let mut advised = damaged.suggestion().split('`');
    let advised = advised.find(|part| part.starts_with("tm log repair"));
    let asked = command(env, advised.unwrap_or_else(|| panic!("{damaged:#?}")));
    fails(&asked, 3, "needs_confirmation");
    // What was asked is what is done.
    tells(asked.message(), &["keeps 0 events"]);
    command(env, asked.json()["error"]["recovery"].as_str().unwrap()).ok()
}

#[test]
fn each_damage_has_an_advised_way_out() {
    testkit::by_chance!(3);
    for (begin, look, again) in KINDS {
        let env = TestEnvironment::new();
        command(&env, begin).ok();
        env.save(0);
        for (name, harm) in DAMAGES {
            harm(&env.runs().pop().unwrap());
            let seen = command(&env, look);
            assert_eq!(seen.status, 6, "{begin:?} {name}: {seen:#?}");
            let names = |folder: &Path| contents(folder).into_keys().collect::<Vec<_>>();
            let before = names(&env.runs().pop().unwrap());
            let repaired = follow(&env, &seen);
            let kept = repaired["givenUp"].as_str();
            let kept = kept.unwrap_or_else(|| panic!("{name}: {repaired}"));
            assert_eq!(names(Path::new(kept)), before, "{begin:?} {name}");
            assert!(env.runs().is_empty(), "{begin:?} {name}");
            command(&env, &format!("{begin}{again}")).ok();
            command(&env, look).ok();
            env.restore(0);
        }
    }
}

#[test]
fn journals_that_were_swapped_are_named() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    let first = env.run_folder();
    env.auto("abort").ok();
    env.switch("main");
    env.auto("start 1 --branch second").ok();
    let second = env.runs().into_iter().find(|path| *path != first).unwrap();
    for name in ["activity.jsonl", "lock", "snapshot.json"] {
        let (one, other) = (first.join(name), second.join(name));
        let text = fs::read(&one).unwrap();
        fs::rename(&other, &one).unwrap();
        fs::write(&other, text).unwrap();
    }
    for run in [&first, &second] {
        let id = run.file_name().unwrap().to_str().unwrap();
        env.comes_to(&format!("status --run-id {id}"), "journal_damaged");
        let verified = env.tm(&["log", "verify", id]).json_with(6);
        assert_eq!(verified["line"], 1, "{verified:#}");
    }
}

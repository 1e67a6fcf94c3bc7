//! What a person reads, and the lines that a person types.

use std::path::Path;

use super::environment::TestEnvironment;
use testkit::Outcome;

impl TestEnvironment {
    /// Runs the program by a line as it is typed, whose words stand apart by spaces.
    pub fn typed(&self, line: &str) -> Outcome {
        self.tm(&line.split(' ').collect::<Vec<_>>())
    }

    /// The same for JSON.
    pub fn typed_json(&self, line: &str) -> Outcome {
        self.json(&line.split(' ').collect::<Vec<_>>())
    }

    /// The same line typed in another folder.
    pub fn typed_at(&self, folder: &Path, line: &str) -> Outcome {
        let mut program = self.program(&line.split(' ').collect::<Vec<_>>());
        Outcome::of(&program.current_dir(folder).output().unwrap())
    }

    /// A person types a line, and agrees to what is shown: that, and what is told behind it.
    pub fn agreed(&self, line: &str) -> [String; 2] {
        let person = self.person(&line.split(' ').collect::<Vec<_>>());
        let (shown, status, rest) = person.agrees();
        assert_eq!(status, 0, "{line}: {rest}");
        [shown, rest]
    }
}

#[test]
fn runs_are_listed_with_their_status() {
    let environment = TestEnvironment::new();
    let none = environment.typed("runs list");
    assert_eq!(none.text(), "There are no runs here.\n");
    environment.typed("autopilot start 1").text();
    let list = environment.typed("runs list");
    let words: Vec<&str> = list.text().split_whitespace().collect();
    let [status, run, .., day, time, "Count", "the", "words"] = words[..] else {
        panic!("{list:?}");
    };
    assert_eq!((status, day.len(), time.len()), ("running", 10, 5));
    assert_eq!(run, "r1", "{list:?}");
    let progress = "  0/2 subtasks, 0 commits  ";
    assert!(list.out.contains(progress), "{list:?}");
    let shown = environment.typed("runs show");
    assert!(shown.text().contains("Count the words (tag master)"));
}

#[test]
fn a_run_without_attempts_left_says_so_in_words_and_names_the_ways_out() {
    let environment = TestEnvironment::new();
    let start = "autopilot start 1 --max-attempts 2";
    environment.typed(start).text();
    environment.write("tests/a_test.sh", "false\n");
    for phase in ["red", "green", "green"] {
        let complete = format!("autopilot complete {phase} --results failed:1,passed:0");
        environment.typed(&complete);
    }
    let next = environment.typed("autopilot next");
    let mut lines = next.text().lines();
    let run = lines.find_map(|line| line.strip_prefix("  run        "));
    let run = run.expect("the run");
    let expected = format!(
        "PAUSED 1.1 GREEN
  run        {run}
  why        all 2 attempts at GREEN failed
  [..............................] 0% (0 of 2 subtasks)

What to do: a person decides it, at a terminal or with --sign KEY
  - see what keeps failing, then go on with a fresh set of attempts; or skip it
    after that
  -> tm autopilot resume --run-id {run}
  - a test is wrong: go back to RED, which resumes the run too
  -> tm autopilot reopen --reason … --run-id {run}
  - end the run; its commits stay
  -> tm autopilot abort --run-id {run}
"
    );
    assert_eq!(next.out, expected);
    let status = environment.typed("autopilot status");
    let why = "  paused     all 2 attempts at GREEN failed\n";
    assert!(status.text().contains(why), "{status:?}");
    // What the page says about going back holds.
    let reopen = format!("autopilot reopen --run-id {run} --reason wrong");
    let [shown, _] = environment.agreed(&reopen);
    assert!(shown.contains("max_attempts_reached"), "{shown}");
    let next = environment.typed_json("autopilot next").ok();
    assert_eq!(next["action"], "red");
}

//! The example that puts capabilities of all kinds together, from its design to the finished branch.

use std::fs;
use std::path::PathBuf;

use journal::layout::short_name;
use serde_json::{Value, json};

use super::environment::{TestEnvironment, has};
use super::generic::give_examples;

const FAILING: &str = "report --results failed:1,passed:0";
const PASSING: &str = "report --results failed:0,passed:1";
const BRANCH: &str = "master/task-1-count-the-words";

/// Finds fault with every file that says `mess`.
const LINT: &str = "! grep -rl mess src\n";

/// A run of the example.
struct Feature {
    project: TestEnvironment,
    folder: PathBuf,
    id: String,
}

impl Feature {
    /// A run of the example over the task.
    fn begun() -> Self {
        let project = TestEnvironment::new();
        give_examples(&project);
        project.write("lint.sh", LINT);
        let example = project.read(".taskmaster/workflows/feature.yaml");
        project.own_workflow("feature", &example);
        let begun = project.does("run start feature --input taskId=1");
        let prompt = begun["nextAction"]["prompt"].as_str().unwrap();
        let shown = project.does("run next");
        let mut folder = PathBuf::from(shown["prompt"].as_str().unwrap());
        assert!(folder.ends_with(prompt));
        folder.pop();
        Self {
            folder,
            project,
            id: begun["runId"].as_str().unwrap().to_owned(),
        }
    }

    /// The answer to a command of `tm run`, with this exit status.
    fn answer(&self, line: &str, status: i32) -> Value {
        self.project.line(&format!("run {line}")).json_with(status)
    }

    fn ok(&self, line: &str) -> Value {
        self.answer(line, 0)
    }

    /// Where the run stands after that.
    fn comes_to(&self, line: &str) -> Value {
        self.ok(line)["nextAction"]["state"].clone()
    }

    fn refused(&self, line: &str, code: &str) {
        let answer = self.answer(line, 3);
        let fault = answer.get("error").unwrap_or(&answer);
        assert_eq!(fault["code"], code, "{line}: {answer:#}");
    }

    /// What is told at the step at hand.
    fn told(&self) -> String {
        let next = self.ok("next");
        next["instructions"].as_str().unwrap().to_owned()
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap()
    }

    fn writes(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).unwrap();
    }

    /// Writes a response, has it taken in, and gives what comes then.
    fn answers(&self, name: &str, text: &str) -> Value {
        self.writes(name, text);
        self.ok("step")["nextAction"].clone()
    }

    fn agrees(&self, line: &str) {
        let line = format!("run {line} --run-id {}", self.id);
        self.project.agrees(&line);
    }

    /// A design that a person approves.
    fn designed(&self) {
        let waits = self.answers("design-1.md", "A script.\n");
        assert_eq!(waits["gate"], "design", "{waits}");
        self.agrees("approve");
        let branch = self.project.git(&["branch", "--show-current"]);
        assert_eq!(branch, BRANCH);
    }

    /// A subtask, test first.
    fn built(&self, name: &str, code: &str) {
        self.project.write(&format!("tests/{name}.sh"), "false\n");
        self.ok(FAILING);
        self.project.write(&format!("src/{name}.sh"), code);
        assert_eq!(self.comes_to(PASSING), "clean_up");
        self.ok(PASSING);
        let made = self.ok("report");
        assert_eq!(made["result"]["commitSha"], self.project.head());
    }

    /// What comes of a tool's call on a file, as its client asks.
    fn denied(&self, file: &str) -> String {
        let folder = self.project.project();
        let input = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": folder,
            "tool_input": { "file_path": folder.join(file), "content": "x" },
        });
        let hook = ["hook", "claude-code"];
        let asked = self.project.tm_with_input(&hook, input.to_string());
        asked.text().to_owned()
    }
}

#[test]
fn its_rails_hold_from_the_design_to_the_finished_branch() {
    testkit::by_chance!(3);
    let feature = Feature::begun();
    has(&feature.told(), "Count the words");
    design_holds(&feature);
    tests_hold(&feature);
    review_holds(&feature);
    lint_holds(&feature);
    let over = feature.answers("notes.md", "Words are counted.\n");
    assert_eq!(over["status"], "completed", "{over}");
    feature.project.does("log verify");
}

/// Nothing is built before a person has approved the design.
fn design_holds(feature: &Feature) {
    let told = feature.denied("src/spaces.sh");
    has(&told, "in the state `design`, where no file");
    has(&told, "Next is `tm run next`.");
    feature.project.line("run step").json_with(7);
    feature.answers("design-1.md", "A script.\n");
    feature.refused(PASSING, "gate_closed");
    feature.agrees("reject --feedback 'Say more.'");
    has(&feature.file("design-2-task.md"), "Say more.");
    let waits = feature.answers("design-2.md", "Two scripts.\n");
    assert_eq!(waits["hash"], journal::sha256_hex(b"Two scripts.\n"));
    // What was looked at is what is approved.
    feature.writes("design-2.md", "Three.\n");
    feature.answer("step", 3);
    feature.writes("design-2.md", "Two scripts.\n");
    feature.agrees("approve");
    has(&feature.denied("src/spaces.sh"), "RED is for tests");
    assert_eq!(feature.denied("tests/spaces.sh"), "");
}

/// Code without a test, a test that is bent, more than was tested.
fn tests_hold(feature: &Feature) {
    let code = |text: &str| feature.project.write("src/spaces.sh", text);
    let test = |text: &str| feature.project.write("tests/spaces.sh", text);
    code("true\n");
    feature.refused(FAILING, "red_without_tests");
    test("false\n");
    feature.ok(FAILING);
    test("true\n");
    feature.refused(PASSING, "tests_changed");
    test("false\n");
    code("true # now\n");
    feature.ok(PASSING);
    // Cleaning up leaves the tests alone, too, and breaks nothing.
    test("true\n");
    feature.refused(PASSING, "tests_changed");
    test("false\n");
    feature.refused(FAILING, "suite_failing");
    feature.ok(PASSING);
    code("false\n");
    feature.refused("report", "changed_after_green");
    code("true # now\n");
    feature.ok("report");
    feature.built("tabs", "true\n");
    feature.project.does("verify main..HEAD");
}

/// What a reviewer finds is built through the same rails, from a test that fails on.
fn review_holds(feature: &Feature) {
    let project = &feature.project;
    feature.refused("report --outcome changes", "changes_without_note");
    let changes = "report --outcome changes --note Newlines.";
    assert_eq!(feature.comes_to(changes), "ask");
    project.write("lint.sh", "true\n");
    feature.built("untidy", "true # mess\n");
    feature.ok("report --outcome approved");
    project.write("src/more.sh", "true\n");
    feature.refused(PASSING, "changed_after_commit");
    fs::remove_file(project.project().join("src/more.sh")).unwrap();
    // A suite that failed once opens a repair, which ends without a commit where nothing is to be mended.
    feature.refused(FAILING, "suite_failing");
    assert_eq!(feature.ok("next")["state"], "build");
    assert_eq!(feature.comes_to(PASSING), "look_over");
    feature.ok("report --outcome approved");
}

/// The linter has the last word, and it is the one that a person looked at.
fn lint_holds(feature: &Feature) {
    let repaired = || {
        for report in [PASSING, PASSING, "report", "report --outcome approved"] {
            feature.ok(report);
        }
    };
    // It was made to be content on the way. Whatever the tests say, it is not run like that.
    feature.refused(PASSING, "untrusted");
    assert_eq!(feature.ok("next")["state"], "whole");
    feature.ok("reopen --reason 'The linter was changed.'");
    feature.project.write("lint.sh", LINT);
    repaired();
    assert_eq!(feature.comes_to(PASSING), "build");
    has(&feature.told(), "src/untidy.sh");
    feature.project.write("src/untidy.sh", "true\n");
    repaired();
    assert_eq!(feature.comes_to(PASSING), "notes");
}

#[test]
fn the_turns_of_any_run_work_on_it() {
    testkit::by_chance!(3);
    let feature = Feature::begun();
    let project = &feature.project;
    for line in [
        "next",
        "complete --results failed:1,passed:0",
        "commit",
        "finalize --results failed:0,passed:1",
    ] {
        let asked = project.line(&format!("autopilot {line}"));
        asked.fault(3, "other_workflow");
        let way_out = format!("tm run next --run-id {}", short_name(&feature.id));
        assert_eq!(asked.json()["error"]["recovery"], way_out);
    }
    let early = project.line("run report").json_with(7);
    assert_eq!(early["error"]["details"]["path"], "design-1.md");
    feature.ok("pause --reason lunch");
    assert_eq!(feature.comes_to("resume"), "design");
    feature.designed();
    project.does("autopilot status");
    project.does("autopilot next");
    feature.ok("abort");
    assert_eq!(feature.ok("status")["status"], "aborted");
}

#[test]
fn a_branch_that_somebody_made_meanwhile_is_not_taken_over() {
    testkit::by_chance!(3);
    let feature = Feature::begun();
    let project = &feature.project;
    feature.answers("design-1.md", "A script.\n");
    project.refused("autopilot next", 3, "other_workflow");
    project.git(&["switch", "--quiet", "--create", BRANCH]);
    project.write("src/rogue.sh", "true\n");
    project.commit_all("Rogue");
    project.git(&["switch", "--quiet", "main"]);
    let approve = ["run", "approve", "--run-id", &feature.id];
    let (_, status, told) = project.person(&approve).agrees();
    assert_ne!(status, 0, "{told}");
    has(&told, "was made or moved since");
    assert_eq!(project.git(&["branch", "--show-current"]), "main");
    project.git(&["branch", "-D", BRANCH]);
    assert_eq!(feature.comes_to("resume"), "ask");
}

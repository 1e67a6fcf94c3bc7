//! The example that puts capabilities of all kinds together, from its design to the finished branch.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::Server;

use super::environment::TestEnvironment;

const FAILING: [&str; 3] = ["report", "--results", "failed:1,passed:0"];
const PASSING: [&str; 3] = ["report", "--results", "failed:0,passed:1"];

/// Finds fault with every file that says `mess`.
const LINT: &str = "! grep -rl mess src\n";

/// By what a run is driven.
#[derive(Debug, Clone, Copy)]
enum Way {
    CommandLine,
    Mcp,
}

const WAYS: [Way; 2] = [Way::CommandLine, Way::Mcp];

struct Feature {
    project: TestEnvironment,
    folder: PathBuf,
    id: String,
    /// That of MCP.
    server: Option<RefCell<Server>>,
}

impl Feature {
    /// A run of the example over the task.
    fn begun() -> Self {
        Self::begun_by(Way::CommandLine)
    }

    fn begun_by(way: Way) -> Self {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let project = TestEnvironment::new();
        let mut files = vec!["workflows/feature.yaml".to_owned()];
        for name in ["design", "clean-up", "look-over", "notes"] {
            files.push(format!("templates/feature-{name}.md"));
        }
        for file in files {
            let text = std::fs::read_to_string(examples.join(&file)).unwrap();
            project.write(&format!(".taskmaster/{file}"), text);
        }
        project.write("lint.sh", LINT);
        project.commit_all("A workflow of our own");
        project.trust(&["workflow", "trust", "feature"]);
        let words = ["run", "start", "feature", "--input", "taskId=1"];
        let begun = project.json(&words).json_with(0).clone();
        let id = begun["runId"].as_str().unwrap().to_owned();
        let prompt = PathBuf::from(begun["nextAction"]["prompt"].as_str().unwrap());
        let shown = project.json(&["run", "next"]).json_with(0).clone();
        let folder = PathBuf::from(shown["prompt"].as_str().unwrap());
        assert!(folder.ends_with(prompt));
        let server = match way {
            Way::CommandLine => None,
            Way::Mcp => {
                let mut server = Server::spawn(project.program(&["mcp", "--tools", "run"]));
                server.initialize("2025-11-25", &json!({}));
                Some(RefCell::new(server))
            }
        };
        Self {
            folder: folder.parent().unwrap().to_owned(),
            project,
            id,
            server,
        }
    }

    /// The answer to a command of `tm run`, or to its tool, which must be there or must not.
    fn answer(&self, words: &[&str], status: i32) -> Value {
        let Some(server) = &self.server else {
            let answer = self.project.json(&[&["run"], words].concat());
            return answer.json_with(status).clone();
        };
        let (verb, options) = words.split_first().unwrap();
        let arguments = options
            .chunks(2)
            .map(|pair| (pair[0].trim_start_matches('-').to_owned(), json!(pair[1])))
            .collect();
        let tool = format!("run_{verb}");
        let mut result = server.borrow_mut().call(&tool, &Value::Object(arguments));
        let answer = result["structuredContent"].take();
        // A report that is not accepted is an answer, and no failure of the tool.
        let went_well = result["isError"] != true && answer["validated"] != false;
        assert_eq!(went_well, status == 0, "{words:?}: {answer:#}");
        answer
    }

    fn ok(&self, words: &[&str]) -> Value {
        self.answer(words, 0)
    }

    fn refused(&self, words: &[&str]) -> String {
        let answer = self.answer(words, 3);
        let code = answer["code"].as_str();
        code.or_else(|| answer["error"]["code"].as_str())
            .unwrap()
            .to_owned()
    }

    /// Writes a response, has it taken in, and gives the state that comes then.
    fn answers(&self, file: &str, text: &str) -> Value {
        std::fs::write(self.folder.join(file), text).unwrap();
        self.ok(&["step"])["nextAction"].clone()
    }

    fn agrees(&self, words: &[&str]) {
        let all = [&["run"], words, &["--run-id", &self.id]].concat();
        let (_, status, told) = self.project.person(&all).agrees();
        assert_eq!(status, 0, "{told}");
    }

    /// A design that a person approves.
    fn designed(&self) {
        let waits = self.answers("design-1.md", "A script.\n");
        assert_eq!(
            (&waits["action"], &waits["gate"]),
            (&json!("decide"), &json!("design"))
        );
        self.agrees(&["approve"]);
        let branch = self.project.git(&["branch", "--show-current"]);
        assert_eq!(branch.trim(), "master/task-1-count-the-words");
    }

    /// A subtask, test first.
    fn built(&self, name: &str) {
        self.built_as(name, "true\n");
    }

    fn built_as(&self, name: &str, code: &str) {
        self.project.write(&format!("tests/{name}.sh"), "false\n");
        self.ok(&FAILING);
        self.project.write(&format!("src/{name}.sh"), code);
        assert_eq!(self.ok(&PASSING)["nextAction"]["state"], "clean_up");
        self.ok(&PASSING);
        let made = self.ok(&["report"]);
        assert_eq!(made["result"]["commitSha"], self.project.head());
    }
}

#[test]
fn from_the_design_to_the_finished_branch() {
    for way in WAYS {
        is_finished(&Feature::begun_by(way));
    }
}

fn is_finished(feature: &Feature) {
    let next = feature.ok(&["next"]);
    let told = next["instructions"].as_str().unwrap();
    assert!(told.contains("Count the words"), "{told}");
    let prompt = std::fs::read_to_string(feature.folder.join("design-1-task.md")).unwrap();
    assert_eq!(prompt.trim(), told.trim());
    feature.designed();
    feature.built("spaces");
    feature.built("tabs");
    let next = feature.ok(&["next"]);
    assert_eq!(next["state"], "look_over");
    let told = next["instructions"].as_str().unwrap();
    assert!(told.contains("`master/task-1-count-the-words`"), "{told}");
    assert_eq!(next["outcomes"], json!(["approved", "changes"]));
    feature.ok(&["report", "--outcome", "approved"]);
    assert_eq!(feature.ok(&PASSING)["nextAction"]["state"], "notes");
    let over = feature.answers("notes.md", "Words are counted.\n");
    assert_eq!(over["action"], "complete", "{over}");
    assert_eq!(feature.ok(&["status"])["status"], "completed");
    let verified = feature.project.json(&["verify", "main..HEAD"]);
    assert_eq!(verified.json_with(0)["verified"], true);
    feature
        .project
        .json(&["log", "verify", &feature.id])
        .json_with(0);
}

#[test]
fn its_rails_hold() {
    for way in WAYS {
        holds(&Feature::begun_by(way));
    }
}

fn holds(feature: &Feature) {
    let project = &feature.project;
    // Nothing is built before a person has approved the design.
    let denied = |file: &str| {
        let input = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": project.project(),
            "tool_input": { "file_path": project.project().join(file), "content": "x" },
        });
        let asked = project.tm_with_input(&["hook", "claude-code"], input.to_string());
        asked.text().to_owned()
    };
    let told = denied("src/spaces.sh");
    assert!(
        told.contains("in the state `design`, where no file"),
        "{told}"
    );
    assert!(told.contains("Next is `tm run next`."), "{told}");
    project.json(&["run", "step"]).json_with(7);
    feature.answers("design-1.md", "A script.\n");
    assert_eq!(feature.refused(&PASSING), "gate_closed");
    let rejects = ["reject", "--feedback", "Say more."];
    feature.agrees(&rejects);
    let prompt = std::fs::read_to_string(feature.folder.join("design-2-task.md")).unwrap();
    assert!(prompt.contains("Say more."), "{prompt}");
    let waits = feature.answers("design-2.md", "Two scripts.\n");
    assert_eq!(waits["hash"], journal::sha256_hex(b"Two scripts.\n"));
    // What was looked at is what is approved.
    std::fs::write(feature.folder.join("design-2.md"), "Three.\n").unwrap();
    feature.refused(&["step"]);
    std::fs::write(feature.folder.join("design-2.md"), "Two scripts.\n").unwrap();
    feature.agrees(&["approve"]);

    assert!(denied("src/spaces.sh").contains("RED is for tests"));
    assert_eq!(denied("tests/spaces.sh"), "");
    // Code without a test, a test that is bent, more than was tested.
    project.write("src/spaces.sh", "true\n");
    assert_eq!(feature.refused(&FAILING), "red_without_tests");
    project.write("tests/spaces.sh", "false\n");
    feature.ok(&FAILING);
    project.write("tests/spaces.sh", "true\n");
    assert_eq!(feature.refused(&PASSING), "tests_changed");
    project.write("tests/spaces.sh", "false\n");
    assert_eq!(feature.refused(&PASSING), "green_without_change");
    project.write("src/spaces.sh", "true # now\n");
    feature.ok(&PASSING);
    // Cleaning up leaves the tests alone, too, and breaks nothing.
    project.write("tests/spaces.sh", "true\n");
    assert_eq!(feature.refused(&PASSING), "tests_changed");
    project.write("tests/spaces.sh", "false\n");
    assert_eq!(feature.refused(&FAILING), "suite_failing");
    feature.ok(&PASSING);
    project.write("src/spaces.sh", "false\n");
    assert_eq!(feature.refused(&["report"]), "changed_after_green");
    project.write("src/spaces.sh", "true # now\n");
    feature.ok(&["report"]);
    feature.built("tabs");

    // What a reviewer finds is built through the same rails, from a test that fails on.
    let changes = ["report", "--outcome", "changes"];
    assert_eq!(feature.refused(&changes), "changes_without_note");
    let changes = [&changes[..], &["--note", "Newlines."]].concat();
    assert_eq!(feature.ok(&changes)["nextAction"]["state"], "ask");
    project.write("lint.sh", "true\n");
    feature.built_as("untidy", "true # mess\n");
    feature.ok(&["report", "--outcome", "approved"]);
    project.write("src/more.sh", "true\n");
    assert_eq!(feature.refused(&PASSING), "changed_after_commit");
    std::fs::remove_file(project.project().join("src/more.sh")).unwrap();
    // A suite that failed once opens a repair, which ends without a commit where nothing is to be mended.
    assert_eq!(feature.refused(&FAILING), "suite_failing");
    assert_eq!(feature.ok(&["next"])["state"], "build");
    assert_eq!(feature.ok(&PASSING)["nextAction"]["state"], "look_over");
    feature.ok(&["report", "--outcome", "approved"]);
    lint_holds(feature);
    let over = feature.answers("notes.md", "Words are counted.\n");
    assert_eq!(over["status"], "completed", "{over}");
}

/// The linter has the last word, and it is the one that a person looked at.
fn lint_holds(feature: &Feature) {
    let project = &feature.project;
    let repaired = || {
        for report in [&PASSING[..], &PASSING, &["report"]] {
            feature.ok(report);
        }
        feature.ok(&["report", "--outcome", "approved"]);
    };
    // It was made to be content on the way. Whatever the tests say, it is not run like that.
    assert_eq!(feature.refused(&PASSING), "workflow_untrusted");
    assert_eq!(feature.ok(&["next"])["state"], "whole");
    feature.ok(&["reopen", "--reason", "The linter was changed."]);
    project.write("lint.sh", LINT);
    repaired();
    let next = feature.ok(&PASSING);
    assert_eq!(next["nextAction"]["state"], "build", "{next}");
    let told = feature.ok(&["next"])["instructions"].to_string();
    assert!(told.contains("src/untidy.sh"), "{told}");
    project.write("src/untidy.sh", "true\n");
    repaired();
    assert_eq!(feature.ok(&PASSING)["nextAction"]["state"], "notes");
}

#[test]
fn the_turns_of_any_run_work_on_it() {
    let feature = Feature::begun();
    for words in [
        &["next"][..],
        &["complete", "--results", "failed:1,passed:0"],
        &["complete", "red", "--results", "failed:1,passed:0"],
        &["complete", "--verify"],
        &["commit"],
        &["finalize", "--results", "failed:0,passed:1"],
    ] {
        let asked = feature.project.json(&[&["autopilot"], words].concat());
        let error = &asked.json_with(3)["error"];
        assert_eq!(error["code"], "other_step", "{error}");
        assert_eq!(
            error["recovery"],
            format!("tm run next --run-id {}", feature.id)
        );
    }
    let early = feature
        .project
        .json(&["run", "report"])
        .json_with(7)
        .clone();
    assert_eq!(early["error"]["details"]["path"], "design-1.md", "{early}");
    feature.ok(&["pause", "--reason", "lunch"]);
    let waits = feature.ok(&["resume"]);
    assert_eq!(waits["nextAction"]["state"], "design");
    feature.designed();
    feature.ok(&["pause", "--reason", "tea"]);
    assert_eq!(feature.ok(&["resume"])["nextAction"]["state"], "ask");
    feature.project.json(&["autopilot", "status"]).json_with(0);
    feature.project.json(&["autopilot", "next"]).json_with(0);
    feature.ok(&["abort"]);
    assert_eq!(feature.ok(&["status"])["status"], "aborted");
}

#[test]
fn a_profile_may_read_its_design() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut text = std::fs::read_to_string(examples.join("workflows/feature.yaml")).unwrap();
    let words = "\nmessages:\n  no_plan: { message: That is no plan }\n";
    text = text.replace("\nmessages:\n", words);
    let design = text
        .find("    work: { by: anyone, instructions: feature-design.md")
        .unwrap();
    let designed = text.find("  steps:\n    each:").unwrap();
    text.replace_range(
        design..designed,
        r#"    expects: response
    work: { by: anyone, ask: planning, prompt: "design-{draft}-task.md", response: "design-{draft}.md" }
    on:
      report:
        - { when: "response.status == 'SUCCESS'", do: plan.store, to: designed }
        - { refuse: no_plan }

  designed:
    gate: { name: design, over: plan }
    route: { do: git.branch, emit: "branch:created", to: steps }
    on: { reject: { set: { draft: =vars.draft + 1 }, do: plan.reset, to: design } }

"#,
    );
    for (old, new) in [
        ("design: human", "design: auto"),
        (
            "  folder: {}",
            "  folder: {}\n  profile: { name: =inputs.reader, values: =inputs.told }",
        ),
        (
            "\nvars:",
            "  reader: { type: string, default: ours }\n  told: map\n\nvars:",
        ),
    ] {
        assert!(text.contains(old), "{old}");
        text = text.replacen(old, new, 1);
    }
    let project = TestEnvironment::new();
    for name in ["clean-up", "look-over", "notes"] {
        let file = format!("templates/feature-{name}.md");
        let template = std::fs::read_to_string(examples.join(&file)).unwrap();
        project.write(&format!(".taskmaster/{file}"), template);
    }
    // The profile is the one that the input names where nobody says another.
    project.write(
        ".taskmaster/profiles/ours/profile.yaml",
        "tramline-profile: 1\ntitle: Ours\ninputs: { request: { type: text, required: true } }\nresponses:\n  planning: { read: plan }\n  generation: { read: bundle }\n  review: { read: verdict }\n  revision: { read: bundle }\n",
    );
    for phase in ["planning", "generation", "review", "revision"] {
        project.write(
            &format!(".taskmaster/profiles/ours/{phase}.md"),
            "Ours: {{ inputs.request }}\n",
        );
    }
    project.write(".taskmaster/workflows/feature.yaml", text);
    project.commit_all("A workflow of our own");
    project.trust(&["workflow", "trust", "feature"]);
    let begin = ["run", "start", "feature", "--input", "taskId=1"];
    // What the profile needs is asked for before anything is made.
    let missing = project.json(&begin).json_with(2).clone();
    assert_eq!(missing["error"]["code"], "bad_input", "{missing}");
    assert!(project.runs().is_empty());
    let told = r#"told={"request":"Count the words."}"#;
    project
        .json(&[&begin[..], &["--input", told]].concat())
        .json_with(0);
    let next = project.json(&["run", "next"]).json_with(0).clone();
    let prompt = next["instructions"].as_str().unwrap();
    assert!(prompt.starts_with("Ours: Count the words."), "{prompt}");
    let folder = project.run_folder();
    std::fs::write(folder.join("design-1.md"), "One script.\n").unwrap();
    let stepped = project.json(&["run", "step"]).json_with(0).clone();
    assert_eq!(stepped["nextAction"]["state"], "ask", "{stepped}");
    assert_eq!(
        std::fs::read(folder.join("plan.md")).unwrap(),
        b"One script.\n"
    );
    project.write("src/words.sh", "true\n");
    let refused = project.json(&[&["run"], &FAILING[..]].concat());
    assert_eq!(refused.json_with(3)["code"], "red_without_tests");
}

#[test]
fn a_branch_that_somebody_made_meanwhile_is_not_taken_over() {
    let feature = Feature::begun();
    let project = &feature.project;
    feature.answers("design-1.md", "A script.\n");
    let at_gate = project.json(&["autopilot", "next"]).json_with(3).clone();
    assert_eq!(at_gate["error"]["code"], "other_step", "{at_gate}");
    project.git(&[
        "switch",
        "--quiet",
        "--create",
        "master/task-1-count-the-words",
    ]);
    project.write("src/rogue.sh", "true\n");
    project.commit_all("Rogue");
    project.git(&["switch", "--quiet", "main"]);
    let words = ["run", "approve", "--run-id", &feature.id];
    let (_, status, told) = project.person(&words).agrees();
    assert_ne!(status, 0, "{told}");
    assert!(told.contains("was made or moved since"), "{told}");
    assert_eq!(project.git(&["branch", "--show-current"]).trim(), "main");
    project.git(&["branch", "-D", "master/task-1-count-the-words"]);
    assert_eq!(feature.ok(&["resume"])["nextAction"]["state"], "ask");
}

//! What the pages of the documentation show does what they say.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::environment::TestEnvironment;

fn page(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(name)).unwrap()
}

/// The first fenced block behind `mark` that begins with `with`.
fn block<'a>(page: &'a str, mark: &str, with: &str) -> &'a str {
    let (_, rest) = page.split_once(mark).unwrap_or_else(|| panic!("{mark}"));
    let at = rest.find(with).unwrap_or_else(|| panic!("{with}"));
    let rest = &rest[at..];
    &rest[..=rest.find("\n```").unwrap()]
}

/// Hands a response in, and takes the steps that can be taken then.
fn respond(project: &TestEnvironment, text: &str) -> Value {
    let sent = project.tm_with_input(&["session", "respond", "-"], text);
    assert_eq!(sent.status, 0, "{sent:?}");
    let ran = project.tm(&["session", "run", "--json"]);
    assert!(matches!(ran.status, 0 | 7), "{ran:?}");
    ran.json().clone()
}

#[test]
fn the_smallest_profile_of_its_page_asks_and_takes() {
    let text = page("docs/profiles.md");
    let project = TestEnvironment::bare();
    let profile = ".taskmaster/profiles/script";
    for (file, with) in [
        ("profile.yaml", "tramline-profile: 1"),
        ("ask.md", "# {{ phase | capitalize }}"),
    ] {
        project.write(
            &format!("{profile}/{file}"),
            block(&text, "# Profiles", with),
        );
    }
    project
        .tm(&[
            "session",
            "init",
            "--profile",
            "script",
            "-i",
            "task=Greet whom it is told to",
            "-i",
            "shell=bash",
        ])
        .text();
    assert_eq!(project.tm(&["session", "run"]).status, 7);
    let prompt = || project.tm(&["session", "show", "prompt"]).text().to_owned();
    assert!(prompt().starts_with("# Planning: a script for bash\n"));
    let plan = "# Usage\ngreet NAME\n\n# Errors\nno name\n";
    assert_eq!(respond(&project, plan)["phase"], "GENERATING");
    assert!(prompt().contains("\n# Usage\ngreet NAME\n"));
    assert_eq!(
        respond(&project, "<<<FILE: greet.sh>>>\necho hi\n")["phase"],
        "REVIEWING"
    );
    assert!(prompt().contains("\"greet.sh\":\n\n```text\necho hi\n```\n"));
    let review = "@@@REVIEW_META\nverdict: FAIL\nissues_total: 1\nissues_critical: 1\nmissing_inputs: 0\n@@@\n";
    assert_eq!(respond(&project, review)["phase"], "REVISING");
    let other = "<<<FILE: greet.py>>>\nprint('hi')\n";
    let refused = project.tm_with_input(&["session", "respond", "-"], other);
    assert_eq!(refused.status, 3);
    assert!(refused.err.contains("greet.py"), "{}", refused.err);
}

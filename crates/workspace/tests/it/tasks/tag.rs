//! The tag in force, and switching it.

use workspace::tasks::{Applied, RevertOutcome, current_tag, resolve_tag, switch_tag};

use super::Project;

const STATE: &str = ".taskmaster/state.json";

#[test]
fn a_flag_goes_before_the_state_and_the_state_before_master() {
    let project = Project::new();
    let root = project.root.path();
    assert_eq!(resolve_tag(root, None).unwrap(), "master");
    project.write(STATE, "{\"lastSwitched\": \"x\"}");
    assert_eq!(resolve_tag(root, None).unwrap(), "master");
    project.write(STATE, "{\"currentTag\": \"feature\"}");
    assert_eq!(resolve_tag(root, None).unwrap(), "feature");
    assert_eq!(resolve_tag(root, Some("other")).unwrap(), "other");
    let error = resolve_tag(root, Some("../other")).unwrap_err();
    assert_eq!(error.code(), "bad_name");
    project.write(STATE, "{\"currentTag\": \"a/b\"}");
    assert_eq!(resolve_tag(root, None).unwrap_err().code(), "bad_name");
    project.write(STATE, "{\n\"currentTag\": 3}");
    let message = resolve_tag(root, None).unwrap_err().to_string();
    assert!(
        message.contains("state.json:2:15: `currentTag`"),
        "{message}"
    );
    project.write(STATE, "{");
    assert_eq!(current_tag(root).unwrap_err().code(), "tasks_invalid");
}

#[test]
fn the_tag_is_switched_and_set_back() {
    let project = Project::new();
    let root = project.root.path();
    // There is no file.
    assert_eq!(switch_tag(root, "feature").unwrap(), None);
    let old = "{\r\n  \"currentTag\" : \"master\",\r\n  \"migrationNoticeShown\": true\r\n}";
    project.write(STATE, old);
    // It is this one already.
    assert_eq!(switch_tag(root, "master").unwrap(), None);
    let rewrite = switch_tag(root, "feature").unwrap().unwrap();
    assert_eq!(rewrite.apply().unwrap(), Applied::Done);
    let new = old.replace("\"master\"", "\"feature\"");
    assert_eq!(project.read(STATE), new);
    assert_eq!(current_tag(root).unwrap().as_deref(), Some("feature"));
    assert_eq!(rewrite.revert().unwrap(), RevertOutcome::Done);
    assert_eq!(project.read(STATE), old);
}

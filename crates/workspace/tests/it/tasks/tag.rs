//! The tag in force, and switching it.

use workspace::tasks::{Applied, RevertOutcome, current_tag, resolve_tag, switch_tag};

use super::Project;

const STATE: &str = ".taskmaster/state.json";

#[test]
fn a_flag_goes_before_the_state_and_the_state_before_master() {
    let project = Project::new();
    let root = project.root.path();
    let resolved = |flag| resolve_tag(root, flag).map_err(|error| error.code());
    assert_eq!(resolved(None), Ok("master".to_owned()));
    let feature = "{\"currentTag\": \"feature\"}";
    for (state, flag, expected) in [
        ("{\"lastSwitched\": \"x\"}", None, Ok("master")),
        (feature, None, Ok("feature")),
        (feature, Some("other"), Ok("other")),
        (feature, Some("../other"), Err("bad_name")),
        ("{\"currentTag\": \"a/b\"}", None, Err("bad_name")),
        ("{\n\"currentTag\": 3}", None, Err("tasks_invalid")),
        ("{", None, Err("tasks_invalid")),
    ] {
        project.write(STATE, state);
        assert_eq!(resolved(flag), expected.map(ToOwned::to_owned), "{state}");
    }
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

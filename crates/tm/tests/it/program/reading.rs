//! Commands that only read: settings, workflows, the state of things.

use serde_json::{Value, json};

use super::environment::TestEnvironment;

#[test]
fn the_settings_are_shown_with_their_origin() {
    let environment = TestEnvironment::new();
    let plain = environment.typed_json("config show").ok();
    let shown = environment.typed_json("config show --origin").ok();
    for (section, key, value, from) in [
        ("test", "command", json!("sh run.sh"), "projectFile"),
        ("autopilot", "maxGreenAttempts", json!(3), "default"),
    ] {
        assert_eq!(plain[section][key], value);
        let with_origin = &shown[format!("{section}.{key}")];
        assert_eq!(with_origin["value"], value);
        assert_eq!(with_origin["origin"]["from"], from);
    }
}

#[test]
fn doctor_misses_nothing_but_what_is_needed_where_it_is() {
    let states = |environment: &TestEnvironment, status: i32| {
        let checks = environment.typed_json("doctor").json_with(status);
        move |id: &str| -> Vec<Value> {
            let checks = checks.as_array().unwrap().iter();
            let of = checks.filter(|check| check["id"] == id || id.is_empty());
            of.map(|check| check["state"].clone()).collect()
        }
    };
    let sound = TestEnvironment::new();
    let all = states(&sound, 0)("");
    assert!(!all.is_empty() && !all.contains(&json!("fail")), "{all:?}");
    assert!(sound.typed("doctor").text().lines().count() >= all.len());
    // What only work on a task needs is no fault before there is a repository to do it in.
    let bare = TestEnvironment::bare();
    assert_eq!(["git", "tests"].map(states(&bare, 0)), [["note"], ["note"]]);
    bare.git(&["init", "--quiet", "--template="]);
    assert_eq!(states(&bare, 6)("tests"), ["fail"]);
}

#[test]
fn status_and_next_change_nothing_wherever_they_are_called() {
    let environment = TestEnvironment::started();
    let before = environment.journal();
    environment.typed("autopilot status").text();
    environment.typed("autopilot next").text();
    environment.typed_json("autopilot next --check").ok();
    // What is whole is left alone, and nobody has to agree to that.
    let repair = environment.typed_json("log repair").ok();
    assert_eq!(repair["repaired"], false);
    assert_eq!(environment.journal(), before);

    let root = environment.project();
    let named = format!("autopilot --project-root {} status --json", root.display());
    let status = environment.typed_at(&environment.home(), &named);
    assert_eq!(status.ok()["taskId"], "1");
}

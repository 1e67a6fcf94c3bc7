//! Mistakes in settings, and how they are told.

use workspace::config::ConfigError;

use super::Place;

#[test]
fn mistakes_in_a_file_are_placed_and_explained() {
    for case in [
        "{\"test\": {\n  \"comand\": \"x\"}} ⇒ :2:3: unknown key `test.comand` | did you mean `test.command`?",
        r#"{"autopilot": {"maxAttempts": 3}} ⇒ :1:16: unknown key `autopilot.maxAttempts` | did you mean `autopilot.maxGreenAttempts`?"#,
        r#"{"autopilot": {"storage": {"path": "x"}}} ⇒ :1:28: unknown key `autopilot.storage.path` | did you mean `autopilot.storage.basePath`?"#,
        r#"{"git": {"xyz": 1}} ⇒ :1:10: unknown key `git.xyz` | valid here: git.branchPattern, git.defaultRemote, git.protectedBranches, git.allowSecrets, git.scopes, git.signoff, git.fsync, git.commitTimeout"#,
        r#"{"evidence": {"policy": {"redWithoutTests": "off"}}} ⇒ :1:26: unknown key `evidence.policy.redWithoutTests` | did you mean `evidence.policy.red_without_tests`?"#,
        r#"{"test": {"coverageThresholds.lines": 1}} ⇒ :1:11: unknown key `test.coverageThresholds.lines` | did you mean `test.coverageThresholds`?"#,
        r#"{"test": {"command": ["a"]}} ⇒ :1:22: `test.command` takes a string, not a list | give `test.command` a string"#,
        r#"{"test": []} ⇒ :1:10: `test` takes an object, not a list | give `test` an object"#,
        r#"{"autopilot": {"storage": "x"}} ⇒ :1:27: `autopilot.storage` takes an object, not a string | give `autopilot.storage` an object"#,
        r#"{"autopilot": {"enabled": "yes"}} ⇒ :1:27: `autopilot.enabled` takes true or false, not "yes" | give `autopilot.enabled` true or false"#,
        r#"{"autopilot": {"redAllPassing": true}} ⇒ :1:33: `autopilot.redAllPassing` takes "refuse" or "skip", not true | give `autopilot.redAllPassing` "refuse" or "skip""#,
        r#"{"evidence": {"require": "verify"}} ⇒ :1:26: `evidence.require` cannot be "verify": it must be "claimed" or "reported" or "ran" or "verified" | did you mean "verified"?"#,
        r#"{"test": {} ⇒ :1:11: the file ends within an object | mend the JSON at :1:11"#,
        "[] ⇒ :1:1: an object is expected, not a list | mend the JSON at :1:1",
    ] {
        let (text, expected) = case.split_once(" ⇒ ").unwrap();
        let place = Place::new().project(text);
        let error = error(&place);
        assert_eq!(error.code(), "config_invalid", "{text}");
        let told = format!("{error} | {}", error.suggestion().unwrap());
        let path = place.path("project/.taskmaster/config.json");
        let told = told.replace(&path.display().to_string(), "");
        assert_eq!(told, expected);
    }
}

#[test]
fn values_that_cannot_be() {
    for case in [
        "autopilot.maxGreenAttempts = 0",
        "autopilot.maxGreenAttempts = -1",
        "autopilot.maxGreenAttempts = 1.5",
        "autopilot.maxGreenAttempts = 4294967296",
        "autopilot.testTimeout = 1e300",
        "test.coverageThresholds.lines = 101",
        "test.coverageThresholds.lines = -0.1",
        "test.command = \"  \"",
        "test.command = \"a\\u0000b\"",
        "test.patterns = [\"a[\"]",
        "test.targetedRunPattern = \"{a\"",
        "git.scopes = {\"a[\": \"x\"}",
        "git.protectedBranches = [\"\"]",
        "autopilot.storage.location = \"local\"",
        "review.gates.plan = \"Human\"",
    ] {
        let (key, value) = case.split_once(" = ").unwrap();
        let nest = |inner, part| format!("{{\"{part}\": {inner}}}");
        let error = error(&Place::new().project(key.rsplit('.').fold(value.to_owned(), nest)));
        let is_about_the_value = matches!(error, ConfigError::BadValue { .. });
        let is_of_key = error.to_string().contains(key);
        assert!(is_about_the_value && is_of_key, "{error}");
    }
}

fn error(place: &Place) -> ConfigError {
    place.load().unwrap_err()
}

#[test]
fn mistakes_elsewhere_name_the_place() {
    let new = Place::new;
    let user = new().user("{\"git\": 1}");
    let path = user.path("home/.taskmaster/config.json");
    let variable = new().variable("TRAMLINE_AUTOPILOT_ENABLED", "perhaps");
    let flag = new().flag("evidence.requires", "verified");
    for (place, begins) in [
        (variable, "environment variable TRAMLINE_AUTOPILOT_ENABLED"),
        (flag, "on the command line: unknown key `evidence.requires`"),
        (user, path.to_str().unwrap()),
    ] {
        let told = error(&place).to_string();
        assert!(told.starts_with(begins), "{told}");
    }
    let malformed = error(&new().variable("TRAMLINE_GIT_SCOPES", "{"));
    assert!(matches!(malformed, ConfigError::Malformed { .. }));
    let long = error(&new().flag("evidence.require", "x".repeat(10_000)));
    assert!(long.to_string().len() < 300);
}

#[test]
fn files_that_cannot_be_read() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("project/.taskmaster/config.json")).unwrap();
    assert_eq!(error(&place).code(), "io_failed");
    let odd = error(&Place::new().project(b"{\"a\": \"\xff\"}")).to_string();
    assert!(odd.ends_with("1:8: not UTF-8 text"), "{odd}");
    let deep = format!("{{\"other\": {}", "[".repeat(200_000));
    assert_eq!(error(&Place::new().project(deep)).code(), "config_invalid");
    let huge = format!("{{\"other\": \"{}\"}}", "x".repeat(5_000_000));
    assert_eq!(error(&Place::new().project(huge)).code(), "io_failed");
}

#[test]
fn a_file_that_repeats_itself_is_read_in_linear_time() {
    let many = "\"command\": \"a\",\n".repeat(100_000);
    let text = format!("{{\"test\": {{{many} \"command\": \"last\"}}}}");
    let settings = Place::new().project(text).load().unwrap();
    assert_eq!(settings.config.test.command.as_deref(), Some("last"));
    let origin = settings.origins["test.command"].to_string();
    assert!(origin.ends_with(":100001"), "{origin}");
}

#[test]
fn of_two_sections_the_last_counts() {
    let text = r#"{"test": {"command": "a", "runner": "go"}, "test": {"runner": "cargo"}}"#;
    let section = Place::new().project(text).load().unwrap().config.test;
    assert_eq!(section.command, None);
    assert_eq!(section.runner, "cargo");
}

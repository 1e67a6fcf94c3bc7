//! Mistakes in settings, and how they are told.

use workspace::config::ConfigError;

use super::Place;

#[test]
fn mistakes_in_a_file_are_placed_and_explained() {
    for (text, message, suggestion) in [
        (
            "{\"test\": {\n  \"comand\": \"x\"}}",
            "2:3: unknown key `test.comand`",
            "did you mean `test.command`?",
        ),
        (
            "{\"autopilot\": {\"maxAttempts\": 3}}",
            "1:16: unknown key `autopilot.maxAttempts`",
            "did you mean `autopilot.maxGreenAttempts`?",
        ),
        (
            "{\"autopilot\": {\"storage\": {\"path\": \"x\"}}}",
            "1:28: unknown key `autopilot.storage.path`",
            "did you mean `autopilot.storage.basePath`?",
        ),
        (
            "{\"git\": {\"xyz\": 1}}",
            "1:10: unknown key `git.xyz`",
            "valid here: git.branchPattern, git.defaultRemote, git.protectedBranches, git.allowSecrets, git.scopes, git.signoff, git.fsync, git.commitTimeout",
        ),
        (
            "{\"evidence\": {\"policy\": {\"redWithoutTests\": \"off\"}}}",
            "1:26: unknown key `evidence.policy.redWithoutTests`",
            "did you mean `evidence.policy.red_without_tests`?",
        ),
        (
            "{\"test\": {\"coverageThresholds.lines\": 1}}",
            "1:11: unknown key `test.coverageThresholds.lines`",
            "did you mean `test.coverageThresholds`?",
        ),
        (
            "{\"test\": {\"command\": [\"a\"]}}",
            "1:22: `test.command` takes a string, not a list",
            "give `test.command` a string",
        ),
        (
            "{\"test\": []}",
            "1:10: `test` takes an object, not a list",
            "give `test` an object",
        ),
        (
            "{\"autopilot\": {\"storage\": \"x\"}}",
            "1:27: `autopilot.storage` takes an object, not a string",
            "give `autopilot.storage` an object",
        ),
        (
            "{\"autopilot\": {\"enabled\": \"yes\"}}",
            "1:27: `autopilot.enabled` takes true or false, not \"yes\"",
            "give `autopilot.enabled` true or false",
        ),
        (
            "{\"autopilot\": {\"finalization\": {\"updateTaskStatus\": true}}}",
            "1:53: `autopilot.finalization.updateTaskStatus` takes \"pending\" or \"in-progress\" or \"done\" or \"review\" or \"deferred\" or \"cancelled\" or \"blocked\" or false, not true",
            "give `autopilot.finalization.updateTaskStatus` \"pending\" or \"in-progress\" or \"done\" or \"review\" or \"deferred\" or \"cancelled\" or \"blocked\" or false",
        ),
        (
            "{\"evidence\": {\"require\": \"verify\"}}",
            "1:26: `evidence.require` cannot be \"verify\": it must be \"claimed\" or \"reported\" or \"verified\"",
            "did you mean \"verified\"?",
        ),
        (
            "{\"test\": {}",
            "1:11: the file ends within an object",
            "mend the JSON at",
        ),
        (
            "[]",
            "1:1: an object is expected, not a list",
            "mend the JSON at",
        ),
    ] {
        let place = Place::new().project(text);
        let error = place.load().unwrap_err();
        let told = error.to_string();
        let path = place.path("project/.taskmaster/config.json");
        assert_eq!(told, format!("{}:{message}", path.display()));
        assert!(
            error.suggestion().unwrap().starts_with(suggestion),
            "{text}: {error:?}"
        );
        assert_eq!(error.code(), "config_invalid");
    }
}

#[test]
fn values_that_cannot_be() {
    for (key, value) in [
        ("autopilot.maxGreenAttempts", "0"),
        ("autopilot.maxGreenAttempts", "-1"),
        ("autopilot.maxGreenAttempts", "1.5"),
        ("autopilot.maxGreenAttempts", "4294967296"),
        ("autopilot.testTimeout", "1e300"),
        ("test.coverageThresholds.lines", "101"),
        ("test.coverageThresholds.lines", "-0.1"),
        ("test.command", "\"  \""),
        ("test.command", "\"a\\u0000b\""),
        ("test.patterns", "[\"a[\"]"),
        ("test.targetedRunPattern", "\"{a\""),
        ("git.scopes", "{\"a[\": \"x\"}"),
        ("git.protectedBranches", "[\"\"]"),
        ("autopilot.storage.location", "\"local\""),
        ("review.gates.plan", "\"Human\""),
    ] {
        let mut text = value.to_owned();
        for part in key.rsplit('.') {
            text = format!("{{\"{part}\": {text}}}");
        }
        let error = Place::new().project(&text).load().unwrap_err();
        assert!(
            matches!(error, ConfigError::BadValue { .. }),
            "{text}: {error}"
        );
        assert!(error.to_string().contains(key), "{error}");
    }
}

#[test]
fn mistakes_elsewhere_name_the_place() {
    let error = Place::new()
        .variable("TRAMLINE_AUTOPILOT_ENABLED", "perhaps")
        .load()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "environment variable TRAMLINE_AUTOPILOT_ENABLED: `autopilot.enabled` takes true or false, not \"perhaps\""
    );
    let error = Place::new()
        .variable("TRAMLINE_GIT_SCOPES", "{")
        .load()
        .unwrap_err();
    assert!(matches!(error, ConfigError::Malformed { .. }), "{error}");
    let error = Place::new()
        .flag("evidence.requires", "verified")
        .load()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "on the command line: unknown key `evidence.requires`"
    );
    assert_eq!(
        error.suggestion().unwrap(),
        "did you mean `evidence.require`?"
    );
    let place = Place::new().user("{\"git\": 1}");
    let told = place.load().unwrap_err().to_string();
    assert!(
        told.starts_with(
            &place
                .path("home/.taskmaster/config.json")
                .display()
                .to_string()
        )
    );
    let long = "x".repeat(10_000);
    let error = Place::new()
        .flag("evidence.require", long)
        .load()
        .unwrap_err();
    assert!(error.to_string().len() < 300);
}

#[test]
fn files_that_cannot_be_read() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("project/.taskmaster/config.json")).unwrap();
    assert_eq!(place.load().unwrap_err().code(), "config_io");
    let error = Place::new()
        .project(b"{\"a\": \"\xff\"}")
        .load()
        .unwrap_err();
    assert!(
        error.to_string().ends_with("1:8: not UTF-8 text"),
        "{error}"
    );
    let deep = format!("{{\"other\": {}", "[".repeat(200_000));
    assert_eq!(
        Place::new().project(deep).load().unwrap_err().code(),
        "config_invalid"
    );
    let huge = format!("{{\"other\": \"{}\"}}", "x".repeat(5_000_000));
    assert_eq!(
        Place::new().project(huge).load().unwrap_err().code(),
        "config_io"
    );
}

#[test]
fn a_file_that_repeats_itself_is_read_in_linear_time() {
    let many = "\"command\": \"a\",\n".repeat(100_000);
    let text = format!("{{\"test\": {{{many} \"command\": \"last\"}}}}");
    let settings = Place::new().project(text).load().unwrap();
    assert_eq!(settings.config.test.command.as_deref(), Some("last"));
    assert!(
        settings.origins["test.command"]
            .to_string()
            .ends_with(":100001")
    );
}

#[test]
fn of_two_sections_the_last_counts() {
    let text = r#"{"test": {"command": "a", "setup": "b"}, "test": {"setup": "c"}}"#;
    let section = Place::new().project(text).load().unwrap().config.test;
    assert_eq!(
        (section.command, section.setup.as_deref()),
        (None, Some("c"))
    );
}

//! Commits before which no test failed.

use testkit::Outcome;

use super::environment::{TestEnvironment, told};

/// The repair that is open is reported and committed, and the run ended. What proves it here and in a clone.
fn mended(environment: &TestEnvironment) -> [Outcome; 2] {
    environment.write("src/more.sh", "true\n");
    let green = environment.report(&["words", "lines"], None);
    environment.does(&format!("autopilot complete green --report {green}"));
    environment.does("autopilot commit");
    environment.finalize();
    let clone = environment.clone_of_it(true);
    [
        environment.verify(""),
        environment.verify_in(&clone, "--replay"),
    ]
}

#[test]
fn a_repair_is_earned_by_the_suite_that_failed() {
    let environment = TestEnvironment::mended(true);
    let suite = environment.report(&["words", "lines", "readme"], None);
    environment.does(&format!("autopilot finalize --report {suite}"));
    let clone = environment.clone_of_it(true);
    for proof in [
        environment.verify("main..HEAD"),
        environment.verify_in(&clone, "--replay"),
    ] {
        let answer = told(&proof, "earned earned merge earned earned", "");
        let repair = &answer["commits"][3];
        let about = (&repair["for"], &repair["red"]["failed"]);
        assert_eq!(about, (&"repair".into(), &1.into()));
    }
}

#[test]
fn a_repair_of_what_passed_is_without_tests() {
    let environment = TestEnvironment::at_the_end(true);
    environment.does("autopilot reopen --reason more");
    for proof in mended(&environment) {
        let standings = "earned earned without_tests earned";
        told(&proof, standings, "without_tests");
    }
    let path = ".taskmaster/config.json";
    let settings = environment.read(path);
    let allowed = r#""evidence":{"withoutTests":["tdd"],"#;
    environment.write(path, settings.replace(r#""evidence":{"#, allowed));
    let answer = environment.verify("").ok();
    assert_eq!(answer["commits"][2]["standing"], "without_tests");
    let text = environment.try_tm("verify", None).out;
    let said = "3 of 4 commits were earned, 1 may be without tests by the settings";
    assert!(text.contains(said), "{text}");
}

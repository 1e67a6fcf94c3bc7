//! What an agent may not get away with: each cheat is played in a real repository with a real runner, and beside it an
//! honest run that nobody accuses.

#[path = "../rails/advice.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod advice;
mod cheats_after;
mod cheats_in_green;
mod cheats_in_red;
#[path = "../rails/environment.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod environment;
mod inline;
mod ledger;
mod policy;
mod python;
mod reports;
mod stage;
#[path = "../rails/terminal.rs"]
mod terminal;
mod verified;

/// A module that is not named above would never be run.
#[test]
fn every_file_of_tests_is_named() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evidence");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap_or(&name);
        assert!(
            module == "main" || main.contains(&format!("mod {module};")),
            "{name} is not named in main.rs"
        );
    }
}

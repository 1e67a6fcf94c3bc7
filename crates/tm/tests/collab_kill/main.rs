//! Sessions of skills whose processes are killed, and those that many processes are at: a skill counts once, a status is stored
//! or not, a task graph is taken in or not, and whoever goes on comes to the same end.

mod crowd;
mod matrix;
mod race;
mod served;
mod stage;
mod story;
mod whole;

/// A module that is not named above would never be run.
#[test]
fn every_file_of_tests_is_named() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/collab_kill");
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

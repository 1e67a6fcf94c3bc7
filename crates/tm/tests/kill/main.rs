//! The program as it dies: at every step, at random, with git living on or dying too. The run goes on from where it
//! was, each commit is made once, and nothing is left lying about.

mod crowd;
mod ending;
mod executor;
mod git;
mod matrix;
mod power_cut;
mod random;
mod stage;
mod turns;

/// A module that is not named above would never be run.
#[test]
fn every_file_of_tests_is_named() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kill");
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

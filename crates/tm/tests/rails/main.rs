//! The rails hold: every refusal provoked from the command line, the honest case beside it, and every way out.

mod advice;
mod branches;
mod clean_project;
mod commits;
mod crowds;
mod damage;
mod environment;
mod foreign;
mod hostile_git;
mod hostile_text;
mod lost_files;
mod phases;
mod policy;
mod preflight;
mod regressions;
mod standing;
mod task_files;
mod terminal;
mod ways_out;

/// A module that is not named above would never be run.
#[test]
fn every_file_of_tests_is_named() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rails");
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

//! The program as its callers meet it: the real binary, in real repositories.

mod approvals;
mod audit;
mod collab;
mod collab_walk;
mod demo;
mod environment;
mod errors;
mod evidence;
mod generic;
mod generic_crash;
mod generic_runs;
mod human;
mod init;
mod interactive;
mod reading;
mod renamed;
mod run_gates;
mod session;
mod session_gates;
mod shell;
mod terminal;
mod trust;
mod whole_run;
mod workflow_graph;

/// A module that is not named above would never be run.
#[test]
fn every_file_of_tests_is_named() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap_or(&name);
        assert!(
            matches!(module, "main" | "snapshots") || main.contains(&format!("mod {module};")),
            "{name} is not named in main.rs"
        );
    }
}

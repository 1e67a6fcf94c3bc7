//! The MCP server on a pipe, byte for byte: what it says to whom, and what it makes of what it should never be told.

mod approvals;
mod breaking;
mod collab;
#[path = "../it/collab_walk.rs"]
mod collab_walk;
mod crowds;
mod drawings;
mod eras;
mod evidence;
mod listing;
mod noise;
mod remembered;
mod same_as_cli;
mod served;
mod session;
mod stage;
mod waiting;

/// A module that is not named above would never be run.
#[test]
fn every_file_of_tests_is_named() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp");
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

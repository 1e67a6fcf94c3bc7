//! Sessions as their users meet them: the real binary, every phase, every gate, every way in which files can lie.

mod bundles;
mod cap;
mod damage;
mod decisions;
mod environment;
mod export;
mod gates;
mod person;
mod processors;
mod prompts;
mod respond;
mod statuses;
mod stub;
mod table;
mod tampering;
mod telling;
mod ways_out;

/// A module that is not named above would never be run.
#[test]
fn every_file_of_tests_is_named() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/session");
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

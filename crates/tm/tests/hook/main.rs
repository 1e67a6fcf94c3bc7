//! The guard hook as clients call it: recorded payloads against real runs, and whatever else may come over standard input.

mod environment;
mod hostile;
mod places;
mod sessions;
mod set_up;

/// A module that is not named above would never be run.
#[test]
fn every_file_of_tests_is_named() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hook");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap_or(&name);
        assert!(
            matches!(module, "main" | "payloads" | "snapshots")
                || main.contains(&format!("mod {module};")),
            "{name} is not named in main.rs"
        );
    }
}

//! Commits that were earned, and such as only look so: `tm verify`, bundles, notes, and what CI makes of them.

mod bundles;
mod ci;
mod environment;
mod journals;
mod notes;

/// A module that is not named above would never be run.
#[test]
fn every_file_of_tests_is_named() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verify");
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

//! Honest runs, one for each ordinary way of working: none of them may be refused, and none may be warned about what it
//! did not do. Where the rules are stricter than that, the way out that they name is gone to its end.

mod cargo;
mod changes;
#[path = "../it/environment.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod environment;
mod habits;
mod languages;
mod reports;
mod suites;
mod ways;
mod work;

/// A module that is not named above would never be run.
#[test]
fn every_file_of_tests_is_named() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/honest");
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

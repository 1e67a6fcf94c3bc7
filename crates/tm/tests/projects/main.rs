//! Real projects, driven from start to report with their own test runners: failing tests are written, run and counted,
//! the code is written, and the numbers reported are those that the runner printed.

mod counts;
mod language;
mod node;
mod project;
mod python;
mod rust;
mod story;

#[test]
fn a_rust_project_with_cargo_test() {
    story::tell(&rust::RUST);
}

#[test]
fn a_python_project_with_unittest() {
    story::tell(&python::PYTHON);
}

#[test]
fn a_node_project_with_its_own_runner() {
    story::tell(&node::NODE);
}

/// A module that is not named above would never be run.
#[test]
fn every_file_of_tests_is_named() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/projects");
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

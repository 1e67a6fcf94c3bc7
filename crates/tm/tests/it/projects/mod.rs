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

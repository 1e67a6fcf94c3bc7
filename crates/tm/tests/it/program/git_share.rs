//! How many processes of git each command of a cycle starts: nothing is asked twice.

use super::environment::TestEnvironment;
use testkit::files::write_program;

/// A project in which each start of git leaves a line in a file.
fn counted() -> TestEnvironment {
    let project = TestEnvironment::new();
    let path = std::env::var("PATH").unwrap();
    let mut all = std::env::split_paths(&path).map(|folder| folder.join("git"));
    let real = all.find(|git| git.is_file()).unwrap();
    let log = project.home().join("gits");
    let (log, real) = (log.display(), real.display());
    let script = format!("#!/bin/sh\necho x >> '{log}'\nexec '{real}' \"$@\"\n");
    write_program(&project.folder().join("bin/git"), script);
    project
}

#[test]
fn of_each_command() {
    let project = counted();
    let gits = |line: &str| {
        let log = project.home().join("gits");
        std::fs::write(&log, "").unwrap();
        project.typed(&format!("autopilot {line}")).text();
        std::fs::read_to_string(&log).unwrap().lines().count()
    };
    assert_eq!(["start 1", "next", "status"].map(gits), [7, 0, 0]);
    // The work is written as a tree, is held beside others, and is kept. Of files that git knows it has to be asked how many lines
    // are new; they need not be added.
    let parts = ["false", "false again"].map(|code| {
        project.write("tests/one.sh", code);
        let red = gits("complete red --results failed:1,passed:0");
        project.write("src/one.sh", code);
        let green = gits("complete green --results failed:0,passed:1");
        [red, green, gits("commit")]
    });
    assert_eq!(parts, [[6, 7, 8], [6, 8, 7]]);
    assert_eq!(gits("finalize --results failed:0,passed:2"), 6);
}

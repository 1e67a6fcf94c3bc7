//! How many processes of git each command of a cycle starts: nothing is asked twice.

use std::os::unix::fs::PermissionsExt as _;

use super::environment::TestEnvironment;

/// A project in which each start of git leaves a line in a file.
struct Counted {
    project: TestEnvironment,
    path: String,
}

impl Counted {
    fn new() -> Self {
        let project = TestEnvironment::new();
        let path = std::env::var("PATH").unwrap();
        let real = std::env::split_paths(&path)
            .map(|folder| folder.join("git"))
            .find(|git| git.is_file())
            .unwrap();
        let folder = project.home().join("bin");
        std::fs::create_dir_all(&folder).unwrap();
        let script = format!(
            "#!/bin/sh\necho x >> '{}'\nexec '{}' \"$@\"\n",
            project.home().join("gits").display(),
            real.display()
        );
        std::fs::write(folder.join("git"), script).unwrap();
        let may_run = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.join("git"), may_run).unwrap();
        Self {
            path: format!("{}:{path}", folder.display()),
            project,
        }
    }

    fn gits(&self, words: &[&str]) -> usize {
        let log = self.project.home().join("gits");
        std::fs::write(&log, "").unwrap();
        let mut command = self.project.program(&[&["autopilot"], words].concat());
        let done = command.env("PATH", &self.path).output().unwrap();
        assert!(done.status.success(), "{words:?}: {done:?}");
        std::fs::read_to_string(&log).unwrap().lines().count()
    }
}

#[test]
fn of_each_command() {
    let counted = Counted::new();
    let write = |file: &str, text: &str| counted.project.write(file, text);
    let red = ["complete", "red", "--results", "failed:1,passed:0"];
    let green = ["complete", "green", "--results", "failed:0,passed:1"];
    let asked =
        [["start", "1"].as_slice(), &["next"], &["status"]].map(|words| counted.gits(words));
    assert_eq!(asked, [7, 0, 0]);
    // Of files that git knows it has to be asked what they were, and how many lines are new; they need
    // not be added.
    let parts = ["false", "false again"].map(|code| {
        write("tests/one.sh", code);
        let red = counted.gits(&red);
        write("src/one.sh", code);
        [red, counted.gits(&green), counted.gits(&["commit"])]
    });
    assert_eq!(parts, [[1, 2, 5], [2, 3, 4]]);
    let end = ["finalize", "--results", "failed:0,passed:2"];
    assert_eq!(counted.gits(&end), 3);
}

//! The examples for CI: what their jobs run is run here, in a clone that has nothing but notes.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::environment::{TestEnvironment, ran};

fn example(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/ci")
        .join(name);
    let text = fs::read_to_string(path).unwrap();
    serde_saphyr::from_str(&text).unwrap()
}

fn lines(of: &Value, key: &str) -> Vec<String> {
    of.as_array()
        .unwrap()
        .iter()
        .filter_map(|step| {
            if key.is_empty() {
                step.as_str()
            } else {
                step[key].as_str()
            }
        })
        .map(str::to_owned)
        .collect()
}

/// Runs the lines of a job one after the other, as CI does; gives the status of the first that fails, and what was said.
fn job(environment: &TestEnvironment, clone: &Path, lines: &[String]) -> (i32, String) {
    assert!(
        lines.iter().any(|line| line.starts_with("tm verify")),
        "{lines:?}"
    );
    for line in lines {
        let mut shell = environment.process("sh", clone, "elsewhere");
        let ran = ran(shell.env("BASE", "main").args(["-e", "-c", line]));
        if ran.status != 0 {
            return (ran.status, ran.out + &ran.err);
        }
    }
    (0, String::new())
}

#[test]
fn the_jobs_let_earned_commits_pass_and_no_others() {
    let github = example("github.yml");
    let gitlab = example("gitlab-ci.yml");
    assert_eq!(
        github["jobs"]["verify"]["steps"][0]["with"]["fetch-depth"],
        0
    );
    assert_eq!(gitlab["verify"]["variables"]["GIT_DEPTH"], "0");
    let jobs = [
        lines(&github["jobs"]["verify"]["steps"], "run"),
        lines(&gitlab["verify"]["script"], ""),
    ];
    let environment = TestEnvironment::finished(true);
    let clone = environment.clone_of_it(false);
    for job_lines in &jobs {
        assert_eq!(job(&environment, &clone, job_lines), (0, String::new()));
    }
    environment.write("src/more.sh", "true\n");
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "More"]);
    fs::remove_dir_all(&clone).unwrap();
    let clone = environment.clone_of_it(false);
    for job_lines in &jobs {
        let (status, said) = job(&environment, &clone, job_lines);
        assert_eq!(status, 3, "{said}");
        assert!(said.contains("not provable"), "{said}");
    }
}

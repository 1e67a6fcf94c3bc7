//! The examples for CI: what their jobs run is run here, in a clone that has nothing but notes.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::environment::{TestEnvironment, ran};

fn example(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ci");
    let text = fs::read_to_string(folder.join(name)).unwrap();
    serde_saphyr::from_str(&text).unwrap()
}

fn lines(of: &Value, key: &str) -> Vec<String> {
    let steps = of.as_array().unwrap().iter();
    let lines = steps.filter_map(|step| step.get(key).unwrap_or(step).as_str());
    lines.map(str::to_owned).collect()
}

/// Runs the lines of a job one after the other, as CI does; gives the status of the first that fails, and what was said.
fn job(environment: &TestEnvironment, clone: &Path, lines: &[String]) -> (i32, String) {
    let verifies = lines.iter().any(|line| line.starts_with("tm verify"));
    assert!(verifies, "{lines:?}");
    for line in lines {
        let mut shell = environment.process_in("sh", clone, "elsewhere");
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
    let steps = &github["jobs"]["verify"]["steps"];
    assert_eq!(steps[0]["with"]["fetch-depth"], 0);
    assert_eq!(gitlab["verify"]["variables"]["GIT_DEPTH"], "0");
    let jobs = [lines(steps, "run"), lines(&gitlab["verify"]["script"], "")];
    let environment = TestEnvironment::finished(true);
    let clone = environment.clone_of_it(false);
    for job_lines in &jobs {
        assert_eq!(job(&environment, &clone, job_lines), (0, String::new()));
    }
    environment.write("src/more.sh", "true\n");
    environment.commit_all("More");
    let clone = environment.clone_of_it(false);
    for job_lines in &jobs {
        let (status, said) = job(&environment, &clone, job_lines);
        assert_eq!(status, 3, "{said}");
        assert!(said.contains("not provable"), "{said}");
    }
}

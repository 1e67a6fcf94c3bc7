//! What a submission does, from the end of a run to a pull request that is up to date.

use serde_json::{Value, json};
use testkit::Forge;

use crate::rails::environment::{CONFIG, TASKS, TestEnvironment};

/// A run of task 1 that is at its end, with a forge of this host beside it.
pub fn finished(host: &str) -> (TestEnvironment, Forge) {
    finished_with(CONFIG, host)
}

/// The same with settings of its own.
pub fn finished_with(config: &str, host: &str) -> (TestEnvironment, Forge) {
    let env = TestEnvironment::with(TASKS, config);
    let forge = Forge::beside(&env, host);
    env.whole_run("start 1");
    (env, forge)
}

/// The commit of the run's branch on the remote.
pub fn pushed(env: &TestEnvironment, forge: &Forge) -> String {
    let remote = forge.remote();
    env.git(&[
        "--git-dir",
        remote.to_str().unwrap(),
        "rev-parse",
        "refs/heads/master/task-1-count-the-words",
    ])
}

#[test]
fn a_run_becomes_a_pull_request_and_is_brought_up_to_date() {
    let (env, forge) = finished("github.com");
    let answer = env
        .auto("submit --label run --reviewer ann --reviewer o/team --issue 12")
        .ok();
    let next = &answer["nextAction"]["nextSteps"][0];
    assert_eq!(next["step"], "feedback", "{answer:#}");
    assert_eq!(answer["pullRequest"]["created"], true, "{answer:#}");
    assert_eq!(
        answer["pullRequest"]["url"],
        "https://github.com/o/r/pull/1"
    );
    assert_eq!(answer["moved"], true);
    assert_eq!(pushed(&env, &forge), env.head());
    let request = forge.request(1);
    assert_eq!(request["base"], "main");
    assert_eq!(request["head"], "master/task-1-count-the-words");
    assert_eq!(request["draft"], false);
    let body = request["body"].as_str().unwrap();
    assert!(body.contains("Closes #12"), "{body}");
    assert!(body.contains("| 1.1 Count by spaces |"), "{body}");

    // Once more: nothing is there to do, and nothing is done twice.
    let before = forge.calls().len();
    let again = env.auto("submit --label run").ok();
    assert_eq!(again["pullRequest"]["created"], false, "{again:#}");
    assert_eq!(again["moved"], false);
    assert_eq!(forge.requests(), 1);
    let calls = forge.calls().split_off(before);
    assert!(calls.iter().all(|call| call.method == "GET"), "{calls:#?}");

    // What people wrote around the part of the run stays, and so does their title.
    let kept = format!("Mine.\n\n{body}\nMine too.\n");
    forge.edit(
        1,
        &json!({ "title": "Theirs", "body": kept.replace("Count by tabs", "Something") }),
    );
    env.auto("submit --draft").ok();
    let request = forge.request(1);
    let body = request["body"].as_str().unwrap();
    assert!(
        body.starts_with("Mine.\n") && body.ends_with("Mine too.\n"),
        "{body}"
    );
    assert!(body.contains("Count by tabs"), "{body}");
    assert_eq!(request["title"], "Theirs");
    assert_eq!(request["draft"], true);
    env.auto("submit --ready").ok();
    assert_eq!(forge.request(1)["draft"], false);

    // Who was not asked before is asked, and nobody twice.
    env.auto("submit --reviewer ann --reviewer bob").ok();
    let asked: Vec<Value> = forge
        .calls()
        .into_iter()
        .filter(|call| call.path.ends_with("requested_reviewers"))
        .map(|call| call.body["reviewers"].clone())
        .collect();
    assert_eq!(asked, [json!(["ann"]), json!(["bob"])]);

    // Into another branch: it is the same one.
    env.git(&["push", "--quiet", "origin", "main:refs/heads/next"]);
    env.auto("submit --base next").ok();
    assert_eq!(forge.request(1)["base"], "next");
    assert_eq!(forge.requests(), 1);
}

#[test]
fn gitlab_is_asked_in_its_own_words() {
    let (env, forge) = finished("gitlab.example.org");
    let answer = env
        .auto("submit --draft --label a --label b --reviewer ann")
        .ok();
    assert_eq!(
        answer["pullRequest"]["url"], "https://gitlab.example.org/o/r/-/merge_requests/1",
        "{answer:#}"
    );
    assert_eq!(answer["pullRequest"]["draft"], true);
    let request = forge.request(1);
    assert_eq!(request["source_branch"], "master/task-1-count-the-words");
    assert_eq!(request["target_branch"], "main");
    assert!(
        request["title"].as_str().unwrap().starts_with("Draft: "),
        "{request:#}"
    );
    assert_eq!(request["add_labels"], "a,b");
    assert_eq!(request["reviewer_ids"], json!([7]));
    env.auto("submit --ready").ok();
    assert!(
        !forge.request(1)["title"]
            .as_str()
            .unwrap()
            .starts_with("Draft")
    );
    let calls = forge.calls();
    assert!(
        calls.iter().all(|call| call.program == "glab"),
        "{calls:#?}"
    );
}

#[test]
fn the_projects_template_is_filled_in() {
    let env = TestEnvironment::new();
    env.write(
        ".github/PULL_REQUEST_TEMPLATE.md",
        "## Why\r\n\r\n- [ ] I tested it\r\n",
    );
    env.commit_all("A template");
    let forge = Forge::beside(&env, "github.com");
    env.whole_run("start 1");
    env.auto("submit").ok();
    let request = forge.request(1);
    let body = request["body"].as_str().unwrap();
    assert!(
        body.starts_with("## Why\n\n- [ ] I tested it\n\n<!-- tramline run "),
        "{body}"
    );
    assert_eq!(request["title"], "feat: count the words (task 1)");
}

/// The rest is a person's where no program can do it: that is no failure.
#[test]
fn without_a_program_a_person_is_told_how() {
    let (env, forge) = finished("github.com");
    forge.fails("*", "*", "4");
    let answer = env.auto("submit").ok();
    assert_eq!(answer["pullRequest"], Value::Null);
    assert_eq!(
        answer["byHand"]["url"],
        "https://github.com/o/r/compare/main...master/task-1-count-the-words",
        "{answer:#}"
    );
    assert!(
        answer["byHand"]["fix"]
            .as_str()
            .unwrap()
            .contains("gh auth login")
    );
    assert_eq!(pushed(&env, &forge), env.head());
    forge.works_again();
    assert_eq!(env.auto("submit").ok()["pullRequest"]["created"], true);
}

#[test]
fn a_run_from_a_detached_commit_is_submitted_to_the_default_branch_of_the_remote() {
    let env = TestEnvironment::new();
    let forge = Forge::beside(&env, "github.com");
    env.git(&["switch", "--quiet", "--detach"]);
    env.whole_run("start 1");
    env.auto("submit").ok();
    assert_eq!(forge.request(1)["base"], "main");
}

//! What a submission does, from the end of a run to a pull request that is up to date.

use serde_json::{Value, json};
use testkit::Forge;

use crate::rails::environment::{BRANCH, CONFIG, TASKS, TestEnvironment, tells};

/// A run of task 1 that is at its end, with a forge of this host beside it.
pub fn finished(host: &str) -> (TestEnvironment, Forge) {
    finished_with(CONFIG, host)
}

/// The same with settings of its own.
pub fn finished_with(config: &str, host: &str) -> (TestEnvironment, Forge) {
    let env = TestEnvironment::at(&format!("finished: {host} {config}"), || {
        let env = TestEnvironment::with(TASKS, config);
        Forge::beside(&env, host);
        env.whole_run("start 1");
        env
    });
    let forge = Forge::of(&env);
    (env, forge)
}

/// The same whose pull request is there.
pub fn submitted(host: &str) -> (TestEnvironment, Forge) {
    let env = TestEnvironment::at(&format!("submitted: {host}"), || {
        let (env, _) = finished(host);
        env.auto("submit").ok();
        env
    });
    let forge = Forge::of(&env);
    (env, forge)
}

/// Runs git on the remote.
pub fn on_remote(env: &TestEnvironment, forge: &Forge, words: &str) -> String {
    env.git_words(&format!("--git-dir {} {words}", forge.remote().display()))
}

/// The commit of the run's branch on the remote; empty where there is none.
pub fn pushed(env: &TestEnvironment, forge: &Forge) -> String {
    let branch = format!("for-each-ref --format=%(objectname) refs/heads/{BRANCH}");
    on_remote(env, forge, &branch)
}

/// What is written on the first pull request.
pub fn body(forge: &Forge) -> String {
    let request = forge.request(1);
    let body = request.get("body").unwrap_or(&request["description"]);
    body.as_str().unwrap().to_owned()
}

#[test]
fn a_run_becomes_a_pull_request_and_is_brought_up_to_date() {
    testkit::by_chance!(3);
    let (env, forge) = finished("github.com");
    let answer = env
        .auto("submit --label run --reviewer ann --reviewer o/team --issue 12")
        .ok();
    let next = &answer["nextAction"]["nextSteps"][0];
    assert_eq!(next["step"], "feedback", "{answer:#}");
    assert_eq!(answer["pullRequest"]["created"], true, "{answer:#}");
    let url = "https://github.com/o/r/pull/1";
    assert_eq!(answer["pullRequest"]["url"], url);
    assert_eq!(answer["moved"], true);
    assert_eq!(pushed(&env, &forge), env.head());
    let request = forge.request(1);
    let parts = ["base", "head", "draft"].map(|part| request[part].clone());
    assert_eq!(parts, [json!("main"), json!(BRANCH), json!(false)]);
    let first = body(&forge);
    tells(&first, &["Closes #12", "| 1.1 Count by spaces |"]);

    // Once more: nothing is there to do, and nothing is done twice.
    let before = forge.calls().len();
    let again = env.auto("submit --label run").ok();
    let told = [&again["pullRequest"]["created"], &again["moved"]];
    assert_eq!(told, [false; 2]);
    let calls = forge.calls().split_off(before);
    assert!(calls.iter().all(|call| call.method == "GET"), "{calls:#?}");

    // What people wrote around the part of the run stays, and so does their title.
    let kept = format!("Mine.\n\n{first}\nMine too.\n");
    let edited = kept.replace("Count by tabs", "Something");
    forge.edit(1, &json!({ "title": "Theirs", "body": edited }));
    env.auto("submit --draft").ok();
    assert_eq!(body(&forge), kept);
    assert_eq!(forge.request(1)["title"], "Theirs");
    assert_eq!(forge.request(1)["draft"], true);
    env.auto("submit --ready").ok();
    assert_eq!(forge.request(1)["draft"], false);

    // Who was not asked before is asked, and nobody twice.
    env.auto("submit --reviewer ann --reviewer bob").ok();
    let calls = forge.calls().into_iter();
    let asked = calls.filter(|call| call.path.ends_with("requested_reviewers"));
    let asked: Vec<Value> = asked.map(|call| call.body["reviewers"].clone()).collect();
    assert_eq!(asked, [json!(["ann"]), json!(["bob"])]);

    // Into another branch: it is the same one.
    env.git_words("push --quiet origin main:refs/heads/next");
    env.auto("submit --base next").ok();
    assert_eq!(forge.request(1)["base"], "next");
    assert_eq!(forge.requests(), 1);
}

#[test]
fn gitlab_is_asked_in_its_own_words() {
    testkit::by_chance!(3);
    let (env, forge) = finished("gitlab.example.org");
    let answer = env
        .auto("submit --draft --label a --label b --reviewer ann")
        .ok();
    let url = "https://gitlab.example.org/o/r/-/merge_requests/1";
    assert_eq!(answer["pullRequest"]["url"], url, "{answer:#}");
    assert_eq!(answer["pullRequest"]["draft"], true);
    let request = forge.request(1);
    let branches = ["source_branch", "target_branch", "add_labels"];
    let expected = [BRANCH, "main", "a,b"];
    assert_eq!(branches.map(|part| request[part].clone()), expected);
    assert_eq!(request["reviewer_ids"], json!([7]));
    let is_draft = || forge.request(1)["title"].to_string().contains("Draft: ");
    assert!(is_draft());
    env.auto("submit --ready").ok();
    assert!(!is_draft());
    let calls = forge.calls();
    assert_eq!(calls.iter().find(|call| call.program != "glab"), None);
}

/// Into the default branch of the remote, where the run was begun on none.
#[test]
fn the_projects_template_is_filled_in() {
    testkit::by_chance!(3);
    let env = TestEnvironment::new();
    let template = "## Why\r\n\r\n- [ ] I tested it\r\n";
    env.commit_file(".github/PULL_REQUEST_TEMPLATE.md", template);
    let forge = Forge::beside(&env, "github.com");
    env.git(&["switch", "--quiet", "--detach"]);
    env.whole_run("start 1");
    env.auto("submit").ok();
    let begin = template.replace('\r', "") + "\n<!-- tramline run ";
    tells(body(&forge), &[&begin]);
    let request = forge.request(1);
    assert_eq!(request["title"], "feat: count the words (task 1)");
    assert_eq!(request["base"], "main");
}

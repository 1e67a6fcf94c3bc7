//! What was sent back, and why, stands in the next prompt.

use engine::view::session::request::Reopen;
use engine::{Channel, Engine};

use super::stage::{CODE, FAIL, PLAN, Stage};

fn person(stage: &Stage) -> Engine {
    stage.engine().asked(Channel::Terminal)
}

#[test]
fn all_feedback_and_the_last_answer_stand_in_the_next_prompt() {
    let stage = Stage::planned();
    stage.reject("Name the edges.");
    stage.write("planning-response.md", "The second plan.\n");
    stage.step();
    stage.reject("And the tests.");
    let prompt = stage.read("planning-prompt.md");
    insta::assert_snapshot!(part(
        &stage,
        &prompt,
        "## What a person said",
        "## What a good plan says"
    ));
    stage.write("planning-response.md", PLAN);
    stage.step();
    stage.approve();
    stage.step();
    let prompt = stage.read("iteration-1/generation-prompt.md");
    assert!(!prompt.contains("Name the edges."), "{prompt}");
}

#[test]
fn what_a_person_said_of_the_code_holds_in_each_iteration() {
    let stage = Stage::generated();
    stage.reject("Count letters, too.");
    let prompt = stage.read("iteration-1/generation-prompt.md");
    assert!(
        prompt.contains("wc -w") && prompt.contains("Count letters, too."),
        "{prompt}"
    );
    stage.write(
        "iteration-1/generation-response.md",
        "<<<FILE: count.sh>>>\nwc -wc\n",
    );
    stage.step();
    stage.step();
    stage.approve();
    stage.step();
    let prompt = stage.read("iteration-1/review-prompt.md");
    assert!(prompt.contains("Count letters, too."), "{prompt}");
    stage.write("iteration-1/review-response.md", FAIL);
    stage.step();
    stage.approve();
    stage.step();
    let prompt = stage.read("iteration-2/revision-prompt.md");
    assert!(prompt.contains("Count letters, too."), "{prompt}");
    assert!(
        !prompt.contains("## The answer that was sent back"),
        "{prompt}"
    );
}

#[test]
fn why_a_response_broke_the_session_stands_in_the_prompt_and_the_state() {
    let stage = Stage::planned();
    stage.approve();
    stage.step();
    let before = stage.read("iteration-1/generation-prompt.md");
    stage.write(
        "iteration-1/generation-response.md",
        "<<<FILE: ../x>>>\n1\n",
    );
    assert_eq!(stage.step().state.phase, "ERROR");
    let reopen = Reopen {
        reason: "The model slipped.".to_owned(),
        ..Reopen::default()
    };
    let state = person(&stage).session_reopen(None, &reopen).unwrap().state;
    assert_eq!(state.phase, "GENERATING");
    assert!(state.last_error.unwrap().contains("`../x`"));
    let prompt = stage.read("iteration-1/generation-prompt.md");
    insta::assert_snapshot!(part(
        &stage,
        &prompt,
        "## What a person said",
        "## What is expected"
    ));
    assert_eq!(
        stage.read("iteration-1/generation-prompt.reopened-1.md"),
        before
    );
    stage.write("iteration-1/generation-response.md", CODE);
    assert_eq!(stage.step().state.last_error, None);
}

#[test]
fn a_prompt_that_somebody_edited_stays_theirs() {
    let stage = Stage::planned();
    stage.approve();
    stage.step();
    stage.write("iteration-1/generation-prompt.md", "Just write it.\n");
    stage.write("iteration-1/generation-response.md", "nothing");
    assert_eq!(stage.step().state.phase, "ERROR");
    person(&stage)
        .session_reopen(None, &Reopen::default())
        .unwrap();
    assert_eq!(
        stage.read("iteration-1/generation-prompt.md"),
        "Just write it.\n"
    );
}

#[test]
fn a_review_is_told_what_changed() {
    let stage = Stage::generated();
    stage.approve();
    stage.step();
    stage.write("iteration-1/review-response.md", FAIL);
    stage.step();
    stage.approve();
    stage.step();
    stage.write(
        "iteration-2/revision-response.md",
        "<<<FILE: count.sh>>>\nwc --words\n<<<DELETE: lib/words.txt>>>\n<<<EMPTY: lib/none>>>\n",
    );
    stage.step();
    stage.step();
    stage.approve();
    stage.step();
    let prompt = stage.read("iteration-2/review-prompt.md");
    insta::assert_snapshot!(part(&stage, &prompt, "## The code", "## How to look"));
    stage.write("iteration-2/review-response.md", FAIL);
    stage.step();
    stage.approve();
    stage.step();
    stage.write(
        "iteration-3/revision-response.md",
        "<<<FILE: count.sh>>>\nwc --words\n",
    );
    stage.step();
    let step = stage.step();
    assert_eq!(
        step.messages,
        ["the revision changes nothing: the candidate is what the last one was"]
    );
    stage.approve();
    stage.step();
    let prompt = stage.read("iteration-3/review-prompt.md");
    assert!(
        prompt.contains("Nothing: it is what the last one was."),
        "{prompt}"
    );
    let history = stage.state().phase_history;
    let said = history.iter().filter_map(|entry| entry.said.as_ref());
    assert!(
        said.clone()
            .any(|said| said.metadata.get("issues_total") == Some(&1.into()))
    );
    assert!(said.clone().any(|said| said.messages == step.messages));
}

/// The part of a prompt from one heading to another, with the names that are other in each session.
fn part(stage: &Stage, prompt: &str, from: &str, to: &str) -> String {
    let begin = prompt.find(from).unwrap();
    let end = prompt.find(to).unwrap();
    prompt[begin..end].replace(&stage.dir.display().to_string(), "[session]")
}

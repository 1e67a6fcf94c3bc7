//! What was sent back, and why, stands in the next prompt.

use engine::view::SESSION;
use engine::{Turn, Verb};

use super::stage::{CODE, PLAN, Stage};

#[test]
fn all_feedback_and_the_last_answer_stand_in_the_next_prompt() {
    let stage = Stage::planned();
    stage.reject("Name the edges.");
    stage.responds("planning-response.md", "The second plan.\n");
    stage.reject("And the tests.");
    let headings = ["## What a person said", "## What a good plan says"];
    insta::assert_snapshot!(part(&stage, "planning-prompt.md", headings));
    stage.responds("planning-response.md", PLAN);
    stage.goes_on();
    let generation = "iteration-1/generation-prompt.md";
    let says = |prompt: &str, word: &str| stage.read(prompt).contains(word);
    assert!(!says(generation, "Name the edges."));
    stage.codes("iteration-1/generation-response.md", CODE);
    // What a person said of the code holds in each iteration.
    let letters = "Count letters, too.";
    stage.reject(letters);
    assert!(says(generation, "wc -w") && says(generation, letters));
    let code = "<<<FILE: count.sh>>>\nwc -wc\n";
    stage.codes("iteration-1/generation-response.md", code);
    stage.goes_on();
    assert!(says("iteration-1/review-prompt.md", letters));
    stage.fails_review(1);
    let revision = "iteration-2/revision-prompt.md";
    assert!(says(revision, letters));
    assert!(!says(revision, "## The answer that was sent back"));
}

#[test]
fn why_a_response_broke_the_session_stands_in_the_prompt_and_the_state() {
    let stage = Stage::planned();
    stage.goes_on();
    let (prompt, response) = (
        "iteration-1/generation-prompt.md",
        "iteration-1/generation-response.md",
    );
    let before = stage.read(prompt);
    let step = stage.responds(response, "<<<FILE: ../x>>>\n1\n");
    assert_eq!(step.state.phase, "ERROR");
    let reopen = Turn::new(Verb::Reopen, "The model slipped.");
    stage.person().turn(&SESSION, None, &reopen).unwrap();
    let state = stage.state();
    assert_eq!(state.phase, "GENERATING");
    assert!(state.last_error.unwrap().contains("`../x`"));
    let headings = ["## What a person said", "## What is expected"];
    insta::assert_snapshot!(part(&stage, prompt, headings));
    let kept = stage.read("iteration-1/generation-prompt.reopened-1.md");
    assert_eq!(kept, before);
    // A prompt that somebody edited stays theirs.
    stage.write(prompt, "Just write it.\n");
    let step = stage.responds(response, "nothing");
    assert_eq!(step.state.phase, "ERROR");
    stage.person().turn(&SESSION, None, &reopen).unwrap();
    assert_eq!(stage.read(prompt), "Just write it.\n");
    assert_eq!(stage.responds(response, CODE).state.last_error, None);
}

#[test]
fn a_review_is_told_what_changed() {
    let stage = Stage::generated();
    stage.goes_on();
    stage.fails_review(1);
    stage.codes(
        "iteration-2/revision-response.md",
        "<<<FILE: count.sh>>>\nwc --words\n<<<DELETE: lib/words.txt>>>\n<<<EMPTY: lib/none>>>\n",
    );
    stage.goes_on();
    let headings = ["## The code", "## How to look"];
    insta::assert_snapshot!(part(&stage, "iteration-2/review-prompt.md", headings));
    stage.fails_review(2);
    let same = "<<<FILE: count.sh>>>\nwc --words\n";
    let step = stage.codes("iteration-3/revision-response.md", same);
    let said = ["the revision changes nothing: the candidate is what the last one was"];
    assert_eq!(step.messages, said);
    stage.goes_on();
    let prompt = stage.read("iteration-3/review-prompt.md");
    assert!(prompt.contains("Nothing: it is what the last one was."));
    let history = stage.state().phase_history;
    let mut said = history.iter().filter_map(|entry| entry.said.as_ref());
    let total = |name: &str| {
        said.clone()
            .find_map(|said| said.metadata.get(name).cloned())
    };
    assert_eq!(total("issues_total"), Some(1.into()));
    assert!(said.any(|said| said.messages == step.messages));
}

/// The part of a prompt from one heading to another, with the names that are other in each session.
fn part(stage: &Stage, prompt: &str, headings: [&str; 2]) -> String {
    let text = stage.read(prompt);
    let [begin, end] = headings.map(|heading| text.find(heading).unwrap());
    text[begin..end].replace(&stage.dir.display().to_string(), "[session]")
}

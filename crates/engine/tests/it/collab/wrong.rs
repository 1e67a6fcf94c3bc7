//! A skill that is not the one expected moves nothing, wherever the session is.

use std::collections::BTreeSet;

use engine::Kind;
use serde_json::json;

use super::stage::{Stage, says_why};
use super::walk::{skill_of, way};

const ONE_OF_EACH: [&str; 3] = ["code", "task", "bugfix"];

/// Every skill there is, in the order of the way.
fn skills() -> Vec<&'static str> {
    let mut all = Vec::new();
    for (state, ..) in way(&ONE_OF_EACH, 1) {
        if !all.contains(&skill_of(state)) {
            all.push(skill_of(state));
        }
    }
    all
}

/// Names that are no skills: those of states and routers among them.
const UNKNOWN: [&str; 9] = [
    "gather-goals",
    "work-item-router",
    "batch-router",
    "log-batch-complete",
    "done",
    "clear-bs2",
    "collab_clear",
    "собрать",
    "../collab-start\u{0}\u{1b}[31m",
];

/// A name as somebody clumsy writes it.
fn odd(name: &str) -> String {
    let (begin, end) = name.split_at(name.len() / 2);
    format!(" \t{}{end}\n", begin.to_uppercase())
}

#[test]
fn in_every_state_every_other_skill_is_refused() {
    testkit::by_chance!(3);
    let skills = skills();
    assert_eq!(skills.len(), 18);
    let stage = Stage::of(&ONE_OF_EACH);
    let mut accepted = ("collab-start", stage.done("collab-start"));
    let mut visited = BTreeSet::from(["collab-start"]);
    for (at, (state, ..)) in way(&ONE_OF_EACH, 2).into_iter().enumerate().skip(1) {
        visited.insert(state);
        let due = skill_of(state);
        let unit = stage.brief().unit_id;
        let before = stage.files();
        for (number, skill) in skills
            .iter()
            .enumerate()
            .filter(|(_, skill)| **skill != due)
        {
            // The unit in hand makes no other skill the right one.
            let unit = unit.as_deref().filter(|_| (at + number) % 3 == 0);
            let named = [(*skill).to_owned(), odd(skill)];
            let answer = stage.complete(&named[(at + number) % 2], unit).unwrap();
            if *skill == accepted.0 && unit.is_none() {
                assert_eq!(answer, accepted.1, "{skill} in {state}");
                continue;
            }
            says_why("unexpected_skill", &answer);
            let told = (answer.next_skill.as_deref(), answer.state.as_str());
            assert_eq!(told, (Some(due), state), "{skill} in {state}");
            assert_eq!(answer.valid_skills, Vec::<String>::new());
        }
        let answer = stage.complete(UNKNOWN[at % 9], None).unwrap();
        says_why("unknown_skill", &answer);
        let told = (answer.next_skill.as_deref(), answer.state.as_str());
        assert_eq!(told, (Some(due), state));
        assert_eq!(answer.valid_skills, skills);
        stage.is_as(&before);
        match state {
            "build-task-graph" => {
                stage.refused(due, "graph_missing");
                stage.synced(super::stage::TWO_WAVES);
            }
            "execute-batch" => {
                stage.refused(due, "tasks_unfinished");
                stage.finish_batch();
            }
            _ => {}
        }
        accepted = (due, stage.done(&odd(due)));
    }
    assert_eq!(visited.len(), 29);
    let long = stage.complete(&"x".repeat(100_000), None).unwrap();
    says_why("unknown_skill", &long);
    assert!(long.done && long.verdict.message.unwrap().len() < 1000);
    // Unnamed, the first skill would begin another session.
    let stage = stage.named("default");
    let before = stage.files();
    for skill in skills {
        let answer = stage.complete(skill, None).unwrap();
        let told = json!([answer.done, answer.next_skill, answer.state]);
        assert_eq!(told, json!([true, null, "done"]), "{skill}");
        if skill == accepted.0 {
            assert_eq!(answer, accepted.1);
        } else {
            says_why("run_over", &answer);
        }
    }
    stage.is_as(&before);
}

#[test]
fn before_a_session_only_the_first_skill_begins_one() {
    let stage = Stage::bare();
    for skill in skills().into_iter().skip(1).step_by(4).chain([UNKNOWN[8]]) {
        let fault = stage.complete(skill, None).unwrap_err();
        let told = (fault.kind, fault.code.as_str());
        assert_eq!(told, (Kind::Missing, "no_run"));
        assert!(fault.recovery.contains("collab-start"), "{fault:?}");
        assert_eq!(fault.expected, Some("collab-start".into()));
    }
    for (skill, unit, code) in [
        // A unit belongs to a session that is there.
        ("collab-start", Some("r/collab-start/1"), "no_run"),
        ("", None, "usage"),
        ("\t\n", None, "usage"),
    ] {
        assert_eq!(stage.complete(skill, unit).unwrap_err().code, code);
    }
    assert_eq!(stage.runs(), 0);
    stage.done(" Collab-START ");
    assert_eq!(stage.runs(), 1);
}

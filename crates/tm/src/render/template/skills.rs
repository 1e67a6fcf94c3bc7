//! The pages of sessions of skills, as they are read.

use engine::view::collab::answer::{
    BatchBrief, BatchState, DocumentProblem, ItemBrief, SessionBrief, SessionState, SkillAnswer,
    SyncAnswer, TaskBrief, UpdateAnswer, Verdict, WorkItem,
};
use serde_json::json;
use text::plain::is_hidden;

use super::*;
use crate::steps::{Caller, Form};

const PLAIN: Look = Look {
    width: 72,
    line: 72,
    ..super::super::page::tests::PLAIN
};

/// How it looks for a caller who named the session.
fn naming(session: Option<&str>, look: &Look) -> Look {
    let caller = Caller::at_a_shell(Form::of_view("collab"), session.map(str::to_owned));
    Look {
        caller: Box::leak(Box::new(caller)),
        ..*look
    }
}

fn completed(answer: &SkillAnswer, named: Option<&str>, look: &Look) -> String {
    page("skill", answer, &naming(named, look))
}

fn brief(brief: &SessionBrief, run: Option<&str>, named: Option<&str>, look: &Look) -> String {
    page_with(
        "skill_brief",
        brief,
        &json!({ "run": run }),
        &naming(named, look),
    )
}

fn state(state: &SessionState, named: Option<&str>, look: &Look) -> String {
    page("skills_state", state, &naming(named, look))
}

fn stored(updated: &UpdateAnswer, skill: Option<&str>, named: Option<&str>, look: &Look) -> String {
    let beside = json!({ "skill": skill });
    page_with("skills_updated", updated, &beside, &naming(named, look))
}

fn updated(updated: &UpdateAnswer, look: &Look) -> String {
    stored(updated, None, None, look)
}

fn synced(answer: &SyncAnswer, named: Option<&str>, look: &Look) -> String {
    page("graph_synced", answer, &naming(named, look))
}

fn task(id: &str, status: &str, after: &[&str]) -> TaskBrief {
    TaskBrief {
        id: id.to_owned(),
        status: status.to_owned(),
        depends_on: after.iter().map(|&id| id.to_owned()).collect(),
        ..TaskBrief::default()
    }
}

fn answer() -> SkillAnswer {
    SkillAnswer {
        verdict: Verdict {
            validated: true,
            ..Verdict::default()
        },
        next_skill: Some("brainstorming-exploring".to_owned()),
        session: "dates".to_owned(),
        state: "brainstorm-exploring".to_owned(),
        display_name: "Exploring".to_owned(),
        unit_id: Some("u-5".to_owned()),
        item: Some(ItemBrief {
            number: json!(1),
            title: "Parse dates".to_owned(),
            kind: "code".to_owned(),
        }),
        instructions: Some("Look at what there is.\n\nThen go on.\n".to_owned()),
        ..SkillAnswer::default()
    }
}

fn problem(line: u32) -> DocumentProblem {
    DocumentProblem {
        document: "documents/task-graph.md".to_owned(),
        line,
        message: "the task `lexer` depends on `kind`, which is none".to_owned(),
        suggestion: "there is a task `types`".to_owned(),
        ..DocumentProblem::default()
    }
}

#[test]
fn the_next_skill_stands_first_and_its_command_last() {
    assert_eq!(
        completed(&answer(), None, &PLAIN),
        "\
next skill: brainstorming-exploring
  item       1 Parse dates (code)
  state      Exploring (brainstorm-exploring)
  session    dates
  unit       u-5

Look at what there is.

Then go on.

When it is finished:
  -> tm collab complete-skill brainstorming-exploring --unit-id u-5
"
    );
    let named = completed(&answer(), Some("dates"), &PLAIN);
    assert!(named.ends_with("exploring --unit-id u-5 --session dates\n"));
    let clear = SkillAnswer {
        action: "clear".to_owned(),
        ..answer()
    };
    assert!(completed(&clear, None, &PLAIN).contains("  context    forget it now"));
}

#[test]
fn a_refusal_says_which_skill_is_expected_and_the_end_that_there_is_none() {
    let over = SkillAnswer {
        item: None,
        instructions: None,
        unit_id: None,
        notes: vec!["not run: lexer, since types was skipped".to_owned()],
        ..answer()
    };
    let refused = SkillAnswer {
        verdict: Verdict {
            code: Some("unexpected_skill".to_owned()),
            message: Some("`collab-clear` is not the skill that is due".to_owned()),
            suggestion: Some("finish brainstorming-exploring first".to_owned()),
            ..Verdict::default()
        },
        valid_skills: vec!["collab-start".to_owned(), "collab-clear".to_owned()],
        problems: vec![problem(12), problem(0)],
        notes: Vec::new(),
        ..over.clone()
    };
    assert_eq!(
        completed(&refused, None, &PLAIN),
        "\
x unexpected_skill: `collab-clear` is not the skill that is due
help: finish brainstorming-exploring first
documents/task-graph.md:12: the task `lexer` depends on `kind`, which is
  none
  there is a task `types`
documents/task-graph.md: the task `lexer` depends on `kind`, which is
  none
  there is a task `types`

expected skill: brainstorming-exploring
  state      Exploring (brainstorm-exploring)
  session    dates

All skills:
  collab-start, collab-clear

When it is finished:
  -> tm collab complete-skill brainstorming-exploring
"
    );
    let over = SkillAnswer {
        next_skill: None,
        done: true,
        ..over
    };
    assert_eq!(
        completed(&over, None, &PLAIN),
        "\
ok the session dates is over
  state      Exploring (brainstorm-exploring)
  session    dates
! not run: lexer, since types was skipped
"
    );
}

#[test]
fn names_are_not_cut_at_their_hyphens() {
    let names = (0..12).map(|number| format!("rough-draft-number-{number}"));
    let names: Vec<String> = names.collect();
    let valid = json!({ "valid_skills": names });
    let text = page("valid_skills", &valid, &PLAIN);
    let (_, text) = text.split_once("All skills:\n").unwrap();
    assert!(text.lines().count() > 2, "{text}");
    assert!(text.lines().all(|line| line.len() <= 72), "{text}");
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(words.join(" "), names.join(", "));
}

#[test]
fn a_brief_is_the_same_and_says_what_to_read() {
    let mut given = SessionBrief {
        session: "dates".to_owned(),
        skill: Some("executing-plans".to_owned()),
        state: "execute-batch".to_owned(),
        display_name: "Executing".to_owned(),
        phase: "implementation".to_owned(),
        batch: Some(BatchBrief {
            of: 2,
            tasks: ["in_progress", "pending"]
                .map(|status| task(status, status, &[]))
                .into(),
            tasks_total: Some(9),
            ..BatchBrief::default()
        }),
        documents: "/d".to_owned(),
        read: vec!["design.md".to_owned(), "task-graph.md".to_owned()],
        read_more: Some(3),
        ..SessionBrief::default()
    };
    assert_eq!(
        brief(&given, None, Some("dates"), &PLAIN),
        "\
next skill: executing-plans
  batch      1 of 2
  tasks      in_progress (in progress), pending, and 7 more
  state      Executing (execute-batch)
  phase      implementation
  session    dates
  documents  /d
  read       design.md
             task-graph.md
             and 3 more

When it is finished:
  -> tm collab complete-skill executing-plans --session dates
"
    );
    given.instructions_cut = true;
    let told = |given: &SessionBrief, run| brief(given, run, None, &PLAIN);
    let all = "\nAll of it is told with:\n  -> tm collab state --full --session dates\n";
    assert!(told(&given, None).contains(all));
    given.paused_reason = Some("lunch".to_owned());
    let paused = told(&given, Some("collab__dates__1"));
    let resume = "\n\nIt goes on with:\n  -> tm run resume --run-id collab__dates__1\n";
    let ends = paused.starts_with("paused: lunch\n") && paused.ends_with(resume);
    assert!(ends && !paused.contains("complete-skill"), "{paused}");
    given.paused_reason = None;
    given.status = Some("aborted".to_owned());
    assert!(told(&given, None).starts_with("x the session dates is aborted\n"));
    given.done = true;
    assert!(told(&given, None).starts_with("ok the session dates is over\n"));
}

fn whole() -> SessionState {
    let item = |number, title: &str, kind: &str, status: &str| WorkItem {
        number,
        title: title.to_owned(),
        kind: kind.to_owned(),
        status: status.to_owned(),
        ..WorkItem::default()
    };
    let batch = |tasks, status: &str, wave, split: &str| BatchState {
        id: format!("batch-{wave}"),
        tasks,
        status: status.to_owned(),
        wave,
        split: split.to_owned(),
    };
    let long = "item-2/a rather long id of a task";
    let mut skipped = task("lexer", "failed", &["types"]);
    skipped.outcome = Some("failed".to_owned());
    let mut not_run = task(long, "pending", &["lexer"]);
    not_run.not_run = true;
    let mut mended = item(json!("2a"), "Mend\u{1b}[2J zones", "bugfix", "documented");
    mended.reason = "they were\u{7} wrong".to_owned();
    mended.depends_on = vec![json!(1)];
    let split = "lexer and parser touch src/lib.rs";
    SessionState {
        session: "dates".to_owned(),
        run_id: "collab__dates".to_owned(),
        status: "running".to_owned(),
        skill: Some("executing-plans".to_owned()),
        unit_id: Some("u-9".to_owned()),
        state: "execute-batch".to_owned(),
        phase: "implementation".to_owned(),
        display_name: "Executing".to_owned(),
        last_activity: "2025-10-07T14:33:02Z".to_owned(),
        work_items: vec![item(json!(1), "Parse dates", "code", "complete"), mended],
        total_items: 2,
        documented_items: 2,
        batches: vec![
            batch(vec![task("types", "completed", &[])], "completed", 1, ""),
            batch(vec![skipped, not_run], "in_progress", 2, split),
        ],
        current_batch: Some(1),
        completed_tasks: vec!["types".to_owned()],
        failed_tasks: vec!["lexer".to_owned()],
        not_run_tasks: vec![long.to_owned()],
        documents: "/d".to_owned(),
        ..SessionState::default()
    }
}

#[test]
fn every_item_batch_and_task_has_a_line() {
    assert_eq!(
        state(&whole(), None, &PLAIN),
        "\
dates  implementation  running
next skill: executing-plans
  state      Executing (execute-batch)
  batch      2 of 2
  unit       u-9
  run        collab__dates
  moved      2025-10-07T14:33:02Z
  documents  /d

Items: 2 of 2 documented
   1   code    complete    Parse dates
   2a  bugfix  documented  Mend zones  after 1
     because: they were wrong

2 batches
   batch 1  completed  wave 1
       types  completed
-> batch 2  in progress  wave 2
     split: lexer and parser touch src/lib.rs
       lexer                         skipped  after types
       item-2/a rather long id of a task  not run  after lexer

Tasks: 1 completed, 1 skipped, 1 not run

When it is finished:
  -> tm collab complete-skill executing-plans --unit-id u-9
"
    );
}

#[test]
fn nothing_of_others_reaches_the_terminal_as_a_command_to_it() {
    let rich = Look {
        rich: true,
        ..PLAIN
    };
    let nasty = || "a\u{1b}]0;x\u{7}\u{9b}2J\u{202e}b".to_owned();
    let answer = SkillAnswer {
        next_skill: Some(nasty()),
        display_name: nasty(),
        notes: vec![nasty()],
        problems: vec![DocumentProblem {
            document: nasty(),
            message: nasty(),
            suggestion: nasty(),
            ..problem(1)
        }],
        valid_skills: vec![nasty()],
        instructions: Some(nasty()),
        ..answer()
    };
    let mut whole = whole();
    let lines = |look: &Look| -> Vec<Vec<String>> {
        let plain = |line: &str| many_lines(line).replace('→', "->");
        let words = |line: &str| plain(line).split_whitespace().map(str::to_owned).collect();
        state(&self::whole(), None, look)
            .lines()
            .map(words)
            .collect()
    };
    // What is not rich has the same words in the same places, but for the signs.
    assert_eq!(lines(&PLAIN), lines(&rich));
    let task = &mut whole.batches[1].tasks[0];
    (task.id, task.status, task.depends_on) = (nasty(), nasty(), vec![nasty()]);
    whole.batches[1].split = nasty();
    (whole.session, whole.documents) = (nasty(), nasty());
    let item = &mut whole.work_items[0];
    (item.title, item.kind) = (nasty(), nasty());
    for text in [
        completed(&answer, Some("a"), &PLAIN),
        state(&whole, None, &PLAIN),
    ] {
        let hidden = |c: char| c != '\n' && is_hidden(c);
        assert!(!text.contains(hidden), "{text:?}");
    }
    let text = state(&whole, None, &rich);
    assert!(text.contains("\u{1b}[") && !text.contains("\u{1b}]"));
}

#[test]
fn what_was_stored_is_said_and_what_is_left() {
    let mut given = UpdateAnswer {
        verdict: Verdict {
            validated: true,
            ..Verdict::default()
        },
        session: "dates".to_owned(),
        state: "execute-batch".to_owned(),
        tasks: vec![
            task("types", "completed", &[]),
            task("lexer", "in_progress", &["types"]),
        ],
        remaining: Some(1),
        ..UpdateAnswer::default()
    };
    let told = updated(&given, &PLAIN);
    let expected = "\
ok 2 tasks stored
   types  completed
   lexer  in progress  after types
  state      execute-batch
  session    dates

1 task of the batch left.
";
    assert_eq!(told, expected);
    given.remaining = Some(0);
    let text = stored(&given, Some("executing-plans"), Some("dates"), &PLAIN);
    let next = "left.\n\nWhen it is finished:\n  -> tm collab complete-skill executing-plans --session dates\n";
    assert!(text.ends_with(next), "{text}");
    given.tasks.clear();
    let fields = json!({ "workItems": [1], "hasSnapshot": true });
    given.fields = fields.as_object().cloned().unwrap();
    let text = updated(&given, &PLAIN);
    let begins = "ok 2 fields of the session dates set\n  workItems  1 entry\n  hasSnapshot true\n";
    assert!(text.starts_with(begins), "{text}");
    given.verdict.validated = false;
    given.verdict.code = Some("read_only".to_owned());
    given.verdict.message = Some("`phase` follows from the state".to_owned());
    given.verdict.suggestion = Some("leave it out".to_owned());
    let begins = "x read_only: `phase` follows from the state\nhelp: leave it out\n";
    assert!(updated(&given, &PLAIN).starts_with(begins));
}

#[test]
fn a_graph_that_was_taken_in_says_what_it_gives_and_one_that_was_not_where() {
    let good = SyncAnswer {
        verdict: Verdict {
            validated: true,
            ..Verdict::default()
        },
        session: "dates".to_owned(),
        item: Some(json!("2a")),
        tasks: 2,
        notes: vec!["wave 1 is split: a and b touch x".to_owned()],
        ..SyncAnswer::default()
    };
    assert_eq!(
        synced(&good, None, &PLAIN),
        "\
ok the task graph of item 2a is taken in: 2 tasks
! wave 1 is split: a and b touch x
  session    dates

  -> tm collab state
"
    );
    let bad = SyncAnswer {
        verdict: Verdict {
            code: Some("graph_invalid".to_owned()),
            message: Some("the graph has 1 error".to_owned()),
            ..Verdict::default()
        },
        problems: vec![problem(3)],
        ..good
    };
    let text = synced(&bad, None, &PLAIN);
    let begins =
        "x graph_invalid: the graph has 1 error\ndocuments/task-graph.md:3: the task `lexer`";
    assert!(text.starts_with(begins), "{text}");
    assert!(!text.contains("tm collab state"), "{text}");
}

//! The answers as they are read.

use engine::view::collab::answer::{BatchState, SkillParams, TaskGraph, WorkItem};
use serde_json::json;
use text::plain::{is_hidden, many_lines};

use super::*;

const PLAIN: Look = Look {
    rich: false,
    width: 72,
    line: 72,
    caller: &crate::steps::Caller::at_a_shell(crate::steps::Form::Run, None),
};

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
        validated: true,
        next_skill: Some("brainstorming-exploring".to_owned()),
        action: "none".to_owned(),
        params: SkillParams {
            item_number: Some(json!(1)),
            batch_index: None,
        },
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
        code: "unknown_dependency".to_owned(),
        document: "documents/task-graph.md".to_owned(),
        line,
        message: "the task `lexer` depends on `typs`, which is none".to_owned(),
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
    assert!(
        named.ends_with("complete-skill brainstorming-exploring --unit-id u-5 --session dates\n"),
        "{named}"
    );
}

#[test]
fn a_refusal_says_which_skill_is_expected() {
    let refused = SkillAnswer {
        validated: false,
        code: Some("unexpected_skill".to_owned()),
        message: Some("`collab-clear` is not the skill that is due".to_owned()),
        suggestion: Some("finish brainstorming-exploring first".to_owned()),
        valid_skills: vec!["collab-start".to_owned(), "collab-clear".to_owned()],
        problems: vec![problem(12), problem(0)],
        instructions: None,
        unit_id: None,
        ..answer()
    };
    assert_eq!(
        completed(&refused, None, &PLAIN),
        "\
x unexpected_skill: `collab-clear` is not the skill that is due
help: finish brainstorming-exploring first
documents/task-graph.md:12: the task `lexer` depends on `typs`, which is
  none
  there is a task `types`
documents/task-graph.md: the task `lexer` depends on `typs`, which is
  none
  there is a task `types`

expected skill: brainstorming-exploring
  item       1 Parse dates (code)
  state      Exploring (brainstorm-exploring)
  session    dates

All skills:
  collab-start, collab-clear

When it is finished:
  -> tm collab complete-skill brainstorming-exploring
"
    );
}

#[test]
fn names_are_not_cut_at_their_hyphens() {
    let names: Vec<String> = (0..12)
        .map(|number| format!("rough-draft-number-{number}"))
        .collect();
    let mut page = Page::new(&PLAIN);
    listed(&mut page, &names);
    let text = page.finish();
    assert!(text.lines().count() > 2, "{text}");
    assert!(text.lines().all(|line| line.len() <= 72), "{text}");
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(words.join(" "), names.join(", "));
}

#[test]
fn the_end_has_no_next_skill_and_a_clear_says_what_to_forget() {
    let over = SkillAnswer {
        next_skill: None,
        done: true,
        item: None,
        instructions: None,
        unit_id: None,
        notes: vec!["not run: lexer, since types was skipped".to_owned()],
        ..answer()
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
    let clear = SkillAnswer {
        action: "clear".to_owned(),
        ..answer()
    };
    assert!(completed(&clear, None, &PLAIN).contains("  context    forget it now"));
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
            id: "batch-1".to_owned(),
            index: 0,
            of: 2,
            tasks: vec![
                task("types", "in_progress", &[]),
                task("lexer", "pending", &[]),
            ],
            tasks_total: Some(9),
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
  tasks      types (in progress), lexer, and 7 more
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
    assert!(
        brief(&given, None, Some("dates"), &PLAIN)
            .contains("\nAll of it is told with:\n  -> tm collab state --full --session dates\n")
    );
    given.skill = None;
    given.paused_reason = Some("lunch".to_owned());
    given.instructions = Some("Do it.".to_owned());
    let paused = brief(&given, Some("collab__dates__1"), None, &PLAIN);
    assert!(paused.starts_with("paused: lunch\n"), "{paused}");
    assert!(
        paused.ends_with("\nIt goes on with:\n  -> tm run resume --run-id collab__dates__1\n"),
        "{paused}"
    );
    assert!(
        !paused.contains("complete-skill") && !paused.contains("Do it"),
        "{paused}"
    );
    given.paused_reason = None;
    given.status = Some("aborted".to_owned());
    assert!(brief(&given, None, None, &PLAIN).starts_with("x the session dates is aborted\n"));
    given.done = true;
    assert!(brief(&given, None, None, &PLAIN).starts_with("ok the session dates is over\n"));
}

fn whole() -> SessionState {
    let skipped = TaskBrief {
        outcome: Some("failed".to_owned()),
        ..task("lexer", "failed", &["types"])
    };
    let not_run = TaskBrief {
        not_run: true,
        ..task("item-2/a rather long id of a task", "pending", &["lexer"])
    };
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
        current_item: None,
        current_item_type: None,
        work_items: vec![
            WorkItem {
                number: json!(1),
                title: "Parse dates".to_owned(),
                kind: "code".to_owned(),
                status: "complete".to_owned(),
                reason: String::new(),
                depends_on: Vec::new(),
            },
            WorkItem {
                number: json!("2a"),
                title: "Mend\u{1b}[2J zones".to_owned(),
                kind: "bugfix".to_owned(),
                status: "documented".to_owned(),
                reason: "they were\u{7} wrong".to_owned(),
                depends_on: vec![json!(1)],
            },
        ],
        total_items: 2,
        documented_items: 2,
        batches: vec![
            BatchState {
                id: "batch-1".to_owned(),
                tasks: vec![task("types", "completed", &[])],
                status: "completed".to_owned(),
                wave: 1,
                split: String::new(),
            },
            BatchState {
                id: "batch-2".to_owned(),
                tasks: vec![skipped, not_run],
                status: "in_progress".to_owned(),
                wave: 2,
                split: "lexer and parser touch src/lib.rs".to_owned(),
            },
        ],
        current_batch: Some(1),
        completed_tasks: vec!["types".to_owned()],
        failed_tasks: vec!["lexer".to_owned()],
        not_run_tasks: vec!["item-2/a rather long id of a task".to_owned()],
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
        width: 60,
        line: 60,
        caller: PLAIN.caller,
    };
    let nasty = "a\u{1b}]0;x\u{7}\u{9b}2J\u{202e}b";
    let answer = SkillAnswer {
        next_skill: Some(nasty.to_owned()),
        display_name: nasty.to_owned(),
        notes: vec![nasty.to_owned()],
        problems: vec![DocumentProblem {
            document: nasty.to_owned(),
            message: nasty.to_owned(),
            suggestion: nasty.to_owned(),
            ..problem(1)
        }],
        valid_skills: vec![nasty.to_owned()],
        instructions: Some(nasty.to_owned()),
        ..answer()
    };
    let mut whole = whole();
    whole.session = nasty.to_owned();
    whole.documents = nasty.to_owned();
    whole.work_items[0].title = nasty.to_owned();
    whole.work_items[0].kind = nasty.to_owned();
    whole.batches[1].split = nasty.to_owned();
    whole.batches[1].tasks[0] = task(nasty, nasty, &[nasty]);
    for text in [
        completed(&answer, Some(nasty), &PLAIN),
        state(&whole, None, &PLAIN),
    ] {
        let hidden = |c: char| c != '\n' && is_hidden(c);
        assert!(!text.contains(hidden), "{text:?}");
    }
    let text = state(&whole, None, &rich);
    assert!(
        text.contains("\u{1b}[") && !text.contains("\u{1b}]"),
        "{text:?}"
    );
    // What is not rich has the same words in the same places, but for the signs.
    let bare = state(
        &self::whole(),
        None,
        &Look {
            rich: false,
            ..rich
        },
    );
    let lines: Vec<String> = state(&self::whole(), None, &rich)
        .lines()
        .map(|line| many_lines(line).replace('→', "->"))
        .collect();
    for (bare, line) in bare.lines().zip(&lines) {
        assert_eq!(
            bare.split_whitespace().collect::<Vec<_>>(),
            line.split_whitespace().collect::<Vec<_>>()
        );
    }
    assert_eq!(bare.lines().count(), lines.len());
}

#[test]
fn what_was_stored_is_said_and_what_is_left() {
    let given = UpdateAnswer {
        validated: true,
        session: "dates".to_owned(),
        state: "execute-batch".to_owned(),
        tasks: vec![
            task("types", "completed", &[]),
            task("lexer", "in_progress", &["types"]),
        ],
        remaining: Some(1),
        ..UpdateAnswer::default()
    };
    assert_eq!(
        updated(&given, &PLAIN),
        "\
ok 2 tasks stored
   types  completed
   lexer  in progress  after types
  state      execute-batch
  session    dates

1 task of the batch left.
"
    );
    let none_left = UpdateAnswer {
        remaining: Some(0),
        ..given
    };
    let text = stored(&none_left, Some("executing-plans"), Some("dates"), &PLAIN);
    assert!(
        text.ends_with(
            "left.\n\nWhen it is finished:\n  -> tm collab complete-skill executing-plans --session dates\n"
        ),
        "{text}"
    );

    let fields = json!({ "workItems": [1], "hasSnapshot": true });
    let given = UpdateAnswer {
        validated: true,
        session: "dates".to_owned(),
        state: "gather-goals".to_owned(),
        fields: fields.as_object().cloned().unwrap(),
        ..UpdateAnswer::default()
    };
    let text = updated(&given, &PLAIN);
    for line in [
        "ok 2 fields of the session dates set",
        "  workItems  1 entry",
        "  hasSnapshot true",
    ] {
        assert!(text.lines().any(|told| told == line), "{text}");
    }
    let refused = UpdateAnswer {
        code: Some("read_only".to_owned()),
        message: Some("`phase` follows from the state".to_owned()),
        suggestion: Some("leave it out".to_owned()),
        ..UpdateAnswer::default()
    };
    assert!(
        updated(&refused, &PLAIN)
            .starts_with("x read_only: `phase` follows from the state\nhelp: leave it out\n")
    );
}

#[test]
fn a_graph_that_was_taken_in_says_what_it_gives_and_one_that_was_not_where() {
    let good = SyncAnswer {
        validated: true,
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
        validated: false,
        code: Some("graph_invalid".to_owned()),
        message: Some("the graph has 1 error".to_owned()),
        problems: vec![problem(3)],
        ..good
    };
    let text = synced(&bad, None, &PLAIN);
    assert!(
        text.starts_with("x graph_invalid: the graph has 1 error\ndocuments/task-graph.md:3: ")
    );
    assert!(!text.contains("tm collab state"), "{text}");

    let graph = TaskGraph {
        problems: vec![problem(3)],
        ..TaskGraph::default()
    };
    assert_eq!(
        problem_line(&graph.problems[0]),
        "documents/task-graph.md:3: the task `lexer` depends on `typs`, which is none"
    );
}

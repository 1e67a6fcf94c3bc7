//! The texts of refusals of sessions of skills: `codes/` has the words, and what they name is found here.

use machine::{Definition, Refusal, RunState};
use serde_json::Value;
use text::listed;

use crate::capability::documents::bound;
use crate::capability::documents::skills::{
    CURRENT_ITEM, HAS_SNAPSHOT, Skills, WORK_ITEMS, display_name, skill,
};
use crate::generic::messages::{self, RefusalText};
use crate::refusal;
use crate::view::collab::answer::DocumentProblem;
use crate::view::collab::state::{expected, item_brief, short, unit};

/// The most tasks that are named where one of them could be meant.
const MOST_MEANT: usize = 10;

impl Skills {
    /// The text of a refusal of the rails. Where the machine says what is wrong, its words stand, and only the advice is ours.
    pub(crate) fn refusal_text(
        definition: &Definition,
        run: &RunState,
        refusal: &Refusal,
    ) -> RefusalText {
        let mut told = refusal.clone();
        if let Some(own) = own_text(definition, run, refusal) {
            told.message = own.message.filter(|text| !text.is_empty()).or(told.message);
            told.suggestion = own.suggestion;
        }
        messages::refusal(run, definition, Some(run.state()), &told)
    }

    /// The problems of the documents that were read, and notes on how they were read; each is handed out once.
    pub(crate) fn found(&self) -> (Vec<DocumentProblem>, Vec<String>) {
        (self.problems.take(), self.notes.take())
    }
}

/// The message and the advice on a refusal; the message is empty where the refusal has one of its own, and there is neither
/// where those of all runs do.
fn own_text(definition: &Definition, run: &RunState, refusal: &Refusal) -> Option<Refusal> {
    let named = |detail: &str| {
        let detail = refusal.details.get(detail).and_then(Value::as_str);
        short(detail.unwrap_or_default())
    };
    let all = |detail: &str| refusal.details.get(detail).and_then(Value::as_array);
    let ids = |detail: &str| all(detail).into_iter().flatten().filter_map(Value::as_str);
    let first = skill(definition, &definition.initial.value).unwrap_or_default();
    // The report that the session waits for.
    let due = expected(definition, run).unwrap_or_default();
    let unit = unit(run).unwrap_or_default();
    let place = |state: &str| format!("{} ({state})", display_name(definition, state));
    let here = place(run.state());
    Some(match refusal.code.as_str() {
        "unexpected_skill" if refusal.details.contains_key("unit") => refusal!(
            "unexpected_skill.other_unit",
            former = named("unit"),
            skill = named("skill"),
            due,
            unit
        ),
        "unexpected_skill" if named("skill") == first => {
            refusal!(
                "unexpected_skill.first",
                place = here,
                due,
                unit,
                run = run.run,
                skill = first
            )
        }
        "unexpected_skill" => {
            refusal!(
                "unexpected_skill.not_due",
                skill = named("skill"),
                place = here,
                due,
                unit
            )
        }
        "unknown_skill" if !run.status.is_over() => {
            refusal!("unknown_skill.named", skill = named("skill"), due, unit)
        }
        "which_one" => refusal!(
            "which_one.same_skill",
            skill = named("skill"),
            item = item_brief(run).map_or_else(String::new, |item| item.number.to_string()),
            unit
        ),
        "run_over" | "unknown_skill" => {
            refusal!(
                "run_over.session",
                status = run.status.name(),
                skill = first
            )
        }
        "bad_dependencies" => refusal!("bad_dependencies.items"),
        "graph_missing" if refusal.message.is_none() => {
            refusal!(
                "graph_missing.of_item",
                item = bound::item_in_hand(run).unwrap_or_default()
            )
        }
        "tasks_unfinished" => {
            let open = of_batch(run, &["pending", "in_progress"]);
            let first = open.first().copied().unwrap_or_default();
            refusal!("tasks_unfinished.of_batch", tasks = quoted(&open), first)
        }
        "task_failed" => {
            let failed = of_batch(run, &["failed"]);
            let first = failed.first().copied().unwrap_or_default();
            refusal!("task_failed.of_batch", tasks = quoted(&failed), first)
        }
        "not_found" => match meant(run, refusal).join("` or `") {
            none if none.is_empty() => refusal!("not_found.task", task = named("item")),
            meant => refusal!("not_found.other_task", task = named("item"), meant),
        },
        "unknown_item" => refusal!("unknown_item.meant", named = named("item")),
        "batch_over" => refusal!("batch_over.task", task = named("item")),
        "not_in_batch" => refusal!("not_in_batch.task", due, unit),
        "needs_unmet" => {
            let needs: Vec<&str> = ids("needs").collect();
            let first = needs.first().copied().unwrap_or_default();
            refusal!(
                "needs_unmet.in_session",
                task = named("item"),
                needs = quoted(&needs),
                first
            )
        }
        "dependents_begun" => {
            let begun: Vec<&str> = ids("dependents").collect();
            refusal!(
                "dependents_begun.of",
                item = named("item"),
                begun = quoted(&begun)
            )
        }
        "not_now" => {
            let states: Vec<String> = ids("states").map(place).collect();
            refusal!(
                "not_now.field",
                field = callers_name(run, &named("field")),
                states = states.join(" or "),
                place = here,
                due,
                unit
            )
        }
        "read_only" => refusal!("read_only.of_session"),
        _ => return None,
    })
}

/// What callers call a field that the definition may have under another name.
fn callers_name(run: &RunState, field: &str) -> String {
    let bound = bound::bound(run);
    let known = [
        (bound.items, WORK_ITEMS),
        (bound.item, CURRENT_ITEM),
        (bound.snapshot, HAS_SNAPSHOT),
    ];
    let known = known.into_iter().find(|(own, _)| own == field);
    match known.map_or(field, |(_, name)| name) {
        // The only field of a task that callers set.
        "status" => "the status of a task".to_owned(),
        name => format!("`{name}`"),
    }
}

/// Names in quotes: the first of them, and how many more there are.
fn quoted(names: &[&str]) -> String {
    listed(names.iter().map(|name| format!("`{}`", short(name))))
}

/// The tasks that could be meant by an id that none has: an id that several items use is told apart by its item.
fn meant<'r>(run: &'r RunState, refusal: &'r Refusal) -> Vec<&'r str> {
    let detail = |name: &str| refusal.details.get(name).and_then(Value::as_str);
    let tasks = bound::tasks(run).iter();
    let same = tasks.filter(|(_, task)| Some(task.text("name")) == detail("item"));
    let same: Vec<&str> = same.map(|(id, _)| id).take(MOST_MEANT).collect();
    if same.is_empty() {
        return detail("nearest").into_iter().collect();
    }
    same
}

/// The tasks of the batch in hand that stand so.
fn of_batch<'r>(run: &'r RunState, statuses: &[&str]) -> Vec<&'r str> {
    let words = bound::bound(run);
    let tasks = bound::tasks_in_hand(run);
    let those = tasks.filter(|(_, task)| statuses.contains(&words.of_task(task.text("status"))));
    those.map(|(id, _)| id).collect()
}

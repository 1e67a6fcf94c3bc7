//! What is said of refusals, and what to do about them.

use machine::event::AcceptedReport;
use machine::state::ItemSet;
use machine::{Definition, Refusal, RunState};
use serde_json::Value;

use crate::capability::documents::bound;
use crate::capability::documents::folder::graph_name;
use crate::capability::documents::skills::{CURRENT_ITEM, HAS_SNAPSHOT, Skills, WORK_ITEMS};
use crate::generic::messages;
pub(crate) use crate::generic::messages::RefusalText;
use crate::next_step::{NextStep, Verb};
use crate::view::COLLAB;
use crate::view::collab::answer::DocumentProblem;
use crate::view::collab::state::{item_brief, short, waiting};

/// How many tasks, or items, are named.
const MOST_TOLD: usize = 10;

impl Skills {
    /// What is said of a refusal, for those who know the session by its run.
    pub(crate) fn refusal_text(
        definition: &Definition,
        run: &RunState,
        refusal: &Refusal,
    ) -> RefusalText {
        refusal_text(definition, run, refusal)
    }

    /// What is wrong with the documents that were read, and what was read in them with some freedom: told once.
    pub(crate) fn found(&self) -> (Vec<DocumentProblem>, Vec<String>) {
        (self.problems.take(), self.notes.take())
    }
}

/// How the task graph of an item comes to be there.
pub(crate) fn hand_over(item: &str) -> String {
    format!(
        "hand it over with {}, or write it to `{}` in the session's folder of documents",
        Verb::Sync.step().and("document"),
        graph_name(item)
    )
}

/// What is said of a warning that a report was accepted with: a policy's, or a text of its own.
pub(crate) fn warning(report: &AcceptedReport, warning: &str) -> String {
    report.message(warning).unwrap_or(warning).to_owned()
}

/// What is said of a refusal of the rails.
pub(crate) fn refusal_text(
    definition: &Definition,
    run: &RunState,
    refusal: &Refusal,
) -> RefusalText {
    let told = RefusalWords {
        definition,
        run,
        refusal,
    };
    let own = told
        .of_skill()
        .or_else(|| told.of_document())
        .or_else(|| told.of_edit());
    match own {
        Some((message, suggestion)) => RefusalText {
            message,
            suggestion,
        },
        None => messages::refusal(run, definition, Some(run.state()), refusal),
    }
}

/// How tasks stand, wherever.
const ALL: [&str; 4] = ["pending", "in_progress", "completed", "failed"];
/// How tasks stand that are still to be done.
const UNFINISHED: [&str; 2] = ["pending", "in_progress"];

/// A refusal that is to be told: what is said of it, and what to do about it.
struct RefusalWords<'a> {
    definition: &'a Definition,
    run: &'a RunState,
    refusal: &'a Refusal,
}

impl RefusalWords<'_> {
    /// That the unfinished of these tasks are done, as far as they are of the batch in hand, and how the first of them is told;
    /// where there is none, what is due.
    fn do_first_of(&self, tasks: &[&str]) -> String {
        let (run, begun) = (self.run, of_batch(self.run, &["in_progress"]));
        let mut unfinished = of_batch(run, &UNFINISHED);
        // What waits for others is not to be begun before them, least of all that which was refused for it.
        let waits = |task: &&str| {
            let is_unfinished = |need: &str| unfinished.contains(&need) && need != *task;
            let needs = bound::tasks(run).and_then(|tasks| tasks.get(task));
            needs.is_some_and(|own| own.texts("dependsOn").any(is_unfinished))
        };
        let waiting: Vec<&str> = unfinished.iter().copied().filter(waits).collect();
        if waiting.len() < unfinished.len() {
            unfinished.retain(|task| !waiting.contains(task));
        }
        let refused = self.refusal.details.get("item").and_then(Value::as_str);
        unfinished.retain(|task| Some(*task) != refused);
        let tasks: Vec<&str> = tasks
            .iter()
            .copied()
            .filter(|task| unfinished.contains(task))
            .collect();
        let Some(first) = tasks.first().or(unfinished.first()) else {
            return self.go_on();
        };
        let them = if tasks.len() == 1 { "it" } else { "each" };
        if begun.contains(first) {
            format!(
                "do {them}, and tell what came of {them}: {} (or failed)",
                told(first, "completed")
            )
        } else {
            format!("do {them}: {}", told(first, "in_progress"))
        }
    }

    /// The skill that the session waits for.
    fn expected(&self) -> Option<String> {
        waiting(self.definition, self.run)
    }

    fn go_on(&self) -> String {
        self.expected().map_or_else(
            || format!("see {status}", status = Verb::Status),
            |skill| match crate::view::collab::state::unit(self.run) {
                Some(unit) => format!(
                    "invoke `{skill}`, and when it is done: {}",
                    Verb::Report.step().with("skill", &skill).with("unit", unit)
                ),
                None => format!("invoke `{skill}`, and complete it when it is done"),
            },
        )
    }

    /// The skill that a session begins with.
    fn first(&self) -> &str {
        let initial = &self.definition.initial.value;
        crate::capability::documents::skills::skill(self.definition, initial).unwrap_or(initial)
    }

    fn is_first(&self, skill: &str) -> bool {
        self.first() == skill
    }

    /// The step that begins another session.
    fn begun_anew(&self) -> NextStep {
        Verb::Start
            .step()
            .in_view(COLLAB.name)
            .with("skill", self.first())
            .and("session")
    }

    /// What the refusal calls so.
    fn named(&self, name: &str) -> String {
        let detail = self.refusal.details.get(name).and_then(Value::as_str);
        short(detail.unwrap_or_default())
    }

    /// The refusal's own words.
    fn message(&self) -> String {
        self.refusal.message.clone().unwrap_or_default()
    }

    /// Of a completed skill.
    fn of_skill(&self) -> Option<(String, String)> {
        let (definition, run, refusal) = (self.definition, self.run, self.refusal);
        let state = run.state();
        let label = crate::capability::documents::skills::display_name(definition, state);
        let expected = self.expected();
        let named = |name: &str| self.named(name);
        Some(match refusal.code.as_str() {
            "unexpected_skill" if refusal.details.contains_key("left") => (
                format!(
                    "the work unit `{}` is over: the session has gone another way since",
                    named("unit")
                ),
                self.go_on(),
            ),
            "unexpected_skill" if refusal.details.contains_key("unit") => (
                format!(
                    "the work unit `{}` is over, and was of another skill than `{}`",
                    named("unit"),
                    named("skill")
                ),
                match crate::view::collab::state::unit(run) {
                    // The skill is the right one.
                    Some(unit) if expected.as_deref() == Some(&named("skill")) => {
                        format!("name the present work unit, `{unit}`, or none")
                    }
                    _ => self.go_on(),
                },
            ),
            "unexpected_skill" => (
                match &expected {
                    Some(skill) => format!(
                        "`{}` is not what comes now: the session stands at {label} ({state}), which is `{skill}`",
                        named("skill")
                    ),
                    None => format!("`{}` is not what comes now", named("skill")),
                },
                if self.is_first(&named("skill")) {
                    format!(
                        "{}; to begin anew, end this session ({}), or begin one under a name of its own ({})",
                        self.go_on(),
                        Verb::Abort.step().of(&run.run),
                        self.begun_anew()
                    )
                } else {
                    self.go_on()
                },
            ),
            "unknown_skill" => (
                format!("there is no skill `{}` in this session", named("skill")),
                self.go_on(),
            ),
            "stale_unit" => (
                format!("{} was never issued in this session", named("unit")),
                crate::view::collab::state::unit(run).map_or_else(
                    || self.go_on(),
                    |unit| format!("name the present one, `{unit}`"),
                ),
            ),
            "which_one" => (
                format!(
                    "`{}` was completed just before: this may be said again, or be meant for {}",
                    named("skill"),
                    item_brief(run).map_or_else(
                        || "what comes now".to_owned(),
                        |item| format!("item {}, {}", item.number, short(&item.title))
                    )
                ),
                format!(
                    "if it was done for that, too: {}; else do it first",
                    Verb::Report
                        .step()
                        .with("skill", named("skill"))
                        .with("unit", named("unit"))
                ),
            ),
            "item_has_no_route" => (
                "the next item has a type that no skill is there for".to_owned(),
                "see the routers of the workflow with `tm workflow show`".to_owned(),
            ),
            "paused" => (
                format!(
                    "the session is paused: {}",
                    run.pause.as_ref().map_or("", |pause| pause.reason.as_str())
                ),
                format!("it goes on with {}", Verb::Resume.step().of(&run.run)),
            ),
            "run_over" => (
                format!("the session is over: it is {}", run.status.name()),
                format!(
                    "begin another one with {}, under a name of its own",
                    self.begun_anew()
                ),
            ),
            _ => return None,
        })
    }

    /// Of documents, and what was read in them.
    fn of_document(&self) -> Option<(String, String)> {
        let item = bound::item_in_hand(self.run).unwrap_or_default();
        Some(match self.refusal.code.as_str() {
        "items_unreadable" => (
            "the design document has items that cannot be read; see `problems`".to_owned(),
            format!(
                "mend those lines, or set the items with {}",
                Verb::Edit.step().and("workItems")
            ),
        ),
        "no_items" => (
            "the session has no work items".to_owned(),
            format!(
                "write them into the design document (`### Item 1: …` with `**Type:** code`), or set them with {}",
                Verb::Edit.step().and("workItems")
            ),
        ),
        "bad_dependencies" => (
            self.message(),
            "give every item a number of its own, and let it depend only on others that are there".to_owned(),
        ),
        "graph_missing" => (
            format!("there is no task graph of item {item} yet"),
            hand_over(item),
        ),
        "graph_invalid" => (
            match item {
                "" => "the task graphs have errors; see `problems`".to_owned(),
                item => format!("the task graph of item {item} has errors; see `problems`"),
            },
            "mend those lines, then complete the skill again".to_owned(),
        ),
            _ => return None,
        })
    }

    /// That what depends on an item or a task is worked out, begun or completed.
    fn dependents_begun(&self) -> (String, String) {
        let others = listed(self.refusal, "dependents");
        let (it, begun) = (self.named("item"), some_of(&others));
        if self.named("set") == bound::bound(self.run).items {
            return (
                format!("item {it} is needed by what is worked out already: {begun}"),
                "skip or reopen those first, each before what it is built on; then this one"
                    .to_owned(),
            );
        }
        let last = others.last().copied().unwrap_or_default();
        (
            if others.len() > 1 {
                format!("{begun} depend on `{it}`, and are begun or completed")
            } else {
                format!("{begun} depends on `{it}`, and is begun or completed")
            },
            if of_batch(self.run, &ALL).contains(&last) {
                format!(
                    "what builds on it is set back first: {}",
                    told(last, "pending")
                )
            } else {
                "name those, too, and all are run again; or let a task of its own mend it: add one to the task graph, and hand that over".to_owned()
            },
        )
    }

    /// Of what callers set, and of tasks.
    fn of_edit(&self) -> Option<(String, String)> {
        let (run, refusal) = (self.run, self.refusal);
        let named = |name: &str| self.named(name);
        Some(match refusal.code.as_str() {
        "tasks_unfinished" => (
            format!("tasks of the batch are not done: {}", some_of(&of_batch(run, &UNFINISHED))),
            self.do_first_of(&of_batch(run, &UNFINISHED)),
        ),
        "task_failed" => (
            format!("tasks of the batch failed: {}", some_of(&of_batch(run, &["failed"]))),
            match of_batch(run, &["failed"]).first() {
                Some(first) => format!(
                    "try each again, such as: {}; or give it up, and with it what builds on it is not run: {}",
                    told(first, "in_progress"),
                    told(first, "failed").and("skipped")
                ),
                None => self.go_on(),
            },
        ),
        "not_found" => (
            unknown_task(run, refusal, &named("item")),
            if bound::tasks(run).is_some_and(|tasks| !tasks.is_empty()) {
                format!("see {graph}", graph = Verb::Graph)
            } else {
                format!("change the task graph: {}; or {}", Verb::Sync, self.go_on())
            },
        ),
        "unknown_item" => (
            format!("the session has no item {}", named("item")),
            match bound::items(run).filter(|items| !items.is_empty()) {
                Some(items) => format!("its items are {}", some_of(&items.keys().collect::<Vec<_>>())),
                None => "set its items first, or write them into the design document".to_owned(),
            },
        ),
        "batch_over" => (
            format!("`{}` belongs to {}, which is finished", named("item"), named("wave")),
            format!(
                "have it run again in a batch of its own: {}; else {}",
                Verb::Reopen.step().in_view(COLLAB.name).with("task", named("item")).and("reason"),
                self.go_on()
            ),
        ),
        "not_in_batch" => (
            match bound::batch_in_hand(run) {
                Some(batch) => format!(
                    "`{}` belongs to {}, and {batch} is in hand",
                    named("item"),
                    named("wave")
                ),
                None => format!("`{}` belongs to {}, which is not in hand", named("item"), named("wave")),
            },
            format!(
                "the others come after it: {}",
                self.do_first_of(&of_batch(run, &UNFINISHED))
            ),
        ),
        "needs_unmet" => (
            format!(
                "`{}` depends on {}, not completed yet",
                named("item"),
                some_of(&listed(refusal, "needs"))
            ),
            self.do_first_of(&listed(refusal, "needs")),
        ),
        "dependents_begun" => self.dependents_begun(),
        "bad_status" => (
            self.message(),
            bad_status(refusal),
        ),
        "not_now" => (not_now(self.definition, run, refusal), self.go_on()),
        "read_only" => (
            read_only(run, refusal),
            "set `workItems`, `addItems`, `currentItem` or `hasSnapshot`; the rest follows from completed skills".to_owned(),
        ),
            _ => return None,
        })
    }
}

/// What callers call a field that the definition has under another name.
fn callers_name<'a>(run: &RunState, field: &'a str) -> &'a str {
    let bound = bound::bound(run);
    if field == bound.items {
        WORK_ITEMS
    } else if field == bound.item {
        CURRENT_ITEM
    } else if field == bound.snapshot {
        HAS_SNAPSHOT
    } else {
        field
    }
}

/// That something can be set, but not in this state.
fn not_now(definition: &Definition, run: &RunState, refusal: &Refusal) -> String {
    let state = run.state();
    let place = |state: &str| {
        format!(
            "{} ({state})",
            crate::capability::documents::skills::display_name(definition, state)
        )
    };
    let field = refusal.details.get("field").and_then(Value::as_str);
    let what = match field {
        // The only field of a task that callers set.
        Some("status") => "the status of a task".to_owned(),
        Some(field) => format!("`{}`", callers_name(run, field)),
        None => return refusal.message.clone().unwrap_or_default(),
    };
    let states = refusal.details.get("states").and_then(Value::as_array);
    let open: Vec<String> = states
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(place)
        .collect();
    format!(
        "{what} can only be set in {}: the session stands at {}",
        open.join(" or "),
        place(state)
    )
}

/// That something can never be set. A definition may close what the built-in one leaves open, and knows it by another name.
fn read_only(run: &RunState, refusal: &Refusal) -> String {
    let message = refusal.message.clone().unwrap_or_default();
    match refusal.details.get("field").and_then(Value::as_str) {
        Some(field) if message.contains("follows from") => match callers_name(run, field) {
            named @ (WORK_ITEMS | CURRENT_ITEM | HAS_SNAPSHOT) => {
                format!("`{named}` cannot be set in this workflow")
            }
            _ => message,
        },
        _ => message,
    }
}

/// Which status could be meant.
fn bad_status(refusal: &Refusal) -> String {
    let given = refusal.details.get("status").and_then(Value::as_str);
    let near = match given.unwrap_or_default() {
        "complete" | "done" | "finished" | "ok" | "passed" | "closed" => Some("completed"),
        "doing" | "started" | "active" | "running" | "begun" | "inprogress" => Some("in_progress"),
        "todo" | "open" | "new" | "reset" => Some("pending"),
        "fail" | "error" | "broken" => Some("failed"),
        _ => None,
    };
    let all = "a task is `pending`, `in_progress`, `completed` or `failed`";
    near.map_or_else(
        || all.to_owned(),
        |near| format!("did you mean `{near}`? {all}"),
    )
}

/// The tasks that a detail of a refusal names.
fn listed<'r>(refusal: &'r Refusal, detail: &str) -> Vec<&'r str> {
    refusal
        .details
        .get(detail)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// The first of some names, and how many more there are.
fn some_of(all: &[&str]) -> String {
    let shown = all
        .iter()
        .take(MOST_TOLD)
        .map(|name| format!("`{}`", short(name)))
        .collect::<Vec<_>>()
        .join(", ");
    match all.len().saturating_sub(MOST_TOLD) {
        0 => shown,
        more => format!("{shown}, and {more} more"),
    }
}

/// That no task has this id, and which could be meant.
fn unknown_task(run: &RunState, refusal: &Refusal, id: &str) -> String {
    let tasks = bound::tasks(run);
    if tasks.is_none_or(ItemSet::is_empty) {
        return format!(
            "there is no task `{id}` yet: tasks come to be when all items are documented"
        );
    }
    // An id that several items use is told apart by its item.
    let qualified: Vec<String> = tasks
        .into_iter()
        .flat_map(ItemSet::iter)
        .filter(|(_, task)| task.text("name") == id)
        .take(MOST_TOLD)
        .map(|(id, _)| format!("`{id}`"))
        .collect();
    if !qualified.is_empty() {
        return format!(
            "there is no task `{id}`; did you mean {}?",
            qualified.join(" or ")
        );
    }
    match refusal.details.get("nearest").and_then(Value::as_str) {
        Some(near) => format!("there is no task `{id}`; did you mean `{near}`?"),
        None => format!("there is no task `{id}`"),
    }
}

/// That a task is told to be in that status.
fn told(task: &str, status: &str) -> NextStep {
    Verb::Task.step().with("id", task).with("status", status)
}

/// The tasks of the batch in hand that stand so.
fn of_batch<'r>(run: &'r RunState, statuses: &[&str]) -> Vec<&'r str> {
    let words = bound::bound(run);
    let batch = bound::batch_in_hand(run).and_then(|id| bound::batches(run)?.get(id));
    batch
        .into_iter()
        .flat_map(|batch| batch.texts(bound::tasks_name(run)))
        .filter(|id| {
            let task = bound::tasks(run).and_then(|tasks| tasks.get(id));
            task.is_some_and(|task| statuses.contains(&words.of_task(task.text("status"))))
        })
        .collect()
}

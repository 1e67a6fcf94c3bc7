//! What the executor of a unit is given: put together once, when the unit is issued, and kept by
//! its hash. `next` only reads it.

use machine::decide::PromptRequest;
use machine::state::{Item, Token};
use machine::{Role, RunState};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use workspace::config::{Config, Level};
use workspace::convention::hints::{ContextHints, SubtaskText, context_hints};
use workspace::convention::paths::Language;
use workspace::convention::paths::PathClasses;
use workspace::convention::test_place;
use workspace::git::{RepoPath, is_of_git};
use workspace::template::Template;

use crate::action::Precondition;
use crate::call::Call;
use crate::capability::git::effects::message::message_of_subtask;
use crate::capability::memory::{self, Memory, SHOWN, Shown, TESTED, Tested, UNTRIED};
use crate::capability::messages;
use crate::capability::tests::evidence::asked_level;
use crate::capability::tests::read::name_of;
use crate::fault;
use crate::fault::Fault;
use crate::generic;

/// Rules files longer than this are cut, in bytes.
const LONGEST_RULES: usize = 64 * 1024;

/// The kept part of a unit.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct UnitContext {
    /// What is known about the project for this phase.
    pub context: Map<String, Value>,
    /// What must hold before the work begins.
    pub preconditions: Vec<Precondition>,
    /// The whole prompt.
    pub instructions: String,
    /// The prompt for whoever had one of this phase before: without what is the same each time. None where that is all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brief: Option<String>,
}

impl UnitContext {
    /// What was kept of a unit.
    pub fn read(bytes: &[u8]) -> Self {
        // A prompt that stands in a file, or that a profile wrote, is told as it is.
        serde_json::from_slice(bytes).unwrap_or_else(|_| Self {
            instructions: String::from_utf8_lossy(bytes).into_owned(),
            ..Self::default()
        })
    }
}

/// Puts the context of a unit together.
pub fn build(
    call: &Call<'_>,
    asked: &PromptRequest,
    run: &RunState,
    broken: Option<&Fault>,
) -> Result<UnitContext, Fault> {
    let memory = Memory::of(run)?;
    let present = run
        .token(asked.token)
        .ok_or_else(|| Fault::bug("a unit for no token"))?;
    let place = Place {
        role: &asked.role,
        run,
        present,
        item: run.item(present),
        against: SHOWN.read(&present.kept, asked.role.against.as_ref())?,
        tested: TESTED.read(&present.kept, asked.role.of.as_ref())?,
    };
    let mut context = context(call, run, &memory, &place)?;
    let (rules, notes) = rules(call, &memory, &asked.role);
    let prompt = |brief| instructions(call, asked, &memory, &place, (&context, &rules), brief);
    let (instructions, brief) = match broken {
        Some(fault) => (without_template(fault), None),
        None => (prompt(false)?, Some(prompt(true)?)),
    };
    if !notes.is_empty() {
        context.insert("notes".to_owned(), json!(notes));
    }
    Ok(UnitContext {
        preconditions: preconditions(&place, &memory),
        context,
        brief: brief.filter(|brief| *brief != instructions),
        instructions,
    })
}

/// Where a unit is issued.
struct Place<'a> {
    role: &'a Role,
    run: &'a RunState,
    present: &'a Token,
    item: Option<&'a Item>,
    /// What the report showed that it is going to be held against.
    against: Option<Shown>,
    /// What was tested that is going to be committed.
    tested: Option<Tested>,
}

impl Place<'_> {
    /// Whether tests are what is reported of an item.
    fn is_of_tests(&self) -> bool {
        self.role.reader == "tests" && self.role.suite.is_none()
    }

    /// Whether a report of failing tests is meant that the item did not come by: it has them already.
    fn is_repair(&self) -> bool {
        self.role.against.is_some() && memory::is_repair(self.run, self.present)
    }
}

fn context(
    call: &Call<'_>,
    run: &RunState,
    memory: &Memory,
    place: &Place<'_>,
) -> Result<Map<String, Value>, Fault> {
    let start = &memory.start;
    let mut context = Map::new();
    let mut put = |key: &str, value: Value| {
        let empty = match &value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(all) => all.is_empty(),
            _ => false,
        };
        if !empty {
            context.insert(key.to_owned(), value);
        }
    };
    put("projectRoot", json!(call.root));
    let of_start = [
        "taskId",
        "taskTitle",
        "branch",
        "tag",
        "testCommand",
        "testFramework",
    ];
    for (name, value) in start.named(&of_start) {
        put(&name, value);
    }
    match place.item {
        Some(item) if place.is_of_tests() => {
            let hints = hints(call, memory, item);
            let written = tests_written(place, memory)?;
            let test_file = written.first().cloned().or(hints.test_file);
            let targeted = call.pinned.test.targeted_run_pattern.as_ref();
            put(
                "testPattern",
                json!(targeted.or_else(|| pattern_for(&start.test_patterns, test_file.as_deref()))),
            );
            if !memory::is_repair(run, place.present) {
                put("testFile", json!(test_file));
                put("existingTests", json!(hints.existing_tests));
            }
            let own = item
                .fields
                .get("acceptanceCriteria")
                .and_then(Value::as_array);
            match own {
                Some(own) if !own.is_empty() => put("acceptanceCriteria", json!(own)),
                _ => put("acceptanceCriteria", json!(hints.acceptance_criteria)),
            }
            put("implementationHints", json!(hints.implementation_hints));
            put("expectedFiles", json!(hints.expected_files));
            if let Some(against) = &place.against {
                put("redFiles", json!(against.files));
            }
            put("failingTests", failing(run, place));
        }
        Some(_) if place.role.reader == "commit" => {
            let mut files: Vec<String> = run
                .last
                .as_ref()
                .and_then(|last| last.facts.get("files"))
                .and_then(|files| serde_json::from_value(files.clone()).ok())
                .unwrap_or_default();
            let paths: Vec<RepoPath> = files.iter().filter_map(|path| path.parse().ok()).collect();
            put(
                "commitMessage",
                json!(message_of_subtask(
                    call,
                    run,
                    (place.present.id, place.role.of.as_ref()),
                    &paths,
                    None
                )?),
            );
            if let Some(tasks) = &start.tasks_path
                && memory.repository().is_tracked(tasks).unwrap_or(false)
            {
                files.push(tasks.to_string());
            }
            put("filesToCommit", json!(files));
        }
        _ => {}
    }
    Ok(context)
}

/// The test files that were changed when the failing tests were shown, as far as they are known by their names; else all
/// that was changed.
fn tests_written(place: &Place<'_>, memory: &Memory) -> Result<Vec<String>, Fault> {
    let before = || SHOWN.read(&place.present.kept, place.role.label.as_ref());
    let shown = match &place.against {
        Some(against) => Some(against.clone()),
        None => before()?,
    };
    let files = shown.map(|shown| shown.files).unwrap_or_default();
    let Ok(classes) = memory.start.classes() else {
        return Ok(files);
    };
    let (tests, others): (Vec<_>, _) = files.into_iter().partition(|file| classes.is_test(file));
    Ok(if tests.is_empty() { others } else { tests })
}

/// The tests that failed in the last report of the item in hand, or were shown to fail before it; as far as they have names.
fn failing(run: &RunState, place: &Place<'_>) -> Value {
    let retried = run.last.as_ref().filter(|last| {
        last.token == place.present.id && last.code.is_some() && last.role == *place.role
    });
    match retried {
        Some(last) => last.facts.get("failingTests").cloned().unwrap_or_default(),
        None => json!(place.against.as_ref().map(|against| &against.new)),
    }
}

/// The pattern that the test file matches.
fn pattern_for<'a>(patterns: &'a [String], test_file: Option<&str>) -> Option<&'a String> {
    let file = test_file?;
    patterns.iter().find(|pattern| {
        PathClasses::new(std::slice::from_ref(*pattern)).is_ok_and(|classes| classes.is_test(file))
    })
}

fn hints(call: &Call<'_>, memory: &Memory, item: &Item) -> ContextHints {
    let Ok(classes) = PathClasses::new(&memory.start.test_patterns)
        .or_else(|_| PathClasses::new(&call.settings.config.test.patterns))
    else {
        return ContextHints::default();
    };
    let repository = memory.repository();
    let scope = repository.scope().into_owned();
    // Hints are help, not evidence: without them the unit is as good as before.
    let Ok(files) = repository.files(call.last_look().as_deref()) else {
        return ContextHints::default();
    };
    let files = files.into_iter();
    let in_scope = |path: String| path.strip_prefix(&scope).map(str::to_owned);
    let files: Vec<String> = files.filter_map(in_scope).collect();
    let text = SubtaskText {
        title: item.text("title"),
        description: item.text("description"),
        details: item.text("details"),
        test_strategy: item.text("testStrategy"),
    };
    let mut hints = context_hints(&text, &files, &classes);
    // What the rails would not take for a test is no place for one.
    let wanted = match &call.pinned.test.targeted_run_pattern {
        Some(pattern) => std::slice::from_ref(pattern),
        None => &memory.start.test_patterns,
    };
    hints.test_file = hints
        .test_file
        // Of its language nothing is known, and what lies about in others is none of its tests.
        .filter(|_| memory.start.test_framework != "ctest")
        // A crate without a folder of tests has them beside its code.
        .filter(|file| {
            let is_like_it = |other: &&String| Language::of(other) == Language::of(file);
            Language::of(file) != Some(Language::Rust)
                || files
                    .iter()
                    .filter(is_like_it)
                    .any(|file| classes.is_test(file) && test_place::is_example(file))
        })
        .filter(|file| PathClasses::new(wanted).is_ok_and(|tests| tests.is_test(file)));
    if hints.existing_tests.is_empty() {
        // None is named and none looks alike: any shows how tests are written here.
        const MOST: usize = 5;
        hints.existing_tests = files
            .iter()
            .filter(|file| classes.is_test(file) && test_place::is_example(file))
            .take(MOST)
            .cloned()
            .collect();
    }
    hints
}

/// What must hold before the work begins. What holds is known by the way here; the tree is looked at where somebody asks.
fn preconditions(place: &Place<'_>, memory: &Memory) -> Vec<Precondition> {
    let (role, present) = (place.role, place.present);
    let begins_again = present.reason.is_some() || UNTRIED.is_in(&place.run.kept);
    let (known, open) = (Some(true), None);
    let of_role = match role.reader.as_str() {
        "tests" if role.shows.is_some() && begins_again => {
            let name = name_of(role.label.as_ref());
            let detail = format!(
                "{name} is asked for once more: what is changed since the last commit is part of it"
            );
            vec![("reopened", known, detail)]
        }
        "tests" if role.shows.is_some() => {
            let detail =
                "nothing is changed since the last commit, apart from what was dirty before";
            vec![("tree_clean", open, detail.to_owned())]
        }
        "tests" if place.is_repair() => {
            let detail = "a repair is open: the suite failed, or somebody reopened the end";
            vec![("suite_failing", known, detail.to_owned())]
        }
        "tests" if role.against.is_some() => {
            let name = name_of(role.against.as_ref());
            let shown = place.against.as_ref();
            vec![if shown.is_some_and(|shown| shown.failing > 0) {
                let detail = format!("{name} was accepted: the new tests fail");
                ("red_accepted", known, detail)
            } else {
                let detail = format!("{name} was accepted: its tests pass");
                ("green_accepted", known, detail)
            }]
        }
        "commit" if role.of.is_some() => {
            let name = name_of(role.of.as_ref());
            let passing = place.tested.as_ref().map_or_else(String::new, |tested| {
                format!(": {} passing", messages::tests(tested.passed))
            });
            let accepted = format!("{name} was accepted{passing}");
            let as_tested = format!("the files are those that the accepted {name} was tested with");
            vec![
                ("green_accepted", known, accepted),
                ("tree_as_tested", open, as_tested),
            ]
        }
        _ if role.suite.is_some() => {
            let detail = "every subtask is committed, and nothing is changed since";
            vec![("all_committed", open, detail.to_owned())]
        }
        _ => Vec::new(),
    };
    let branch = format!("HEAD is on `{}`", memory.start.branch);
    let all = std::iter::once(("on_branch", open, branch)).chain(of_role);
    let condition = |(id, holds, detail): (&str, _, _)| Precondition {
        id: id.to_owned(),
        holds,
        detail,
    };
    all.map(condition).collect()
}

fn instructions(
    call: &Call<'_>,
    asked: &PromptRequest,
    memory: &Memory,
    place: &Place<'_>,
    (context, rules): (&Map<String, Value>, &[Value]),
    brief: bool,
) -> Result<String, Fault> {
    let (run, present) = (place.run, place.present);
    let refused_before = run.last.as_ref().filter(|last| {
        let repairs = place.is_repair() && last.role.suite.is_some();
        !last.answer.validated && (last.token == present.id || repairs)
    });
    let last = match refused_before {
        Some(last) => json!({
            "code": last.code,
            "message": messages::message(last.code.as_deref().unwrap_or_default(), &last.facts),
            "failing": last.facts.get("failingTests").cloned().unwrap_or_else(|| json!([])),
        }),
        None => json!({ "code": "", "message": "", "failing": [] }),
    };
    let own = json!({
        "rules": rules,
        "task": { "id": memory.start.task_id, "title": memory.start.task_title },
        "subtask": place.item.map_or_else(no_subtask, |item| json!(described(item))),
        "context": context,
        "last": last,
        "unit": {
            "repair": place.is_repair(),
            "brief": brief && !place.is_repair(),
            "counted": asked_level(run, &asked.role, &present.kept) < Level::Reported,
        },
    });
    generic::context::build(call, asked, run, own)
}

/// What stands for the subtask where none is in hand.
fn no_subtask() -> Value {
    json!({
        "id": "", "title": "", "kind": "", "description": "", "details": "", "testStrategy": "", "dependencies": [],
    })
}

/// Renders a template; a name that nothing stands for is an error.
pub fn render(name: &str, template: &Template, values: &impl Serialize) -> Result<String, Fault> {
    template
        .render(name, values)
        .map_err(|(line, why)| fault!("bad_template.rendered", name, line, why))
}

/// What is told instead of a template that cannot be rendered.
pub fn without_template(fault: &Fault) -> String {
    format!(
        "{}.\n\nTell the person: {}. What is asked for here is known without it: the state, the item, and what is to be reported.\n",
        fault.message, fault.suggestion
    )
}

/// The rules files that the project has, and what is to be noted: one that was asked for and is missing, and one that lies elsewhere or that
/// git ignores. What is read here goes to a model, and the settings that name it may come with a cloned repository.
fn rules(call: &Call<'_>, memory: &Memory, role: &Role) -> (Vec<Value>, Vec<String>) {
    let repository = memory.repository();
    let prompts = &call.pinned.prompts;
    // Those that are looked for without being asked for are no loss.
    let are_asked_for = *prompts != Config::default().prompts;
    let folder = prompts.rules_path.trim_end_matches('/');
    let names = prompts.load_order.iter();
    let paths = names.map(|name| format!("{folder}/{name}"));
    let of_tests = role.shows.is_some();
    let of_tests = of_tests.then(|| prompts.test_generator_path.clone());
    let (mut rules, mut notes) = (Vec::new(), Vec::new());
    for path in paths.chain(of_tests) {
        let real = std::fs::canonicalize(call.root.join(&path)).ok();
        let Some(real) = real.filter(|real| real.is_file()) else {
            notes.extend(are_asked_for.then(|| format!("{path} (not there)")));
            continue;
        };
        // Git ignores what holds secrets, and its own folder is nobody else's.
        let may_be_read = repository.relative(&real).is_some_and(|inside| {
            !is_of_git(&inside.to_path_buf()) && !repository.is_ignored(&inside).unwrap_or(true)
        });
        match std::fs::read(real) {
            Ok(bytes) if may_be_read => {
                let text = String::from_utf8_lossy(&bytes);
                let cut = text::plain::cut_bytes(&text, LONGEST_RULES);
                rules.push(json!({ "path": path, "text": cut }));
            }
            _ => notes.push(format!(
                "{path} (not read: it lies outside of the project, git ignores it, or it cannot be read)"
            )),
        }
    }
    (rules, notes)
}

/// A subtask with all that its task says of it.
pub fn described(item: &Item) -> Map<String, Value> {
    let mut fields = named(item);
    for name in ["description", "details", "testStrategy"] {
        fields.insert(name.to_owned(), item.text(name).into());
    }
    let needs = item.needs(Some("dependencies"));
    fields.insert("dependencies".to_owned(), needs.into());
    fields
}

/// A subtask by its id, its title, and its kind where it has one.
pub fn named(item: &Item) -> Map<String, Value> {
    let fields = ["id", "title", "kind"].map(|name| (name, item.text(name)));
    let fields = fields
        .into_iter()
        .filter(|(name, text)| *name != "kind" || !text.is_empty());
    fields
        .map(|(name, text)| (name.to_owned(), text.into()))
        .collect()
}

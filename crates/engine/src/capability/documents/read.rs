//! The readers of a session of skills: its design document, and its task graphs.

use std::collections::{BTreeMap, HashSet};

use machine::{Reading, RunState};
use markup::documents::design;
use markup::documents::task_graph;
use markup::documents::task_graph::{Graph, MergeProblem, Merged, Part};
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::capability::documents::bound::{self, COMPLETE, PENDING, SKIPPED, bound};
use crate::capability::documents::folder::{self, DESIGN, Document, Graphs, Place};
use crate::capability::documents::skills::{FIRST, Skills, first, number};
use crate::capability::documents::{drafts, work};
use crate::fault;
use crate::fault::Fault;
use crate::support::HandlerError;
use crate::view::collab::answer::DocumentProblem;

/// What the reader called `reader` finds.
pub(crate) fn read(call: &Call<'_>, reader: &str, run: &RunState) -> Result<Reading, HandlerError> {
    let Some(skills) = &call.skills else {
        return Err(Fault::bug("documents are read in a session of skills").into());
    };
    match reader {
        "design" => of_design(call, skills, run),
        _ => of_graph(call, skills, run),
    }
}

/// The items that the caller set, or else those of the design document.
fn of_design(call: &Call<'_>, skills: &Skills, run: &RunState) -> Result<Reading, HandlerError> {
    let set = bound::items(run);
    if !set.is_empty() {
        let items: Vec<&Map<String, Value>> = set.iter().map(|(_, item)| &*item.fields).collect();
        let items = json!(items);
        let warnings = taken_as(run, &items);
        return Ok(Reading {
            level: "claimed".to_owned(),
            warnings,
            keep_run: settled(call, run)?,
            ..found(
                skills,
                json!({ "items": items, "errors": [] }),
                Vec::new(),
                Vec::new(),
            )
        });
    }
    let Some(document) = Document::read(&call.dir, DESIGN)? else {
        return Ok(found(
            skills,
            json!({ "items": [] }),
            Vec::new(),
            Vec::new(),
        ));
    };
    let design = design::read(&document.text);
    let problem = |problem: &design::Problem| DocumentProblem {
        code: problem.code.to_owned(),
        document: DESIGN.to_owned(),
        item: None,
        line: problem.line,
        message: problem.message.clone(),
        suggestion: problem.suggestion.clone(),
    };
    let problems: Vec<DocumentProblem> = design.problems.iter().map(problem).collect();
    let known = |number: &str| design.items.iter().find(|item| item.number == number);
    let is_settled =
        |need: &String| known(need).is_some_and(|needed| needed.status != design::Status::Pending);
    let is_ready =
        |number: &&str| known(number).is_some_and(|item| item.depends_on.iter().all(is_settled));
    let mut items: Vec<&design::Item> = design.items.iter().collect();
    if let Some(first) = first(run).filter(is_ready) {
        items.sort_by_key(|item| item.number != first);
    }
    let fields = |item: &design::Item| {
        Some(json!({
            "number": item.number,
            "title": item.title,
            "type": item.kind?.name(),
            "status": item.status.name(),
            "dependsOn": item.depends_on,
        }))
    };
    let items: Value = items.into_iter().filter_map(fields).collect();
    let lines = design.items.iter();
    let lines = lines.map(|item| (item.number.clone(), item.line));
    *skills.lines.borrow_mut() = lines.collect();
    let notes = design.notes.iter();
    let notes = notes.map(|note| format!("{DESIGN}:{}: {}", note.line, note.message));
    let notes = notes.chain(taken_as(run, &items)).collect();
    let mut reading = found(
        skills,
        json!({ "items": items, "errors": [] }),
        problems,
        notes,
    );
    if design.problems.is_empty() {
        document.keep(&call.dir)?;
        reading.evidence = vec![document.sha256];
    }
    reading.keep_run = settled(call, run)?;
    Ok(reading)
}

/// That items are taken as they are said to be, and nothing is worked out for them.
fn taken_as(run: &RunState, items: &Value) -> Vec<String> {
    let words = bound(run);
    let said = items.as_array().into_iter().flatten().filter_map(|item| {
        let status = words.of_item(item["status"].as_str()?).to_owned();
        let number = item["number"].as_str()?;
        (status != PENDING)
            .then(|| format!("item {number} is taken as {status}: nothing is worked out for it"))
    });
    said.collect()
}

/// From here on the cursor says which item is in hand; and what is done for the items is held against how it is now.
fn settled(call: &Call<'_>, run: &RunState) -> Result<Map<String, Value>, Fault> {
    let mut keep = drafts::written(call)?;
    keep.extend(work::before(call)?);
    if first(run).is_some() {
        FIRST.forget(&mut keep);
    }
    Ok(keep)
}

/// The graph of the item in hand; where none is in hand, those of all items as one.
fn of_graph(call: &Call<'_>, skills: &Skills, run: &RunState) -> Result<Reading, HandlerError> {
    let mut graphs = Graphs::of(run)?;
    let in_hand = bound::item_in_hand(run);
    let read = All::read(call, run, &mut graphs, None)?;
    let merged = read.merge(run);
    let problems = read.problems(&merged, in_hand);
    let present = match in_hand {
        // What lies there and cannot be read is there.
        Some(item) => read.has(item) || !problems.is_empty(),
        None => true,
    };
    let tasks = match in_hand {
        Some(_) => Vec::new(),
        None => tasks(&merged, run),
    };
    let are_right = problems.is_empty();
    let facts = json!({ "present": present, "errors": [], "tasks": tasks });
    let mut reading = found(skills, facts, problems, read.notes(in_hand));
    if are_right {
        reading.keep_run = graphs.kept()?;
        reading.evidence = read.keep(call)?;
    }
    Ok(reading)
}

/// A reading of documents, with what is wrong with them as single lines among its facts.
fn found(
    skills: &Skills,
    mut facts: Value,
    problems: Vec<DocumentProblem>,
    notes: Vec<String>,
) -> Reading {
    let line = |problem: &DocumentProblem| {
        format!("{}:{}: {}", problem.document, problem.line, problem.message)
    };
    facts["errors"] = problems.iter().map(line).collect();
    skills.notes.borrow_mut().clone_from(&notes);
    *skills.problems.borrow_mut() = problems;
    Reading {
        facts: facts.as_object().cloned().unwrap_or_default(),
        level: "file".to_owned(),
        warnings: notes,
        ..Reading::default()
    }
}

/// The task graphs of all items, as they are now.
pub(crate) struct All {
    of: Vec<ItemArgument>,
    /// What is wrong with documents that cannot be read at all, or of which cannot be told whose they are.
    unreadable: Vec<(String, DocumentProblem)>,
    /// The items whose graphs are still to come.
    to_come: Vec<String>,
    /// By item, what is told of files that were passed over.
    passed_over: Vec<(String, String)>,
}

struct ItemArgument {
    number: String,
    after: Vec<String>,
    /// Its document; none where the item is one task by itself.
    document: Option<Document>,
    graph: Graph,
}

impl All {
    /// Reads the graphs of all items that are still to be done, and of those whose tasks are known. `given` is one that is handed
    /// over, of the item with that number.
    pub(crate) fn read(
        call: &Call<'_>,
        run: &RunState,
        graphs: &mut Graphs,
        given: Option<(&str, &Document)>,
    ) -> Result<Self, Fault> {
        let items = bound::items(run);
        let numbers: HashSet<&str> = items.keys().collect();
        let in_hand = bound::item_in_hand(run);
        let files = folder::graphs(&call.dir)?;
        let known: BTreeMap<String, String> = files
            .iter()
            .map(|(name, read)| {
                let sha256 = read.as_ref().map(|document| document.sha256.clone());
                (name.clone(), sha256.unwrap_or_default())
            })
            .collect();
        let words = bound(run);
        let before = graphs.clone();
        let mut all = Self {
            of: Vec::new(),
            unreadable: Vec::new(),
            to_come: Vec::new(),
            passed_over: Vec::new(),
        };
        let with_tasks: HashSet<&str> = bound::tasks(run)
            .iter()
            .map(|(_, task)| task.text("item"))
            .collect();
        let blocked = run.blocked(&call.definition, &words.items);
        for ((key, item), blocked) in items.iter().zip(blocked) {
            let is_left_out = match words.of_item(item.text("status")) {
                COMPLETE => true,
                SKIPPED => !with_tasks.contains(key),
                _ => blocked,
            };
            if is_left_out {
                continue;
            }
            let handed = given
                .filter(|(of, _)| *of == key)
                .map(|(_, document)| document);
            let document = if let Some(document) = handed {
                Some(document.clone())
            } else {
                let place = before.place(key, in_hand, &numbers, &known);
                all.found(call, key, place, &files)
            };
            if let Some(document) = &document {
                graphs.take(key, document);
            } else if words.of_item(item.text("status")) == PENDING && in_hand != Some(key) {
                all.to_come.push(key.to_owned());
            }
            let graph = match &document {
                Some(document) => task_graph::read(&document.text),
                None => task_graph::lone(key, item.text("title")),
            };
            all.of.push(ItemArgument {
                number: key.to_owned(),
                after: item.texts("dependsOn").map(str::to_owned).collect(),
                document,
                graph,
            });
        }
        Ok(all)
    }

    /// The document at a place; what stands against it is noted.
    fn found(
        &mut self,
        call: &Call<'_>,
        item: &str,
        place: Place,
        files: &BTreeMap<String, Result<Document, Fault>>,
    ) -> Option<Document> {
        let (name, wrong) = match place {
            Place::Nowhere => return None,
            Place::Among(name, others) => {
                let note = format!(
                    "passed over: {}. The graph of item {item} was taken from {name}; take one of them away",
                    others.join(", ")
                );
                self.passed_over.push((item.to_owned(), note));
                return self.found(call, item, Place::File(name), files);
            }
            Place::File(name) => match files.get(&name) {
                Some(Ok(document)) => return Some(document.clone()),
                Some(Err(fault)) => (name, fault.clone()),
                None => return None,
            },
            Place::Kept(name, sha256) => match Document::kept(&call.dir, &name, &sha256) {
                Ok(document) => return Some(document),
                Err(fault) => (name, fault),
            },
            Place::Several(names) => {
                let fault = fault!("which_document", item, names = names.join(", "));
                (names.into_iter().next().unwrap_or_default(), fault)
            }
        };
        let line = wrong.details.get("line").and_then(Value::as_u64);
        let problem = DocumentProblem {
            code: wrong.code,
            document: name,
            item: Some(number(item)),
            line: line.and_then(|line| u32::try_from(line).ok()).unwrap_or(1),
            message: wrong.message,
            suggestion: wrong.suggestion,
        };
        self.unreadable.push((item.to_owned(), problem));
        None
    }

    /// All of them as one. Tasks that are known keep their ids.
    pub(crate) fn merge(&self, run: &RunState) -> Merged {
        let known: BTreeMap<(String, String), String> = bound::tasks(run)
            .iter()
            .map(|(id, task)| {
                let of = (task.text("item").to_owned(), task.text("name").to_owned());
                (of, id.to_owned())
            })
            .collect();
        let parts: Vec<Part<'_>> = self
            .of
            .iter()
            .map(|of| Part {
                item: &of.number,
                document: of.document.as_ref().map_or("", |document| &document.name),
                graph: &of.graph,
                after: &of.after,
            })
            .collect();
        task_graph::merge(&parts, &known)
    }

    /// Whether an item has a document.
    pub(crate) fn has(&self, item: &str) -> bool {
        self.of
            .iter()
            .any(|of| of.number == item && of.document.is_some())
    }

    /// How many tasks an item has; all of them, where none is named.
    pub(crate) fn count(&self, item: Option<&str>) -> usize {
        let meant = self
            .of
            .iter()
            .filter(|of| item.is_none_or(|item| of.number == item));
        meant.map(|of| of.graph.tasks.len()).sum()
    }

    /// What is wrong with them; of one item only, where one is named. That something is of an item whose graph is still to
    /// come is no fault of it yet.
    pub(crate) fn problems(&self, merged: &Merged, of: Option<&str>) -> Vec<DocumentProblem> {
        let meant = |item: &str| of.is_none_or(|of| item == of);
        let to_come = |found: &MergeProblem| {
            let named = found.problem.tasks.get(1);
            let qualified = named.and_then(|name| name.strip_prefix("item-")?.split_once('/'));
            found.problem.code == "unknown_dependency"
                && qualified.is_some_and(|(item, _)| self.to_come.iter().any(|known| known == item))
        };
        let unreadable = self.unreadable.iter().filter(|(item, _)| meant(item));
        unreadable
            .map(|(_, problem)| problem.clone())
            .chain(
                merged
                    .problems
                    .iter()
                    .filter(|found| meant(&found.item) && !to_come(found))
                    .map(|found| DocumentProblem {
                        code: found.problem.code.to_owned(),
                        document: match found.document.as_str() {
                            "" => format!("item {}", found.item),
                            name => name.to_owned(),
                        },
                        item: Some(number(&found.item)),
                        line: found.problem.line,
                        message: found.problem.message.clone(),
                        suggestion: found.problem.suggestion.clone(),
                    }),
            )
            .collect()
    }

    /// The items whose graphs have errors, each once.
    pub(crate) fn with_errors(&self, merged: &Merged) -> Vec<String> {
        let mut items: Vec<String> = Vec::new();
        let unreadable = self.unreadable.iter().map(|(item, _)| item);
        for item in unreadable.chain(merged.problems.iter().map(|found| &found.item)) {
            if !items.contains(item) {
                items.push(item.clone());
            }
        }
        items
    }

    /// What was read with some freedom; of one item only, where one is named.
    pub(crate) fn notes(&self, of: Option<&str>) -> Vec<String> {
        let meant = |number: &str| of.is_none_or(|item| item == number);
        let passed_over = self.passed_over.iter().filter(|(item, _)| meant(item));
        let read = self.of.iter().filter(|known| meant(&known.number));
        read.filter_map(|known| Some((known.document.as_ref()?, &known.graph)))
            .flat_map(|(document, graph)| {
                let notes = graph.notes.iter();
                notes.map(|note| format!("{}:{}: {}", document.name, note.line, note.message))
            })
            .chain(passed_over.map(|(_, note)| note.clone()))
            .collect()
    }

    /// Keeps all documents as evidence; their hashes.
    pub(crate) fn keep(&self, call: &Call<'_>) -> Result<Vec<String>, Fault> {
        let mut hashes = Vec::new();
        for document in self.of.iter().filter_map(|of| of.document.as_ref()) {
            document.keep(&call.dir)?;
            hashes.push(document.sha256.clone());
        }
        Ok(hashes)
    }
}

/// Merged tasks as items of their set, and behind them those of `run` that are of no item.
pub(crate) fn tasks(merged: &Merged, run: &RunState) -> Vec<Map<String, Value>> {
    let reason = |id: &str| {
        let known = bound::tasks(run).get(id)?;
        Some(known.text("reason").to_owned())
    };
    let as_item = |task: &task_graph::MergedTask| {
        let fields = [
            ("id", json!(task.id)),
            ("item", json!(task.item)),
            ("name", json!(task.name)),
            ("description", json!(task.description)),
            ("files", json!(task.files)),
            ("tests", json!(task.tests)),
            ("dependsOn", json!(task.depends_on)),
            ("parallel", json!(task.parallel)),
            ("reason", json!(reason(&task.id).unwrap_or_default())),
        ];
        fields
            .map(|(name, value)| (name.to_owned(), value))
            .into_iter()
            .collect()
    };
    let of_no_item = bound::tasks(run)
        .iter()
        .filter(|(_, task)| task.text("item").is_empty())
        .map(|(_, task)| Map::clone(&task.fields));
    merged.tasks.iter().map(as_item).chain(of_no_item).collect()
}

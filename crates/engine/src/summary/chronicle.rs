//! What the journal of a run tells, taken in event by event.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use journal::{Position, Record};
use machine::event::AcceptedReport;
use machine::state::ItemStatus;
use machine::trigger::Trigger;
use machine::{Definition, Event, RunState};
use serde_json::{Map, Value, json};

use crate::capability::git::effects::{self, rewind::REWIND};
use crate::capability::memory::{self, BASELINE, Memory, TESTED};
use crate::capability::messages;
use crate::clock::millis_of;
use crate::derived::commit_of;
use crate::earlier::Earlier;
use crate::fault::Fault;
use crate::find::is_over_a_task;
use crate::open_run;
use crate::pinning::weaker_policies;
use crate::projection::Projection;
use crate::summary::phase::Phase;
use crate::summary::story::Story;
use crate::summary::{Account, Refused, timeline};

/// What a journal tells, as far as it was read.
#[derive(Debug)]
pub(super) struct Chronicle {
    dir: PathBuf,
    run: RunState,
    definition: Option<Arc<Definition>>,
    story: Story,
    earlier: Earlier<Story>,
    /// What the last way back took away.
    way_back: Value,
    /// The hash of the last line.
    pub(super) head: String,
}

impl Projection for Chronicle {
    fn begin(dir: &Path) -> Result<Self, Fault> {
        Ok(Self {
            dir: dir.to_owned(),
            run: RunState::default(),
            definition: None,
            story: Story::default(),
            earlier: Earlier::in_journal(dir)?,
            way_back: Value::Null,
            head: String::new(),
        })
    }

    fn take(&mut self, record: &Record, event: Event, end: Option<&Position>) -> Result<(), Fault> {
        tell(&mut self.story, &self.dir, &self.run, &record.ts, &event);
        self.run.apply(&record.ts, &event);
        // The first event says which definition it is.
        let definition = match &self.definition {
            Some(definition) => definition,
            None => self
                .definition
                .insert(open_run::pinned(&self.dir, &self.run)?),
        };
        let mut step = timeline::step(definition, &record.ts, &event);
        if let Event::EffectDone { name, result, .. } = &event
            && name == REWIND
        {
            self.way_back = result.clone();
        }
        if let Event::RunRewound { to, .. } = event {
            self.story.go_back(self.earlier.behind(to));
            for name in ["commits", "keptAs"] {
                if let Some(step) = &mut step {
                    step[name] = self.way_back[name].clone();
                }
            }
            self.story.rewound.extend(step.clone());
        }
        if let Some(step) = step {
            Arc::make_mut(&mut self.story.steps).push(step);
        }
        self.earlier.note(record.seq, &self.story);
        if let Some(end) = end {
            self.head.clone_from(&end.hash);
        }
        Ok(())
    }

    fn can_take(&self, record: &Record) -> bool {
        self.earlier.is_prepared_for(record)
    }
}

impl Chronicle {
    /// The run as it is told of now.
    pub(super) fn account(&self) -> Result<Account, Fault> {
        let (run, mut story) = (&self.run, self.story.clone());
        let definition = self.definition.clone();
        let definition = definition.ok_or_else(|| Fault::bug("a run without a journal"))?;
        for (key, item) in memory::subtasks(run) {
            let row = story.rows.entry(key.to_owned()).or_default();
            key.clone_into(&mut row.id);
            item.text("title").clone_into(&mut row.title);
            item.text("kind").clone_into(&mut row.kind);
            row.status = serde_json::to_value(item.status)
                .ok()
                .and_then(|status| status.as_str().map(str::to_owned))
                .unwrap_or_default();
            let sha = memory::commit_of(run, key);
            if !sha.is_empty() {
                row.commit = Some(sha.to_owned());
            }
        }
        story.baseline = BASELINE
            .value(&run.kept)
            .and_then(Value::as_object)
            .map(|facts| {
                let level = facts.get("level").and_then(Value::as_str);
                Phase::of_facts(facts, level.unwrap_or_default())
            });
        let refused = refusals(&self.dir);
        for refusal in &refused.listed {
            let text = |name: &str| refusal.get(name).and_then(Value::as_str);
            let row = text("unit")
                .and_then(|unit| story.units.get(unit))
                .and_then(|key| story.rows.get_mut(key));
            if let Some(row) = row {
                row.refused.push(json!({
                    "at": text("ts"), "code": text("code"), "message": text("message"),
                }));
            }
        }
        let millis = millis_of(run.ended_at.as_deref().unwrap_or(&run.updated_at))
            .zip(millis_of(&run.started_at))
            .and_then(|(end, start)| u64::try_from(end - start).ok())
            .unwrap_or(0);
        let is_over_a_task = is_over_a_task(run);
        Ok(Account {
            task: is_over_a_task.then(|| Memory::of(run)).transpose()?,
            owed: memory::owed(run),
            weaker: weaker_policies(run, &definition),
            run: run.clone(),
            definition,
            story,
            refused,
            millis,
        })
    }
}

/// Takes in an event. `run` is as it was before.
fn tell(story: &mut Story, dir: &Path, run: &RunState, at: &str, event: &Event) {
    if let Some(sha) = commit_of(event) {
        story.commits.push(sha.to_owned());
    }
    match event {
        Event::UnitIssued { unit, token, .. } => {
            if let Some(key) = run.token(*token).and_then(|token| token.key()) {
                Arc::make_mut(&mut story.units).insert(unit.clone(), key.to_owned());
            }
        }
        Event::ReportAccepted(report) | Event::ReportRetried(report) => {
            warned(story, report);
            let accepted = matches!(event, Event::ReportAccepted(_));
            match (&report.item, report.reader()) {
                (None, "tests") if report.role.suite.is_some() => {
                    let suite = Phase::of(report, at);
                    if accepted {
                        story.suite = Some(suite);
                    } else {
                        story.failed_suites.push(suite);
                        story.mended_by = None;
                    }
                }
                (item, "tests") => {
                    let item = item.as_deref().unwrap_or_default();
                    tested(story, dir, run, at, report, item, accepted);
                }
                (Some(item), "commit") => {
                    let sha = report.facts.get("sha").and_then(Value::as_str);
                    story.rows.entry(item.clone()).or_default().handed_in =
                        sha.is_some_and(|sha| !sha.is_empty());
                }
                _ => {}
            }
        }
        Event::TokenClosed {
            token, left: false, ..
        } => {
            if let Some(token) = run.token(*token)
                && let Some(key) = token.key()
                && (is_over_a_task(run) || story.rows.contains_key(key))
            {
                let row = story.rows.entry(key.to_owned()).or_default();
                row.duration_ms = millis_of(at)
                    .zip(token.opened_at.as_deref().and_then(millis_of))
                    .and_then(|(end, start)| u64::try_from(end - start).ok())
                    .unwrap_or(0);
            }
        }
        Event::StateEntered {
            cause: Trigger::Adopt,
            ..
        } => {
            // What was accepted of items in progress was accepted of something else.
            let is_open = |key: &str| {
                let mut sets = run.sets.values();
                sets.any(|set| {
                    set.get(key)
                        .is_some_and(|item| item.status == ItemStatus::Open)
                })
            };
            story.rows.retain(|key, _| !is_open(key));
        }
        Event::StateEntered {
            item,
            from,
            to,
            cause,
            reason,
            ..
        } if matches!(cause, Trigger::Reopen | Trigger::Skip) => {
            let mut value =
                json!({ "subtaskId": item, "from": from, "to": to, "reason": reason, "at": at });
            let turned = if *cause == Trigger::Skip {
                &mut story.skipped
            } else {
                &mut story.reopened
            };
            // The item that an edge gives up was told before.
            let of_edge = |told: &mut Value| told["at"] == at && told.get("from").is_none();
            if let Some(told) = turned.pop_if(of_edge) {
                value["subtaskId"] = told["subtaskId"].clone();
                value["set"] = told["set"].clone();
                if let Some(kind) = told.get("type") {
                    value["type"] = kind.clone();
                }
            }
            if let Some((key, when, kind)) = story.new_kind.take()
                && (item.as_ref(), when.as_str()) == (Some(&key), at)
            {
                value["type"] = kind;
            }
            turned.push(value);
            if *cause == Trigger::Skip {
                return;
            }
            // What was accepted there before stands no more.
            if let Some(row) = item.as_ref().and_then(|item| story.rows.get_mut(item)) {
                let refactored = row.refactored.take();
                row.tree = None;
                if refactored.is_some_and(|phase| phase.state == *to) {
                    return;
                }
                row.green = None;
                row.red = row.red.take().filter(|red| red.state != *to);
            }
        }
        Event::ItemChanged {
            key,
            fields,
            status: None,
            ..
        } if fields.contains_key("kind") => {
            story.new_kind = Some((key.clone(), at.to_owned(), fields["kind"].clone()));
        }
        Event::ItemChanged {
            set,
            key,
            fields,
            status: Some(status @ (ItemStatus::Open | ItemStatus::Failed)),
            reason,
        } => {
            let told = reason.clone().map(Value::from);
            if let Some(reason) = told.as_ref().or_else(|| fields.get("reason")) {
                let before = run.sets.get(set).and_then(|items| items.get(key));
                let before = before.map_or("", |item| item.text("type"));
                let kind = fields.get("type").and_then(Value::as_str);
                let mut value = json!({ "subtaskId": key, "set": set, "reason": reason, "at": at });
                if let Some(kind) = kind.filter(|kind| *kind != before) {
                    value["type"] = kind.into();
                }
                if *status == ItemStatus::Failed {
                    story.skipped.push(value);
                } else {
                    story.reopened.push(value);
                }
            }
        }
        // That it could not be handed over at once says nothing of what the run made.
        Event::EffectFailed { .. } if is_behind_the_end(run) => {}
        other => stopped(story, at, other),
    }
}

/// Whether what is under way is done with what the run made.
fn is_behind_the_end(run: &RunState) -> bool {
    let pending = run.pending.as_ref();
    pending.is_some_and(|pending| Trigger::AFTER_THE_END.contains(&pending.at.trigger))
}

/// Takes in what did not go by itself.
fn stopped(story: &mut Story, at: &str, event: &Event) {
    match event {
        Event::RefusalAllowed {
            unit,
            code,
            reason,
            approval,
        } => {
            story.allowed.push(json!({
                "unit": unit,
                "code": code,
                "reason": reason,
                "by": approval.actor,
                "strength": approval.strength,
                "how": approval.how,
                "at": at,
            }));
        }
        Event::ApprovalGiven {
            what,
            stopped,
            reason,
            approval,
            ..
        } => {
            story.approvals.push(json!({
                "turn": what,
                "stopped": stopped,
                "reason": reason,
                "by": approval.actor,
                "strength": approval.strength,
                "how": approval.how,
                "at": at,
            }));
        }
        Event::RunPaused {
            reason, message, ..
        } => {
            story
                .pauses
                .push(json!({ "reason": reason, "message": message, "at": at }));
        }
        Event::EffectDone { name, result, .. } => {
            let told = effects::commit::notes(result, "the tasks file");
            story.warnings.extend(
                told.into_iter().map(
                    |message| json!({ "unit": name, "code": "tasks_file", "message": message }),
                ),
            );
            let Some(failed) = result.get("failed") else {
                return;
            };
            story.failed_effects.push(json!({
                "effect": name,
                "code": failed.get("code"),
                "message": failed.get("message"),
                "at": at,
            }));
        }
        Event::EffectFailed {
            name,
            code,
            message,
            ..
        } => {
            story
                .failed_effects
                .push(json!({ "effect": name, "code": code, "message": message, "at": at }));
        }
        _ => {}
    }
}

/// Takes in the test results of a subtask.
fn tested(
    story: &mut Story,
    dir: &Path,
    run: &RunState,
    at: &str,
    report: &AcceptedReport,
    item: &str,
    accepted: bool,
) {
    let mut phase = Phase::of(report, at);
    let row = story.rows.entry(item.to_owned()).or_default();
    if report.role.shows.is_some() {
        if accepted {
            phase.look_up_red(dir, run, report);
            row.red = Some(phase);
        }
        return;
    }
    let held_by = report.role.against.as_ref();
    let is_refactored =
        row.green.is_some() && held_by.is_some() && held_by == row.green_as.as_ref();
    row.reports += u32::from(!is_refactored);
    if !accepted {
        let mut failed = phase.json();
        if let Value::Object(map) = &mut failed {
            map.extend(memory::entry("code", report.code.clone()));
        }
        row.failed_attempts.push(failed);
        return;
    }
    let owed = match &row.red {
        Some(red) => &red.newly_failing[..],
        // A repair is there for what failed in the suite, unless one before it has mended that.
        None => story
            .failed_suites
            .last()
            .filter(|_| story.mended_by.as_ref().is_none_or(|by| by == item))
            .map_or(&[][..], |suite| &suite.failing[..]),
    };
    phase.look_up_green(dir, run, report, owed);
    if row.red.is_none() {
        story.mended_by.get_or_insert_with(|| item.to_owned());
    }
    let tested = TESTED.read(&report.keep, report.role.label.as_ref());
    row.tree = tested
        .ok()
        .flatten()
        .map(|tested| tested.work.tree.to_string());
    if is_refactored {
        row.refactored = Some(phase);
        return;
    }
    row.green_as.clone_from(&report.role.label);
    row.refactored = None;
    row.green = Some(phase);
}

/// What a report was accepted with a warning for.
fn warned(story: &mut Story, report: &AcceptedReport) {
    for code in &report.warnings {
        let message = messages::message_of(report, code);
        story
            .warnings
            .push(json!({ "unit": report.unit, "code": code, "message": message }));
    }
}

/// What was refused. The file is there for this alone, and may be anything.
fn refusals(dir: &Path) -> Refused {
    const MOST: usize = 1000;
    let mut refused = Refused::default();
    let Ok(file) = std::fs::File::open(dir.join("refusals.jsonl")) else {
        return refused;
    };
    let lines = BufReader::new(file).lines().map_while(Result::ok);
    for refusal in lines.filter_map(|line| serde_json::from_str::<Map<_, _>>(&line).ok()) {
        refused.number += 1;
        if refused.listed.len() < MOST {
            refused.listed.push(Value::Object(refusal));
        }
    }
    refused
}

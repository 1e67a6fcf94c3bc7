//! Commands as callers give them, with what does not matter left out.

use machine::command::Edit;
use machine::{Approval, Command, Report};
use serde_json::{Map, Value};

use crate::driver::{ann, map};

/// A report under a unit's id, or under a name.
pub fn report(unit: Option<&str>, state: Option<&str>, digest: &str) -> Command {
    Command::Report(Report {
        unit: unit.map(str::to_owned),
        state: state.map(str::to_owned),
        digest: digest.to_owned(),
        ..Report::default()
    })
}

pub fn pause() -> Command {
    Command::Pause {
        reason: "lunch".to_owned(),
        approval: None,
    }
}

pub fn resume(approval: Option<Box<Approval>>) -> Command {
    Command::Resume { approval }
}

pub fn reopen(item: Option<&str>, flags: Value, approval: Option<Box<Approval>>) -> Command {
    Command::Reopen {
        item: item.map(str::to_owned),
        reason: "the test is wrong".to_owned(),
        flags: map(flags),
        approval,
    }
}

pub fn skip(item: Option<&str>, reason: &str) -> Command {
    Command::Skip {
        item: item.map(str::to_owned),
        reason: reason.to_owned(),
        keep: Map::new(),
        approval: None,
    }
}

pub fn abort(flags: Value) -> Command {
    Command::Abort {
        approval: None,
        flags: map(flags),
    }
}

pub fn rewind(to: u64, approval: Option<Box<Approval>>) -> Command {
    Command::Rewind {
        to,
        reason: "it went wrong".to_owned(),
        flags: Map::new(),
        approval,
    }
}

pub fn adopt(again: &[&str]) -> Command {
    Command::Adopt {
        reason: "main came in".to_owned(),
        keep: Map::from_iter([("lastCommit".to_owned(), "c0ffee".into())]),
        again: again.iter().map(|&item| item.to_owned()).collect(),
    }
}

pub fn edit(edits: Vec<Edit>) -> Command {
    let keep = Map::new();
    Command::Edit { edits, keep }
}

/// The policy is allowed once, by Ann.
pub fn allow(code: &str) -> Command {
    Command::Allow {
        code: code.to_owned(),
        reason: "generated".to_owned(),
        approval: Some(ann().into()),
    }
}

pub fn effect_done(result: Value) -> Command {
    Command::EffectDone {
        result,
        keep: Map::new(),
        artifacts: Vec::new(),
    }
}

pub fn effect_failed(code: &str) -> Command {
    Command::EffectFailed {
        code: code.to_owned(),
        message: "it did not work".to_owned(),
        suggestion: None,
        keep: Map::new(),
    }
}

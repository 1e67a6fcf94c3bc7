//! The reader `draft`: what a skill was to write is there.
//!
//! A draft is a document of the session whose name has the report's label. One that also names the item, such as
//! `item-2a-interface.md`, is that item's and counts as it lies there. One that names none, such as `design.md`, is written
//! for one item after the other, and counts where it was changed since the skill before.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use machine::check::catalog::{Finder, Reader};
use machine::definition::FieldType::{Bool, Strings};
use machine::{Definition, Finding, Reading, Role, RunState};
use serde_json::{Map, json};

use crate::call::Call;
use crate::capability::documents::bound;
use crate::capability::documents::finding_of;
use crate::capability::documents::folder::{DESIGN, Document, FOLDER};
use crate::capability::{DOCUMENTS, reader, reports};
use crate::fault::Fault;
use crate::refusal;
use crate::slot::Slot;
use crate::support::HandlerError;

/// The name of the reader.
pub(crate) const DRAFT: &str = "draft";
/// The policy of a draft that is not there.
pub(crate) const DRAFT_MISSING: &str = "draft_missing";
/// What the documents of no item held when the last skill was completed: SHA-256 by name.
const WRITTEN: Slot<BTreeMap<String, String>> = Slot::new("written");
/// The most documents that are looked at.
const MOST: usize = 200;

/// The reader, with what it gives.
pub(super) fn declared() -> Reader {
    Reader {
        needs: &[DOCUMENTS],
        ..reader(&[("as", None)], &[("present", Bool), ("files", Strings)])
    }
}

/// What can find that a draft is missing.
pub(super) fn finders() -> Vec<Finder> {
    vec![reports(DRAFT, None, &[])]
}

/// Looks for the draft of a report in this role.
pub(super) fn read(call: &Call<'_>, role: &Role, run: &RunState) -> Result<Reading, HandlerError> {
    let label = role.label.as_deref().unwrap_or(DESIGN_LABEL);
    let item = bound::item_in_hand(run).unwrap_or_default();
    let before = WRITTEN.read(&run.kept)?.unwrap_or_default();
    // Signs that nobody sees say nothing.
    let says_something = |document: &Document| document.text.chars().any(char::is_alphanumeric);
    let all = documents(call)?.into_iter().filter(says_something);
    let all: Vec<(Whose, Document)> = all
        .map(|document| (Whose::of(&document.name, label, item), document))
        .collect();
    let others = all.iter().filter(|(whose, _)| *whose == Whose::Other);
    let others: BTreeMap<&str, &str> = others
        .map(|(_, document)| (document.sha256.as_str(), document.name.as_str()))
        .collect();
    let is_draft = |(whose, document): &&(Whose, Document)| {
        let is_new = before.get(&document.name) != Some(&document.sha256);
        *whose == Whose::Item || *whose == Whose::All && is_new
    };
    let drafts = all.iter().filter(is_draft).map(|(_, document)| document);
    let (copies, drafts): (Vec<&Document>, Vec<&Document>) =
        drafts.partition(|document| others.contains_key(document.sha256.as_str()));
    let mut reading = Reading {
        level: "file".to_owned(),
        ..Reading::default()
    };
    for document in &drafts {
        document.keep(&call.dir)?;
        reading.evidence.push(document.sha256.clone());
    }
    let files: Vec<&str> = drafts.iter().map(|document| &*document.name).collect();
    if files.is_empty() {
        reading.findings.push(match copies.first() {
            Some(copy) => {
                let (name, other) = (&copy.name, others[copy.sha256.as_str()]);
                finding_of(refusal!("draft_missing.copied", name, other))
            }
            None => missing(call, label, item),
        });
    }
    let now = all.iter().filter(|(whose, _)| *whose != Whose::Item);
    let now = now.map(|(_, document)| (document.name.clone(), document.sha256.clone()));
    reading.facts = Map::from_iter([
        ("present".to_owned(), (!files.is_empty()).into()),
        ("files".to_owned(), json!(files)),
    ]);
    reading.keep_run = WRITTEN.entry(&now.collect())?;
    Ok(reading)
}

/// The label of what stands in the design document.
const DESIGN_LABEL: &str = "design";

/// What a run is to remember of the documents that lie there, before the first draft.
pub(super) fn written(call: &Call<'_>) -> Result<Map<String, serde_json::Value>, Fault> {
    let all = documents(call)?;
    let all: BTreeMap<String, String> = all
        .into_iter()
        .map(|document| (document.name, document.sha256))
        .collect();
    WRITTEN.entry(&all)
}

/// The documents of the session that hold something, in the order of their names. Folders in it are passed over.
fn documents(call: &Call<'_>) -> Result<Vec<Document>, Fault> {
    let listed = fs::read_dir(call.dir.join(FOLDER)).into_iter().flatten();
    let files = listed.flatten().filter(|entry| entry.path().is_file());
    let mut names: Vec<String> = files
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    names.truncate(MOST);
    let read = names.iter().map(|name| Document::read(&call.dir, name));
    read.filter_map(Result::transpose).collect()
}

/// The labels of all drafts that a workflow asks for.
pub(super) fn labels(definition: &Definition) -> BTreeSet<&str> {
    let states = definition.all_states().map(|(_, _, state)| state);
    let expected = states.filter_map(|state| state.expects.as_ref());
    let drafts = expected.filter(|expects| expects.reader.value == DRAFT);
    drafts
        .filter_map(|expects| Some(expects.role.label.as_ref()?.value.as_str()))
        .collect()
}

/// Of whom a document is the draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// Of the item in hand.
    Item,
    /// Of whichever item is in hand.
    All,
    /// Of none: it is something else.
    Other,
}

impl Whose {
    /// Of whom the document of this name is, as a draft under this label, while this item is in hand.
    pub(super) fn of(name: &str, label: &str, item: &str) -> Self {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let plain = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
        let (stem, label, item) = (plain(stem), plain(label), plain(item));
        if stem == label {
            return Self::All;
        }
        let forms = [
            format!("item-{item}-{label}"),
            format!("{label}-item-{item}"),
            format!("{item}-{label}"),
            format!("{label}-{item}"),
        ];
        let goes_on = |form: &String| {
            let rest = stem.strip_prefix(form.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        if !item.is_empty() && forms.iter().any(goes_on) {
            Self::Item
        } else {
            Self::Other
        }
    }
}

/// That the draft with this label is missing, of the item in hand where one is.
fn missing(call: &Call<'_>, label: &str, item: &str) -> Finding {
    let folder = call.dir.join(FOLDER);
    let name = match (label, item) {
        (DESIGN_LABEL, _) => {
            let path = folder.join(DESIGN);
            return finding_of(refusal!("draft_missing.unchanged", path = path.display()));
        }
        (_, "") => format!("{label}.md"),
        (_, item) => format!("item-{item}-{label}.md"),
    };
    let path = folder.join(&name);
    finding_of(refusal!("draft_missing.gone", name, path = path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_says_whose_it_is() {
        for (name, whose) in [
            ("interface.md", Whose::All),
            ("Interface.markdown", Whose::All),
            ("item-2a-interface.md", Whose::Item),
            ("item_2A_interface.md", Whose::Item),
            ("interface-item-2a.md", Whose::Item),
            ("2a-interface.md", Whose::Item),
            ("item-2a-interface-notes.md", Whose::Item),
            ("item-2-interface.md", Whose::Other),
            ("item-2a-interfaces.md", Whose::Other),
            ("item-2a-skeleton.md", Whose::Other),
            ("design.md", Whose::Other),
        ] {
            assert_eq!(Whose::of(name, "interface", "2a"), whose, "{name}");
        }
        assert_eq!(
            Whose::of("item--interface.md", "interface", ""),
            Whose::Other
        );
    }
}

//! The documents of a session: where they lie, and which task graph is whose.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use journal::{EvidenceStore, sha256_hex};
use machine::RunState;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::capability::documents::skills::LARGEST_DOCUMENT;
use crate::fault;
use crate::fault::Fault;
use crate::generic::files;
use crate::slot::Slot;

/// The folder of the documents, in the run's folder.
pub(crate) const FOLDER: &str = "documents";
/// The design document.
pub(crate) const DESIGN: &str = "design.md";
/// What the names of task graphs begin with.
const GRAPH: &str = "task-graph";
/// The endings that they may have.
const ENDINGS: [&str; 4] = ["md", "yaml", "yml", "markdown"];
/// The task graphs that a run took in.
const GRAPHS: Slot<Graphs> = Slot::new("graphs");

/// The most documents of one kind that are looked at.
pub(super) const MOST_FILES: usize = 5000;

/// Where the task graph of an item is written that is handed over.
pub(crate) fn graph_name(item: &str) -> String {
    match item {
        "" => format!("{GRAPH}.md"),
        item => format!("{GRAPH}-item-{item}.md"),
    }
}

/// A task graph that was taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GraphText {
    /// The number of its item.
    item: String,
    /// The name of its document, in the folder of documents.
    name: String,
    /// SHA-256 of it; its bytes are kept as evidence.
    sha256: String,
}

/// All task graphs that a run took in, the last one last.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Graphs(Vec<GraphText>);

/// A document as it is now.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) sha256: String,
}

/// What lay where a document was put.
pub(crate) struct Before {
    path: PathBuf,
    bytes: Option<Vec<u8>>,
}

impl Before {
    /// Keeps what lay there where it is neither what is put there now nor what was taken in before: somebody has written it.
    /// Where it is kept.
    pub(crate) fn kept_aside(&self, now: &Document, dir: &Path) -> Result<Option<PathBuf>, Fault> {
        let other = self
            .bytes
            .as_ref()
            .filter(|bytes| **bytes != now.text.as_bytes());
        let Some(bytes) = other else {
            return Ok(None);
        };
        let store = EvidenceStore::new(dir);
        let path = store.path(&sha256_hex(bytes));
        if path.exists() {
            return Ok(None);
        }
        files::keep(&store, bytes)?;
        Ok(Some(path))
    }

    /// Puts it back, as far as that can be done.
    pub(crate) fn put_back(self) {
        let _ = match self.bytes {
            Some(bytes) => files::put(&self.path, &bytes).is_ok(),
            None => fs::remove_file(&self.path).is_ok(),
        };
    }
}

/// Where the task graph of an item is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the file of that name, as it is now.
    File(String),
    /// The same; others that are also the item's own are passed over for it, because the item was taken from it before.
    Among(String, Vec<String>),
    /// Where it was taken from it is no more: its bytes are kept under this name and SHA-256.
    Kept(String, String),
    /// In several files: which is meant cannot be told.
    Several(Vec<String>),
    /// Nowhere.
    Nowhere,
}

impl Graphs {
    pub(crate) fn of(run: &RunState) -> Result<Self, Fault> {
        Ok(GRAPHS.read(&run.kept)?.unwrap_or_default())
    }

    /// What the run is to remember.
    pub(crate) fn kept(&self) -> Result<Map<String, Value>, Fault> {
        GRAPHS.entry(self)
    }

    /// The name of the document that the graph of an item was taken in from.
    pub(super) fn name(&self, item: &str) -> Option<&str> {
        self.get(item).map(|taken| taken.name.as_str())
    }

    /// That of an item.
    fn get(&self, item: &str) -> Option<&GraphText> {
        self.0.iter().find(|taken| taken.item == item)
    }

    /// Notes the graph of an item, instead of the one that it had.
    pub(crate) fn take(&mut self, item: &str, document: &Document) {
        let new = GraphText {
            item: item.to_owned(),
            name: document.name.clone(),
            sha256: document.sha256.clone(),
        };
        if self.get(item) == Some(&new) {
            return;
        }
        self.0.retain(|taken| taken.item != item);
        self.0.push(new);
    }

    /// Where the task graph of `item` is, one of `items`, of which `in_hand` is worked at. `files` are the names of those that
    /// lie there, with the SHA-256 of each.
    ///
    /// A file with an item's own number is that item's, always. One under a name of all is written for one item after the
    /// other: it is of the item in hand, unless it still is what another one was taken from; and of the item that it was
    /// taken from last, where none is in hand. What an item was taken from that others have overwritten is kept.
    pub(crate) fn place(
        &self,
        item: &str,
        in_hand: Option<&str>,
        items: &HashSet<&str>,
        files: &BTreeMap<String, String>,
    ) -> Place {
        let taken = self.get(item);
        let same = |name: &str| taken.is_some_and(|taken| taken.name == name);
        let mut own: Vec<&str> = Vec::new();
        let mut shared: Vec<&str> = Vec::new();
        for (name, sha256) in files {
            match item_of(name, items) {
                Some(number) if number == item => own.push(name),
                Some(_) => {}
                // One of an item that is not there is nobody's.
                None if names_item(name) => {}
                None => {
                    let last = self.0.iter().rev().find(|taken| taken.name == *name);
                    let theirs = last.is_some_and(|last| {
                        last.item != item && (in_hand.is_none() || last.sha256 == *sha256)
                    });
                    let mine = in_hand == Some(item) || in_hand.is_none() && same(name);
                    if mine && !theirs {
                        shared.push(name);
                    }
                }
            }
        }
        for found in [own, shared] {
            match found.as_slice() {
                [] => {}
                [only] => return Place::File((*only).to_owned()),
                several => {
                    return match several.iter().find(|name| same(name)) {
                        // The one that it was taken from stays the one.
                        Some(known) => {
                            let others = several.iter().filter(|name| *name != known);
                            Place::Among(
                                (*known).to_owned(),
                                others.map(|&name| name.to_owned()).collect(),
                            )
                        }
                        None => {
                            Place::Several(several.iter().map(|&name| name.to_owned()).collect())
                        }
                    };
                }
            }
        }
        match taken {
            Some(taken) => Place::Kept(taken.name.clone(), taken.sha256.clone()),
            None => Place::Nowhere,
        }
    }
}

impl Document {
    /// One that is handed over.
    pub(crate) fn of(name: &str, bytes: Vec<u8>) -> Result<Self, Fault> {
        if bytes.len() > LARGEST_DOCUMENT {
            return Err(fault!(
                "too_large.document",
                name,
                bytes = bytes.len(),
                most = LARGEST_DOCUMENT
            ));
        }
        let sha256 = sha256_hex(&bytes);
        let text = String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = before.split(|byte| *byte == b'\n').count();
            fault!("response_unreadable.document", name, line)
                .detail("document", name)
                .detail("line", line)
        })?;
        Ok(Self {
            name: name.to_owned(),
            text,
            sha256,
        })
    }

    /// The document of that name, if there is one that is not blank.
    pub(crate) fn read(dir: &Path, name: &str) -> Result<Option<Self>, Fault> {
        let path = files::place(dir, &format!("{FOLDER}/{name}"))?;
        match read_file(&path)? {
            Some(bytes) if !bytes.iter().all(u8::is_ascii_whitespace) => {
                Self::of(name, bytes).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// One that was taken in before.
    pub(crate) fn kept(dir: &Path, name: &str, sha256: &str) -> Result<Self, Fault> {
        Self::of(name, EvidenceStore::new(dir).get(sha256)?)
    }

    /// Puts it into its place among the documents; gives what lay there before.
    pub(crate) fn put(&self, dir: &Path) -> Result<Before, Fault> {
        let path = files::place(dir, &format!("{FOLDER}/{}", self.name))?;
        let bytes = read_file(&path)?;
        files::put(&path, self.text.as_bytes())?;
        Ok(Before { path, bytes })
    }

    /// Keeps it as evidence.
    pub(crate) fn keep(&self, dir: &Path) -> Result<(), Fault> {
        files::keep(&EvidenceStore::new(dir), self.text.as_bytes()).map(|_| ())
    }
}

/// The bytes of a document, if there is one.
pub(crate) fn read_file(path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    files::read_at_most(path, LARGEST_DOCUMENT as u64)
}

/// All task graphs that lie there, by their names. What cannot be read is told in place of it.
pub(crate) fn graphs(dir: &Path) -> Result<BTreeMap<String, Result<Document, Fault>>, Fault> {
    let folder = dir.join(FOLDER);
    let listed = match fs::read_dir(&folder) {
        Ok(listed) => listed,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => {
            return Err(Fault::environment(
                "io_failed",
                format!("{} cannot be listed", folder.display()),
                &error,
            ));
        }
    };
    let mut names: Vec<String> = listed
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| stem(name).is_some())
        .collect();
    names.sort();
    names.truncate(MOST_FILES);
    Ok(names
        .into_iter()
        .filter_map(|name| {
            let read = Document::read(dir, &name).transpose()?;
            Some((name, read))
        })
        .collect())
}

/// What stands between the beginning of a task graph's name and its ending.
fn stem(name: &str) -> Option<&str> {
    let (stem, ending) = name.rsplit_once('.')?;
    if !ENDINGS.contains(&ending) {
        return None;
    }
    stem.strip_prefix(GRAPH)
}

/// The item whose number stands in the name of a task graph; none where it is a name of all.
pub(crate) fn item_of<'a>(name: &str, items: &HashSet<&'a str>) -> Option<&'a str> {
    let rest = stem(name)?.to_lowercase();
    let rest = rest.trim_start_matches(['-', '_']);
    let long = rest
        .strip_prefix("item-")
        .or_else(|| rest.strip_prefix("item_"));
    let number = |text: &str| items.get(text).copied();
    long.and_then(number).or_else(|| number(rest))
}

/// Whether the name says that it is of some item.
fn names_item(name: &str) -> bool {
    let rest = stem(name).unwrap_or_default().to_lowercase();
    rest.trim_start_matches(['-', '_']).starts_with("item")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(all: &[(&str, &str, &str)]) -> Graphs {
        let taken = |(item, name, sha256): &(&str, &str, &str)| GraphText {
            item: (*item).to_owned(),
            name: (*name).to_owned(),
            sha256: (*sha256).to_owned(),
        };
        Graphs(all.iter().map(taken).collect())
    }

    fn place(graphs: &Graphs, item: &str, in_hand: Option<&str>, files: &[(&str, &str)]) -> Place {
        let items = HashSet::from(["1", "2", "2a", "item-1"]);
        let files = files
            .iter()
            .map(|(name, sha256)| ((*name).to_owned(), (*sha256).to_owned()))
            .collect();
        graphs.place(item, in_hand, &items, &files)
    }

    fn file(name: &str) -> Place {
        Place::File(name.to_owned())
    }

    #[test]
    fn a_name_of_all_is_written_for_one_item_after_the_other() {
        let none = taken(&[]);
        let shared = |hash| [("task-graph.md", hash)];
        let there = || file("task-graph.md");
        let kept = || Place::Kept("task-graph.md".to_owned(), "a".to_owned());
        let one = taken(&[("1", "task-graph.md", "a")]);
        let two = taken(&[("1", "task-graph.md", "a"), ("2", "task-graph.md", "b")]);
        for (graphs, item, in_hand, hash, expected) in [
            (&none, "1", Some("1"), "a", there()),
            // As it was, it is of the first item still.
            (&one, "2", Some("2"), "a", Place::Nowhere),
            (&one, "2", Some("2"), "b", there()),
            (&one, "1", Some("2"), "b", kept()),
            // Mended when no item is in hand: whose it was last.
            (&one, "1", None, "b", there()),
            (&two, "1", None, "c", kept()),
            (&two, "2", None, "c", there()),
        ] {
            let found = place(graphs, item, in_hand, &shared(hash));
            assert_eq!(found, expected, "{item} {in_hand:?} {hash}");
        }
    }

    #[test]
    fn a_number_in_the_name_says_whose_it_is() {
        let none = taken(&[]);
        for (name, of) in [
            ("task-graph-item-2.md", "2"),
            ("task-graph-2.yaml", "2"),
            ("task-graph_2A.yml", "2a"),
            ("task-graph-item-1.md", "1"),
            ("task-graph-item-item-1.md", "item-1"),
            ("task-graph-item-99.md", "nobody"),
        ] {
            for item in ["1", "2", "2a", "item-1"] {
                let found = place(&none, item, Some("1"), &[(name, "a")]);
                let is_there = found == file(name);
                assert_eq!(is_there, item == of, "{name} {item}: {found:?}");
            }
        }
    }

    #[test]
    fn of_several_the_one_stays_that_was_taken() {
        let files = [("task-graph-2.md", "old"), ("task-graph-item-2.md", "new")];
        let [other, one] = files.map(|(name, _)| name.to_owned());
        let several = Place::Several(vec![other.clone(), one.clone()]);
        assert_eq!(place(&taken(&[]), "2", Some("2"), &files), several);
        let known = taken(&[("2", &one, "new")]);
        let among = Place::Among(one.clone(), vec![other]);
        assert_eq!(place(&known, "2", Some("2"), &files), among);
    }
}

//! Where it is written what stands behind a commit: journals, bundles, notes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use journal::layout::{ProjectDir, RunDir};
use journal::{EvidenceError, EvidenceStore, FileJournal, Journal as _, JournalError, Position};
use serde::Serialize;
use workspace::git::{Oid, Repository};

use crate::engine::Engine;
use crate::fault::{Fault, chain};
use crate::proof::bundle::{self, Bundle};
use crate::proof::note;
use crate::proof::story::{Beginning, RunCommit, Story};

/// At most so many runs are looked through for commits that are like one which no run made.
const MOST_ALIKE: usize = 50;

/// One place where it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// `journal`, `bundle` or `note`.
    pub kind: &'static str,
    /// The run.
    pub run: String,
    /// The file, or the reference of the notes.
    pub at: String,
    /// Hash of the journal's last line, where a journal is at hand.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub head: String,
}

/// A journal that cannot be relied on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Damaged {
    /// The run.
    pub run: String,
    /// What is wrong.
    pub damage: String,
    /// Commits of the range that its text names all the same.
    pub names: Vec<String>,
}

/// A source, and the commits that it tells of.
#[derive(Debug)]
pub struct SourceIndex {
    /// Where.
    pub source: Source,
    /// The commits.
    pub made: Vec<RunCommit>,
    /// What the run began with, where a journal is at hand.
    pub beginning: Option<Beginning>,
    keeper: Keeper,
}

#[derive(Debug)]
enum Keeper {
    Folder(EvidenceStore),
    Bundle(Bundle),
    Nobody,
}

/// How a piece of evidence was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// With the hash that it must have.
    Whole,
    /// Not at all.
    Missing,
    /// With other content.
    Changed,
    /// It is not in the bundle, being too long.
    TooLong,
    /// Nobody has it here: a note has only hashes.
    NotHere,
}

impl SourceIndex {
    /// The journal of a run in its folder.
    fn of_folder(dir: &RunDir, story: Story) -> Self {
        Self {
            source: Source {
                kind: "journal",
                run: story.run,
                at: dir.journal_path().display().to_string(),
                head: story.head,
            },
            made: story.made,
            beginning: story.beginning,
            keeper: Keeper::Folder(EvidenceStore::new(dir.path())),
        }
    }

    /// The notes on commits of a run.
    fn of_notes(run: String, made: Vec<RunCommit>) -> Self {
        Self {
            source: Source {
                kind: "note",
                run,
                at: note::REFERENCE.to_owned(),
                head: String::new(),
            },
            made,
            beginning: None,
            keeper: Keeper::Nobody,
        }
    }

    /// Looks for a piece of evidence.
    pub fn piece(&self, sha256: &str) -> Result<Piece, Fault> {
        match &self.keeper {
            Keeper::Nobody => Ok(Piece::NotHere),
            Keeper::Bundle(bundle) => Ok(match bundle.left.get(sha256).map(String::as_str) {
                _ if bundle.evidence.contains_key(sha256) => Piece::Whole,
                Some("tooLarge") => Piece::TooLong,
                Some("changed") => Piece::Changed,
                _ => Piece::Missing,
            }),
            Keeper::Folder(store) => match store.get(sha256) {
                Ok(_) => Ok(Piece::Whole),
                Err(EvidenceError::Changed { .. }) => Ok(Piece::Changed),
                Err(EvidenceError::Missing { .. } | EvidenceError::NotAHash(_)) => {
                    Ok(Piece::Missing)
                }
                Err(error) => Err(error.into()),
            },
        }
    }
}

/// All that is known of the commits of a range.
#[derive(Debug, Default)]
pub struct Library {
    /// The sources, the best first.
    pub known: Vec<SourceIndex>,
    /// Journals that cannot be relied on.
    pub damaged: Vec<Damaged>,
    /// Whether a journal of this project, or a bundle, was at hand at all.
    pub has_journals: bool,
    /// The notes on commits of the range that could not be read, and why.
    pub bad_notes: BTreeMap<String, String>,
    /// By commit, its place: source, and number of the commit in it.
    places: HashMap<String, (usize, usize)>,
    /// The same for notes, whether or not something better is there.
    notes: HashMap<String, (usize, usize)>,
    others: Vec<RunDir>,
}

impl Library {
    /// Gathers what is known of the commits.
    pub fn gather(
        engine: &Engine,
        repository: &Repository,
        wanted: &[Oid],
        bundles: &[PathBuf],
    ) -> Result<Self, Fault> {
        let mut library = Self::default();
        let names: BTreeSet<&str> = wanted.iter().map(Oid::as_str).collect();
        library.journals(engine, &names)?;
        for path in bundles {
            library.bundle(&engine.cwd.join(path))?;
        }
        if wanted
            .iter()
            .any(|oid| !library.places.contains_key(oid.as_str()))
        {
            library.pushed_bundles(repository)?;
        }
        library.notes(repository, wanted)?;
        Ok(library)
    }

    /// What is known of a commit, and where.
    pub fn of(&self, sha: &str) -> Option<(&SourceIndex, &RunCommit)> {
        self.at(self.places.get(sha).or_else(|| self.notes.get(sha))?)
    }

    /// What its note says.
    pub fn note(&self, sha: &str) -> Option<&RunCommit> {
        Some(self.at(self.notes.get(sha)?)?.1)
    }

    /// Whether a journal of this run, or a bundle with one, is at hand.
    pub fn has_journal_of(&self, run: &str) -> bool {
        let of_source =
            |known: &SourceIndex| known.source.kind != "note" && known.source.run == run;
        self.known.iter().any(of_source) || self.others.iter().any(|dir| dir.id() == run)
    }

    fn at(&self, place: &(usize, usize)) -> Option<(&SourceIndex, &RunCommit)> {
        let known = self.known.get(place.0)?;
        Some((known, known.made.get(place.1)?))
    }

    /// Has all sources at hand, also those that name no commit of the range: other runs of the project, and the notes on all
    /// commits.
    pub fn all_sources(&mut self, repository: &Repository) -> Result<(), Fault> {
        for dir in std::mem::take(&mut self.others)
            .into_iter()
            .take(MOST_ALIKE)
        {
            match story(dir.path()) {
                Ok(story) => self.add(SourceIndex::of_folder(&dir, story)),
                Err(damage) => self.is_damaged(&dir, damage, Vec::new()),
            }
        }
        let mut by_run: BTreeMap<String, Vec<RunCommit>> = BTreeMap::new();
        for (on, text) in repository.all_notes(note::REFERENCE)? {
            if let Ok(made) = note::read(&text)
                && made.sha == on.as_str()
                && !self.notes.contains_key(&made.sha)
            {
                by_run.entry(made.run.clone()).or_default().push(made);
            }
        }
        for (run, made) in by_run {
            self.add(SourceIndex::of_notes(run, in_order(made)));
        }
        Ok(())
    }

    fn add(&mut self, known: SourceIndex) {
        let place = self.known.len();
        let by_sha = match known.source.kind {
            "note" => &mut self.notes,
            _ => &mut self.places,
        };
        for (number, made) in known.made.iter().enumerate() {
            by_sha.entry(made.sha.clone()).or_insert((place, number));
        }
        self.known.push(known);
    }

    fn journals(&mut self, engine: &Engine, wanted: &BTreeSet<&str>) -> Result<(), Fault> {
        if let Some(project) = engine.stored()? {
            for id in project.runs()? {
                self.journal(&project.run(&id)?, wanted, true);
            }
        }
        // Other worktrees and copies are projects of their own. A commit's id is the same in all of them.
        let here = engine.root();
        for path in engine
            .known_projects()
            .into_iter()
            .filter(|path| path != here)
        {
            let Ok(Some(project)) = engine.home.find_project(&path) else {
                continue;
            };
            for dir in of_other(&project) {
                if listed(&dir, wanted) {
                    self.journal(&dir, wanted, false);
                }
            }
        }
        Ok(())
    }

    fn journal(&mut self, dir: &RunDir, wanted: &BTreeSet<&str>, ours: bool) {
        let Ok(bytes) = journal::durable::read(&dir.journal_path()) else {
            return;
        };
        if bytes.is_empty() {
            return;
        }
        let names = named(&bytes, wanted);
        if names.is_empty() {
            if ours {
                // That none of its commits is in the range is an answer, too.
                self.has_journals = true;
                self.others.push(dir.clone());
            }
            return;
        }
        self.has_journals = true;
        match story(dir.path()) {
            Ok(story) => self.add(SourceIndex::of_folder(dir, story)),
            Err(damage) => self.is_damaged(dir, damage, names),
        }
    }

    fn is_damaged(&mut self, dir: &RunDir, damage: Fault, names: Vec<String>) {
        self.damaged.push(Damaged {
            run: dir.id().to_owned(),
            damage: damage.message,
            names,
        });
    }

    /// Bundles that were pushed with their branches, as far as they were fetched. One that does not count proves nothing, and
    /// keeps nobody from being proved otherwise.
    fn pushed_bundles(&mut self, repository: &Repository) -> Result<(), Fault> {
        for (name, bytes) in repository.blobs_under(bundle::REFERENCES)? {
            match bundle::read_pushed(&name, &bytes) {
                Ok(bundle) => self.take_bundle(&name, bundle)?,
                Err(damage) => self.damaged.push(Damaged {
                    run: name,
                    damage: damage.message,
                    names: Vec::new(),
                }),
            }
        }
        Ok(())
    }

    fn bundle(&mut self, path: &Path) -> Result<(), Fault> {
        let bundle = bundle::read(path)?;
        self.take_bundle(&path.display().to_string(), bundle)
    }

    fn take_bundle(&mut self, at: &str, mut bundle: Bundle) -> Result<(), Fault> {
        let records = std::mem::take(&mut bundle.records);
        let story = Story::of(&records, &bundle.head)?;
        self.has_journals = true;
        self.add(SourceIndex {
            source: Source {
                kind: "bundle",
                run: story.run,
                at: at.to_owned(),
                head: story.head,
            },
            made: story.made,
            beginning: story.beginning,
            keeper: Keeper::Bundle(bundle),
        });
        Ok(())
    }

    fn notes(&mut self, repository: &Repository, wanted: &[Oid]) -> Result<(), Fault> {
        let mut by_run: BTreeMap<String, Vec<RunCommit>> = BTreeMap::new();
        for (on, text) in repository.notes(note::REFERENCE, wanted)? {
            match note::read(&text) {
                // A rewrite of history may take notes along to other commits.
                Ok(made) if made.sha != on.as_str() => {
                    let why = format!("it was written for the commit {}", short(&made.sha));
                    self.bad_notes.insert(on.to_string(), why);
                }
                Ok(made) => by_run.entry(made.run.clone()).or_default().push(made),
                Err(why) => {
                    self.bad_notes.insert(on.to_string(), why);
                }
            }
        }
        for (run, made) in by_run {
            self.add(SourceIndex::of_notes(run, made));
        }
        Ok(())
    }
}

/// The commits of a run in their order: each builds on the one before it.
fn in_order(mut made: Vec<RunCommit>) -> Vec<RunCommit> {
    let mut ordered: Vec<RunCommit> = Vec::with_capacity(made.len());
    while !made.is_empty() {
        let is_first = |one: &RunCommit| !made.iter().any(|other| other.sha == one.base);
        let next = match ordered.last() {
            Some(last) => made.iter().position(|one| one.base == last.sha),
            None => None,
        };
        let at = next.or_else(|| made.iter().position(is_first)).unwrap_or(0);
        ordered.push(made.remove(at));
    }
    ordered
}

/// The first ten digits of a commit, or what there is in their place.
pub fn short(sha: &str) -> String {
    sha.chars()
        .filter(|character| !character.is_control())
        .take(10)
        .collect()
}

/// The commits of the run in a folder.
pub fn story(dir: &Path) -> Result<Story, Fault> {
    let read = FileJournal::open(dir)?
        .read(&Position::start())
        .map_err(|error| match &error {
            JournalError::Damaged(damage) => Fault {
                message: chain(damage),
                ..Fault::from(error)
            },
            _ => Fault::from(error),
        })?;
    Story::of(&read.records, &read.head.hash)
}

fn of_other(project: &ProjectDir) -> Vec<RunDir> {
    project
        .runs()
        .unwrap_or_default()
        .iter()
        .filter_map(|id| project.run(id).ok())
        .collect()
}

/// Whether the list of a run's commits has one of those. Where there is no list, its journal has to be read.
fn listed(dir: &RunDir, wanted: &BTreeSet<&str>) -> bool {
    match journal::durable::read_text(&dir.file("commits.txt")) {
        Ok(list) => list.lines().any(|sha| wanted.contains(sha)),
        Err(_) => true,
    }
}

/// Those of the commits that the text of a journal names, whatever state it is in.
fn named(bytes: &[u8], wanted: &BTreeSet<&str>) -> Vec<String> {
    const MARK: &[u8] = b"\"sha\":\"";
    let mut found = BTreeSet::new();
    let mut rest = bytes;
    while let Some(at) = find(rest, MARK) {
        rest = &rest[at + MARK.len()..];
        let end = rest
            .iter()
            .position(|byte| *byte == b'"')
            .unwrap_or(rest.len());
        if let Ok(sha) = std::str::from_utf8(&rest[..end])
            && wanted.contains(sha)
        {
            found.insert(sha.to_owned());
        }
    }
    found.into_iter().collect()
}

/// Where `mark` stands first: by its first byte, which the search for single bytes finds fast.
fn find(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    let first = *mark.first()?;
    let mut from = 0;
    while let Some(at) = bytes.get(from..)?.iter().position(|byte| *byte == first) {
        if bytes[from + at..].starts_with(mark) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

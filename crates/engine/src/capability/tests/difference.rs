//! What differs between two trees of a project, and what each difference is to the tests.
//!
//! *Protected* is what selects, loads or alters tests: files of tests, snapshots and fixtures, files that configure a runner or that it
//! loads before the tests, and in Rust the tests inside of the product's files. Of a manifest that is shared with the product only
//! the keys are protected that are a runner's.

use std::collections::{BTreeMap, HashMap};

use machine::role::FileClass;
use syntax::form::{form_of, is_same_form};
use syntax::inside::{may_hold_tests, parts, split};
use workspace::convention::paths::{
    Language, PathClass, PathClasses, is_runner_written, is_snapshot,
};
use workspace::convention::runner_config::{
    LoadedFiles, is_all_of_a_runner, may_be_loaded, may_configure_a_runner, may_name_loaded_files,
    runner_config,
};
use workspace::git::{Oid, RepoPath, Repository, TreeChange, TreeEntry};

use crate::capability::memory::StartFacts;
use crate::capability::tests::snapshots;
use crate::fault::Fault;

/// A path that two trees do not have alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The path.
    pub path: RepoPath,
    /// What the first tree has there.
    pub before: Option<TreeEntry>,
    /// What the second one has.
    pub after: Option<TreeEntry>,
    /// What became of what is protected in it.
    pub protected: Option<Protected>,
    /// Whether that configures a runner, or is loaded before the tests.
    pub configures: bool,
    /// The entries of a file of snapshots that came.
    pub snapshots: Vec<String>,
    /// The kinds of files that it is of; none of what a runner has written, and of tests in another form.
    pub classes: Vec<FileClass>,
}

/// What became of what is protected in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protected {
    /// It came, and nothing of before is another.
    Added,
    /// It says the same in another form, or elsewhere.
    Form,
    /// Lines came to it, and each line of before is there.
    Extended,
    /// It says something else.
    Changed,
    /// It is not there any more.
    Deleted,
}

impl Difference {
    /// Whether something that was protected is not what it was.
    pub fn breaks(&self) -> bool {
        matches!(
            self.protected,
            Some(Protected::Changed | Protected::Deleted)
        )
    }

    /// Whether tests, or what belongs to them, were written in it.
    pub fn brings(&self) -> bool {
        matches!(
            self.protected,
            Some(Protected::Added | Protected::Changed | Protected::Extended)
        )
    }

    /// Whether it is of the product: something in it is not protected.
    pub fn is_of_product(&self) -> bool {
        self.classes.iter().any(|class| *class != FileClass::Tests)
            && !(self.configures && is_all_of_a_runner(&self.path.to_string()))
    }

    /// Whether its tests stand inside of a file of the product.
    pub fn is_inside(&self) -> bool {
        self.protected.is_some()
            && may_hold_tests(&self.path.to_string())
            && self.classes.contains(&FileClass::Source)
    }

    /// The path, with what became of it.
    pub fn told(&self) -> String {
        let how = match (self.protected, self.is_inside()) {
            (Some(Protected::Deleted), false) => "deleted",
            (Some(Protected::Deleted), true) => "its tests are gone",
            (Some(Protected::Added), _) => "added",
            (Some(Protected::Extended), _) => "tests were added to it",
            (_, true) => "its tests changed",
            (_, false) => "changed",
        };
        format!("{} ({how})", self.path)
    }
}

/// The paths of differences, as text.
pub fn names<'d>(differences: impl IntoIterator<Item = &'d Difference>) -> Vec<String> {
    let paths = differences.into_iter().map(|one| one.path.to_string());
    paths.collect()
}

/// Tells differences apart by the run's patterns of tests.
pub struct Sorter<'a> {
    repository: &'a Repository,
    classes: PathClasses,
    /// What is protected beside.
    protect: Option<PathClasses>,
}

/// The tests that stand in a file of the product: those that it lost, and those that came.
struct Inside {
    at: usize,
    lost: Vec<OwnTest>,
    came: Vec<OwnTest>,
}

/// A test, or a module of them, in a file of the product.
struct OwnTest {
    form: String,
    text: String,
}

/// The tests inside of a file that are not there any more, and those that were not there.
type LostAndCame = (Vec<OwnTest>, Vec<OwnTest>);

/// What files hold, by the ids of that.
type Texts = HashMap<Oid, String>;

impl<'a> Sorter<'a> {
    /// By what a run knows of its project. `protect` are globs of files that are protected beside.
    pub fn new(
        repository: &'a Repository,
        start: &StartFacts,
        protect: &[String],
    ) -> Result<Self, Fault> {
        let protect = (!protect.is_empty()).then(|| PathClasses::new(protect));
        let protect = protect
            .transpose()
            .map_err(|error| Fault::bug(error.to_string()))?;
        Ok(Self {
            repository,
            classes: start.classes()?,
            protect,
        })
    }

    /// By these classes of files alone.
    pub fn by(repository: &'a Repository, classes: PathClasses) -> Self {
        Self {
            repository,
            classes,
            protect: None,
        }
    }

    /// What differs between two trees, or the trees of two commits.
    pub fn between(&self, before: &Oid, after: &Oid) -> Result<Vec<Difference>, Fault> {
        let changes = self.repository.tree_changes(before, after)?;
        let texts = self.texts(&changes)?;
        let loaded = self.loaded(before, &changes)?;
        let mut insides = Vec::new();
        let mut all = Vec::with_capacity(changes.len());
        for change in changes {
            let (difference, inside) = self.sorted(change, &texts, &loaded);
            if let Some((lost, came)) = inside {
                let at = all.len();
                insides.push(Inside { at, lost, came });
            }
            all.push(difference);
        }
        settle(&mut all, insides);
        Ok(all)
    }

    fn is_protected(&self, name: &str) -> bool {
        let is_meant = |protect: &PathClasses| protect.is_test(name);
        self.classes.is_test(name) || self.protect.as_ref().is_some_and(is_meant)
    }

    /// What the files hold whose texts decide.
    fn texts(&self, changes: &[TreeChange]) -> Result<Texts, Fault> {
        let mut wanted: Vec<&Oid> = Vec::new();
        for change in changes {
            let name = self.repository.name_in_scope(&change.path);
            let decides = self.is_protected(&name)
                || is_snapshot(&name)
                || may_hold_tests(&name)
                || may_configure_a_runner(&name);
            if decides {
                let entries = change.before.iter().chain(&change.after);
                wanted.extend(
                    entries
                        .filter(|entry| is_file(entry))
                        .map(|entry| &entry.oid),
                );
            }
        }
        let contents = self.repository.read_blobs(&wanted)?.into_iter();
        let texts = wanted.into_iter().zip(contents);
        let texts =
            texts.filter_map(|(oid, bytes)| Some((oid.clone(), String::from_utf8(bytes).ok()?)));
        Ok(texts.collect())
    }

    /// What the settings of runners in a tree have loaded before the tests, where one of these may be that.
    fn loaded(&self, tree: &Oid, changes: &[TreeChange]) -> Result<LoadedFiles, Fault> {
        let mut loaded = LoadedFiles::default();
        let may_be = |change: &TreeChange| {
            may_be_loaded(&change.path.to_string())
                && !self.is_protected(&self.repository.name_in_scope(&change.path))
        };
        if !changes.iter().any(may_be) {
            return Ok(loaded);
        }
        let entries = self.repository.tree_entries(tree)?;
        let settings: Vec<_> = entries
            .iter()
            .filter(|(path, entry)| is_file(entry) && may_name_loaded_files(&path.to_string()))
            .collect();
        let blobs: Vec<&Oid> = settings.iter().map(|(_, entry)| &entry.oid).collect();
        let contents = self.repository.read_blobs(&blobs)?;
        for ((path, _), bytes) in settings.into_iter().zip(contents) {
            let name = path.to_string();
            let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
            if let Some(own) = runner_config(&name, &String::from_utf8_lossy(&bytes)) {
                loaded.add(folder, &own);
            }
        }
        Ok(loaded)
    }

    fn sorted(
        &self,
        change: TreeChange,
        texts: &Texts,
        loaded: &LoadedFiles,
    ) -> (Difference, Option<LostAndCame>) {
        let name = self.repository.name_in_scope(&change.path);
        let whole = change.path.to_string();
        let class = match self.classes.of(&name) {
            // Which commit of another project is used, as a lock file says it.
            PathClass::Source if is_submodule(&change) => PathClass::Build,
            class => class,
        };
        let text = |entry: &Option<TreeEntry>| {
            let oid = entry.as_ref().map(|entry| &entry.oid);
            oid.and_then(|oid| texts.get(oid)).map(String::as_str)
        };
        let (was, is) = (text(&change.before), text(&change.after));
        let own = |text: Option<&str>| text.and_then(|text| runner_config(&whole, text));
        let config = (own(was), own(is));
        let mut inside = None;
        let mut found = Difference {
            path: change.path,
            before: change.before,
            after: change.after,
            protected: None,
            configures: config.0 != config.1,
            snapshots: Vec::new(),
            classes: vec![class_of(class)],
        };
        if is_snapshot(&name) {
            found.classes.clear();
            // What is no text is known by its name in git.
            let asked = |entry: &'_ Option<TreeEntry>| {
                let told = entry.as_ref().map(|entry| (entry, texts.get(&entry.oid)));
                told.map(|(entry, text)| text.map_or(entry.oid.as_str(), String::as_str).to_owned())
            };
            let (was, is) = (asked(&found.before), asked(&found.after));
            let (protected, came) = snapshots::compared(&whole, was.as_deref(), is.as_deref());
            found.protected = Some(protected);
            found.snapshots = came;
        } else if is_runner_written(&name) || class == PathClass::Test && is_output(&name) {
            found.classes.clear();
        } else if self.is_protected(&name) {
            let protected = compared(&whole, (&found, was, is));
            if protected == Protected::Form {
                found.classes.clear();
            }
            // What comes to configure a runner alters the tests that were there.
            let comes = matches!(protected, Protected::Added | Protected::Extended);
            let alters = found.configures && comes;
            found.protected = Some(if alters {
                Protected::Changed
            } else {
                protected
            });
        } else if loaded.has(&whole) {
            found.configures = true;
            found.protected = Some(match compared(&whole, (&found, was, is)) {
                Protected::Added | Protected::Extended => Protected::Changed,
                protected => protected,
            });
        } else if found.configures {
            let protected = compared(&whole, (&found, was, is));
            found.configures = protected != Protected::Form;
            found.protected = Some(match protected {
                Protected::Added | Protected::Extended => Protected::Changed,
                protected => protected,
            });
        } else if may_hold_tests(&name) && class == PathClass::Source {
            let (lost, came) = differing(&whole, was.unwrap_or_default(), is.unwrap_or_default());
            found.classes.clear();
            if !is_same_product(&whole, was.unwrap_or_default(), is.unwrap_or_default()) {
                found.classes.push(FileClass::Source);
            }
            inside = Some((lost, came));
        }
        (found, inside)
    }
}

/// Says what became of tests that stand in files of the product: one that another file has now was moved with what it tests.
fn settle(all: &mut [Difference], mut insides: Vec<Inside>) {
    let mut pool: BTreeMap<String, usize> = BTreeMap::new();
    for test in insides.iter().flat_map(|inside| &inside.came) {
        *pool.entry(test.form.clone()).or_default() += 1;
    }
    for inside in &mut insides {
        let has_any = !inside.lost.is_empty() || !inside.came.is_empty();
        inside.lost.retain(|test| match pool.get_mut(&test.form) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        });
        let difference = &mut all[inside.at];
        if !has_any {
            continue;
        }
        difference.classes.push(FileClass::Tests);
        let is_extended = |lost: &OwnTest| {
            let mut came = inside.came.iter();
            came.any(|came| extends(&lost.text, &came.text))
        };
        difference.protected = Some(match (inside.lost.is_empty(), &difference.after) {
            (false, None) => Protected::Deleted,
            (false, Some(_)) if inside.lost.iter().all(is_extended) => Protected::Extended,
            (false, Some(_)) => Protected::Changed,
            (true, _) if inside.came.is_empty() => Protected::Form,
            (true, _) => Protected::Added,
        });
    }
}

/// What became of a file of which all is protected.
fn compared(path: &str, (found, was, is): (&Difference, Option<&str>, Option<&str>)) -> Protected {
    match (&found.before, &found.after) {
        (_, None) => Protected::Deleted,
        (None, Some(_)) if is.is_some_and(|text| text.trim().is_empty()) => Protected::Form,
        (None, Some(_)) => Protected::Added,
        // Another mode is no other test.
        (Some(before), Some(after)) if before.oid == after.oid => Protected::Form,
        _ => match (was, is) {
            (Some(was), Some(is)) if is_same_form(path, was, is) => Protected::Form,
            (Some(was), Some(is)) if extends(was, is) => Protected::Extended,
            _ => Protected::Changed,
        },
    }
}

/// Whether a text has each line of another one, in its order, and more.
fn extends(was: &str, is: &str) -> bool {
    let lines = |text: &'_ str| -> Vec<String> {
        let lines = text
            .lines()
            .map(str::trim_end)
            .filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    };
    let mut is = lines(is).into_iter();
    let was = lines(was);
    !was.is_empty() && was.iter().all(|line| is.any(|other| other == *line))
}

/// The tests inside of a file that are in the first text alone, and those that are in the second alone.
fn differing(path: &str, was: &str, is: &str) -> LostAndCame {
    let tests = |text: &str| -> Vec<OwnTest> {
        let tests = parts(path, text).into_iter().filter(|part| part.is_test);
        let tests = tests.map(|part| OwnTest {
            form: form_of(path, part.text),
            text: part.text.to_owned(),
        });
        tests.filter(|test| !test.form.is_empty()).collect()
    };
    let (mut lost, mut came) = (tests(was), tests(is));
    lost.retain(
        |test| match came.iter().position(|other| other.form == test.form) {
            Some(at) => {
                came.swap_remove(at);
                false
            }
            None => true,
        },
    );
    (lost, came)
}

fn is_same_product(path: &str, was: &str, is: &str) -> bool {
    is_same_form(path, &split(path, was).product, &split(path, is).product)
}

/// What a file is for, in the words of roles.
pub(crate) fn class_of(class: PathClass) -> FileClass {
    match class {
        PathClass::Test => FileClass::Tests,
        PathClass::Docs => FileClass::Docs,
        PathClass::Build => FileClass::Build,
        PathClass::Source => FileClass::Source,
    }
}

/// The mode of a submodule in a tree.
const SUBMODULE: u32 = 0o160_000;

fn is_file(entry: &TreeEntry) -> bool {
    entry.mode != SUBMODULE
}

fn is_submodule(change: &TreeChange) -> bool {
    let mut entries = change.before.iter().chain(&change.after);
    entries.any(|entry| entry.mode == SUBMODULE)
}

/// Folders below those of tests into which suites write.
const OUTPUT_FOLDERS: &[&str] = &["artifacts", "output", "test-results", "tmp"];

/// Endings of files that suites write and nobody else.
const OUTPUT_ENDINGS: &[&str] = &[
    ".actual", ".db", ".log", ".out", ".sqlite", ".sqlite3", ".tmp",
];

/// Whether a file among the tests is one that a suite leaves behind.
fn is_output(name: &str) -> bool {
    let is_ending = OUTPUT_ENDINGS.iter().any(|ending| name.ends_with(ending));
    let mut folders = name.split('/').rev().skip(1);
    is_ending
        || (Language::of(name).is_none() && folders.any(|folder| OUTPUT_FOLDERS.contains(&folder)))
}

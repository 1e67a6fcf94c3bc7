//! A fresh checkout of a commit, in which the suite is run as if nothing else had been changed.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ::test_report::TestFormat;
use machine::RunState;
use workspace::build_cache::{self, BuildCache};
use workspace::config::Config;
use workspace::git::{
    FingerprintRequest, Oid, RepoPath, Repository, ThrowAwayWorktree, TreeStatus,
};
use workspace::process::{Cancellation, How};

use crate::capability::memory::{Memory, SLOW_TRIES, StartFacts};
use crate::capability::tests::evidence::suite::{self, Suite, refused};
use crate::capability::tests::evidence::{SubmittedFile, TestEvidence};
use crate::fault::Fault;

/// How long a run in a checkout may take that nobody has asked for, in milliseconds.
pub(crate) const UNASKED: u64 = 60_000;

/// No more files than this are checked out where nobody has asked for it.
const MOST_FILES: usize = 20_000;

/// The settings that hold in a checkout: unasked, its tests may take so long only.
pub(super) fn limited(config: &Config, asked: bool) -> Config {
    if asked {
        config.clone()
    } else {
        config.with_test_timeout(UNASKED)
    }
}

/// Whether tests are run in a checkout that nobody has asked for, after all that took too long in this run: once more where nothing
/// is left of it, and a few times where what was built stays.
pub fn is_worth_a_try(run: &RunState, memory: &Memory) -> Result<bool, Fault> {
    /// So often what is left of one try is built upon by the next.
    const MOST_TRIES: u32 = 3;
    let start = &memory.start;
    let most = if build_cache::target(&start.project_root, &start.top_level).is_some() {
        MOST_TRIES
    } else {
        1
    };
    Ok(SLOW_TRIES.read(&run.kept)?.unwrap_or_default() < most)
}

/// A checkout that goes away when it is dropped.
pub struct Checkout<'a> {
    tree: ThrowAwayWorktree,
    memory: &'a Memory,
    config: &'a Config,
    /// Whether tests are in it of what is not there yet: with these it may well not build.
    is_ahead: bool,
    /// Variables that have it tested, and not what they name in the user's working tree.
    env: Vec<(OsString, OsString)>,
    /// Where Cargo builds it.
    target: PathBuf,
    /// Where it builds the working tree.
    target_beside: Option<PathBuf>,
    _built: Option<BuildCache>,
    /// The files that the test command writes its report to in the working tree.
    reports: Vec<PathBuf>,
    /// Whether somebody has asked for it, so that `test.setup` makes it ready.
    is_asked: bool,
    cancelled: &'a Cancellation,
}

impl<'a> Checkout<'a> {
    /// A checkout with these files as they are in the working tree now, made ready by `test.setup`; where there is none, with what
    /// is installed in the working tree.
    pub fn ready(
        memory: &'a Memory,
        config: &'a Config,
        at: (&Oid, &[RepoPath]),
        cancelled: &'a Cancellation,
    ) -> Result<Self, Fault> {
        let mut checkout = Self::bare(memory, config, at, cancelled)?;
        checkout.is_asked = true;
        checkout.make_ready()?;
        Ok(checkout)
    }

    /// One that is [`ready`](Self::ready) where somebody has asked for it, else [`lent`](Self::lent).
    pub fn made(
        is_asked: bool,
        memory: &'a Memory,
        config: &'a Config,
        at: (&Oid, &[RepoPath]),
        cancelled: &'a Cancellation,
    ) -> Result<Self, Fault> {
        let of = if is_asked { Self::ready } else { Self::lent };
        of(memory, config, at, cancelled)
    }

    /// Another one of a commit, made ready in the same way, as that commit has its files.
    pub fn another(&self, commit: &Oid) -> Result<Self, Fault> {
        let at = (commit, &[][..]);
        let (memory, config) = (self.memory, self.config);
        Ok(Self {
            reports: self.reports.clone(),
            ..Self::made(self.is_asked, memory, config, at, self.cancelled)?
        })
    }

    /// Has the report of its tests read from where it lies in the working tree, if the test command is run there.
    #[must_use]
    pub fn reporting(mut self, files: &[SubmittedFile]) -> Self {
        self.reports = files.iter().map(|file| file.path.clone()).collect();
        self
    }

    /// What in the checkout is the place of a file in the working tree, or where Cargo builds it; none of what lies elsewhere.
    fn place_of(&self, path: &Path) -> Option<PathBuf> {
        let start = &self.memory.start;
        let target = self.target_beside.as_ref();
        if let Some(built) = target.and_then(|target| path.strip_prefix(target).ok()) {
            return Some(self.target.join(built));
        }
        let own = path.strip_prefix(&start.top_level).ok()?;
        Some(self.tree.path().join(own))
    }

    /// Has it made ready, once it holds what it is to hold.
    pub fn make_ready(&self) -> Result<(), Fault> {
        match self.config.test.setup.as_deref() {
            Some(setup) => self.set_up(setup),
            None => self.borrow(&self.memory.repository()),
        }
    }

    /// The same where nobody has asked for it: made ready by what is installed in the working tree alone, so that nothing is run, and
    /// of no more files than are written in a moment.
    pub fn lent(
        memory: &'a Memory,
        config: &'a Config,
        at: (&Oid, &[RepoPath]),
        cancelled: &'a Cancellation,
    ) -> Result<Self, Fault> {
        let repository = memory.repository();
        let files = repository.known_files()?.len();
        if files > MOST_FILES {
            return Err(refused(
                "setup_needed",
                format!("a checkout of {files} files is made only where somebody asks for it"),
                "ask for it in the settings, or by a command of its own",
            ));
        }
        let checkout = Self::bare(memory, config, at, cancelled)?;
        checkout.borrow(&repository)?;
        Ok(checkout)
    }

    /// A checkout that is not ready for tests yet.
    pub fn bare(
        memory: &'a Memory,
        config: &'a Config,
        (commit, files): (&Oid, &[RepoPath]),
        cancelled: &'a Cancellation,
    ) -> Result<Self, Fault> {
        let start = &memory.start;
        // Before its files are written: they are to be later than whatever is built there.
        let built = BuildCache::take(&start.project_root, &start.top_level);
        let tree = memory.repository().throw_away_worktree(commit, files)?;
        let target = match &built {
            Some(built) => built.path().to_owned(),
            None => tree.project_root().join("target"),
        };
        let env = environment(start, &tree, &target);
        Ok(Self {
            tree,
            memory,
            config,
            is_ahead: !files.is_empty(),
            env,
            target,
            target_beside: build_cache::target(&start.project_root, &start.top_level),
            _built: built,
            reports: Vec::new(),
            is_asked: false,
            cancelled,
        })
    }

    fn set_up(&self, setup: &str) -> Result<(), Fault> {
        let ran = suite::run(
            &Suite {
                command: setup,
                ..self.suite(None)
            },
            None,
        )?;
        if ran.how == How::Cancelled {
            return Err(suite::cancelled(setup));
        }
        if !ran.success() {
            return Err(refused(
                "setup_failed",
                format!("`{setup}` failed in a fresh checkout"),
                "mend test.setup: it has to make a checkout ready for tests",
            )
            .detail("output", suite::end_of(&ran.both)));
        }
        Ok(())
    }

    fn borrow(&self, repository: &Repository) -> Result<(), Fault> {
        let needed = repository.dependencies()?;
        if !needed.missing.is_empty() {
            return Err(refused(
                "setup_needed",
                format!(
                    "the tests are run in a fresh checkout, and {} is not there: git does not track it",
                    needed.missing.join(", ")
                ),
                "install what the project needs, or set test.setup to the command that makes a fresh checkout ready, such as `npm ci`",
            ));
        }
        repository.fill_submodules(self.tree.path(), self.tree.commit())?;
        Ok(repository.lend(&self.tree, &needed.installed)?)
    }

    /// Has it hold a submodule at this commit.
    pub fn place_submodule(&self, path: &RepoPath, commit: &Oid) -> Result<(), Fault> {
        let repository = self.memory.repository();
        Ok(repository.place_submodule(self.tree.path(), path, commit)?)
    }

    /// Has a file hold these bytes.
    pub fn write(&mut self, path: &RepoPath, bytes: &[u8]) -> Result<(), Fault> {
        self.is_ahead = true;
        Ok(self.tree.write(path, bytes)?)
    }

    /// Brings it to what a commit made now would hold.
    pub fn bring_forward(
        &self,
        status: &TreeStatus,
        request: &FingerprintRequest<'_>,
    ) -> Result<(), Fault> {
        let repository = self.memory.repository();
        Ok(repository.bring_forward(&self.tree, status, request)?)
    }

    /// Takes a file away, if it is there.
    pub fn remove(&self, path: &RepoPath) -> Result<(), Fault> {
        Ok(self.tree.remove(path)?)
    }

    /// Runs the suite in it.
    pub fn tested(&self, format: Option<TestFormat>) -> Result<TestEvidence, Fault> {
        let reports = self.reports.iter().map(|path| self.place_of(path));
        let reports: Vec<PathBuf> = reports.flatten().collect();
        let mut taken = suite::tested(&Suite {
            reports: &reports,
            ..self.suite(format)
        })?;
        // Some tests have the folder in their names that they are run in: it is the project's, for who compares them.
        let [there, here] = [self.tree.project_root(), &self.memory.start.project_root]
            .map(|folder| folder.to_string_lossy());
        let tests = taken.report.iter_mut().flat_map(|report| &mut report.tests);
        for test in tests.filter(|test| test.id.contains(&*there)) {
            test.id = test.id.replace(&*there, &here).into();
        }
        Ok(taken)
    }

    fn suite(&self, format: Option<TestFormat>) -> Suite<'_> {
        Suite {
            command: &self.memory.start.test_command,
            folder: self.tree.project_root(),
            config: self.config,
            format,
            reports: &[],
            subject: None,
            cancelled: self.cancelled,
            may_break: self.is_ahead,
            env: &self.env,
        }
    }
}

/// The variables with which a checkout is tested, and not the working tree beside it.
fn environment(
    start: &StartFacts,
    tree: &ThrowAwayWorktree,
    target: &Path,
) -> Vec<(OsString, OsString)> {
    let mut all = vec![
        (OsString::from("CARGO_TARGET_DIR"), target.into()),
        (OsString::from("CARGO_BUILD_BUILD_DIR"), target.into()),
        // Files are changed there faster than what Python has compiled tells apart.
        (
            OsString::from("PYTHONDONTWRITEBYTECODE"),
            OsString::from("1"),
        ),
        // Who looks for the folder that it is run in is not to find the user's.
        (OsString::from("PWD"), tree.project_root().into()),
        (OsString::from("OLDPWD"), tree.project_root().into()),
    ];
    let own = tree.project_root();
    let python = [
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "tox.ini",
        "pytest.ini",
    ];
    if python.iter().any(|name| own.join(name).is_file()) {
        // A package that is installed as a link to the working tree is found behind this.
        let source = own.join("src");
        let mut places = vec![if source.is_dir() {
            source
        } else {
            own.to_owned()
        }];
        let inherited = env::var_os("PYTHONPATH").unwrap_or_default();
        places.extend(env::split_paths(&inherited).map(|place| moved(&place, start, tree)));
        if let Ok(joined) = env::join_paths(places) {
            all.push(("PYTHONPATH".into(), joined));
        }
    }
    all
}

/// A place of the working tree as that of the checkout.
fn moved(place: &Path, start: &StartFacts, tree: &ThrowAwayWorktree) -> PathBuf {
    let own = place.strip_prefix(&start.top_level);
    own.map_or_else(|_| place.to_owned(), |own| tree.path().join(own))
}

//! The bench, made ready for a suite: the tree that is judged, with what the project has installed, and nothing else.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::slice;

use ::test_report::{TestFormat, read_tests};
use workspace::config::Config;
use workspace::convention::paths::PathClasses;
use workspace::git::{self, InvalidRepoPath, Oid, RepoPath, Repository};
use workspace::process::{Cancellation, How};
use workspace::runner::adapter::SomeTests;
use workspace::runner::editable::EditableInstalls;
use workspace::suite::suite_environment;

use crate::capability::memory::{Memory, StartFacts};
use crate::capability::tests::evidence::suite::{self, Suite, refused};
use crate::capability::tests::evidence::{TestEvidence, listed};
use crate::fault;
use crate::fault::Fault;
use crate::running_suite::SuiteNote;

/// A bench that is taken for the suites of one report.
pub struct Bench<'a> {
    checkout: git::Bench,
    repository: Repository,
    memory: &'a Memory,
    config: &'a Config,
    /// The commit that its HEAD is at.
    head: Oid,
    /// The files that the test command writes its report to in the working tree.
    reports: Vec<PathBuf>,
    /// The file that it writes its coverage to there.
    coverage: Option<PathBuf>,
    cancelled: &'a Cancellation,
    /// The folder of the run that its suites are run for.
    run_dir: Option<PathBuf>,
}

/// The folder of a project's benches, in the project's folder.
pub(crate) const BENCHES: &str = "benches";

/// The folder of the benches of the project whose run lies in `run_dir`.
pub fn benches(run_dir: &Path) -> PathBuf {
    let project = run_dir.ancestors().nth(2).unwrap_or(run_dir);
    project.join(BENCHES)
}

impl<'a> Bench<'a> {
    /// A bench below `benches` with the commit `head` as its HEAD.
    ///
    /// # Errors
    /// Where the folder cannot be written to, or every bench is taken.
    pub fn take(
        benches: &Path,
        memory: &'a Memory,
        config: &'a Config,
        head: Oid,
        cancelled: &'a Cancellation,
    ) -> Result<Self, Fault> {
        let repository = memory.repository();
        Ok(Self {
            checkout: repository.take_bench(benches)?,
            repository,
            memory,
            config,
            head,
            reports: reports_of(&[], &memory.start, config),
            coverage: None,
            cancelled,
            run_dir: None,
        })
    }

    /// Has the suites seen as those of the run in a folder.
    #[must_use]
    pub fn of_run(mut self, run_dir: &Path) -> Self {
        self.run_dir = Some(run_dir.to_owned());
        self
    }

    /// Has reports of tests read from where they lie in the working tree, if the test command is run there, and are not where the
    /// settings say.
    #[must_use]
    pub fn reporting(mut self, files: &[PathBuf]) -> Self {
        self.reports = reports_of(files, &self.memory.start, self.config);
        self
    }

    /// Has coverage read from where it lies in the working tree, if the test command is run there.
    #[must_use]
    pub fn covering(mut self, file: Option<&Path>) -> Self {
        self.coverage = file.map(Path::to_owned);
        self
    }

    /// Removes everything on it, what was built too.
    pub fn clear(&self) -> Result<(), Fault> {
        Ok(self.checkout.clear()?)
    }

    /// The place in the bench of what lies in the working tree; none of what lies elsewhere.
    pub fn place_of(&self, path: &Path) -> Option<PathBuf> {
        let own = path.strip_prefix(&self.memory.start.top_level).ok()?;
        Some(self.checkout.path().join(own))
    }

    /// Runs the suite on a tree, which is called `on` for people. `may_break` says that tests may be in it of what is not there yet: a
    /// command that fails before any test is heard of is then one that could not be built.
    ///
    /// # Errors
    /// `setup_failed` where the project's setup fails, and those of a suite that comes to no result.
    pub fn tested(
        &self,
        on: &str,
        tree: &Oid,
        may_break: bool,
        format: Option<TestFormat>,
    ) -> Result<TestEvidence, Fault> {
        let dir = self.run_dir.as_deref();
        let _seen = dir.and_then(|dir| SuiteNote::write(dir, on));
        let installs = self.installs()?;
        let copies = self.make_ready(tree)?;
        let env = self.suite_environment(&installs)?;
        let reports = self.reports.iter();
        let reports: Vec<PathBuf> = reports
            .map(|path| self.place_of(path).unwrap_or_else(|| path.clone()))
            .collect();
        self.remove_reports(&reports, format).map_err(|error| {
            Fault::environment("io_failed", "cannot remove a report of before", &error)
        })?;
        let mut taken = suite::verify(&Suite {
            format,
            may_break,
            reports: &reports,
            ..self.suite(&env, true)
        })?;
        if let Some(runner) = &mut taken.runner {
            runner.copies = copies;
        }
        self.name_as_at_home(&mut taken);
        if may_break && let Some(path) = &self.coverage {
            let written = self.place_of(path).unwrap_or_else(|| path.clone());
            taken.take_coverage_of(&written, path)?;
        }
        Ok(taken)
    }

    /// Removes reports that are on the bench before the suite is run: one that is committed was not written by it. What is no report
    /// stays, also in a folder of them.
    fn remove_reports(&self, reports: &[PathBuf], format: Option<TestFormat>) -> io::Result<()> {
        let bench = self.checkout.path().canonicalize()?;
        let each = reports.iter().map(slice::from_ref);
        for file in each.flat_map(|path| listed(path).unwrap_or_default()) {
            let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
            let is_inside = folder.is_some_and(|folder| folder.starts_with(&bench));
            let is_report = || File::open(&file).is_ok_and(|file| read_tests(file, format).is_ok());
            if is_inside && is_report() {
                fs::remove_file(file)?;
            }
        }
        Ok(())
    }

    /// Runs some tests alone, on a tree or on what is checked out. `on` says to people what is run. None if the runner cannot run some
    /// tests alone, or gives no result.
    ///
    /// # Errors
    /// `cancelled`, `setup_failed`, and those of files that cannot be written.
    pub fn tested_alone(
        &self,
        on: &str,
        tree: Option<&Oid>,
        only: &SomeTests<'_>,
        format: Option<TestFormat>,
    ) -> Result<Option<TestEvidence>, Fault> {
        if !self.reports.is_empty() {
            return Ok(None);
        }
        let dir = self.run_dir.as_deref();
        let _seen = dir.and_then(|dir| SuiteNote::write(dir, on));
        match tree {
            Some(tree) => drop(self.make_ready(tree)?),
            None => self.checkout.settle()?,
        }
        let env = self.suite_environment(&self.installs()?)?;
        let mut taken = suite::verify_some(&Suite {
            format,
            only: Some(only),
            ..self.suite(&env, true)
        })?;
        if let Some(taken) = &mut taken {
            self.name_as_at_home(taken);
        }
        Ok(taken)
    }

    /// The packages that are installed as links, where the tests find those of the bench behind them.
    fn installs(&self) -> Result<EditableInstalls, Fault> {
        let installs = self.editable_installs();
        if let Some(hook) = installs.hooks.first() {
            return Err(fault!("setup_needed", hook = hook.display()));
        }
        Ok(installs)
    }

    /// All variables that tests are run with.
    fn suite_environment(
        &self,
        installs: &EditableInstalls,
    ) -> Result<Vec<(OsString, OsString)>, Fault> {
        let mut env =
            suite_environment(&self.checkout.home(), &self.config.bench.env).map_err(|error| {
                Fault::environment(
                    "io_failed",
                    "cannot make a home folder for the tests",
                    &error,
                )
            })?;
        env.extend(self.environment(installs));
        Ok(env)
    }

    /// Replaces the bench's folder by the project's in the names of tests, so that they can be compared.
    fn name_as_at_home(&self, taken: &mut TestEvidence) {
        let [there, here] = [
            self.checkout.project_root(),
            &self.memory.start.project_root,
        ]
        .map(|folder| folder.to_string_lossy());
        let tests = taken.report.iter_mut().flat_map(|report| &mut report.tests);
        for test in tests.filter(|test| test.id.contains(&*there)) {
            test.id = test.id.replace(&*there, &here).into();
        }
    }

    /// Brings a tree in, with all that the project's tests need beside it. Returns what was copied, by its hash.
    fn make_ready(&self, tree: &Oid) -> Result<BTreeMap<String, String>, Fault> {
        let settings = &self.config.bench;
        let setup = settings.setup.as_deref();
        let made_by = setup.map(|setup| self.made_by(setup, tree)).transpose()?;
        let made_by = made_by.flatten();
        let repository = &self.repository;
        let is_made =
            repository.bring_tree(&self.checkout, tree, &self.head, made_by.as_deref())?;
        let links = self.places("bench.link", &settings.link)?;
        repository.lend(&self.checkout, &links)?;
        if setup.is_none() {
            let mut installed = repository.dependencies()?.installed;
            installed.retain(|place| !links.contains(place));
            repository.lend(&self.checkout, &installed)?;
        }
        let copied = self.places("bench.copy", &settings.copy)?;
        let mut copies = BTreeMap::new();
        for place in &copied {
            repository.copy_to_bench(&self.checkout, place)?;
            let hash = hash_of(&self.checkout.path().join(place)).map_err(|error| {
                Fault::environment(
                    "io_failed",
                    "cannot read what was copied to the bench",
                    &error,
                )
            })?;
            copies.insert(place.clone(), hash);
        }
        // Without it, Cargo would look for newer versions of what the project depends on.
        if self.lacks_lock_file() {
            repository.copy_to_bench(&self.checkout, "Cargo.lock")?;
        }
        if let Some(setup) = setup.filter(|_| !is_made) {
            self.set_up(setup)?;
            if let Some(key) = &made_by {
                repository.keep_made(&self.checkout, key, &[links, copied].concat())?;
            }
        }
        Ok(copies)
    }

    /// The places that a setting names: something is there in the working tree, and nothing on the bench.
    fn places(&self, setting: &str, names: &[String]) -> Result<Vec<String>, Fault> {
        let place = |name: &String| {
            let wrong = |what: &str| fault!("setup_needed.places", setting, name, what);
            let path: RepoPath = name
                .trim_end_matches('/')
                .parse()
                .map_err(|error: InvalidRepoPath| wrong(&format!("which is no path: {error}")))?;
            let is_at = |folder: &Path| folder.join(path.to_path_buf()).symlink_metadata().is_ok();
            if !is_at(&self.memory.start.top_level) {
                return Err(wrong("and nothing is there"));
            }
            if is_at(self.checkout.path()) {
                return Err(wrong(
                    "which is in the tree that is tested: only what git ignores is brought to the bench beside that",
                ));
            }
            Ok(path.to_string())
        };
        names.iter().map(place).collect()
    }

    /// Whether git ignores the lock file of a Cargo workspace that lies at the top level.
    fn lacks_lock_file(&self) -> bool {
        let has = |folder: &Path, name: &str| folder.join(name).is_file();
        let (here, there) = (self.checkout.path(), &self.memory.start.top_level);
        has(here, "Cargo.toml") && !has(here, "Cargo.lock") && has(there, "Cargo.lock")
    }

    /// What a setup goes by on a tree: its command, and the files that the settings name; none where they name none.
    fn made_by(&self, setup: &str, tree: &Oid) -> Result<Option<String>, Fault> {
        let globs = &self.config.bench.setup_when;
        if globs.is_empty() {
            return Ok(None);
        }
        let decides = PathClasses::new(globs)
            .map_err(|error| refused("setup_needed", error.to_string(), "mend bench.setupWhen"))?;
        let mut text = format!("{setup}\n");
        for (path, entry) in self.repository.tree_entries(tree)? {
            let path = path.to_string();
            if decides.is_test(&path) {
                text.extend([path.as_str(), " ", entry.oid.as_str(), "\n"]);
            }
        }
        Ok(Some(journal::sha256_hex(text.as_bytes())))
    }

    fn set_up(&self, setup: &str) -> Result<(), Fault> {
        let env = self.environment(&EditableInstalls::default());
        let ran = suite::run(
            &Suite {
                command: setup,
                ..self.suite(&env, false)
            },
            None,
        )?;
        if ran.how == How::Cancelled {
            return Err(suite::cancelled(setup));
        }
        if !ran.success() {
            return Err(
                fault!("setup_needed.set_up", setup).detail("output", suite::end_of(&ran.both))
            );
        }
        Ok(())
    }

    fn suite<'s>(&'s self, env: &'s [(OsString, OsString)], is_whole: bool) -> Suite<'s> {
        Suite {
            command: &self.memory.start.test_command,
            folder: self.checkout.project_root(),
            config: self.config,
            format: None,
            reports: &[],
            cancelled: self.cancelled,
            may_break: false,
            env,
            is_whole,
            only: None,
        }
    }

    /// Packages of Python that would lead back into the working tree; none where a setup of its own installs them.
    fn editable_installs(&self) -> EditableInstalls {
        let start = &self.memory.start;
        if self.config.bench.setup.is_some() {
            return EditableInstalls::default();
        }
        let mut environments: Vec<PathBuf> = Vec::new();
        environments.extend(env::var_os("VIRTUAL_ENV").map(PathBuf::from));
        for folder in [&start.project_root, &start.top_level] {
            environments.extend([".venv", "venv"].map(|name| folder.join(name)));
        }
        environments.dedup();
        EditableInstalls::of(&environments, &start.top_level)
    }

    /// The variables with which the bench is tested, and not the working tree beside it.
    fn environment(&self, installs: &EditableInstalls) -> Vec<(OsString, OsString)> {
        let root = self.checkout.project_root();
        // Cargo builds a workspace where its lock file lies.
        let above = root
            .ancestors()
            .take_while(|at| at.starts_with(self.checkout.path()));
        let workspace = above.filter(|at| at.join("Cargo.lock").is_file()).last();
        let target = workspace.unwrap_or(root).join("target");
        let mut all: Vec<(OsString, OsString)> = [
            ("CARGO_TARGET_DIR", target.as_os_str()),
            ("CARGO_BUILD_BUILD_DIR", target.as_os_str()),
            // Runners that wait for changes end, and write no snapshots.
            ("CI", "1".as_ref()),
            // Files are changed faster than what Python has compiled tells apart.
            ("PYTHONDONTWRITEBYTECODE", "1".as_ref()),
            // Whoever looks for the folder that it is run in is not to find the user's.
            ("PWD", root.as_os_str()),
            ("OLDPWD", root.as_os_str()),
        ]
        .map(|(name, value)| (name.into(), value.to_owned()))
        .into();
        let python = [
            "pyproject.toml",
            "setup.py",
            "setup.cfg",
            "tox.ini",
            "pytest.ini",
        ];
        let is_python = python.iter().any(|name| root.join(name).is_file());
        if is_python || !installs.folders.is_empty() {
            // A package that is installed as a link to the working tree is found behind this.
            let source = root.join("src");
            let mut places = vec![if source.is_dir() {
                source
            } else {
                root.to_owned()
            }];
            let inherited = env::var_os("PYTHONPATH").unwrap_or_default();
            let inherited = env::split_paths(&inherited);
            let inherited = installs.folders.iter().cloned().chain(inherited);
            places.extend(inherited.map(|place| self.place_of(&place).unwrap_or(place)));
            if let Ok(joined) = env::join_paths(places) {
                all.push(("PYTHONPATH".into(), joined));
            }
        }
        all
    }
}

/// A run of the suite in the working tree, as it stands.
pub fn in_place(
    start: &StartFacts,
    config: &Config,
    (reports, format): (&[PathBuf], Option<TestFormat>),
    may_break: bool,
    cancelled: &Cancellation,
) -> Result<TestEvidence, Fault> {
    suite::verify(&Suite {
        command: &start.test_command,
        folder: &start.project_root,
        config,
        format,
        reports: &reports_of(reports, start, config),
        cancelled,
        may_break,
        env: &[],
        is_whole: false,
        only: None,
    })
}

/// The files in the working tree that the test command writes its reports to: those that are named, else those of the settings.
fn reports_of(named: &[PathBuf], start: &StartFacts, config: &Config) -> Vec<PathBuf> {
    if !named.is_empty() {
        return named.to_vec();
    }
    let files = config.test.reports.iter();
    files.map(|file| start.project_root.join(file)).collect()
}

/// What would be copied to a bench now, each by its hash; those of which there is one.
pub(crate) fn copied_from(start: &StartFacts, config: &Config) -> Vec<String> {
    let places = config.bench.copy.iter();
    let hashes = places.map(|place| hash_of(&start.top_level.join(place)));
    hashes.map(Result::unwrap_or_default).collect()
}

/// The hash of a file, of where a link leads, or of all that is in a folder.
fn hash_of(path: &Path) -> io::Result<String> {
    let kind = fs::symlink_metadata(path)?.file_type();
    if kind.is_symlink() {
        let target = fs::read_link(path)?;
        return Ok(journal::sha256_hex(target.as_os_str().as_encoded_bytes()));
    }
    if kind.is_file() {
        return Ok(journal::sha256_hex(&fs::read(path)?));
    }
    if !kind.is_dir() {
        // Nothing of it is copied, and who reads from a pipe waits.
        return Ok(String::new());
    }
    let mut names: Vec<OsString> = path
        .read_dir()?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<io::Result<_>>()?;
    names.sort();
    let mut text = Vec::new();
    for name in names {
        text.extend(name.as_encoded_bytes());
        text.push(0);
        text.extend(hash_of(&path.join(name))?.into_bytes());
    }
    Ok(journal::sha256_hex(&text))
}

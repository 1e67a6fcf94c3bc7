//! The bench, made ready for a suite: the tree that is judged, with what the project has installed, and nothing else.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ::test_report::TestFormat;
use workspace::config::Config;
use workspace::git::{self, Oid, Repository};
use workspace::process::{Cancellation, How};
use workspace::runner::editable::EditableInstalls;

use crate::capability::memory::{Memory, StartFacts};
use crate::capability::tests::evidence::TestEvidence;
use crate::capability::tests::evidence::suite::{self, Suite, refused};
use crate::fault::Fault;

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
            reports: Vec::new(),
            coverage: None,
            cancelled,
        })
    }

    /// Has reports of tests read from where they lie in the working tree, if the test command is run there.
    #[must_use]
    pub fn reporting(mut self, files: &[PathBuf]) -> Self {
        self.reports = files.to_vec();
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

    /// Runs the suite on a tree. `may_break` says that tests may be in it of what is not there yet: a command that fails before any test
    /// is heard of is then one that could not be built.
    ///
    /// # Errors
    /// `setup_failed` where the project's setup fails, and those of a suite that comes to no result.
    pub fn tested(
        &self,
        tree: &Oid,
        may_break: bool,
        format: Option<TestFormat>,
    ) -> Result<TestEvidence, Fault> {
        let installs = self.editable_installs();
        if let Some(hook) = installs.hooks.first() {
            return Err(refused(
                "setup_needed",
                format!(
                    "a package is installed as a link into the working tree, so that tests elsewhere would load that: {}",
                    hook.display()
                ),
                "set test.setup to a command that installs the project where it is run",
            ));
        }
        self.repository
            .bring_tree(&self.checkout, tree, &self.head)?;
        match self.config.test.setup.as_deref() {
            Some(setup) => self.set_up(setup)?,
            None => self.lend_dependencies()?,
        }
        let env = self.environment(&installs);
        let reports: Vec<PathBuf> = self
            .reports
            .iter()
            .map(|path| self.place_of(path).unwrap_or_else(|| path.clone()))
            .collect();
        let mut taken = suite::verify(&Suite {
            format,
            may_break,
            reports: &reports,
            ..self.suite(&env)
        })?;
        // Some tests have the folder in their names that they are run in: it is the project's, for whoever compares them.
        let [there, here] = [
            self.checkout.project_root(),
            &self.memory.start.project_root,
        ]
        .map(|folder| folder.to_string_lossy());
        let tests = taken.report.iter_mut().flat_map(|report| &mut report.tests);
        for test in tests.filter(|test| test.id.contains(&*there)) {
            test.id = test.id.replace(&*there, &here).into();
        }
        if may_break && let Some(path) = &self.coverage {
            let written = self.place_of(path).unwrap_or_else(|| path.clone());
            taken.take_coverage_of(&written, path)?;
        }
        Ok(taken)
    }

    fn set_up(&self, setup: &str) -> Result<(), Fault> {
        let env = self.environment(&EditableInstalls::default());
        let ran = suite::run(
            &Suite {
                command: setup,
                ..self.suite(&env)
            },
            None,
        )?;
        if ran.how == How::Cancelled {
            return Err(suite::cancelled(setup));
        }
        if !ran.success() {
            return Err(refused(
                "setup_failed",
                format!("`{setup}` failed on the bench"),
                "fix test.setup: it has to make a fresh checkout ready for tests",
            )
            .detail("output", suite::end_of(&ran.both)));
        }
        Ok(())
    }

    fn lend_dependencies(&self) -> Result<(), Fault> {
        let needed = self.repository.dependencies()?;
        Ok(self.repository.lend(&self.checkout, &needed.installed)?)
    }

    fn suite<'s>(&'s self, env: &'s [(OsString, OsString)]) -> Suite<'s> {
        Suite {
            command: &self.memory.start.test_command,
            folder: self.checkout.project_root(),
            config: self.config,
            format: None,
            reports: &[],
            cancelled: self.cancelled,
            may_break: false,
            env,
        }
    }

    /// Packages of Python that would lead back into the working tree; none where a setup of its own installs them.
    fn editable_installs(&self) -> EditableInstalls {
        let start = &self.memory.start;
        if self.config.test.setup.is_some() {
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
        reports,
        cancelled,
        may_break,
        env: &[],
    })
}

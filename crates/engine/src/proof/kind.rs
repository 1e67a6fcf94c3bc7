//! Commits of work that is not test-driven: by which rule they were made, and whether they hold what it lets in.

use machine::role::FileClass;
use workspace::convention::paths::PathClasses;
use workspace::git::{Oid, RepoPath, Repository};

use crate::capability::tests::difference::{Difference, Sorter, names};
use crate::fault::Fault;

/// The rule of a commit of such work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkRule {
    /// What kind of work it is, in the words of its workflow; may be empty.
    pub kind: String,
    /// What files alone it holds; any where none is said.
    pub only: Vec<FileClass>,
    /// The globs by which its run knew files of tests; those of all languages where none is said.
    pub patterns: Vec<String>,
}

impl WorkRule {
    /// Whether there is one beside that of test-driven work.
    pub fn is_own(&self) -> bool {
        !self.only.is_empty()
    }

    /// Whether tests can say anything of it.
    pub fn is_tested(&self) -> bool {
        self.only != [FileClass::Docs]
    }

    /// The files of a commit that it does not let in; `exempt` are none of the work.
    pub fn others(
        &self,
        repository: &Repository,
        (base, commit): (&Oid, &Oid),
        exempt: &[RepoPath],
    ) -> Result<Vec<String>, Fault> {
        let classes = PathClasses::new(&self.patterns).unwrap_or_default();
        let differences = Sorter::by(repository, classes).between(base, commit)?;
        let is_other = |one: &&Difference| {
            let mut classes = one.classes.iter();
            !exempt.contains(&one.path) && classes.any(|class| !self.only.contains(class))
        };
        Ok(names(differences.iter().filter(is_other)))
    }
}

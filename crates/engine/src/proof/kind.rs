//! Commits of work that is not test-driven: by which rule they were made, and whether they hold what it lets in.

use machine::role::FileClass;
use workspace::convention::inline_tests::{is_runner_written, same_product, same_tests, split};
use workspace::convention::paths::{PathClasses, may_hold_tests};
use workspace::git::{Oid, RepoPath, Repository};

use crate::capability::tests::only::class_of;
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
        let mut others = Vec::new();
        let mut submodules = repository.submodules_at(base)?;
        submodules.extend(repository.submodules_at(commit)?);
        for path in repository.changed_paths(base, commit)? {
            let name = path.to_string();
            if exempt.contains(&path) || is_runner_written(&name) {
                continue;
            }
            let changed = if may_hold_tests(&name) && !classes.is_test(&name) {
                let text = |at| repository.file_at(at, &path).map(Option::unwrap_or_default);
                let (then, now) = (split(&name, &text(base)?), split(&name, &text(commit)?));
                [
                    (
                        FileClass::Source,
                        !same_product(&then.product, &now.product),
                    ),
                    (FileClass::Tests, !same_tests(&then.tests, &now.tests)),
                ]
                .into_iter()
                .filter_map(|(class, is_other)| is_other.then_some(class))
                .collect()
            } else {
                let class = classes.of(&repository.name_in_scope(&path));
                let is_submodule = submodules.iter().any(|(own, _)| *own == path);
                vec![match class_of(class) {
                    FileClass::Source if is_submodule => FileClass::Build,
                    class => class,
                }]
            };
            if changed.iter().any(|class| !self.only.contains(class)) {
                others.push(name);
            }
        }
        Ok(others)
    }
}

//! How what was changed is put back as a tree has it.

use workspace::git::{Oid, TreeEntry};

use crate::capability::tests::difference::{Difference, names};
use crate::capability::tests::read::few;
use crate::next_step::NextStep;

/// The steps that put tests back as a tree has them. Of those that stand in a file of the product each is told by itself.
pub(super) fn steps(tree: &Oid, broken: &[&Difference]) -> String {
    let (inside, whole): (Vec<&Difference>, Vec<_>) =
        broken.iter().partition(|difference| difference.is_inside());
    let mut steps = vec![whole_files(tree, &whole)];
    steps.extend(inside.iter().map(|one| {
        let at = format!("{}:{}", tree.short(), one.path);
        let show = NextStep::git(["show", &at]).to_string();
        format!("the tests in {} as {show} has them", one.path)
    }));
    steps.retain(|step| !step.is_empty());
    steps.join("; ")
}

/// The steps that put files back as a tree has them.
pub(crate) fn whole_files(tree: &Oid, files: &[&Difference]) -> String {
    let short = tree.short();
    let (new, old): (Vec<&Difference>, Vec<_>) = files
        .iter()
        .partition(|difference| difference.before.is_none());
    let paths = |of: &[&Difference]| -> Vec<String> {
        of.iter().map(|one| format!(":/{}", one.path)).collect()
    };
    let mut steps = Vec::new();
    if !old.is_empty() {
        let source = format!("--source={short}");
        let is_gitlink = |was: &TreeEntry| was.mode == 0o160_000;
        let is_submodule = |one: &&Difference| one.before.as_ref().is_some_and(is_gitlink);
        // Without it git leaves a submodule as it is, and says nothing.
        let within = old
            .iter()
            .any(is_submodule)
            .then_some("--recurse-submodules");
        let paths = paths(&old);
        let words = ["git", "restore", &source].into_iter().chain(within);
        let words = words.chain(["--"]).chain(paths.iter().map(String::as_str));
        steps.push(NextStep::shell(words).to_string());
    }
    if !new.is_empty() {
        steps.push(format!("take away {}", few(&names(new))));
    }
    steps.join("; ")
}

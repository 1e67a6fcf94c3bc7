//! The trees that the reports of a run were about, and what differs between two of them.

use machine::Event;
use serde::Serialize;
use workspace::git::Oid;

use crate::call::pinned;
use crate::capability::memory::{FROZEN, Memory, TESTED, WORK};
use crate::capability::tests::difference::{Difference, Protected, Sorter};
use crate::derived::results::commit_of;
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::open_run::event_of;

/// A tree by its name in a run, such as `red`.
#[derive(Debug, Clone, Serialize)]
pub struct NamedTree {
    /// `base`, the name of a report in small letters, or `commit`.
    pub name: String,
    /// The tree, or the commit that holds it.
    pub tree: Oid,
}

/// What differs between two trees of an item.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TreeDifference {
    /// The run.
    pub run_id: String,
    /// The item, such as a subtask.
    pub item: String,
    /// The first tree.
    pub from: NamedTree,
    /// The second one.
    pub to: NamedTree,
    /// The files that are not alike in them.
    pub files: Vec<ChangedFile>,
    /// All of it, as git tells it.
    pub patch: String,
}

/// A file that two trees do not have alike.
#[derive(Debug, Serialize)]
pub struct ChangedFile {
    /// Its path.
    pub path: String,
    /// `added`, `changed` or `deleted`.
    pub change: &'static str,
    /// What became of the tests in it, or of what selects, loads or alters them: `added`, `extended`, `form`, `changed` or
    /// `deleted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protected: Option<&'static str>,
    /// What it is of: `tests`, `source`, `build`, `docs`; nothing where only tm writes it.
    pub classes: Vec<&'static str>,
}

impl From<&Difference> for ChangedFile {
    fn from(difference: &Difference) -> Self {
        let change = match (&difference.before, &difference.after) {
            (None, _) => "added",
            (_, None) => "deleted",
            _ => "changed",
        };
        let protected = difference.protected.map(|protected| match protected {
            Protected::Added => "added",
            Protected::Form => "form",
            Protected::Extended => "extended",
            Protected::Changed => "changed",
            Protected::Deleted => "deleted",
        });
        let classes = difference.classes.iter().map(|class| class.name());
        Self {
            path: difference.path.to_string(),
            change,
            protected,
            classes: classes.collect(),
        }
    }
}

impl Engine {
    /// What differs between two trees of a run, such as those of `red` and `green`, for an item; the last one that has both if left
    /// out.
    ///
    /// # Errors
    /// `no_tree` where the run has none of that name for the item, `command_failed` where it is not in the repository any more.
    pub fn tree_difference(
        &self,
        run: Option<&str>,
        (from, to): (&str, &str),
        item: Option<&str>,
    ) -> Result<TreeDifference, Fault> {
        let (_, loaded) = self.load_any(run)?;
        let run_id = &loaded.run.run;
        let trees = self.kept_trees(run_id)?;
        let named = |item: &str, name: &str| {
            let mut trees = trees.iter().rev();
            trees.find(|(of, tree)| of == item && tree.name == name.to_lowercase())
        };
        let mut items = trees.iter().rev().map(|(item, _)| item.as_str());
        let found = items.find_map(|one| {
            let is_meant = item.is_none_or(|item| item == one);
            let both = named(one, from).zip(named(one, to));
            both.filter(|_| is_meant).map(|both| (one, both))
        });
        let Some((item, ((_, from), (_, to)))) = found else {
            let mut there: Vec<String> = Vec::new();
            for (item, tree) in &trees {
                let told = format!("`{}` of {item}", tree.name);
                if !there.contains(&told) {
                    there.push(told);
                }
            }
            let there = match &there[..] {
                [] => "trees from its first accepted report of tests on".to_owned(),
                there => text::listed(there.iter()),
            };
            return Err(fault!("not_found.trees", run = run_id, from, to, there));
        };
        let memory = Memory::of(&loaded.run)?;
        let repository = memory.repository();
        let config = pinned(&loaded.run)?;
        let sorter = Sorter::new(&repository, &memory.start, &config.test.protect)?;
        let mut files = sorter.between(&from.tree, &to.tree)?;
        let exempt = memory.exempt(&repository);
        for file in &mut files {
            if exempt.contains(&file.path) {
                file.classes.clear();
            }
        }
        Ok(TreeDifference {
            run_id: run_id.clone(),
            item: item.to_owned(),
            from: from.clone(),
            to: to.clone(),
            files: files.iter().map(ChangedFile::from).collect(),
            patch: repository.patch_between(&from.tree, &to.tree)?,
        })
    }

    /// The trees that a run's journal names, each with its item, in the order in which they came.
    fn kept_trees(&self, run: &str) -> Result<Vec<(String, NamedTree)>, Fault> {
        let mut trees: Vec<(String, NamedTree)> = Vec::new();
        let mut of_commit = None;
        for record in self.log(Some(run))? {
            let event = event_of(&record)?;
            if let Event::ReportAccepted(report) = &event
                && let Some(item) = &report.item
            {
                let mut put = |name: &str, tree: Oid| {
                    let name = name.to_lowercase();
                    trees.push((item.clone(), NamedTree { name, tree }));
                };
                let frozen = FROZEN.read(&report.keep, report.role.freezes.as_ref())?;
                let tested = TESTED.read(&report.keep, report.role.label.as_ref())?;
                if let Some(work) = frozen.or(tested.map(|tested| tested.work)) {
                    put("base", work.base);
                }
                if let Some(tree) = WORK.read(&report.keep)? {
                    put(report.name.as_deref().unwrap_or(&report.state), tree);
                }
                of_commit = Some(item.clone());
            }
            let is_of_item =
                !matches!(&event, Event::EffectDone { name, .. } if name == "task.finish");
            if let Some(sha) = commit_of(&event).filter(|_| is_of_item)
                && let (Some(item), Ok(tree)) = (&of_commit, sha.parse())
            {
                let name = "commit".to_owned();
                trees.push((item.clone(), NamedTree { name, tree }));
            }
        }
        Ok(trees)
    }
}

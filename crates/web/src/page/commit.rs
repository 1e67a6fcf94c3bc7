//! What a commit of a run changed.

use engine::Fault;
use maud::{Markup, html};

use super::{About, block, diff, shown};

/// What stands in the place of a commit's id for what is in none yet.
pub const NONE_YET: &str = "uncommitted";

pub fn page(about: &About<'_>, sha: &str) -> Result<Markup, Fault> {
    if sha == NONE_YET {
        return uncommitted(about);
    }
    let patch = about.engine.commit_patch(sha)?;
    Ok(html! {
        section aria-labelledby="commit-title" {
            h2 #commit-title { "Commit " code { (shown(&patch.sha)) } }
            (block(&patch.message, "Message"))
            (diff::unified(&patch.patch, "Difference"))
            @if patch.cut { p.quiet { "It is longer than what is shown." } }
        }
    })
}

fn uncommitted(about: &About<'_>) -> Result<Markup, Fault> {
    let patch = about.engine.uncommitted(Some(about.id()))?;
    Ok(html! {
        section #uncommitted data-live aria-labelledby="uncommitted-title" {
            h2 #uncommitted-title { "Not committed yet" }
            @match patch {
                None => p.quiet { "The branch of the run is not checked out, so what lies there is not the run's." },
                Some(patch) if patch.patch.trim().is_empty() => p.quiet { "Nothing differs from the last commit." },
                Some(patch) => {
                    p.quiet { "What differs from the last commit, " code { (shown(patch.sha.get(..12).unwrap_or_default())) } ", new files included." }
                    (diff::unified(&patch.patch, "Difference"))
                    @if patch.cut { p.quiet { "It is longer than what is shown." } }
                },
            }
        }
    })
}

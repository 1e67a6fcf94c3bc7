//! What a commit of a run changed.

use engine::Fault;
use maud::{Markup, html};

use super::{About, block, diff, shown};

pub fn page(about: &About<'_>, sha: &str) -> Result<Markup, Fault> {
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

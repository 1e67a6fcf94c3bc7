//! Links that came with a clone, and lead out of it.

use std::path::Path;

use project::git::Repository;

use super::super::request;
use super::preflight::refused;
use crate::fault::Fault;

/// Refuses files that would be written through a link of the repository's own to somewhere else.
pub(super) fn stays_inside(
    repository: &Repository,
    root: &Path,
    request: &request::Start,
) -> Result<(), Fault> {
    let named = match &request.plan {
        Some(plan) => root.join(plan),
        None => root.join(project::tasks::TASKS_FILE),
    };
    for file in [named, root.join(project::tasks::STATE_FILE)] {
        if let Some(real) = repository.led_out(&file)? {
            return Err(refused(
                "leads_outside",
                format!(
                    "a link of the repository leads from {} to {}, outside of it: what a clone brings along is not written through",
                    file.display(),
                    real.display()
                ),
                "take the link out of git, and put the file itself there; a link that git does not know is followed",
            ));
        }
    }
    Ok(())
}

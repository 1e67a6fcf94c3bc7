//! Links that came with a clone, and lead out of it.

use std::path::Path;

use workspace::git::Repository;

use crate::fault;
use crate::fault::Fault;
use crate::view::autopilot::request;

/// Refuses files that would be written through a link of the repository's own to somewhere else.
pub(crate) fn stays_inside(
    repository: &Repository,
    root: &Path,
    request: &request::Start,
) -> Result<(), Fault> {
    let named = match &request.plan {
        Some(plan) => root.join(plan),
        None => root.join(workspace::tasks::TASKS_FILE),
    };
    for file in [named, root.join(workspace::tasks::STATE_FILE)] {
        if let Some(real) = repository.led_out(&file)? {
            return Err(leads_outside(&file, &real));
        }
    }
    Ok(())
}

/// Refuses to write to `path`, which somebody in the folder `from` named, where a link of the repository's own takes it to
/// somewhere else.
pub fn not_led_out(path: &Path, from: &Path) -> Result<(), Fault> {
    let Ok(from_really) = from.canonicalize() else {
        return Ok(());
    };
    let path = from_really.join(path.strip_prefix(from).unwrap_or(path));
    if !path.ancestors().any(Path::is_symlink) {
        return Ok(());
    }
    // Outside of a repository no link is a clone's.
    let Ok(repository) = Repository::discover(&from_really) else {
        return Ok(());
    };
    match repository.led_out(&path)? {
        Some(real) => Err(leads_outside(&path, &real)),
        None => Ok(()),
    }
}

fn leads_outside(path: &Path, real: &Path) -> Fault {
    fault!(
        "unsafe_path.leads_outside",
        path = path.display(),
        real = real.display()
    )
}

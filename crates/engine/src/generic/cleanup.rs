//! What a process leaves that is killed at its work: files and folders that were written aside and never got their names,
//! and a prompt that was issued and not written. Whoever writes next makes it good.

use std::path::PathBuf;

use journal::EvidenceStore;
use journal::derived::remove_leftovers;
use machine::RunState;

use crate::call::Call;
use crate::capability::documents::folder::FOLDER;
use crate::capability::profile::session::iteration;
use crate::derived;
use crate::generic::files;

/// Makes good what a process left that was killed. To be called under the run's lock.
pub(crate) fn clear(call: &Call<'_>, run: &RunState) {
    for folder in folders(call, run) {
        // What cannot be removed is in nobody's way.
        let _ = remove_leftovers(&folder);
    }
    let _ = files::finish_prompt(call, run);
}

/// The run's folder, and those below it in which something is written.
fn folders(call: &Call<'_>, run: &RunState) -> Vec<PathBuf> {
    let mut all = vec![call.dir.clone(), call.dir.join(derived::TEST_RESULTS)];
    all.push(EvidenceStore::new(&call.dir).folder().to_owned());
    let state = run.state();
    let asked = call.definition.prompt(state, &run.vars);
    let answered = call.definition.response(state, &run.vars);
    for path in asked.into_iter().chain(answered) {
        if let Ok(place) = files::place(&call.dir, &path)
            && let Some(folder) = place.parent()
        {
            all.push(folder.to_owned());
        }
    }
    if call.session.is_some() {
        // The next one may have been begun by an effect that is not settled yet.
        let now = iteration(call, run);
        all.extend(
            ((now - 1)..=(now + 1)).map(|number| call.dir.join(format!("iteration-{number}"))),
        );
    }
    if call.skills.is_some() {
        all.push(call.dir.join(FOLDER));
    }
    all.sort();
    all.dedup();
    all.retain(|folder| folder.symlink_metadata().is_ok_and(|about| about.is_dir()));
    all
}

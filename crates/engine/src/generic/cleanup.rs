//! What a process leaves that is killed at its work: files and folders that were written aside and never got their names,
//! and a prompt that was issued and not written. Whoever writes next makes it good.

use std::fs;

use journal::derived::remove_leftovers;
use machine::RunState;

use crate::call::Call;
use crate::generic::files;

/// Makes good what a process left that was killed. To be called under the run's lock.
pub(crate) fn clear(call: &Call<'_>, run: &RunState) {
    let mut folders = vec![call.dir.clone()];
    while let Some(folder) = folders.pop() {
        // What cannot be removed is in nobody's way.
        let _ = remove_leftovers(&folder);
        let inside = fs::read_dir(&folder).into_iter().flatten().flatten();
        // Nothing is written aside among the code of a session.
        let inside = inside.filter(|entry| entry.file_name() != "code");
        let inside = inside.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.extend(inside.map(|entry| entry.path()));
    }
    let _ = files::finish_prompt(call, run);
}

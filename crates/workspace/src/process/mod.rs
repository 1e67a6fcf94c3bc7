//! Programs that are started: each in a process group of its own, bounded in time and in what is kept of its output.

mod group;
mod guard;
pub(crate) mod head_and_tail;
mod inherited;
mod run;
pub(crate) mod supervise;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

pub use group::ProcessGroup;
pub(crate) use group::process_runs_in;
pub use run::{Cancellation, Ended, How, Program, ProgramError, run};

/// The file that is started by that name from a folder: it lies there, or on the `PATH`.
pub fn find_program(program: &str, from: &Path) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(from.join(program)).filter(|file| is_program(file));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| is_program(file))
}

/// Whether a file is one that can be started.
pub(crate) fn is_program(path: &Path) -> bool {
    let file = std::fs::metadata(path);
    file.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

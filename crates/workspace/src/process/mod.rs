//! Programs that are started: each in a process group of its own, bounded in time and in what is kept of its output.

mod group;
mod guard;
mod inherited;
pub(crate) mod kept;
mod run;
pub(crate) mod supervise;

pub use group::ProcessGroup;
pub(crate) use group::process_runs_in;
pub use run::{Ended, How, Program, ProgramError, run};

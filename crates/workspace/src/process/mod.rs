//! Programs that are started: each in a process group of its own, bounded in time and in what is kept of its output.

mod group;
mod guard;
pub(crate) mod head_and_tail;
mod inherited;
mod run;
pub(crate) mod supervise;

pub use group::ProcessGroup;
pub(crate) use group::process_runs_in;
pub use run::{Ended, How, Program, ProgramError, run};

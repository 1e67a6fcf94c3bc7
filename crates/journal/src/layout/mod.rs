//! Where things lie under the home folder: projects, their runs and tags.
//!
//! ```text
//! <home>/projects/<project>/project.json            the real path of the project
//!                           lock                    held by whoever starts or ends a run
//!                           last-number             of the runs that are not there any more
//!                           runs/<run id>/          activity.jsonl, evidence/, and what is derived
//!                           tags/<tag>/             tag.json, current-run.json
//!       /cache/templates/
//! ```
//!
//! Every name that comes from outside passes [`Name::check`] before it becomes a path. Files are
//! readable by their owner alone, and so are folders.

mod adopt;
mod error;
mod name;
mod project;
mod run;
mod tag;

pub use adopt::{Adopted, MovedProject, MovedReason};
pub use error::LayoutError;
pub use name::{MAX_NAME_BYTES, Name, NameError, NameFlaw};
pub use project::{Home, ProjectDir};
pub use run::{LAST, RunDir, RunStem, is_number, short_name};
pub use tag::TagDir;

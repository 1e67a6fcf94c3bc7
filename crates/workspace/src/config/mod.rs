//! Settings: what can be set, what is set here, and where each value came from.
//!
//! The keys lie in `.taskmaster/config.json` beside those of other tools, which are left alone. A value is taken from the
//! first place that has one: a flag, the environment (`TRAMLINE_…`), the project's file, the user's file, the default.
//! [`load`] reads them all; nothing here looks at the process' environment unless it is handed over as an [`Environment`].

pub mod edit;
mod environment;
mod error;
mod keys;
mod layer;
mod loosened;
mod root;
mod schema;
mod settings;
mod submit;
mod values;

pub use environment::Environment;
pub use error::{ConfigError, ValuePlace};
pub use keys::{environment_name, keys};
pub use loosened::{Loosening, is_weaker, loosened};
pub use root::{
    ProjectRoot, RootMarker, find_root, first_in_project, prepared_first, session_folders,
};
pub use schema::{Section, Setting, json_schema, sections};
pub use settings::{
    Origin, OverriddenValue, PROJECT_FILE, Settings, UnreadVariable, load, of_text,
};
pub use submit::{ForgeChoice, Proof, Submit};
pub use values::{
    ApprovalStrength, Approvals, Autopilot, Checks, Config, CoverageThresholds, Evidence,
    Finalization, Flaky, Gate, Gates, Git, Level, Policy, Prompts, RedAllPassing, Review,
    RunChecks, Severity, Storage, StorageLocation, Test, UpdateTaskStatus,
};

//! Forges: where branches are looked at and merged. GitHub and GitLab are spoken to by `gh` and `glab`; for any other there is
//! a link, and a person.
//!
//! What was asked for and whose answer was lost is looked for, and never asked for twice.

mod address;
mod client;
mod feedback;
mod pull_request;
mod template;

pub use address::{ForgeAddress, ForgeKind};
pub use client::{Forge, ForgeError, ForgeTrouble};
pub use feedback::{Feedback, Place, Remark, answer_text};
pub use pull_request::{LONGEST_BODY, NewPullRequest, PullRequest, PullRequestState};
pub use template::pull_request_template;

//! Readers of what a person or an agent writes: text in, a value out, or the line and the reason.
//!
//! * [`response`]: what answers a prompt: bundles of files, verdicts, plans. It is taken as exactly what it says, or refused;
//! * [`documents`]: design documents and task graphs, written by hand. What is meant is taken where that is plain;
//! * [`markdown`]: what is code in a text, and what is commented out.
//!
//! Nothing here touches a file, and the time and memory that a reader takes grow with the length of the text and no faster.

pub mod documents;
pub mod markdown;
pub mod response;

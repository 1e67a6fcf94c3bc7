//! Sessions through the public calls, by many threads at once.

mod approvals;
mod leftovers;
mod mended;
mod sent_back;
mod stage;

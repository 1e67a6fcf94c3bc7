//! The crate as its users see it.

mod collab;
mod report;
mod session;

//! The crate as its users see it.

mod documents;
mod response;

//! The crate as its users see it.

mod corpus;
mod documents;
mod response;

//! The crate as its users see it.

mod corpus;
mod designs;
mod graphs;
mod properties;
mod words;

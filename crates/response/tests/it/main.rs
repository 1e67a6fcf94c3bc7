//! The crate as its users see it.

mod corpus;
mod large;
mod names;
mod properties;
mod rules;

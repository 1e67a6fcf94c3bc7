//! Readers of responses.

mod corpus;
mod large;
mod names;
mod properties;
mod rules;

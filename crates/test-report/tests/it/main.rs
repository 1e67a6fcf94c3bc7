//! The readers, through the crate's own functions, on what the real tools wrote.

mod corpus;
mod coverage;
mod findings;
mod lost;
mod many;
mod order;

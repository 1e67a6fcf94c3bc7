//! The crate as its users see it.

mod frames;
mod keys;

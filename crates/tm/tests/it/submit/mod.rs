//! A run handed over: pushed, and a pull request.

mod failures;
mod feedback;
mod merged;
pub mod whole;

//! Readers of what somebody writes as a response: bytes in, a value or an error out.
//!
//! There are three, and each is a module:
//!
//! * [`bundle`]: files, each behind a line `<<<FILE: name>>>`, or in fenced code blocks that name
//!   their file;
//! * [`verdict`]: the `@@@REVIEW_META … @@@` block of a review;
//! * [`plan`]: a plan with the headings that it must have, or the reason why there is none.
//!
//! A response comes from somebody who may be careless or hostile. So a reader takes it as exactly
//! what it says, or refuses it with the line and the reason; it never guesses. Nothing here touches
//! a file, and the time that a reader takes grows with the length of the response and no faster.

pub mod bundle;
pub mod plan;
mod text;
pub mod verdict;

//! Tests of what is known of programs.

mod hollow;
mod inside;

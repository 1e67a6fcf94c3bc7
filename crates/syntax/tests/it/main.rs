//! Tests of the comparison of programs.

mod comparison;
mod hollow;

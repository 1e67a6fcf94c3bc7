//! Runs in a terminal: what waits for a person, one run live, its log, its files, its commits, and a person's decisions.
//!
//! | module | what it holds |
//! |---|---|
//! | [`app`] | what is shown, and what a key does to it: pure |
//! | [`page`] | a run, or the list of runs, as rows of text |
//! | [`draw`] | rows as a frame of the terminal |
//! | [`decision`] | what a person decides: asked for, typed back, done |
//! | [`terminal`] | the terminal itself, and the loop: keys, events of runs, frames |
//!
//! Everything is a list of rows, of which one is chosen; a row may lead somewhere. What others wrote is made plain before it is a row.

pub mod app;
pub mod decision;
pub mod draw;
pub mod page;
pub mod terminal;

pub use terminal::run;

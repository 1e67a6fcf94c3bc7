//! Processes that die, and many that are at the same thing. Some of the points at which one can be killed are tried;
//! `TRAMLINE_KILL_ALL=1` tries all of them.

mod collab;
mod place;
mod run;
mod session;

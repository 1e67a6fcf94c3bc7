//! Sessions as their users meet them: the real binary, every phase, every gate, every way in which files can lie.

mod bundles;
mod cap;
mod changes;
mod damage;
pub mod environment;
mod export;
mod gates;
mod person;
mod processors;
mod prompts;
mod respond;
mod statuses;
mod stub;
mod table;
mod tampering;
mod telling;
mod ways_out;

//! What an agent may not get away with: each cheat is played in a real repository with a real runner, and beside it an
//! honest run that nobody accuses.

mod bench;
mod cheats;
mod cut_off;
mod ignored;
mod policy;
mod reports;
mod stage;
mod submodules;
mod verified;

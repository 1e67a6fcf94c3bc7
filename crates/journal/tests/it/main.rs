//! The crate as its users see it.

mod adoption;
mod append;
mod chain;
mod evidence;
mod faulty_disk;
mod follow;
mod locks;
mod names;
mod projects;
mod repair;
mod runs;
mod scene;
mod snapshots;

//! The crate as its users see it.

mod adoption;
mod append;
mod chain;
mod evidence;
mod faulty_disk;
mod flushes;
mod follow;
mod known_end;
mod locks;
mod names;
mod page;
mod projects;
mod repair;
mod runs;
mod scene;
mod snapshots;

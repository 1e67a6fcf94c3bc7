//! The guard hook as clients call it: recorded payloads against real runs, and whatever else may come over standard input.

mod environment;
mod hostile;
mod places;
mod sessions;
mod set_up;

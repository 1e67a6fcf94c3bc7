//! The `review` rails: sessions that plan, generate, review and revise, through files.
//!
//! A session is a run whose definition has its responses read by a profile. The profile is in `capability::profile`, the code of an
//! iteration and the effects on its folder are in `capability::files`; the calls of `tm session` are here.
//!
//! # One step
//!
//! It is the step of any run, in `turn::step`; what is said of it here is what sessions have it for.
//!
//! 1. `step` looks first, without any lock ([`foresee`](crate::open_run::foresee)): with no response there, or a closed gate, that
//!    is the answer, and not a byte was touched, nor any time.
//! 2. Else it takes the lock of those who step. The machine says that it needs the reader `response`: `profile::read` takes the file
//!    in, keeps its bytes as evidence, and has it read as the profile says: by the crate `markup`, or by a command of the
//!    profile's in a copy of its folder that a person trusted. The run itself is not locked meanwhile: whoever waits for a slow
//!    command may still cancel.
//! 3. What came of it is kept as evidence, too: the whole folder of code as it is going to be, carried forward files included.
//! 4. The run is opened. If it is not where it was seen, all of that counts for nothing, and it looks again.
//! 5. The machine walks the edges of the state and intends an effect, such as `code.store`. The intent is appended, `files::effects`
//!    writes the folder from the evidence, by hashes in the intent, and its result is appended with the transition. Whoever
//!    finds one unfinished does it again, and nothing comes out otherwise.
//!
//! A response counts as it was when it was taken in. Plan and code are used only while they have their hash. A bundle is
//! written as a whole or not at all, into the run's folder and nowhere else.
//!
//! # One gate
//!
//! A gate opens for one hash: that of what stands before it, asked for anew at each step (`files::subject`); and for an approval that is
//! strong enough. What a caller vouches for ([`approval`](crate::approval): a client that asked, a terminal, a signature) becomes
//! one there, and the text that is signed is made there, too: by whoever signs, whoever takes it in, and whoever checks the
//! journal years later.

pub(crate) mod about;
pub mod answer;
pub(crate) mod begin;
mod diff;
pub(crate) mod history;
pub(crate) mod profiles;
pub mod request;
pub(crate) mod respond;
pub(crate) mod step;
pub(crate) mod turn;

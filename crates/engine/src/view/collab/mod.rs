//! The `collab` rails: sessions that go from skill to skill.
//!
//! A session is a run whose definition reads documents of work items, which are in `capability::documents`; what an executor is told,
//! and the calls of `tm collab`, are here.
//!
//! # One completed skill
//!
//! 1. `find` finds the session: by its name, which is part of the run's id, else the only one under way. The first skill
//!    begins one, under the project's lock.
//! 2. `complete` compares the name with the one under which the work of the unit is reported (`as`, else the state's id): of the
//!    unit that is named, else of the present one, else of the last one. Any other name is refused, and nothing moves. From here on
//!    it is a report like any other, and one that is repeated is answered from what was told then.
//! 3. The machine says that it needs the reader `graph`: `read` reads the task graph of each item as it lies there (`folder`
//!    knows which file is whose), and the crate `markup` reads and merges them. The bytes are kept as evidence.
//! 4. The machine walks the edges: errors refuse; else the tasks are loaded and cut into waves, which are the batches. The `set`
//!    of routers points the cursors at what is in hand.
//! 5. For the next unit `frame` renders what the executor is told. It goes into the journal with the unit, so that one append
//!    and one fdatasync do for all of it, and the same completion is answered the same whenever it comes again.
//! 6. `state` says where the session is, also to somebody who remembers nothing: it leaves out more and more of tasks, files and
//!    instructions, until the answer has less than 1 KB.
//!
//! What a task came to is an edit: a definition says what is open to callers, and where (`open`). Many at once are one command,
//! and so one append; if one of them may not be, none is.

pub mod answer;
pub(crate) mod complete;
pub(crate) mod find;
pub(crate) mod frame;
pub(crate) mod graph;
pub mod request;
pub(crate) mod state;
pub(crate) mod turn;
pub(crate) mod update;

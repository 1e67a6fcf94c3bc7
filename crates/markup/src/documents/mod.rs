//! Readers of the documents that a session of `collab` works with: text in, a value out.
//!
//! There are two, and each is a module:
//!
//! * [`design`]: the work items of a design document;
//! * [`task_graph`]: tasks and what each depends on, in YAML, alone or in Markdown; and the graphs of several items as one.
//!
//! Documents are written by hand, or by somebody who writes as if by hand. So a reader takes what is meant where that is
//! plain, and says of the rest, line by line, what is wrong and what to write instead. It refuses nothing as a whole but what
//! is too long, and stops at nothing: who repairs a document learns at once of the first hundred things to mend, and how many
//! there are besides. Nothing here touches a file, and the time and memory that a reader takes grow with the length of the
//! document and no faster.

pub mod design;
mod quoting;
pub mod task_graph;

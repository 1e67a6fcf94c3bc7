//! Workflows and tasks drawn as text, for those who render it.
//!
//! What is drawn of a workflow is the same in every format (`picture`); a format only says how. Every name, label and
//! guard is text of the definition's author: each format escapes it, so that it stays a label.

mod dot;
mod layout;
mod mermaid;
mod picture;
mod svg;
mod tasks;
mod text;

pub use dot::dot;
pub use mermaid::mermaid;
pub use picture::Marks;
pub use svg::{Look, STYLE, TooLarge, svg, svg_of_run, tasks_svg};
pub use tasks::{TaskNode, TaskStatus, Wave, tasks};

//! Templates of prompts: a small and bounded part of Jinja, since a template may come with a cloned repository.
//!
//! | there is | |
//! |---|---|
//! | `{{ … }}`, `{# … #}` | a value, a comment |
//! | `{% if %} {% elif %} {% else %}` | comparisons, `and`, `or`, `not`, `in`, `is defined` |
//! | `{% for x in … if … %}` | with `loop.index`, `loop.first`, `loop.last`, `loop.length` |
//! | `{% set x = … %}` | |
//! | `{% include "file" %}` | a file of the profile's own folder, named in quotes |
//! | `{% raw %}` | |
//! | `\| quoted` | text of others in a fence that it cannot close, shortened if it is long; of a list, a line each |
//! | `\| quoted(whole=true)` | the same, never shortened |
//! | `\| trim`, `upper`, `lower`, `capitalize`, `indent(n)`, `replace(a, b)`, `lines` | of a text |
//! | `\| join(between)`, `first`, `last`, `length` | of a list |
//! | `\| default(value)`, `tojson` | of anything |
//!
//! There is nothing that makes a long value of short ones (`~`, `+`, `*`, macros, blocks that are captured), so that a
//! template cannot fill the memory; what it does is counted, and what it writes is bounded.

mod check;
mod engine;
mod filters;
mod variables;

pub(super) use check::check;
pub(super) use engine::render;
pub(super) use variables::Shape;

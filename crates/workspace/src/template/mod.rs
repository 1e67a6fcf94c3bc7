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
//! | `\| inline` | text of others as code within a line |
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

use std::collections::BTreeMap;

use minijinja::value::{Serde, Value};
use serde::Serialize;

pub(crate) use check::check;
pub(crate) use engine::render;
use filters::Budget;
pub(crate) use variables::Shape;

/// Proves a template that stands alone, and may name these: dotted names, where one that ends with a dot stands for
/// everything below it.
///
/// # Errors
/// The line, from 1, and what is wrong there.
pub fn prove(name: &str, text: &str, names: &[String]) -> Result<(), (u32, String)> {
    let alone = |file: &str| Ok((file == name).then_some(text));
    match check(name, &alone, &Shape::of_names(names)) {
        Ok(_) => Ok(()),
        Err(fault) => Err((
            fault.line.max(1),
            format!("{}; {}", fault.message, fault.help),
        )),
    }
}

/// The text of a template that stands alone.
#[derive(Debug, Clone)]
pub enum Template {
    /// It comes with the program.
    BuiltIn(&'static str),
    /// It is the project's own, and may have come with a clone.
    Own(String),
}

impl Template {
    /// The text.
    pub fn text(&self) -> &str {
        match self {
            Self::BuiltIn(text) => text,
            Self::Own(text) => text,
        }
    }

    /// Makes the prompt. One of the project's own is proved first, since what it may do without end is told by its text
    /// (what it names is known here), and is watched in a thread of its own.
    ///
    /// # Errors
    /// The line, or 0, and what is wrong.
    pub fn render(&self, name: &str, values: &impl Serialize) -> Result<String, (u32, String)> {
        let view = Value::from(Serde(values));
        let templates = BTreeMap::from([(name.to_owned(), self.text().to_owned())]);
        let rendered = match self {
            Self::BuiltIn(_) => engine::render_here(name, templates, view, &Budget::new()),
            Self::Own(text) => {
                let names = view.try_iter().into_iter().flatten();
                let known =
                    names.filter_map(|name| Some((name.as_str()?.to_owned(), Shape::Unknown)));
                let alone = |file: &str| Ok((file == name).then_some(text.as_str()));
                check(name, &alone, &Shape::Record(known.collect()))
                    .map_err(|fault| (fault.line, format!("{}; {}", fault.message, fault.help)))?;
                render(name, &templates, view)
            }
        };
        rendered.map_err(|fault| (fault.line, format!("{}; {}", fault.message, fault.help)))
    }
}

//! What templates may name.

use super::super::inputs::Input;
use indexmap::IndexMap;

/// What is known of a value before there is one.
#[derive(Debug, Clone)]
pub(in super::super) enum Shape {
    /// Nothing that has names below it.
    Plain,
    /// These names and no others.
    Record(Vec<(String, Shape)>),
    /// Any number of these.
    List(Box<Shape>),
    /// Nothing is known.
    Unknown,
}

impl Shape {
    fn record(fields: &[(&str, Self)]) -> Self {
        Self::Record(
            fields
                .iter()
                .map(|(name, shape)| ((*name).to_owned(), shape.clone()))
                .collect(),
        )
    }

    fn plain(names: &[&str]) -> Self {
        Self::Record(
            names
                .iter()
                .map(|name| ((*name).to_owned(), Self::Plain))
                .collect(),
        )
    }

    /// What these dotted names stand for; one that ends with a dot has everything below it.
    pub(super) fn of_names(names: &[String]) -> Self {
        let mut fields: Vec<(String, Self)> = Vec::new();
        for name in names {
            let (first, rest) = match name.split_once('.') {
                Some((first, rest)) => (first, Some(rest)),
                None => (name.as_str(), None),
            };
            let at = fields.iter().position(|(known, _)| known == first);
            let at = at.unwrap_or_else(|| {
                fields.push((first.to_owned(), Self::Unknown));
                fields.len() - 1
            });
            if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
                let mut below = match std::mem::replace(&mut fields[at].1, Self::Unknown) {
                    Self::Record(below) => below,
                    _ => Vec::new(),
                };
                if let Self::Record(more) = Self::of_names(&[rest.to_owned()]) {
                    for (name, shape) in more {
                        match below.iter_mut().find(|(known, _)| *known == name) {
                            Some(known) => known.1 = shape,
                            None => below.push((name, shape)),
                        }
                    }
                }
                fields[at].1 = Self::Record(below);
            }
        }
        Self::Record(fields)
    }

    /// The name `loop` inside of one.
    pub(super) fn of_loop() -> Self {
        Self::plain(&[
            "index",
            "index0",
            "revindex",
            "revindex0",
            "first",
            "last",
            "length",
        ])
    }

    /// What templates of a profile with these inputs may name.
    pub(in super::super) fn of_view(inputs: &IndexMap<String, Input>) -> Self {
        let files = Self::List(Box::new(Self::plain(&[
            "path", "sha256", "size", "content",
        ])));
        let inputs = inputs
            .iter()
            .map(|(name, input)| {
                let shape = match input.kind {
                    super::super::Kind::List => Self::List(Box::new(Self::Plain)),
                    _ => Self::Plain,
                };
                (name.clone(), shape)
            })
            .collect();
        Self::record(&[
            ("inputs", Self::Record(inputs)),
            ("session", Self::plain(&["id", "profile"])),
            ("iteration", Self::Plain),
            ("phase", Self::Plain),
            ("response", Self::plain(&["path"])),
            ("prompt", Self::plain(&["path"])),
            ("plan", Self::Plain),
            ("files", files.clone()),
            ("previous", files),
            (
                "review",
                Self::plain(&["text", "issues_total", "issues_critical", "missing_inputs"]),
            ),
            ("feedback", Self::Plain),
            ("code_dir", Self::Plain),
            ("project", Self::plain(&["root"])),
            ("format", Self::plain(&["bundle", "verdict", "plan"])),
        ])
    }
}

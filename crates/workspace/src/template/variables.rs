//! What templates may name.

/// What is known of a value before there is one.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
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
    pub(crate) fn record(fields: &[(&str, Self)]) -> Self {
        Self::Record(
            fields
                .iter()
                .map(|(name, shape)| ((*name).to_owned(), shape.clone()))
                .collect(),
        )
    }

    pub(crate) fn plain(names: &[&str]) -> Self {
        Self::Record(
            names
                .iter()
                .map(|name| ((*name).to_owned(), Self::Plain))
                .collect(),
        )
    }

    /// What these dotted names stand for; one that ends with a dot has everything below it.
    pub(crate) fn of_names(names: &[String]) -> Self {
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
}

//! Programs whose functions do not do what they did.

use std::collections::BTreeSet;
use std::ops::Range;

use tree_sitter::Node;

use crate::grammar::Grammar;

/// What a function does instead of what it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instead {
    /// It fails as soon as it is called.
    Fails,
    /// It returns at once: nothing, or what is zero or empty.
    Returns,
}

/// The parts of a program that say what it does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// The text of each function.
    pub functions: BTreeSet<String>,
    /// The text of each value outside of functions, such as a constant, but for functions and what is only brought in or handed on.
    pub values: BTreeSet<String>,
}

/// The functions and values of a language.
pub(crate) struct Kinds {
    /// The nodes that are functions.
    pub(crate) functions: &'static [&'static str],
    /// The nodes that are values where they are outside of functions.
    pub(crate) values: &'static [&'static str],
    /// How values begin that only bring in or hand on what is elsewhere.
    pub(crate) names_only: &'static [&'static str],
    /// The statement that fails. Where a compiler refuses what is never reached, it is one that might not.
    pub(crate) fails: &'static str,
    /// How they return.
    pub(crate) returns: Returns,
    /// Whether lines and their indentation hold a body together, and not brackets.
    pub(crate) is_by_lines: bool,
}

/// How functions return with nothing done.
pub(crate) enum Returns {
    /// By this statement, whatever they are to return.
    This(&'static str),
    /// With one zero value for each result that has no name, as in Go.
    EachZero,
    /// By this statement and a value for the type of the result, as in Java.
    ZeroOrNull(&'static str),
}

/// The text with each function doing something else, but for those within `tests`, and those whose text is among `unchanged`. None where
/// there is no other function.
pub(crate) fn hollowed(
    grammar: &Grammar,
    text: &str,
    tests: &[Range<usize>],
    (instead, unchanged): (Instead, &BTreeSet<String>),
) -> Option<String> {
    let kinds = &grammar.kinds;
    let tree = grammar.parsed(text)?;
    let mut changes: Vec<Change> = Vec::new();
    let mut open = vec![tree.root_node()];
    while let Some(node) = open.pop() {
        if tests.iter().any(|range| range.contains(&node.start_byte())) {
            continue;
        }
        if kinds.functions.contains(&node.kind()) {
            if unchanged.contains(&text[node.byte_range()]) {
                continue;
            }
            if let Some(body) = node.child_by_field_name("body") {
                let statement = match instead {
                    Instead::Fails => kinds.fails.to_owned(),
                    Instead::Returns => kinds.returns.of(node, text),
                };
                changes.extend(kinds.put(text, body, &statement));
            }
        }
        let mut cursor = node.walk();
        open.extend(node.named_children(&mut cursor));
    }
    if changes.is_empty() {
        return None;
    }
    changes.sort_by_key(|change| change.at);
    let mut hollowed = String::with_capacity(text.len());
    let mut done = 0;
    for change in changes {
        hollowed.push_str(text.get(done..change.at)?);
        hollowed.push_str(&change.text);
        done = change.at;
    }
    hollowed.push_str(&text[done..]);
    Some(hollowed)
}

/// The parts of a text, but for those within `tests`; none where it cannot be parsed.
pub(crate) fn outline(grammar: &Grammar, text: &str, tests: &[Range<usize>]) -> Option<Outline> {
    let kinds = &grammar.kinds;
    let tree = grammar.parsed(text)?;
    let mut outline = Outline::default();
    let mut open = vec![(tree.root_node(), false)];
    while let Some((node, is_inside)) = open.pop() {
        if tests.iter().any(|range| range.contains(&node.start_byte())) {
            continue;
        }
        let own = &text[node.byte_range()];
        let is_function = kinds.functions.contains(&node.kind());
        if is_function {
            outline.functions.insert(own.to_owned());
        } else if !is_inside && kinds.values.contains(&node.kind()) && !kinds.is_name(node, own) {
            outline.values.insert(own.to_owned());
        }
        let mut cursor = node.walk();
        let children = node.named_children(&mut cursor);
        open.extend(children.map(|child| (child, is_inside || is_function)));
    }
    Some(outline)
}

/// A text that is put in.
struct Change {
    at: usize,
    text: String,
}

impl Returns {
    /// The statement with which a function returns.
    fn of(&self, function: Node<'_>, text: &str) -> String {
        match self {
            Self::This(statement) => (*statement).to_owned(),
            Self::EachZero => {
                let Some(result) = function.child_by_field_name("result") else {
                    return "return".to_owned();
                };
                let mut cursor = result.walk();
                let results: Vec<Node<'_>> = match result.kind() {
                    "parameter_list" => result.named_children(&mut cursor).collect(),
                    _ => vec![result],
                };
                if results
                    .iter()
                    .any(|one| one.child_by_field_name("name").is_some())
                {
                    return "return".to_owned();
                }
                let zeros = results
                    .iter()
                    .map(|one| format!("*new({})", &text[one.byte_range()]));
                format!("return {}", zeros.collect::<Vec<_>>().join(", "))
            }
            Self::ZeroOrNull(statement) => {
                let result = function.child_by_field_name("type");
                let value = match result.map_or("void_type", |result| result.kind()) {
                    "void_type" => "",
                    "boolean_type" => " false",
                    "integral_type" | "floating_point_type" => " 0",
                    _ => " null",
                };
                format!("{statement}{value}")
            }
        }
    }
}

impl Kinds {
    /// Whether a value only names a function, or what is elsewhere.
    fn is_name(&self, node: Node<'_>, text: &str) -> bool {
        let begins = |text: &str| self.names_only.iter().any(|name| text.starts_with(name));
        let fields = ["value", "right"].into_iter();
        let mut given = fields.filter_map(|field| node.child_by_field_name(field));
        let only_names = |given: Node<'_>| {
            let at = given.start_byte() - node.start_byte();
            self.functions.contains(&given.kind()) || begins(&text[at..])
        };
        begins(text) || given.any(only_names)
    }

    /// What is put in so that a function with this body begins with a statement.
    fn put(&self, text: &str, body: Node<'_>, statement: &str) -> Vec<Change> {
        let start = body.start_byte();
        if self.is_by_lines {
            let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
            let before = &text[line..start];
            let behind = if before.trim().is_empty() {
                format!("\n{before}")
            } else {
                "; ".to_owned()
            };
            return vec![Change {
                at: start,
                text: format!("{statement}{behind}"),
            }];
        }
        if text[start..].starts_with('{') {
            return vec![Change {
                at: start + 1,
                text: format!(" {statement};"),
            }];
        }
        // An expression, behind an arrow.
        vec![
            Change {
                at: start,
                text: format!("{{ {statement}; return "),
            },
            Change {
                at: body.end_byte(),
                text: "; }".to_owned(),
            },
        ]
    }
}

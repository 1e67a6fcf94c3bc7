//! Programs whose functions do nothing but fail.

use std::ops::Range;

use tree_sitter::Node;

use crate::grammar::Grammar;

/// How a function begins that fails.
pub(crate) struct Failure {
    /// The nodes that are functions.
    pub(crate) functions: &'static [&'static str],
    /// The statement that fails. Where a compiler refuses what is never reached, it is one that might not.
    pub(crate) statement: &'static str,
    /// Whether lines and their indentation hold a body together, and not brackets.
    pub(crate) is_by_lines: bool,
}

/// The text with each function failing at its beginning, but for those within `tests`; none where there is no function.
pub(crate) fn hollowed(grammar: &Grammar, text: &str, tests: &[Range<usize>]) -> Option<String> {
    let failure = &grammar.failure;
    let tree = grammar.parsed(text)?;
    let mut changes: Vec<Change> = Vec::new();
    let mut open = vec![tree.root_node()];
    while let Some(node) = open.pop() {
        if tests.iter().any(|range| range.contains(&node.start_byte())) {
            continue;
        }
        if failure.functions.contains(&node.kind())
            && let Some(body) = node.child_by_field_name("body")
        {
            changes.extend(failure.at(text, body));
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

/// A text that is put in.
struct Change {
    at: usize,
    text: String,
}

impl Failure {
    /// What is put in so that a function with this body fails.
    fn at(&self, text: &str, body: Node<'_>) -> Vec<Change> {
        let start = body.start_byte();
        let statement = self.statement;
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

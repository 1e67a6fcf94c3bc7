//! Where the tests are in a Rust source file.

use std::cmp::Reverse;
use std::ops::Range;

use tree_sitter::{Node, Parser};

use super::doctest;

/// Attributes that make a function a test, by the last part of their name.
const TEST_ATTRIBUTES: &[&str] = &[
    "bench",
    "gtest",
    "proptest",
    "quickcheck",
    "rstest",
    "rstest_parametrize",
    "test",
    "test_case",
    "test_casing",
    "test_matrix",
    "test_resources",
    "wasm_bindgen_test",
];

/// Macros that make tests of all that is given to them.
const TEST_MACROS: &[&str] = &["proptest", "quickcheck"];

/// Conditions are nested no deeper.
const MOST_NESTED: usize = 32;

/// The tests of a text, in their order.
pub(super) fn tests(text: &str) -> Vec<Range<usize>> {
    let mut parser = Parser::new();
    let is_ready = parser.set_language(&tree_sitter_rust::LANGUAGE.into());
    let Some(tree) = is_ready.ok().and_then(|()| parser.parse(text, None)) else {
        return Vec::new();
    };
    let mut source = Source {
        text,
        found: Vec::new(),
    };
    let mut waiting = vec![tree.root_node()];
    while let Some(node) = waiting.pop() {
        source.read(node, &mut waiting);
    }
    let mut found = source.found;
    found.sort_by_key(|range| (range.start, Reverse(range.end)));
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in found {
        let range = widened(text, range);
        match joined.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

struct Source<'a> {
    text: &'a str,
    found: Vec<Range<usize>>,
}

impl<'a> Source<'a> {
    fn of(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// Takes the tests among the children of a node, and has what is in the others read later.
    fn read<'t>(&mut self, node: Node<'t>, waiting: &mut Vec<Node<'t>>) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        let is_of_tests = |child: &&Node<'_>| {
            let said = self.of(**child).strip_prefix("#!");
            child.kind() == "inner_attribute_item" && said.is_some_and(is_for_tests)
        };
        if let Some(attribute) = children.iter().find(is_of_tests) {
            // All of the block that it stands in, or of the file.
            self.found.push(match node.parent() {
                Some(_) => attribute.start_byte()..end_inside(&children, node),
                None => 0..self.text.len(),
            });
            return;
        }
        // Where attributes and documentation of what comes begin.
        let mut head = 0;
        for (at, child) in children.iter().enumerate() {
            match child.kind() {
                "attribute_item" => continue,
                "line_comment" | "block_comment" if !is_inner(self.of(*child)) => continue,
                "," | ";" => self.take_sign(*child),
                _ => {}
            }
            let before = &children[head..at];
            let first = before.iter().find(|one| !self.is_plain_comment(**one));
            if self.makes_a_test(before) || self.is_test(*child) {
                let start = first.unwrap_or(child).start_byte();
                self.found.push(start..child.end_byte());
            } else {
                self.document(before);
                if child.child_count() > 0 && !matches!(child.kind(), "token_tree" | "attribute") {
                    waiting.push(*child);
                }
            }
            head = at + 1;
            let is_first = at == 0 || !is_inner(self.of(children[at - 1]));
            if is_inner(self.of(*child)) && is_first {
                let inner = children[at..].iter();
                let inner: Vec<Node<'_>> = inner
                    .take_while(|one| is_inner(self.of(**one)))
                    .copied()
                    .collect();
                self.document(&inner);
            }
        }
        let left = &children[head..];
        match left.first() {
            Some(first) if self.makes_a_test(left) => {
                self.found.push(first.start_byte()..node.end_byte());
            }
            _ => self.document(left),
        }
    }

    /// The comma or semicolon behind a test goes with it.
    fn take_sign(&mut self, sign: Node<'_>) {
        if let Some(last) = self.found.last_mut()
            && self
                .text
                .get(last.end..sign.start_byte())
                .is_some_and(|between| between.trim().is_empty())
        {
            last.end = sign.end_byte();
        }
    }

    fn is_plain_comment(&self, node: Node<'_>) -> bool {
        let said = self.of(node);
        let is_documentation = said.starts_with("///") && !said.starts_with("////")
            || said.starts_with("/**") && !said.starts_with("/***") && said != "/**/";
        node.kind() != "attribute_item" && !is_documentation
    }

    /// Whether one of these attributes makes a test of what follows, or has it compiled for tests only.
    fn makes_a_test(&self, nodes: &[Node<'_>]) -> bool {
        let mut attributes = nodes.iter().filter(|node| node.kind() == "attribute_item");
        attributes.any(|attribute| {
            let said = self.of(*attribute).strip_prefix('#').unwrap_or_default();
            is_for_tests(said)
                || name_of(said).is_some_and(|(name, _)| {
                    let last = name.rsplit("::").next().unwrap_or(name).trim();
                    TEST_ATTRIBUTES.contains(&last)
                })
        })
    }

    /// Whether an item is a test by itself: a macro that makes tests, or one that has its attributes within it, as arms do.
    fn is_test(&self, item: Node<'_>) -> bool {
        let within = match item.kind() {
            "expression_statement" => item.child(0).unwrap_or(item),
            _ => item,
        };
        if within.kind() == "macro_invocation" {
            let name = within.child_by_field_name("macro");
            return name.is_some_and(|name| TEST_MACROS.contains(&self.of(name)));
        }
        let mut cursor = item.walk();
        let own: Vec<Node<'_>> = item
            .children(&mut cursor)
            .take_while(|child| child.kind() == "attribute_item")
            .collect();
        self.makes_a_test(&own)
    }

    /// Takes the examples out of the documentation among these.
    fn document(&mut self, nodes: &[Node<'_>]) {
        let comments = nodes.iter().filter(|node| {
            node.kind().ends_with("_comment")
                && (is_inner(self.of(**node)) || !self.is_plain_comment(**node))
        });
        let comments: Vec<Range<usize>> = comments.map(Node::byte_range).collect();
        let examples = doctest::examples(self.text, &comments);
        self.found.extend(examples);
    }
}

/// Where what is in a block ends: before the bracket that closes it.
fn end_inside(children: &[Node<'_>], block: Node<'_>) -> usize {
    match children.last() {
        Some(last) if last.kind() == "}" => last.start_byte(),
        _ => block.end_byte(),
    }
}

/// Whether a comment is documentation of what it stands in.
fn is_inner(comment: &str) -> bool {
    comment.starts_with("//!") || comment.starts_with("/*!")
}

/// The name of an attribute, as it stands between its brackets, and what is behind it.
fn name_of(attribute: &str) -> Option<(&str, &str)> {
    let inside = attribute
        .trim()
        .strip_prefix('[')?
        .strip_suffix(']')?
        .trim();
    let end = inside.find(['(', '=', '{']).unwrap_or(inside.len());
    let (name, behind) = inside.split_at(end);
    // What has a value is told something, and makes nothing.
    (!behind.starts_with('=')).then_some((name.trim(), behind))
}

/// Whether an attribute says that what follows is compiled for tests only.
fn is_for_tests(attribute: &str) -> bool {
    let condition = name_of(attribute).filter(|(name, _)| *name == "cfg");
    let condition = condition.and_then(|(_, behind)| behind.strip_prefix('(')?.strip_suffix(')'));
    condition.is_some_and(|condition| {
        let parts: Vec<&str> = arguments(condition).collect();
        parts.len() == 1 && holds_in_tests_only(parts[0], 0)
    })
}

fn holds_in_tests_only(condition: &str, depth: usize) -> bool {
    let Some((name, inside)) = condition.split_once('(') else {
        return matches!(condition, "test" | "doctest");
    };
    let inside = inside.strip_suffix(')').filter(|_| depth < MOST_NESTED);
    let mut parts = arguments(inside.unwrap_or_default()).peekable();
    let holds = |part| holds_in_tests_only(part, depth + 1);
    match name.trim() {
        "all" => parts.any(holds),
        "any" => parts.peek().is_some() && parts.all(holds),
        _ => false,
    }
}

/// What stands between the commas that are in no further bracket.
fn arguments(inside: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let parts = inside.split(move |sign| {
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        sign == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

/// A stretch of the text from the beginning of its first line to the end of its last, where nothing else stands on them.
fn widened(text: &str, range: Range<usize>) -> Range<usize> {
    let blank = |letter: char| matches!(letter, ' ' | '\t' | '\r');
    let before = text[..range.start].trim_end_matches(blank);
    let start = if before.is_empty() || before.ends_with('\n') {
        before.len()
    } else {
        range.start
    };
    let after = text[range.end..].trim_start_matches(blank);
    let at = text.len() - after.len();
    let end = if after.is_empty() {
        at
    } else if after.starts_with('\n') {
        at + 1
    } else {
        range.end
    };
    start..end
}

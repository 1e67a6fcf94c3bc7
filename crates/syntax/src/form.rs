//! What a text says, without its form.

use tree_sitter::Node;

use crate::Comparison;
use crate::grammar::Grammar;

/// Where an expression ends by itself, so that brackets around all of it are form. Elsewhere they may decide what belongs together,
/// and not each grammar knows that as its language does.
const DELIMITED: &[&str] = &[
    "argument_list",
    "arguments",
    "arrow_function",
    "assert_statement",
    "assignment",
    "await",
    "elif_clause",
    "if_statement",
    "list",
    "array",
    "pair",
    "keyword_argument",
    "return_statement",
    "variable_declarator",
    "while_statement",
];

/// What is something else without its brackets.
const IN_BRACKETS: &[&str] = &[
    "object",
    "class",
    "function_expression",
    "sequence_expression",
    "yield",
];

/// Lists in which a comma behind the only one of them means nothing. Elsewhere it may make a tuple.
const LISTS: &[&str] = &[
    "argument_list",
    "arguments",
    "array",
    "array_initializer",
    "array_creation_expression",
    "dictionary",
    "formal_parameters",
    "import_from_statement",
    "list",
    "literal_value",
    "named_imports",
    "object",
    "parameters",
    "set",
];

/// Programs that are nested deeper are not compared.
const MOST_NESTED: usize = 400;

/// Around what belongs together. No text of a program has these.
const OPEN: char = '\u{1}';
const CLOSE: char = '\u{2}';
const END: char = '\u{3}';

/// What a text says.
pub(crate) struct Form {
    /// Its tree without what is only form.
    tree: String,
    /// What the inline snapshots hold, none for those that are empty.
    snapshots: Vec<Option<String>>,
}

impl Form {
    /// That of a text; none where it cannot be parsed.
    pub(crate) fn of(grammar: &Grammar, path: &str, text: &str) -> Option<Self> {
        if text.contains([OPEN, CLOSE, END]) {
            return None;
        }
        let parsed = grammar.parsed(text)?;
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut reading = Reading {
            grammar,
            text,
            folder,
            depth: 0,
            snapshots: Vec::new(),
        };
        let tree = reading.node(parsed.root_node())?;
        Some(Self {
            tree,
            snapshots: reading.snapshots,
        })
    }

    /// What this is to the one that came after it.
    pub(crate) fn compared_with(&self, now: &Self) -> Comparison {
        if self.tree != now.tree {
            return Comparison::Different;
        }
        let mut filled = 0;
        for (before, now) in self.snapshots.iter().zip(&now.snapshots) {
            match (before, now) {
                (None, Some(_)) => filled += 1,
                (before, now) if before == now => {}
                _ => return Comparison::Different,
            }
        }
        match filled {
            0 => Comparison::Same,
            filled => Comparison::FilledIn(filled),
        }
    }
}

/// A text that is read.
struct Reading<'a> {
    grammar: &'a Grammar,
    text: &'a str,
    folder: &'a str,
    depth: usize,
    snapshots: Vec<Option<String>>,
}

impl<'a> Reading<'a> {
    fn of(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// What a node says; none where it lies too deep.
    fn node(&mut self, node: Node<'_>) -> Option<String> {
        if self.depth > MOST_NESTED {
            return None;
        }
        self.depth += 1;
        let said = self.node_here(node);
        self.depth -= 1;
        said
    }

    fn node_here(&mut self, node: Node<'_>) -> Option<String> {
        let kind = node.kind();
        if let Some(inner) = only_in_brackets(node) {
            return self.node(inner);
        }
        if is_text(kind) {
            return Some(self.string(node));
        }
        if node.child_count() == 0 {
            return Some(format!("{}{END}", self.of(node)));
        }
        if matches!(kind, "arguments" | "argument_list") && self.is_of_a_snapshot(node) {
            return self.snapshot(node);
        }
        let children = self.children(node)?;
        Some(format!("{OPEN}{kind}{END}{}{CLOSE}", children.concat()))
    }

    /// What the children of a node say, without what is only form.
    fn children(&mut self, node: Node<'_>) -> Option<Vec<String>> {
        let mut said = Vec::new();
        // Where in `said` those begin that may be in any order.
        let mut loose: Option<usize> = None;
        let mut cursor = node.walk();
        let children: Vec<(Node<'_>, Option<&str>)> = {
            let mut all = Vec::new();
            if cursor.goto_first_child() {
                loop {
                    all.push((cursor.node(), cursor.field_name()));
                    if !cursor.goto_next_sibling() {
                        break;
                    }
                }
            }
            all
        };
        let mut end = node.start_byte();
        for (at, (child, field)) in children.iter().enumerate() {
            // What a grammar has no node for counts all the same.
            let between = self.text.get(end..child.start_byte()).unwrap_or_default();
            end = child.end_byte();
            if !between.trim().is_empty() {
                said.push(format!("{}{END}", between.trim()));
            }
            if child.is_extra() && child.kind().contains("comment") {
                said.push(format!("{OPEN}comment{END}{}{CLOSE}", self.comment(*child)));
                continue;
            }
            if child.kind() == "line_continuation" || is_form(node, &children, at) {
                continue;
            }
            let is_loose = self.grammar.imports.contains(&child.kind())
                || child.is_named() && self.grammar.unordered.contains(&node.kind());
            let is_between = loose.is_some() && matches!(child.kind(), "," | "\n");
            if is_loose {
                loose.get_or_insert(said.len());
            } else if let Some(begin) = loose.take_if(|_| !is_between) {
                said[begin..].sort_unstable();
            }
            let child = if self.is_plain_key(*child, node, *field) {
                let key = self.of(*child);
                format!("{}{END}", &key[1..key.len() - 1])
            } else {
                self.node(*child)?
            };
            said.push(child);
        }
        if let Some(begin) = loose {
            said[begin..].sort_unstable();
        }
        let rest = self.text.get(end..node.end_byte()).unwrap_or_default();
        if !rest.trim().is_empty() {
            said.push(format!("{}{END}", rest.trim()));
        }
        Some(said)
    }

    /// What a comment says, whatever the indentation of its lines is.
    fn comment(&self, node: Node<'_>) -> String {
        let text = self.of(node);
        if let Some(mark) = self.grammar.comment
            && let Some(said) = text.strip_prefix(mark)
            && !said.starts_with(['!', ':'])
        {
            return format!("{mark} {}", said.trim());
        }
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        lines.join("\n")
    }

    /// Whether a string is the key of an object that needs no quotes.
    fn is_plain_key(&self, node: Node<'_>, parent: Node<'_>, field: Option<&str>) -> bool {
        let is_key = node.kind() == "string" && parent.kind() == "pair" && field == Some("key");
        let text = self.of(node);
        is_key
            && self.grammar.keys_are_bare
            && text.len() > 2
            && !text[1..].starts_with(|first: char| first.is_ascii_digit())
            && text[1..text.len() - 1]
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$'))
    }

    /// What a string says: its quotes are form where they make no difference, as is the indentation of documentation, and a path is where
    /// it leads to.
    fn string(&self, node: Node<'_>) -> String {
        let text = self.of(node);
        if node.kind() == "jsx_text" {
            return format!("{}{END}", jsx(text));
        }
        if node.kind() != "string" {
            return format!("{OPEN}{}{END}{text}{CLOSE}", node.kind());
        }
        let quoted = text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
        let prefix = text[..text.len() - quoted.len()].to_ascii_lowercase();
        let quote = ["\"\"\"", "'''", "\"", "'"]
            .into_iter()
            .find(|quote| quoted.len() >= 2 * quote.len() && quoted.starts_with(quote));
        let Some(inner) = quote.and_then(|quote| {
            quoted
                .strip_prefix(quote)
                .and_then(|rest| rest.strip_suffix(quote))
        }) else {
            return format!("{OPEN}string{END}{text}{CLOSE}");
        };
        let is_raw = prefix.contains('r');
        let kinds = quote.unwrap_or_default();
        let is_doc = node.parent().is_some_and(|parent| {
            parent.kind() == "expression_statement" && parent.named_child_count() == 1
        });
        let inner = if is_doc && kinds.len() == 3 {
            documentation(inner)
        } else if is_raw || !self.grammar.quotes_are_alike {
            // A quote in it, an escape and what is computed in it have a meaning of their own there.
            let has_quote = inner.contains(['"', '\'']);
            let is_plain = !has_quote && (is_raw || !inner.contains(['\\', '#']));
            if !is_plain {
                return format!("{OPEN}string{END}{text}{CLOSE}");
            }
            inner.to_owned()
        } else {
            inner.replace("\\\"", "\"").replace("\\'", "'")
        };
        let inner = resolved(self.folder, &inner).unwrap_or(inner);
        format!("{OPEN}string{END}{prefix}{END}{inner}{CLOSE}")
    }

    /// Whether these are the arguments of a call that checks an inline snapshot.
    fn is_of_a_snapshot(&self, arguments: Node<'_>) -> bool {
        let called = arguments
            .parent()
            .and_then(|call| call.child_by_field_name("function"));
        called.is_some_and(|called| {
            let text = self.of(called);
            let name = text.rsplit('.').next().unwrap_or(text);
            let is_known = !self.grammar.snapshots_are_code
                || text == name && self.text.contains("from inline_snapshot import");
            is_known && self.grammar.snapshots.contains(&name)
        })
    }

    /// What the call of a snapshot says without what the runner writes into it, which is kept apart.
    fn snapshot(&mut self, arguments: Node<'_>) -> Option<String> {
        let mut cursor = arguments.walk();
        let all: Vec<Node<'_>> = arguments
            .named_children(&mut cursor)
            .filter(|argument| !argument.is_extra())
            .collect();
        let is_text = |kind: &str| is_text(kind) || kind == "template_string";
        let is_code = self.grammar.snapshots_are_code;
        let written = all
            .last()
            .filter(|last| is_literal(**last) && (is_code || is_text(last.kind())));
        let kept = match written {
            Some(node) if is_text(node.kind()) => {
                let lines = self.of(*node).lines().map(str::trim);
                Some(lines.collect::<Vec<_>>().join("\n"))
            }
            Some(node) => Some(self.node(*node)?),
            None => None,
        };
        self.snapshots.push(kept);
        let others = all.len() - usize::from(written.is_some());
        let mut said = String::new();
        for argument in &all[..others] {
            said += &self.node(*argument)?;
        }
        Some(format!("{OPEN}snapshot{END}{said}{CLOSE}"))
    }
}

/// What stands in brackets that mean nothing: those of an expression, and those of an arrow function's only parameter.
fn only_in_brackets(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    match node.kind() {
        "parenthesized_expression" if DELIMITED.contains(&node.parent()?.kind()) => {
            let mut inner = node.named_children(&mut cursor);
            let first = inner.next().filter(|node| !node.is_extra())?;
            let is_only = inner.next().is_none();
            (is_only && !IN_BRACKETS.contains(&first.kind())).then_some(first)
        }
        "formal_parameters" if node.parent()?.kind() == "arrow_function" => {
            let only = (node.named_child_count() == 1).then(|| node.named_child(0))??;
            let is_bare = only.kind() == "required_parameter" && only.child_count() == 1;
            is_bare
                .then(|| only.child(0))?
                .filter(|name| name.kind() == "identifier")
        }
        _ => None,
    }
}

/// Whether a child is there for form alone: a comma behind the last of many, and what ends a statement.
fn is_form(parent: Node<'_>, children: &[(Node<'_>, Option<&str>)], at: usize) -> bool {
    let child = children[at].0;
    if child.is_named() {
        return false;
    }
    let counts = |(node, _): &&(Node<'_>, Option<&str>)| !node.is_extra();
    match child.kind() {
        "," | ";" if matches!(parent.kind(), "object_type" | "interface_body") => true,
        "," => {
            let next = children[at + 1..].iter().find(counts);
            let before = children[..at].iter().rev().find(counts);
            let many = children
                .iter()
                .filter(|(child, _)| child.is_named() && !child.is_extra());
            // Behind another one it stands for something that is left out.
            (LISTS.contains(&parent.kind()) || many.count() > 1 && parent.kind() != "subscript")
                && next.is_some_and(|(next, _)| matches!(next.kind(), ")" | "]" | "}" | ">"))
                && before.is_some_and(|(before, _)| before.is_named())
        }
        ";" => !parent.kind().starts_with("for") && parent.kind() != "class_body",
        "\n" => true,
        _ => false,
    }
}

/// Whether a node is a value that is written down, with nothing in it that is run.
fn is_literal(node: Node<'_>) -> bool {
    const LITERALS: &[&str] = &[
        "dictionary",
        "escape_sequence",
        "false",
        "float",
        "integer",
        "list",
        "none",
        "pair",
        "set",
        "string",
        "string_content",
        "string_end",
        "string_fragment",
        "string_start",
        "template_string",
        "true",
        "tuple",
        "unary_operator",
    ];
    let mut cursor = node.walk();
    LITERALS.contains(&node.kind()) && node.named_children(&mut cursor).all(is_literal)
}

/// Whether a node is a text, of which each character counts.
fn is_text(kind: &str) -> bool {
    !matches!(
        kind,
        "concatenated_string" | "template_string" | "template_substitution"
    ) && [
        "string",
        "template",
        "heredoc",
        "regex",
        "text",
        "character",
    ]
    .iter()
    .any(|word| kind.contains(word))
}

/// A text between tags as JSX takes it: lines without the white space around them, with a blank between them.
fn jsx(text: &str) -> String {
    let blank = [' ', '\t', '\r'];
    let lines: Vec<&str> = text.split('\n').collect();
    let last = lines.len() - 1;
    let lines = lines.iter().enumerate().map(|(at, line)| {
        let line = if at > 0 {
            line.trim_start_matches(blank)
        } else {
            line
        };
        if at < last {
            line.trim_end_matches(blank)
        } else {
            line
        }
    });
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// The documentation of something without the indentation of what it stands in.
fn documentation(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    let blank = |line: &&str| line.len() - line.trim_start().len();
    let behind = lines.iter().skip(1).filter(|line| !line.is_empty());
    let indentation = behind.map(blank).min().unwrap_or(0);
    let lines = lines.iter().enumerate().map(|(at, line)| match at {
        0 => *line,
        _ => line.get(indentation..).unwrap_or_default(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Where a path leads that begins in this folder; none where it is none.
fn resolved(folder: &str, path: &str) -> Option<String> {
    if !path.starts_with("./") && !path.starts_with("../") {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(format!("/{}", parts.join("/")))
}

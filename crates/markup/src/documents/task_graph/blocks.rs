//! Where in a document its graphs stand: all of it, or fenced blocks.

use crate::documents::quoting::{Bounded, line_number, quoted};
use crate::markdown::{self, Place};
use text::{counted, listed};

use super::yaml::{self, Fault, Node, Value};
use super::{Note, Problem};

/// YAML with a graph in it.
#[derive(Debug)]
pub(super) struct YamlBlock {
    /// Its text, to which its nodes refer.
    pub(super) source: String,
    /// Its YAML documents; those without a graph may be among them.
    pub(super) nodes: Vec<Node>,
    /// What to add to a line within it for its line in the document.
    pub(super) before: u32,
}

/// What was found in a document.
#[derive(Debug, Default)]
pub(super) struct GraphCandidates {
    pub(super) found: Vec<YamlBlock>,
    pub(super) problems: Bounded<Problem>,
    pub(super) notes: Bounded<Note>,
}

/// A fenced block.
#[derive(Debug)]
struct Block<'a> {
    /// The line of its fence.
    line: usize,
    info: &'a str,
    indent: usize,
    text: &'a str,
}

/// How sure it is that a text is meant as a graph, before it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likelihood {
    /// It has no `tasks` at its top level.
    Not,
    /// It begins with a brace, as JSON does, or with a line that may be one of a text: `tasks: see below`.
    Perhaps,
    /// It has.
    Plainly,
}

/// Finds the graphs of a document.
pub(super) fn locate(text: &str) -> GraphCandidates {
    let (text, first) = markdown::unwrapped(text);
    let mut blocks = Vec::new();
    let mut open: Option<Block<'_>> = None;
    let mut from = 0;
    let mut outside = None;
    for line in markdown::lines(text, first) {
        match line.place {
            Place::Opens { info, indent } => {
                from = line.end;
                open = Some(Block {
                    line: line.number,
                    info,
                    indent,
                    text: &text[from..],
                });
            }
            Place::Closes => {
                if let Some(block) = open.take() {
                    blocks.push(Block {
                        text: &text[from..line.start],
                        ..block
                    });
                }
            }
            Place::Text if outside.is_none() && meant_by_line(line.text) == Likelihood::Plainly => {
                outside = Some(line.number);
            }
            Place::Text | Place::Code | Place::Comment => {}
        }
    }
    blocks.extend(open);

    let mut located = GraphCandidates::default();
    if is_whole(text, first, outside, &blocks, &mut located) {
        return located;
    }
    // What says that it is a program counts only where nothing else has tasks.
    let (programs, others): (Vec<_>, Vec<_>) = blocks.iter().partition(|block| is_code(block.info));
    for block in others {
        take_block(block, &mut located);
    }
    if located.found.is_empty() {
        for block in programs {
            take_block(block, &mut located);
        }
    }
    if !located.found.is_empty()
        && let Some(line) = outside.filter(|line| begins_graph(text, first, *line))
    {
        located
            .problems
            .tell(line_number(line), || out_of_step(line, &blocks));
    }
    // A fence that ends nothing takes the one behind it, and the graph in that, into its own block.
    if !located.found.is_empty()
        && let Some(block) = blocks.iter().find(|block| swallows(block))
    {
        let line = line_number(block.line);
        located.problems.tell(line, || Problem {
            code: "fence_out_of_step",
            line,
            message: "the block that begins here has a fence with a name in it, and tasks below that, while other tasks stand in a block of their own".to_owned(),
            suggestion: "take this fence out if it ends nothing; or put four backticks around the block, if it is to show another one".to_owned(),
            tasks: Vec::new(),
        });
    }
    if located.found.is_empty() && located.problems.times() == 0 {
        located.problems.tell(1, || missing(text, &blocks, outside));
    }
    located
}

/// Whether a block without a name has the beginning of another one in it, and a graph in that.
fn swallows(block: &Block<'_>) -> bool {
    let mut lines = block.text.lines().enumerate();
    block.info.is_empty()
        && lines.any(|(_, line)| line.trim_start().starts_with("```") && line.trim().len() > 3)
        && lines.any(|(at, line)| {
            meant_by_line(line) == Likelihood::Plainly && begins_graph(block.text, 1, at + 1)
        })
}

/// Whether a line `tasks:` that stands in no block has tasks below it.
fn begins_graph(text: &str, first: usize, line: usize) -> bool {
    const NEAR: usize = 3;
    let mut below = text.lines().skip(line + 1 - first).take(NEAR);
    below.any(|line| {
        let entry = line.trim_start().trim_start_matches("- ").trim_start();
        key(entry).is_some_and(|(name, _)| name == "id")
    })
}

/// The problem that a graph stands outside of all blocks, while others stand in them: most often a fence was taken for another.
fn out_of_step(line: usize, blocks: &[Block<'_>]) -> Problem {
    let above = blocks.iter().filter(|block| block.line < line);
    // One without a name is the end of a block, taken for the beginning of another.
    let odd = above
        .clone()
        .find(|block| block.info.is_empty())
        .or(above.clone().next());
    Problem {
        code: "fence_out_of_step",
        line: line_number(line),
        message: "a line `tasks:` with tasks below it stands outside of all code blocks, and other tasks stand in one: a fence above may be the end of a block, and be taken for a beginning".to_owned(),
        suggestion: match odd {
            Some(block) => format!(
                "see whether the fence in line {} begins a block or ends one; a block with fences in it has four backticks around it",
                block.line
            ),
            None => "put the tasks between ```yaml and ```".to_owned(),
        },
        tasks: Vec::new(),
    }
}

/// Whether the document is YAML and nothing else; if so, it is read.
fn is_whole(
    text: &str,
    first: usize,
    outside: Option<usize>,
    blocks: &[Block<'_>],
    located: &mut GraphCandidates,
) -> bool {
    let begins = meant_by_beginning(text);
    if begins == Likelihood::Not && outside.is_none() {
        return false;
    }
    let has_blocks = || {
        blocks
            .iter()
            .any(|block| meant(block.text) != Likelihood::Not)
    };
    match yaml::parse(text) {
        Ok(nodes) if nodes.iter().any(has_tasks) => {
            located.found.push(YamlBlock {
                source: text.to_owned(),
                nodes,
                before: line_number(first - 1),
            });
            true
        }
        Ok(_) => false,
        Err(fault) => {
            let is_meant = match begins {
                Likelihood::Plainly => true,
                Likelihood::Perhaps => text.contains("tasks") && !has_blocks(),
                Likelihood::Not => !has_blocks(),
            };
            if is_meant {
                let mut problem = unreadable(fault, first - 1);
                if let Some(line) = outside.filter(|line| line_number(*line) > problem.line) {
                    problem.suggestion = format!(
                        "the document is read as YAML because of `tasks:` in line {line}: put the graph between ```yaml and ``` where there is text around it"
                    );
                }
                located.problems.tell(problem.line, || problem);
            }
            is_meant
        }
    }
}

fn take_block(block: &Block<'_>, located: &mut GraphCandidates) {
    let meant = meant(block.text);
    if meant == Likelihood::Not {
        return;
    }
    let source = markdown::unindented(block.text, block.indent);
    match yaml::parse(&source) {
        Ok(nodes) if nodes.iter().any(has_tasks) => {
            if is_program(block.info) && !nodes.iter().any(has_entries) {
                return;
            }
            located.found.push(YamlBlock {
                source,
                nodes,
                before: line_number(block.line),
            });
        }
        // Other YAML, or something that is none and never said so.
        Ok(_) => {}
        Err(_) if meant == Likelihood::Perhaps && !names_tasks(block) => {}
        Err(fault) if is_program(block.info) => {
            let line = line_number(block.line);
            located.notes.tell(line, || Note {
                line,
                message: format!(
                    "the code block {} has a line `tasks:`, but is no YAML (line {}): it is passed over",
                    quoted(block.info),
                    line.saturating_add(fault.line)
                ),
            });
        }
        Err(fault) => {
            let problem = unreadable(fault, block.line);
            located.problems.tell(problem.line, || problem);
        }
    }
}

/// What the YAML's fault is in the document; `before` is how many lines stand before the YAML.
fn unreadable(fault: Fault, before: usize) -> Problem {
    Problem {
        code: if fault.too_large {
            "too_large"
        } else {
            "bad_yaml"
        },
        line: line_number(before).saturating_add(fault.line),
        message: fault.message,
        suggestion: fault.suggestion,
        tasks: Vec::new(),
    }
}

/// The problem of a document without any graph, which says what there is instead.
fn missing(text: &str, blocks: &[Block<'_>], outside: Option<usize>) -> Problem {
    const FORM: &str =
        "write the tasks as YAML below a key `tasks:`, alone or in a block between ```yaml and ```";
    let mut suggestion = FORM.to_owned();
    let message = if text.trim().is_empty() {
        "the document is empty".to_owned()
    } else if blocks.is_empty() {
        if let Some(line) = begins_as_list(text) {
            suggestion = format!("write `tasks:` above the list that begins in line {line}");
            "there is no `tasks:`: the document is a list".to_owned()
        } else if let Some(line) = outside {
            format!("there is a line `tasks:` (line {line}), but it is not that of a YAML map")
        } else {
            "there is no `tasks:`, and no code block either".to_owned()
        }
    } else {
        let named = blocks.iter().map(|block| {
            if block.info.is_empty() {
                format!("line {}", block.line)
            } else {
                format!("line {} ({})", block.line, quoted(block.info))
            }
        });
        if let Some((block, written)) = blocks
            .iter()
            .find_map(|block| nearly(block.text).map(|key| (block, key)))
        {
            suggestion = format!(
                "write `tasks:` for {} in the block that begins in line {}",
                quoted(written),
                block.line
            );
        } else if let Some(block) = blocks
            .iter()
            .find(|block| !is_program(block.info) && begins_as_list(block.text).is_some())
        {
            suggestion = format!(
                "write `tasks:` above the list in the block that begins in line {}",
                block.line
            );
        }
        if blocks.len() == 1 {
            format!(
                "the document's only code block has no key `tasks:`: {}",
                listed(named)
            )
        } else {
            format!(
                "none of the document's {} has a key `tasks:`: {}",
                counted(blocks.len(), "code block"),
                listed(named)
            )
        }
    };
    Problem {
        code: "tasks_missing",
        line: 1,
        message,
        suggestion,
        tasks: Vec::new(),
    }
}

/// Whether the YAML document is a map with `tasks`.
fn has_tasks(node: &Node) -> bool {
    tasks_of(node).next().is_some()
}

/// What stands below the `tasks` of a YAML document.
pub(super) fn tasks_of(node: &Node) -> impl Iterator<Item = &Node> {
    let entries = match &node.value {
        Value::Map(entries) => entries.as_slice(),
        _ => &[],
    };
    entries
        .iter()
        .filter(|(key, _)| matches!(&key.value, Value::Text(text) if text.trim() == "tasks"))
        .map(|(_, value)| value)
}

fn has_entries(node: &Node) -> bool {
    tasks_of(node).any(|tasks| matches!(tasks.value, Value::List(_) | Value::Map(_)))
}

/// Lines that say something: neither blank, nor a comment, nor a sign between YAML documents.
fn saying(text: &str) -> impl Iterator<Item = markdown::Line<'_>> {
    markdown::lines(text, 1).filter(|line| {
        let said = line.text.trim();
        !said.is_empty() && !said.starts_with(['#', '%']) && !matches!(said, "---" | "...")
    })
}

fn meant_by_beginning(text: &str) -> Likelihood {
    let Some(line) = saying(text).next() else {
        return Likelihood::Not;
    };
    let said = line.text.trim_start();
    let said = said.strip_prefix("---").map_or(said, str::trim_start);
    if said.starts_with('{') {
        Likelihood::Perhaps
    } else {
        meant_by_line(said)
    }
}

/// What a block's text is meant as.
fn meant(text: &str) -> Likelihood {
    let begins = meant_by_beginning(text);
    if begins != Likelihood::Not {
        return begins;
    }
    let Some(line) = saying(text).next() else {
        return Likelihood::Not;
    };
    let indent = line.text.len() - line.text.trim_start().len();
    let top = saying(text).filter_map(|line| line.text.get(indent..));
    for said in top {
        // A document about documents.
        if said.starts_with("```") || said.starts_with("~~~") {
            return Likelihood::Not;
        }
        let meant = meant_by_line(said);
        if meant != Likelihood::Not {
            return meant;
        }
    }
    Likelihood::Not
}

/// What a line is meant as, from its first byte on: one whose key is `tasks` says it plainly, if no text stands behind it.
fn meant_by_line(line: &str) -> Likelihood {
    match key(line) {
        Some(("tasks", value)) => {
            let value = value.trim_start();
            if value.is_empty() || value.starts_with(['#', '[', '{', '&', '!']) {
                Likelihood::Plainly
            } else {
                Likelihood::Perhaps
            }
        }
        _ => Likelihood::Not,
    }
}

/// The key that a line of a map begins with, and the rest behind its colon.
fn key(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = match line.as_bytes().first()? {
        quote @ (b'"' | b'\'') => line[1..].split_once(char::from(*quote))?,
        b' ' | b'\t' => return None,
        _ => line.split_at(line.find([':', ' '])?),
    };
    let value = rest.trim_start_matches(' ').strip_prefix(':')?;
    (value.is_empty() || value.starts_with([' ', '\t'])).then_some((key, value))
}

/// A key at the beginning of a line that is `tasks`, but for how it is written.
fn nearly(text: &str) -> Option<&str> {
    saying(text).find_map(|line| {
        let (key, value) = key(line.text)?;
        let near = ["task", "tasks", "task-graph", "taskgraph", "task_graph"]
            .iter()
            .any(|name| key.eq_ignore_ascii_case(name));
        (near && value.trim().is_empty()).then_some(key)
    })
}

/// The line in which the text's list begins, where it is one whose entries have keys.
fn begins_as_list(text: &str) -> Option<usize> {
    saying(text)
        .next()
        .filter(|line| {
            line.text
                .trim_start()
                .strip_prefix("- ")
                .is_some_and(|entry| key(entry.trim_start()).is_some())
        })
        .map(|line| line.number)
}

/// Whether a block that begins with a brace names `tasks`, and says that it is YAML or JSON.
fn names_tasks(block: &Block<'_>) -> bool {
    language(block.info).is_some_and(|name| ["yaml", "yml", "json"].contains(&name.as_str()))
        && ["\"tasks\"", "'tasks'", "tasks:"]
            .iter()
            .any(|key| block.text.contains(key))
}

fn language(info: &str) -> Option<String> {
    info.split([' ', '\t', ',', '{', '}', ':'])
        .find(|word| !word.is_empty())
        .map(|word| word.trim_start_matches('.').to_ascii_lowercase())
}

/// Whether the block says that it is a program in a language that has braces or brackets for lists, as YAML has.
fn is_code(info: &str) -> bool {
    const LANGUAGES: [&str; 16] = [
        "c",
        "cpp",
        "csharp",
        "go",
        "java",
        "javascript",
        "js",
        "jsx",
        "kotlin",
        "php",
        "py",
        "python",
        "rust",
        "ts",
        "tsx",
        "typescript",
    ];
    language(info).is_some_and(|name| LANGUAGES.contains(&name.as_str()))
}

/// Whether the block says that it is a program, or a document of some other kind: such a block may well have a line
/// `tasks:` that means something else.
fn is_program(info: &str) -> bool {
    const OTHERS: [&str; 38] = [
        "bash",
        "c",
        "console",
        "cpp",
        "csharp",
        "css",
        "diff",
        "dockerfile",
        "go",
        "html",
        "ini",
        "java",
        "javascript",
        "js",
        "jsx",
        "kotlin",
        "make",
        "makefile",
        "markdown",
        "md",
        "mermaid",
        "php",
        "powershell",
        "py",
        "python",
        "rb",
        "ruby",
        "rs",
        "rust",
        "sh",
        "shell",
        "sql",
        "swift",
        "toml",
        "ts",
        "tsx",
        "typescript",
        "xml",
    ];
    language(info).is_some_and(|name| OTHERS.contains(&name.as_str()))
}

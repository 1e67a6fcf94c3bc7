//! How a fenced block names its file: behind the fence, or in a comment that is its first line.

/// What the text behind a fence says of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Label {
    /// Nothing.
    None,
    /// Its name.
    Named(String),
    /// Two names.
    Two(String, String),
}

/// Attributes that hold a path and nothing else.
const PATH_KEYS: &[&str] = &["file", "filename", "filepath", "path"];
/// An attribute that holds a path, or a caption.
const TITLE: &str = "title";

/// Names without an ending that are files all the same.
const PLAIN_NAMES: &[&str] = &[
    "BUILD",
    "Brewfile",
    "CODEOWNERS",
    "Containerfile",
    "Dockerfile",
    "GNUmakefile",
    "Gemfile",
    "Jenkinsfile",
    "Justfile",
    "LICENSE",
    "Makefile",
    "Procfile",
    "README",
    "Rakefile",
    "Vagrantfile",
    "WORKSPACE",
    "justfile",
    "makefile",
];

/// Endings by which a name without a folder is told from other words with a dot, where the name
/// stands in a comment.
#[rustfmt::skip]
const ENDINGS: &[&str] = &[
    "adoc", "astro", "bash", "bat", "bzl", "c", "cc", "cfg", "cjs", "clj", "cljs", "cmake", "cmd", "conf", "cpp",
    "cs", "csproj", "css", "csv", "cts", "cu", "cxx", "d", "dart", "edn", "ejs", "el", "elm", "env", "erb", "erl",
    "ex", "exs", "fish", "frag", "fs", "fsx", "gd", "gleam", "glsl", "go", "gql", "gradle", "graphql", "groovy",
    "h", "haml", "hbs", "hcl", "hh", "hlsl", "hpp", "hrl", "hs", "htm", "html", "ini", "ipynb", "j2", "java",
    "jinja", "jl", "js", "json", "json5", "jsonc", "jsx", "kt", "kts", "less", "lisp", "liquid", "lua", "m", "md",
    "mdx", "mjs", "mk", "ml", "mli", "mm", "mod", "mts", "nim", "nix", "php", "pl", "plist", "pm", "prisma",
    "properties", "proto", "ps1", "psm1", "pug", "py", "pyi", "r", "rb", "rkt", "rs", "rst", "s", "sass", "sbt",
    "scala", "scm", "scss", "service", "sh", "sol", "sql", "styl", "sv", "svelte", "svg", "swift", "tcl", "tex",
    "tf", "tfvars", "tmpl", "toml", "tpl", "ts", "tsv", "tsx", "twig", "txt", "v", "vb", "vert", "vhd", "vhdl",
    "vim", "vue", "wat", "wgsl", "xml", "xsd", "xsl", "xslt", "yaml", "yml", "zig", "zsh",
];

/// Reads the text behind a fence: `rust src/lib.rs`, `src/lib.rs`, `rust:src/lib.rs`,
/// `python title="a/b.py"`, `js file=a.js`, `{.python filename="a.py"}`.
pub(super) fn from_info(info: &str) -> Label {
    let mut found: Option<String> = None;
    for (place, token) in Tokens::new(info).enumerate() {
        let name = match token.key {
            Some(key) => from_attribute(key, token.value),
            None => from_word(&token, place == 0),
        };
        let Some(name) = name else { continue };
        match &found {
            None => found = Some(name),
            Some(first) if *first == name => {}
            Some(first) => return Label::Two(first.clone(), name),
        }
    }
    found.map_or(Label::None, Label::Named)
}

fn from_attribute(key: &str, value: &str) -> Option<String> {
    let key = key.to_ascii_lowercase();
    let value = value.trim();
    let named = PATH_KEYS.contains(&key.as_str())
        || (key == TITLE && !value.contains(char::is_whitespace) && looks_like_path(value));
    (named && !value.is_empty()).then(|| value.to_owned())
}

fn from_word(token: &Token<'_>, first: bool) -> Option<String> {
    let word = token.value;
    // `{.python}` is a class, `{1,3-5}` are lines.
    if token.braced || word.is_empty() {
        return None;
    }
    if first && !token.quoted {
        if let Some((language, path)) = word.split_once(':')
            && is_language(language)
            && looks_like_path(path)
        {
            return Some(path.to_owned());
        }
        if PLAIN_NAMES.contains(&word) {
            return None;
        }
    }
    let word = unwrapped(word);
    looks_like_path(word).then(|| word.to_owned())
}

/// The language that the text behind a fence begins with, in lower case.
pub(super) fn language(info: &str) -> String {
    let word = info.split_whitespace().next().unwrap_or_default();
    let word = word.trim_start_matches(['{', '.']);
    let end = word.find([',', ':', '{', '}']).unwrap_or(word.len());
    word[..end].to_ascii_lowercase()
}

/// Whether blocks of this language show a change to a file.
pub(super) fn is_change(language: &str) -> bool {
    matches!(language, "diff" | "patch" | "udiff")
}

/// Whether a block of this language is Markdown.
pub(super) fn is_markdown(language: &str) -> bool {
    matches!(
        language,
        "md" | "markdown" | "mdx" | "gfm" | "commonmark" | "mkd" | "rmd" | "qmd" | "quarto"
    )
}

/// Whether a file of this name is Markdown, in which a fence is part of the text.
pub(super) fn is_markdown_file(path: &str) -> bool {
    ending(file_name(path)).is_some_and(|ending| {
        matches!(
            ending.to_ascii_lowercase().as_str(),
            "md" | "markdown" | "mdx" | "mdc" | "mkd" | "mdown" | "rmd" | "qmd"
        )
    })
}

/// Whether a file of this name holds changes.
pub(super) fn is_change_file(path: &str) -> bool {
    ending(file_name(path)).is_some_and(|ending| is_change(&ending.to_ascii_lowercase()))
}

/// Reads a first line that is a comment with a path in it and nothing else.
pub(super) fn from_comment(line: &str, language: &str) -> Option<String> {
    let line = line.trim();
    let between = |start: &str, end: &str| line.strip_prefix(start)?.strip_suffix(end);
    let (text, is_hash) = if let Some(text) = between("<!--", "-->")
        .or_else(|| between("/*", "*/"))
        .or_else(|| between("(*", "*)"))
        .or_else(|| between("{-", "-}"))
    {
        (text, false)
    } else if let Some(text) = line.strip_prefix('#') {
        (text, true)
    } else {
        let text = ["//", "--", ";", "%"]
            .iter()
            .find_map(|sign| line.strip_prefix(sign))?;
        (text, false)
    };
    let text = text.trim();
    let (keyed, text) = match text.split_once(':') {
        Some((key, rest)) if PATH_KEYS.contains(&key.trim().to_ascii_lowercase().as_str()) => {
            (true, rest.trim())
        }
        _ => (false, text),
    };
    let text = unwrapped(text);
    // A shebang or a documentation comment names no file.
    let other = ["#!", "///", "//!"]
        .iter()
        .any(|sign| line.starts_with(sign));
    if other || text.is_empty() || text.contains(char::is_whitespace) {
        return None;
    }
    // In Markdown it is a heading.
    if is_hash && (is_markdown(language) || is_markdown_file(text)) {
        return None;
    }
    let named = keyed || (looks_like_path(text) && has_sure_ending(text));
    named.then(|| text.to_owned())
}

/// Reads a line of text that is a path and nothing else, as a heading or in bold perhaps.
pub(super) fn from_text(line: &str) -> Option<String> {
    let text = line.trim().trim_start_matches('#').trim();
    let text = text
        .trim_end_matches(':')
        .trim_matches(['*', '_'])
        .trim_end_matches(':');
    let text = text
        .strip_prefix('`')
        .and_then(|text| text.strip_suffix('`'))
        .unwrap_or(text);
    let named =
        !text.contains(char::is_whitespace) && looks_like_path(text) && has_sure_ending(text);
    named.then(|| text.to_owned())
}

fn has_sure_ending(path: &str) -> bool {
    let Some(ending) = ending(file_name(path)) else {
        return false;
    };
    path.contains(['/', '\\']) || ENDINGS.contains(&ending.to_ascii_lowercase().as_str())
}

fn is_language(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+#_-".contains(c))
}

fn unwrapped(word: &str) -> &str {
    [('(', ')'), ('[', ']'), ('`', '`'), ('"', '"'), ('\'', '\'')]
        .iter()
        .find_map(|(open, close)| word.strip_prefix(*open)?.strip_suffix(*close))
        .unwrap_or(word)
}

/// Whether a word reads as a path: a folder in it, an ending, a dot in front, or a well-known name.
fn looks_like_path(word: &str) -> bool {
    if word.is_empty() || word.contains("://") || word.contains(['=', '{', '}', '<', '>', '"', ','])
    {
        return false;
    }
    let name = file_name(word);
    word.contains(['/', '\\'])
        || PLAIN_NAMES.contains(&name)
        || ending(name).is_some()
        || (name.len() > 1
            && name.starts_with('.')
            && name[1..].starts_with(|c: char| c.is_ascii_alphabetic()))
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The ending of a name: letters and digits behind a dot that is not the first character.
fn ending(name: &str) -> Option<&str> {
    const LONGEST: usize = 16;
    let (stem, ending) = name.rsplit_once('.')?;
    let fits = !stem.is_empty()
        && (1..=LONGEST).contains(&ending.len())
        && ending
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-+".contains(&byte))
        && ending.bytes().any(|byte| byte.is_ascii_alphabetic());
    fits.then_some(ending)
}

/// A word behind a fence.
#[derive(Debug, Clone, Copy)]
struct Token<'a> {
    key: Option<&'a str>,
    value: &'a str,
    quoted: bool,
    braced: bool,
}

struct Tokens<'a> {
    rest: &'a str,
    braces: bool,
}

impl<'a> Tokens<'a> {
    fn new(info: &'a str) -> Self {
        Self {
            rest: info,
            braces: false,
        }
    }

    /// What stands up to the closing quote, or to the end of the word.
    fn value(&mut self) -> (&'a str, bool) {
        if let Some(quote) = self.rest.chars().next().filter(|c| "\"'".contains(*c))
            && let Some(end) = self.rest[1..].find(quote)
        {
            let value = &self.rest[1..=end];
            self.rest = &self.rest[end + 2..];
            return (value, true);
        }
        let end = self
            .rest
            .find(char::is_whitespace)
            .unwrap_or(self.rest.len());
        let value = &self.rest[..end];
        self.rest = &self.rest[end..];
        (value, false)
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.rest = self.rest.trim_start();
        if let Some(rest) = self.rest.strip_prefix('{') {
            self.braces = true;
            self.rest = rest.trim_start();
        }
        if self.rest.is_empty() {
            return None;
        }
        let braced = self.braces;
        let key_end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))
            .unwrap_or(self.rest.len());
        let key =
            (key_end > 0 && self.rest[key_end..].starts_with('=')).then(|| &self.rest[..key_end]);
        if key.is_some() {
            self.rest = &self.rest[key_end + 1..];
        }
        let (mut value, quoted) = self.value();
        if !quoted
            && braced
            && let Some(inner) = value.strip_suffix('}')
        {
            value = inner;
            self.braces = false;
        } else if quoted
            && braced
            && let Some(rest) = self.rest.strip_prefix('}')
        {
            self.rest = rest;
            self.braces = false;
        }
        Some(Token {
            key,
            value,
            quoted,
            braced,
        })
    }
}

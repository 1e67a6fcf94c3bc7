//! Targets of make, with what they depend on and the variables they use.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{NamedPlace, Place, within};
use crate::convention::read_manifest;
use crate::runner::targets::MAKE_FILES;

/// What decides how every recipe is run.
const ALWAYS: &[&str] = &["SHELL", ".SHELLFLAGS", "MAKEFLAGS"];
/// Targets that change what every other one does.
const SPECIAL: &[&str] = &[".IGNORE", ".ONESHELL", ".SILENT", ".DEFAULT"];
/// What has make read a text once more, where a `$` that is written twice is one.
const READ_TWICE: &[&str] = &["eval", "SECONDEXPANSION"];
/// More files than this are not read.
const MOST_FILES: usize = 16;
/// The longest name of a variable, with what stands round it, in bytes.
const LONGEST_NAME: usize = 200;
/// How many variables of a line are looked up: what is longer is no test command.
const MOST_NAMES: usize = 1_000;
/// A line with its variables put in does not get longer than this.
const LONGEST_LINE: usize = 4096;

pub(super) fn found(place: Place<'_>, argv: &[&str]) -> Option<NamedPlace> {
    let [program, rest @ ..] = argv else {
        return None;
    };
    if !matches!(*program, "make" | "gmake") {
        return None;
    }
    let mut folder = place.folder.to_owned();
    let mut file = None;
    let mut wanted: Vec<&str> = Vec::new();
    let mut rest = rest.iter();
    while let Some(&word) = rest.next() {
        match word {
            "-C" | "--directory" => folder = within(place.root, &folder, rest.next()?)?,
            "-f" | "--file" | "--makefile" => file = Some(*rest.next()?),
            _ => {
                if let Some(to) = word.strip_prefix("--directory=") {
                    folder = within(place.root, &folder, to)?;
                } else if let Some(name) = word
                    .strip_prefix("--file=")
                    .or(word.strip_prefix("--makefile="))
                {
                    file = Some(name);
                } else if let Some(to) = word.strip_prefix("-C") {
                    folder = within(place.root, &folder, to)?;
                } else if !word.starts_with('-') && !word.contains('=') {
                    wanted.push(word);
                }
            }
        }
    }
    let path = match file {
        Some(file) => within(place.root, &folder, file)?,
        None => MAKE_FILES
            .iter()
            .map(|name| folder.join(name))
            .find(|path| path.is_file())?,
    };
    let text = read_manifest(&path)?;
    let mut makefile = Makefile::default();
    makefile.read(&text);
    makefile.read_included(place.root, &folder);
    let first = makefile.first_target();
    if wanted.is_empty() {
        wanted.extend(first.as_deref());
    }
    let (text, recipes) = makefile.gather(&wanted);
    (!text.is_empty()).then(|| NamedPlace {
        what: format!("`{}` in {}", wanted.join(" "), place.name(&path)),
        text,
        calls: recipes
            .into_iter()
            .map(|line| (folder.clone(), line))
            .collect(),
    })
}

/// Whether the `$` behind this text is written twice, so that make leaves it to the shell.
fn is_for_the_shell(before: &str) -> bool {
    before
        .bytes()
        .rev()
        .take_while(|byte| *byte == b'$')
        .count()
        % 2
        == 1
}

struct Rule {
    targets: Vec<String>,
    needs: Vec<String>,
    recipe: Vec<String>,
    text: String,
}

#[derive(Default)]
struct Makefile {
    rules: Vec<Rule>,
    /// The lines that set a variable, by its name.
    variables: BTreeMap<String, Vec<String>>,
    included: Vec<String>,
    /// Whether it may be that some of its text is read twice.
    reads_twice: bool,
}

impl Makefile {
    fn read(&mut self, text: &str) {
        self.reads_twice |= READ_TWICE.iter().any(|word| text.contains(word));
        let mut lines = text.lines();
        // Whether a line with a tab before it belongs to the last rule.
        let mut in_rule = false;
        while let Some(line) = lines.next() {
            let mut whole = line.trim_end().to_owned();
            while whole.ends_with('\\') {
                let Some(next) = lines.next() else {
                    break;
                };
                whole.push('\n');
                whole.push_str(next.trim_end());
            }
            let joined = whole.replace("\\\n", " ");
            let plain = joined.trim();
            if let Some(recipe) = whole.strip_prefix('\t') {
                if let Some(rule) = self.rules.last_mut().filter(|_| in_rule) {
                    rule.recipe.push(recipe.replace("\\\n", " "));
                    rule.text.push_str(&whole);
                    rule.text.push('\n');
                }
                continue;
            }
            let word = plain.split_whitespace().next().unwrap_or_default();
            match word {
                _ if plain.is_empty() || plain.starts_with('#') => {}
                "ifeq" | "ifneq" | "ifdef" | "ifndef" | "else" | "endif" => {
                    if let Some(rule) = self.rules.last_mut().filter(|_| in_rule) {
                        rule.text.push_str(plain);
                        rule.text.push('\n');
                    }
                }
                "include" | "-include" | "sinclude" => {
                    let names = plain.split_whitespace().skip(1);
                    self.included.extend(names.map(str::to_owned));
                }
                "define" => {
                    let mut block = whole.clone();
                    for line in lines.by_ref() {
                        block.push('\n');
                        block.push_str(line.trim_end());
                        if line.trim() == "endef" {
                            break;
                        }
                    }
                    let name = plain.split_whitespace().nth(1).unwrap_or_default();
                    self.set(name, block);
                }
                _ => in_rule = self.rule_or_variable(plain, &whole),
            }
        }
    }

    /// Takes in a line that begins a rule or sets a variable; whether it was a rule.
    fn rule_or_variable(&mut self, plain: &str, whole: &str) -> bool {
        let equals = plain.find('=');
        let colon = plain.find(':');
        if let Some(equals) = equals
            && colon.is_none_or(|colon| {
                equals < colon || plain[colon..equals].bytes().all(|c| c == b':')
            })
        {
            let name = plain[..equals].trim_end_matches([':', '?', '+', '!']);
            let name = name.split_whitespace().next_back().unwrap_or_default();
            self.set(name, whole.to_owned());
            return false;
        }
        let Some(colon) = colon else {
            return false;
        };
        let (needs, recipe) = match plain[colon..].split_once(';') {
            Some((needs, recipe)) => (needs, vec![recipe.trim().to_owned()]),
            None => (&plain[colon..], Vec::new()),
        };
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        self.rules.push(Rule {
            targets: words(&plain[..colon]),
            needs: words(&needs.trim_start_matches(':').replace('|', " ")),
            recipe,
            text: format!("{whole}\n"),
        });
        true
    }

    fn set(&mut self, name: &str, line: String) {
        self.variables
            .entry(name.to_owned())
            .or_default()
            .push(line);
    }

    fn read_included(&mut self, root: &Path, folder: &Path) {
        let mut read: BTreeSet<PathBuf> = BTreeSet::new();
        let mut at = 0;
        while let Some(name) = self.included.get(at) {
            at += 1;
            let path = within(root, folder, &self.expanded(name));
            if let Some(path) =
                path.filter(|path| read.len() < MOST_FILES && read.insert(path.clone()))
                && let Some(text) = read_manifest(&path)
            {
                self.read(&text);
            }
        }
    }

    fn first_target(&self) -> Option<String> {
        if let Some(goal) = self.value(".DEFAULT_GOAL") {
            return Some(goal.to_owned());
        }
        let mut targets = self.rules.iter().flat_map(|rule| &rule.targets);
        targets
            .find(|target| !target.starts_with('.') && !target.contains('%'))
            .cloned()
    }

    /// The rules of these targets and of all that they need, with the variables that stand in them; and their recipes.
    fn gather(&self, wanted: &[&str]) -> (String, Vec<String>) {
        let mut by_target: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, rule) in self.rules.iter().enumerate() {
            for target in &rule.targets {
                by_target.entry(target).or_default().push(at);
            }
        }
        let mut names: Vec<String> = wanted.iter().map(|&name| name.to_owned()).collect();
        let mut known: BTreeSet<String> = names.iter().cloned().collect();
        let mut taken: BTreeSet<usize> = BTreeSet::new();
        let mut order = Vec::new();
        let mut at = 0;
        while let Some(name) = names.get(at).cloned() {
            at += 1;
            for &rule in by_target.get(&*name).into_iter().flatten() {
                if !taken.insert(rule) {
                    continue;
                }
                order.push(rule);
                for need in &self.rules[rule].needs {
                    for need in self.expanded(need).split_whitespace() {
                        if known.insert(need.to_owned()) {
                            names.push(need.to_owned());
                        }
                    }
                }
            }
        }
        if order.is_empty() {
            return (String::new(), Vec::new());
        }
        for special in SPECIAL {
            order.extend(by_target.get(special).into_iter().flatten());
        }
        let rules = || order.iter().map(|&rule| &self.rules[rule]);
        let mut text: String = rules().map(|rule| &*rule.text).collect();
        for lines in self
            .used(&text)
            .into_iter()
            .filter_map(|name| self.variables.get(&name))
        {
            for line in lines {
                text.push_str(line);
                text.push('\n');
            }
        }
        let recipes = rules().flat_map(|rule| &rule.recipe).map(|line| {
            let line = self.expanded(line);
            line.trim_start_matches(['@', '-', '+', ' ', '\t'])
                .to_owned()
        });
        (text, recipes.collect())
    }

    /// The names of the variables that stand in a text, and in those variables themselves.
    fn used(&self, text: &str) -> BTreeSet<String> {
        let mut used: BTreeSet<String> = BTreeSet::new();
        let mut texts = vec![text];
        let always = ALWAYS.iter().map(|&name| name.to_owned());
        let mut names: Vec<String> = always.collect();
        loop {
            for name in names.drain(..) {
                if let Some((name, lines)) = self.variables.get_key_value(&name)
                    && used.insert(name.clone())
                {
                    texts.extend(lines.iter().map(String::as_str));
                }
            }
            let Some(text) = texts.pop() else {
                return used;
            };
            // `$(NAME)`, `${NAME}`, and those within calls: any word behind a bracket that is one.
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
            let places = text.match_indices("$(").chain(text.match_indices("${"));
            let places =
                places.filter(|(at, _)| self.reads_twice || !is_for_the_shell(&text[..*at]));
            names.extend(places.map(|(at, _)| {
                let rest = &text[at + 2..];
                let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                rest[..end].to_owned()
            }));
        }
    }

    /// What a variable was set to last.
    fn value(&self, name: &str) -> Option<&str> {
        let line = self.variables.get(name)?.last()?;
        line.split_once('=').map(|(_, value)| value.trim())
    }

    /// The text with the variables put in that are known; what is left stays as it is.
    fn expanded(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..4 {
            if !text.contains("$(") && !text.contains("${") {
                break;
            }
            let mut put_in = String::new();
            let mut rest = text.as_str();
            let mut looked_up = 0;
            while let Some(at) = rest.find('$').filter(|_| looked_up < MOST_NAMES) {
                looked_up += 1;
                put_in.push_str(&rest[..at]);
                rest = &rest[at..];
                let end = |close: u8| {
                    let name = rest.as_bytes().iter().take(LONGEST_NAME);
                    name.copied().position(|byte| byte == close)
                };
                let close = match rest.as_bytes().get(1) {
                    Some(b'(') => end(b')'),
                    Some(b'{') => end(b'}'),
                    _ => None,
                };
                let value = close.and_then(|close| match &rest[2..close] {
                    "MAKE" => Some("make"),
                    name => self.value(name),
                });
                match (close, value) {
                    (Some(close), Some(value)) if put_in.len() + value.len() < LONGEST_LINE => {
                        put_in.push_str(value);
                        rest = &rest[close + 1..];
                    }
                    _ => {
                        put_in.push('$');
                        rest = &rest[1..];
                    }
                }
            }
            put_in.push_str(rest);
            text = put_in;
        }
        text
    }
}

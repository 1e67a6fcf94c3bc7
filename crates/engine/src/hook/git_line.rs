//! What a git command is about to do, where that is obvious.

use crate::hook::shell::{Simple, Word};

/// A command, as far as the rules care.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// One of git's, in these folders, one from the other.
    Git(Vec<String>, Act),
    /// The folder changes.
    ChangeFolder(String),
    /// What comes after it cannot be told.
    Unclear,
    /// Nothing that a rule is about.
    Other,
}

/// What git is about to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Make a commit.
    Commit {
        /// Without asking the repository's own hooks.
        unverified: bool,
    },
    /// Send commits to another repository.
    Push,
    /// Throw away what is not committed.
    HardReset,
    /// Make a branch and switch to it, or leave all branches.
    Leave,
    /// Switch to this branch.
    Switch(String),
    /// Switch to what is called so, or take files from it.
    Checkout(String),
}

/// Words that make of what follows something else than a list of commands.
const UNCLEAR: [&str; 28] = [
    "eval", "source", ".", "alias", "unalias", "exec", "trap", "pushd", "popd", "function", "if",
    "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select",
    "{", "}", "[[", "coproc", "time",
];

/// Variables by which git finds another repository, or other settings.
fn is_gits_own(assignment: &str) -> bool {
    let name = assignment.split('=').next().unwrap_or_default();
    [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_COMMON_DIR",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
    ]
    .contains(&name)
        || name.starts_with("GIT_CONFIG")
}

fn is_assignment(word: &Word) -> bool {
    let Some((name, _)) = word.text.split_once('=') else {
        return false;
    };
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Reads a command.
pub fn read(command: &Simple) -> Line {
    let mut words = command.words.as_slice();
    let mut elsewhere = false;
    while let [first, rest @ ..] = words
        && is_assignment(first)
    {
        elsewhere |= is_gits_own(&first.text);
        words = rest;
    }
    while let [first, rest @ ..] = words
        && first.text == "!"
    {
        words = rest;
    }
    let [program, arguments @ ..] = words else {
        // An assignment alone counts for all that follows.
        return if elsewhere {
            Line::Unclear
        } else {
            Line::Other
        };
    };
    if !program.plain {
        return Line::Other;
    }
    match program.text.as_str() {
        "cd" => change_folder(command, arguments),
        "export" | "declare" | "typeset" | "readonly" | "unset"
            if arguments.iter().any(|word| is_gits_own(&word.text)) =>
        {
            Line::Unclear
        }
        name if UNCLEAR.contains(&name) => Line::Unclear,
        name if !elsewhere && (name == "git" || name.ends_with("/git")) => {
            git(arguments, command.whole)
        }
        _ => Line::Other,
    }
}

fn change_folder(command: &Simple, arguments: &[Word]) -> Line {
    let folders: Vec<&Word> = arguments
        .iter()
        .filter(|word| !matches!(word.text.as_str(), "--" | "-P" | "-L"))
        .collect();
    match folders.as_slice() {
        [folder] if folder.plain && folder.text != "-" && command.whole => {
            Line::ChangeFolder(folder.text.clone())
        }
        _ => Line::Unclear,
    }
}

fn git(mut words: &[Word], whole: bool) -> Line {
    let mut folders = Vec::new();
    let mut unverified = false;
    let verb = loop {
        let [first, rest @ ..] = words else {
            return Line::Other;
        };
        if !first.plain {
            return Line::Other;
        }
        words = rest;
        match first.text.as_str() {
            "-C" | "-c" => {
                let [value, rest @ ..] = words else {
                    return Line::Other;
                };
                if !value.plain {
                    return Line::Other;
                }
                words = rest;
                if first.text == "-C" {
                    folders.push(value.text.clone());
                } else {
                    let setting = value.text.to_ascii_lowercase();
                    if setting.starts_with("alias.") || setting.starts_with("core.worktree") {
                        return Line::Other;
                    }
                    unverified |= setting.starts_with("core.hookspath=");
                }
            }
            "--no-pager"
            | "-p"
            | "-P"
            | "--paginate"
            | "--literal-pathspecs"
            | "--no-optional-locks"
            | "--no-replace-objects"
            | "--no-advice" => {}
            option if option.starts_with('-') => return Line::Other,
            verb => break verb,
        }
    };
    if words
        .iter()
        .take_while(|word| word.text != "--")
        .any(|word| matches!(word.text.as_str(), "-h" | "--help"))
    {
        return Line::Other;
    }
    let act = match verb {
        "commit" => commit(words, unverified),
        "push" => push(words),
        "reset" => words
            .iter()
            .take_while(|word| word.text != "--")
            .any(|word| is_option(&word.text, "--hard", "--har"))
            .then_some(Act::HardReset),
        "switch" => switch(words, whole),
        "checkout" => checkout(words, whole),
        _ => None,
    };
    act.map_or(Line::Other, |act| Line::Git(folders, act))
}

/// Whether an argument is an option, written out or cut short as far as git lets it.
fn is_option(word: &str, option: &str, shortest: &str) -> bool {
    word.starts_with(shortest) && option.starts_with(word)
}

fn commit(words: &[Word], mut unverified: bool) -> Option<Act> {
    /// Options whose value is a word of its own.
    const WITH_VALUE: [&str; 16] = [
        "-m",
        "-F",
        "-C",
        "-c",
        "-t",
        "--message",
        "--file",
        "--reuse-message",
        "--reedit-message",
        "--author",
        "--date",
        "--template",
        "--cleanup",
        "--trailer",
        "--fixup",
        "--squash",
    ];
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if text == "--" {
            break;
        }
        if is_option(text, "--dry-run", "--dry") {
            return None;
        }
        if is_option(text, "--no-verify", "--no-veri") {
            unverified = true;
        } else if WITH_VALUE.contains(&text) {
            words.next();
        } else if let Some(letters) = text.strip_prefix('-')
            && !letters.starts_with('-')
        {
            for (at, letter) in letters.char_indices() {
                match letter {
                    'n' => unverified = true,
                    // The rest of the word is its value; where there is none, the next word is.
                    'm' | 'F' | 'C' | 'c' | 't' => {
                        if at + letter.len_utf8() == letters.len() {
                            words.next();
                        }
                        break;
                    }
                    'u' | 'S' => break,
                    _ => {}
                }
            }
        }
    }
    Some(Act::Commit { unverified })
}

fn push(words: &[Word]) -> Option<Act> {
    let dry = words
        .iter()
        .any(|word| word.text == "-n" || is_option(&word.text, "--dry-run", "--dr"));
    (!dry).then_some(Act::Push)
}

fn switch(words: &[Word], whole: bool) -> Option<Act> {
    let mut names = Vec::new();
    for word in words {
        let text = word.text.as_str();
        if is_leaving(text, &["-c", "-C", "-d"])
            || is_option(text, "--create", "--c")
            || is_option(text, "--force-create", "--force-c")
        {
            return Some(Act::Leave);
        }
        if text == "-" || !text.starts_with('-') {
            names.push(word);
        }
    }
    match names.as_slice() {
        [name] if name.plain && whole => Some(Act::Switch(name.text.clone())),
        _ => None,
    }
}

fn is_leaving(text: &str, short: &[&str]) -> bool {
    let is_short = short
        .iter()
        .any(|option| text.starts_with(option) && !text.starts_with("--"));
    is_short || is_option(text, "--detach", "--d") || is_option(text, "--orphan", "--or")
}

fn checkout(words: &[Word], whole: bool) -> Option<Act> {
    let mut names = Vec::new();
    for word in words {
        let text = word.text.as_str();
        if is_leaving(text, &["-b", "-B", "-d"]) {
            return Some(Act::Leave);
        }
        let takes_files = matches!(
            text,
            "--" | "-p" | "--patch" | "--ours" | "--theirs" | "-2" | "-3"
        ) || text.starts_with("--pathspec-from-file")
            || text.starts_with("--conflict");
        if takes_files {
            return None;
        }
        if text == "-" || !text.starts_with('-') {
            names.push(word);
        }
    }
    // Two names are those of a commit and of a file to take from it.
    match names.as_slice() {
        [name] if name.plain && whole => Some(Act::Checkout(name.text.clone())),
        _ => None,
    }
}

//! A page of the documentation, played: what it says to write is written, what it says to type is typed, and what it shows has to
//! come out.
//!
//! A block `console` holds commands behind `$ ` and what they print. `…` stands for anything: alone on a line for any lines. A block
//! below a line that ends with a file's name, as in ``Write `greet.py`:``, is that file. `UPDATE_DOCS=1` writes down what came out
//! instead, where it is something else.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use testkit::Sandbox;
use testkit::documentation::{Typed, blocks, typed, workspace};

/// Whoever plays a page has told git who they are.
const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "Ada"),
    ("GIT_AUTHOR_EMAIL", "ada@example.org"),
    ("GIT_COMMITTER_NAME", "Ada"),
    ("GIT_COMMITTER_EMAIL", "ada@example.org"),
];

/// Plays a page in a folder of its own.
pub fn play(name: &str) {
    let path = workspace().join("docs").join(name);
    let page = fs::read_to_string(&path).unwrap();
    let sandbox = Sandbox::new();
    let mut place = sandbox.project();
    let mut new = String::new();
    let mut copied = 0;
    let mut wrong = Vec::new();
    for block in blocks(&page) {
        if let Some(file) = file_above(block.above) {
            testkit::files::write(&place.join(file), block.text);
        }
        if block.language != "console" {
            continue;
        }
        let mut now = String::new();
        for Typed { command, output } in typed(block.text) {
            let said = run(&sandbox, &mut place, command);
            let shown = if matches(output, &said) {
                output
            } else {
                wrong.push(format!("$ {command}\n{said}--- not:\n{output}"));
                said.as_str()
            };
            let _ = write!(now, "$ {command}\n{shown}");
        }
        new.push_str(&page[copied..block.at]);
        new.push_str(&now);
        copied = block.at + block.text.len();
    }
    new.push_str(&page[copied..]);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, new).unwrap();
        return;
    }
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n\n"));
}

/// The file that the block below a line is, as in ``Write `greet.py`:``.
fn file_above(line: &str) -> Option<&str> {
    let line = line.strip_suffix("`:")?;
    let (_, file) = line.rsplit_once('`')?;
    (!file.is_empty() && !file.contains(' ')).then_some(file)
}

/// Types a command in a shell; what it printed. The shell's folder and its variables are kept.
fn run(sandbox: &Sandbox, place: &mut PathBuf, command: &str) -> String {
    let [kept, variables] = ["place", "variables"].map(|name| sandbox.home().join(name));
    let (to, from) = (kept.display(), variables.display());
    let script = format!(
        "set -a\n[ -f '{from}' ] && . '{from}'\n{command}\nexport -p > '{from}'\npwd > '{to}'\n"
    );
    let ran = sandbox
        .process("sh")
        .args(["-c", &format!("{{ {script} }} 2>&1")])
        .current_dir(&*place)
        .env("PATH", testkit::sandbox::path_with_binary())
        .envs(IDENTITY)
        .output()
        .unwrap();
    *place = fs::read_to_string(kept).unwrap().trim_end().into();
    let said = String::from_utf8(ran.stdout).unwrap();
    // As it would be at home.
    let store = sandbox.store().to_string_lossy().into_owned();
    let project = sandbox.project().to_string_lossy().into_owned();
    said.replace(&store, "~/.taskmaster").replace(&project, "~")
}

/// Whether a text is what a page shows, in which `…` stands for anything.
fn matches(shown: &str, said: &str) -> bool {
    let shown: Vec<&str> = shown.trim_end().lines().collect();
    let said: Vec<&str> = said.trim_end().lines().collect();
    lines_match(&shown, &said)
}

fn lines_match(shown: &[&str], said: &[&str]) -> bool {
    match shown.split_first() {
        None => said.is_empty(),
        Some((first, rest)) if first.trim() == "…" => {
            (0..=said.len()).any(|skipped| lines_match(rest, &said[skipped..]))
        }
        Some((first, rest)) => said.split_first().is_some_and(|(line, more)| {
            line_matches(first.trim_end(), line.trim_end()) && lines_match(rest, more)
        }),
    }
}

fn line_matches(shown: &str, said: &str) -> bool {
    let mut parts = shown.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = said.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in between {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

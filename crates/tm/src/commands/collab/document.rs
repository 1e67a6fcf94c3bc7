//! Documents that a caller hands over: task graphs and work items, from files and from standard input.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use engine::fault;
use engine::view::collab::answer::SyncAnswer;
use engine::{Fault, Kind};
use text::plain::one_line;

use super::super::input::{bytes_of, shown_name};
use super::super::usage;

/// The most that is read of one, in bytes.
const MOST_BYTES: u64 = engine::capability::documents::skills::LARGEST_DOCUMENT as u64;

/// What is asked for where a file cannot be used.
const NAME_ANOTHER: &str = "name a file that you can read, or `-` for standard input";

/// Where a document lies.
#[derive(Debug, PartialEq, Eq)]
pub enum Document {
    /// In the project: its path from the project's root.
    Inside(String),
    /// Elsewhere: its text.
    Outside(String),
}

/// A document that is named on the command line, seen from `cwd`.
pub fn found(file: &Path, cwd: &Path, root: &Path) -> Result<Document, Fault> {
    if file.as_os_str() == "-" {
        return text_of(file).map(Document::Outside);
    }
    let named = cwd.join(file);
    // What a shell puts in place of `<(command)` is no file, and where its link leads is none that can be opened.
    if fs::metadata(&named).is_ok_and(|found| found.file_type().is_fifo()) {
        return text_of(&named).map(Document::Outside);
    }
    let real = fs::canonicalize(named).map_err(|error| unreadable(file, &error))?;
    let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let inside = real.strip_prefix(root).ok().and_then(Path::to_str);
    match inside.filter(|_| real.is_file()) {
        Some(path) => Ok(Document::Inside(path.to_owned())),
        None => text_of(&real).map(Document::Outside),
    }
}

/// The text of a file, or of standard input where it is `-`.
pub fn text_of(file: &Path) -> Result<String, Fault> {
    let shown = shown_name(file);
    let bytes = bytes_of(file, MOST_BYTES);
    let bytes = bytes.map_err(|error| unreadable(Path::new(&shown), &error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(fault!("too_large.document_file", shown, most = MOST_BYTES));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].split(|&byte| byte == b'\n').count();
        usage(format!("{shown}:{line}: this is no UTF-8 text")).suggest("store it as UTF-8 text")
    })
}

fn unreadable(file: &Path, error: &io::Error) -> Fault {
    let shown = file.display();
    if error.kind() == io::ErrorKind::NotFound {
        return Fault::new(
            Kind::Missing,
            "not_found",
            format!("there is no file {shown}"),
        )
        .suggest(NAME_ANOTHER);
    }
    Fault::environment("io_failed", format!("{shown} could not be read"), error)
        .suggest(NAME_ANOTHER)
}

/// The errors of a task graph that was not taken, at the place where the caller has it: none of ours was written.
pub fn of_document(synced: &mut SyncAnswer, name: &str) {
    if synced.verdict.validated {
        return;
    }
    let item = synced.item.as_ref();
    for problem in &mut synced.problems {
        if problem.item.as_ref() == item {
            problem.document = one_line(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::view::collab::answer::DocumentProblem;
    use serde_json::json;

    #[test]
    fn a_file_of_the_project_is_named_and_any_other_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        fs::create_dir_all(root.join("docs")).unwrap();
        fs::write(root.join("docs/graph.md"), "in").unwrap();
        fs::write(folder.path().join("graph.md"), "out").unwrap();
        std::os::unix::fs::symlink("../graph.md", root.join("link.md")).unwrap();
        let inside = Document::Inside("docs/graph.md".to_owned());
        let outside = Document::Outside("out".to_owned());
        for (cwd, file, expected) in [
            ("project", "docs/graph.md", Ok(&inside)),
            ("project/docs", "graph.md", Ok(&inside)),
            ("project/docs", "../docs/./graph.md", Ok(&inside)),
            ("", "project/docs/graph.md", Ok(&inside)),
            ("project", "../graph.md", Ok(&outside)),
            ("project", "link.md", Ok(&outside)),
            ("project", "gone.md", Err("not_found")),
            ("project", "docs", Err("io_failed")),
        ] {
            let found = found(Path::new(file), &folder.path().join(cwd), &root);
            let found = found.as_ref().map_err(|fault| &*fault.code);
            assert_eq!(found, expected, "{file} from {cwd:?}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("graph.md");
        fs::write(&file, b"a\nb\n\xff").unwrap();
        let fault = text_of(&file).unwrap_err();
        assert!(fault.message.contains("graph.md:3:"), "{fault:?}");
        let long = usize::try_from(MOST_BYTES).unwrap() + 1;
        fs::write(&file, vec![b'a'; long]).unwrap();
        assert_eq!(text_of(&file).unwrap_err().code, "too_large");
    }

    #[test]
    fn errors_stand_where_the_caller_has_the_document() {
        let problem = |item: u64| DocumentProblem {
            document: format!("task-graph-item-{item}.md"),
            item: Some(json!(item)),
            ..DocumentProblem::default()
        };
        let mut synced = SyncAnswer {
            item: Some(json!(2)),
            problems: vec![problem(2), problem(1)],
            ..SyncAnswer::default()
        };
        let told = |synced: &mut SyncAnswer, document: &str| {
            of_document(synced, document);
            let places = synced.problems.iter();
            places.map(|problem| problem.document.clone()).collect()
        };
        let places: Vec<String> = told(&mut synced, "docs/graph.md");
        assert_eq!(places, ["docs/graph.md", "task-graph-item-1.md"]);
        // One that was taken has a place of its own.
        synced.verdict.validated = true;
        assert_eq!(told(&mut synced, "other.md"), places);
    }
}

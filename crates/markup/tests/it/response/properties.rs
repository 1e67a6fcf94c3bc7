//! What holds of every response.

use super::kind;
use markup::response::bundle::{self, File, Rules};
use markup::response::plan::{self, Plan};
use markup::response::verdict::{self, Verdict};
use proptest::collection::vec;
use proptest::prelude::*;

/// Lines of which a file may consist, without any that a reader of markers would ask about.
const LINES: &[&str] = &[
    "fn main() {",
    "    let x = \"größe\";",
    "\t\tindented();",
    "",
    "   ",
    "}\r",
    "a\rb",
    "// <<<FILE: quoted.rs>>>",
    ">>>",
    "<<<",
    "<<<<<<< HEAD",
    "@@@",
    "``",
    "- entry",
    "  - inner",
    "end without a blank ",
    "\u{feff}mark",
    "日本語",
];

/// Lines that are fences, and may be text.
const FENCES: &[&str] = &[
    "```",
    "```rust",
    "```rust src/lib.rs",
    "````",
    "~~~",
    "    ```",
    "- ```",
    "1. ~~~ sh",
];

/// Lines at which a reader has to look twice.
const AWKWARD: &[&str] = &[
    "// src/other.rs",
    "# a.py",
    "<!-- a.html -->",
    "### src/b.rs",
    "<<<FILE: src/a.rs>>>",
    "  <<<FILE: src/b.rs>>>  ",
    "<<<FILE: >>>",
    "<<<FILE: ../x>>>",
    "<<<file: x>>>",
    "@@@REVIEW_META",
    "verdict: PASS",
    "issues_total: 0",
    "issues_critical: 0",
    "missing_inputs: 0",
    "VALIDATION FAILED: no",
    "# Files",
    "Files",
    "---",
    "<!--",
    "-->",
];

fn line_of(palettes: &'static [&'static [&'static str]]) -> impl Strategy<Value = &'static str> {
    let all: Vec<&'static str> = palettes
        .iter()
        .flat_map(|lines| lines.iter().copied())
        .collect();
    proptest::sample::select(all)
}

fn text_of(palettes: &'static [&'static [&'static str]]) -> impl Strategy<Value = String> {
    vec(line_of(palettes), 0..12)
        .prop_map(|lines| lines.into_iter().flat_map(|line| [line, "\n"]).collect())
}

fn path(number: usize, folders: &[String]) -> String {
    let folders: String = folders
        .iter()
        .flat_map(|folder| ["d_", folder.as_str(), "/"])
        .collect();
    format!("{folders}f_{number}.rs")
}

/// Files with names that are fine, and texts of which no line is indented by all.
fn files(palettes: &'static [&'static [&'static str]]) -> impl Strategy<Value = Vec<File>> {
    let folders = vec("[a-zä-ö0-9_]{1,6}", 0..4);
    vec((folders, text_of(palettes)), 1..8).prop_map(|files| {
        files
            .into_iter()
            .enumerate()
            .map(|(number, (folders, text))| File {
                path: path(number, &folders),
                content: format!("first\n{text}"),
            })
            .collect()
    })
}

fn marked(files: &[File]) -> String {
    files.iter().fold("Ignored.\n".to_owned(), |out, file| {
        format!("{out}<<<FILE: {}>>>\n{}", file.path, file.content)
    })
}

/// Each file in a fence longer than any run of backticks in it.
fn fenced(files: &[File]) -> String {
    files.iter().fold("Ignored.\n".to_owned(), |out, file| {
        let longest = file
            .content
            .split(|c| c != '`')
            .map(str::len)
            .max()
            .unwrap_or_default();
        let fence = "`".repeat(longest.max(2) + 1);
        format!("{out}{fence}rust {}\n{}{fence}\n", file.path, file.content)
    })
}

/// What holds of every bundle that is read.
fn is_sound(bundle: &bundle::Bundle, rules: &Rules) -> Result<(), TestCaseError> {
    prop_assert!(bundle::check(&bundle.files, &[], rules).is_ok());
    let mut seen = std::collections::HashSet::new();
    for file in &bundle.files {
        prop_assert!(!file.content.trim().is_empty());
        prop_assert!(rules.allows(&file.path));
        prop_assert!(seen.insert(file.path.to_lowercase()));
        let path = std::path::Path::new(&file.path);
        prop_assert!(
            path.components()
                .all(|part| matches!(part, std::path::Component::Normal(_)))
        );
        prop_assert!(path.iter().all(|part| !part.eq_ignore_ascii_case(".git")));
    }
    Ok(())
}

proptest! {
    #[test]
    fn marked_files_read_back(files in files(&[LINES])) {
        let read = bundle::read(marked(&files).as_bytes(), &Rules::default()).expect("a bundle");
        prop_assert_eq!(read.files, files);
    }

    #[test]
    fn marked_files_of_lines_with_crlf_read_back_with_lf(files in files(&[LINES])) {
        let plain = |text: &str| text.replace('\r', "");
        let crlf = plain(&marked(&files)).replace('\n', "\r\n");
        let read = bundle::read(crlf.as_bytes(), &Rules::default()).expect("a bundle");
        let files: Vec<File> = files
            .into_iter()
            .map(|file| File { content: plain(&file.content), ..file })
            .collect();
        prop_assert_eq!(read.files, files);
    }

    #[test]
    fn indented_files_read_back(files in files(&[LINES]), indent in "[ \t]{1,6}") {
        let text: String = marked(&files)
            .split_inclusive('\n')
            .flat_map(|line| [indent.as_str(), line])
            .collect();
        let read = bundle::read(text.as_bytes(), &Rules::default()).expect("a bundle");
        prop_assert_eq!(read.files, files);
    }

    #[test]
    fn fenced_files_read_back_whatever_is_in_them(files in files(&[LINES, FENCES, AWKWARD])) {
        let read = bundle::read(fenced(&files).as_bytes(), &Rules::default()).expect("a bundle");
        prop_assert_eq!(read.files, files);
    }

    #[test]
    fn fenced_files_in_a_list_read_back(files in files(&[LINES, FENCES, AWKWARD])) {
        let text: String = fenced(&files)
            .split_inclusive('\n')
            .flat_map(|line| ["   ", line])
            .collect();
        let read = bundle::read(text.as_bytes(), &Rules::default()).expect("a bundle");
        prop_assert_eq!(read.files, files);
    }

    #[test]
    fn marked_files_with_fences_are_exact_or_refused(files in files(&[LINES, FENCES])) {
        match bundle::read(marked(&files).as_bytes(), &Rules::default()) {
            Ok(read) => prop_assert_eq!(read.files, files),
            Err(error) => prop_assert_eq!(kind(error.fault()), "Unclear"),
        }
    }

    #[test]
    fn what_is_read_is_sound(text in text_of(&[LINES, FENCES, AWKWARD])) {
        let rules = Rules::new(["src/**", "*.py", "f*"]).expect("rules");
        match bundle::read(text.as_bytes(), &rules) {
            Ok(bundle) => is_sound(&bundle, &rules)?,
            Err(error) => prop_assert!(!error.to_string().is_empty() && !error.suggestion().is_empty()),
        }
        if let Err(error) = verdict::read(text.as_bytes()) {
            prop_assert!(!error.to_string().is_empty() && !error.suggestion().is_empty());
        }
        if let Err(error) = plan::read(text.as_bytes(), &["Files".to_owned()]) {
            prop_assert!(!error.to_string().is_empty() && !error.suggestion().is_empty());
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..400)) {
        let rules = Rules::default();
        if let Ok(bundle) = bundle::read(&bytes, &rules) {
            is_sound(&bundle, &rules)?;
        }
        let _ = verdict::read(&bytes);
        let _ = plan::read(&bytes, &[]);
    }

    #[test]
    fn any_name_is_taken_or_refused(name in "\\PC{0,40}|[./\\\\a:~ -]{0,12}") {
        let rules = Rules::default();
        let given = [File { path: name.clone(), content: "x".to_owned() }];
        match bundle::check(&given, &[], &rules) {
            Ok(()) => is_sound(&bundle::Bundle { files: given.to_vec(), ..bundle::Bundle::default() }, &rules)?,
            Err(error) => prop_assert_eq!(kind(error.fault()), "BadName"),
        }
    }

    #[test]
    fn verdicts_read_back(
        pass in any::<bool>(), total in any::<u64>(), critical in any::<u64>(), inputs in any::<u64>(),
        before in text_of(&[LINES]), behind in text_of(&[LINES]), indent in "[ \t]{0,4}",
    ) {
        let critical = if pass { 0 } else { critical.min(total) };
        let word = if pass { "pass" } else { "Fail" };
        let text = format!(
            "{before}{indent}@@@REVIEW_META\n{indent}missing_inputs: {inputs}\n{indent}issues_critical: \
             {critical}\n{indent}issues_total: {total}\nother: x\n{indent}verdict: {word}\n{indent}@@@\n{behind}"
        );
        let read = verdict::read(text.as_bytes()).expect("a verdict");
        let expected = Verdict { pass, issues_total: total, issues_critical: critical, missing_inputs: inputs };
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn plans_are_kept_as_they_are(text in text_of(&[LINES])) {
        let text = format!("# Any\n{text}");
        let read = plan::read(text.as_bytes(), &["any".to_owned()]).expect("a plan");
        prop_assert_eq!(read, Plan::Accepted { text });
    }
}

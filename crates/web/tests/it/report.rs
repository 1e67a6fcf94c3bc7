//! The report as one file.

use web::report::file;

const MARKDOWN: &str = "# Task 1: Numbers\n\n| Subtask | RED |\n|---|---|\n| 1.1 | 1 failed |\n\n<details>\n<summary>1.1 One: 1 test</summary>\n\n- `one`\n\n</details>\n";

#[test]
fn it_is_whole_and_needs_nothing_else() {
    let page = file("Numbers", MARKDOWN, &["<svg></svg>".to_owned()]);
    for part in [
        "<!DOCTYPE html>",
        "<title>Numbers</title>",
        "<h1>Task 1: Numbers</h1>",
        "<td>1 failed</td>",
        "<summary>1.1 One: 1 test</summary>",
        "<svg></svg>",
        "@media print",
        "default-src 'none'",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    lacks(
        &page,
        &["http://", "https://", "<script", "src=\"", "<link"],
    );
}

fn lacks(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(!page.contains(part), "{part} in {page}");
    }
}

#[test]
fn what_others_wrote_does_nothing_in_it() {
    let title = "</title><script>alert(1)</script>";
    let text = "a <script>alert(1)</script> <img src=x onerror=alert(1)>\n\n<style>*{}</style>\n";
    lacks(&file(title, text, &[]), &["<script", "<img", "<style>*"]);
}

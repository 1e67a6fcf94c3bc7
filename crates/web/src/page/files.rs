//! What a run recorded: of a session its prompts and responses, iteration by iteration, and what changed from one to the next.

use std::collections::BTreeMap;

use engine::Fault;
use engine::view::session::answer::ArtifactEntry;
use maud::{Markup, html};

use super::{About, block, diff, id_of, pager, shown, time};

/// How many files are on a page.
const PAGE: usize = 100;

/// What stands in the name of a file that was sent back, before its number.
const ASIDE: &str = ".rejected-";

/// A file that is compared with the one of the iteration before has the same name but for numbers.
fn kind_of(path: &str) -> String {
    path.chars().filter(|c| !c.is_ascii_digit()).collect()
}

pub fn page(about: &About<'_>) -> Result<Markup, Fault> {
    let all = about.engine.run_files(Some(about.id()))?;
    let pages = all.len().div_ceil(PAGE).max(1);
    // What came last is looked for most, and stands on the last page.
    let number = about.query.page(pages).unwrap_or(pages);
    let mut files: Vec<ArtifactEntry> = all
        .iter()
        .skip((number - 1) * PAGE)
        .take(PAGE)
        .cloned()
        .collect();
    let there = about.engine.look_at_files(Some(about.id()), &mut files)?;
    let mut documents = about.engine.run_documents(Some(about.id()))?;
    documents.retain(|path| all.iter().all(|file| file.path != *path));
    let shown_file = about.query.get("file");
    let against = about.query.get("against");
    let mut by_iteration: BTreeMap<i64, Vec<(&ArtifactEntry, bool)>> = BTreeMap::new();
    for (file, is_there) in files.iter().zip(there) {
        by_iteration
            .entry(file.iteration)
            .or_default()
            .push((file, is_there));
    }
    Ok(html! {
        section #files data-live aria-labelledby="files-title" {
            h2 #files-title { "Files" }
            @if !documents.is_empty() {
                h3 { "Documents" }
                ul.files { @for path in &documents { li { a href=(link(about, path, None)) aria-current=[(shown_file == Some(&**path)).then_some("true")] { code { (shown(path)) } } } } }
            }
            @if files.is_empty() && documents.is_empty() { p.quiet { "This run keeps no files of its own." @if about.run.run.commits > 0 { " What it changed in the project is in its commits: see " a href=(about.path("work")) { "Work" } "." } } }
            (pager(&about.path("files"), about.query, (number, pages), ["Earlier", "Later"]))
            @for (iteration, files) in &by_iteration {
                @if by_iteration.len() > 1 || pages > 1 { h3 { @if *iteration > 0 { "Iteration " (iteration) } @else { "Before the first iteration" } } }
                ul.files {
                    @for (file, is_there) in files {
                        @let before = before(&all, file);
                        li {
                            @if *is_there {
                                a href=(link(about, &file.path, None)) aria-current=[(shown_file == Some(&*file.path)).then_some("true")] { code { (shown(&file.path)) } }
                            } @else { code { (shown(&file.path)) } @if all.iter().any(|known| is_put_aside(&known.path, &file.path)) { " (sent back, and put aside)" } @else { " (no longer there)" } }
                            " " span.quiet { (shown(&file.phase)) ", " (time(&file.created_at)) }
                            @if let Some(before) = before.filter(|_| *is_there) { " " a href=(link(about, &file.path, Some(&before.path))) { @if is_put_aside(&before.path, &file.path) { "what changed since it was sent back" } @else { "what changed since iteration " (before.iteration) } } }
                            @if file.problem.is_some() && *is_there { " " strong { "not as it was recorded" } }
                        }
                    }
                }
            }
        }
        @if let Some(path) = shown_file {
            @match (against, prompt_and_response(about, &all, path)) {
                (Some(against), _) => (difference(about, against, path)?),
                (None, Some((prompt, response))) => {
                    div.beside { (content(about, prompt)?) (content(about, response)?) }
                },
                (None, None) => (content(about, path)?),
            }
        }
    })
}

fn is_there(about: &About<'_>, path: &str) -> bool {
    let found = about.engine.run_files_at(Some(about.id()), path);
    found.is_ok_and(|found| !found.is_empty())
}

fn link(about: &About<'_>, file: &str, against: Option<&str>) -> String {
    let query = about.query.with("file", Some(file));
    let query = crate::route::Query::of(&query[1..]).with("against", against);
    let path = about.path("files");
    let path = path.split('?').next().unwrap_or_default();
    format!("{path}{query}")
}

/// The same file as it was before: the one that was put aside last when it was sent back, or that of the iteration before.
fn before<'a>(all: &'a [ArtifactEntry], file: &ArtifactEntry) -> Option<&'a ArtifactEntry> {
    let aside = all
        .iter()
        .rev()
        .find(|known| is_put_aside(&known.path, &file.path));
    let earlier = || {
        all.iter().rev().find(|known| {
            known.iteration < file.iteration
                && known.path != file.path
                && kind_of(&known.path) == kind_of(&file.path)
        })
    };
    aside.or_else(earlier)
}

/// Whether `aside` is the file `path` as it was put aside: `plan.rejected-1.md` is `plan.md`.
fn is_put_aside(aside: &str, path: &str) -> bool {
    let parts = aside.split_once(ASIDE).and_then(|(name, rest)| {
        let (number, ending) = rest.split_once('.')?;
        let is_number = !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit());
        is_number.then_some((name, ending))
    });
    parts.is_some_and(|(name, ending)| {
        path.strip_prefix(name)
            .and_then(|rest| rest.strip_prefix('.'))
            == Some(ending)
    })
}

/// A prompt and its response, of which `path` is one: they are read side by side.
fn prompt_and_response<'a>(
    about: &About<'_>,
    files: &'a [ArtifactEntry],
    path: &str,
) -> Option<(&'a str, &'a str)> {
    let there = |wanted: &str| {
        let found = files.iter().find(|file| file.path == wanted)?;
        is_there(about, wanted).then_some(found.path.as_str())
    };
    let prompt = path.replace("response", "prompt");
    let response = path.replace("prompt", "response");
    let both = there(&prompt).zip(there(&response));
    both.filter(|(prompt, response)| prompt != response)
}

fn content(about: &About<'_>, path: &str) -> Result<Markup, Fault> {
    let file = about.engine.run_file(Some(about.id()), path)?;
    let id = id_of("file", path);
    Ok(html! {
        section.content aria-labelledby=(id) {
            h3 id=(id) { code { (shown(path)) } " " span.quiet { (text::counted(file.bytes, "byte")) } }
            @match &file.text {
                Some(text) => (block(text, path)),
                None => p.quiet { "It is no text." },
            }
            @if file.cut { p.quiet { "It is longer than what is shown." } }
        }
    })
}

fn difference(about: &About<'_>, before: &str, after: &str) -> Result<Markup, Fault> {
    let text = |path: &str| {
        about
            .engine
            .run_file(Some(about.id()), path)
            .map(|file| file.text)
    };
    let patch = text::diff::unified(after, text(before)?.as_deref(), text(after)?.as_deref());
    Ok(html! {
        section.content aria-labelledby="difference-title" {
            h3 #difference-title { "From " code { (shown(before)) } " to " code { (shown(after)) } }
            @if patch.is_empty() { p { "They are the same." } } @else { (diff::unified(&patch, "Difference")) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_put_aside_is_known_by_its_name() {
        for (aside, path, is) in [
            ("plan.rejected-1.md", "plan.md", true),
            ("rounds/plan.rejected-12.md", "rounds/plan.md", true),
            ("plan.rejected-1.md", "plans.md", false),
            ("plan.rejected-.md", "plan.md", false),
            ("plan.rejected-1.md", "plan.txt", false),
            ("plan.md", "plan.md", false),
        ] {
            assert_eq!(is_put_aside(aside, path), is, "{aside} of {path}");
        }
    }
}

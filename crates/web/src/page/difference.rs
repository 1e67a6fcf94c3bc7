//! What differs between two trees of an item.

use engine::Fault;
use engine::trees::ChangedFile;
use maud::{Markup, html};

use super::{About, diff, shown};

pub fn page(about: &About<'_>, from: &str, to: &str) -> Result<Markup, Fault> {
    let item = about.query.get("item");
    let difference = about
        .engine
        .tree_difference(Some(about.id()), (from, to), item)?;
    let (patch, is_cut) = difference.shown_patch();
    let (from, to) = (&difference.from, &difference.to);
    Ok(html! {
        section aria-labelledby="difference-title" {
            h2 #difference-title { "From " (shown(&from.name)) " to " (shown(&to.name)) ", of " (shown(&difference.item)) }
            p.quiet { code { (from.tree.short()) } " to " code { (to.tree.short()) } }
            @if difference.files.is_empty() {
                p.quiet { "Nothing differs." }
            } @else {
                ul { @for file in &difference.files { (changed(file)) } }
                (diff::unified(&patch, "Difference"))
                @if is_cut { p.quiet { "It is longer than what is shown." } }
            }
        }
    })
}

fn changed(file: &ChangedFile) -> Markup {
    let protected = file.protected.filter(|what| *what != file.change);
    html! {
        li {
            (file.change) " " code { (shown(&file.path)) }
            @if !file.classes.is_empty() { " (" (file.classes.join(", ")) ")" }
            @if let Some(protected) = protected { ", its tests: " (protected) }
        }
    }
}

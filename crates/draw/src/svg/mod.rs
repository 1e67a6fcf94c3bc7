//! SVG: a picture that needs nothing else, neither scripts nor fonts nor anything from elsewhere.

mod graph;
mod scene;
mod shape;
mod text_width;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::picture::{LONGEST_NAME, Marks, Picture};
use super::text::shortened;
pub use graph::tasks_svg;
use machine::definition::Definition;
use scene::Scene;
use text_width::{escaped, width};

/// A workflow with more states than this is not laid out.
const MOST_STATES: usize = 500;
/// The blank around it all.
const MARGIN: i64 = 20;
/// The room for the heading.
const HEADING: i64 = 34;

/// How a picture looks. The background is its own, so that it can be read wherever it is shown; on a dark screen it is dark.
pub const STYLE: &str = "\
svg{background:#fff}\
.page{fill:#fff}\
text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;font-size:13px;fill:#1f2937}\
.heading{font-size:15px;font-weight:600}\
.small{font-size:11px;fill:#4b5563}\
.words{font-size:11px;fill:#374151}\
.line{fill:none;stroke:#6b7280;stroke-width:1.4}\
.anywhere .line{stroke-dasharray:5 4}\
.head,.dot{fill:#6b7280}\
.shape{stroke-width:1.4;fill:#f3f4f6;stroke:#6b7280}\
.work .shape{fill:#eff6ff;stroke:#3b82f6}\
.route .shape{fill:#f5f3ff;stroke:#8b5cf6}\
.completed .shape{fill:#ecfdf5;stroke:#059669}\
.failed .shape{fill:#fef2f2;stroke:#dc2626}\
.each .shape{fill:#fafafa;stroke:#9ca3af}\
.any .shape{fill:none;stroke-dasharray:5 4}\
.present .shape{fill:#fef3c7;stroke:#d97706;stroke-width:4}\
.each.present .shape{fill:#fffdf5}\
.visited .shape{stroke-width:2.6}\
.active .shape{fill:#fef3c7;stroke:#d97706;stroke-width:3}\
.done .shape{fill:#ecfdf5;stroke:#059669}\
.blocked .shape{stroke-dasharray:5 4}\
.never .shape{stroke-width:1;stroke-opacity:.5}\
.taken .line{stroke:#111827;stroke-width:2.8}\
.taken .head{fill:#111827}\
.untaken .line{stroke:#cbd5e1;stroke-width:1.2}\
.untaken .head{fill:#cbd5e1}\
.untaken .words{fill:#6b7280}\
@media (prefers-color-scheme:dark){\
svg{background:#0d1117}\
.page{fill:#0d1117}\
text{fill:#e5e7eb}\
.small{fill:#b6bdc8}\
.words{fill:#cbd5e1}\
.line{stroke:#94a3b8}\
.head,.dot{fill:#94a3b8}\
.shape{fill:#1f2937;stroke:#94a3b8}\
.work .shape{fill:#172554;stroke:#60a5fa}\
.route .shape{fill:#2e1065;stroke:#a78bfa}\
.completed .shape{fill:#022c22;stroke:#34d399}\
.failed .shape{fill:#450a0a;stroke:#f87171}\
.each .shape{fill:#11161d;stroke:#6b7280}\
.any .shape{fill:none}\
.present .shape,.active .shape{fill:#451a03;stroke:#f59e0b}\
.done .shape{fill:#022c22;stroke:#34d399}\
.each.present .shape{fill:#17130c}\
.taken .line{stroke:#f1f5f9}\
.taken .head{fill:#f1f5f9}\
.untaken .line{stroke:#3f4b5c}\
.untaken .head{fill:#3f4b5c}\
.untaken .words{fill:#94a3b8}\
}";

/// A workflow that cannot be laid out as a picture that anybody could read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it has too many states or arrows to be laid out as a picture")]
pub struct TooLarge;

/// The workflow as an SVG file, laid out in layers. The states in `present` are marked.
///
/// # Errors
/// If the workflow is larger than any picture of it could show.
pub fn svg(definition: &Definition, present: &BTreeSet<&str>) -> Result<String, TooLarge> {
    drawn(&Picture::of(definition, present), definition, Look::Inside)
}

/// Where the look of a picture is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// In the picture: it is a file by itself.
    Inside,
    /// On the page that it is put into, which has [`STYLE`] for it.
    Outside,
}

/// The workflow of a run as SVG, with where the run is and which way it took. What is written at an arrow is what happens there;
/// under which condition is told where one points at it.
///
/// # Errors
/// If the workflow is larger than any picture of it could show.
pub fn svg_of_run(
    definition: &Definition,
    marks: &Marks<'_>,
    look: Look,
) -> Result<String, TooLarge> {
    let picture = Picture {
        is_of_run: true,
        ..Picture::marked(definition, marks)
    };
    drawn(&picture, definition, look)
}

fn drawn(picture: &Picture<'_>, definition: &Definition, look: Look) -> Result<String, TooLarge> {
    if picture.nodes.len() > MOST_STATES {
        return Err(TooLarge);
    }
    let scene = Scene::of(picture).ok_or(TooLarge)?;
    let heading = shortened(
        &format!("{}: {}", definition.id.value, definition.title.trim()),
        2 * LONGEST_NAME,
    );
    let wide = scene.width().max(width(&heading, 16)) + 2 * MARGIN;
    let high = scene.height() + HEADING + 2 * MARGIN;
    let marked: Vec<String> = picture
        .nodes
        .iter()
        .filter(|node| node.present)
        .map(|node| shortened(node.name, LONGEST_NAME))
        .collect();
    let mut described = format!("{} states.", picture.nodes.len());
    if !marked.is_empty() {
        let _ = write!(described, " Present: {}.", marked.join(", "));
    }
    let id = id(&definition.id.value);
    let heading = escaped(&heading);
    let mut out = String::with_capacity(16 * 1024);
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" \
         role=\"img\" aria-labelledby=\"{id}-title {id}-about\">"
    );
    let _ = writeln!(out, "<title id=\"{id}-title\">{heading}</title>");
    let _ = writeln!(
        out,
        "<desc id=\"{id}-about\">{}</desc>",
        escaped(&described)
    );
    if look == Look::Inside {
        let _ = writeln!(out, "<style>{STYLE}</style>");
    }
    let _ = writeln!(
        out,
        "<rect class=\"page\" width=\"{wide}\" height=\"{high}\"/>"
    );
    let _ = writeln!(
        out,
        "<text class=\"heading\" x=\"{MARGIN}\" y=\"{}\">{heading}</text>",
        MARGIN + 14
    );
    let left = MARGIN + (wide - 2 * MARGIN - scene.width()) / 2;
    let _ = writeln!(
        out,
        "<g transform=\"translate({left},{})\">",
        MARGIN + HEADING
    );
    scene.draw(&mut out);
    out.push_str("</g>\n</svg>\n");
    Ok(out)
}

/// What the ids of the file begin with, so that several can stand on one page.
fn id(workflow: &str) -> String {
    let word: String = workflow
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-' || *c == '_')
        .take(LONGEST_NAME)
        .collect();
    format!("workflow-{word}")
}

//! Tasks and what they depend on, as a picture: each below everything that it needs.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use super::scene::line;
use super::shape::{count, widest};
use super::text_width::{escaped, width};
use super::{HEADING, Look, MARGIN, STYLE, TooLarge};
use crate::layout::{Extent, Link, Point, arrange};
use crate::tasks::{TaskNode, TaskStatus, Wave};
use crate::text::{lines, shortened};

/// The longest line in a box, in characters, and how many there are.
const WIDE: usize = 26;
const MOST_LINES: usize = 3;
/// Sizes of the fonts, and of their lines.
const TEXT: (i64, i64) = (13, 17);
const SMALL: (i64, i64) = (11, 14);
/// More tasks than this are not laid out.
const MOST_TASKS: usize = 400;

/// A task with its words.
struct TaskBox<'a> {
    task: &'a TaskNode<'a>,
    title: Vec<String>,
    small: String,
    half: i64,
    height: i64,
}

impl<'a> TaskBox<'a> {
    fn of(task: &'a TaskNode<'a>, wave: &str) -> Self {
        let label = task.label.trim();
        let named = if label.is_empty() || label == task.id {
            task.id.to_owned()
        } else {
            format!("{}: {label}", task.id)
        };
        let title = lines(&shortened(&named, 4 * WIDE), WIDE, MOST_LINES);
        let status = task.status.spoken();
        let small = if wave.is_empty() {
            status.to_owned()
        } else {
            format!("{status}, {}", shortened(wave, WIDE))
        };
        let inside = widest(&title, TEXT.0).max(width(&small, SMALL.0));
        Self {
            task,
            half: (inside / 2 + 14).max(40),
            height: count(&title) * TEXT.1 + SMALL.1 + 16,
            title,
            small,
        }
    }

    fn extent(&self) -> Extent {
        Extent {
            left: self.half,
            right: self.half,
            height: self.height,
            reach: self.half - 8,
        }
    }

    fn draw(&self, out: &mut String, at: Point) {
        let _ = write!(
            out,
            "<g class=\"task {}\"><title>{}, {}</title><rect class=\"shape\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\"/>",
            self.task.status.word(),
            escaped(&shortened(self.task.id, 4 * WIDE)),
            escaped(&self.small),
            at.x - self.half,
            at.y,
            2 * self.half,
            self.height,
        );
        let mut y = at.y + 8 + 13;
        for line in &self.title {
            let _ = write!(
                out,
                "<text x=\"{}\" y=\"{y}\" text-anchor=\"middle\">{}</text>",
                at.x,
                escaped(line)
            );
            y += TEXT.1;
        }
        let _ = writeln!(
            out,
            "<text class=\"small\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text></g>",
            at.x,
            y - 2,
            escaped(&self.small)
        );
    }
}

/// Tasks and what they depend on as SVG, each with its status and the wave that it belongs to. `title` says what it is about.
///
/// # Errors
/// If there are more than any picture of them could show.
pub fn tasks_svg(title: &str, waves: &[Wave<'_>], look: Look) -> Result<String, TooLarge> {
    let several = waves.len() > 1;
    let tasks = waves.iter().flat_map(|wave| {
        let label = if wave.label.trim().is_empty() {
            wave.id
        } else {
            wave.label
        };
        let shown = if several { label } else { "" };
        wave.tasks.iter().map(move |task| TaskBox::of(task, shown))
    });
    let boxes: Vec<TaskBox<'_>> = tasks.collect();
    if boxes.len() > MOST_TASKS {
        return Err(TooLarge);
    }
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for (number, one) in boxes.iter().enumerate() {
        numbers.entry(one.task.id).or_insert(number);
    }
    let mut links = Vec::new();
    for (to, one) in boxes.iter().enumerate() {
        let needs: BTreeSet<&str> = one.task.needs.iter().copied().collect();
        for from in needs.into_iter().filter_map(|key| numbers.get(key)) {
            if *from != to {
                let words = Extent::default();
                links.push(Link {
                    from: *from,
                    to,
                    words,
                });
            }
        }
    }
    let extents: Vec<Extent> = boxes.iter().map(TaskBox::extent).collect();
    let layout = arrange(&extents, &links).ok_or(TooLarge)?;
    let heading = shortened(title, 80);
    let wide = layout.width.max(width(&heading, 16)) + 2 * MARGIN;
    let high = layout.height + HEADING + 2 * MARGIN;
    let done = boxes
        .iter()
        .filter(|one| one.task.status == TaskStatus::Completed);
    let (done, heading) = (done.count(), escaped(&heading));
    let mut out = String::with_capacity(8 * 1024);
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" \
         role=\"img\" aria-label=\"{heading}: {} tasks, {done} done\">",
        boxes.len()
    );
    if look == Look::Inside {
        let _ = writeln!(out, "<style>{STYLE}</style>");
    }
    let _ = writeln!(
        out,
        "<rect class=\"page\" width=\"{wide}\" height=\"{high}\"/><text class=\"heading\" x=\"{MARGIN}\" y=\"{}\">{heading}</text>\n\
         <g transform=\"translate({MARGIN},{})\">",
        MARGIN + 14,
        MARGIN + HEADING
    );
    for route in &layout.routes {
        line(&mut out, &route.straights);
    }
    for (one, at) in boxes.iter().zip(&layout.boxes) {
        one.draw(&mut out, *at);
    }
    out.push_str("</g>\n</svg>\n");
    Ok(out)
}

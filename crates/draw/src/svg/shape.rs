//! What stands for a state: its size, and how it is drawn.

use std::fmt::Write as _;

use super::text_width::{escaped, width};
use crate::layout::{Extent, Point};
use crate::picture::{LONGEST_NAME, Node};
use crate::text::{lines, shortened};
use machine::definition::{EndStatus, Kind};

/// The longest line in a box, in characters.
const WIDE: usize = 30;
/// Sizes of the fonts, and of their lines.
const TEXT: (i64, i64) = (13, 17);
const SMALL: (i64, i64) = (11, 14);
/// How far the sides of a `route` stick out.
const POINTED: i64 = 14;

/// A box with its words.
#[derive(Debug)]
pub(super) struct Shape {
    kind: Kind,
    class: &'static str,
    mark: &'static str,
    about: String,
    title: Vec<String>,
    small: Vec<String>,
    /// How far it reaches from its middle to either side.
    pub(super) half: i64,
    /// How tall it is.
    pub(super) height: i64,
}

impl Shape {
    /// Of a state that is no `each`.
    pub(super) fn of(node: &Node<'_>) -> Self {
        let title = lines(&shortened(node.title(), LONGEST_NAME), WIDE, 3);
        let mut small = Vec::new();
        if node.label.is_some() {
            small = lines(&shortened(node.name, LONGEST_NAME), WIDE + 6, 3);
        }
        if let Some(gate) = node.gate {
            small.push(format!("gate: {}", shortened(gate, WIDE)));
        }
        if let Some(visits) = node.visits.filter(|visits| *visits > 1) {
            small.push(times_of(visits));
        }
        let widest = widest(&title, TEXT.0).max(widest(&small, SMALL.0));
        let side = match node.kind {
            Kind::Route => POINTED + 6,
            Kind::Do | Kind::Each => 18,
            Kind::Work | Kind::Final => 14,
        };
        Self {
            kind: node.kind,
            class: class(node),
            mark: node.mark(),
            about: about(node),
            half: (widest / 2 + side).max(32),
            height: count(&title) * TEXT.1 + count(&small) * SMALL.1 + 16,
            title,
            small,
        }
    }

    /// How much room it takes, and where arrows may end.
    pub(super) fn extent(&self) -> Extent {
        let corner = match self.kind {
            Kind::Route => POINTED + 6,
            Kind::Final => self.height / 2,
            _ => 8,
        };
        Extent {
            left: self.half,
            right: self.half,
            height: self.height,
            reach: (self.half - corner).max(0),
        }
    }

    /// How much less far its side reaches, that much above or below its middle.
    pub(super) fn inset(&self, aside: i64) -> i64 {
        match self.kind {
            Kind::Route => POINTED * aside * 2 / self.height.max(1),
            _ => 0,
        }
    }

    /// Draws it with the middle of its upper side there.
    pub(super) fn draw(&self, out: &mut String, at: Point) {
        let (left, right) = (at.x - self.half, at.x + self.half);
        let (top, bottom) = (at.y, at.y + self.height);
        let wide = 2 * self.half;
        let high = self.height;
        let _ = write!(
            out,
            "<g class=\"{}{}\"><title>{}</title>",
            self.class,
            self.mark,
            escaped(&self.about)
        );
        let _ = match self.kind {
            Kind::Route => write!(
                out,
                "<path class=\"shape\" d=\"M{left},{middle}L{inner},{top}H{outer}L{right},{middle}L{outer},{bottom}H{inner}Z\"/>",
                middle = top + high / 2,
                inner = left + POINTED,
                outer = right - POINTED,
            ),
            Kind::Final => write!(
                out,
                "<rect class=\"shape\" x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\" rx=\"{}\"/>",
                high / 2
            ),
            Kind::Do | Kind::Each => write!(
                out,
                "<rect class=\"shape\" x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\"/>\
                 <path class=\"line\" d=\"M{},{top}V{bottom}M{},{top}V{bottom}\"/>",
                left + 6,
                right - 6
            ),
            Kind::Work => write!(
                out,
                "<rect class=\"shape\" x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\" rx=\"4\"/>"
            ),
        };
        let words = count(&self.title) * TEXT.1 + count(&self.small) * SMALL.1;
        let mut y = top + (high - words) / 2 + 13;
        for line in &self.title {
            let _ = write!(
                out,
                "<text x=\"{}\" y=\"{y}\" text-anchor=\"middle\">{}</text>",
                at.x,
                escaped(line)
            );
            y += TEXT.1;
        }
        y -= 2;
        for line in &self.small {
            let _ = write!(
                out,
                "<text class=\"small\" x=\"{}\" y=\"{y}\" text-anchor=\"middle\">{}</text>",
                at.x,
                escaped(line)
            );
            y += SMALL.1;
        }
        out.push_str("</g>\n");
    }
}

/// The class of a state, for its colours.
pub(super) fn class(node: &Node<'_>) -> &'static str {
    match node.kind {
        Kind::Work => "work",
        Kind::Do => "do",
        Kind::Route => "route",
        Kind::Each => "each",
        Kind::Final => match node.end {
            Some(EndStatus::Completed) | None => "final completed",
            Some(EndStatus::Failed | EndStatus::Error) => "final failed",
            Some(EndStatus::Cancelled | EndStatus::Aborted) => "final off",
        },
    }
}

/// What is said of a state where the picture is not seen, or pointed at.
pub(super) fn about(node: &Node<'_>) -> String {
    let mut about = match node.kind {
        Kind::Work => "work",
        Kind::Do => "do",
        Kind::Route => "route",
        Kind::Each => "each",
        Kind::Final => "final",
    }
    .to_owned();
    about.push(' ');
    about.push_str(&shortened(node.name, LONGEST_NAME));
    if let Some(items) = node.items {
        about.push_str(", of ");
        about.push_str(&shortened(items, LONGEST_NAME));
    }
    if let Some(gate) = node.gate {
        about.push_str(", behind the gate ");
        about.push_str(&shortened(gate, LONGEST_NAME));
    }
    if node.present {
        about.push_str(", present");
    }
    if let Some(visits) = node.visits {
        let _ = match visits {
            0 => write!(about, ", never reached"),
            some => write!(about, ", reached {}", times_of(some)),
        };
    }
    about
}

/// How often something was, in words.
pub(super) fn times_of(times: u32) -> String {
    match times {
        1 => "once".to_owned(),
        more => format!("{more} times"),
    }
}

/// The widest of these lines.
pub(super) fn widest(lines: &[String], size: i64) -> i64 {
    lines
        .iter()
        .map(|line| width(line, size))
        .max()
        .unwrap_or(0)
}

/// How many lines there are.
pub(super) fn count(lines: &[String]) -> i64 {
    i64::try_from(lines.len()).unwrap_or(i64::MAX)
}

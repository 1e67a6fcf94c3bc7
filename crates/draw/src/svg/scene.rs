//! The states of one level and the arrows between them, laid out. The states of an `each` are a level of their own,
//! inside of its frame.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::shape::{Shape, about, class, count, times_of, widest};
use super::text_width::{escaped, width};
use crate::layout::{Extent, Layout, Link, Point, arrange};
use crate::picture::{Arrow, LONGEST_NAME, Picture, Source};
use crate::text::{lines, shortened};
use machine::definition::Kind;

/// The longest line at an arrow, in characters; how many there are for one edge; how many edges one arrow tells of.
const WIDE: usize = 30;
const MOST_LINES: usize = 3;
const MOST_EDGES: usize = 4;
/// What a line begins with that goes on with the one above.
const INDENT: char = '\u{a0}';
/// The size of the font at an arrow, and of its lines.
const FONT: (i64, i64) = (11, 14);
/// The tip of an arrow: its length, and half its width.
const TIP: (i64, i64) = (8, 4);
/// How far an arrow from a state to itself sticks out.
const LOOP: i64 = 26;
/// Half the distance between the two ends of such an arrow.
const APART: i64 = 9;
/// Inside of a frame: the room for its title, and the blank at its other sides.
const TITLE: i64 = 34;
const BLANK: i64 = 16;

/// One level.
#[derive(Debug)]
pub(super) struct Scene {
    members: Vec<Member>,
    links: Vec<Words>,
    layout: Layout,
}

#[derive(Debug)]
struct Member {
    look: Look,
    /// What is written at its arrow to itself.
    back: Option<Words>,
}

#[derive(Debug)]
enum Look {
    Dot { radius: i64, about: &'static str },
    Anywhere,
    State(Shape),
    Frame(Frame),
}

/// An `each`.
#[derive(Debug)]
struct Frame {
    class: String,
    about: String,
    title: String,
    inside: Scene,
    half: i64,
    height: i64,
}

/// What is written at an arrow.
#[derive(Debug, Default)]
struct Words {
    class: String,
    is_taken: bool,
    about: String,
    lines: Vec<String>,
}

impl Words {
    fn width(&self) -> i64 {
        widest(&self.lines, FONT.0) + 2
    }

    fn height(&self) -> i64 {
        count(&self.lines) * FONT.1
    }

    /// The room right of the line.
    fn extent(&self) -> Extent {
        if self.lines.is_empty() {
            return Extent::default();
        }
        Extent {
            left: 2,
            right: self.width() + 8,
            height: self.height() + 4,
            reach: 0,
        }
    }

    fn draw(&self, out: &mut String, left: i64, top: i64) {
        let mut y = top + 11;
        for line in &self.lines {
            // Blanks at the beginning would not be shown.
            let (x, line) = match line.strip_prefix(INDENT) {
                Some(line) => (left + 8, line),
                None => (left, line.as_str()),
            };
            let _ = write!(
                out,
                "<text class=\"words\" x=\"{x}\" y=\"{y}\">{}</text>",
                escaped(line)
            );
            y += FONT.1;
        }
    }
}

impl Member {
    fn size(&self) -> (i64, i64) {
        match &self.look {
            Look::Dot { radius, .. } => (*radius, 2 * radius),
            Look::Anywhere => (width("any state", 11) / 2 + 10, 24),
            Look::State(shape) => (shape.half, shape.height),
            Look::Frame(frame) => (frame.half, frame.height),
        }
    }

    fn extent(&self) -> Extent {
        let (half, height) = self.size();
        let mut extent = match &self.look {
            Look::State(shape) => shape.extent(),
            _ => Extent {
                left: half,
                right: half,
                height,
                reach: (half - 12).max(0),
            },
        };
        if let Some(words) = &self.back {
            extent.right += LOOP + 6 + words.width();
        }
        extent
    }
}

impl Scene {
    /// All of it. Nothing if that is too much to be laid out.
    pub(super) fn of(picture: &Picture<'_>) -> Option<Self> {
        Self::level(picture, None)
    }

    fn level(picture: &Picture<'_>, frame: Option<usize>) -> Option<Self> {
        let mut members = Vec::new();
        let mut places: BTreeMap<Source, usize> = BTreeMap::new();
        let mut add = |source: Source, look: Look| {
            places.insert(source, members.len());
            members.push(Member { look, back: None });
        };
        match frame {
            Some(number) => add(
                Source::Items(number),
                Look::Dot {
                    radius: 5,
                    about: "each item begins here",
                },
            ),
            None => add(
                Source::Begin,
                Look::Dot {
                    radius: 7,
                    about: "the run begins here",
                },
            ),
        }
        for (number, node) in picture.nodes.iter().enumerate() {
            if node.parent != frame {
                continue;
            }
            let look = if node.kind == Kind::Each {
                Look::Frame(Frame::of(picture, number)?)
            } else {
                Look::State(Shape::of(node))
            };
            add(Source::State(number), look);
        }
        let anywhere = |arrow: &Arrow<'_>| arrow.from == Source::Anywhere;
        if frame.is_none() && picture.arrows.iter().any(anywhere) {
            add(Source::Anywhere, Look::Anywhere);
        }
        let mut ends: Vec<(usize, usize)> = Vec::new();
        let mut links: Vec<Words> = Vec::new();
        for ((from, to), words) in between(picture, frame, &places) {
            if from == to {
                let member = &mut members[from];
                if let Look::State(shape) = &mut member.look {
                    // Its words stand beside it, and need as much room.
                    shape.height = shape.height.max(words.height() + 4);
                }
                member.back = Some(words);
            } else {
                ends.push((from, to));
                links.push(words);
            }
        }
        let extents: Vec<Extent> = members.iter().map(Member::extent).collect();
        let ways: Vec<Link> = ends
            .iter()
            .zip(&links)
            .map(|((from, to), words)| Link {
                from: *from,
                to: *to,
                words: words.extent(),
            })
            .collect();
        let layout = arrange(&extents, &ways)?;
        Some(Self {
            members,
            links,
            layout,
        })
    }

    /// Its width.
    pub(super) fn width(&self) -> i64 {
        self.layout.width
    }

    /// Its height.
    pub(super) fn height(&self) -> i64 {
        self.layout.height
    }

    /// Draws it, its left upper corner at the origin.
    pub(super) fn draw(&self, out: &mut String) {
        // The way that was taken lies over all others.
        for is_taken in [false, true] {
            let links = self.links.iter().zip(&self.layout.routes);
            for (words, route) in links.filter(|(words, _)| words.is_taken == is_taken) {
                open(out, words);
                line(out, &route.straights);
                words.draw(out, route.words.x + 6, route.words.y + 2);
                out.push_str("</g>\n");
            }
        }
        for (member, at) in self.members.iter().zip(self.layout.boxes.iter().copied()) {
            let (half, height) = member.size();
            if let Some(words) = &member.back {
                open(out, words);
                let middle = at.y + height / 2;
                let inset = match &member.look {
                    Look::State(shape) => shape.inset(APART),
                    _ => 0,
                };
                around(out, at.x + half - inset, middle);
                words.draw(out, at.x + half + LOOP, middle - words.height() / 2);
                out.push_str("</g>\n");
            }
            match &member.look {
                Look::Dot { radius, about } => {
                    let _ = writeln!(
                        out,
                        "<circle class=\"dot\" cx=\"{}\" cy=\"{}\" r=\"{radius}\"><title>{about}</title></circle>",
                        at.x,
                        at.y + radius
                    );
                }
                Look::Anywhere => {
                    let _ = writeln!(
                        out,
                        "<g class=\"any\"><rect class=\"shape\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{height}\" rx=\"12\"/>\
                         <text class=\"small\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">any state</text></g>",
                        at.x - half,
                        at.y,
                        2 * half,
                        at.x,
                        at.y + 16
                    );
                }
                Look::State(shape) => shape.draw(out, at),
                Look::Frame(frame) => frame.draw(out, at),
            }
        }
    }
}

impl Frame {
    fn of(picture: &Picture<'_>, number: usize) -> Option<Self> {
        let node = &picture.nodes[number];
        let inside = Scene::level(picture, Some(number))?;
        let mut title = shortened(node.title(), LONGEST_NAME);
        if node.label.is_some() {
            let _ = write!(title, " ({})", shortened(node.name, LONGEST_NAME));
        }
        let set = shortened(node.items.unwrap_or_default(), LONGEST_NAME);
        let _ = write!(title, ": each of {set}");
        Some(Self {
            class: format!("{}{}", class(node), node.mark()),
            about: about(node),
            half: (inside.width().max(width(&title, 13)) + 2 * BLANK + 1) / 2,
            height: TITLE + inside.height() + BLANK,
            inside,
            title,
        })
    }

    fn draw(&self, out: &mut String, at: Point) {
        let left = at.x - self.half;
        let _ = write!(
            out,
            "<g class=\"{}\"><title>{}</title><rect class=\"shape\" x=\"{left}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"8\"/>\
             <text x=\"{}\" y=\"{}\">{}</text></g>\n<g transform=\"translate({},{})\">\n",
            self.class,
            escaped(&self.about),
            at.y,
            2 * self.half,
            self.height,
            left + BLANK,
            at.y + 21,
            escaped(&self.title),
            at.x - self.inside.width() / 2,
            at.y + TITLE
        );
        self.inside.draw(out);
        out.push_str("</g>\n");
    }
}

/// The arrows of a level, those between the same two together. One that crosses a frame begins, or ends, at the frame.
fn between(
    picture: &Picture<'_>,
    frame: Option<usize>,
    places: &BTreeMap<Source, usize>,
) -> Vec<((usize, usize), Words)> {
    let mut order: Vec<(usize, usize)> = Vec::new();
    let mut edges: BTreeMap<(usize, usize), Vec<(String, &Arrow<'_>)>> = BTreeMap::new();
    let lifted = |number: usize| match picture.nodes[number].parent {
        Some(parent) if frame.is_none() => parent,
        _ => number,
    };
    for arrow in &picture.arrows {
        let mut label = arrow.label();
        let inner = |number: usize| picture.nodes[number].parent;
        let (from, crosses) = match arrow.from {
            Source::State(number) => {
                let crosses = inner(number) != inner(arrow.to);
                (Source::State(lifted(number)), crosses)
            }
            Source::Items(number) => (Source::Items(number), inner(arrow.to) != Some(number)),
            other => (other, true),
        };
        // What stays inside of a frame is drawn there alone.
        if frame.is_none() && inner(arrow.to).is_some() && !crosses {
            continue;
        }
        if let (Source::State(number), true) = (arrow.from, from != arrow.from) {
            let name = shortened(picture.nodes[number].name, WIDE);
            label = format!("{name}, {label}");
        }
        let to = Source::State(lifted(arrow.to));
        let (Some(from), Some(to)) = (places.get(&from), places.get(&to)) else {
            continue;
        };
        let all = edges.entry((*from, *to)).or_insert_with(|| {
            order.push((*from, *to));
            Vec::new()
        });
        all.push((label, arrow));
    }
    order
        .into_iter()
        .filter_map(|ends| Some((ends, words(picture, &edges.remove(&ends)?))))
        .collect()
}

/// What happens at arrows, each once. That work is reported is what is expected, and goes without saying.
fn heads(edges: &[(String, &Arrow<'_>)]) -> Vec<String> {
    let mut heads: Vec<String> = Vec::new();
    for (_, arrow) in edges {
        if !heads.contains(&arrow.head) {
            heads.push(arrow.head.clone());
        }
    }
    let expected = |head: &String| head.is_empty() || head == "report";
    if heads.iter().all(expected) {
        heads.clear();
    }
    heads
}

fn words(picture: &Picture<'_>, edges: &[(String, &Arrow<'_>)]) -> Words {
    let mut written: Vec<String> = Vec::new();
    let labels: Vec<String> = if picture.is_of_run {
        heads(edges)
    } else {
        edges.iter().map(|(label, _)| label.clone()).collect()
    };
    for label in labels.iter().take(MOST_EDGES) {
        let label = if label.is_empty() {
            "at once"
        } else {
            label.as_str()
        };
        for (number, line) in lines(label, WIDE, MOST_LINES).into_iter().enumerate() {
            // A dot tells where the next edge begins; a lone one needs none.
            written.push(match (labels.len(), number) {
                (1, _) => line,
                (_, 0) => format!("• {line}"),
                _ => format!("{INDENT}{line}"),
            });
        }
    }
    if let [label] = &labels[..]
        && label.is_empty()
    {
        written.clear();
    }
    if labels.len() > MOST_EDGES {
        written.push(format!("… {} more", labels.len() - MOST_EDGES));
    }
    let taken: Option<u32> = edges.iter().filter_map(|(_, arrow)| arrow.taken).max();
    let again = |times: &u32| *times > 0 && edges.iter().all(|(_, arrow)| arrow.is_to_itself());
    if let Some(times) = taken.filter(again) {
        written.push(times_of(times));
    }
    let mut told = String::new();
    let mut class = String::from("arrow");
    match taken {
        Some(0) => class.push_str(" untaken"),
        Some(_) => class.push_str(" taken"),
        None => {}
    }
    for (label, arrow) in edges {
        if !told.is_empty() {
            told.push_str("; ");
        }
        let from = match arrow.from {
            Source::State(number) => picture.nodes[number].name,
            Source::Anywhere => "any state",
            Source::Begin | Source::Items(_) => "begin",
        };
        let from = shortened(from, LONGEST_NAME);
        let to = shortened(picture.nodes[arrow.to].name, LONGEST_NAME);
        let _ = write!(told, "{from} → {to}");
        if !label.is_empty() {
            let _ = write!(told, ": {label}");
        }
        if let Some(times) = arrow.taken.filter(|times| *times > 0) {
            let _ = write!(told, " ({})", times_of(times));
        }
    }
    if edges
        .iter()
        .any(|(_, arrow)| arrow.from == Source::Anywhere)
    {
        class.push_str(" anywhere");
    }
    Words {
        class,
        is_taken: taken.is_some_and(|times| times > 0),
        about: told,
        lines: written,
    }
}

fn open(out: &mut String, words: &Words) {
    let _ = write!(
        out,
        "<g class=\"{}\"><title>{}</title>",
        words.class,
        escaped(&words.about)
    );
}

/// The line of an arrow, and its tip.
pub(super) fn line(out: &mut String, straights: &[(Point, Point)]) {
    let mut path = String::new();
    let mut before: Option<Point> = None;
    let mut downwards = true;
    for (number, (from, to)) in straights.iter().enumerate() {
        let Some(last) = before else {
            let _ = write!(path, "M{},{}V{}", from.x, from.y, to.y);
            before = Some(*to);
            continue;
        };
        downwards = from.y > last.y;
        let (mut begin, mut end) = (from.y, to.y);
        if number + 1 == straights.len() {
            let tip = if downwards { TIP.0 } else { -TIP.0 };
            begin -= tip;
            end -= tip;
        }
        if last.x == from.x {
            let _ = write!(path, "V{end}");
        } else {
            let middle = i64::midpoint(last.y, begin);
            let _ = write!(
                path,
                "C{},{middle} {},{middle} {},{begin}V{end}",
                last.x, from.x, from.x
            );
        }
        before = Some(*to);
    }
    if let Some(Point { x, y }) = before {
        let base = if downwards { y - TIP.0 } else { y + TIP.0 };
        let _ = write!(
            out,
            "<path class=\"line\" d=\"{path}\"/><path class=\"head\" d=\"M{x},{y}L{},{base}H{}Z\"/>",
            x - TIP.1,
            x + TIP.1
        );
    }
}

/// An arrow from the right side of a state to itself.
fn around(out: &mut String, side: i64, middle: i64) {
    let (top, bottom) = (middle - APART, middle + APART);
    let _ = write!(
        out,
        "<path class=\"line\" d=\"M{side},{top}C{far},{} {far},{} {base},{bottom}\"/>\
         <path class=\"head\" d=\"M{side},{bottom}L{base},{}V{}Z\"/>",
        top - 4,
        bottom + 4,
        bottom - TIP.1,
        bottom + TIP.1,
        far = side + LOOP,
        base = side + TIP.0,
    );
}

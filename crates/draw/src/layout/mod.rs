//! Where boxes and the arrows between them lie: in layers from top to bottom, each arrow's words beside it.
//!
//! Arrows that lead back are turned round for the time being, and every box gets the layer behind the last one that leads
//! to it ([`layers`]). An arrow has a slot of its own in every layer it passes, one of them as large as its words, so
//! that nothing lies on anything. The slots of a layer are put in an order with few crossings ([`order`]), then moved so
//! that long arrows run straight ([`place`]). All in whole numbers and in the order of what was given: the same input
//! gives the same drawing everywhere.

mod layers;
mod order;
mod place;
#[cfg(test)]
mod tests;

use layers::{Layers, Slot};

/// More slots than this are not laid out: nobody could read it, and the work would grow without bounds.
pub(super) const MOST_SLOTS: usize = 6000;

/// The distance between two slots of a layer.
const BESIDE: i64 = 18;
/// The smallest and the largest distance between two layers.
const BETWEEN: (i64, i64) = (22, 64);
/// The largest distance between two arrows at the same side of a box.
const PORTS: i64 = 26;

/// Something that is drawn at a place, around the line through its anchor.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extent {
    /// How far it reaches to the left of its anchor.
    pub(super) left: i64,
    /// How far it reaches to the right of it, all that belongs to it included.
    pub(super) right: i64,
    /// How tall it is.
    pub(super) height: i64,
    /// How far from its anchor, to either side, arrows may end.
    pub(super) reach: i64,
}

/// An arrow between two different boxes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    /// The box it begins at.
    pub(super) from: usize,
    /// The box it leads to.
    pub(super) to: usize,
    /// The room for its words, beside its line.
    pub(super) words: Extent,
}

/// A point of the drawing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Point {
    /// From the left.
    pub(super) x: i64,
    /// From the top.
    pub(super) y: i64,
}

/// The way of an arrow.
#[derive(Debug, Clone, Default)]
pub(super) struct Route {
    /// Pieces that run straight down, or straight up, each from its first point to its second; a curve joins one to
    /// the next. Nothing else lies on either.
    pub(super) straights: Vec<(Point, Point)>,
    /// Where its line passes its words: the top of their room.
    pub(super) words: Point,
}

/// Where everything lies.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    /// The anchor and the top of each box.
    pub(super) boxes: Vec<Point>,
    /// The way of each arrow.
    pub(super) routes: Vec<Route>,
    /// The width of it all.
    pub(super) width: i64,
    /// The height of it all.
    pub(super) height: i64,
}

/// Lays out boxes and arrows; nothing if that would be more than anybody could read.
pub(super) fn arrange(boxes: &[Extent], links: &[Link]) -> Option<Layout> {
    let mut layers = layers::assign(boxes, links)?;
    order::reduce_crossings(&mut layers);
    let across = place::across(&layers);
    Some(finish(boxes, links, &layers, &across))
}

/// The top and the height of a layer.
#[derive(Debug, Clone, Copy, Default)]
struct Band {
    top: i64,
    height: i64,
}

fn finish(boxes: &[Extent], links: &[Link], layers: &Layers, across: &[i64]) -> Layout {
    let edge = |slot: &usize| across[*slot] - layers.slots[*slot].extent.left;
    let shift = -layers.rows.iter().flatten().map(edge).min().unwrap_or(0);
    let x: Vec<i64> = across.iter().map(|x| x + shift).collect();
    let bands = bands(layers, &x);
    let mut layout = Layout {
        boxes: vec![Point::default(); boxes.len()],
        routes: vec![Route::default(); links.len()],
        width: 0,
        height: bands.last().map_or(0, |band| band.top + band.height),
    };
    for (row, band) in layers.rows.iter().zip(&bands) {
        for slot in row {
            let Slot { extent, node, .. } = &layers.slots[*slot];
            layout.width = layout.width.max(x[*slot] + extent.right);
            if let Some(node) = node {
                layout.boxes[*node] = Point {
                    x: x[*slot],
                    y: band.top + (band.height - extent.height) / 2,
                };
            }
        }
    }
    let (below, above) = ports(boxes, layers, &x);
    for (number, chain) in layers.chains.iter().enumerate() {
        let ends = (below[number], above[number]);
        layout.routes[number] = route(layers, &bands, &layout.boxes, &x, chain, ends);
    }
    layout
}

/// Layers far apart where arrows between them go far to the side, else close together.
fn bands(layers: &Layers, x: &[i64]) -> Vec<Band> {
    let mut top = 0;
    let mut bands = Vec::with_capacity(layers.rows.len());
    for row in &layers.rows {
        let tallest = row.iter().map(|slot| layers.slots[*slot].extent.height);
        let height = tallest.max().unwrap_or(0);
        bands.push(Band { top, height });
        let aside = row
            .iter()
            .flat_map(|slot| {
                let below = layers.below[*slot].iter();
                below.map(move |next| (x[*slot] - x[*next]).abs())
            })
            .max()
            .unwrap_or(0);
        top += height + (BETWEEN.0 + aside / 8).min(BETWEEN.1);
    }
    bands
}

/// Where each arrow meets the lower side of its upper box, and the upper side of its lower box: spread in the order in
/// which they come, so that they do not cross there.
fn ports(boxes: &[Extent], layers: &Layers, x: &[i64]) -> (Vec<i64>, Vec<i64>) {
    let mut at_bottom: Vec<Vec<(i64, usize)>> = vec![Vec::new(); boxes.len()];
    let mut at_top = at_bottom.clone();
    for (number, chain) in layers.chains.iter().enumerate() {
        if let (Some(first), Some(last)) = (chain.bends.first(), chain.bends.last()) {
            at_bottom[chain.upper].push((x[*first], number));
            at_top[chain.lower].push((x[*last], number));
        }
    }
    let spread = |sides: Vec<Vec<(i64, usize)>>| {
        let mut ports = vec![0; layers.chains.len()];
        for (node, mut side) in sides.into_iter().enumerate() {
            side.sort_unstable();
            let count = i64::try_from(side.len()).unwrap_or(i64::MAX);
            let step = (2 * boxes[node].reach / (count + 1)).min(PORTS);
            let mut at = x[node] - step * (count - 1) / 2;
            for (_, number) in side {
                ports[number] = at;
                at += step;
            }
        }
        ports
    };
    (spread(at_bottom), spread(at_top))
}

fn route(
    layers: &Layers,
    bands: &[Band],
    boxes: &[Point],
    x: &[i64],
    chain: &layers::Chain,
    (below, above): (i64, i64),
) -> Route {
    let extent = |node: usize| layers.slots[node].extent;
    let piece = |x: i64, from: i64, to: i64| (Point { x, y: from }, Point { x, y: to });
    let mut straights = Vec::with_capacity(chain.bends.len() + 2);
    let mut words = Point::default();
    let upper = bands[layers.slots[chain.upper].row];
    let bottom = boxes[chain.upper].y + extent(chain.upper).height;
    straights.push(piece(below, bottom, upper.top + upper.height));
    for bend in &chain.bends {
        let band = bands[layers.slots[*bend].row];
        straights.push(piece(x[*bend], band.top, band.top + band.height));
        if layers.slots[*bend].has_words {
            words = Point {
                x: x[*bend],
                y: band.top + (band.height - layers.slots[*bend].extent.height) / 2,
            };
        }
    }
    let lower = bands[layers.slots[chain.lower].row];
    straights.push(piece(above, lower.top, boxes[chain.lower].y));
    if chain.turned {
        straights.reverse();
        for (from, to) in &mut straights {
            std::mem::swap(from, to);
        }
    }
    Route { straights, words }
}

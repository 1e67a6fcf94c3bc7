//! Nothing lies on anything, and every arrow gets to where it leads.

use proptest::prelude::*;

use super::{Extent, Layout, Link, MOST_SLOTS, Point, arrange};

#[derive(Debug, Clone, Copy)]
struct Area {
    left: i64,
    top: i64,
    right: i64,
    bottom: i64,
}

impl Area {
    fn of(at: Point, extent: &Extent) -> Self {
        Self {
            left: at.x - extent.left,
            top: at.y,
            right: at.x + extent.right,
            bottom: at.y + extent.height,
        }
    }

    fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// A link without words.
fn plain(from: usize, to: usize) -> Link {
    let words = Extent::default();
    Link { from, to, words }
}

fn boxes() -> impl Strategy<Value = Vec<Extent>> {
    let one = (8_i64..120, 0_i64..60, 10_i64..90).prop_map(|(half, more, height)| Extent {
        left: half,
        right: half + more,
        height,
        reach: half - 6,
    });
    proptest::collection::vec(one, 1..14)
}

fn links(count: usize) -> impl Strategy<Value = Vec<Link>> {
    let one = (0..count, 0..count, 0_i64..160, 0_i64..60)
        .prop_filter("arrows to itself are not laid out", |(from, to, ..)| {
            from != to
        })
        .prop_map(|(from, to, width, height)| Link {
            from,
            to,
            words: Extent {
                left: width.min(2),
                right: width,
                height,
                reach: 0,
            },
        });
    // One box alone has no arrows that lead anywhere else.
    proptest::collection::vec(one, if count > 1 { 0..30 } else { 0..1 })
}

fn graphs() -> impl Strategy<Value = (Vec<Extent>, Vec<Link>)> {
    boxes().prop_flat_map(|boxes| {
        let count = boxes.len();
        let links = if count > 1 {
            links(count).boxed()
        } else {
            Just(Vec::new()).boxed()
        };
        (Just(boxes), links)
    })
}

fn areas(boxes: &[Extent], links: &[Link], layout: &Layout) -> Vec<Area> {
    let placed = layout.boxes.iter().zip(boxes);
    let words = layout.routes.iter().zip(links);
    placed
        .map(|(at, extent)| Area::of(*at, extent))
        .chain(words.map(|(route, link)| Area::of(route.words, &link.words)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_lies_on_anything((boxes, links) in graphs()) {
        let layout = arrange(&boxes, &links).expect("a small one");
        let areas = areas(&boxes, &links, &layout);
        for (number, one) in areas.iter().enumerate() {
            prop_assert!(one.left >= 0 && one.top >= 0, "{one:?}");
            prop_assert!(one.right <= layout.width && one.bottom <= layout.height, "{one:?} {layout:?}");
            for other in &areas[number + 1..] {
                prop_assert!(!one.meets(other), "{one:?} {other:?}");
            }
        }
        for route in &layout.routes {
            for (from, to) in &route.straights {
                let line = Area {
                    left: from.x,
                    right: from.x + 1,
                    top: from.y.min(to.y) + 1,
                    bottom: from.y.max(to.y) - 1,
                };
                for one in &areas[..boxes.len()] {
                    prop_assert!(line.top >= line.bottom || !one.meets(&line), "{line:?} {one:?}");
                }
            }
        }
    }

    #[test]
    fn arrows_go_from_where_they_begin_to_where_they_lead((boxes, links) in graphs()) {
        let layout = arrange(&boxes, &links).expect("a small one");
        for (link, route) in links.iter().zip(&layout.routes) {
            let (Some((first, _)), Some((_, last))) = (route.straights.first(), route.straights.last()) else {
                return Err(TestCaseError::fail("no line"));
            };
            for (end, node) in [(first, link.from), (last, link.to)] {
                let (at, extent) = (layout.boxes[node], boxes[node]);
                prop_assert!(end.y == at.y || end.y == at.y + extent.height, "{end:?} {at:?}");
                prop_assert!((end.x - at.x).abs() <= extent.reach, "{end:?} {at:?}");
            }
            // A piece never turns round.
            let down = last.y > first.y;
            for pair in route.straights.windows(2) {
                prop_assert_eq!(pair[0].1.y < pair[1].0.y, down);
            }
        }
    }

    #[test]
    fn the_same_is_laid_out_the_same((boxes, links) in graphs()) {
        let places = |layout: Layout| (layout.boxes, layout.width, layout.height);
        let once = arrange(&boxes, &links).map(places);
        prop_assert_eq!(once, arrange(&boxes, &links).map(places));
    }
}

#[test]
fn a_chain_runs_straight_down() {
    let one = Extent {
        left: 30,
        right: 30,
        height: 20,
        reach: 20,
    };
    let links = [1, 2, 3].map(|to| plain(to - 1, to));
    let layout = arrange(&[one; 4], &links).expect("a small one");
    assert!(layout.boxes.iter().all(|at| at.x == 30), "{layout:?}");
    assert!(layout.boxes.is_sorted_by_key(|at| at.y), "{layout:?}");
}

#[test]
fn nothing_is_laid_out_where_nothing_is() {
    let layout = arrange(&[], &[]).expect("an empty one");
    assert_eq!((layout.width, layout.height), (0, 0));
}

#[test]
fn what_nobody_could_read_is_not_laid_out() {
    let boxes = vec![Extent::default(); 400];
    // Every box leads to the last one, past all others.
    let links: Vec<Link> = (0..399)
        .flat_map(|from| [plain(from, from + 1), plain(from, 399)])
        .collect();
    assert!(arrange(&boxes, &links).is_none());
    assert!(arrange(&vec![Extent::default(); MOST_SLOTS + 1], &[]).is_none());
}

//! What is counted once however often a report names it.

/// Something with a place, that can be told of several times.
pub(super) trait Mergeable: Copy {
    /// What makes two of them the same.
    type Place: Ord;
    /// Where it is.
    fn place(&self) -> Self::Place;
    /// Takes in what another one says of the same place.
    fn absorb(&mut self, other: Self);
}

/// A collection in which each place is there once, after [`Distinct::settle`].
///
/// Adding is cheap in the order of places, which is how tools write them; in any other order it is sorted later. What is
/// told again and again takes no more than twice the memory of what is different.
pub(super) struct Distinct<T> {
    told: Vec<T>,
    /// How many of `told`, from the front, are in order and different.
    settled: usize,
}

impl<T: Mergeable> Distinct<T> {
    pub(super) const fn new() -> Self {
        Self {
            told: Vec::new(),
            settled: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.told.clear();
        self.settled = 0;
    }

    pub(super) fn add(&mut self, new: T) {
        let in_order = self.settled == self.told.len();
        if let Some(last) = self.told.last_mut() {
            if last.place() == new.place() {
                last.absorb(new);
                return;
            }
            if in_order && last.place() < new.place() {
                self.settled += 1;
            }
        } else {
            self.settled = 1;
        }
        self.told.push(new);
        if self.told.len() > self.settled.saturating_mul(2).saturating_add(1024) {
            self.settle();
        }
    }

    /// Takes in all of another collection, which keeps its memory for the next.
    pub(super) fn take_in(&mut self, other: &mut Self) {
        if self.told.is_empty() {
            self.told.clone_from(&other.told);
            self.settled = other.settled;
        } else {
            for &one in &other.told {
                self.add(one);
            }
        }
        other.clear();
    }

    /// All of them, each place once, in order.
    pub(super) fn settle(&mut self) -> &[T] {
        if self.settled < self.told.len() {
            self.told.sort_by_key(T::place);
            self.told.dedup_by(|next, kept| {
                let same = next.place() == kept.place();
                if same {
                    kept.absorb(*next);
                }
                same
            });
            self.settled = self.told.len();
        }
        &self.told
    }
}

/// Something of which only the name matters: a function, a branch. Names are kept as hashes, the lowest bit of which says
/// whether it was reached.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit(u64);

impl Hit {
    pub(super) fn new(name: &[u8], reached: bool) -> Self {
        // 64-bit FNV-1a.
        let hash = name.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(hash & !1 | u64::from(reached))
    }

    pub(super) const fn is_reached(self) -> bool {
        self.0 & 1 == 1
    }
}

impl Mergeable for Hit {
    type Place = u64;

    fn place(&self) -> u64 {
        self.0 >> 1
    }

    fn absorb(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Up to 32 lines of a file that stand together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lines {
    first: u32,
    known: u32,
    reached: u32,
}

impl Lines {
    pub(super) const fn new(line: u32, reached: bool) -> Self {
        let bit = 1 << (line % 32);
        Self {
            first: line / 32,
            known: bit,
            reached: if reached { bit } else { 0 },
        }
    }

    /// No line behind this one is told of.
    pub(super) fn last(all: &[Self]) -> u32 {
        all.last()
            .map_or(0, |lines| lines.first.saturating_mul(32).saturating_add(31))
    }

    /// Whether a line was reached, by all that is told of a file, in order; `None` where nothing is told of it.
    pub(super) fn told(all: &[Self], line: u32) -> Option<bool> {
        let at = all.binary_search_by_key(&(line / 32), |lines| lines.first);
        let lines = all[at.ok()?];
        let bit = 1 << (line % 32);
        (lines.known & bit != 0).then_some(lines.reached & bit != 0)
    }

    /// How many there are, and how many of them were reached.
    pub(super) fn count(all: &[Self]) -> super::Metric {
        all.iter()
            .fold(super::Metric::default(), |sum, lines| super::Metric {
                covered: sum.covered + u64::from(lines.reached.count_ones()),
                total: sum.total + u64::from(lines.known.count_ones()),
            })
    }
}

impl Mergeable for Lines {
    type Place = u32;

    fn place(&self) -> u32 {
        self.first
    }

    fn absorb(&mut self, other: Self) {
        self.known |= other.known;
        self.reached |= other.reached;
    }
}

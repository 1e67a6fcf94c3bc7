//! The items of a large set as one piece of bytes: an item is parsed when somebody looks at it.
//!
//! A run of ten thousand items is loaded anew for every command, and most commands look at one or two of
//! them. So the items lie apart from the rest of a snapshot, one line each, with tables beside them that
//! find a line by its key, say how many stand where, and who needs whom. Nothing of that is the truth: the
//! journal is.
//!
//! First comes a line of text with the sizes, then tables of numbers (32 bits each, little end first), then
//! the head, the items and the waves as lines of JSON. An item's line begins with the letter of its status.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::tally::Tally;
use super::{Item, ItemStatus};

/// What every pack begins with; the number is that of its form.
const MAGIC: &str = "tramline items 1";
/// Items are made room for in groups of this many, when the first of a group is looked at.
const CHUNK: usize = 64;

/// The items of a large set, packed.
#[derive(Debug)]
pub struct Pack {
    bytes: Vec<u8>,
    /// Under which it is kept.
    name: OnceLock<String>,
    sections: Sections,
    head: Head,
    chunks: Vec<OnceLock<Chunk>>,
}

type Chunk = Box<[OnceLock<Option<Line>>]>;

/// A line, parsed.
#[derive(Debug)]
struct Line {
    key: String,
    item: Item,
}

/// How many there are of everything, and where it begins.
#[derive(Debug, Clone, Copy, Default)]
struct Sections {
    items: usize,
    waves: usize,
    starts: usize,
    sorted: usize,
    wave_starts: usize,
    need_starts: usize,
    dependents: usize,
    dependents_count: usize,
    lines: usize,
    wave_lines: usize,
}

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    /// The fields that every item has that is written as a list of values.
    columns: Vec<String>,
    /// The field with the keys of what an item needs, that the table of dependents was made from.
    needs: Option<String>,
    /// How many items stand where: open, active, done, failed.
    standing: [usize; 4],
    /// How many items have which text as their status.
    named: Vec<(String, usize)>,
    /// Which items were skipped.
    failed: Vec<usize>,
}

/// The fields of an item on its line.
enum Cells {
    Values(Vec<Value>),
    Fields(Map<String, Value>),
}

impl<'de> Deserialize<'de> for Cells {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Cells;

            fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                to.write_str("values or fields")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Cells, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(Cells::Values(values))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Cells, A::Error> {
                let mut fields = Map::new();
                while let Some((name, value)) = map.next_entry()? {
                    fields.insert(name, value);
                }
                Ok(Cells::Fields(fields))
            }
        }

        deserializer.deserialize_any(Either)
    }
}

fn letter(status: ItemStatus) -> char {
    match status {
        ItemStatus::Open => 'o',
        ItemStatus::Active => 'a',
        ItemStatus::Done => 'd',
        ItemStatus::Failed => 'f',
    }
}

fn standing(letter: u8) -> Option<ItemStatus> {
    Some(match letter {
        b'o' => ItemStatus::Open,
        b'a' => ItemStatus::Active,
        b'd' => ItemStatus::Done,
        b'f' => ItemStatus::Failed,
        _ => return None,
    })
}

/// Writes numbers as a table; none that is too great for it is lost silently.
fn table(into: &mut Vec<u8>, numbers: impl IntoIterator<Item = usize>) -> Option<()> {
    for number in numbers {
        into.extend_from_slice(&u32::try_from(number).ok()?.to_le_bytes());
    }
    Some(())
}

/// Where each of the lines begins in all of them, and where the last one ends.
fn starts(lines: &[String]) -> impl Iterator<Item = usize> {
    std::iter::once(0).chain(lines.iter().scan(0, |end, line| {
        *end += line.len();
        Some(*end)
    }))
}

fn json(value: &impl Serialize) -> Option<String> {
    serde_json::to_string(value).ok()
}

impl Pack {
    /// Packs `items`, which need each other by the keys in the field `needs`. None where they take more than
    /// four gigabytes.
    pub(super) fn of<'a>(
        items: impl Iterator<Item = (&'a str, &'a Item)>,
        needs: Option<&str>,
    ) -> Option<Self> {
        let items: Vec<(&str, &Item)> = items.collect();
        let columns: Vec<String> = items
            .first()
            .map(|(_, item)| item.fields.keys().cloned().collect())
            .unwrap_or_default();
        let mut lines = Vec::with_capacity(items.len());
        let mut tokens = Vec::with_capacity(items.len());
        for (key, item) in &items {
            let token = json(key)?;
            let cells = if item.fields.keys().eq(&columns) {
                json(&item.fields.values().collect::<Vec<_>>())?
            } else {
                json(&*item.fields)?
            };
            lines.push(format!("{}[{token},{cells}]\n", letter(item.status)));
            tokens.push(token);
        }
        let mut sorted: Vec<usize> = (0..items.len()).collect();
        sorted.sort_unstable_by(|one, other| tokens[*one].cmp(&tokens[*other]));

        let tally = Tally::of(items.iter().map(|(_, item)| *item));
        let mut waves = Vec::with_capacity(tally.waves.len());
        for (wave, counts) in &tally.waves {
            waves.push(format!(" [{},{}]\n", json(wave)?, json(counts)?));
        }
        // The space stands where the letter of an item stands, so that both are found alike.
        waves.sort_unstable();

        let (need_starts, dependents) = dependents(&items, needs);
        let with = |wanted: ItemStatus| {
            let all = items.iter().enumerate();
            all.filter(move |(_, (_, item))| item.status == wanted)
                .map(|(at, _)| at)
                .collect()
        };
        let head = json(&Head {
            columns,
            needs: needs.map(str::to_owned),
            standing: tally.standing,
            named: tally.named.into_iter().collect(),
            failed: with(ItemStatus::Failed),
        })?;

        let mut first = MAGIC.to_owned();
        let sizes = [items.len(), waves.len(), dependents.len(), head.len()];
        let long = |lines: &[String]| lines.iter().map(String::len).sum::<usize>();
        for size in sizes.into_iter().chain([long(&lines), long(&waves)]) {
            let _ = write!(first, " {size}");
        }
        first.push('\n');
        let mut bytes = first.into_bytes();
        table(&mut bytes, starts(&lines))?;
        table(&mut bytes, sorted)?;
        table(&mut bytes, starts(&waves))?;
        table(&mut bytes, need_starts)?;
        table(&mut bytes, dependents)?;
        bytes.extend_from_slice(head.as_bytes());
        for line in lines.iter().chain(&waves) {
            bytes.extend_from_slice(line.as_bytes());
        }
        Self::opened(bytes)
    }

    /// The pack that these bytes are, kept under `name`. Whoever kept them says whether they are as they were:
    /// here only their form is looked at.
    pub fn open(name: &str, bytes: Vec<u8>) -> Option<Self> {
        let pack = Self::opened(bytes)?;
        pack.named(name);
        Some(pack)
    }

    fn opened(bytes: Vec<u8>) -> Option<Self> {
        let end = bytes.iter().take(256).position(|byte| *byte == b'\n')?;
        let first = std::str::from_utf8(bytes.get(..end)?).ok()?;
        let sizes: Vec<usize> = first
            .strip_prefix(MAGIC)?
            .split_ascii_whitespace()
            .map(|size| size.parse().ok())
            .collect::<Option<_>>()?;
        let [items, waves, dependents, head, lines, wave_lines] = sizes[..] else {
            return None;
        };
        let mut at = end + 1;
        let mut take = |size: Option<usize>| {
            let from = at;
            at = at.checked_add(size?)?;
            Some(from)
        };
        let numbers = |count: usize| count.checked_mul(4);
        let sections = Sections {
            items,
            waves,
            starts: take(numbers(items.checked_add(1)?))?,
            sorted: take(numbers(items))?,
            wave_starts: take(numbers(waves.checked_add(1)?))?,
            need_starts: take(numbers(items.checked_add(1)?))?,
            dependents: take(numbers(dependents))?,
            dependents_count: dependents,
            lines: 0,
            wave_lines: 0,
        };
        let head_at = take(Some(head))?;
        let sections = Sections {
            lines: take(Some(lines))?,
            wave_lines: take(Some(wave_lines))?,
            ..sections
        };
        let end = take(Some(0))?;
        if end != bytes.len() {
            return None;
        }
        let head = serde_json::from_slice(bytes.get(head_at..sections.lines)?).ok()?;
        let mut chunks = Vec::new();
        chunks.resize_with(items.div_ceil(CHUNK), OnceLock::new);
        Some(Self {
            bytes,
            name: OnceLock::new(),
            sections,
            head,
            chunks,
        })
    }

    /// The bytes, to be kept.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Under which it is kept, if it is.
    pub fn name(&self) -> Option<&str> {
        self.name.get().map(String::as_str)
    }

    /// It is kept under `name` now.
    pub(super) fn named(&self, name: &str) {
        // Bytes have one name: a second one would be the same.
        let _ = self.name.set(name.to_owned());
    }

    pub(super) fn len(&self) -> usize {
        self.sections.items
    }

    fn number(&self, table: usize, at: usize) -> Option<usize> {
        let from = table.checked_add(at.checked_mul(4)?)?;
        let bytes = self.bytes.get(from..from.checked_add(4)?)?;
        usize::try_from(u32::from_le_bytes(bytes.try_into().ok()?)).ok()
    }

    fn range(&self, table: usize, at: usize) -> Option<Range<usize>> {
        Some(self.number(table, at)?..self.number(table, at + 1)?)
    }

    fn text(&self, table: usize, lines: usize, at: usize) -> Option<&[u8]> {
        let range = self.range(table, at)?;
        self.bytes.get(lines + range.start..lines + range.end)
    }

    fn raw(&self, at: usize) -> Option<&[u8]> {
        let at = (at < self.sections.items).then_some(at)?;
        self.text(self.sections.starts, self.sections.lines, at)
    }

    fn wave_text(&self, at: usize) -> Option<&[u8]> {
        let at = (at < self.sections.waves).then_some(at)?;
        self.text(self.sections.wave_starts, self.sections.wave_lines, at)
    }

    fn line(&self, at: usize) -> Option<&Line> {
        if at >= self.len() {
            return None;
        }
        let chunk = self.chunks.get(at / CHUNK)?.get_or_init(|| {
            let mut chunk = Vec::new();
            chunk.resize_with(CHUNK, OnceLock::new);
            chunk.into()
        });
        chunk
            .get(at % CHUNK)?
            .get_or_init(|| self.parsed(at))
            .as_ref()
    }

    fn parsed(&self, at: usize) -> Option<Line> {
        let (status, json) = self.raw(at)?.split_first()?;
        let (key, cells): (String, Cells) = serde_json::from_slice(json).ok()?;
        let fields = match cells {
            Cells::Values(values) => self.head.columns.iter().cloned().zip(values).collect(),
            Cells::Fields(fields) => fields,
        };
        Some(Line {
            key,
            item: Item {
                fields: Arc::new(fields),
                status: standing(*status)?,
            },
        })
    }

    /// The item at that place, with its key.
    pub(super) fn nth(&self, at: usize) -> Option<(&str, &Item)> {
        let line = self.line(at)?;
        Some((&line.key, &line.item))
    }

    /// Where the item at that place stands, without a look at the rest of it.
    pub(super) fn status(&self, at: usize) -> Option<ItemStatus> {
        standing(*self.raw(at)?.first()?)
    }

    /// The place of the item with that key.
    pub(super) fn position(&self, key: &str) -> Option<usize> {
        let token = json(&key)?;
        let at = found(self.sections.items, &token, |rank| {
            self.raw(self.number(self.sections.sorted, rank)?)
        })?;
        self.number(self.sections.sorted, at)
    }

    /// The number of that wave.
    pub(super) fn wave(&self, name: &str) -> Option<usize> {
        let token = json(&name)?;
        found(self.sections.waves, &token, |at| self.wave_text(at))
    }

    /// How many items of that wave have each of the statuses, in the order of [`Self::named_statuses`].
    pub(super) fn counts_of_wave(&self, number: usize) -> Vec<usize> {
        let counts = || {
            let json = self.wave_text(number)?.get(1..)?;
            let (_, counts): (String, Vec<usize>) = serde_json::from_slice(json).ok()?;
            Some(counts)
        };
        counts().unwrap_or_default()
    }

    pub(super) fn wave_count(&self) -> usize {
        self.sections.waves
    }

    /// How many items have which text as their status.
    pub(super) fn named_statuses(&self) -> impl Iterator<Item = (&str, usize)> {
        self.head.named.iter().map(|(name, n)| (name.as_str(), *n))
    }

    pub(super) fn standing(&self) -> [usize; 4] {
        self.head.standing
    }

    pub(super) fn failed(&self) -> &[usize] {
        &self.head.failed
    }

    /// Whether the table of dependents was made from that field.
    pub(super) fn knows_needs(&self, field: Option<&str>) -> bool {
        self.head.needs.as_deref() == field
    }

    /// Who needs the item at that place.
    pub(super) fn dependents(&self, at: usize) -> impl Iterator<Item = usize> {
        let range = self.range(self.sections.need_starts, at);
        range
            .into_iter()
            .flatten()
            .take_while(|at| *at < self.sections.dependents_count)
            .filter_map(|at| self.number(self.sections.dependents, at))
    }
}

/// The rank of the line that begins with `token`, of `count` lines that are in the order of theirs. The token of a
/// text ends where it first can, so no other begins with it.
fn found<'a>(count: usize, token: &str, line: impl Fn(usize) -> Option<&'a [u8]>) -> Option<usize> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        // Behind the letter and the bracket.
        let text = line(middle)?.get(2..)?;
        let begin = text.get(..token.len()).unwrap_or(text);
        match begin.cmp(token.as_bytes()) {
            std::cmp::Ordering::Equal => return Some(middle),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

/// Who needs each of the items, as one list and where in it those of each begin.
fn dependents(items: &[(&str, &Item)], needs: Option<&str>) -> (Vec<usize>, Vec<usize>) {
    let index: HashMap<&str, usize> = items
        .iter()
        .enumerate()
        .map(|(at, (key, _))| (*key, at))
        .collect();
    let mut pairs: Vec<(usize, usize)> = items
        .iter()
        .enumerate()
        .flat_map(|(at, (_, item))| item.needed(needs).map(move |need| (need, at)))
        .filter_map(|(need, at)| Some((*index.get(need)?, at)))
        .collect();
    pairs.sort_unstable();
    let mut starts = vec![0; items.len() + 1];
    for (needed, _) in &pairs {
        starts[needed + 1] += 1;
    }
    for at in 0..items.len() {
        starts[at + 1] += starts[at];
    }
    (starts, pairs.into_iter().map(|(_, at)| at).collect())
}

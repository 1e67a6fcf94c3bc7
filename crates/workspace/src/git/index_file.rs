//! The entries of an index, read from its file, and the tree that they make.
//!
//! A process of git to be told whether one name is in it takes longer than most calls take in all. The formats are git's
//! (`gitformat-index`, versions 2 to 4; `gitformat-pack` for trees). What is not whole in this one file – an index that is split,
//! or has folders for entries – is left to git, and so is whatever looks in any way other than expected.

use std::cmp::Ordering;
use std::fs;
use std::path::Path;

use sha1::{Digest, Sha1};
use sha2::Sha256;

use super::oid::Oid;
use super::repository::Repository;

/// What stands before the entries: `DIRC`, the version, the number of entries.
const HEADER: usize = 12;
/// Times, device, inode, mode, owner and size of a file, which stand before its hash.
const STAT: usize = 40;
/// Where among those the mode is.
const MODE: usize = 24;
/// In the flags of an entry: further flags follow.
const EXTENDED: u16 = 0x4000;
/// In the flags of an entry: which side of a conflict it is.
const STAGE: u16 = 0x3000;
/// In the further flags: the entry is a name alone, without content.
const INTENT_TO_ADD: u16 = 0x2000;
/// Extensions that say that entries are elsewhere, or stand for folders.
const NOT_WHOLE: [&[u8]; 2] = [b"link", b"sdir"];
/// Folders within folders, above which git is asked.
const DEEPEST: usize = 500;

/// A file in an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexEntry {
    /// Its path.
    pub(super) name: Vec<u8>,
    /// Its kind and whether it can be run, as trees have it.
    pub(super) mode: u32,
    /// The name of its content.
    pub(super) oid: Oid,
    /// It is one side of a conflict that is not resolved.
    pub(super) in_conflict: bool,
    /// It is in the index by name only (`git add --intent-to-add`).
    pub(super) by_name_only: bool,
}

impl Repository {
    /// The entries of the index, as git sorts them; none where only git can read it.
    pub(super) fn index_entries(&self) -> Option<Vec<IndexEntry>> {
        read_index(&self.git_dir().join("index"))
    }
}

/// The entries of the index in this file; none where only git can read it.
pub(super) fn read_index(path: &Path) -> Option<Vec<IndexEntry>> {
    let bytes = fs::read(path).ok()?;
    // Nothing in the file says how long its hashes are. With the wrong length its end is not met.
    [20, 32].into_iter().find_map(|hash| entries(&bytes, hash))
}

/// The entry of that name, which is no side of a conflict.
pub(super) fn entry<'a>(entries: &'a [IndexEntry], name: &[u8]) -> Option<&'a IndexEntry> {
    let at = entries.binary_search_by(|entry| entry.name.as_slice().cmp(name));
    at.ok().map(|at| &entries[at])
}

/// The tree that a commit of these entries would have; none where git has to say what becomes of them.
pub(super) fn tree_of(entries: &[IndexEntry]) -> Option<Oid> {
    let present: Vec<&IndexEntry> = entries.iter().filter(|entry| !entry.by_name_only).collect();
    // Of no entry, nothing tells which hashes the repository has.
    let hash = present.first()?.oid.as_str().len() / 2;
    folder(&present, 0, hash, 0)
}

/// The tree of the entries of a folder, whose own name takes up the first `prefix` bytes of theirs.
fn folder(entries: &[&IndexEntry], prefix: usize, hash: usize, depth: usize) -> Option<Oid> {
    if depth > DEEPEST {
        return None;
    }
    let mut body = Vec::new();
    let mut add = |mode: u32, name: &[u8], oid: &Oid| {
        body.extend(format!("{mode:o} ").into_bytes());
        body.extend(name);
        body.push(0);
        let digit = |at: usize| u8::from_str_radix(&oid.as_str()[at..at + 2], 16).ok();
        for at in (0..oid.as_str().len()).step_by(2) {
            body.push(digit(at)?);
        }
        Some(())
    };
    let mut rest = entries;
    while let Some(first) = rest.first() {
        let name = first.name.get(prefix..)?;
        let Some(slash) = name.iter().position(|byte| *byte == b'/') else {
            let is_plain = matches!(first.mode, 0o100_644 | 0o100_755 | 0o120_000 | 0o160_000);
            if !is_plain || first.in_conflict || first.oid.is_null() || name.is_empty() {
                return None;
            }
            add(first.mode, name, &first.oid)?;
            rest = &rest[1..];
            continue;
        };
        let inside = prefix + slash + 1;
        let below = &first.name[..inside];
        // No file has the name of a folder beside it.
        let is_file = |entry: &&IndexEntry| entry.name.as_slice().cmp(&below[..inside - 1]);
        if slash == 0 || entries.binary_search_by(is_file).is_ok() {
            return None;
        }
        let (within, behind) =
            rest.split_at(rest.partition_point(|entry| entry.name.starts_with(below)));
        add(
            0o40_000,
            &name[..slash],
            &folder(within, inside, hash, depth + 1)?,
        )?;
        rest = behind;
    }
    let head = format!("tree {}\0", body.len());
    let digest = match hash {
        20 => Sha1::new()
            .chain_update(head)
            .chain_update(&body)
            .finalize()
            .to_vec(),
        _ => Sha256::new()
            .chain_update(head)
            .chain_update(&body)
            .finalize()
            .to_vec(),
    };
    journal::digest::hex(&digest).parse().ok()
}

/// The entries of an index whose hashes have so many bytes.
fn entries(bytes: &[u8], hash: usize) -> Option<Vec<IndexEntry>> {
    let end = bytes.len().checked_sub(hash)?;
    let body = &bytes[..end];
    if body.get(..4)? != b"DIRC" {
        return None;
    }
    let version = number(body, 4)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let count = number(body, 8)?;
    let mut entries: Vec<IndexEntry> = Vec::new();
    let mut last_stage = 0;
    let mut name: Vec<u8> = Vec::new();
    let mut at = HEADER;
    for _ in 0..count {
        let begin = at;
        let mode = number(body, begin + MODE)?;
        at += STAT;
        let oid = journal::digest::hex(body.get(at..at + hash)?);
        at += hash;
        let flags = short(body, at)?;
        at += 2;
        let mut further = 0;
        if flags & EXTENDED != 0 {
            further = short(body, at)?;
            at += 2;
        }
        if version == 4 {
            let dropped = dropped(body, &mut at)?;
            name.truncate(name.len().checked_sub(dropped)?);
        } else {
            name.clear();
        }
        let rest = body.get(at..)?;
        let length = rest.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(&rest[..length]);
        at += length + 1;
        if version < 4 {
            at = begin + (at - begin).next_multiple_of(8);
        }
        let stage = flags & STAGE;
        match entries.last().map(|last| last.name.cmp(&name)) {
            _ if name.is_empty() => return None,
            None | Some(Ordering::Less) => {}
            // One that is in conflict is there up to three times.
            Some(Ordering::Equal) if last_stage < stage => {}
            Some(_) => return None,
        }
        last_stage = stage;
        entries.push(IndexEntry {
            name: name.clone(),
            mode,
            oid: oid.parse().ok()?,
            in_conflict: stage != 0,
            by_name_only: further & INTENT_TO_ADD != 0,
        });
    }
    while at < end {
        if NOT_WHOLE.contains(&body.get(at..at + 4)?) {
            return None;
        }
        at = (at + 8).checked_add(usize::try_from(number(body, at + 4)?).ok()?)?;
    }
    (at == end).then_some(entries)
}

/// The number in two bytes.
fn short(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_be_bytes(bytes.try_into().ok()?))
}

/// The number in four bytes.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// How much of the name before does not belong to the next one: seven bits a byte, the highest first, and one more for each
/// byte that follows, as in the offsets of packs.
fn dropped(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut value: usize = 0;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value = value.checked_mul(128)? | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?;
    }
}

#[cfg(test)]
mod tests {
    use super::{entries, tree_of};

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            version in 0_u8..6,
            count in 0_u8..4,
            rest in proptest::collection::vec(proptest::sample::select(b"\0\0\0\x01\x40\x80\xffaTREElink/".to_vec()), 0..300),
        ) {
            let mut bytes = b"DIRC".to_vec();
            bytes.extend([0, 0, 0, version, 0, 0, 0, count]);
            bytes.extend(rest);
            for hash in [20, 32] {
                if let Some(entries) = entries(&bytes, hash) {
                    let _ = tree_of(&entries);
                }
            }
        }
    }
}

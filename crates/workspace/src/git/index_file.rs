//! The names in the index, read from its file.
//!
//! A process of git to be told whether one name is in it takes longer than most calls take in all. The format is git's
//! (`gitformat-index`), versions 2 to 4. What is not whole in this one file – an index that is split, or has folders for entries –
//! is left to git, and so is whatever looks in any way other than expected.

use std::fs;

use super::repository::Repository;

/// What stands before the entries: `DIRC`, the version, the number of entries.
const HEADER: usize = 12;
/// Times, device, inode, mode, owner and size of a file, which stand before its hash.
const STAT: usize = 40;
/// In the flags of an entry: further flags follow.
const EXTENDED: u16 = 0x4000;
/// Extensions that say that entries are elsewhere, or stand for folders.
const NOT_WHOLE: [&[u8]; 2] = [b"link", b"sdir"];

impl Repository {
    /// The names in the index, as git sorts them, each once; none where only git can read it.
    pub(super) fn names_in_index(&self) -> Option<Vec<Vec<u8>>> {
        let bytes = fs::read(self.git_dir().join("index")).ok()?;
        // Nothing in the file says how long its hashes are. With the wrong length its end is not met.
        [20, 32].into_iter().find_map(|hash| names(&bytes, hash))
    }
}

/// The names in an index whose hashes have so many bytes.
fn names(bytes: &[u8], hash: usize) -> Option<Vec<Vec<u8>>> {
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
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut name: Vec<u8> = Vec::new();
    let mut at = HEADER;
    for _ in 0..count {
        let begin = at;
        at += STAT + hash;
        let flags = u16::from_be_bytes(body.get(at..at + 2)?.try_into().ok()?);
        at += 2;
        if flags & EXTENDED != 0 {
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
        match names.last().map(|last| last.cmp(&name)) {
            _ if name.is_empty() => return None,
            None | Some(std::cmp::Ordering::Less) => names.push(name.clone()),
            // One that is in conflict is there up to three times.
            Some(std::cmp::Ordering::Equal) => {}
            Some(std::cmp::Ordering::Greater) => return None,
        }
    }
    while at < end {
        if NOT_WHOLE.contains(&body.get(at..at + 4)?) {
            return None;
        }
        at = (at + 8).checked_add(usize::try_from(number(body, at + 4)?).ok()?)?;
    }
    (at == end).then_some(names)
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
    use super::names;

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            version in 0_u8..6,
            count in 0_u8..4,
            rest in proptest::collection::vec(proptest::sample::select(b"\0\0\0\x01\x40\x80\xffaTREElink".to_vec()), 0..300),
        ) {
            let mut bytes = b"DIRC".to_vec();
            bytes.extend([0, 0, 0, version, 0, 0, 0, count]);
            bytes.extend(rest);
            for hash in [20, 32] {
                let _ = names(&bytes, hash);
            }
        }
    }
}

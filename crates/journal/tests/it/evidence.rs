use std::fs;

use journal::{EvidenceError, EvidenceStore, sha256_hex};

use crate::scene::{mode, refused};

#[test]
fn evidence_is_kept_by_its_hash_and_given_back() {
    let run = tempfile::tempdir().unwrap();
    let store = EvidenceStore::new(run.path());
    for bytes in [b"".as_slice(), b"{\"failed\":1}", &[0xff, 0, 0xfe]] {
        let sha256 = store.put(bytes).unwrap();
        assert_eq!(sha256, sha256_hex(bytes));
        assert_eq!(store.put(bytes).unwrap(), sha256);
        assert_eq!(store.get(&sha256).unwrap(), bytes);
    }
    assert_eq!(mode(store.folder()), 0o700);
    let files = fs::read_dir(store.folder()).unwrap();
    let modes = files.map(|file| mode(&file.unwrap().path()));
    assert_eq!(modes.collect::<Vec<_>>(), [0o600; 3]);
}

#[test]
fn what_is_missing_or_changed_is_named() {
    let run = tempfile::tempdir().unwrap();
    let store = EvidenceStore::new(run.path());
    let absent = sha256_hex(b"absent");
    let Err(EvidenceError::Missing { sha256, path }) = store.get(&absent) else {
        panic!("it is missing");
    };
    assert_eq!((path, sha256), (store.folder().join(&absent), absent));
    let sha256 = store.put(b"the truth").unwrap();
    for spoilt in [b"the trust".as_slice(), b"the", b""] {
        fs::write(store.folder().join(&sha256), spoilt).unwrap();
        match store.get(&sha256) {
            Err(EvidenceError::Changed { found, .. }) => assert_eq!(found, sha256_hex(spoilt)),
            other => panic!("{other:?}"),
        }
        store.put(b"the truth").unwrap();
        assert_eq!(store.get(&sha256).unwrap(), b"the truth");
    }
}

#[test]
fn only_a_hash_becomes_a_path() {
    let run = tempfile::tempdir().unwrap();
    fs::write(run.path().join("secret"), b"x").unwrap();
    let store = EvidenceStore::new(run.path());
    for wrong in [
        "",
        "../secret",
        &"A".repeat(64),
        &"a".repeat(63),
        &"/".repeat(64),
    ] {
        assert_eq!(refused(store.get(wrong)), "NotAHash", "{wrong}");
    }
}

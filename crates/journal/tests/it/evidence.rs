use std::fs;
use std::os::unix::fs::PermissionsExt;

use journal::{EvidenceError, EvidenceStore, sha256_hex};

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
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(store.folder().to_owned()), 0o700);
    let files: Vec<_> = fs::read_dir(store.folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(files.len(), 3);
    assert!(files.into_iter().all(|path| mode(path) == 0o600));
}

#[test]
fn what_is_missing_or_changed_is_named() {
    let run = tempfile::tempdir().unwrap();
    let store = EvidenceStore::new(run.path());
    let absent = sha256_hex(b"absent");
    match store.get(&absent) {
        Err(EvidenceError::Missing { sha256, path }) => {
            assert_eq!(path, store.folder().join(&absent));
            assert_eq!(sha256, absent);
        }
        other => panic!("{other:?}"),
    }
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
        assert!(
            matches!(store.get(wrong), Err(EvidenceError::NotAHash(_))),
            "{wrong}"
        );
    }
}

//! What Chromium 148 gives of a passkey (its own virtual authenticator), for `localhost` and the text "approve\n", on a page
//! at port 8123; checked by the `ssh-keygen` that is installed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use workspace::passkey::{self, Assertion, Passkey};
use workspace::person;

const ORIGIN: &str = "http://localhost:8123";
const TEXT: &str = "approve\n";

fn recorded() -> (Passkey, Assertion) {
    let all: Value = serde_json::from_str(include_str!("chromium.json")).unwrap();
    let key = passkey::bytes(all["publicKey"].as_str().unwrap()).unwrap();
    let key = Passkey::new(&key, "localhost").unwrap();
    (key, serde_json::from_value(all).unwrap())
}

/// A list of keys with these lines.
fn list(folder: &TempDir, lines: &str) -> PathBuf {
    let path = folder.path().join("allowed_signers");
    fs::write(&path, lines).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}

fn refused(text: &str, assertion: &Assertion, origin: &str, list: &Path) -> String {
    passkey::signature(text, assertion, origin, list)
        .unwrap_err()
        .to_string()
}

#[test]
fn ssh_takes_the_signature_of_a_passkey_that_is_in_the_list() {
    let folder = testkit::folder();
    let (passkey, assertion) = recorded();
    let lines = format!("# keys\nbob ssh-ed25519 AAAA\n{}\n", passkey.line("ann"));
    let list = list(&folder, &lines);
    let signature = passkey::signature(TEXT, &assertion, ORIGIN, &list).unwrap();
    assert!(passkey::is_of_passkey(&signature) && !passkey::is_of_passkey("nonsense"));
    let signer = person::verify(TEXT, &signature, &list, None).unwrap();
    assert_eq!(signer.name, "ann");
    assert!(person::verify("reject\n", &signature, &list, None).is_err());
}

#[test]
fn what_was_signed_elsewhere_or_for_something_else_does_not_count() {
    let folder = testkit::folder();
    let (passkey, assertion) = recorded();
    let lines = passkey.line("ann");
    let path = list(&folder, &lines);
    let with = |change: &dyn Fn(&mut Assertion)| {
        let mut changed = assertion.clone();
        change(&mut changed);
        changed
    };
    // Nobody touched it: the flags stand behind the hash of the site.
    let mut about = passkey::bytes(&assertion.authenticator_data).unwrap();
    about[32] = 0;
    let untouched = with(&|it| it.authenticator_data = passkey::letters(&about));
    let damaged = with(&|it| it.signature = it.signature.replace('E', "F"));
    let (as_is, elsewhere) = (|| assertion.clone(), "http://localhost:8124");
    let mut cases = vec![
        ("reject\n", ORIGIN, as_is(), "signed something else"),
        (TEXT, elsewhere, as_is(), "on another page"),
        (TEXT, ORIGIN, damaged, ""),
        (TEXT, ORIGIN, untouched, "nobody touched"),
    ];
    for part in ["", "AA", "MAA", "!", "MIIIII"] {
        let signature = with(&|it| part.clone_into(&mut it.signature));
        let authenticator = with(&|it| part.clone_into(&mut it.authenticator_data));
        let broken = [signature, authenticator];
        cases.extend(broken.map(|it| (TEXT, ORIGIN, it, "not the signature of a passkey")));
    }
    for (text, origin, assertion, why) in cases {
        let refused = refused(text, &assertion, origin, &path);
        assert!(refused.contains(why), "{refused}");
    }
    // For another use, or no passkey at all.
    let git = lines.replace(person::NAMESPACE, "git");
    refused(TEXT, &assertion, ORIGIN, &list(&folder, &git));
    let none = list(&folder, "ann ssh-ed25519 AAAA\n");
    let why = refused(TEXT, &assertion, ORIGIN, &none);
    assert!(why.contains("no passkey for this page"), "{why}");
    let code = passkey::signature(TEXT, &assertion, ORIGIN, &folder.path().join("none"));
    assert_eq!(code.unwrap_err().code(), "no_signers");
}

#[test]
fn only_keys_on_p_256_are_taken() {
    let keys = ",MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE,MCowBQYDK2VwAyEA";
    for key in keys.split(',') {
        let found = Passkey::new(&passkey::bytes(key).unwrap(), "localhost");
        assert_eq!(found, None);
    }
}

//! Passkeys as keys that sign decisions.
//!
//! A passkey signs what its browser tells it (Web Authentication, W3C), and OpenSSH takes such signatures for those of a security
//! key: the site that the passkey is for stands in the place of the application (`PROTOCOL.u2f` of OpenSSH, "webauthn signatures").
//! So a passkey has a line in the list of allowed keys like every other key, and its signature has the armour of every other
//! signature: what checks a journal needs to know nothing of passkeys.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::Deserialize;
use sha2::{Digest as _, Sha256, Sha512};

use crate::person::{self, NAMESPACE, SignatureError};

/// The type of the key, as OpenSSH has it.
const KEY: &str = "sk-ecdsa-sha2-nistp256@openssh.com";
/// The type of its signature by way of a browser.
const SIGNATURE: &str = "webauthn-sk-ecdsa-sha2-nistp256@openssh.com";
/// What signatures of files, and what is signed for them, begin with (`PROTOCOL.sshsig` of OpenSSH).
const MAGIC: &[u8] = b"SSHSIG";
/// By what a text is hashed before it is signed.
const HASH: &str = "sha512";
/// What a public key on P-256 begins with in DER (RFC 5480); its point follows.
const P256: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// A point: that it is not compressed, and its two coordinates.
const POINT: usize = 65;
/// What an authenticator tells of itself: the hash of the site, flags, and a counter.
const AUTHENTICATOR: usize = 32 + 1 + 4;
/// The flag that somebody touched it, or more.
const PRESENT: u8 = 1;
/// How long a line of the armour is.
const LINE: usize = 70;

/// A passkey: its public key, and the site that it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passkey {
    site: String,
    point: [u8; POINT],
}

impl Passkey {
    /// The passkey of this public key, in the DER that a browser gives (`getPublicKey()`), for a site such as `localhost`.
    /// None where it is no key on P-256, the only one that OpenSSH knows of browsers.
    pub fn new(public_key: &[u8], site: &str) -> Option<Self> {
        let point = public_key.strip_prefix(&P256)?;
        Some(Self {
            site: site.to_owned(),
            point: point.try_into().ok()?,
        })
    }

    /// The line for the list of allowed keys that lets `name` decide with it.
    pub fn line(&self, name: &str) -> String {
        let blob = STANDARD.encode(self.blob());
        format!("{name} namespaces=\"{NAMESPACE}\" {KEY} {blob}")
    }

    fn blob(&self) -> Vec<u8> {
        Blob::default()
            .string(KEY)
            .string("nistp256")
            .string(self.point)
            .string(&self.site)
            .0
    }

    /// The passkey of a line of a list; none where it has another key, or none.
    fn of_line(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        words.find(|word| *word == KEY)?;
        let blob = STANDARD.decode(words.next()?).ok()?;
        let mut blob = blob.as_slice();
        let mut string = || {
            let (length, rest) = blob.split_first_chunk()?;
            let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
            let (string, rest) = rest.split_at_checked(length)?;
            blob = rest;
            Some(string)
        };
        let (_, _) = (string()?, string()?);
        let point = string()?.try_into().ok()?;
        let site = String::from_utf8(string()?.to_vec()).ok()?;
        Some(Self { site, point })
    }
}

/// What a browser is to have signed for a text, in the letters that it writes a challenge with.
pub fn challenge(text: &str) -> String {
    letters(&to_sign(text))
}

/// Bytes in the letters that a browser writes them with.
pub fn letters(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The bytes that a browser writes in these letters (base64 for addresses, RFC 4648); none where they are others.
pub fn bytes(letters: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(letters).ok()
}

fn to_sign(text: &str) -> Vec<u8> {
    let text = Sha512::digest(text.as_bytes());
    Blob(MAGIC.to_vec())
        .string(NAMESPACE)
        .string("")
        .string(HASH)
        .string(text)
        .0
}

/// What a browser gives once its passkey has signed; all of it in base64 for addresses.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Assertion {
    /// What the authenticator tells of itself.
    pub authenticator_data: String,
    /// What the browser told it, as JSON.
    #[serde(rename = "clientDataJSON")]
    pub client_data: String,
    /// The signature over both.
    pub signature: String,
}

/// The signature of a text that a browser had made on a page of `origin`, in the armour of SSH, by a passkey of the list.
///
/// # Errors
/// As [`person::verify`]; `Invalid` also where it was made on another page, or for another text.
pub fn signature(
    text: &str,
    assertion: &Assertion,
    origin: &str,
    signers: &Path,
) -> Result<String, SignatureError> {
    person::check_signers(signers)?;
    let invalid = |why: &str| SignatureError::Invalid {
        why: why.to_owned(),
        signers: signers.to_owned(),
    };
    let signed = Signed::read(assertion).ok_or_else(|| {
        invalid("what the browser sent is not the signature of a passkey on P-256")
    })?;
    if signed.origin != origin {
        return Err(invalid("the passkey signed on another page"));
    }
    if signed.challenge != challenge(text) {
        return Err(invalid("the passkey signed something else"));
    }
    if signed.flags & PRESENT == 0 {
        return Err(invalid("nobody touched the passkey"));
    }
    let list = fs::read_to_string(signers).map_err(SignatureError::Program)?;
    let mut wrong = None;
    let passkeys = list.lines().filter_map(Passkey::of_line);
    for passkey in passkeys.filter(|passkey| signed.is_for(&passkey.site)) {
        let armored = signed.armored(&passkey);
        match person::verify(text, &armored, signers, None) {
            Ok(_) => return Ok(armored),
            Err(error) => wrong = Some(error),
        }
    }
    Err(wrong.unwrap_or_else(|| invalid("no passkey for this page is in the list")))
}

/// Whether a signature in its armour was made by a passkey in a browser.
pub fn is_of_passkey(armored: &str) -> bool {
    let letters: String = armored
        .lines()
        .filter(|line| !line.starts_with("-----"))
        .collect();
    STANDARD.decode(letters.trim()).is_ok_and(|blob| {
        let name = SIGNATURE.as_bytes();
        blob.windows(name.len()).any(|part| part == name)
    })
}

/// What a browser sent, read.
struct Signed {
    site: [u8; 32],
    flags: u8,
    counter: [u8; 4],
    extensions: Vec<u8>,
    client_data: Vec<u8>,
    challenge: String,
    origin: String,
    r: Vec<u8>,
    s: Vec<u8>,
}

impl Signed {
    fn read(assertion: &Assertion) -> Option<Self> {
        #[derive(Deserialize)]
        struct ClientData {
            challenge: String,
            origin: String,
        }
        let about = bytes(&assertion.authenticator_data)?;
        let (about, extensions) = about.split_at_checked(AUTHENTICATOR)?;
        let (site, about) = about.split_first_chunk()?;
        let (flags, counter) = about.split_first()?;
        let client_data = bytes(&assertion.client_data)?;
        let client: ClientData = serde_json::from_slice(&client_data).ok()?;
        let signature = bytes(&assertion.signature)?;
        // SEQUENCE { INTEGER r, INTEGER s }, of less than 128 bytes (RFC 3279).
        let (both, rest) = element(&signature, 0x30)?;
        let (r, both) = element(both, 2)?;
        let (s, end) = element(both, 2)?;
        (rest.is_empty() && end.is_empty()).then(|| Self {
            site: *site,
            flags: *flags,
            counter: counter.try_into().unwrap_or_default(),
            extensions: extensions.to_vec(),
            client_data,
            challenge: client.challenge,
            origin: client.origin,
            r: r.to_vec(),
            s: s.to_vec(),
        })
    }

    fn is_for(&self, site: &str) -> bool {
        Sha256::digest(site.as_bytes()).as_slice() == self.site
    }

    fn armored(&self, passkey: &Passkey) -> String {
        // An integer of DER is written as one of SSH is (RFC 4251, "mpint").
        let numbers = Blob::default().string(&self.r).string(&self.s);
        let mut signature = Blob::default().string(SIGNATURE).string(numbers.0);
        signature.0.push(self.flags);
        signature.0.extend(self.counter);
        let signature = signature
            .string(&self.origin)
            .string(&self.client_data)
            .string(&self.extensions);
        let mut blob = Blob(MAGIC.to_vec());
        blob.0.extend(1_u32.to_be_bytes());
        let blob = blob
            .string(passkey.blob())
            .string(NAMESPACE)
            .string("")
            .string(HASH)
            .string(signature.0);
        let letters = STANDARD.encode(blob.0);
        let lines: Vec<&str> = (0..letters.len())
            .step_by(LINE)
            .map(|at| &letters[at..letters.len().min(at + LINE)])
            .collect();
        format!(
            "-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n",
            lines.join("\n")
        )
    }
}

/// What an element of DER of this tag holds, and what comes behind it; of less than 128 bytes.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, length], rest) = bytes.split_first_chunk()?;
    (found == tag && length < 0x80).then(|| rest.split_at_checked(usize::from(length)))?
}

/// Values as SSH writes them (RFC 4251, section 5).
#[derive(Default)]
struct Blob(Vec<u8>);

impl Blob {
    fn string(mut self, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.0.extend(length.to_be_bytes());
        self.0.extend(bytes);
        self
    }
}

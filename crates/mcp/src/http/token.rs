//! The secret that a client has to know.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

/// The fewest characters of a token. One made here has 64.
const SHORTEST: usize = 32;
/// The most characters of a token: a header has to hold it.
const LONGEST: usize = 512;

/// A bearer token. It shows itself only where [`Token::reveal`] is called. One that was read from a file is good for as long as
/// it is in that file.
#[derive(Clone)]
pub struct Token {
    text: String,
    digest: [u8; 32],
    file: Option<PathBuf>,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(hidden)")
    }
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// It would be easy to guess, or would not fit into a header.
    #[error(
        "the token {0}; it takes {SHORTEST} to {LONGEST} letters, digits and the signs - . _ ~ + / ="
    )]
    Unfit(&'static str),
    /// The file holds no token.
    #[error("{path}: the token in this file {problem}; delete the file, and a new one is made", path = path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with what it holds.
        problem: &'static str,
    },
    /// There is something else than a file.
    #[error("{path} is no regular file; move it away, and a file with a new token is made", path = path.display())]
    NoFile {
        /// Where.
        path: PathBuf,
    },
    /// Others know it by now.
    #[error(
        "{path} can be read by others (mode {mode:04o}), so its token may be known; delete the file, and a new one is made, or run `chmod 600` on it if you are sure",
        path = path.display()
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file system said no.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        #[source]
        error: io::Error,
    },
}

impl Token {
    /// A token that was made elsewhere.
    pub fn new(text: impl Into<String>) -> Result<Self, TokenError> {
        let text = text.into();
        match unfit(&text) {
            Some(problem) => Err(TokenError::Unfit(problem)),
            None => Ok(Self::of(text)),
        }
    }

    /// A new one, from 32 random bytes.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self::of(hex(&bytes)))
    }

    /// The token in a file that only its owner can read. Where there is no file, one is made with a new token;
    /// processes that do so at the same time all end up with the same.
    pub fn load_or_create(path: &Path) -> Result<Self, TokenError> {
        if let Some(token) = load(path)? {
            return Ok(token);
        }
        // Renaming would replace what another process made meanwhile; a link never does.
        let link = |unfinished: &Path| match fs::hard_link(unfinished, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        };
        place(path, link).map_err(|error| TokenError::io(path, error))?;
        // Read again in any case: it may be that of another process which was faster.
        loaded(path)
    }

    /// Puts a new token into a file, in the place of the one that is there. From then on the old one is good no more: servers
    /// read the file at each request.
    pub fn replace(path: &Path) -> Result<Self, TokenError> {
        let is_text = |bytes: Vec<u8>| {
            bytes.len() > LONGEST || bytes.trim_ascii().iter().any(u8::is_ascii_whitespace)
        };
        match load(path) {
            // A file that never held a token is somebody's.
            Err(error @ (TokenError::Open { .. } | TokenError::Content { .. }))
                if fs::read(path).is_ok_and(is_text) =>
            {
                return Err(error);
            }
            // What others can read, or is no token, is what a new one is wanted for.
            Ok(_) | Err(TokenError::Open { .. } | TokenError::Content { .. }) => {}
            Err(error) => return Err(error),
        }
        let rename = |unfinished: &Path| fs::rename(unfinished, path);
        place(path, rename).map_err(|error| TokenError::io(path, error))?;
        loaded(path)
    }

    /// The token that is good now: of one that was read from a file, what is in it by now.
    pub(super) fn current(&self) -> Result<Self, TokenError> {
        match &self.file {
            Some(path) => loaded(path),
            None => Ok(self.clone()),
        }
    }

    /// The token itself: for a client's configuration, and nothing else.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// Whether this was given. It takes the same time however much of it is right.
    pub(super) fn is(&self, given: &[u8]) -> bool {
        let given = Sha256::digest(given);
        let differing = self
            .digest
            .iter()
            .zip(given.iter())
            .fold(0, |differing, (ours, theirs)| differing | (ours ^ theirs));
        std::hint::black_box(differing) == 0
    }

    fn of(text: String) -> Self {
        let digest = Sha256::digest(text.as_bytes()).into();
        let file = None;
        Self { text, digest, file }
    }
}

impl TokenError {
    fn io(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        Self::Io { path, error }
    }
}

fn unfit(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        Some("is empty")
    } else if text.len() < SHORTEST {
        Some("is too short to be safe")
    } else if text.len() > LONGEST {
        Some("is too long for a header")
    } else if text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte))
    {
        None
    } else {
        Some("holds signs that a header cannot carry")
    }
}

/// The token in a file that is there.
fn loaded(path: &Path) -> Result<Token, TokenError> {
    load(path)?.ok_or_else(|| TokenError::io(path, io::ErrorKind::NotFound.into()))
}

fn load(path: &Path) -> Result<Option<Token>, TokenError> {
    let failed = |error| TokenError::io(path, error);
    let no_file = || TokenError::NoFile {
        path: path.to_owned(),
    };
    // Opening a pipe would wait for its other end.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // A link, or a socket.
        Err(_) if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) => {
            return Err(no_file());
        }
        Err(error) => return Err(failed(error)),
    };
    let opened = file.metadata().map_err(failed)?;
    if !opened.is_file() {
        return Err(no_file());
    }
    if opened.mode() & 0o077 != 0 {
        return Err(TokenError::Open {
            path: path.to_owned(),
            mode: opened.mode() & 0o7777,
        });
    }
    let mut text = String::new();
    let most = LONGEST as u64 + 2;
    let content = |problem| TokenError::Content {
        path: path.to_owned(),
        problem,
    };
    match file.take(most).read_to_string(&mut text) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Err(content("is no text"));
        }
        Err(error) => return Err(failed(error)),
    }
    let text = text.trim();
    match unfit(text) {
        Some(problem) => Err(content(problem)),
        None => Ok(Some(Token {
            file: Some(path.to_owned()),
            ..Token::of(text.to_owned())
        })),
    }
}

/// Writes a file with a new token, and has it `put` under its name: it appears there with its content and its mode, or not at
/// all.
fn place(path: &Path, put: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let unfinished = folder.join(format!(".tramline-{}.tmp", hex(&random)));
    let made = write(&unfinished).and_then(|_locked| put(&unfinished));
    match fs::remove_file(&unfinished) {
        // It was renamed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => made,
        removed => made.and(removed),
    }
}

/// Writes a token, and gives the file locked: who removes what killed processes left sees that this one is in use.
fn write(path: &Path) -> io::Result<File> {
    let token = Token::random()?;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    let _ = file.try_lock();
    file.write_all(token.text.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    Ok(file)
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 0xf])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::sync::Barrier;

    use super::*;

    fn written(text: &[u8], mode: u32) -> (tempfile::TempDir, PathBuf) {
        let (folder, path) = place();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        (folder, path)
    }

    fn place() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        (folder, path)
    }

    /// The rights to a file, and how many stand in its folder: nothing unfinished is left there.
    fn kept(path: &Path) -> (u32, usize) {
        let mode = fs::metadata(path).unwrap().mode() & 0o7777;
        let files = fs::read_dir(path.parent().unwrap()).unwrap();
        (mode, files.count())
    }

    #[test]
    fn a_new_token_is_kept_for_its_owner_only() {
        let (_folder, path) = place();
        let path = path.join("b/token");
        let token = Token::load_or_create(&path).unwrap();
        assert_eq!(token.reveal().len(), 64);
        assert_eq!(kept(&path), (0o600, 1));
        assert_eq!(kept(path.parent().unwrap()).0 & 0o777, 0o700);
        let again = Token::load_or_create(&path).unwrap();
        assert_eq!(again.reveal(), token.reveal());
    }

    #[test]
    fn all_that_start_at_once_agree() {
        let (_folder, path) = place();
        let start = Barrier::new(16);
        let begin = || {
            start.wait();
            Token::load_or_create(&path).unwrap().reveal().to_owned()
        };
        let tokens = std::thread::scope(|scope| {
            let threads = [(); 16].map(|()| scope.spawn(begin));
            threads.map(|thread| thread.join().unwrap())
        });
        assert!(tokens.iter().all(|token| *token == tokens[0]), "{tokens:?}");
        assert_eq!(kept(&path).1, 1);
    }

    #[test]
    fn a_file_is_refused_that_others_can_read_or_that_holds_no_token() {
        let (good, long) = ([b'a'; 64], [b'a'; LONGEST + 1]);
        for (text, mode) in [
            (&good[..], 0o640),
            (&good, 0o604),
            (&good, 0o660),
            (&good, 0o644),
            (b"", 0o600),
            (b"\n", 0o600),
            (b"short", 0o600),
            (&long, 0o600),
            (b"0123456789012345678901234567890\xff", 0o600),
            (b"0123456789 123456789 123456789 12345", 0o600),
        ] {
            let (_folder, path) = written(text, mode);
            let error = Token::load_or_create(&path).unwrap_err();
            match error {
                TokenError::Open { .. } => assert_ne!(mode, 0o600),
                TokenError::Content { .. } => assert_eq!(mode, 0o600),
                _ => panic!("{error}"),
            }
            assert!(!error.to_string().contains("aaaa"), "{error}");
        }
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let (folder, path) = written(&[b'a'; 64], 0o600);
        let inside = |name: &str| folder.path().join(name);
        symlink(&path, inside("link")).unwrap();
        symlink("nowhere", inside("dangling")).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, inside("pipe"), mode).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(inside("socket")).unwrap();
        for name in ["link", "dangling", "pipe", "socket", "."] {
            for refused in [
                Token::load_or_create(&inside(name)),
                Token::replace(&inside(name)),
            ] {
                let error = refused.unwrap_err();
                assert!(
                    matches!(error, TokenError::NoFile { .. }),
                    "{name}: {error}"
                );
            }
        }
    }

    #[test]
    fn a_replaced_token_is_the_one_of_the_file_and_the_old_one_is_not() {
        let (_folder, path) = place();
        let old = Token::load_or_create(&path).unwrap();
        let new = Token::replace(&path).unwrap();
        assert_ne!(old.reveal(), new.reveal());
        assert_eq!(old.current().unwrap().reveal(), new.reveal());
        assert_eq!(kept(&path), (0o600, 1));
        // One that others know is replaced as well.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(old.current().is_err());
        let newer = Token::replace(&path).unwrap();
        assert_eq!(old.current().unwrap().reveal(), newer.reveal());
        fs::remove_file(&path).unwrap();
        assert!(old.current().is_err(), "without a file none is good");
        assert!(Token::replace(&path).is_ok());
        for mode in [0o644, 0o600] {
            let (_folder, script) = written(b"#!/bin/sh\necho mine\n", mode);
            assert!(Token::replace(&script).is_err());
            assert_eq!(fs::read(&script).unwrap(), b"#!/bin/sh\necho mine\n");
        }
    }

    #[test]
    fn a_token_of_ones_own_is_taken_with_a_newline_at_its_end() {
        let (_folder, path) = written(b"my-own.token_0123456789~0123456789+/=\n", 0o600);
        let own = Token::load_or_create(&path).unwrap();
        assert_eq!(own.reveal(), "my-own.token_0123456789~0123456789+/=");
    }

    #[test]
    fn a_token_never_shows_itself() {
        let token = Token::random().unwrap();
        assert!(!format!("{token:?}").contains(token.reveal()));
        assert!(token.is(token.reveal().as_bytes()));
        assert!(!token.is(b""));
        assert!(!token.is(&token.reveal().as_bytes()[..63]));
        assert!(Token::new("short").is_err());
        assert!(Token::new("0123456789 123456789 123456789 123456789").is_err());
    }
}

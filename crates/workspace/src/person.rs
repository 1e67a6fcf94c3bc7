//! Who the person is: the user of the system, and their signatures.

use std::fs;
use std::io::{self, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a signature is for: it counts for nothing else.
pub const NAMESPACE: &str = "tramline.decision";

/// The list of keys of the whole system.
const SYSTEM_SIGNERS: &str = "/etc/tramline/allowed_signers";
/// The list of keys of a user, in their store.
const SIGNERS: &str = "allowed_signers";

/// The name of the user that this process runs as, by the system's own list: a variable can say anything.
pub fn user_name() -> String {
    let id = nix::unistd::Uid::current();
    match nix::unistd::User::from_uid(id) {
        Ok(Some(user)) if !user.name.is_empty() => user.name,
        _ => format!("uid {id}"),
    }
}

/// Why nothing was signed, or a signature does not count.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// There is no list of keys.
    #[error("no key is allowed: there is no {}", path.display())]
    NoSigners {
        /// Where it would be.
        path: PathBuf,
    },
    /// The list can be written by others.
    #[error("the list of keys, {}, can be changed by others", path.display())]
    OpenToOthers {
        /// The list.
        path: PathBuf,
    },
    /// The signature is of no key in the list, of something else, or damaged.
    #[error("the signature does not count: {why}")]
    Invalid {
        /// What the program says.
        why: String,
        /// The list.
        signers: PathBuf,
    },
    /// Nothing was signed.
    #[error("ssh-keygen did not sign with {}", key.display())]
    NotSigned {
        /// The key.
        key: PathBuf,
    },
    /// `ssh-keygen` could not be run.
    #[error("ssh-keygen could not be run")]
    Program(#[source] io::Error),
}

impl SignatureError {
    /// A short, stable name of what went wrong.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSigners { .. }
            | Self::OpenToOthers { .. }
            | Self::NotSigned { .. }
            | Self::Program(_) => "no_signers",
            Self::Invalid { .. } => "signature_invalid",
        }
    }

    /// What can be done about it.
    pub fn suggestion(&self) -> String {
        match self {
            Self::NoSigners { path } => format!(
                "write a line there for each key that may decide, as in `ann namespaces=\"{NAMESPACE}\" ssh-ed25519 AAAA…` ({})",
                path.display()
            ),
            Self::OpenToOthers { path } => format!(
                "have it and its folder belong to you, and let nobody else write them: chmod 600 {}",
                path.display()
            ),
            Self::Invalid { signers, .. } => format!(
                "sign what is there now, with a key of the list, {}",
                signers.display()
            ),
            Self::NotSigned { .. } => {
                "name a private key, or the public one of a key that an agent or a device holds"
                    .to_owned()
            }
            Self::Program(_) => "install OpenSSH".to_owned(),
        }
    }
}

/// Whose signature it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// The name that the list has for the key.
    pub name: String,
    /// The key's fingerprint.
    pub key: String,
}

/// Set for a program that `ssh-keygen` has ask for a passphrase: it is to ask at the terminal, and print what is typed.
pub const ASKPASS: &str = "TRAMLINE_ASKPASS";

/// Signs a text with a key, which may ask for its passphrase or for a touch at the terminal. Gives the signature in its
/// armour.
///
/// `ssh-keygen` reads what it signs after the passphrase was typed. So it gets the text where nobody can change it in the
/// meantime, on its standard input; and since it then asks nobody there, `askpass` asks: a program that knows [`ASKPASS`].
pub fn sign(text: &str, key: &Path, askpass: Option<&Path>) -> Result<String, SignatureError> {
    let mut command = Command::new("ssh-keygen");
    command
        .args(["-q", "-Y", "sign", "-n", NAMESPACE, "-f"])
        .arg(key)
        .stdin(unchangeable(text).map_err(SignatureError::Program)?)
        .stderr(Stdio::inherit());
    if let Some(askpass) = askpass {
        command
            .env("SSH_ASKPASS", askpass)
            .env("SSH_ASKPASS_REQUIRE", "force")
            .env(ASKPASS, "1");
        // OpenSSH before 8.4 asks for one only where it sees a display (ssh(1), ENVIRONMENT).
        if std::env::var_os("DISPLAY").is_none() {
            command.env("DISPLAY", ":0");
        }
    }
    let output = command.output().map_err(SignatureError::Program)?;
    match (output.status.success(), String::from_utf8(output.stdout)) {
        (true, Ok(signature)) if !signature.is_empty() => Ok(signature),
        _ => Err(SignatureError::NotSigned {
            key: key.to_owned(),
        }),
    }
}

/// A file without a name that holds a text, to be read from its beginning. Where the system can, it is sealed: nobody
/// changes it, also not through the folder of a process's open files.
fn unchangeable(text: &str) -> io::Result<fs::File> {
    let mut file = nameless()?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    seal(&file)?;
    Ok(file)
}

#[cfg(target_os = "linux")]
fn nameless() -> io::Result<fs::File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    Ok(fs::File::from(memfd_create("statement", flags)?))
}

#[cfg(target_os = "linux")]
fn seal(file: &fs::File) -> io::Result<()> {
    use rustix::fs::{SealFlags, fcntl_add_seals};
    let all = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    Ok(fcntl_add_seals(file, all)?)
}

#[cfg(not(target_os = "linux"))]
fn nameless() -> io::Result<fs::File> {
    tempfile::tempfile()
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn seal(_: &fs::File) -> io::Result<()> {
    Ok(())
}

/// The `ssh-keygen` that says whether a signature counts: the system's own, since whoever asks can put another one first
/// in their search path.
fn installed() -> PathBuf {
    ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        .iter()
        .map(|folder| Path::new(folder).join("ssh-keygen"))
        .find(|program| program.is_file())
        .unwrap_or_else(|| PathBuf::from("ssh-keygen"))
}

/// The list of keys that counts: that of the system where there is one, which nobody changes who only has the rights of
/// the user, else the one in the user's `store`.
pub fn signers(store: &Path) -> PathBuf {
    signers_of(Path::new(SYSTEM_SIGNERS), store)
}

fn signers_of(system: &Path, store: &Path) -> PathBuf {
    // What cannot be looked at is there as well.
    match system.try_exists() {
        Ok(false) => store.join(SIGNERS),
        Ok(true) | Err(_) => system.to_owned(),
    }
}

/// Whether a list of keys is there, and others cannot write it.
pub fn check_signers(signers: &Path) -> Result<(), SignatureError> {
    let none = || SignatureError::NoSigners {
        path: signers.to_owned(),
    };
    let real = fs::canonicalize(signers).map_err(|_| none())?;
    let list = fs::metadata(&real).map_err(|_| none())?;
    // Opening a pipe would wait for whoever writes it.
    if !list.is_file() {
        return Err(none());
    }
    let is_only_theirs = list.permissions().mode() & 0o022 == 0 && is_own(&list);
    if is_only_theirs && real.parent().is_some_and(keeps_names) {
        return Ok(());
    }
    Err(SignatureError::OpenToOthers {
        path: signers.to_owned(),
    })
}

/// Whether a file belongs to the user, or to root.
pub(crate) fn is_own(about: &fs::Metadata) -> bool {
    [nix::unistd::Uid::current().as_raw(), 0].contains(&about.uid())
}

/// Whether others cannot put another file in the place of one in this folder.
pub(crate) fn keeps_names(folder: &Path) -> bool {
    // With the sticky bit names stay with their owners.
    let keeps = |mode: u32| mode & 0o022 == 0 || mode & 0o1000 != 0;
    fs::metadata(folder).is_ok_and(|about| keeps(about.permissions().mode()))
}

/// Whose signature of a text this is, by a list of allowed keys as `ssh-keygen` reads it (ssh-keygen(1), "ALLOWED
/// SIGNERS"). `at` is the time at which the key has to have been allowed; now if it is left out.
pub fn verify(
    text: &str,
    armored: &str,
    signers: &Path,
    at: Option<jiff::Timestamp>,
) -> Result<Signer, SignatureError> {
    check_signers(signers)?;
    let folder = tempfile::tempdir().map_err(SignatureError::Program)?;
    // Whatever somebody puts in its place is held against the text, which nobody changes.
    let signature = folder.path().join("sig");
    fs::write(&signature, armored).map_err(SignatureError::Program)?;
    let time = at.map(|at| format!("-Overify-time={}", at.strftime("%Y%m%d%H%M%S")));
    let program = installed();
    let candidates = folder.path().join("candidates");
    let list = fs::read_to_string(signers).map_err(SignatureError::Program)?;
    let lines: Vec<&str> = list.lines().filter(|line| may_decide(line)).collect();
    fs::write(&candidates, lines.join("\n") + "\n").map_err(SignatureError::Program)?;
    let keygen = |words: &[&str], signers: &Path| {
        let mut command = Command::new(&program);
        // Older versions read times in the zone of whoever asks, and all of them know this one.
        command.env_clear().env("TZ", "UTC").env("LC_ALL", "C");
        command.args(words).args(&time);
        command.arg("-f").arg(signers).arg("-s").arg(&signature);
        command
    };
    let found = keygen(&["-Y", "find-principals"], &candidates)
        .stdin(Stdio::null())
        .output()
        .map_err(SignatureError::Program)?;
    let invalid = |said_of_it: &[u8]| SignatureError::Invalid {
        why: ssh_keygen_output(said_of_it),
        signers: signers.to_owned(),
    };
    let names = String::from_utf8_lossy(&found.stdout).into_owned();
    let Some(name) = names.lines().next().filter(|_| found.status.success()) else {
        return Err(invalid(&found.stderr));
    };
    let verified = keygen(&["-Y", "verify", "-n", NAMESPACE, "-I", name], signers)
        .stdin(unchangeable(text).map_err(SignatureError::Program)?)
        .output()
        .map_err(SignatureError::Program)?;
    if !verified.status.success() {
        return Err(invalid(&verified.stderr));
    }
    // `Good "…" signature for NAME with ED25519 key SHA256:…`
    let told = String::from_utf8_lossy(&verified.stdout).into_owned();
    let key = told
        .split_whitespace()
        .find(|word| word.starts_with("SHA256:"));
    Ok(Signer {
        name: name.to_owned(),
        key: key.unwrap_or_default().to_owned(),
    })
}

/// Whether a line of a list of keys can be one for decisions. A key may stand in several lines, and `find-principals`
/// gives the name of the first, whatever that line is for.
fn may_decide(line: &str) -> bool {
    let Some((_, rest)) = line.split_once("namespaces=\"") else {
        return true;
    };
    let patterns = rest.split_once('"').map_or(rest, |(patterns, _)| patterns);
    patterns
        .split(',')
        .any(|pattern| pattern == NAMESPACE || pattern.contains(['*', '?']))
}

fn ssh_keygen_output(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text: Vec<&str> = text.split_whitespace().collect();
    if text.is_empty() {
        "ssh-keygen said nothing".to_owned()
    } else {
        text.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(folder: &Path, name: &str) -> (PathBuf, String) {
        let path = folder.join(name);
        let mut keygen = Command::new("ssh-keygen");
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]);
        assert!(keygen.arg(&path).status().unwrap().success());
        let public = fs::read_to_string(path.with_extension("pub")).unwrap();
        (path, public.trim().to_owned())
    }

    #[test]
    fn a_signature_counts_for_its_text_and_its_key() {
        let folder = testkit::folder();
        let (ann, public) = key(folder.path(), "ann");
        let (eve, _) = key(folder.path(), "eve");
        let signers = folder.path().join("allowed_signers");
        let code =
            |text: &str, armored: &str| verify(text, armored, &signers, None).unwrap_err().code();
        assert_eq!(code("x", "y"), "no_signers");
        // A key may stand in several lines.
        let lines =
            format!("other namespaces=\"git\" {public}\nann namespaces=\"{NAMESPACE}\" {public}\n");
        fs::write(&signers, lines).unwrap();
        let allow = |mode| fs::set_permissions(&signers, fs::Permissions::from_mode(mode)).unwrap();
        allow(0o666);
        assert_eq!(code("x", "y"), "no_signers");
        allow(0o600);
        let signature = sign("approve\n", &ann, None).unwrap();
        let signer = verify("approve\n", &signature, &signers, None).unwrap();
        assert_eq!(signer.name, "ann");
        assert!(signer.key.starts_with("SHA256:"), "{signer:?}");
        let other = sign("approve\n", &eve, None).unwrap();
        for (text, armored) in [
            ("reject\n", &*signature),
            ("approve\n", "nonsense"),
            ("approve\n", &other),
        ] {
            assert_eq!(code(text, armored), "signature_invalid", "{text} {armored}");
        }
        let none = sign("approve\n", &folder.path().join("none"), None);
        assert_eq!(none.unwrap_err().code(), "no_signers");
    }

    /// Whoever runs as the same user reaches the open files of a process.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_signed_cannot_be_changed() {
        use std::io::Read as _;
        use std::os::fd::AsRawFd as _;
        let mut file = unchangeable("approve\n").unwrap();
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let mut options = fs::File::options();
        let opened = options.write(true).open(&path);
        let written = opened.and_then(|mut other| other.write_all(b"reject\n"));
        assert!(written.is_err() && options.truncate(true).open(&path).is_err());
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "approve\n");
    }

    #[test]
    fn the_list_of_the_system_goes_before_the_users() {
        let folder = tempfile::tempdir().unwrap();
        let (system, store) = (folder.path().join("system"), folder.path().join("store"));
        assert_eq!(signers_of(&system, &store), store.join("allowed_signers"));
        fs::write(&system, "").unwrap();
        assert_eq!(signers_of(&system, &store), system);
    }

    #[test]
    fn the_user_has_a_name() {
        let name = user_name();
        assert!(!name.is_empty() && !name.contains('\n'), "{name:?}");
    }
}

//! Files that a caller hands over; `-` stands for standard input.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use engine::{Fault, fault};

use super::usage;

/// The most that is read of one, in bytes. What may be as large as that is for the engine to say.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// What a file holds.
pub fn bytes_of(file: &Path) -> Result<Vec<u8>, Fault> {
    let shown = shown_name(file);
    let bytes = read(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => fault!("not_found.unknown_file", shown),
        _ => Fault::environment("io_failed", format!("{shown} could not be read"), &error)
            .suggest("name a file that you can read, or `-` for standard input"),
    })?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(fault!("too_large.given_file", shown, most = MOST_BYTES));
    }
    Ok(bytes)
}

/// The text that a file holds.
pub fn text_of(file: &Path) -> Result<String, Fault> {
    String::from_utf8(bytes_of(file)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].split(|&byte| byte == b'\n').count();
        let shown = shown_name(file);
        usage(format!("{shown}:{line}: this is no UTF-8 text")).suggest("store it as UTF-8 text")
    })
}

/// It, and one byte more than may be read where there are more.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if file.as_os_str() == "-" {
        let input = io::stdin().lock();
        input.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    } else {
        File::open(file)?
            .take(MOST_BYTES + 1)
            .read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// What a file is called in a message.
pub fn shown_name(file: &Path) -> String {
    match file.to_str() {
        Some("-") => "standard input".to_owned(),
        _ => file.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_refused_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("graph.md");
        std::fs::write(&file, b"a\nb\n\xff").unwrap();
        let fault = text_of(&file).unwrap_err();
        assert!(fault.message.contains("graph.md:3:"), "{fault:?}");
        // Nothing of it takes room on the disk.
        let large = File::create(&file).unwrap();
        large.set_len(MOST_BYTES + 1).unwrap();
        assert_eq!(text_of(&file).unwrap_err().code, "too_large");
    }
}

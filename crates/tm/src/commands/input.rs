//! Files that a caller hands over; `-` stands for standard input.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// What a file holds: `most` bytes of it, and one more where there are more.
pub fn bytes_of(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if file.as_os_str() == "-" {
        io::stdin().lock().take(most + 1).read_to_end(&mut bytes)?;
    } else {
        File::open(file)?.take(most + 1).read_to_end(&mut bytes)?;
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

//! The folders that a client with a session works on.
//!
//! It is asked at each call: a client may move to another folder in the middle of a session, and not all of them say so.

use std::path::PathBuf;
use std::time::Duration;

use rmcp::service::{RequestContext, RoleServer};
use tokio_util::sync::CancellationToken;

use super::ask;
use crate::client::MissingRoots;
use crate::stop::Input;

/// How long a call waits for the answer: no person has to be waited for there.
const TIME: Duration = Duration::from_secs(5);

/// The folders that the client works on now.
pub(super) async fn ask_client(
    context: &RequestContext<RoleServer>,
    stopping: &CancellationToken,
) -> Result<Vec<PathBuf>, MissingRoots> {
    let answer = tokio::select! {
        answer = tokio::time::timeout(TIME, ask::one(&Input::Roots, context)) => answer,
        () = context.ct.cancelled() => return Err(MissingRoots::because("the call was cancelled")),
        () = stopping.cancelled() => return Err(MissingRoots::because("the server is stopping")),
    };
    let answer = match answer {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => return Err(MissingRoots::because(error.message)),
        Err(_) => {
            let seconds = TIME.as_secs();
            return Err(MissingRoots::because(format!(
                "no answer came within {seconds} seconds"
            )));
        }
    };
    let roots = answer.get("roots").and_then(|roots| roots.as_array());
    let roots = roots
        .ok_or_else(|| MissingRoots::because("its answer to `roots/list` has no `roots`"))?
        .iter()
        .filter_map(|root| folder(root.get("uri")?.as_str()?));
    Ok(roots.collect())
}

/// The folder that a `file:` URI names; none where it is no such URI, or names another machine's.
pub fn folder(uri: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let rest = uri.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(rest.len());
    let mut input = rest.bytes();
    while let Some(byte) = input.next() {
        if byte == b'%' {
            let digits = [input.next()?, input.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::folder;
    use std::path::PathBuf;

    #[test]
    fn a_file_uri_names_a_folder() {
        for (uri, path) in [
            ("file:///a/b", Some("/a/b")),
            ("file:///a%20b/%C3%A9", Some("/a b/é")),
            ("file://localhost/a", Some("/a")),
            ("file://elsewhere/a", None),
            ("https://a/b", None),
            ("file:///a%2", None),
            ("file:///a%zz", None),
        ] {
            assert_eq!(folder(uri), path.map(PathBuf::from), "{uri}");
        }
    }
}

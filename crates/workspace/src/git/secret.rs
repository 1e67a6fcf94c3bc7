//! Files that look as if they hold a secret.

use super::path::RepoPath;

/// How much of a file's beginning is enough for [`looks_secret`], in bytes.
pub const SECRET_HEAD_BYTES: usize = 8 * 1024 * 1024;

/// Whether a file looks as if it held a secret, by its name or by a private key at its beginning.
///
/// `content_head` is the first [`SECRET_HEAD_BYTES`] of the file, or all of it. Names are compared without case. The
/// header of a private key counts where it begins a line, or where key material follows it (a key in a JSON string);
/// a program that merely mentions the header is left alone.
pub fn looks_secret(path: &RepoPath, content_head: &[u8]) -> bool {
    is_secret_name(path.file_name()) || holds_private_key(content_head)
}

fn is_secret_name(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    if let Some(suffix) = name.strip_prefix(b".env") {
        let harmless = [&b".example"[..], b".sample", b".template"]
            .iter()
            .any(|end| suffix.ends_with(end));
        return suffix.is_empty() || (suffix.starts_with(b".") && !harmless);
    }
    matches!(name.as_slice(), b"id_rsa" | b"id_dsa")
        || name.starts_with(b"id_ecdsa")
        || name.starts_with(b"id_ed25519")
        || name.ends_with(b".p12")
        || name.ends_with(b".pfx")
}

fn holds_private_key(content: &[u8]) -> bool {
    const BEGIN: &[u8] = b"-----BEGIN ";
    const DASHES: &[u8] = b"-----";
    let mut from = 0;
    while let Some(found) = find(&content[from..], BEGIN) {
        let start = from + found;
        let label_start = start + BEGIN.len();
        from = label_start;
        let label_and_more = &content[label_start..];
        let Some(label_end) = find(label_and_more, DASHES).filter(|end| *end <= 64) else {
            continue;
        };
        let label = &label_and_more[..label_end];
        if !(label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK")) {
            continue;
        }
        let line_start = content[..start]
            .iter()
            .rposition(|byte| matches!(byte, b'\n' | b'\r'))
            .map_or(0, |at| at + 1);
        let before = &content[line_start..start];
        let begins_line = before
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(before)
            .trim_ascii()
            .is_empty();
        if begins_line || is_key_material(&label_and_more[label_end + DASHES.len()..]) {
            return true;
        }
    }
    false
}

/// Whether a line break, real or escaped, and then a stretch of base64 comes next.
fn is_key_material(rest: &[u8]) -> bool {
    let mut rest = rest;
    let mut broken = false;
    while let Some(after) = [&b"\\n"[..], b"\\r", b"\n", b"\r", b" "]
        .iter()
        .find_map(|line_break| rest.strip_prefix(*line_break))
    {
        rest = after;
        broken = true;
    }
    let length = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
        .count();
    broken && length >= 20
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(name: &str, content: &str) -> bool {
        looks_secret(&name.parse().unwrap(), content.as_bytes())
    }

    #[test]
    fn names() {
        let secrets = ".env .ENV a/.env.local .env.production .env.example.local id_rsa x/ID_DSA id_ecdsa \
                       id_ecdsa_sk id_ed25519 id_ed25519.old cert.P12 a.pfx";
        for name in secrets.split_whitespace() {
            assert!(secret(name, ""), "{name}");
        }
        let others = ".env.example .env.sample .env.template .ENV.Example .envrc env env.ts id_rsa.pub my_id_rsa \
                      a.p12.md .env/readme src/id.rs";
        for name in others.split_whitespace() {
            assert!(!secret(name, ""), "{name}");
        }
    }

    #[test]
    fn contents() {
        let header = |kind: &str| format!("-----BEGIN {kind}-----");
        let key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC";
        for kind in ["", "RSA ", "OPENSSH ", "ENCRYPTED ", "PGP "] {
            let block = if kind == "PGP " { " BLOCK" } else { "" };
            let header = header(&format!("{kind}PRIVATE KEY{block}"));
            for (text, expected) in [
                (format!("{header}\n{key}\n"), true),
                (format!("notes\r\n  {header}\r\n"), true),
                (format!("{{\"k\": \"{header}\\n{key}\"}}"), true),
                (format!("\u{feff}{header}"), true),
                (format!("if text.contains(\"{header}\") {{"), false),
            ] {
                assert_eq!(secret("a", &text), expected, "{text}");
            }
        }
        for kind in ["CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY"] {
            let text = format!("{}\n{key}\n", header(kind));
            assert!(!secret("a.pem", &text), "{kind}");
        }
        assert!(!secret("a", "-----BEGIN ") && !secret("a", "-----BEGIN PRIVATE KEY"));
    }
}

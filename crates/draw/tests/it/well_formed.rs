//! Whether a drawing can be read at all by those who render it.

use std::collections::BTreeSet;

/// A check of XML: elements closed in turn, attributes in quotes and not twice, no reference but those that every
/// reader knows, nothing that could run.
pub fn svg(text: &str) -> Result<(), String> {
    const ALLOWED: [&str; 9] = [
        "svg", "g", "title", "desc", "style", "rect", "path", "circle", "text",
    ];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    let mut ids = BTreeSet::new();
    while let Some(at) = rest.find('<') {
        plain(&rest[..at])?;
        let end = rest[at..].find('>').ok_or("a tag without an end")? + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("</{name}> closes nothing"));
            }
            continue;
        }
        let (tag, empty) = tag
            .strip_suffix('/')
            .map_or((tag, false), |tag| (tag, true));
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        if !ALLOWED.contains(&name) {
            return Err(format!("an element <{name}>"));
        }
        let mut seen = BTreeSet::new();
        while !attributes.trim().is_empty() {
            let (key, value) = attributes.split_once("=\"").ok_or("an attribute")?;
            let (value, others) = value.split_once('"').ok_or("a quote")?;
            let key = key.trim();
            let known = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            if !known || key.starts_with("on") || key == "href" || !seen.insert(key) {
                return Err(format!("an attribute {key}"));
            }
            plain(value)?;
            if key == "id" && !ids.insert(value) {
                return Err(format!("the id {value} is there twice"));
            }
            attributes = others;
        }
        if !empty {
            open.push(name);
        }
    }
    plain(rest)?;
    if open.is_empty() && ids.len() == 2 {
        Ok(())
    } else {
        Err(format!(
            "{open:?} is not closed, or ids are missing: {ids:?}"
        ))
    }
}

fn plain(text: &str) -> Result<(), String> {
    if text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{ffff}') {
        return Err(format!("a character that XML does not have: {text:?}"));
    }
    for part in text.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
        if !known.iter().any(|known| part.starts_with(known)) {
            return Err(format!("a reference: &{part}"));
        }
    }
    if text.contains('>') {
        return Err(format!("a tag's end in text: {text:?}"));
    }
    Ok(())
}

/// A check of DOT: strings closed, brackets in pairs, outside of strings nothing but what the drawing is made of.
pub fn dot(text: &str) -> Result<(), String> {
    let mut open = Vec::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '"' => loop {
                match characters.next() {
                    Some('\\') => {
                        if !matches!(characters.next(), Some('\\' | '"' | 'n')) {
                            return Err("an escape".to_owned());
                        }
                    }
                    Some('"') => break,
                    Some(c) if c.is_control() => return Err(format!("{c:?} in a string")),
                    Some(_) => {}
                    None => return Err("a string without an end".to_owned()),
                }
            },
            '{' | '[' => open.push(c),
            '}' if open.pop() != Some('{') => return Err("a }".to_owned()),
            ']' if open.pop() != Some('[') => return Err("a ]".to_owned()),
            '}' | ']' => {}
            c if c.is_ascii_alphanumeric() || " \n=,;->_.".contains(c) => {}
            c => return Err(format!("{c:?} outside of a string")),
        }
    }
    if open.is_empty() && text.ends_with("}\n") {
        Ok(())
    } else {
        Err(format!("{open:?} is not closed"))
    }
}

/// A check of a Mermaid flowchart: every line is one of those it is made of, and no text leaves its quotes.
pub fn mermaid(text: &str) -> Result<(), String> {
    let mut lines = text.lines();
    if lines.next() != Some("flowchart TD") {
        return Err("no flowchart".to_owned());
    }
    let mut frames = 0_usize;
    for line in lines {
        let quotes = line.matches('"').count();
        let inside = line.split('"').nth(1).unwrap_or_default();
        if !(quotes == 0 || quotes == 2)
            || inside
                .replace("<br/>", "")
                .contains(['<', '>', '`', '&', '%', '\\'])
            || !line.starts_with("    ")
        {
            return Err(line.to_owned());
        }
        frames += usize::from(line.starts_with("    subgraph "));
        if line == "    end" {
            frames = frames.checked_sub(1).ok_or("an end too many")?;
        }
    }
    if frames == 0 {
        Ok(())
    } else {
        Err("a subgraph without an end".to_owned())
    }
}

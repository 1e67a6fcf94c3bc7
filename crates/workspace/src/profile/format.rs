//! How a response is to be written, in words for who writes it.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Phase, Profile, Reader};

/// The texts that a template sees as `format`.
pub(super) fn texts(profile: &Profile, phase: Phase) -> Value {
    let bundle = match phase {
        Phase::Revision => &profile.responses.revision,
        Phase::Planning | Phase::Generation | Phase::Review => &profile.responses.generation,
    };
    let allow: &[String] = match bundle {
        Reader::Bundle { allow } => allow,
        _ => &[],
    };
    let headings: &[String] = match &profile.responses.planning {
        Reader::Plan { headings } => headings,
        _ => &[],
    };
    json!({
        "plan": plan(headings),
        "bundle": bundle_text(allow),
        "verdict": VERDICT,
    })
}

fn plan(headings: &[String]) -> String {
    let mut text = "The plan is Markdown, and must not be empty.".to_owned();
    if !headings.is_empty() {
        text.push_str(" It must have these headings, each on a line of its own:\n\n```markdown\n");
        for heading in headings {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "## {heading}");
        }
        text.push_str("```");
    }
    text.push_str(
        "\n\nIf no sensible plan can be made of what is asked, because it contradicts itself or leaves out what \
         cannot be guessed, begin the answer with this line instead, without a fence, and the session ends there with your \
         reason:\n\n\
         ```text\nVALIDATION FAILED: what is wrong or missing\n```",
    );
    text
}

fn bundle_text(allow: &[String]) -> String {
    let mut text = "Every file begins after a line that names it, and goes on to the next such line or to the end:\n\n\
        ```text\n\
        <<<FILE: path/of/the/first.file>>>\n\
        the whole content of the first file\n\
        <<<FILE: path/of/the/second.file>>>\n\
        the whole content of the second file\n\
        ```\n\n\
        - Give every file as a whole, from its first line to its last: nothing is left out, nothing stands for what was there.\n\
        - Each of those lines begins at the left edge. The content follows as it is, not in a code fence and not indented.\n\
        - Paths are relative and have `/` between folders. No file comes twice.\n\
        - A line alone says the rest: `<<<EMPTY: name>>>` makes a file without text, `<<<DELETE: name>>>` takes one away, \
        `<<<MOVE: old/name -> new/name>>>` renames one. No text follows them.\n\
        - A file that begins with `#!` can be executed.\n\
        - What stands before the first of those lines is not looked at; after it, everything is content."
        .to_owned();
    if !allow.is_empty() {
        let names: Vec<String> = allow.iter().map(|pattern| format!("`{pattern}`")).collect();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n- Only these names are taken: {}. A pattern without `/` holds in every folder. One file with another name, and \
             none is taken.",
            names.join(", ")
        );
    }
    text
}

const VERDICT: &str = "The review is Markdown, and has this block once, at the left edge and not in a code fence:

```text
@@@REVIEW_META
verdict: FAIL
issues_total: 3
issues_critical: 1
missing_inputs: 0
@@@
```

- `verdict` is `PASS` or `FAIL`. With `PASS` the code is done as it is; with `FAIL` it is written again from your review.
- `issues_total` counts all issues that you name, `issues_critical` those of them that must be mended. `PASS` with a critical issue is refused.
- `missing_inputs` counts what you would have needed to see and did not. All four lines are needed, with whole numbers.";

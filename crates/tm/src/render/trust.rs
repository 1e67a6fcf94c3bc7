//! What a repository brings along, for the person who may trust it.

use engine::trust::{Subject, TrustRequest};

use text::plain::one_line;

use super::{Look, Page, STRONG, Sign};
use text::counted;

/// How many files are listed.
const LISTED: usize = 30;

/// What is decided on.
pub fn request(request: &TrustRequest, look: &Look) -> String {
    let mut page = Page::new(look);
    page.title(&format!("Trust {}?", one_line(&request.title())));
    page.field("where", &one_line(&request.path.display().to_string()));
    page.field("sha256", &request.hash);
    if !request.files.is_empty() {
        page.raw(&look.paint(STRONG, "Its files, which all count:"));
        page.list(request.files.iter().map(String::as_str).take(LISTED));
        if let Some(more) = request
            .files
            .len()
            .checked_sub(LISTED)
            .filter(|&more| more > 0)
        {
            page.raw(&format!("    and {} more", counted(more, "file")));
        }
    }
    // Last, so that a long list does not carry away what is decided on.
    let what = match request.subject {
        Subject::Workflow => "Once it is trusted, it",
        Subject::Profile | Subject::Tests | Subject::Checks => {
            "Once it is trusted, it does this with your rights:"
        }
    };
    page.raw(&look.paint(STRONG, what));
    for effect in &request.effects {
        page.command(effect);
    }
    page.block_wrapped("Read it first. A change of it asks again.");
    page.finish()
}

/// It is trusted no more.
pub fn revoked(subject: Subject, name: &str, was: bool, look: &Look) -> String {
    let mut page = Page::new(look);
    let what = match subject {
        Subject::Profile => format!("the profile {name}"),
        Subject::Workflow => format!("the workflow {name}"),
        Subject::Tests => "the test command".to_owned(),
        Subject::Checks => "the list of checks".to_owned(),
    };
    let text = if was {
        format!("{what} is trusted no more")
    } else {
        format!("nobody had trusted {what}")
    };
    page.signed(Sign::Good, &text);
    page.finish()
}

/// It is trusted, since now or since before.
pub fn trusted(request: &TrustRequest, now: bool, look: &Look) -> String {
    let mut page = Page::new(look);
    let when = if now {
        "is trusted"
    } else {
        "was trusted before,"
    };
    page.signed(
        Sign::Good,
        &format!("{} {when} as it is now", request.title()),
    );
    page.finish()
}

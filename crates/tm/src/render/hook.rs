//! The guard hook's trial, and what it is for.

use super::{BAD, FAINT, GOOD, Look, Page, STRONG, Sign};
use crate::commands::hook::SelfTest;
use crate::hook::Client;
use text::counted;

/// What a person is told who calls the hook.
pub fn at_a_terminal(client: Client, look: &Look) -> String {
    let mut page = Page::new(look);
    page.signed(
        Sign::Bullet,
        "this is called by the client of a coding agent, with a JSON payload on standard input",
    );
    page.command(&format!("tm init --client {} --hook", client.id()));
    page.command(&format!("tm hook {} --self-test", client.id()));
    page.finish()
}

/// Every payload that was tried, and what the client made of the answer.
pub fn tried(answer: &SelfTest, look: &Look) -> String {
    let mut page = Page::new(look);
    let mut client = "";
    for tried in &answer.tried {
        if tried.client != client {
            if !client.is_empty() {
                page.blank();
            }
            client = tried.client;
            page.title(client);
        }
        let (style, verdict) = if tried.ok {
            (GOOD, "ok".to_owned())
        } else {
            (BAD, format!("WRONG: expected {}", tried.expected.word()))
        };
        page.raw(&format!(
            "  {:<7} {:<14} {} {:<11} {}",
            tried.phase,
            tried.event,
            look.paint(STRONG, &format!("{:<31}", tried.what)),
            tried.seen.word(),
            look.paint(style, &verdict),
        ));
        if !tried.ok && !tried.answer.is_empty() {
            page.block(&tried.answer);
        }
    }
    page.blank();
    for found in &answer.installed {
        let sign = if found.ok { Sign::Good } else { Sign::Bad };
        page.signed(sign, &format!("{}: {}", found.file, found.message));
    }
    if answer.installed.is_empty() {
        page.raw(&look.paint(
            FAINT,
            "not in the settings of a client here; `tm init --client CLIENT --hook` puts it there",
        ));
    }
    let wrong = answer.tried.iter().filter(|tried| !tried.ok).count();
    if wrong == 0 {
        page.signed(
            Sign::Good,
            &format!(
                "{}, each answered as it should be",
                counted(answer.tried.len(), "payload")
            ),
        );
    } else {
        page.signed(
            Sign::Bad,
            &format!(
                "{wrong} of {} answered wrongly",
                counted(answer.tried.len(), "payload")
            ),
        );
    }
    page.finish()
}

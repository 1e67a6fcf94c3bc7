//! Where a person has the browser make a passkey that signs decisions.

use engine::{Fault, Kind};
use maud::{Markup, html};

use super::{command, shown};
use crate::access::Right;

/// What the page says that only looks.
const ONLY_LOOKS: &str =
    "this page was opened to look: a passkey is for a page that `tm ui --web` opens at a terminal";

pub fn page(engine: &engine::Engine, right: Right) -> Result<Markup, Fault> {
    if right != Right::Decide {
        return Err(Fault::new(Kind::Refused, "needs_person", ONLY_LOOKS));
    }
    let list = engine.signers();
    Ok(html! {
        main #main tabindex="-1" data-title="Passkey" data-says="" {
            p.crumbs { a href="/" { "Runs" } }
            h1 { "Sign with a passkey" }
            p { "Where a project asks for signed decisions, a passkey signs them here: with a finger, a face, a PIN or a security key, as the browser asks. A program that runs as you cannot give them in your place." }
            p { "What such a program could do is put a key of its own into the list: where that matters, the list is the administrator's, " code { "/etc/tramline/allowed_signers" } "." }
            p { "A signature counts if its key stands in " code { (shown(&list.display().to_string())) } ". It is good for one decision and no other, stands in the journal, and is checked by whoever has your public key (" (command("tm log verify")) ", " (command("tm verify")) ")." }
            form.decision #form-passkey method="post" action="/passkey" {
                label for="passkey-name" { "The name to decide by" }
                input #passkey-name name="name" required pattern="[\\p{L}\\p{N}._@\\-]+" value=(shown(&engine::user_name())) autocomplete="username";
                button type="submit" data-register { "Make a passkey" }
            }
        }
    })
}

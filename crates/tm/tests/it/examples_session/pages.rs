//! What the pages of the documentation show does what they say.

use std::fs;

use testkit::documentation::workspace;

use crate::program::environment::TestEnvironment;
use crate::session::environment::FAIL;

/// The first fenced block behind the heading that begins with `with`.
fn block<'a>(page: &'a str, with: &str) -> &'a str {
    let at = page.find(&format!("\n{with}")).expect(with) + 1;
    let rest = &page[at..];
    &rest[..=rest.find("\n```").unwrap()]
}

#[test]
fn the_smallest_profile_of_its_page_asks_and_takes() {
    let page = fs::read_to_string(workspace().join("docs/profiles.md")).unwrap();
    let project = TestEnvironment::bare();
    for (file, with) in [
        ("profile.yaml", "tramline-profile: 1"),
        ("ask.md", "# {{ phase | capitalize }}"),
    ] {
        let path = format!(".taskmaster/profiles/script/{file}");
        project.write(&path, block(&page, with));
    }
    let init = "session init --profile script -i task=Greet -i shell=bash";
    project.typed(init).text();
    assert_eq!(project.typed("session run").status, 7);
    let respond = ["session", "respond", "-", "--run", "--json"];
    let asks = |told: &str| {
        let prompt = project.typed("session show prompt");
        assert!(prompt.text().contains(told), "{told}: {prompt:?}");
    };
    asks("# Planning: a script for bash\n");
    for (response, phase, told) in [
        (
            "# Usage\ngreet NAME\n\n# Errors\nno name\n",
            "GENERATING",
            "\n# Usage\ngreet NAME\n",
        ),
        (
            "<<<FILE: greet.sh>>>\necho hi\n",
            "REVIEWING",
            "\"greet.sh\":\n\n```text\necho hi\n```\n",
        ),
        (FAIL, "REVISING", "Tabs are forgotten."),
    ] {
        let answer = project.tm_with_input(&respond, response).json_with(7);
        assert_eq!(answer["phase"], phase, "{answer}");
        asks(told);
    }
    let other = "<<<FILE: greet.py>>>\nprint('hi')\n";
    let refused = project.tm_with_input(&respond, other);
    let message = refused.fault(3, "response_unreadable");
    assert!(message.contains("greet.py"), "{message}");
}

//! Types and status in the words that people use, beside those of the corpus.

use markup::documents::design::{Kind, Status, kind, status};

#[test]
fn types() {
    for (text, expected) in [
        ("**Feature** (new)", Some(Kind::Code)),
        ("`refactor`", Some(Kind::Code)),
        ("new feature", Some(Kind::Code)),
        ("✨ feature", Some(Kind::Code)),
        ("code (touches src/fix.rs)", Some(Kind::Code)),
        ("code - backend", Some(Kind::Code)),
        ("Spike (2 days)", Some(Kind::Task)),
        ("CHORE", Some(Kind::Task)),
        ("documentation", Some(Kind::Task)),
        ("CI/CD", Some(Kind::Task)),
        ("bug-fix", Some(Kind::Bugfix)),
        ("Bug Fix", Some(Kind::Bugfix)),
        ("bug/fix", Some(Kind::Bugfix)),
        ("hot fix", Some(Kind::Bugfix)),
        ("🐛 bug", Some(Kind::Bugfix)),
        ("fix: login", Some(Kind::Bugfix)),
        ("code/task/bugfix", None),
        ("", None),
        ("—", None),
        ("decode", None),
    ] {
        assert_eq!(kind(text), expected, "{text:?}");
    }
}

#[test]
fn statuses() {
    for (text, expected) in [
        ("TODO", Some(Status::Pending)),
        ("to do", Some(Status::Pending)),
        ("in-progress", Some(Status::Pending)),
        ("🚧 WIP", Some(Status::Pending)),
        ("not yet documented", Some(Status::Pending)),
        ("to be documented", Some(Status::Pending)),
        ("partially complete", Some(Status::Pending)),
        ("incomplete", Some(Status::Pending)),
        ("50 %", Some(Status::Pending)),
        ("⬜", Some(Status::Pending)),
        ("[ ]", Some(Status::Pending)),
        ("pending (documented in the wiki)", Some(Status::Pending)),
        ("design complete", Some(Status::Documented)),
        ("Brainstorming done", Some(Status::Documented)),
        ("complete!", Some(Status::Complete)),
        ("Completed on Monday", Some(Status::Complete)),
        ("implementation complete", Some(Status::Complete)),
        ("~~pending~~ done", Some(Status::Complete)),
        ("[x]", Some(Status::Complete)),
        ("100%", Some(Status::Complete)),
        ("done (99.5 %)", Some(Status::Pending)),
        ("80 percent done", Some(Status::Pending)),
        ("done 2/5", Some(Status::Pending)),
        ("3 out of 4 complete", Some(Status::Pending)),
        ("done by Friday", Some(Status::Pending)),
        ("complete the parser first", Some(Status::Pending)),
        ("done when merged", Some(Status::Pending)),
        ("done, tests missing", Some(Status::Pending)),
        ("complete except the docs", Some(Status::Pending)),
        ("done; isn’t deployed", Some(Status::Pending)),
        ("done?", Some(Status::Pending)),
        ("almost done", Some(Status::Pending)),
        ("nothing done", Some(Status::Pending)),
        ("completely undocumented", Some(Status::Pending)),
        ("completely broken", None),
        ("documented only partially", Some(Status::Pending)),
        ("documented (pending review)", Some(Status::Pending)),
        ("design review done", Some(Status::Pending)),
        ("⏳ complete", Some(Status::Pending)),
        ("❌ done", Some(Status::Pending)),
        ("[ ] done", Some(Status::Pending)),
        ("✅ login works", Some(Status::Pending)),
        ("design done; code pending", Some(Status::Documented)),
        ("done in design", Some(Status::Documented)),
        ("documented, not implemented", Some(Status::Documented)),
        ("fully documented", Some(Status::Documented)),
        ("100% complete", Some(Status::Complete)),
        ("5/5", Some(Status::Complete)),
        ("all tasks done (5 of 5)", Some(Status::Complete)),
        ("**Complete** 2026-11-21", Some(Status::Complete)),
        ("done 21.11.2026", Some(Status::Complete)),
        ("2026/11/21: done", Some(Status::Complete)),
        ("complete (Nov 21)", Some(Status::Complete)),
        ("fixed in #12", Some(Status::Complete)),
        ("merged to main", Some(Status::Complete)),
        ("it is done", Some(Status::Complete)),
        ("", None),
    ] {
        assert_eq!(status(text), expected, "{text:?}");
    }
}

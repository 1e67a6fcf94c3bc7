//! Types and status in the words that people use.

use markup::documents::design::{Kind, Status, kind, status};

#[test]
fn types() {
    for (text, expected) in [
        ("code", Some(Kind::Code)),
        ("Code", Some(Kind::Code)),
        ("**Feature** (new)", Some(Kind::Code)),
        ("`refactor`", Some(Kind::Code)),
        ("new feature", Some(Kind::Code)),
        ("✨ feature", Some(Kind::Code)),
        ("code (touches src/fix.rs)", Some(Kind::Code)),
        ("feature/refactor", Some(Kind::Code)),
        ("code - backend", Some(Kind::Code)),
        ("task", Some(Kind::Task)),
        ("Spike (2 days)", Some(Kind::Task)),
        ("CHORE", Some(Kind::Task)),
        ("documentation", Some(Kind::Task)),
        ("CI/CD", Some(Kind::Task)),
        ("bugfix", Some(Kind::Bugfix)),
        ("bug-fix", Some(Kind::Bugfix)),
        ("Bug Fix", Some(Kind::Bugfix)),
        ("bug/fix", Some(Kind::Bugfix)),
        ("hot fix", Some(Kind::Bugfix)),
        ("🐛 bug", Some(Kind::Bugfix)),
        ("fix: login", Some(Kind::Bugfix)),
        ("code | task | bugfix", None),
        ("code/task/bugfix", None),
        ("code or task", None),
        ("", None),
        ("—", None),
        ("banana", None),
        ("404", None),
        ("decode", None),
    ] {
        assert_eq!(kind(text), expected, "{text:?}");
    }
}

#[test]
fn statuses() {
    for (text, expected) in [
        ("pending", Some(Status::Pending)),
        ("TODO", Some(Status::Pending)),
        ("to do", Some(Status::Pending)),
        ("in progress", Some(Status::Pending)),
        ("in-progress", Some(Status::Pending)),
        ("🚧 WIP", Some(Status::Pending)),
        ("not started", Some(Status::Pending)),
        ("not done", Some(Status::Pending)),
        ("not yet documented", Some(Status::Pending)),
        ("to be documented", Some(Status::Pending)),
        ("partially complete", Some(Status::Pending)),
        ("incomplete", Some(Status::Pending)),
        ("50 %", Some(Status::Pending)),
        ("⬜", Some(Status::Pending)),
        ("[ ]", Some(Status::Pending)),
        ("pending (documented in the wiki)", Some(Status::Pending)),
        ("documented", Some(Status::Documented)),
        ("Documented (see below)", Some(Status::Documented)),
        ("✅ Documented", Some(Status::Documented)),
        (
            "documented, implementation pending",
            Some(Status::Documented),
        ),
        ("design complete", Some(Status::Documented)),
        ("Brainstorming done", Some(Status::Documented)),
        ("✅ done", Some(Status::Complete)),
        ("complete!", Some(Status::Complete)),
        ("Completed on Monday", Some(Status::Complete)),
        ("implementation complete", Some(Status::Complete)),
        ("~~pending~~ done", Some(Status::Complete)),
        ("[x]", Some(Status::Complete)),
        ("✅", Some(Status::Complete)),
        ("100%", Some(Status::Complete)),
        ("50% complete", Some(Status::Pending)),
        ("0% done", Some(Status::Pending)),
        ("done (99.5 %)", Some(Status::Pending)),
        ("80 percent done", Some(Status::Pending)),
        ("2 of 5 tasks done", Some(Status::Pending)),
        ("done 2/5", Some(Status::Pending)),
        ("3 out of 4 complete", Some(Status::Pending)),
        ("must get done by Friday", Some(Status::Pending)),
        ("done by Friday", Some(Status::Pending)),
        ("resolved in design; code pending", Some(Status::Pending)),
        ("work starts when item 1 is complete", Some(Status::Pending)),
        ("after item 1 is done", Some(Status::Pending)),
        ("depends on fixed schema", Some(Status::Pending)),
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
        ("design is done", Some(Status::Documented)),
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
        ("banana", None),
        ("404", None),
    ] {
        assert_eq!(status(text), expected, "{text:?}");
    }
}

#[test]
fn names_are_read_back() {
    for one in [Kind::Code, Kind::Task, Kind::Bugfix] {
        assert_eq!(kind(one.name()), Some(one));
    }
    for one in [Status::Pending, Status::Documented, Status::Complete] {
        assert_eq!(status(one.name()), Some(one));
    }
}

//! The way back over two commits, with what is staged and what is in no commit.

use std::io;

use serde_json::Value;

use super::tdd::{self, GREEN, RED};
use super::{Act, Story, act};
use crate::stage::Stage;

/// The story.
pub const STORY: Story = Story {
    name: "rewind",
    prelude: &[
        act("start", &["autopilot", "start", "1"]),
        Act {
            files: &[("tests/count.sh", "false\n")],
            ..act("red1", RED)
        },
        Act {
            files: &[("src/count.sh", "true\n"), ("src/words.sh", "one\n")],
            ..act("green1", GREEN)
        },
        act("commit1", &["autopilot", "commit"]),
        Act {
            files: &[("tests/find.sh", "false\n")],
            ..act("red2", RED)
        },
        Act {
            files: &[("src/find.sh", "true\n"), ("src/words.sh", "two\n")],
            ..act("green2", GREEN)
        },
        act("commit2", &["autopilot", "commit"]),
    ],
    acts: &[
        Act {
            files: &[
                ("src/words.sh", "three\n"),
                ("src/more.sh", "more\n"),
                ("src/staged.sh", "staged\n"),
            ],
            staged: &["src/staged.sh"],
            ..act("back", &["autopilot", "rewind", "last-commit"])
        },
        Act {
            files: &[("src/words.sh", "four\n")],
            once: true,
            ..act(
                "back-at-unit",
                &[
                    "autopilot",
                    "rewind",
                    "last-commit",
                    "--unit",
                    "workUnit-1.2-COMMIT-2",
                ],
            )
        },
    ],
    prepare: None,
    standing,
    resume: &[],
    flushes: &[],
};

/// Where the run stands, and the trees that are kept: of each what was in the working tree, and what was staged. What a call
/// left that died half-way is kept beside them, under a name with a number behind a dot.
fn standing(stage: &Stage) -> io::Result<Value> {
    let mut standing = tdd::standing(stage)?;
    let names = stage.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/tramline/rewound",
    ])?;
    let tree = |name: &str| stage.git(&["rev-parse", "--quiet", "--verify", name]);
    let whole = names
        .lines()
        .filter(|name| !name.rsplit('/').next().unwrap_or_default().contains('.'));
    let mut kept = Vec::new();
    for name in whole {
        let staged = tree(&format!("{name}^2^{{tree}}")).unwrap_or_default();
        kept.push(format!("{} {staged}", tree(&format!("{name}^{{tree}}"))?));
    }
    kept.sort();
    kept.dedup();
    standing["kept"] = kept.into();
    Ok(standing)
}

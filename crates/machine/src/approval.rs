//! What a person decided, how much stands behind it, and who has to decide at a gate.

use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

/// How much stands behind a decision that is a person's to make, from the least to the most.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// The person accepted a question of the server that a client of the Model Context Protocol showed. Older journals also
    /// have it for a client that was known to ask by itself.
    #[default]
    Client,
    /// Somebody typed back, at a terminal, what was shown there.
    Terminal,
    /// Somebody signed it, with a key that the person allowed.
    Signed,
}

impl Strength {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Terminal => "terminal",
            Self::Signed => "signed",
        }
    }
}

/// That a person decided something.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// How much stands behind it.
    pub strength: Strength,
    /// Who it was: the user of the system, or whose key it was.
    pub actor: String,
    /// By which way it came, such as `terminal`, or `elicitation by` a client's name and version.
    pub how: String,
    /// The signature, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

impl Approval {
    /// What anybody may do. A person's word on it says who did it, and no rule asks for any.
    pub const OF_ANYBODY: [&str; 3] = ["answer", "pause", "skip"];
}

/// A person's word on `what`, if there is one and enough stands behind it.
pub fn strong_enough<'a>(
    approval: Option<&'a Approval>,
    least: Strength,
    what: &str,
) -> Result<&'a Approval, Box<Refusal>> {
    let (code, message) = match approval {
        Some(approval) if approval.strength >= least => return Ok(approval),
        Some(approval) => (
            "approval_too_weak",
            format!(
                "{what} asks for an approval of the strength `{}`, and what came has `{}`",
                least.name(),
                approval.strength.name()
            ),
        ),
        None => (
            "needs_person",
            format!("only a person decides this: {what}"),
        ),
    };
    Err(Box::new(
        Refusal::new(code)
            .message(message)
            .suggestion(match least {
            Strength::Client => "ask the person to do it, at a terminal or with `--sign KEY`",
            Strength::Terminal => {
                "ask the person to do it, at a terminal or with `--sign KEY`: nothing weaker counts here"
            }
            Strength::Signed => "ask the person to sign it: the same command with `--sign KEY`",
        })
        .detail("required", least.name()),
    ))
}

/// A signature by an SSH key, as `ssh-keygen -Y sign` makes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// The fingerprint of the key.
    pub key: String,
    /// The signature itself, in its armour.
    pub armored: String,
}

/// Who decides at a gate, from nobody to the strictest.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum GateMode {
    /// It is open.
    #[default]
    Auto,
    /// A person: by an answered question of the server, at a terminal, or by a signature. A tool call alone is none.
    Human,
    /// A person at a terminal, or one who signs.
    Terminal,
    /// A person who signs.
    Signed,
}

impl GateMode {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Human, Self::Terminal, Self::Signed];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Human => "human",
            Self::Terminal => "terminal",
            Self::Signed => "signed",
        }
    }

    /// The words for them.
    pub fn words() -> [&'static str; 4] {
        Self::ALL.map(Self::name)
    }

    /// The mode that is called so.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// The least that a decision must have; none where nobody is asked.
    pub fn strength(self) -> Option<Strength> {
        match self {
            Self::Auto => None,
            Self::Human => Some(Strength::Client),
            Self::Terminal => Some(Strength::Terminal),
            Self::Signed => Some(Strength::Signed),
        }
    }
}

impl From<Strength> for GateMode {
    fn from(strength: Strength) -> Self {
        match strength {
            Strength::Client => Self::Human,
            Strength::Terminal => Self::Terminal,
            Strength::Signed => Self::Signed,
        }
    }
}

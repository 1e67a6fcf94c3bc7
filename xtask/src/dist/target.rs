//! The systems that there are packages for, and what each kind of package calls them.

/// A system that there are packages for.
#[derive(Debug)]
pub struct Target {
    /// As Rust calls it.
    pub triple: &'static str,
    /// As Node calls the system.
    pub os: &'static str,
    /// As Node calls the processor.
    pub cpu: &'static str,
    /// As Debian calls it, which is Linux's alone.
    pub debian: Option<&'static str>,
    /// What a formula of Homebrew asks for.
    pub homebrew: [&'static str; 2],
}

/// All of them. Those of Linux are static: they run with any C library, and in a container without one.
pub const TARGETS: &[Target] = &[
    Target {
        triple: "x86_64-unknown-linux-musl",
        os: "linux",
        cpu: "x64",
        debian: Some("amd64"),
        homebrew: ["on_linux", "on_intel"],
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        os: "linux",
        cpu: "arm64",
        debian: Some("arm64"),
        homebrew: ["on_linux", "on_arm"],
    },
    Target {
        triple: "x86_64-apple-darwin",
        os: "darwin",
        cpu: "x64",
        debian: None,
        homebrew: ["on_macos", "on_intel"],
    },
    Target {
        triple: "aarch64-apple-darwin",
        os: "darwin",
        cpu: "arm64",
        debian: None,
        homebrew: ["on_macos", "on_arm"],
    },
];

impl Target {
    /// Whether it is linked on the system that this runs on.
    pub fn is_built_here(&self) -> bool {
        self.is_linux() == cfg!(target_os = "linux")
    }

    /// Whether it is a Linux.
    pub fn is_linux(&self) -> bool {
        self.os == "linux"
    }
}

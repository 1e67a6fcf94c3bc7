//! The tools that are known: how a project tells that it has one, how it is run, and what it prints.
//!
//! What they print and how they end was tried on each of them (with findings, without, with errors of syntax and in the settings) where
//! they could be had, in old and new versions.

use std::path::{Path, PathBuf};

use super::Check;
use super::CheckSettings;
use super::signs::Sign::{self, File, Ini, Json, PreCommit, There, Toml};
use crate::process::{find_program, is_program};

/// Where a tool prints its findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// On its standard output.
    Output,
    /// On its standard error.
    Error,
    /// On both.
    Both,
}

/// Where the program of a tool is looked for before the `PATH`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Of {
    /// Where npm and its like put the programs of a project's packages.
    Node,
    /// In the project's virtual environment.
    Python,
    /// Where Composer puts them.
    Php,
    /// With Bundler, where the project has locked it.
    Ruby,
    /// Nowhere else.
    Path,
    /// Wherever one of these would be.
    Any,
}

/// A tool.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) signs: &'static [Sign],
    of: Of,
    argv: &'static [&'static str],
    all: &'static [&'static str],
    /// Its settings may say which files are all.
    may_say_all: bool,
    endings: Option<&'static [&'static str]>,
    format: &'static str,
    stream: Stream,
    statuses: &'static [i32],
    least: &'static str,
    fix: &'static str,
    nested: &'static [&'static str],
}

/// What most of them have in common.
const TOOL: Tool = Tool {
    name: "",
    signs: &[],
    of: Of::Path,
    argv: &[],
    all: &[],
    may_say_all: false,
    endings: None,
    format: "lines",
    stream: Stream::Output,
    statuses: &[1],
    least: "warning",
    fix: "",
    nested: &[],
};

const PYTHON: &[&str] = &["py", "pyi"];
const SCRIPTS: &[&str] = &[
    "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte",
];
const PYPROJECT: &str = "pyproject.toml";

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "cargo fmt",
        nested: &["rustfmt.toml", ".rustfmt.toml"],
        signs: &[
            There("Cargo.toml"),
            File("rustfmt.toml"),
            File(".rustfmt.toml"),
        ],
        argv: &["cargo", "fmt", "--all", "--", "--check", "-l"],
        format: "names",
        fix: "cargo fmt --all",
        ..TOOL
    },
    Tool {
        name: "clippy",
        nested: &["clippy.toml", ".clippy.toml"],
        signs: &[
            File("clippy.toml"),
            File(".clippy.toml"),
            Toml("Cargo.toml", &["lints", "clippy"]),
            Toml("Cargo.toml", &["workspace", "lints", "clippy"]),
        ],
        argv: &[
            "cargo",
            "clippy",
            "--workspace",
            "--all-targets",
            "--message-format=json",
        ],
        format: "cargo",
        statuses: &[101],
        ..TOOL
    },
    Tool {
        name: "ruff check",
        nested: &["ruff.toml", ".ruff.toml"],
        signs: &[
            File("ruff.toml"),
            File(".ruff.toml"),
            Toml(PYPROJECT, &["tool", "ruff"]),
            PreCommit("ruff"),
            PreCommit("ruff-check"),
        ],
        of: Of::Python,
        argv: &[
            "ruff",
            "check",
            "--no-cache",
            "--output-format",
            "json",
            "--force-exclude",
        ],
        all: &["."],
        endings: Some(PYTHON),
        format: "ruff",
        fix: "ruff check --fix",
        ..TOOL
    },
    Tool {
        name: "ruff format",
        nested: &["ruff.toml", ".ruff.toml"],
        signs: &[
            Toml(PYPROJECT, &["tool", "ruff", "format"]),
            Toml("ruff.toml", &["format"]),
            Toml(".ruff.toml", &["format"]),
            PreCommit("ruff-format"),
        ],
        of: Of::Python,
        argv: &["ruff", "format", "--no-cache", "--diff", "--force-exclude"],
        all: &["."],
        endings: Some(PYTHON),
        format: "diff",
        fix: "ruff format",
        ..TOOL
    },
    Tool {
        name: "black",
        signs: &[Toml(PYPROJECT, &["tool", "black"]), PreCommit("black")],
        of: Of::Python,
        argv: &["black", "--diff", "--quiet"],
        all: &["."],
        format: "diff",
        // With `--diff` it ends with 0 whatever there is to do.
        statuses: &[],
        fix: "black .",
        ..TOOL
    },
    Tool {
        name: "flake8",
        nested: &[".flake8"],
        signs: &[
            File(".flake8"),
            Ini("setup.cfg", "flake8"),
            Ini("tox.ini", "flake8"),
        ],
        of: Of::Python,
        argv: &["flake8", "--format=default"],
        all: &["."],
        ..TOOL
    },
    Tool {
        name: "mypy",
        signs: &[
            File("mypy.ini"),
            File(".mypy.ini"),
            Toml(PYPROJECT, &["tool", "mypy"]),
            Ini("setup.cfg", "mypy"),
        ],
        of: Of::Python,
        argv: &[
            "mypy",
            "--no-error-summary",
            "--no-pretty",
            "--hide-error-context",
            "--cache-dir=/dev/null",
        ],
        all: &["."],
        may_say_all: true,
        ..TOOL
    },
    Tool {
        name: "pyright",
        signs: &[
            File("pyrightconfig.json"),
            Toml(PYPROJECT, &["tool", "pyright"]),
        ],
        of: Of::Python,
        argv: &["pyright", "--outputjson"],
        format: "pyright",
        least: "error",
        ..TOOL
    },
    Tool {
        name: "eslint",
        nested: &[
            ".eslintrc",
            ".eslintrc.js",
            ".eslintrc.cjs",
            ".eslintrc.json",
            ".eslintrc.yml",
            ".eslintrc.yaml",
            ".eslintignore",
        ],
        signs: &[
            File("eslint.config.js"),
            File("eslint.config.mjs"),
            File("eslint.config.cjs"),
            File("eslint.config.ts"),
            File("eslint.config.mts"),
            File("eslint.config.cts"),
            File(".eslintrc"),
            File(".eslintrc.js"),
            File(".eslintrc.cjs"),
            File(".eslintrc.json"),
            File(".eslintrc.yml"),
            File(".eslintrc.yaml"),
            Json("package.json", "eslintConfig"),
        ],
        of: Of::Node,
        argv: &["eslint", "-f", "json"],
        all: &["."],
        endings: Some(SCRIPTS),
        format: "eslint",
        least: "error",
        fix: "npx eslint --fix .",
        ..TOOL
    },
    Tool {
        name: "biome",
        nested: &["biome.json", "biome.jsonc"],
        signs: &[File("biome.json"), File("biome.jsonc")],
        of: Of::Node,
        argv: &[
            "biome",
            "ci",
            "--colors=off",
            "--reporter=github",
            "--no-errors-on-unmatched",
        ],
        all: &["."],
        endings: Some(&[
            "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "json", "jsonc", "css",
        ]),
        format: "github",
        least: "error",
        fix: "npx biome check --write",
        ..TOOL
    },
    Tool {
        name: "prettier",
        nested: &[
            ".prettierrc",
            ".prettierrc.json",
            ".prettierrc.yml",
            ".prettierrc.yaml",
            ".prettierrc.js",
            ".prettierrc.toml",
            ".prettierignore",
            ".editorconfig",
        ],
        signs: &[
            File(".prettierrc"),
            File(".prettierrc.json"),
            File(".prettierrc.yml"),
            File(".prettierrc.yaml"),
            File(".prettierrc.json5"),
            File(".prettierrc.js"),
            File(".prettierrc.cjs"),
            File(".prettierrc.mjs"),
            File(".prettierrc.toml"),
            File("prettier.config.js"),
            File("prettier.config.cjs"),
            File("prettier.config.mjs"),
            File("prettier.config.ts"),
            Json("package.json", "prettier"),
        ],
        of: Of::Node,
        argv: &["prettier", "--list-different", "--ignore-unknown"],
        all: &["."],
        endings: Some(&[
            "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "css", "scss", "less", "html",
            "vue", "json", "md", "mdx", "yaml", "yml", "graphql",
        ]),
        format: "names",
        fix: "npx prettier --write .",
        ..TOOL
    },
    Tool {
        name: "tsc",
        signs: &[File("tsconfig.json")],
        of: Of::Node,
        argv: &["tsc", "--noEmit", "--pretty", "false"],
        statuses: &[1, 2],
        least: "error",
        ..TOOL
    },
    Tool {
        name: "gofmt",
        signs: &[There("go.mod")],
        argv: &["gofmt", "-l"],
        all: &["."],
        endings: Some(&["go"]),
        format: "names",
        // It ends with 0 whatever there is to do, and with 2 where it cannot read a file.
        statuses: &[],
        fix: "gofmt -w .",
        ..TOOL
    },
    Tool {
        name: "go vet",
        signs: &[There("go.mod")],
        argv: &["go", "vet", "./..."],
        stream: Stream::Error,
        ..TOOL
    },
    Tool {
        name: "golangci-lint",
        nested: &[".golangci.yml", ".golangci.yaml"],
        signs: &[
            File(".golangci.yml"),
            File(".golangci.yaml"),
            File(".golangci.toml"),
            File(".golangci.json"),
        ],
        argv: &[
            "golangci-lint",
            "run",
            "--output.json.path=stdout",
            "--show-stats=false",
            "--allow-parallel-runners",
            "--max-issues-per-linter=0",
            "--max-same-issues=0",
        ],
        format: "golangci",
        fix: "golangci-lint run --fix",
        ..TOOL
    },
    Tool {
        name: "rubocop",
        nested: &[".rubocop.yml"],
        signs: &[File(".rubocop.yml")],
        of: Of::Ruby,
        argv: &[
            "rubocop",
            "--cache",
            "false",
            "-f",
            "json",
            "--force-exclusion",
        ],
        endings: Some(&["rb", "rake", "gemspec"]),
        format: "rubocop",
        fix: "rubocop -a",
        ..TOOL
    },
    Tool {
        name: "shellcheck",
        nested: &[".shellcheckrc"],
        signs: &[File(".shellcheckrc"), PreCommit("shellcheck")],
        argv: &["shellcheck", "-f", "gcc"],
        endings: Some(&["sh", "bash"]),
        least: "note",
        ..TOOL
    },
    Tool {
        name: "markdownlint-cli2",
        nested: &[
            ".markdownlint.json",
            ".markdownlint.jsonc",
            ".markdownlint.yaml",
            ".markdownlint.yml",
            ".markdownlint-cli2.jsonc",
            ".markdownlint-cli2.yaml",
        ],
        signs: &[
            File(".markdownlint-cli2.jsonc"),
            File(".markdownlint-cli2.yaml"),
            File(".markdownlint-cli2.cjs"),
            File(".markdownlint-cli2.mjs"),
            File(".markdownlint.json"),
            File(".markdownlint.jsonc"),
            File(".markdownlint.yaml"),
            File(".markdownlint.yml"),
            PreCommit("markdownlint-cli2"),
        ],
        of: Of::Node,
        argv: &["markdownlint-cli2", "--no-globs"],
        all: &["**/*.md", "#node_modules"],
        endings: Some(&["md", "markdown"]),
        stream: Stream::Error,
        fix: "npx markdownlint-cli2 --fix \"**/*.md\"",
        ..TOOL
    },
    Tool {
        name: "phpstan",
        signs: &[
            File("phpstan.neon"),
            File("phpstan.neon.dist"),
            File("phpstan.dist.neon"),
        ],
        of: Of::Php,
        argv: &["phpstan", "analyse", "--no-progress", "--error-format=raw"],
        ..TOOL
    },
    Tool {
        name: "php-cs-fixer",
        signs: &[File(".php-cs-fixer.php"), File(".php-cs-fixer.dist.php")],
        of: Of::Php,
        argv: &[
            "php-cs-fixer",
            "check",
            "--no-interaction",
            "--show-progress=none",
            "--using-cache=no",
            "--format=checkstyle",
        ],
        format: "checkstyle",
        statuses: &[8, 12],
        fix: "php-cs-fixer fix",
        ..TOOL
    },
];

impl Tool {
    /// It in a project that has it by these files.
    pub(super) fn check(&self, (root, top): (&Path, &Path), settings: Vec<CheckSettings>) -> Check {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let mut argv: Vec<String> = owned(self.argv);
        if matches!(self.of, Of::Ruby) && is_locked_by_bundler(root, self.name) {
            argv.splice(0..0, owned(&["bundle", "exec"]) as Vec<String>);
        }
        let program = argv.first().map(String::as_str).unwrap_or_default();
        Check {
            name: self.name.to_owned(),
            program: self.of.find(program, (root, top)),
            all: self.whole(&settings),
            argv,
            endings: self.endings,
            format: Some(self.format),
            stream: self.stream,
            statuses: self.statuses,
            least: self.least,
            fix: self.fix,
            settings,
            nested: self.nested,
        }
    }

    /// What stands for all files: nothing where the settings say it.
    fn whole(&self, settings: &[CheckSettings]) -> Vec<String> {
        let says_files = |settings: &CheckSettings| {
            let pairs = settings.text.split(['\n', ',', '{']);
            let mut keys = pairs.filter_map(|pair| pair.split_once('='));
            keys.any(|(key, _)| matches!(key.trim(), "files" | "packages" | "modules"))
        };
        if self.may_say_all && settings.iter().any(says_files) {
            return Vec::new();
        }
        self.all.iter().map(|word| (*word).to_owned()).collect()
    }
}

impl Of {
    /// Where a program lies that the project at `root` starts by this name.
    pub(super) fn find(self, program: &str, (root, top): (&Path, &Path)) -> Option<PathBuf> {
        let places = self.folders(root, top).into_iter();
        let mut places = places.map(|folder| folder.join(program));
        let own = places.find(|place| !program.contains('/') && is_program(place));
        own.or_else(|| find_program(program, root))
    }

    /// The folders in which programs lie, the nearest first.
    fn folders(self, root: &Path, top: &Path) -> Vec<PathBuf> {
        let up = || {
            root.ancestors()
                .take_while(|folder| folder.starts_with(top))
        };
        let below = |names: &[&str]| -> Vec<PathBuf> {
            up().flat_map(|folder| names.iter().map(|name| folder.join(name)))
                .collect()
        };
        match self {
            Self::Node => below(&["node_modules/.bin"]),
            Self::Python => below(&[".venv/bin", "venv/bin"]),
            Self::Php => below(&["vendor/bin"]),
            Self::Ruby | Self::Path => Vec::new(),
            Self::Any => below(&["node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin"]),
        }
    }
}

/// Whether a program is one of those that a project's Gemfile has locked.
fn is_locked_by_bundler(root: &Path, name: &str) -> bool {
    let lock = crate::convention::read_manifest(&root.join("Gemfile.lock"));
    lock.is_some_and(|lock| {
        lock.lines()
            .any(|line| line.trim().starts_with(&format!("{name} ")))
    })
}

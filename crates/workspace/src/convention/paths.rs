//! What a file is for, told by its path: a test, documentation, build and tooling, or source.

use std::sync::LazyLock;

use globset::{Glob, GlobBuilder};
use thiserror::Error;

use super::globs::Globs;

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PathClass {
    /// A test, its data or its snapshots.
    Test,
    /// Documentation.
    Docs,
    /// Manifests, lock files, CI, tool settings.
    Build,
    /// Everything else: what the product is made of.
    Source,
}

/// A glob that cannot be used.
#[derive(Debug, Error)]
#[error("`{pattern}` is not a usable file pattern")]
pub struct PatternError {
    /// The pattern as it was given.
    pub pattern: String,
    /// What is wrong with it.
    #[source]
    pub source: globset::Error,
}

/// A language, as far as its conventions for tests go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// JavaScript and TypeScript, with all their file endings.
    JavaScript,
    /// Rust.
    Rust,
    /// Go.
    Go,
    /// Python.
    Python,
    /// Java, Kotlin, Scala and Groovy.
    Jvm,
    /// C# and F#.
    DotNet,
    /// Elixir.
    Elixir,
    /// PHP.
    Php,
    /// Ruby.
    Ruby,
    /// Swift.
    Swift,
    /// Dart.
    Dart,
}

impl Language {
    /// The language of a file, by its ending.
    pub fn of(path: &str) -> Option<Self> {
        let (_, ending) = file_name(path).rsplit_once('.')?;
        Some(match ending {
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" => {
                Self::JavaScript
            }
            "rs" => Self::Rust,
            "go" => Self::Go,
            "py" => Self::Python,
            "java" | "kt" | "kts" | "scala" | "groovy" => Self::Jvm,
            "cs" | "fs" => Self::DotNet,
            "ex" | "exs" => Self::Elixir,
            "php" => Self::Php,
            "rb" => Self::Ruby,
            "swift" => Self::Swift,
            "dart" => Self::Dart,
            _ => return None,
        })
    }

    /// The globs that this language's test files match by convention.
    pub fn test_patterns(self) -> &'static [&'static str] {
        match self {
            Self::JavaScript => &[
                "**/*.{test,spec}.{js,jsx,mjs,cjs,ts,tsx,mts,cts}",
                "**/*.{e2e,cy}.{js,ts,jsx,tsx}",
                "**/*-{test,spec}.{js,jsx,ts,tsx,mjs,cjs}",
                "**/__tests__/**",
                "**/__mocks__/**",
                "**/__snapshots__/**",
            ],
            Self::Rust => &["**/tests.rs", "**/*_{test,tests}.rs", "**/tests/**"],
            Self::Go => &["**/*_test.go", "**/testdata/**"],
            Self::Python => &[
                "**/test_*.py",
                "**/*_test.py",
                "**/conftest.py",
                "**/tests/**",
            ],
            Self::Jvm => &[
                "**/src/{test,androidTest,integrationTest,testFixtures}/**",
                "**/*{Test,Tests,IT,Spec}.{java,kt,scala,groovy}",
            ],
            Self::DotNet => &[
                "**/*{Test,Tests,Specs}.{cs,fs}",
                "**/*.{Tests,Test,UnitTests,IntegrationTests}/**",
            ],
            Self::Elixir => &["**/*_test.exs", "**/test_helper.exs", "**/test/**"],
            Self::Php => &["**/*Test.php", "**/tests/**"],
            Self::Ruby => &[
                "**/*_{spec,test}.rb",
                "**/test_*.rb",
                "**/{spec_helper,rails_helper,test_helper}.rb",
            ],
            Self::Swift => &["**/*Tests.swift", "**/Tests/**"],
            Self::Dart => &["**/*_test.dart", "**/test/**"],
        }
    }

    const ALL: [Self; 11] = [
        Self::JavaScript,
        Self::Rust,
        Self::Go,
        Self::Python,
        Self::Jvm,
        Self::DotNet,
        Self::Elixir,
        Self::Php,
        Self::Ruby,
        Self::Swift,
        Self::Dart,
    ];
}

/// Test places that no language has to itself.
pub(crate) const SHARED_TESTS: &[&str] = &[
    "**/{test,tests,testdata,e2e,cypress}/**",
    "**/spec/**/*.{rb,js,jsx,ts,tsx,php,lua,cr}",
    "**/*.snap",
    "**/*.snap.new",
];

const DOCS: &[&str] = &[
    "**/*.{md,mdx,markdown,rst,adoc,asciidoc,textile}",
    "**/{doc,docs}/**",
    "**/{README,LICENSE,LICENCE,COPYING,NOTICE,AUTHORS,CHANGELOG,CHANGES,CONTRIBUTING,HISTORY}{,.txt,-MIT,-APACHE}",
];

/// Named files before [`DOCS`]: `requirements.txt` and the like are no documentation, whatever
/// folder or ending they have.
const BUILD: &[&str] = &[
    "**/{Cargo,rust-toolchain,rustfmt,.rustfmt,clippy,.clippy,deny,Cross,pyproject,Pipfile,uv,poetry,mise,.mise,netlify,wrangler}.toml",
    "**/*.lock",
    "**/{package,package-lock,npm-shrinkwrap,bower,lerna,nx,turbo,deno,renovate,composer,jsconfig,vercel,biome,global}.json",
    "**/{deno,biome,tsconfig}.jsonc",
    "**/tsconfig*.json",
    "**/{pnpm-lock,pnpm-workspace,docker-compose*,compose,codecov,mkdocs,.readthedocs,.pre-commit-config,.golangci,Taskfile}.{yml,yaml}",
    "**/{bun.lockb,go.mod,go.sum,go.work,go.work.sum,build.rs,rust-toolchain,mix.exs,Gemfile,Rakefile,Package.swift,Podfile,pubspec.yaml}",
    "**/{ruff,.ruff,.golangci}.toml",
    "**/{.flake8,.pylintrc,mypy.ini,.mypy.ini,pyrightconfig.json,.shellcheckrc,.golangci.json,.clang-format,.clang-tidy}",
    "**/{.rubocop*.yml,.php-cs-fixer.php,.php-cs-fixer.dist.php}",
    "**/{pom.xml,build.xml,gradlew,gradlew.bat,mvnw,mvnw.cmd,gradle.properties,build.sbt,build.zig,build.zig.zon,meson.build}",
    "**/*.{gradle,gradle.kts,gemspec,csproj,fsproj,vbproj,sln,slnx,props,targets,cmake,mk,bzl,nix}",
    "**/{requirements*,constraints*}.{txt,in}",
    "**/{setup.py,setup.cfg,tox.ini,pytest.ini,noxfile.py,MANIFEST.in,CMakeLists.txt,Justfile,justfile,.justfile}",
    "**/{Makefile,makefile,GNUmakefile,configure.ac,BUILD,BUILD.bazel,WORKSPACE,WORKSPACE.bazel,MODULE.bazel,Jenkinsfile,Procfile,Vagrantfile}",
    "**/{Dockerfile,Containerfile}{,.*}",
    "**/*.dockerfile",
    "**/*.config.{js,ts,mjs,cjs,mts,cts}",
    "**/{phpunit,phpcs,phpstan}*.{xml,xml.dist,neon,dist}",
    "**/{.github,.gitlab,.circleci,.buildkite,.husky,.vscode,.idea,.devcontainer,.cargo,.config,.mvn}/**",
    "**/gradle/wrapper/**",
    "**/.{gitlab-ci,travis,appveyor,cirrus,drone}.yml",
    "**/{azure-pipelines,appveyor,bitbucket-pipelines}.yml",
    "**/.{gitignore,gitattributes,gitmodules,mailmap,editorconfig,dockerignore,npmrc,nvmrc,node-version,python-version,ruby-version,tool-versions,envrc,rspec,npmignore,prettierignore,eslintignore}",
    "**/.{eslintrc,prettierrc,babelrc,stylelintrc,mocharc,nycrc,swcrc,lintstagedrc,commitlintrc,markdownlint}{,.*}",
];

static DEFAULT_TEST_SET: LazyLock<Globs> = LazyLock::new(|| built_in(default_test_patterns()));
static DOCS_SET: LazyLock<Globs> = LazyLock::new(|| built_in(DOCS.iter().copied()));
static BUILD_SET: LazyLock<Globs> = LazyLock::new(|| built_in(BUILD.iter().copied()));

/// Endings of programs. In a folder of documents of its own they are examples or its settings; in one that lies in the product they are
/// part of that, and Go takes any folder for a package.
const PROGRAMS: &[&str] = &[
    "c", "cc", "cpp", "cs", "cts", "dart", "ex", "go", "h", "hpp", "java", "js", "jsx", "kt",
    "mjs", "mts", "php", "py", "rb", "rs", "scala", "swift", "ts", "tsx", "zig",
];

fn is_code_among_docs(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_own = ["doc/", "docs/"]
        .iter()
        .any(|folder| path.starts_with(folder));
    PROGRAMS.contains(&ending) && (!is_own || ending == "go")
}

fn built_in(patterns: impl Iterator<Item = &'static str>) -> Globs {
    glob_set(patterns).expect("patterns written in this file are correct, as its tests show")
}

/// Tells what files are for.
#[derive(Debug, Clone, Default)]
pub struct PathClasses {
    /// The user's test patterns; without any, the defaults count.
    tests: Option<Globs>,
}

impl PathClasses {
    /// Classes in which test files are those that match `test_patterns`, or the conventions of
    /// all known languages when it is empty. A pattern without a slash matches in any folder,
    /// and one that ends with a slash, everything below such a folder.
    pub fn new<S: AsRef<str>>(test_patterns: &[S]) -> Result<Self, PatternError> {
        if test_patterns.is_empty() {
            return Ok(Self::default());
        }
        let tests = glob_set(test_patterns.iter().map(AsRef::as_ref))?;
        Ok(Self { tests: Some(tests) })
    }

    /// What the file at `path` (relative to the project root, with `/`) is for. A file that
    /// could be several things is the first of: test, build, docs.
    pub fn of(&self, path: &str) -> PathClass {
        if self.is_test(path) {
            PathClass::Test
        } else if BUILD_SET.is_match(path) {
            PathClass::Build
        } else if DOCS_SET.is_match(path) && !is_code_among_docs(path) {
            PathClass::Docs
        } else {
            PathClass::Source
        }
    }

    /// Whether the file at `path` is a test file.
    pub fn is_test(&self, path: &str) -> bool {
        if let Some(tests) = &self.tests {
            return tests.is_match(path);
        }
        // By Maven's layout this is the product, even in a package that is called `test`.
        let is_product = path
            .find("src/main/")
            .is_some_and(|at| at == 0 || path.as_bytes()[at - 1] == b'/');
        !is_product && DEFAULT_TEST_SET.is_match(path)
    }
}

/// The globs of test files in all known languages: what counts when the settings name none.
pub fn default_test_patterns() -> impl Iterator<Item = &'static str> {
    let by_language = Language::ALL.into_iter().flat_map(Language::test_patterns);
    by_language.chain(SHARED_TESTS).copied()
}

/// Folders whose content a runner writes by itself.
const WRITTEN_FOLDERS: &[&str] = &[
    "__snapshots__",
    "__image_snapshots__",
    "__file_snapshots__",
    "__diff_output__",
    "proptest-regressions",
    ".hypothesis",
];

/// Files that a runner writes by itself, by how their names end.
const WRITTEN_ENDINGS: &[&str] = &[
    ".snap",
    ".snap.new",
    ".pending-snap",
    ".ambr",
    ".proptest-regressions",
];

/// Whether a file is one that a test runner writes by itself, such as a snapshot: a new one is no change of the tests. What
/// people approve by hand (`*.approved.*`) is not.
pub fn is_runner_written(path: &str) -> bool {
    let name = file_name(path);
    let in_folder = |wanted: &str| path.split('/').rev().skip(1).any(|part| part == wanted);
    let received = name.contains(".received.") && !name.starts_with('.');
    received
        || WRITTEN_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || WRITTEN_FOLDERS.iter().any(|folder| in_folder(folder))
        || path.starts_with("testdata/fuzz/")
        || path.contains("/testdata/fuzz/")
}

/// Folders with what a runner expects, as it has written it.
const SNAPSHOT_FOLDERS: &[&str] = &["__snapshots__", "__image_snapshots__", "__file_snapshots__"];

/// Files with what a runner expects, by how their names end.
const SNAPSHOT_ENDINGS: &[&str] = &[".snap", ".ambr"];

/// Whether a file holds what a runner has written down as right: its tests fail where something else comes out.
pub fn is_snapshot(path: &str) -> bool {
    let name = file_name(path);
    let mut folders = path.split('/').rev().skip(1);
    SNAPSHOT_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || folders.any(|folder| SNAPSHOT_FOLDERS.contains(&folder))
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The folder part of a path, without the slash at its end; empty at the root.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// One glob in the notation of the settings.
pub(crate) fn glob(pattern: &str) -> Result<Glob, PatternError> {
    let plain = pattern.trim();
    let plain = plain.strip_prefix("./").unwrap_or(plain);
    let plain = plain.strip_prefix('/').unwrap_or(plain);
    let full = match plain.strip_suffix('/') {
        Some(folder) if folder.contains('/') => format!("{folder}/**"),
        Some(folder) => format!("**/{folder}/**"),
        None if plain.contains('/') => plain.to_owned(),
        None => format!("**/{plain}"),
    };
    GlobBuilder::new(&full)
        .literal_separator(true)
        .empty_alternates(true)
        .build()
        .map_err(|source| PatternError {
            pattern: pattern.to_owned(),
            source,
        })
}

fn glob_set<'a>(patterns: impl Iterator<Item = &'a str>) -> Result<Globs, PatternError> {
    let mut set = Globs::default();
    for pattern in patterns {
        set.add(glob(pattern)?).map_err(|source| PatternError {
            pattern: pattern.to_owned(),
            source,
        })?;
    }
    Ok(set)
}

//! The runners that can be made to name their tests, each as data.

/// A runner, and what makes it run every test and write a report of it.
pub(super) struct Runner {
    /// What it is called.
    pub(super) name: &'static str,
    /// What its commands begin with, one way each: the program without its folder, and the words that follow.
    pub(super) called: &'static [&'static [&'static str]],
    /// What has it run every test, also where one fails.
    pub(super) runs_all: Added,
    /// What has it report, where neither its command nor who calls it says how.
    pub(super) reports: Added,
    /// Options that are taken out of the command, each with whether its value may be the next word: they end it where a test
    /// fails, or are the same as one that is added and cannot stand twice. One behind a script stays, and nothing of its name is
    /// added.
    pub(super) taken_out: &'static [(&'static str, bool)],
    /// The file or the folder that it writes to, in the folder of ours; none where it prints the report.
    pub(super) writes: Option<&'static str>,
    /// Files that are written into the folder of ours before, with what they hold.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// Folders of the project, each by the names that its path ends with, in which it leaves reports in any case.
    pub(super) leaves: &'static [&'static [&'static str]],
    /// The format of the report.
    pub(super) format: &'static str,
    /// Whether it names a test with its file only where there are several files.
    pub(super) names_files_of_several: bool,
    /// Whether it leaves files out of its report that could not be loaded, and prints them.
    pub(super) prints_unloaded: bool,
    /// Words with which a command says by itself how it is to be reported.
    pub(super) not_with: &'static [&'static str],
    /// How it takes the tests that it is to run.
    pub(super) selects: Selects,
}

/// How a runner is told to run some of its tests.
#[derive(Clone, Copy)]
pub(super) enum Selects {
    /// It is not known how.
    Nothing,
    /// By their files, as arguments.
    Files,
    /// By the names of functions, as an expression in an option that begins so.
    Functions(&'static str),
    /// By what their names hold, as arguments behind `--`.
    Names,
    /// By what their names hold, each behind this option.
    EachName(&'static str),
}

/// What is added to a command.
#[derive(Clone, Copy)]
pub(super) struct Added {
    /// Arguments, behind its own: they count more than what stands before them, and than what the project's settings say.
    pub(super) arguments: &'static [&'static str],
    /// Variables whose values are added to those that are there. They reach the runner through any script.
    pub(super) variables: &'static [(&'static str, &'static str)],
}

impl Added {
    const fn arguments(arguments: &'static [&'static str]) -> Self {
        Self {
            arguments,
            variables: &[],
        }
    }

    const fn variables(variables: &'static [(&'static str, &'static str)]) -> Self {
        Self {
            arguments: &[],
            variables,
        }
    }
}

/// Stands for the file or folder that the report is written to.
pub(super) const REPORT: &str = "{report}";

/// Stands for the folder of ours.
pub(super) const OWN: &str = "{own}";

const NOTHING: Runner = Runner {
    name: "",
    called: &[],
    runs_all: Added::arguments(&[]),
    reports: Added::arguments(&[]),
    taken_out: &[],
    writes: None,
    files: &[],
    leaves: &[],
    format: "junit",
    names_files_of_several: false,
    prints_unloaded: false,
    not_with: &[],
    selects: Selects::Nothing,
};

/// All of them.
pub(super) const RUNNERS: &[Runner] = &[
    Runner {
        name: "pytest",
        called: &[
            &["pytest"],
            &["py.test"],
            &["python", "-m", "pytest"],
            &["coverage", "run", "-m", "pytest"],
            &["python", "-m", "coverage", "run", "-m", "pytest"],
        ],
        // Variables count less than what the command says, and more than settings.
        runs_all: Added {
            arguments: &["--maxfail=0"],
            variables: &[("PYTEST_ADDOPTS", "--maxfail=0")],
        },
        reports: Added::variables(&[("PYTEST_ADDOPTS", "--junitxml={report}")]),
        writes: Some("pytest.xml"),
        not_with: &["--junitxml", "--junit-xml"],
        selects: Selects::Files,
        ..NOTHING
    },
    Runner {
        // It hands on to the tests only what it is told to.
        name: "tox",
        called: &[&["tox"], &["python", "-m", "tox"]],
        runs_all: Added::variables(&[
            ("PYTEST_ADDOPTS", "--maxfail=0"),
            ("TOX_OVERRIDE", "testenv.pass_env+=PYTEST_ADDOPTS"),
        ]),
        reports: Added::variables(&[("PYTEST_ADDOPTS", "--junitxml={report}")]),
        writes: Some("pytest.xml"),
        ..NOTHING
    },
    Runner {
        name: "unittest",
        called: &[&["python", "-m", "unittest"]],
        reports: Added::arguments(&["-v"]),
        taken_out: &[("-f", false), ("--failfast", false)],
        format: "unittest-text",
        not_with: &["-v", "--verbose", "-q", "--quiet"],
        selects: Selects::EachName("-k"),
        ..NOTHING
    },
    Runner {
        name: "go test",
        called: &[&["go", "test"]],
        runs_all: Added::arguments(&["-failfast=false"]),
        reports: Added::arguments(&["-json"]),
        format: "go-json",
        not_with: &["-json", "-c", "-bench"],
        selects: Selects::Functions("-run"),
        ..NOTHING
    },
    Runner {
        name: "jest",
        called: &[&["jest"]],
        runs_all: Added::arguments(&["--bail=0"]),
        reports: Added::arguments(&["--json", "--outputFile={report}"]),
        writes: Some("jest.json"),
        format: "jest-json",
        not_with: &["--json", "--outputFile", "--watch", "--watchAll"],
        selects: Selects::Files,
        ..NOTHING
    },
    Runner {
        name: "vitest",
        called: &[&["vitest"]],
        runs_all: Added::arguments(&["--bail=0"]),
        reports: Added::arguments(&[
            "--reporter=default",
            "--reporter=junit",
            "--outputFile.junit={report}",
        ]),
        taken_out: &[("--bail", true)],
        writes: Some("vitest.xml"),
        not_with: &[
            "--reporter",
            "--outputFile",
            "--watch",
            "-w",
            "watch",
            "dev",
            "bench",
            "list",
        ],
        selects: Selects::Files,
        ..NOTHING
    },
    Runner {
        name: "mocha",
        called: &[&["mocha"]],
        runs_all: Added::arguments(&["--no-bail"]),
        reports: Added::arguments(&["--reporter=json", "--reporter-option=output={report}"]),
        writes: Some("mocha.json"),
        format: "mocha-json",
        not_with: &["--reporter", "-R", "--watch", "-w"],
        selects: Selects::Files,
        ..NOTHING
    },
    Runner {
        name: "ava",
        called: &[&["ava"]],
        runs_all: Added::arguments(&["--no-fail-fast"]),
        reports: Added::arguments(&["--tap"]),
        format: "tap",
        names_files_of_several: true,
        not_with: &["--watch", "-w"],
        selects: Selects::Files,
        ..NOTHING
    },
    Runner {
        name: "node",
        called: &[&["node", "--test"]],
        reports: Added::variables(&[(
            "NODE_OPTIONS",
            "--test-reporter=spec --test-reporter-destination=stdout --test-reporter=tap --test-reporter-destination={report}",
        )]),
        writes: Some("node.tap"),
        format: "tap",
        not_with: &["--test-reporter", "--watch"],
        selects: Selects::Files,
        ..NOTHING
    },
    Runner {
        name: "rspec",
        called: &[&["rspec"]],
        // What it is told by this variable counts more than what the command says.
        runs_all: Added::variables(&[("SPEC_OPTS", "--no-fail-fast")]),
        reports: Added::variables(&[(
            "SPEC_OPTS",
            "--format progress --format json --out {report}",
        )]),
        writes: Some("rspec.json"),
        format: "rspec-json",
        not_with: &["--format", "-f"],
        selects: Selects::Files,
        ..NOTHING
    },
    Runner {
        name: "phpunit",
        called: &[&["phpunit"], &["pest"], &["php", "vendor/bin/phpunit"]],
        reports: Added::arguments(&["--log-junit", REPORT]),
        taken_out: &[
            ("--bail", false),
            ("--stop-on-defect", false),
            ("--stop-on-deprecation", false),
            ("--stop-on-error", false),
            ("--stop-on-failure", false),
            ("--stop-on-incomplete", false),
            ("--stop-on-notice", false),
            ("--stop-on-risky", false),
            ("--stop-on-skipped", false),
            ("--stop-on-warning", false),
        ],
        writes: Some("phpunit.xml"),
        not_with: &["--log-junit"],
        ..NOTHING
    },
    Runner {
        name: "dotnet test",
        called: &[&["dotnet", "test"]],
        reports: Added::arguments(&["--logger", "trx", "--results-directory", REPORT]),
        writes: Some("dotnet/"),
        format: "trx",
        not_with: &["--logger", "-l", "--results-directory"],
        ..NOTHING
    },
    Runner {
        // It prints every name, and ends with the first of its programs in which a test fails.
        name: "cargo test",
        called: &[&["cargo", "test"], &["cargo", "t"]],
        runs_all: Added::arguments(&["--no-fail-fast"]),
        taken_out: &[("--no-fail-fast", false)],
        format: "cargo-text",
        not_with: &[
            "-q",
            "--quiet",
            "--message-format",
            "--no-run",
            "--format",
            "-Zunstable-options",
        ],
        selects: Selects::Names,
        ..NOTHING
    },
    Runner {
        // Settings of a tool count less than those of the project.
        name: "cargo nextest",
        called: &[&["cargo", "nextest"], &["cargo-nextest", "nextest"]],
        runs_all: Added::arguments(&["--no-fail-fast"]),
        reports: Added::arguments(&["--tool-config-file", "tramline:{own}/nextest.toml"]),
        taken_out: &[
            ("--no-fail-fast", false),
            ("--nff", false),
            ("--fail-fast", false),
            ("--ff", false),
            ("--max-fail", true),
        ],
        files: &[(
            "nextest.toml",
            "[profile.default.junit]\npath = \"{report}\"\n",
        )],
        writes: Some("nextest.xml"),
        not_with: &["--tool-config-file", "--no-run", "--profile", "-P", "list"],
        ..NOTHING
    },
    Runner {
        name: "maven",
        called: &[&["mvn"], &["mvnw"], &["mvnd"]],
        leaves: &[
            &["target", "surefire-reports"],
            &["target", "failsafe-reports"],
        ],
        ..NOTHING
    },
    Runner {
        name: "gradle",
        called: &[&["gradle"], &["gradlew"]],
        leaves: &[&["build", "test-results", "*"]],
        ..NOTHING
    },
    Runner {
        name: "deno test",
        called: &[&["deno", "test"]],
        taken_out: &[("--fail-fast", false)],
        reports: Added::arguments(&["--junit-path={report}"]),
        writes: Some("deno.xml"),
        not_with: &["--junit-path", "--reporter", "--watch"],
        ..NOTHING
    },
    Runner {
        name: "bun test",
        called: &[&["bun", "test"]],
        // It has no word for never.
        runs_all: Added::arguments(&["--bail=1000000"]),
        reports: Added::arguments(&["--reporter=junit", "--reporter-outfile={report}"]),
        writes: Some("bun.xml"),
        prints_unloaded: true,
        not_with: &["--reporter", "--watch"],
        ..NOTHING
    },
];

/// What runners are called with that print the name of every test without being told to.
pub(super) const NAMING: &[&str] = &["ctest"];

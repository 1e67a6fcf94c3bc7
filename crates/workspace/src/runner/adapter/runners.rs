//! The runners that can be made to name their tests, each as data.

/// A runner, and what makes it write a report of every test.
pub(super) struct Runner {
    /// What it is called.
    pub(super) name: &'static str,
    /// What its commands begin with, one way each: the program without its folder, and the words that follow.
    pub(super) called: &'static [&'static [&'static str]],
    /// Arguments that are added to the command.
    pub(super) arguments: &'static [&'static str],
    /// Variables whose values are added to those that are there. They reach it through any script.
    pub(super) variables: &'static [(&'static str, &'static str)],
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
    /// Words with which a command says by itself how it is to be reported.
    pub(super) not_with: &'static [&'static str],
}

/// Stands for the file or folder that the report is written to.
pub(super) const REPORT: &str = "{report}";

/// Stands for the folder of ours.
pub(super) const OWN: &str = "{own}";

const NOTHING: Runner = Runner {
    name: "",
    called: &[],
    arguments: &[],
    variables: &[],
    writes: None,
    files: &[],
    leaves: &[],
    format: "junit",
    names_files_of_several: false,
    not_with: &[],
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
        variables: &[("PYTEST_ADDOPTS", "--junitxml={report}")],
        writes: Some("pytest.xml"),
        not_with: &["--junitxml", "--junit-xml"],
        ..NOTHING
    },
    Runner {
        // It hands on to the tests only what it is told to.
        name: "tox",
        called: &[&["tox"], &["python", "-m", "tox"]],
        variables: &[
            ("PYTEST_ADDOPTS", "--junitxml={report}"),
            ("TOX_OVERRIDE", "testenv.pass_env+=PYTEST_ADDOPTS"),
        ],
        writes: Some("pytest.xml"),
        ..NOTHING
    },
    Runner {
        name: "unittest",
        called: &[&["python", "-m", "unittest"]],
        arguments: &["-v"],
        format: "unittest-text",
        not_with: &["-v", "--verbose", "-q", "--quiet"],
        ..NOTHING
    },
    Runner {
        name: "go test",
        called: &[&["go", "test"]],
        arguments: &["-json"],
        format: "go-json",
        not_with: &["-json", "-c", "-bench"],
        ..NOTHING
    },
    Runner {
        name: "jest",
        called: &[&["jest"]],
        arguments: &["--json", "--outputFile={report}"],
        writes: Some("jest.json"),
        format: "jest-json",
        not_with: &["--json", "--outputFile", "--watch", "--watchAll"],
        ..NOTHING
    },
    Runner {
        name: "vitest",
        called: &[&["vitest"]],
        arguments: &[
            "--reporter=default",
            "--reporter=junit",
            "--outputFile.junit={report}",
        ],
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
        ..NOTHING
    },
    Runner {
        name: "mocha",
        called: &[&["mocha"]],
        arguments: &["--reporter=json", "--reporter-option=output={report}"],
        writes: Some("mocha.json"),
        format: "mocha-json",
        not_with: &["--reporter", "-R", "--watch", "-w"],
        ..NOTHING
    },
    Runner {
        name: "ava",
        called: &[&["ava"]],
        arguments: &["--tap"],
        format: "tap",
        names_files_of_several: true,
        not_with: &["--tap", "-t", "--watch", "-w"],
        ..NOTHING
    },
    Runner {
        name: "node",
        called: &[&["node", "--test"]],
        variables: &[(
            "NODE_OPTIONS",
            "--test-reporter=spec --test-reporter-destination=stdout --test-reporter=tap --test-reporter-destination={report}",
        )],
        writes: Some("node.tap"),
        format: "tap",
        not_with: &["--test-reporter", "--watch"],
        ..NOTHING
    },
    Runner {
        name: "rspec",
        called: &[&["rspec"]],
        variables: &[(
            "SPEC_OPTS",
            "--format progress --format json --out {report}",
        )],
        writes: Some("rspec.json"),
        format: "rspec-json",
        not_with: &["--format", "-f"],
        ..NOTHING
    },
    Runner {
        name: "phpunit",
        called: &[&["phpunit"], &["pest"], &["php", "vendor/bin/phpunit"]],
        arguments: &["--log-junit", REPORT],
        writes: Some("phpunit.xml"),
        not_with: &["--log-junit"],
        ..NOTHING
    },
    Runner {
        name: "dotnet test",
        called: &[&["dotnet", "test"]],
        arguments: &["--logger", "trx", "--results-directory", REPORT],
        writes: Some("dotnet/"),
        format: "trx",
        not_with: &["--logger", "-l", "--results-directory"],
        ..NOTHING
    },
    Runner {
        // It prints every name, and ends with the first of its programs in which a test fails.
        name: "cargo test",
        called: &[&["cargo", "test"], &["cargo", "t"]],
        arguments: &["--no-fail-fast"],
        format: "cargo-text",
        not_with: &[
            "--no-fail-fast",
            "-q",
            "--quiet",
            "--message-format",
            "--no-run",
            "--format",
            "-Zunstable-options",
        ],
        ..NOTHING
    },
    Runner {
        // Settings of a tool count less than those of the project.
        name: "cargo nextest",
        called: &[&["cargo", "nextest"], &["cargo-nextest", "nextest"]],
        arguments: &[
            "--tool-config-file",
            "tramline:{own}/nextest.toml",
            "--no-fail-fast",
        ],
        files: &[(
            "nextest.toml",
            "[profile.default.junit]\npath = \"{report}\"\n",
        )],
        writes: Some("nextest.xml"),
        not_with: &[
            "--tool-config-file",
            "--no-fail-fast",
            "--no-run",
            "--profile",
            "-P",
            "list",
        ],
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
        arguments: &["--junit-path={report}"],
        writes: Some("deno.xml"),
        not_with: &["--junit-path", "--reporter", "--watch"],
        ..NOTHING
    },
    Runner {
        name: "bun test",
        called: &[&["bun", "test"]],
        arguments: &["--reporter=junit", "--reporter-outfile={report}"],
        writes: Some("bun.xml"),
        not_with: &["--reporter", "--watch"],
        ..NOTHING
    },
];

/// What runners are called with that print the name of every test without being told to.
pub(super) const NAMING: &[&[&str]] = &[&["ctest"]];

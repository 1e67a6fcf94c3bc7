//! The plugins in the clients that they are for: each is validated and installed by the client's own commands, from this workspace,
//! and in Claude Code an agent that goes by a script is held back, let through and reminded by the hook.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::tools::{
    NODE, built, cache, command, filled, npm, path_with, path_with_node, root, run,
};

/// The clients, as npm has them.
const PACKAGES: [&str; 5] = [
    "@anthropic-ai/claude-code@2.1.330",
    "@openai/codex@0.169.0",
    "@github/copilot@1.0.102",
    "@google/gemini-cli@0.61.0",
    "@anthropic-ai/mcpb@2.1.2",
];

/// Where clients are run: with a home of their own, the program on the search path, and no way to an account.
struct Machine {
    clients: PathBuf,
    home: tempfile::TempDir,
    path: OsString,
}

/// Runs all of it; whether all held.
pub fn run_all() -> io::Result<bool> {
    let machine = Machine::set_up()?;
    let root = fs::canonicalize(root())?;
    let marketplace = root.to_string_lossy();
    let of_tramline = "tramline@tramline";
    let skills = ["tdd", "review", "collab"];

    let claude = |arguments: &[&str]| machine.says("claude", arguments);
    println!("Claude Code");
    claude(&["plugin", "validate", "--strict", &marketplace])?;
    let plugin = root.join("plugins/tramline");
    let profile = ["plugin", "validate", "--strict", "--profile", "directory"];
    claude(&[&profile[..], &[&plugin.to_string_lossy()]].concat())?;
    claude(&["plugin", "marketplace", "add", &marketplace])?;
    claude(&["plugin", "install", of_tramline])?;
    let parts = claude(&["plugin", "details", "tramline"])?;
    let commands = ["status", "decide", "report"];
    let rest = ["PreToolUse, Stop, SessionStart", "MCP servers (1)"];
    holds(&parts, [&skills[..], &commands, &rest].concat())?;
    holds(&claude(&["mcp", "list"])?, ["Connected"])?;
    hook_in_claude_code(&machine)?;

    println!("Codex");
    machine.says("codex", &["plugin", "marketplace", "add", &marketplace])?;
    machine.says("codex", &["plugin", "add", of_tramline])?;
    let servers = machine.says("codex", &["mcp", "list"])?;
    holds(&servers, ["tramline", "TRAMLINE_HOME"])?;

    println!("Copilot CLI");
    machine.says("copilot", &["plugin", "marketplace", "add", &marketplace])?;
    let installed = machine.says("copilot", &["plugin", "install", of_tramline])?;
    holds(&installed, ["Installed 3 skills"])?;
    holds(&machine.says("copilot", &["mcp", "list"])?, ["tramline"])?;

    println!("Gemini CLI");
    // As packages have it: with the program.
    let extension = machine.home.path().join("extension");
    run(command("cp")
        .arg("-r")
        .arg(root.join("plugins/gemini"))
        .arg(&extension))?;
    fs::create_dir(extension.join("bin"))?;
    fs::copy(built("tm")?, extension.join("bin/tm"))?;
    let extension = extension.to_string_lossy();
    machine.says("gemini", &["extensions", "validate", &extension])?;
    let install = ["extensions", "install", "--consent", "--skip-settings"];
    machine.says("gemini", &[&install[..], &[&extension]].concat())?;
    let installed = machine.says("gemini", &["extensions", "list"])?;
    holds(
        &installed,
        [&skills[..], &["tramline (", "MCP servers"]].concat(),
    )?;

    let bundles = fs::read_dir(cache("packages")?)?.filter_map(Result::ok);
    for bundle in bundles.map(|entry| entry.path()) {
        if bundle.extension().is_some_and(|ending| ending == "mcpb") {
            println!("{}", bundle.display());
            let content = tempfile::tempdir()?;
            let folder = content.path().to_string_lossy();
            machine.says("mcpb", &["unpack", &bundle.to_string_lossy(), &folder])?;
            let manifest = content.path().join("manifest.json");
            machine.says("mcpb", &["validate", &manifest.to_string_lossy()])?;
        }
    }
    Ok(true)
}

impl Machine {
    fn set_up() -> io::Result<Self> {
        let clients = cache("plugin-clients")?;
        let asked = PACKAGES.join("\n");
        if fs::read_to_string(clients.join("asked")).is_ok_and(|before| before != asked) {
            fs::remove_dir_all(&clients)?;
        }
        path_with_node(NODE)?;
        filled(&clients, || {
            fs::write(clients.join("package.json"), "{\"private\": true}\n")?;
            fs::write(clients.join("asked"), &asked)?;
            let arguments = [&["install"][..], &PACKAGES].concat();
            npm(&clients, &arguments)
        })?;
        let program = built("tm")?;
        let path = path_with(program.parent().unwrap_or(Path::new(".")).to_owned())?;
        let node = cache(&format!("node-{NODE}"))?.join("node_modules/node/bin");
        let path = std::env::join_paths([node].into_iter().chain(std::env::split_paths(&path)));
        Ok(Self {
            clients,
            home: tempfile::tempdir()?,
            path: path.map_err(io::Error::other)?,
        })
    }

    fn client(&self, name: &str) -> Command {
        let modules = self.clients.join("node_modules");
        // The one that is called so is put in its place by a script of the package; the program lies in that of the platform.
        let of_platform = fs::read_dir(modules.join("@anthropic-ai"));
        let program = of_platform
            .into_iter()
            .flatten()
            .filter_map(|package| Some(package.ok()?.path().join(name)))
            .find(|program| program.is_file())
            .unwrap_or_else(|| modules.join(".bin").join(name));
        let mut command = command(program);
        command
            .current_dir(self.home.path())
            .env("HOME", self.home.path())
            .env("PATH", &self.path)
            .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
            .env_remove("TRAMLINE_HOME");
        command
    }

    /// What a client says; it has to end well.
    fn says(&self, client: &str, arguments: &[&str]) -> io::Result<String> {
        // Whoever asks gets a yes.
        let mut child = self
            .client(client)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            let _ = io::Write::write_all(&mut input, b"y\ny\n");
        }
        let output = child.wait_with_output()?;
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        if output.status.success() {
            return Ok(text);
        }
        Err(io::Error::other(format!("{client} {arguments:?}: {text}")))
    }
}

fn holds<'t>(text: &str, parts: impl IntoIterator<Item = &'t str>) -> io::Result<()> {
    for part in parts {
        if !text.contains(part) {
            return Err(io::Error::other(format!("no `{part}` in:\n{text}")));
        }
    }
    Ok(())
}

/// A model that goes by a script.
struct Model {
    server: Child,
    port: String,
    written: PathBuf,
}

impl Model {
    fn that_takes(steps: &Value, folder: &Path) -> io::Result<Self> {
        let script = folder.join("script.json");
        fs::write(&script, steps.to_string())?;
        let written = folder.join("written.jsonl");
        let mut server = command("python3")
            .arg("xtask/src/plugins/model.py")
            .args([&script, &written])
            .stdout(Stdio::piped())
            .spawn()?;
        let mut port = String::new();
        if let Some(output) = server.stdout.take() {
            BufReader::new(output).read_line(&mut port)?;
        }
        Ok(Self {
            server,
            port: port.trim().to_owned(),
            written,
        })
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// In RED an edit of the product and a commit are denied, a test is let through, the server answers, and who would stop is reminded.
fn hook_in_claude_code(machine: &Machine) -> io::Result<()> {
    let project = machine.home.path().join("project");
    fs::create_dir_all(project.join("tests"))?;
    fs::write(project.join("greet.py"), "def greet():\n    return ''\n")?;
    fs::write(
        project.join("pyproject.toml"),
        "[project]\nname = 'greet'\nversion = '0'\n",
    )?;
    let in_project = |program: &str, arguments: &[&str]| {
        run(command(program)
            .current_dir(&project)
            .env("PATH", &machine.path)
            .env("HOME", machine.home.path())
            .args(arguments)
            .stdout(Stdio::null()))
    };
    in_project("git", &["init", "--quiet", "-b", "main"])?;
    in_project("git", &["config", "user.name", "A"])?;
    in_project("git", &["config", "user.email", "a@example.org"])?;
    in_project("git", &["add", "--all"])?;
    in_project("git", &["commit", "--quiet", "-m", "begin"])?;
    let title = ["--title", "Greet", "--subtask", "Say hello"];
    in_project(
        "tm",
        &[
            &["autopilot", "start", "--test-command", "true"][..],
            &title,
        ]
        .concat(),
    )?;

    let status = "mcp__plugin_tramline_tramline__autopilot_status";
    let file = |name: &str| project.join(name);
    let step =
        |id: &str, tool: &str, input: Value| json!({ "id": id, "tool": tool, "input": input });
    let steps = json!([
        step("product", "Write", json!({ "file_path": file("greet.py"), "content": "x" })),
        step("test", "Write", json!({ "file_path": file("tests/test_greet.py"), "content": "x" })),
        step("commit", "Bash", json!({ "command": "git commit -am wip", "description": "c" })),
        step("status", status, json!({})),
        step("skill", "Skill", json!({ "skill": "tramline:tdd" })),
        { "say": "I stop here." },
    ]);
    let model = Model::that_takes(&steps, machine.home.path())?;
    run(machine
        .client("claude")
        .current_dir(&project)
        .args([
            "-p",
            "go",
            "--allowedTools",
            &format!("Write,Bash,Skill,{status}"),
        ])
        .env(
            "ANTHROPIC_BASE_URL",
            format!("http://127.0.0.1:{}", model.port),
        )
        .env("ANTHROPIC_API_KEY", "none")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .stdout(Stdio::null()))?;
    // The last request holds the whole conversation.
    let written = fs::read_to_string(&model.written)?;
    let last = written.lines().last().unwrap_or_default();
    holds(
        last,
        [
            "Not edited: greet.py. The run is in RED",
            "File created successfully",
            "No commit was made.",
            r#"\"currentPhase\":\"red\""#,
            "Take a task through a Tramline TDD run",
            "The test-driven run of tm is not over",
        ],
    )?;
    println!("the hook denies, allows and reminds; server and skill answer");
    Ok(())
}

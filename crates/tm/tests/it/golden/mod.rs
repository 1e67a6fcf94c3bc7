//! What the program answers, family by family: to a program (`--json`), to an agent (MCP) and to a person. A story is one list of
//! calls, played three times. What stands here is held on purpose: names, shapes and words are what others rely on.

mod stories;

use std::fmt::Write as _;

use serde_json::{Value, json};
use testkit::sandbox::with_input;

use crate::mcp::stage::Stage;
use crate::program::environment::words;

/// A step of a story.
struct Step {
    /// The command.
    line: &'static str,
    /// What it reads, where it reads something.
    input: &'static str,
    /// The tool that does the same, and its arguments; none where only a command does it.
    tool: Option<(&'static str, Value)>,
    /// Files that are written before.
    files: &'static [(&'static str, &'static str)],
}

/// A command alone.
fn line(line: &'static str) -> Step {
    Step {
        line,
        input: "",
        tool: None,
        files: &[],
    }
}

impl Step {
    fn or(mut self, tool: &'static str, arguments: Value) -> Self {
        self.tool = Some((tool, arguments));
        self
    }

    fn reads(mut self, input: &'static str) -> Self {
        self.input = input;
        self
    }

    fn after(mut self, files: &'static [(&'static str, &'static str)]) -> Self {
        self.files = files;
        self
    }
}

/// What changes from run to run.
const CHANGING: [(&str, &str); 8] = [
    (
        r"\d{4}-\d\d-\d\d[T ]\d\d[-:]\d\d([-:]\d\d([-.]\d+)?Z?)?",
        "TIME",
    ),
    (r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b", "HASH"),
    (r"\b[0-9a-f]{10}\b", "SHORT"),
    (r"\b[0-9a-f]{12}\b", "SHORT"),
    (r"(/[\w.-]+)+/(home|project)\b", "/$2"),
    (r#""(duration|elapsed)Ms": \d+"#, r#""${1}Ms": 0"#),
    (r"\b[a-z-]+-[A-Za-z0-9]{6,7}-project\b", "PROJECT"),
    (r#"([ "(])\d+(ms|s)\b"#, "${1}MOMENT"),
];

/// Plays a story as a program, as an agent and as a person does.
fn plays(name: &str, stage: impl Fn() -> Stage, story: &[Step]) {
    let settings = {
        let mut settings = insta::Settings::clone_current();
        for (changing, instead) in CHANGING {
            settings.add_filter(changing, instead);
        }
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings
    };
    let _bound = settings.bind_to_scope();
    insta::assert_snapshot!(format!("{name}.json"), by_command(&stage(), story, true));
    insta::assert_snapshot!(format!("{name}.mcp"), by_tools(&stage(), story));
    insta::assert_snapshot!(format!("{name}.text"), by_command(&stage(), story, false));
}

fn by_command(stage: &Stage, story: &[Step], as_json: bool) -> String {
    let mut told = String::new();
    for step in story {
        for (path, text) in step.files {
            stage.write(path, text);
        }
        let mut words = words(step.line);
        words.extend(as_json.then_some("--json"));
        let ran = with_input(&mut stage.program(&words), step.input);
        writeln!(told, "$ tm {}", step.line).unwrap();
        if ran.status != 0 {
            writeln!(told, "exit status {}", ran.status).unwrap();
        }
        match serde_json::from_str::<Value>(&ran.out) {
            Ok(answer) if as_json => writeln!(told, "{}", shown(answer)).unwrap(),
            _ => told.push_str(&unwrapped(&ran.out)),
        }
        if !as_json {
            told.push_str(&unwrapped(&ran.err));
        }
        told.push('\n');
    }
    told
}

fn by_tools(stage: &Stage, story: &[Step]) -> String {
    let mut server = stage.session();
    let mut told = String::new();
    for step in story {
        for (path, text) in step.files {
            stage.write(path, text);
        }
        let Some((tool, arguments)) = &step.tool else {
            continue;
        };
        let result = server.call(tool, arguments);
        writeln!(told, "> {tool} {arguments}").unwrap();
        match result.get("structuredContent") {
            Some(answer) => writeln!(told, "{}\n", shown(answer.clone())).unwrap(),
            None => writeln!(told, "{}\n", result["content"][0]["text"].as_str().unwrap()).unwrap(),
        }
    }
    told
}

/// A text whose lines are not broken: where they are depends on how long the paths in them are.
fn unwrapped(text: &str) -> String {
    const WIDTH: usize = 80;
    let mut told = String::new();
    let mut last = 0;
    for line in text.lines() {
        let word = line.trim_start().split(' ').next().unwrap_or_default();
        let is_rest = line.starts_with("  ") && last > 0 && last + 1 + word.len() > WIDTH;
        match is_rest {
            true => told.push(' '),
            false if told.is_empty() => {}
            false => told.push('\n'),
        }
        told.push_str(if is_rest { line.trim_start() } else { line });
        last = line.chars().count();
    }
    if !told.is_empty() {
        told.push('\n');
    }
    told
}

/// An answer, of whose long texts, which templates of workflows make, the first line stands for all.
fn shown(mut answer: Value) -> String {
    shorten(&mut answer);
    serde_json::to_string_pretty(&answer).unwrap()
}

fn shorten(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str() {
                    Some(text)
                        if matches!(
                            &**name,
                            "instructions" | "prompt_text" | "report" | "graph"
                        ) =>
                    {
                        *value = json!(format!("{} …", text.lines().next().unwrap_or_default()));
                    }
                    _ => shorten(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(shorten),
        _ => {}
    }
}

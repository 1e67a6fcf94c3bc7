//! What a person sees of the story.

use engine::Fault;
use serde_json::{Value, json};
use text::plain::one_line;

use super::stage::FinishedCommand;
use crate::output::Output;
use crate::render::{FAINT, NOTE, Page, Sign};

/// Tells the story as it goes on, and keeps its steps.
#[derive(Debug)]
pub struct Narrator<'o> {
    output: &'o mut Output,
    chapter: usize,
    steps: Vec<Value>,
}

impl<'o> Narrator<'o> {
    /// A teller that speaks through `output`.
    pub fn new(output: &'o mut Output) -> Self {
        Self {
            output,
            chapter: 0,
            steps: Vec::new(),
        }
    }

    /// The steps so far: command, exit status, what came out.
    pub fn into_steps(self) -> Vec<Value> {
        self.steps
    }

    /// A new chapter.
    pub fn chapter(&mut self, title: &str) -> Result<(), Fault> {
        self.chapter += 1;
        let title = format!("{}. {title}", self.chapter);
        self.page(|page| {
            page.blank();
            page.title(&title);
        })
    }

    /// Something that the executor, or the world, did.
    pub fn aside(&mut self, text: &str) -> Result<(), Fault> {
        self.page(|page| page.block_wrapped(text))
    }

    /// A command of this program, and what came of it.
    pub fn called(&mut self, called: &FinishedCommand, result: &str) -> Result<(), Fault> {
        self.steps.push(json!({
            "command": called.line,
            "exitStatus": called.status,
            "result": one_line(result),
        }));
        let (line, status) = (&called.line, called.status);
        self.page(|page| {
            let look = page.look();
            let prompt = look.paint(FAINT, "$");
            page.raw(&format!("  {prompt} {}", look.paint(NOTE, &one_line(line))));
            let sign = if status == Some(0) {
                Sign::Good
            } else {
                Sign::Bad
            };
            page.wrapped(&format!("    {}", look.sign(sign)), result);
        })
    }

    /// Lines of text as they are, indented.
    pub fn lines(&mut self, text: &str) -> Result<(), Fault> {
        self.page(|page| {
            for line in text.lines() {
                if line.is_empty() {
                    page.blank();
                } else {
                    page.block(&format!("  {line}"));
                }
            }
        })
    }

    /// Something that was looked into, and is as it should be.
    pub fn good(&mut self, text: &str) -> Result<(), Fault> {
        self.page(|page| {
            let sign = format!("  {}", page.look().sign(Sign::Good));
            page.wrapped(&sign, text);
        })
    }

    fn page(&mut self, write: impl FnOnce(&mut Page<'_>)) -> Result<(), Fault> {
        if self.output.is_json() {
            return Ok(());
        }
        let look = self.output.look();
        let mut page = Page::new(&look);
        write(&mut page);
        let text = page.finish();
        self.output.text(&text)
    }
}

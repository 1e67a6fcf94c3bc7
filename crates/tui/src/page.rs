//! A run, or the list of runs, as rows of text.

use engine::board::{BoardRun, BoardSet, Projects, runs_of, stand_together};
use engine::next_step::on_a_page;
use engine::{Engine, Fault, short_name};
use serde_json::Value;
use text::plain::{many_lines, one_line, without_marks};

use crate::app::{Place, Tab};

/// How many events are read at first.
const EVENTS: usize = 200;
/// How many files are listed.
const MOST_FILES: usize = 200;

/// How a row looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// Like most.
    #[default]
    Plain,
    /// It is above what belongs to it.
    Heading,
    /// It is beside the point.
    Quiet,
    /// A person should look at it.
    Alert,
    /// It went well, or came.
    Good,
    /// It did not, or went.
    Bad,
}

/// What a row leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// A run.
    Run {
        /// Its id.
        id: String,
        /// Its project.
        project: String,
    },
    /// An event, by its number.
    Event {
        /// Its number.
        seq: u64,
        /// That of the last event of what was appended with it.
        through: u64,
    },
    /// A commit, by its id.
    Commit(String),
    /// A file in the run's folder.
    File(String),
}

/// A row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// What it says, on one line.
    pub text: String,
    /// How it looks.
    pub tone: Tone,
    /// What it leads to.
    pub link: Option<Link>,
}

impl Row {
    fn new(tone: Tone, text: impl AsRef<str>) -> Self {
        let text = one_line_with_indent(&on_a_page(text.as_ref()));
        Self {
            text,
            tone,
            link: None,
        }
    }

    fn to(mut self, link: Link) -> Self {
        self.link = Some(link);
        self
    }
}

/// What is at a place.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// What it is.
    pub title: String,
    /// How things stand, in a few words.
    pub stands: String,
    /// Its rows.
    pub rows: Vec<Row>,
    /// Whether there is more behind the last row.
    pub has_more: bool,
    /// How many entries were asked for, where it has more.
    pub wanted: usize,
}

/// Reads what is at a place; at least `wanted` entries, where they are read a part at a time.
pub fn read(projects: &dyn Projects, place: &Place, wanted: usize) -> Result<Page, Fault> {
    match place {
        Place::Runs => runs(projects),
        Place::Help => Ok(help()),
        Place::Run { id, project, tab } => {
            let engine = projects.open(project.as_ref())?;
            let run = engine.board_run(Some(id))?;
            let (rows, has_more) = match tab {
                Tab::Now => (now(projects, &engine, &run)?, false),
                Tab::Log => log(&engine, id, wanted.max(EVENTS))?,
                Tab::Commits => (commits(&engine, id)?, false),
                Tab::Files => (files(&engine, id)?, false),
                Tab::Report => (report(&engine, id)?, false),
            };
            Ok(Page {
                title: run.title().to_owned(),
                stands: one_line(&run.stands()),
                rows,
                has_more,
                wanted: wanted.max(EVENTS),
            })
        }
        Place::Detail { id, project, link } => {
            let engine = projects.open(project.as_ref())?;
            detail(&engine, id, link)
        }
    }
}

fn runs(projects: &dyn Projects) -> Result<Page, Fault> {
    let engines = projects.all()?;
    let all = runs_of(&engines)?;
    let mut rows = Vec::new();
    for run in &all {
        let tone = match (&run.attention, run.is_live()) {
            (Some(attention), live) if live || attention.kind.is_for_a_person() => Tone::Alert,
            (_, true) => Tone::Plain,
            _ => Tone::Quiet,
        };
        let word = run.standing();
        let done = match run.run.total {
            0 => String::new(),
            total => format!("{}/{total}", run.run.completed),
        };
        let (name, title) = (short_name(&run.run.run_id), one_line(run.title()));
        let mut text = format!("{word:<10} {done:>5}  {name:<4} {title}");
        if !run.places.is_empty() {
            text = format!("{text} · {}", run.places.join(", "));
        }
        if engines.len() > 1 {
            text = format!("{text} · {}", run.run.project_root);
        }
        rows.push(Row::new(tone, text).to(Link::Run {
            id: run.run.run_id.clone(),
            project: run.run.project_root.clone(),
        }));
    }
    if rows.is_empty() {
        rows.push(Row::new(Tone::Quiet, "There are no runs here yet."));
    }
    Ok(Page {
        title: "Runs".to_owned(),
        stands: stand_together(&all),
        rows,
        ..Page::default()
    })
}

fn now(projects: &dyn Projects, engine: &Engine, run: &BoardRun) -> Result<Vec<Row>, Fault> {
    let id = &run.run.run_id;
    let mut rows = Vec::new();
    if let Some(attention) = &run.attention {
        let text = format!("{}: {}", attention.kind.word(), attention.text);
        rows.push(Row::new(Tone::Alert, text));
    }
    if run.is_live() && engine.run_choices(Some(id))?.answer.is_some() {
        rows.push(Row::new(Tone::Plain, "Press d to report it."));
    }
    if let Some(refused) = &run.refused {
        let text = format!("Refused {}: {}", refused.times(), refused.message);
        rows.push(Row::new(Tone::Alert, text));
    }
    let place = match run.places.as_slice() {
        [] => format!("It is {}.", run.run.status),
        places => format!("Where it is: {}", places.join(", ")),
    };
    rows.push(Row::new(Tone::Plain, place));
    let next = engine.run_action(Some(id));
    if let Ok(next) = &next {
        if let Some(unit) = &next.unit {
            let mut text = format!("{}, by {}, attempt {}", unit.unit_id, unit.by, unit.attempt);
            if let Some(most) = unit.max_attempts {
                text = format!("{text} of {most}");
            }
            rows.push(Row::new(Tone::Plain, text));
        }
        if let Some(gate) = &next.gate {
            rows.push(Row::new(
                Tone::Plain,
                format!("What stands before the gate has the hash {}", gate.hash),
            ));
            for file in engine.gate_files(gate)? {
                rows.push(Row::new(Tone::Plain, format!("  {file}")).to(Link::File(file)));
            }
        }
    }
    for set in engine.run_items(Some(id))? {
        rows.push(Row::default());
        items(&set, &mut rows);
    }
    if let Ok(next) = &next
        && let Some(text) = next
            .unit
            .as_ref()
            .and_then(|unit| unit.instructions.as_ref())
    {
        rows.push(Row::default());
        rows.push(Row::new(Tone::Heading, "What was asked for"));
        let text = many_lines(&projects.spelled(text, Some(id)));
        rows.extend(text.lines().map(|line| Row::new(Tone::Quiet, line)));
    }
    Ok(rows)
}

fn items(set: &BoardSet, rows: &mut Vec<Row>) {
    rows.push(Row::new(
        Tone::Heading,
        format!("{} ({})", set.name, set.total),
    ));
    for item in &set.items {
        let (mark, tone) = match item.column {
            "done" => ("[x]", Tone::Good),
            "active" => ("[>]", Tone::Alert),
            "failed" => ("[-]", Tone::Bad),
            "blocked" => ("[!]", Tone::Bad),
            _ => ("[ ]", Tone::Plain),
        };
        let mut text = format!("{mark} {} {}", item.key, item.title);
        if let Some(place) = &item.place {
            text = format!("{text} · {place}");
        }
        if let Some(attempt) = item.attempt.filter(|attempt| *attempt > 1) {
            text = format!("{text}, attempt {attempt}");
        }
        if let Some(wave) = &item.wave {
            text = format!("{text} · {wave}");
        }
        if !item.needs.is_empty() {
            text = format!("{text} · needs {}", item.needs.join(", "));
        }
        rows.push(Row::new(tone, text));
    }
}

fn log(engine: &Engine, id: &str, wanted: usize) -> Result<(Vec<Row>, bool), Fault> {
    let page = engine.timeline(Some(id), None, wanted as u64)?;
    let rows = page.entries.iter().map(|entry| {
        let Some(record) = &entry.record else {
            let time = entry.at.get(11..19).unwrap_or(&entry.at);
            let told = without_marks(entry.line.as_deref().unwrap_or_default());
            return Row::new(Tone::Bad, format!("    -  {time}  {told}"));
        };
        let time = record.ts.get(11..19).unwrap_or(&record.ts);
        let told = match entry.told() {
            Some(told) => without_marks(told),
            None => entry.brief.clone().unwrap_or_default(),
        };
        let tone = match record.event.as_str() {
            _ if entry.line.is_none() => Tone::Quiet,
            "report:accepted" | "commit:created" => Tone::Good,
            "report:retried" | "effect:failed" | "run:paused" => Tone::Bad,
            _ => Tone::Plain,
        };
        let text = format!("{:>5}  {time}  {told}", record.seq);
        Row::new(tone, text).to(Link::Event {
            seq: record.seq,
            through: record.seq + u64::from(record.n - record.k),
        })
    });
    Ok((rows.collect(), page.older_than.is_some()))
}

fn commits(engine: &Engine, id: &str) -> Result<Vec<Row>, Fault> {
    let summary = engine.report(Some(id))?.json;
    let commits = summary["commits"].as_array().cloned().unwrap_or_default();
    let rows: Vec<Row> = commits
        .iter()
        .filter_map(Value::as_str)
        .map(|sha| {
            let patch = engine.commit_patch(sha);
            let subject = match &patch {
                Ok(patch) => patch.message.lines().next().unwrap_or_default().to_owned(),
                Err(fault) => fault.message.clone(),
            };
            let short = sha.get(..10).unwrap_or(sha);
            Row::new(Tone::Plain, format!("{short}  {subject}")).to(Link::Commit(sha.to_owned()))
        })
        .collect();
    Ok(or_none(rows, "This run has made no commits."))
}

fn files(engine: &Engine, id: &str) -> Result<Vec<Row>, Fault> {
    let mut files = engine.run_files(Some(id))?;
    let older = files.len().saturating_sub(MOST_FILES);
    files.drain(..older);
    engine.look_at_files(Some(id), &mut files)?;
    let mut rows: Vec<Row> = Vec::new();
    if older > 0 {
        rows.push(Row::new(
            Tone::Quiet,
            format!("{} before these", text::counted(older, "file")),
        ));
    }
    for file in files {
        let changed = if file.problem.is_some() {
            ", not as it was recorded"
        } else {
            ""
        };
        let text = format!("{}  ({}{changed})", file.path, file.phase);
        rows.push(Row::new(Tone::Plain, text).to(Link::File(file.path)));
    }
    Ok(or_none(rows, "This run recorded no files."))
}

fn report(engine: &Engine, id: &str) -> Result<Vec<Row>, Fault> {
    let text = many_lines(&engine.report(Some(id))?.markdown);
    let marks = ["<details>", "</details>", "|---"];
    let lines = text
        .lines()
        .filter(|line| !marks.iter().any(|mark| line.starts_with(mark)));
    let mut rows = Vec::new();
    // What the columns are called, within a table.
    let mut columns: Option<Vec<String>> = None;
    for line in lines {
        if let Some(cells) = line.strip_prefix('|') {
            let cells = cells_of(cells);
            match &columns {
                None => columns = Some(cells),
                Some(columns) => rows.extend(of_table(columns, &cells)),
            }
            continue;
        }
        columns = None;
        let title = line.trim_start_matches('#');
        let unfolded = line.strip_prefix("<summary>");
        let unfolded = unfolded.and_then(|rest| rest.strip_suffix("</summary>"));
        rows.push(match unfolded {
            Some(text) => Row::new(Tone::Heading, without_marks(text)),
            None if title.len() < line.len() => {
                Row::new(Tone::Heading, without_marks(title.trim()))
            }
            None => Row::new(Tone::Plain, without_marks(line)),
        });
    }
    Ok(rows)
}

/// The cells of a row of a Markdown table, behind its first bar. A bar within a cell is escaped.
fn cells_of(row: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_escaped = false;
    for c in row.trim_end().trim_end_matches('|').chars() {
        match (c, cells.last_mut()) {
            ('|', _) if !is_escaped => cells.push(String::new()),
            (_, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    cells
        .iter()
        .map(|cell| without_marks(cell.trim()))
        .collect()
}

/// A row of a table: what it is about, and below it what its columns say, as far as they say something.
fn of_table(columns: &[String], cells: &[String]) -> [Row; 2] {
    let rest = columns.iter().zip(cells).skip(1);
    let said: Vec<String> = rest
        .filter(|(_, cell)| !cell.is_empty() && *cell != "–")
        .map(|(column, cell)| format!("{column}: {cell}"))
        .collect();
    [
        Row::new(Tone::Plain, cells.first().cloned().unwrap_or_default()),
        Row::new(Tone::Quiet, format!("    {}", said.join(", "))),
    ]
}

fn detail(engine: &Engine, id: &str, link: &Link) -> Result<Page, Fault> {
    let page = |title: String, rows: Vec<Row>| Page {
        title,
        rows,
        ..Page::default()
    };
    Ok(match link {
        Link::Event { seq, through } => {
            let found = engine.timeline(Some(id), Some(through + 1), 1)?;
            let mut entries = found.entries.iter();
            let record = entries.find_map(|entry| {
                let record = entry.record.as_ref()?;
                (record.seq == *seq).then_some(record)
            });
            let text = serde_json::to_string_pretty(&record).unwrap_or_default();
            let lines = text.lines().map(|line| Row::new(Tone::Plain, line));
            page(format!("Event {seq}"), lines.collect())
        }
        Link::Commit(sha) => {
            let patch = engine.commit_patch(sha)?;
            let mut rows: Vec<Row> = many_lines(&patch.message)
                .lines()
                .map(|line| Row::new(Tone::Heading, line))
                .collect();
            rows.push(Row::default());
            let difference = many_lines(&patch.patch);
            rows.extend(difference.lines().map(|line| {
                let tone = match line.as_bytes() {
                    [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => Tone::Heading,
                    [b'+', ..] => Tone::Good,
                    [b'-', ..] => Tone::Bad,
                    _ => Tone::Plain,
                };
                Row::new(tone, line)
            }));
            page(format!("Commit {sha}"), rows)
        }
        Link::File(path) => {
            let file = engine.run_file(Some(id), path)?;
            let text = file.text.unwrap_or_else(|| "It is no text.".to_owned());
            let lines = many_lines(&text);
            let rows = lines.lines().map(|line| Row::new(Tone::Plain, line));
            page(path.clone(), rows.collect())
        }
        Link::Run { .. } => Page::default(),
    })
}

fn or_none(rows: Vec<Row>, none: &str) -> Vec<Row> {
    if rows.is_empty() {
        return vec![Row::new(Tone::Quiet, none)];
    }
    rows
}

/// What keys there are.
pub fn help() -> Page {
    let keys = [
        (
            "Up, Down, j, k",
            "another row; PgUp, PgDn, Space, Home, End, g, G go further",
        ),
        ("Enter", "open what the row leads to"),
        ("Esc, Backspace", "back; from a search to all rows"),
        ("Left, Right, 1 to 5", "another page of the run"),
        ("/", "show only rows with these words"),
        ("?", "this"),
        ("q, Ctrl-C", "leave; Ctrl-C leaves a question first"),
    ];
    let decisions = crate::decision::KEYS;
    let mut rows = vec![Row::new(Tone::Heading, "Keys")];
    rows.extend(keys.map(|(key, does)| Row::new(Tone::Plain, format!("{key:<20} {does}"))));
    rows.push(Row::default());
    rows.push(Row::new(Tone::Heading, "On the pages of a run"));
    rows.extend(decisions.map(|(key, _, does)| Row::new(Tone::Plain, format!("{key:<20} {does}"))));
    rows.push(Row::default());
    rows.push(Row::new(
        Tone::Quiet,
        "What was decided is done when the letters beside it are typed back.",
    ));
    rows.push(Row::new(
        Tone::Quiet,
        "It is journalled with your name and the strength `terminal`.",
    ));
    Page {
        title: "Keys".to_owned(),
        rows,
        ..Page::default()
    }
}

/// A text on one line that keeps its blanks at the beginning.
fn one_line_with_indent(text: &str) -> String {
    let spaced = text.replace('\t', "    ");
    let indent = spaced.len() - spaced.trim_start_matches(' ').len();
    let mut line = " ".repeat(indent.min(80));
    // Columns are kept: blanks in a row are not made one.
    line.extend(
        spaced[indent..]
            .chars()
            .filter(|c| !text::plain::is_hidden(*c)),
    );
    line.truncate(line.trim_end().len());
    line
}

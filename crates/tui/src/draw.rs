//! What is shown, as a frame of the terminal.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::app::{App, Place, Tab, Typing};
use crate::page::{Row, Tone};

/// What the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Whether there are colours; else what matters is bold.
    pub colour: bool,
}

impl Look {
    fn style(self, tone: Tone) -> Style {
        let plain = Style::new();
        let coloured = |colour: Color| if self.colour { plain.fg(colour) } else { plain };
        match tone {
            Tone::Heading => plain.add_modifier(Modifier::BOLD),
            Tone::Quiet if self.colour => plain.add_modifier(Modifier::DIM),
            Tone::Plain | Tone::Quiet => plain,
            Tone::Alert => coloured(Color::Yellow).add_modifier(Modifier::BOLD),
            Tone::Good => coloured(Color::Green),
            Tone::Bad => coloured(Color::Red),
        }
    }
}

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, app: &mut App, look: Look) {
    let area = frame.area();
    let [head, tabs, body, said, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(1),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(heading(app, look), head);
    frame.render_widget(tabs_of(app, look), tabs);
    rows(frame, app, look, body);
    frame.render_widget(Paragraph::new(below(app)), said);
    frame.render_widget(
        Paragraph::new(Line::styled(keys_of(app), look.style(Tone::Quiet))),
        keys,
    );
    if let Some((typing, text)) = &app.typing {
        let before = match typing {
            Typing::Search => 1,
            Typing::Answer(asked) => Line::raw(asked.question()).width(),
        };
        let at = before + Line::raw(text.as_str()).width();
        let at = u16::try_from(at).unwrap_or(u16::MAX);
        let last = said.right().saturating_sub(1);
        frame.set_cursor_position((said.x.saturating_add(at).min(last), said.y));
    }
}

fn heading(app: &App, look: Look) -> Paragraph<'_> {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let mut spans = vec![
        Span::styled("Tramline  ", look.style(Tone::Quiet)),
        Span::styled(app.page.title.as_str(), bold),
    ];
    if !app.page.stands.is_empty() {
        spans.push(Span::raw("  "));
        spans.push(Span::raw(app.page.stands.as_str()));
    }
    Paragraph::new(Line::from(spans))
}

fn tabs_of(app: &App, look: Look) -> Paragraph<'static> {
    let Place::Run { tab, .. } = app.place() else {
        return Paragraph::default();
    };
    let mut spans = Vec::new();
    for (at, (known, label)) in Tab::ALL.into_iter().enumerate() {
        let text = format!(" {} {label} ", at + 1);
        let style = if known == *tab {
            Style::new().add_modifier(Modifier::REVERSED)
        } else {
            look.style(Tone::Quiet)
        };
        spans.push(Span::styled(text, style));
    }
    Paragraph::new(Line::from(spans))
}

fn rows(frame: &mut Frame<'_>, app: &mut App, look: Look, area: Rect) {
    let high = usize::from(area.height);
    let wide = usize::from(area.width).saturating_sub(2).max(10);
    let chosen = app.chosen;
    let shown = app.rows();
    // A row takes as many lines as it needs: nothing of it is cut off.
    let lines_of = |row: &Row| pieces(&row.text, wide).len();
    let mut top = app.top.min(chosen);
    let used = |top: usize| -> usize {
        let rows = shown.iter().skip(top).take(chosen.saturating_sub(top) + 1);
        rows.map(|row| lines_of(row)).sum()
    };
    while top < chosen && used(top) > high {
        top += 1;
    }
    let mut lines: Vec<Line<'_>> = Vec::with_capacity(high);
    for (at, row) in shown.iter().enumerate().skip(top) {
        if lines.len() >= high {
            break;
        }
        let mut style = look.style(row.tone);
        let is_chosen = at == chosen;
        if is_chosen {
            style = style.add_modifier(Modifier::REVERSED);
        }
        let mark = match (is_chosen, row.link.is_some()) {
            (true, true) => "> ",
            (true, false) => "| ",
            (false, _) => "  ",
        };
        for (number, piece) in pieces(&row.text, wide).into_iter().enumerate() {
            let mark = if number == 0 { mark } else { "  " };
            lines.push(Line::from(vec![
                Span::raw(mark),
                Span::styled(piece, style),
            ]));
        }
    }
    let paragraph = Paragraph::new(lines);
    frame.render_widget(paragraph, area);
    app.top = top;
}

/// How far before the end of a line a blank is looked for, in characters.
const NEAR: usize = 24;

/// A text in pieces of at most so many columns: broken at a blank, where there is one near the end.
fn pieces(text: &str, wide: usize) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = text;
    loop {
        let mut used = 0;
        let fits = |(at, c): (usize, char)| {
            used += Line::raw(c.encode_utf8(&mut [0; 4]) as &str).width();
            (used > wide).then_some(at)
        };
        let Some(end) = rest.char_indices().find_map(fits) else {
            all.push(rest);
            return all;
        };
        // What is wider than the whole line has one to itself.
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let end = end.max(first);
        let blank = rest[..end].trim_start().rfind(' ');
        let blank = blank.map(|at| at + end - rest[..end].trim_start().len());
        let cut = blank.filter(|at| end - at < NEAR).map_or(end, |at| at + 1);
        let (piece, more) = rest.split_at(cut);
        all.push(piece.trim_end());
        rest = more;
    }
}

/// The line below: what is typed, else what is said.
fn below(app: &App) -> Line<'_> {
    match &app.typing {
        Some((Typing::Search, text)) => Line::raw(format!("/{text}")),
        Some((Typing::Answer(asked), text)) => Line::raw(format!("{}{text}", asked.question())),
        None if !app.said.is_empty() => Line::raw(app.said.as_str()),
        None if !app.search.is_empty() => Line::raw(format!("only rows with: {}", app.search)),
        None => Line::default(),
    }
}

fn keys_of(app: &App) -> &'static str {
    match (&app.typing, app.place()) {
        (Some(_), _) => "Enter: go on  Esc: leave it",
        (None, Place::Runs) => "Enter: open  /: search  ?: keys  q: leave",
        (None, Place::Run { .. }) => {
            "a approve  r reject  p pause  c continue  o reopen  s skip  ?: keys  Esc: back"
        }
        (None, _) => "Esc: back  /: search  ?: keys  q: leave",
    }
}

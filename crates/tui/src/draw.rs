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

/// How many lines at the bottom are for what is typed or said; of what is longer, the last ones.
const MOST_BELOW: usize = 4;

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, app: &mut App, look: Look) {
    let area = frame.area();
    let wide = usize::from(area.width).max(10);
    let below = below(app);
    // Where a person types, the cursor is behind the last letter.
    let room = if app.typing.is_some() { wide - 1 } else { wide };
    let mut pieces = pieces(&below, room);
    pieces.drain(..pieces.len().saturating_sub(MOST_BELOW));
    let high = u16::try_from(pieces.len()).unwrap_or_default();
    let [head, tabs, body, said, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(high),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(heading(app, look, wide), head);
    frame.render_widget(tabs_of(app, look), tabs);
    rows(frame, app, look, body);
    if app.typing.is_some() {
        // A blank at the end was typed as well.
        let blanks = below.len() - below.trim_end().len();
        let last = pieces.last().map_or(0, |piece| Line::raw(*piece).width());
        let at = u16::try_from(last + blanks).unwrap_or(u16::MAX);
        let right = said.right().saturating_sub(1);
        let row = said.bottom().saturating_sub(1);
        frame.set_cursor_position((said.x.saturating_add(at).min(right), row));
    }
    let said_lines: Vec<Line<'_>> = pieces.into_iter().map(Line::raw).collect();
    frame.render_widget(Paragraph::new(said_lines), said);
    frame.render_widget(
        Paragraph::new(Line::styled(keys_of(app), look.style(Tone::Quiet))),
        keys,
    );
}

/// What the page is called and how things stand there; where both are too long, the second is what a person looks for.
fn heading(app: &App, look: Look, wide: usize) -> Paragraph<'static> {
    const NAME: &str = "Tramline  ";
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let stands = match app.page.stands.as_str() {
        "" => String::new(),
        stands => format!("  {stands}"),
    };
    let width = |text: &str| Line::raw(text.to_owned()).width();
    let mut title = app.page.title.clone();
    let has_room = width(NAME) + width(&title) + width(&stands) <= wide;
    let for_title = wide.saturating_sub(width(&stands)).max(wide / 3);
    if !has_room && width(&title) > for_title {
        while title.pop().is_some() && width(&title) + 1 > for_title {}
        title.push('…');
    }
    let name = if has_room { NAME } else { "" };
    Paragraph::new(Line::from(vec![
        Span::styled(name, look.style(Tone::Quiet)),
        Span::styled(title, bold),
        Span::raw(stands),
    ]))
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

/// What is below: what is typed, else what is said.
fn below(app: &App) -> String {
    match &app.typing {
        Some((Typing::Search, text)) => format!("/{text}"),
        Some((Typing::Answer(asked), text)) => format!("{}{text}", asked.question()),
        None if !app.said.is_empty() => app.said.clone(),
        None if !app.search.is_empty() => format!("only rows with: {}", app.search),
        None => String::new(),
    }
}

fn keys_of(app: &App) -> &'static str {
    match (&app.typing, app.place()) {
        (Some(_), _) => "Enter: go on  Esc: leave it",
        (None, Place::Runs) => "Enter: open  /: search  ?: keys  q: leave",
        (None, Place::Run { .. }) => {
            "?: keys  Esc: back  a approve  r reject  p pause  c continue  o reopen  s skip  x allow"
        }
        (None, _) => "Esc: back  /: search  ?: keys  q: leave",
    }
}

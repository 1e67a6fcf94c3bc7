//! Frames of every screen.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::{Color, Modifier};
use tui::app::{App, Key, Place, Tab, Typing};
use tui::draw::{Look, draw};
use tui::page::{Link, Page, Row, Tone, help};

fn row(tone: Tone, text: &str, link: Option<Link>) -> Row {
    Row {
        text: text.to_owned(),
        tone,
        link,
    }
}

fn of_run(tab: Tab) -> Place {
    Place::Run {
        id: "r".to_owned(),
        project: "/p".to_owned(),
        tab,
    }
}

/// The list, as it is read of a project.
fn list() -> App {
    let mut app = App::at(Place::Runs);
    let project = "/p".to_owned();
    let run = |id: &str| {
        let (id, project) = (id.to_owned(), project.clone());
        Some(Link::Run { id, project })
    };
    app.show(Page {
        title: "Runs".to_owned(),
        stands: "2 under way, 1 for you".to_owned(),
        rows: vec![
            row(Tone::Alert, "Decide            A page that lists the orders of the last week · Planned", run("a")),
            row(Tone::Plain, "running      1/2  Send invoices by mail, with a title that is too long for one line · green of 2.1", run("b")),
            row(Tone::Quiet, "completed    1/1  Show prices with tax", run("c")),
        ],
        ..Page::default()
    });
    app
}

fn now() -> App {
    let mut app = App::at(of_run(Tab::Now));
    app.show(Page {
        title: "Send invoices by mail".to_owned(),
        stands: "running: green of 2.1".to_owned(),
        rows: vec![
            row(Tone::Alert, "Stuck: Refused 3 times in a row, at last: 1 test fails (green_tests_still_failing)", None),
            row(Tone::Plain, "workUnit-2.1-GREEN, by agent, attempt 2 of 3", None),
            Row::default(),
            row(Tone::Heading, "subtasks (2)", None),
            row(Tone::Good, "[x] 2.1 Write the mail", None),
            row(Tone::Alert, "[>] 2.2 Send it · green, attempt 2", None),
            row(Tone::Plain, "  plan.md", Some(Link::File("plan.md".to_owned()))),
        ],
        ..Page::default()
    });
    app
}

fn frame(app: &mut App, wide: u16, high: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(wide, high)).unwrap();
    let look = Look { colour: false };
    terminal.draw(|frame| draw(frame, app, look)).unwrap();
    terminal.backend().to_string()
}

#[test]
fn every_screen() {
    insta::assert_snapshot!("the_list", frame(&mut list(), 80, 12));
    let mut run = now();
    // A narrow terminal breaks lines and loses nothing.
    insta::assert_snapshot!("narrow", frame(&mut run, 40, 16));
    run.press(Key::Down);
    insta::assert_snapshot!("a_run", frame(&mut run, 80, 14));
    "The run is paused".clone_into(&mut run.said);
    assert!(frame(&mut run, 80, 14).contains("The run is paused"));
    let mut search = list();
    for key in "/tax".chars().map(Key::Char) {
        search.press(key);
    }
    insta::assert_snapshot!("a_search", frame(&mut search, 60, 8));
    let mut keys = App::at(Place::Help);
    keys.show(help());
    insta::assert_snapshot!("the_keys", frame(&mut keys, 80, 26));
}

#[test]
fn a_terminal_of_any_size_is_drawn() {
    for (wide, high) in [(1, 1), (3, 2), (10, 4), (20, 5), (300, 100)] {
        for mut app in [list(), now()] {
            app.press(Key::End);
            app.typing = Some((Typing::Search, "words that are long".to_owned()));
            frame(&mut app, wide, high);
        }
    }
}

#[test]
fn without_colours_nothing_has_one_and_the_chosen_row_shows() {
    for colour in [true, false] {
        let mut terminal = Terminal::new(TestBackend::new(60, 8)).unwrap();
        let mut app = list();
        terminal
            .draw(|frame| draw(frame, &mut app, Look { colour }))
            .unwrap();
        let cells = terminal.backend().buffer().content();
        let coloured = cells.iter().any(|cell| cell.fg != Color::Reset);
        let mut reversed = cells.iter().map(|cell| cell.modifier & Modifier::REVERSED);
        let shows = reversed.any(|modifier| !modifier.is_empty());
        assert_eq!((coloured, shows), (colour, true));
    }
}

#[test]
fn what_is_chosen_is_always_on_the_screen() {
    let mut app = App::at(Place::Runs);
    let text = |at: usize| format!("row {at} {}", "long ".repeat(at % 30));
    let rows = (0..200).map(|at| row(Tone::Plain, &text(at), None));
    app.show(Page {
        rows: rows.collect(),
        ..Page::default()
    });
    for key in [Key::End, Key::PageUp, Key::PageUp, Key::Home, Key::PageDown] {
        app.press(key);
        let shown = frame(&mut app, 40, 10);
        assert!(shown.contains(&format!("row {} ", app.chosen)), "{shown}");
    }
}

//! What keys do.

use tui::app::{Action, App, Key, Place, Tab};
use tui::page::{Link, Page, Row};

fn list(runs: &str) -> Page {
    let row = |id: &str| Row {
        text: format!("run {id}"),
        link: Some(Link::Run {
            id: id.to_owned(),
            project: "/p".to_owned(),
        }),
        ..Row::default()
    };
    Page {
        rows: runs.split(' ').map(row).collect(),
        ..Page::default()
    }
}

/// The list of these runs.
fn listed(runs: &str) -> App {
    let mut app = App::at(Place::Runs);
    app.show(list(runs));
    app
}

/// Presses one key after the other.
fn typed(app: &mut App, keys: &str) {
    for key in keys.chars() {
        app.press(if key == '\n' {
            Key::Enter
        } else {
            Key::Char(key)
        });
    }
}

fn tab(app: &App) -> Option<Tab> {
    match app.place() {
        Place::Run { tab, .. } => Some(*tab),
        _ => None,
    }
}

#[test]
fn one_goes_into_a_run_through_its_pages_and_back() {
    let mut app = listed("a b c");
    app.press(Key::Down);
    assert_eq!(app.press(Key::Enter), Action::Load);
    assert_eq!(tab(&app), Some(Tab::Now));
    for (key, there) in [
        (Key::Right, Tab::Log),
        (Key::Left, Tab::Now),
        (Key::Left, Tab::Report),
        (Key::Char('3'), Tab::Commits),
    ] {
        assert_eq!(app.press(key), Action::Load);
        assert_eq!(tab(&app), Some(there));
    }
    assert_eq!(app.press(Key::Escape), Action::Load);
    assert_eq!(app.place(), &Place::Runs);
    app.show(list("a b c"));
    assert_eq!(app.chosen, 1, "where one was before");
    app.press(Key::Enter);
    app.press(Key::Escape);
    app.show(list("b c a"));
    assert_eq!(app.chosen, 0, "at the same run, wherever it stands now");
    assert_eq!(app.press(Key::Escape), Action::Draw, "nothing is behind it");
    assert_eq!(app.press(Key::Char('q')), Action::Quit);
}

#[test]
fn what_is_chosen_stays_chosen_when_the_list_changes() {
    let mut app = listed("a b c");
    app.press(Key::End);
    app.show(list("new c a b"));
    assert_eq!(app.rows()[app.chosen].text, "run c");
    app.show(list("new"));
    assert_eq!(app.chosen, 0);
}

#[test]
fn a_search_narrows_and_escape_widens() {
    let mut app = listed("apple bread apricot");
    typed(&mut app, "/AP");
    assert_eq!(app.rows().len(), 2);
    app.press(Key::Backspace);
    typed(&mut app, "\n");
    assert_eq!(app.rows().len(), 3);
    typed(&mut app, "/b\n");
    app.press(Key::Escape);
    assert_eq!(app.rows().len(), 3);
}

#[test]
fn decisions_are_begun_on_a_run_alone_and_ctrl_c_leaves_the_question_first() {
    let mut app = listed("a");
    assert_eq!(app.press(Key::Char('a')), Action::Draw);
    app.press(Key::Enter);
    assert_eq!(app.press(Key::Char('a')), Action::Begin('a'));
    app.press(Key::Char('/'));
    assert_eq!(app.press(Key::Interrupt), Action::Draw);
    assert_eq!(app.typing, None);
    assert_eq!(app.press(Key::Interrupt), Action::Quit);
}

#[test]
fn more_is_read_at_the_end_of_what_was_read() {
    let mut app = App::at(Place::Runs);
    app.show(Page {
        has_more: true,
        wanted: 200,
        ..list("a b")
    });
    assert_eq!(app.press(Key::Down), Action::Load);
    assert_eq!(app.page.wanted, 400);
    assert_eq!(app.press(Key::Down), Action::Draw, "once");
}

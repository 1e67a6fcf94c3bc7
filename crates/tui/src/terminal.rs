//! The terminal itself, and the loop: keys, events of runs, frames.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{process, thread};

use engine::board::Projects;
use engine::follow::LOOK;
use engine::{Fault, Follow};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use signal_hook::consts::{SIGHUP, SIGTERM};

use crate::app::{Action, App, Key, Place, Typing};
use crate::decision::{Asked, KEYS, Step};
use crate::draw::{Look, draw};
use crate::page::read;

/// How long the loop has to end by itself, once it should.
const GRACE: Duration = Duration::from_millis(500);

/// Shows runs until the person leaves, the process is told to end, or the terminal is gone. The terminal is as it was before in
/// each case, and also where this panics.
///
/// # Errors
/// If the terminal cannot be used, or the first page cannot be read.
pub fn run(projects: &dyn Projects, first: Place, look: Look) -> Result<(), Fault> {
    let mut app = App::at(first);
    // Before anything is drawn: what is wrong is told in the plain terminal.
    app.show(read(projects, app.place(), 0)?);
    let told_to_end = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&told_to_end))
            .map_err(|error| failed(&error))?;
    }
    let mut follow = Follow::of(projects.all()?, None)?;
    end_without_loop(Arc::clone(&told_to_end));
    let mut terminal = ratatui::try_init().map_err(|error| failed(&error))?;
    let shown = show(
        &mut terminal,
        &mut app,
        projects,
        &mut follow,
        look,
        &told_to_end,
    );
    if !io::stdin().is_terminal() {
        // Nothing is left to restore, and nobody to tell that: ratatui would panic on it.
        process::exit(0);
    }
    ratatui::try_restore().ok();
    shown.map_err(|error| failed(&error))
}

/// Ends the process where the loop cannot: it stands in a long call of the engine, or in the read of a terminal that is gone,
/// which crossterm repeats forever.
fn end_without_loop(told_to_end: Arc<AtomicBool>) {
    thread::spawn(move || {
        while !told_to_end.load(Ordering::Relaxed) && io::stdin().is_terminal() {
            thread::sleep(GRACE);
        }
        told_to_end.store(true, Ordering::Relaxed);
        thread::sleep(GRACE);
        ratatui::try_restore().ok();
        process::exit(0);
    });
}

fn failed(error: &io::Error) -> Fault {
    Fault::environment("io_failed", "the terminal cannot be used", error)
        .suggest("`tm runs list` and `tm ui --web` show the same without it")
}

fn show(
    terminal: &mut DefaultTerminal,
    app: &mut App,
    projects: &dyn Projects,
    follow: &mut Follow,
    look: Look,
    told_to_end: &AtomicBool,
) -> io::Result<()> {
    let mut changed = true;
    while !told_to_end.load(Ordering::Relaxed) {
        if changed {
            terminal.draw(|frame| draw(frame, app, look))?;
        }
        changed = false;
        let wait = LOOK.max(Duration::from_millis(40));
        if event::poll(wait)? {
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => {
                    if let Some(key) = meant(key.code, key.modifiers) {
                        changed = true;
                        match app.press(key) {
                            Action::Quit => return Ok(()),
                            action => act(action, app, projects),
                        }
                    }
                }
                Event::Resize(..) => changed = true,
                _ => {}
            }
        }
        // What is typed does not jump away below somebody's hands, but what is behind it may move.
        if !follow.poll().unwrap_or_default().is_empty() {
            load(app, projects);
            changed = true;
        }
    }
    Ok(())
}

/// Does what a key asks for.
pub fn act(action: Action, app: &mut App, projects: &dyn Projects) {
    match action {
        Action::Draw | Action::Quit => {}
        Action::Load => load(app, projects),
        Action::Begin(letter) => {
            let verb = KEYS.iter().find(|(key, _, _)| *key == letter);
            let Some(((_, verb, _), (id, project))) = verb.zip(of_run(app)) else {
                return;
            };
            let begun = projects
                .open(project.as_ref())
                .and_then(|engine| Asked::begin(&engine, &id, *verb));
            ask_or_tell(
                app,
                projects,
                &id,
                begun.map(|asked| Step::Ask(Box::new(asked))),
            );
        }
        Action::Go(asked, text) => {
            let Some((id, project)) = of_run(app) else {
                return;
            };
            let gone = projects
                .open(project.as_ref())
                .and_then(|engine| asked.answer(&engine, &id, &text));
            ask_or_tell(app, projects, &id, gone);
            load(app, projects);
        }
    }
}

fn of_run(app: &App) -> Option<(String, String)> {
    match app.place() {
        Place::Run { id, project, .. } => Some((id.clone(), project.clone())),
        _ => None,
    }
}

fn ask_or_tell(app: &mut App, projects: &dyn Projects, id: &str, step: Result<Step, Fault>) {
    match step {
        Ok(Step::Ask(asked)) => app.typing = Some((Typing::Answer(asked), String::new())),
        Ok(Step::Done(message)) => app.said = told(projects, &message, id),
        Err(fault) => {
            let text = match fault.suggestion.as_str() {
                "" => fault.message.clone(),
                suggestion => format!("{}: {suggestion}", fault.message),
            };
            app.said = told(projects, &text, id);
        }
    }
}

fn told(projects: &dyn Projects, text: &str, id: &str) -> String {
    text::plain::one_line(&projects.spelled(text, Some(id)))
}

fn load(app: &mut App, projects: &dyn Projects) {
    match read(projects, app.place(), app.page.wanted) {
        Ok(page) => app.show(page),
        Err(fault) => app.said = told(projects, &fault.message, ""),
    }
}

/// What a key of the terminal means here.
fn meant(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
    Some(match code {
        KeyCode::Char('c' | 'd') if modifiers.contains(KeyModifiers::CONTROL) => Key::Interrupt,
        KeyCode::Char(_) if modifiers.contains(KeyModifiers::CONTROL) => return None,
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left | KeyCode::BackTab => Key::Left,
        KeyCode::Right | KeyCode::Tab => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}

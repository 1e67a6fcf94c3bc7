//! What is shown, and what a key does to it.

use crate::decision::Asked;
use crate::page::{Link, Page, Row};

/// How many rows a page key moves by.
const PAGE: usize = 10;

/// A key, as far as it means something here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// Backspace.
    Backspace,
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// The page to the left.
    Left,
    /// The page to the right.
    Right,
    /// Many rows up.
    PageUp,
    /// Many rows down.
    PageDown,
    /// The first row.
    Home,
    /// The last row.
    End,
    /// Ctrl-C: out; out of a question, where one is asked.
    Interrupt,
}

/// A page of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// Where it is, what it waits for, its items.
    Now,
    /// Its events.
    Log,
    /// Its commits.
    Commits,
    /// The files that it recorded.
    Files,
    /// Its report, with the tests by name.
    Report,
}

impl Tab {
    /// All of them in their order, and what people read.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Now, "Now"),
        (Self::Log, "Log"),
        (Self::Commits, "Commits"),
        (Self::Files, "Files"),
        (Self::Report, "Report"),
    ];

    fn beside(self, step: usize) -> Self {
        let at = Self::ALL.iter().position(|(tab, _)| *tab == self);
        Self::ALL[(at.unwrap_or_default() + step) % Self::ALL.len()].0
    }
}

/// Where somebody is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The list of runs.
    Runs,
    /// A page of a run, in the project with this folder.
    Run {
        /// Its id.
        id: String,
        /// Its project.
        project: String,
        /// Which page.
        tab: Tab,
    },
    /// What a row of a run's page leads to.
    Detail {
        /// The run.
        id: String,
        /// Its project.
        project: String,
        /// What is shown of it.
        link: Link,
    },
    /// The keys.
    Help,
}

/// What is typed in the line at the bottom, and what for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typing {
    /// Words that rows have to have.
    Search,
    /// An answer to what is asked.
    Answer(Box<Asked>),
}

/// What has to be done outside for a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Nothing but another frame.
    Draw,
    /// To read what is at the place where somebody is now.
    Load,
    /// To begin a decision on the run that is shown, by its key.
    Begin(char),
    /// To go on with a decision, now that this was typed.
    Go(Box<Asked>, String),
    /// To end.
    Quit,
}

/// Everything that is shown.
#[derive(Debug)]
pub struct App {
    /// Where somebody is, the last one, and how they came there; with the row that was chosen there, and what it leads to.
    places: Vec<(Place, usize, Option<Link>)>,
    /// What the row leads to that is to be chosen once the place is read.
    sought: Option<Link>,
    /// What is there.
    pub page: Page,
    /// The row that is chosen, among those that are shown.
    pub chosen: usize,
    /// The first row that is on the screen.
    pub top: usize,
    /// What rows have to have to be shown.
    pub search: String,
    /// What is being typed.
    pub typing: Option<(Typing, String)>,
    /// What is said below: what was done, or what is wrong.
    pub said: String,
}

impl App {
    /// At this place, with nothing read yet.
    pub fn at(place: Place) -> Self {
        Self {
            places: vec![(place, 0, None)],
            sought: None,
            page: Page::default(),
            chosen: 0,
            top: 0,
            search: String::new(),
            typing: None,
            said: String::new(),
        }
    }

    /// Where somebody is.
    pub fn place(&self) -> &Place {
        self.places.last().map_or(&Place::Runs, |(place, ..)| place)
    }

    /// The rows that are shown.
    pub fn rows(&self) -> Vec<&Row> {
        let words: Vec<String> = self
            .search
            .split_whitespace()
            .map(str::to_lowercase)
            .collect();
        let has = |row: &&Row| {
            let text = row.text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        self.page.rows.iter().filter(has).collect()
    }

    /// Takes in what is at the place, read anew; what was chosen stays chosen as far as it is still there.
    pub fn show(&mut self, page: Page) {
        let key = self.sought.take().or_else(|| self.chosen_link());
        self.page = page;
        if let Some(key) = key
            && let Some(at) = self
                .rows()
                .iter()
                .position(|row| row.link.as_ref() == Some(&key))
        {
            self.chosen = at;
        }
        self.chosen = self.chosen.min(self.rows().len().saturating_sub(1));
    }

    /// Does what a key means, as far as it can be done here.
    pub fn press(&mut self, key: Key) -> Action {
        if let Some((typing, text)) = self.typing.take() {
            return self.typed(typing, text, key);
        }
        self.said.clear();
        match key {
            Key::Char('q') | Key::Interrupt => Action::Quit,
            Key::Escape | Key::Backspace => self.back(),
            Key::Left | Key::Char('h') => self.turn(Tab::ALL.len() - 1),
            Key::Right | Key::Char('l') => self.turn(1),
            Key::Up | Key::Char('k') => self.move_to(self.chosen.saturating_sub(1)),
            Key::Down | Key::Char('j') => self.move_to(self.chosen + 1),
            Key::PageUp => self.move_to(self.chosen.saturating_sub(PAGE)),
            Key::PageDown | Key::Char(' ') => self.move_to(self.chosen + PAGE),
            Key::Home | Key::Char('g') => self.move_to(0),
            Key::End | Key::Char('G') => self.move_to(usize::MAX),
            Key::Enter => self.enter(),
            Key::Char('/') => {
                self.typing = Some((Typing::Search, self.search.clone()));
                Action::Draw
            }
            Key::Char('?') => self.go(Place::Help),
            Key::Char(digit @ '1'..='5') => self.turn_to(digit),
            Key::Char(letter) => match self.place() {
                Place::Run { .. } => Action::Begin(letter),
                _ => Action::Draw,
            },
        }
    }

    fn typed(&mut self, typing: Typing, mut text: String, key: Key) -> Action {
        match key {
            Key::Escape | Key::Interrupt => {
                if typing == Typing::Search {
                    self.search.clear();
                } else {
                    "Nothing was done.".clone_into(&mut self.said);
                }
                Action::Draw
            }
            Key::Enter => match typing {
                Typing::Search => Action::Draw,
                Typing::Answer(asked) => Action::Go(asked, text),
            },
            other => {
                match other {
                    Key::Backspace => drop(text.pop()),
                    Key::Char(c) => text.push(c),
                    _ => {}
                }
                if typing == Typing::Search {
                    self.search.clone_from(&text);
                    self.chosen = 0;
                    self.top = 0;
                }
                self.typing = Some((typing, text));
                Action::Draw
            }
        }
    }

    fn move_to(&mut self, row: usize) -> Action {
        let last = self.rows().len().saturating_sub(1);
        let before = self.chosen;
        self.chosen = row.min(last);
        // At the end of what was read, more of it is.
        if self.chosen == last && before != last && self.page.has_more {
            self.page.wanted += self.page.wanted.max(1);
            return Action::Load;
        }
        Action::Draw
    }

    /// What the row that is chosen leads to.
    fn chosen_link(&self) -> Option<Link> {
        self.rows()
            .get(self.chosen)
            .and_then(|row| row.link.clone())
    }

    fn enter(&mut self) -> Action {
        let place = match (self.chosen_link(), self.place().clone()) {
            (Some(Link::Run { id, project }), _) => Place::Run {
                id,
                project,
                tab: Tab::Now,
            },
            (Some(link), Place::Run { id, project, .. } | Place::Detail { id, project, .. }) => {
                Place::Detail { id, project, link }
            }
            _ => return Action::Draw,
        };
        self.go(place)
    }

    fn go(&mut self, place: Place) -> Action {
        let link = self.chosen_link();
        if let Some((_, chosen, leads)) = self.places.last_mut() {
            (*chosen, *leads) = (self.chosen, link);
        }
        self.places.push((place, 0, None));
        self.begin(0)
    }

    fn back(&mut self) -> Action {
        if !self.search.is_empty() {
            self.search.clear();
            return Action::Draw;
        }
        if self.places.len() == 1 {
            if *self.place() == Place::Runs {
                return Action::Draw;
            }
            self.places = vec![(Place::Runs, 0, None)];
            return self.begin(0);
        }
        self.places.pop();
        let there = self.places.last_mut();
        let (chosen, sought) = there.map_or((0, None), |(_, chosen, link)| (*chosen, link.take()));
        let action = self.begin(chosen);
        self.sought = sought;
        action
    }

    fn begin(&mut self, chosen: usize) -> Action {
        self.page = Page::default();
        self.sought = None;
        self.search.clear();
        self.top = 0;
        self.chosen = chosen;
        Action::Load
    }

    fn turn(&mut self, step: usize) -> Action {
        match self.place().clone() {
            Place::Run { tab, .. } => self.replace(tab.beside(step)),
            _ => Action::Draw,
        }
    }

    fn turn_to(&mut self, digit: char) -> Action {
        let at = digit as usize - '1' as usize;
        match (self.place(), Tab::ALL.get(at)) {
            (Place::Run { .. }, Some((tab, _))) => self.replace(*tab),
            _ => Action::Draw,
        }
    }

    fn replace(&mut self, to: Tab) -> Action {
        if let Some((Place::Run { tab, .. }, ..)) = self.places.last_mut() {
            *tab = to;
        }
        self.begin(0)
    }
}

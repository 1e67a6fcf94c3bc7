//! What there is to draw of a workflow, whatever the format.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::text::{ends_of, shortened};
use machine::definition::{Definition, Edge, EndStatus, Kind, StateDef};

/// The longest guard that is written at an arrow, in characters.
const LONGEST_GUARD: usize = 60;
/// The longest label or name of a state that is shown, in characters.
pub(super) const LONGEST_NAME: usize = 80;

/// A workflow's states and the arrows between them, in the order of the file.
#[derive(Debug)]
pub(super) struct Picture<'a> {
    /// The states, nested ones right behind their `each`.
    pub(super) nodes: Vec<Node<'a>>,
    /// The arrows.
    pub(super) arrows: Vec<Arrow<'a>>,
    /// Whether it is about where a run is, and not about under which conditions it goes where: no guards are written at arrows.
    pub(super) is_of_run: bool,
}

/// A state.
#[derive(Debug)]
pub(super) struct Node<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// Its label, where that is not the name.
    pub(super) label: Option<&'a str>,
    /// Its kind. An `each` is one of no parent, so that it can be drawn as a frame.
    pub(super) kind: Kind,
    /// How it ends a run, or an item, of a `final`.
    pub(super) end: Option<EndStatus>,
    /// The gate in front of it.
    pub(super) gate: Option<&'a str>,
    /// The item set it goes through, of an `each`.
    pub(super) items: Option<&'a str>,
    /// The `each` it is nested in.
    pub(super) parent: Option<usize>,
    /// Whether a token stands here.
    pub(super) present: bool,
    /// How often the run came here; nothing where that is not shown.
    pub(super) visits: Option<u32>,
}

/// What is marked of a run in the drawing of its workflow.
#[derive(Debug, Clone, Default)]
pub struct Marks<'a> {
    /// The states where it is.
    pub present: BTreeSet<&'a str>,
    /// How often it went from one state to another; empty where the way that it took is not shown. It begins from the empty name,
    /// and went from a state to the same where work was to be done once more.
    pub moves: BTreeMap<(&'a str, &'a str), u32>,
}

impl Marks<'_> {
    fn visits_of(&self, state: &str) -> Option<u32> {
        let moves = self.moves.iter();
        let to_it = moves.filter(|((from, to), _)| *to == state && *from != state);
        (!self.moves.is_empty()).then(|| to_it.map(|(_, times)| times).sum())
    }

    /// How often it went an arrow's way; nothing where that is not shown.
    fn taken(&self, arrow: &Arrow<'_>, nodes: &[Node<'_>], arrows: &[Arrow<'_>]) -> Option<u32> {
        let to = nodes[arrow.to].name;
        let times = |from: &str| self.moves.get(&(from, to)).copied().unwrap_or_default();
        let taken = match arrow.from {
            Source::Begin | Source::Items(_) => times(""),
            Source::State(number) => times(nodes[number].name),
            // What no arrow of a state's own tells was gone this way.
            Source::Anywhere => {
                let has_own = |from: &str| {
                    arrows.iter().any(|own| {
                        own.to == arrow.to
                            && matches!(own.from, Source::State(number) if nodes[number].name == from)
                    })
                };
                let moves = self.moves.iter();
                moves
                    .filter(|((from, reached), _)| {
                        *reached == to && !from.is_empty() && !has_own(from)
                    })
                    .map(|(_, times)| times)
                    .sum()
            }
        };
        (!self.moves.is_empty()).then_some(taken)
    }
}

impl Node<'_> {
    /// What follows its class in a picture: whether the run is here, was here, or never came.
    pub(super) fn mark(&self) -> &'static str {
        match (self.present, self.visits) {
            (true, _) => " present",
            (false, Some(0)) => " never",
            (false, Some(_)) => " visited",
            (false, None) => "",
        }
    }

    /// What people call it.
    pub(super) fn title(&self) -> &str {
        self.label.unwrap_or(self.name)
    }
}

/// Where an arrow begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// The beginning of the run.
    Begin,
    /// Any state: the edges of the whole workflow.
    Anywhere,
    /// A state.
    State(usize),
    /// The beginning of each item of an `each`.
    Items(usize),
}

/// An arrow to a state.
#[derive(Debug)]
pub(super) struct Arrow<'a> {
    /// Where it begins.
    pub(super) from: Source,
    /// The state it leads to.
    pub(super) to: usize,
    /// What happens: the event, and the code of a retry. May be empty.
    pub(super) head: String,
    /// The guard, shortened. May be empty.
    pub(super) guard: String,
    /// The guard as it is.
    whole: &'a str,
    /// How often the run went this way; nothing where that is not shown.
    pub(super) taken: Option<u32>,
}

impl Arrow<'_> {
    /// Whether it leads back to where it begins.
    pub(super) fn is_to_itself(&self) -> bool {
        self.from == Source::State(self.to)
    }

    /// What is written at it, on one line.
    pub(super) fn label(&self) -> String {
        match (self.head.is_empty(), self.guard.is_empty()) {
            (_, true) => self.head.clone(),
            (true, false) => self.guard.clone(),
            (false, false) => format!("{}: {}", self.head, self.guard),
        }
    }
}

impl<'a> Picture<'a> {
    /// Of a definition, the states in `present` marked.
    pub(super) fn of(definition: &'a Definition, present: &BTreeSet<&str>) -> Self {
        let present = present.clone();
        let moves = BTreeMap::new();
        Self::marked(definition, &Marks { present, moves })
    }

    /// Of a definition, with what is marked of a run.
    pub(super) fn marked(definition: &'a Definition, marks: &Marks<'_>) -> Self {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut nodes: Vec<Node<'a>> = Vec::new();
        let mut frame = None;
        for (parent, name, state) in definition.all_states() {
            if parent.is_none() {
                frame = (state.kind() == Kind::Each).then_some(nodes.len());
            }
            // A repeated name is a fault of the definition; the first one stands.
            numbers.entry(&name.value).or_insert(nodes.len());
            nodes.push(Node {
                name: &name.value,
                label: state
                    .label
                    .as_deref()
                    .filter(|label| !label.trim().is_empty() && *label != name.value),
                kind: match state.kind() {
                    // Nesting goes one level deep; a deeper one was never checked, and is drawn as a box.
                    Kind::Each if parent.is_some() => Kind::Do,
                    kind => kind,
                },
                end: state.end.as_ref().map(|end| end.value),
                gate: state.gate.as_ref().map(|gate| gate.value.as_str()),
                items: state
                    .each
                    .as_ref()
                    .map(|each| each.value.items.value.as_str()),
                parent: parent.and(frame),
                present: marks.present.contains(name.value.as_str()),
                visits: marks.visits_of(&name.value),
            });
        }
        let mut drawing = Drawing {
            numbers: &numbers,
            arrows: Vec::new(),
            drawn: BTreeSet::new(),
        };
        drawing.all(definition);
        let mut arrows = drawing.arrows;
        tell_apart(&mut arrows);
        let taken: Vec<Option<u32>> = arrows
            .iter()
            .map(|arrow| marks.taken(arrow, &nodes, &arrows))
            .collect();
        for (arrow, taken) in arrows.iter_mut().zip(taken) {
            arrow.taken = taken;
        }
        Self {
            nodes,
            arrows,
            is_of_run: false,
        }
    }
}

struct Drawing<'p, 'a> {
    numbers: &'p HashMap<&'a str, usize>,
    arrows: Vec<Arrow<'a>>,
    drawn: BTreeSet<(Source, usize, String, &'a str)>,
}

impl<'a> Drawing<'_, 'a> {
    fn all(&mut self, definition: &'a Definition) {
        self.arrow(Source::Begin, &definition.initial.value, "", None);
        for (number, (parent, name, state)) in definition.all_states().enumerate() {
            self.state(number, &name.value, state);
            if let (Some(each), None) = (&state.each, parent) {
                let initial = &each.value.initial.value;
                self.arrow(Source::Items(number), initial, "", None);
            }
            // Drawn last of a state, and as the definition has them: behind its own.
            for edge in definition.otherwise(state) {
                self.edge(Source::State(number), None, "otherwise", &edge.value);
            }
        }
        for (event, edges) in definition.on.iter() {
            for edge in &edges.0 {
                self.edge(Source::Anywhere, None, &event.value, &edge.value);
            }
        }
    }

    fn state(&mut self, number: usize, name: &'a str, state: &'a StateDef) {
        let from = Source::State(number);
        if let Some(to) = &state.to {
            let event = if state.work.is_some() { "report" } else { "" };
            self.arrow(from, &to.value, event, None);
        }
        let routes = state.route.iter().map(|edges| ("", &edges.value));
        let events = state
            .on
            .iter()
            .map(|(event, edges)| (event.value.as_str(), edges));
        for (event, edges) in routes.chain(events) {
            for edge in &edges.0 {
                self.edge(from, Some(name), event, &edge.value);
            }
        }
    }

    /// An edge, if it leads somewhere: one that only notes, refuses or pauses does not, and a retry leads back.
    fn edge(&mut self, from: Source, own: Option<&'a str>, event: &str, edge: &'a Edge) {
        let to = match (&edge.to, own) {
            (Some(to), _) => to.value.as_str(),
            (None, Some(own)) if edge.retry.is_some() => own,
            _ => return,
        };
        let mut head = event.to_owned();
        if let Some(retry) = &edge.retry {
            if !head.is_empty() {
                head.push_str(": ");
            }
            head.push_str("retry ");
            head.push_str(&retry.value);
        }
        let guard = edge.when.as_ref().map(|when| when.text.as_str());
        self.arrow(from, to, &head, guard);
    }

    fn arrow(&mut self, from: Source, to: &str, head: &str, guard: Option<&'a str>) {
        let Some(to) = self.numbers.get(to).copied() else {
            return;
        };
        let whole = guard.unwrap_or_default();
        if self.drawn.insert((from, to, head.to_owned(), whole)) {
            self.arrows.push(Arrow {
                from,
                to,
                head: shortened(head, LONGEST_NAME),
                guard: shortened(whole, LONGEST_GUARD),
                whole,
                taken: None,
            });
        }
    }
}

/// Guards that look the same once they are shortened get both their ends, then numbers.
fn tell_apart(arrows: &mut [Arrow<'_>]) {
    for number in alike(arrows).into_iter().flatten() {
        let arrow = &mut arrows[number];
        arrow.guard = ends_of(arrow.whole, LONGEST_GUARD);
    }
    for group in alike(arrows) {
        for (nth, number) in group.into_iter().enumerate() {
            let guard = &mut arrows[number].guard;
            *guard = format!("{guard} ({})", nth + 1);
        }
    }
}

/// The arrows that begin at the same place with the same words, and do not mean the same.
fn alike(arrows: &[Arrow<'_>]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<(Source, &str, &str), Vec<usize>> = BTreeMap::new();
    for (number, arrow) in arrows.iter().enumerate() {
        groups
            .entry((arrow.from, &arrow.head, &arrow.guard))
            .or_default()
            .push(number);
    }
    groups
        .into_values()
        .filter(|group| {
            group
                .iter()
                .any(|one| arrows[*one].whole != arrows[group[0]].whole)
        })
        .collect()
}

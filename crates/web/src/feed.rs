//! The stream of events for all who look, as server-sent events (WHATWG HTML, "Server-sent events").
//!
//! One thread follows the runs for all listeners, and only for as long as there are any. A listener that comes back with the id of
//! the event that it saw last gets what it missed first.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use engine::board::Projects;
use engine::follow::LOOK;
use engine::follow::Record;
use engine::next_step::on_a_page;
use engine::{Fault, Follow, FollowedEvent};
use mcp::http::{Bytes, Response, SiteBody, SiteRequest, StatusCode, StreamSender, header};

use crate::Shaped as _;
use serde::Serialize;

use crate::reply::refused;
use crate::route::Query;

/// How often something is sent where nothing happens: whoever is gone is noticed by that, and proxies keep the line open.
const ALIVE: Duration = Duration::from_secs(15);
/// After a look that found so many events the next one waits for longer: what comes then is sent in fewer pieces, and whoever makes
/// the events has the machine.
const MANY: usize = 16;
/// For so long; an event is still at its listeners within a tenth of a second.
const LOOK_AT_MANY: Duration = Duration::from_millis(75);
/// How long a browser waits before it comes back, in milliseconds.
const RETRY: u64 = 1000;
/// How many events a listener that was away gets at once before it is told to read the pages anew.
const MOST_MISSED: usize = 10_000;

/// About how many bytes come to the data of an event.
const ROOM: usize = 512;

/// The stream.
pub struct Feed {
    projects: Arc<dyn Projects>,
    listeners: Mutex<Listeners>,
}

#[derive(Default)]
struct Listeners {
    all: Vec<Listener>,
    is_followed: bool,
}

struct Listener {
    sender: StreamSender,
    /// The run whose events it wants; all of them, where there is none.
    run: Option<String>,
    sent: Instant,
    /// The last event of each run that it missed and was told of at the beginning.
    told: HashMap<String, u64>,
}

impl Feed {
    pub fn new(projects: Arc<dyn Projects>) -> Self {
        Self {
            projects,
            listeners: Mutex::default(),
        }
    }

    /// Lets the sender of a request listen.
    pub fn answer(self: &Arc<Self>, request: &SiteRequest, query: &Query) -> Response<SiteBody> {
        let last = request.head.headers.get("last-event-id");
        let from = last
            .and_then(|last| last.to_str().ok())
            .or_else(|| query.get("from"));
        match self.listen(from, query.get("run")) {
            Ok(body) => Response::new(body)
                .with(header::CONTENT_TYPE, "text/event-stream")
                .with(header::CACHE_CONTROL, "no-store"),
            Err(fault) => refused(StatusCode::BAD_REQUEST, fault.message),
        }
    }

    fn listen(self: &Arc<Self>, from: Option<&str>, run: Option<&str>) -> Result<SiteBody, Fault> {
        let (sender, body) = SiteBody::stream();
        let mut listener = Listener {
            sender,
            run: run.map(str::to_owned),
            sent: Instant::now(),
            told: HashMap::new(),
        };
        let _ = listener
            .sender
            .send(format!("retry: {RETRY}\n: listening\n\n"));
        // Held until it listens: whatever comes from here on is told to it.
        let mut listeners = self.listeners();
        let mut follow = None;
        if let Some(from) = from {
            let mut followed = self.follow(Some(from))?;
            let missed = followed.poll()?;
            listener.catch_up(&missed);
            follow = Some(followed);
        }
        listeners.all.push(listener);
        if !listeners.is_followed {
            let follow = follow.map_or_else(|| self.follow(None), Ok)?;
            let feed = Arc::clone(self);
            std::thread::Builder::new()
                .name("feed".to_owned())
                .spawn(move || feed.run(follow))
                .map_err(|error| {
                    Fault::environment("io_failed", "nothing can be followed", &error)
                })?;
            listeners.is_followed = true;
        }
        Ok(body)
    }

    /// The runs of all projects, followed.
    fn follow(&self, from: Option<&str>) -> Result<Follow, Fault> {
        Follow::of(self.projects.all()?, from)
    }

    fn run(&self, mut follow: Follow) {
        let mut looked = Instant::now();
        loop {
            // A project that cannot be looked at now may be again.
            let events = follow.poll().unwrap_or_default();
            self.tell(&events);
            {
                let mut listeners = self.listeners();
                if listeners.all.is_empty() {
                    listeners.is_followed = false;
                    return;
                }
            }
            if looked.elapsed() > ALIVE {
                looked = Instant::now();
                for engine in self.projects.all().unwrap_or_default() {
                    follow.also(&engine);
                }
            }
            std::thread::sleep(if events.len() < MANY {
                LOOK
            } else {
                LOOK_AT_MANY
            });
        }
    }

    /// Tells all who listen, and forgets those who do not any more.
    fn tell(&self, events: &[FollowedEvent]) {
        let messages: Vec<(&FollowedEvent, String)> =
            events.iter().map(|event| (event, message(event))).collect();
        // Most want all of it: that is put together once, and shared.
        let whole: String = messages.iter().map(|(_, text)| text.as_str()).collect();
        let whole = Bytes::from(whole);
        let mut listeners = self.listeners();
        listeners.all.retain_mut(|listener| {
            let wants = |event: &FollowedEvent| listener.wants(event);
            let wanted = if events.iter().all(wants) {
                whole.clone()
            } else {
                let wanted = messages.iter().filter(|(event, _)| listener.wants(event));
                let wanted: String = wanted.map(|(_, text)| text.as_str()).collect();
                Bytes::from(wanted)
            };
            if !wanted.is_empty() {
                listener.sent = Instant::now();
                return listener.sender.send(wanted).is_ok();
            }
            if listener.sent.elapsed() > ALIVE {
                listener.sent = Instant::now();
                return listener.sender.send(": still here\n\n").is_ok();
            }
            listener.sender.is_read()
        });
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    fn wants(&self, event: &FollowedEvent) -> bool {
        let is_told = self.told.get(&event.run_id);
        self.run.as_ref().is_none_or(|run| *run == event.run_id)
            && is_told.is_none_or(|told| *told < event.record.seq)
    }

    /// Tells it what it missed, in one piece.
    fn catch_up(&mut self, missed: &[FollowedEvent]) {
        let text = if missed.len() > MOST_MISSED {
            "event: reload\ndata: {}\n\n".to_owned()
        } else {
            let wanted = missed.iter().filter(|event| self.wants(event));
            wanted.map(message).collect()
        };
        let _ = self.sender.send(text);
        for event in missed {
            self.told.insert(event.run_id.clone(), event.record.seq);
        }
    }
}

/// An event as it goes over the line: its cursor, where it has one, is its id there.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sent<'a> {
    run_id: &'a str,
    project_root: &'a Path,
    #[serde(flatten)]
    record: &'a Record,
}

/// The bytes of an event. JSON has no line break in it.
fn message(event: &FollowedEvent) -> String {
    let sent = Sent {
        run_id: &event.run_id,
        project_root: &event.project_root,
        record: &event.record,
    };
    let data = serde_json::to_string(&sent).unwrap_or_default();
    let mut text = String::with_capacity(data.len() + ROOM);
    if let Some(cursor) = &event.cursor {
        text.extend(["id: ", cursor, "\n"]);
    }
    text.extend(["event: run\ndata: ", &*on_a_page(&data), "\n\n"]);
    text
}

//! The page: who gets it, what it shows, what can be decided on it.

use std::any::Any;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use testkit::person::key;

use super::approvals::{at_plan_gate, store};
use super::environment::TestEnvironment;
use super::ui::LETTER;
use super::whole_run::{all, says, tm};

/// What must stay text wherever it is shown.
const HOSTILE: &str = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) \u{202e}gnp";

/// What is shown of a run.
const PAGES: [&str; 6] = ["", "/work", "/timeline", "/files", "/replay", "/report"];

const JSON: (&str, &str) = ("Content-Type", "application/json");

/// A server with a page, and a token for it.
struct Site {
    address: String,
    token: String,
    /// Who keeps it there.
    _server: Box<dyn Any>,
}

/// A process that ends with the test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What came back.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

/// Asks an address.
fn ask(address: &str, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let mut request =
        format!("{line} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        let _ = write!(request, "Host: {address}\r\n");
    }
    for (name, value) in headers {
        let _ = write!(request, "{name}: {value}\r\n");
    }
    write!(stream, "{request}\r\n{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    Answer {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_ascii_lowercase(),
        body: body.to_owned(),
    }
}

impl Site {
    /// `tm serve`, which gives a token to look with.
    fn served(environment: &TestEnvironment) -> Self {
        let mut serve = environment.program(&["serve", "--json", "--listen", "127.0.0.1:0"]);
        let mut child = serve.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let page = said["page"].as_str().unwrap();
        assert!(!page.contains('#'), "a log holds no key: {page}");
        let address = page.trim_start_matches("http://").trim_end_matches('/');
        let token = fs::read_to_string(said["tokenFile"].as_str().unwrap()).unwrap();
        Self {
            address: address.to_owned(),
            token: token.trim().to_owned(),
            _server: Box::new(Killed(child)),
        }
    }

    /// `tm ui --web` at a terminal, and its page opened.
    fn opened(environment: &TestEnvironment) -> Self {
        let mut person = environment.person(&["ui", "--web", "--no-open"]);
        let said = person.until("Stop it with Ctrl-C");
        let (_, link) = said.split_once("http://").unwrap();
        let link = link.split_whitespace().next().unwrap();
        let (address, code) = link.split_once("/#code=").unwrap();
        let mut site = Self {
            address: address.to_owned(),
            token: String::new(),
            _server: Box::new(person),
        };
        let begun = site.post("/session", &json!({ "code": code }), 200);
        assert_eq!(begun["decides"], true);
        // A code is good once.
        site.post("/session", &json!({ "code": code }), 403);
        begun["token"].as_str().unwrap().clone_into(&mut site.token);
        site
    }

    fn ask(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        ask(&self.address, line, headers, body)
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// A page, as the script asks for it.
    fn page(&self, path: &str) -> String {
        let bearer = self.bearer();
        let answer = self.ask(&format!("GET {path}"), &[("Authorization", &bearer)], "");
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    /// Sends something, which has to come to this status.
    fn post(&self, path: &str, sent: &Value, status: u16) -> Value {
        let bearer = self.bearer();
        let headers = [("Authorization", bearer.as_str()), JSON];
        let answer = self.ask(&format!("POST {path}"), &headers, &sent.to_string());
        assert_eq!(answer.status, status, "{path} {sent}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap_or(Value::Null)
    }

    /// Decides as the form on the page of the run would.
    fn decide(&self, run: &str, mut sent: Value, status: u16) -> Value {
        let page = self.page(&format!("/runs/{run}"));
        for name in ["seen", "gate", "hash", "unit"] {
            if let Some(value) = field(&page, name)
                && sent.get(name).is_none()
            {
                sent[name] = value.into();
            }
        }
        self.post(&format!("/runs/{run}/decide"), &sent, status)
    }

    /// The same for a decision that is refused.
    fn refuses(&self, run: &str, sent: Value, status: u16, code: &str) {
        let answer = self.decide(run, sent, status);
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
}

/// A project with a run, which is shown in this way, and its id.
fn shown(by: fn(&TestEnvironment) -> Site) -> (TestEnvironment, Site, String) {
    let environment = TestEnvironment::started();
    let (site, run) = (by(&environment), run_of(&environment));
    (environment, site, run)
}

/// The id of the run that was begun.
fn run_of(environment: &TestEnvironment) -> String {
    let folder = environment.run_folder();
    folder.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Begins another run, of a workflow of this text.
fn begun(environment: &TestEnvironment, id: &str, text: &str) -> String {
    environment.write(&format!(".taskmaster/workflows/{id}.yaml"), text);
    let begun = tm(environment, &format!("run start {id}")).ok();
    begun["runId"].as_str().unwrap().to_owned()
}

/// The value of an unseen field.
fn field(page: &str, name: &str) -> Option<String> {
    let (_, rest) = page.split_once(&format!("name=\"{name}\" value=\""))?;
    Some(rest.split('"').next()?.to_owned())
}

#[test]
fn nothing_is_shown_without_a_token_and_nothing_to_others() {
    let (_environment, site, run) = shown(Site::served);
    for path in ["/", &format!("/runs/{run}"), &format!("/runs/{run}/report")] {
        let frame = site.ask(&format!("GET {path}"), &[], "");
        assert_eq!(frame.status, 200);
        says(&frame.body, &[], &["task", &run]);
        let headers = [
            "content-security-policy: default-src 'none'; script-src 'self'",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
        ];
        says(&frame.head, &headers, &["access-control"]);
        says(&site.page(path), &["<main"], &[]);
    }
    let bearer = site.bearer();
    let own = format!("http://{}", site.address);
    let wrong = ("Authorization", "Bearer wrong");
    let known = ("Authorization", bearer.as_str());
    let (evil, evil_origin) = (("Host", "evil.example"), ("Origin", "http://evil.example"));
    let text = ("Content-Type", "text/plain");
    let same_site = ("Sec-Fetch-Site", "same-site");
    let other_port = ("Origin", "http://127.0.0.1:1");
    let decide = format!("POST /runs/{run}/decide");
    for (line, headers, status) in [
        ("GET /events", &[][..], 401),
        // A tab whose token has ended has to hear of it.
        ("GET /", &[wrong], 401),
        ("GET /assets/app.js", &[evil], 403),
        ("GET /", &[evil_origin], 403),
        ("GET /nowhere", &[], 404),
        (&decide, &[JSON], 401),
        (&decide, &[known, text], 415),
        (&decide, &[known, JSON, same_site], 403),
        (&decide, &[known, JSON, other_port], 403),
        // To look is not to decide.
        (&decide, &[known, JSON, ("Origin", &own)], 403),
        (&decide.replace("POST", "GET"), &[known], 405),
        ("POST /", &[known, JSON], 405),
        ("POST /passkey", &[known, JSON], 403),
        ("GET /runs/none", &[known], 404),
        ("GET /?project=/", &[known], 200),
        // Not one of those it serves.
        (&format!("GET /runs/{run}?project=/"), &[known], 404),
    ] {
        let answer = site.ask(line, headers, "{}");
        assert_eq!(answer.status, status, "{line} {headers:?}");
    }
}

#[test]
fn texts_of_others_stay_texts() {
    let environment = TestEnvironment::new();
    let start = ["autopilot", "start", "--title", HOSTILE];
    let start = [&start[..], &["--subtask", HOSTILE]].concat();
    environment.json(&start).ok();
    let site = Site::served(&environment);
    let run = run_of(&environment);
    for path in PAGES {
        let page = site.page(&format!("/runs/{run}{path}"));
        let alive = ["<img", "href=\"javascript", "\u{202e}"];
        says(&page, &["onerror"], &alive);
    }
    says(&site.page("/?q=onerror"), &["&lt;img"], &["<img"]);
    let listed = "&lt;img src=x onerror=alert(1)&gt; [x](javascript:alert(1)) gnp</a></th>";
    says(&site.page("/?q=nothing"), &[], &[listed]);
}

#[test]
fn a_person_decides_on_what_was_seen() {
    let (environment, site, run) = shown(Site::opened);
    let stale = json!({ "what": "pause", "seen": "00" });
    site.refuses(&run, stale, 409, "changed_since");
    site.refuses(&run, json!({ "what": "dance" }), 400, "usage");
    site.decide(&run, json!({ "what": "pause", "reason": "lunch" }), 200);
    says(&site.page("/"), &["lunch"], &[]);
    let page = site.page(&format!("/runs/{run}"));
    says(&page, &["id=\"form-resume\""], &["id=\"form-pause\""]);
    site.decide(&run, json!({ "what": "resume" }), 200);
    let allow = json!({ "what": "allow", "code": "no_new_failure", "reason": "why not" });
    site.decide(&run, allow, 200);
    // Nobody is asked for a pause, and the journal has who it was all the same.
    let verified = tm(&environment, "log verify").ok();
    let decisions = verified["decisions"].as_array().unwrap();
    assert_eq!(decisions[0]["what"], "pause", "{verified}");
    for decided in decisions {
        let how = all(decided, &["how", "strength"]);
        assert_eq!(how, json!(["browser", "terminal"]));
    }

    // This machine is reached by name at each of its addresses.
    let port = site.address.strip_prefix("localhost:").unwrap();
    let at = |address: String| ask(&address, "GET /", &[], "").status;
    assert_eq!(at(format!("127.0.0.1:{port}")), 200);
    if std::net::TcpListener::bind("[::1]:0").is_ok() {
        assert_eq!(at(format!("[::1]:{port}")), 200);
    }
}

#[test]
fn what_takes_a_signature_is_signed_on_the_page() {
    let session = at_plan_gate("signed");
    let environment = &session.environment;
    let run = run_of(environment);
    let site = Site::opened(environment);
    let approve = |name: &str, value: Value| {
        let mut sent = json!({ "what": "gate", "choice": "approve" });
        sent[name] = value;
        sent
    };
    let page = site.page(&format!("/runs/{run}"));
    let said = [
        "This takes a signature",
        "Approved, the run goes to <strong>",
        "rejected, the run goes to <strong>",
    ];
    says(&page, &said, &[]);
    let unsigned = approve("choice", "approve".into());
    site.refuses(&run, unsigned, 403, "approval_too_weak");
    let asked = site.decide(&run, approve("statement", true.into()), 200);
    assert!(asked["challenge"].as_str().unwrap().len() > 100, "{asked}");
    let key = key(&store(environment));
    let other = approve("signature", "{\"what\": \"pause\"}".into());
    site.decide(&run, other, 403);
    let broken = approve("passkey", json!({ "signature": "MEYC" }));
    site.refuses(&run, broken, 403, "signature_invalid");
    let sign = asked["command"].as_str().unwrap();
    let sign = sign.replace("KEY", &key);
    let signed = Command::new("sh").args(["-c", &sign]).output().unwrap();
    let signed = String::from_utf8(signed.stdout).unwrap();
    site.decide(&run, approve("signature", signed.into()), 200);
    let verified = tm(environment, "log verify").ok();
    let made = &verified["decisions"][0];
    let made = all(made, &["strength", "how", "signature"]);
    assert_eq!(made, json!(["signed", "ssh", "good"]));
}

#[test]
fn a_passkey_of_the_browser_gets_a_line_for_the_list_of_keys() {
    // A point on P-256 in the DER that browsers give, and one of another kind.
    const KEY: &str = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE4YTZBHnztJheLm_UuN5MGef-o4p6Wy1FBpxmsNDwd6gBbGFCAK4v6gcioPWCtnJoQKUzTEFb1a0cq7KGwaHQ8Q";
    const OTHER: &str = "MCowBQYDK2VwAyEA";
    let environment = TestEnvironment::started();
    let site = Site::opened(&environment);
    says(&site.page("/passkey"), &["Make a passkey"], &[]);
    let origin = format!("http://{}", site.address);
    let bearer = site.bearer();
    let made = |name: &str, key: &str| {
        let known = ("Authorization", bearer.as_str());
        let headers = [known, JSON, ("Origin", origin.as_str())];
        let sent = json!({ "name": name, "publicKey": key }).to_string();
        let answer = site.ask("POST /passkey", &headers, &sent);
        (answer.status, answer.body)
    };
    let (status, answer) = made("ann@example.org", KEY);
    assert_eq!(status, 200, "{answer}");
    let line = ["ann@example.org namespaces=", "sk-ecdsa-sha2"];
    says(&answer, &line, &[]);
    // The page puts nothing there.
    assert!(!store(&environment).join("allowed_signers").exists());
    for (name, key) in [("ann", OTHER), ("a' b", KEY), ("", KEY)] {
        assert_eq!(made(name, key).0, 400, "{name}");
    }
}

#[test]
fn what_is_not_committed_is_shown_while_it_is_the_runs() {
    let (environment, site, run) = shown(Site::served);
    let shows = |text: &str| {
        let page = site.page(&format!("/runs/{run}/commits/uncommitted"));
        says(&page, &[text], &[]);
    };
    shows("Nothing differs");
    environment.write("src/new_one.rs", "fn new_one() {}\n");
    let before = environment.git(&["status", "--porcelain"]);
    shows("+fn new_one() {}");
    assert_eq!(environment.git(&["status", "--porcelain"]), before);
    environment.git(&["stash", "--include-untracked", "--quiet"]);
    environment.git(&["checkout", "--quiet", "main"]);
    shows("is not checked out");
}

#[test]
fn what_came_after_red_is_shown_by_item() {
    let (environment, site, run) = shown(Site::served);
    environment.red("1.1");
    environment.green("1.1");
    let work = site.page(&format!("/runs/{run}/work"));
    let (_, link) = work.split_once("/trees/red..green?").unwrap();
    let query = link.split('"').next().unwrap().replace("&amp;", "&");
    let page = site.page(&format!("/runs/{run}/trees/red..green?{query}"));
    says(
        &page,
        &["added <code>src/", "(source)", "diff --git"],
        &["tests/"],
    );
    let page = site.page(&format!("/runs/{run}/trees/red..commit"));
    says(
        &page,
        &["This cannot be shown", "<code>green</code> of 1.1"],
        &["diff"],
    );
}

#[test]
fn a_person_answers_and_is_told_where_that_leads() {
    let environment = TestEnvironment::started();
    let site = Site::opened(&environment);
    let run = begun(&environment, "letter", LETTER);
    let page = || site.page(&format!("/runs/{run}"));
    let answer = |outcome: Option<&str>, said: &str| {
        let mut sent = json!({ "what": "answer", "reason": "shorter" });
        if let Some(outcome) = outcome {
            sent["outcome"] = outcome.into();
        }
        let told = site.decide(&run, sent, 200);
        assert_eq!(told["message"], said);
    };
    says(&page(), &["id=\"form-answer\""], &["name=\"outcome\""]);
    answer(None, "write was accepted");
    let said = [
        ": the run ends at <strong>dropped</strong>, aborted",
        ": the run goes to <strong>write</strong>",
        // Where that leads hangs on what else is said.
        "<strong>never</strong></label>",
    ];
    // None is chosen beforehand.
    says(&page(), &said, &[" checked"]);
    let bad = json!({ "what": "answer", "outcome": "bad" });
    site.refuses(&run, bad.clone(), 403, "not_good");
    site.refuses(&run, bad, 403, "not_good");
    says(&page(), &["Refused 2 times", "That is no answer"], &[]);
    says(&site.page("/"), &["refused 2 times"], &[]);
    answer(Some("again"), "read came to: again");
    let verified = tm(&environment, &format!("log verify {run}")).ok();
    for decided in verified["decisions"].as_array().unwrap() {
        let about = all(decided, &["what", "strength", "how"]);
        assert_eq!(about, json!(["answer", "terminal", "browser"]));
    }
    let told = site.page(&format!("/runs/{run}/timeline"));
    says(&told, &["answer by "], &[]);
    answer(None, "write was accepted");
    answer(Some("good"), "read came to: good");
    // No way is offered that is none.
    let none = ["value=\"reject\"", "tm run reject", "Refused 2 times"];
    let said = ["value=\"approve\"", "Nothing was recorded to look at"];
    says(&page(), &said, &none);
    let reject = json!({ "what": "gate", "choice": "reject", "feedback": "longer" });
    site.refuses(&run, reject, 403, "not_possible");
    site.decide(&run, json!({ "what": "gate", "choice": "approve" }), 200);
}

#[test]
fn events_are_sent_as_they_come_and_what_was_missed_first() {
    let environment = TestEnvironment::started();
    let site = Site::served(&environment);
    let listen = |from: &str| {
        let mut stream = TcpStream::connect(&site.address).unwrap();
        let (address, token) = (&site.address, &site.token);
        let known = format!("Host: {address}\r\nAuthorization: Bearer {token}\r\n");
        write!(stream, "GET /events HTTP/1.1\r\n{known}{from}\r\n").unwrap();
        BufReader::new(stream)
    };
    // Reads up to a text; the id that came last.
    let until = |stream: &mut BufReader<TcpStream>, text: &str| {
        let (mut id, mut line) = (String::new(), String::new());
        while !line.contains(text) {
            if let Some(found) = line.strip_prefix("id: ") {
                found.trim().clone_into(&mut id);
            }
            line.clear();
            let read = stream.read_line(&mut line).unwrap();
            assert_ne!(read, 0, "{text} did not come");
        }
        id
    };
    let mut stream = listen("");
    until(&mut stream, "listening");
    tm(&environment, "autopilot pause").ok();
    let id = until(&mut stream, "\"event\":\"run:paused\"");
    drop(stream);
    tm(&environment, "autopilot resume").ok();
    tm(&environment, "autopilot abort").ok();
    let mut again = listen(&format!("Last-Event-ID: {id}\r\n"));
    until(&mut again, "\"event\":\"run:resumed\"");
    until(&mut again, "\"event\":\"run:ended\"");
}

/// Texts of the engine name steps by marks of characters for private use. Whoever shows such a text spells them, wherever it stands.
#[test]
fn no_mark_of_a_step_gets_out() {
    const MARKED: &str = "do \u{10FFF0}skip\u{10FFF1}reason\u{10FFF2} now";
    let environment = TestEnvironment::new();
    // What is printed is held to it wherever the binary is run.
    let say = |words: &str| {
        let words = words.split(' ');
        let words = words.map(|word| if word == "MARKED" { MARKED } else { word });
        environment.tm(&words.collect::<Vec<_>>()).out
    };
    say("autopilot start --title MARKED --subtask MARKED --subtask Later");
    say("autopilot pause --reason MARKED");
    say("autopilot resume");
    say("autopilot complete red --results failed:0,passed:1");
    environment.do_subtask("do-skipreason-now.1");
    say("autopilot skip --reason MARKED");
    let run = run_of(&environment);
    let said = [
        "runs report RUN",
        "runs report RUN --format html",
        "runs list --json",
    ];
    let mut shown: Vec<String> = said.map(|words| say(&words.replace("RUN", &run))).into();
    let commits = environment.git(&["log", "--all", "--format=%B%N"]);
    assert!(commits.contains("tm run skip"), "{commits}");
    shown.push(commits);
    let site = Site::served(&environment);
    shown.extend(PAGES.map(|path| site.page(&format!("/runs/{run}{path}"))));
    shown.push(site.page("/"));
    // The journal is what happened, to the byte; all that is made of it is for readers.
    for name in ["report.md", "report.json", "state.json", "manifest.json"] {
        let text = fs::read_to_string(environment.run_folder().join(name));
        shown.push(text.unwrap_or_default());
    }
    let spelled = shown.iter().filter(|text| text.contains("tm run skip"));
    assert!(spelled.count() > 7);
    for text in &shown {
        let is_marked = text.contains(['\u{10FFF0}', '\u{10FFF1}', '\u{10FFF2}']);
        assert!(!is_marked, "{text}");
    }
}

//! The page: who gets it, what it shows, what can be decided on it.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use testkit::Person;
use testkit::person::key;

use super::approvals::{at_plan_gate, store};
use super::environment::TestEnvironment;

/// What must stay text wherever it is shown.
const HOSTILE: &str = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) \u{202e}gnp";

/// A server with a page, and a token for it.
struct Site {
    address: String,
    token: String,
}

/// What came back.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Site {
    fn ask(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut request = format!(
            "{line} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !headers.iter().any(|(name, _)| *name == "Host") {
            let _ = write!(request, "Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            let _ = write!(request, "{name}: {value}\r\n");
        }
        stream
            .write_all(format!("{request}\r\n{body}").as_bytes())
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }

    /// A page, as the script asks for it.
    fn page(&self, path: &str) -> String {
        let bearer = format!("Bearer {}", self.token);
        let answer = self.ask(&format!("GET {path}"), &[("Authorization", &bearer)], "");
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    fn post(&self, path: &str, sent: &Value) -> (u16, Value) {
        let bearer = format!("Bearer {}", self.token);
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
        ];
        let answer = self.ask(&format!("POST {path}"), &headers, &sent.to_string());
        (
            answer.status,
            serde_json::from_str(&answer.body).unwrap_or(Value::Null),
        )
    }

    /// Decides as the form on the page of the run would.
    fn decide(&self, run: &str, mut sent: Value) -> (u16, Value) {
        let page = self.page(&format!("/runs/{run}"));
        for name in ["seen", "gate", "hash"] {
            if let Some(value) = field(&page, name)
                && sent.get(name).is_none()
            {
                sent[name] = value.into();
            }
        }
        self.post(&format!("/runs/{run}/decide"), &sent)
    }
}

/// The id of the run that was begun.
fn run_of(environment: &TestEnvironment) -> String {
    let folder = environment.run_folder();
    folder.file_name().unwrap().to_str().unwrap().to_owned()
}

/// The value of an unseen field.
fn field(page: &str, name: &str) -> Option<String> {
    let (_, rest) = page.split_once(&format!("name=\"{name}\" value=\""))?;
    Some(rest.split('"').next()?.to_owned())
}

/// `tm serve`, which gives a token to look with.
struct Served {
    child: Child,
    site: Site,
}

impl Served {
    fn by(environment: &TestEnvironment) -> Self {
        let mut child = environment
            .program(&["serve", "--json", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let page = said["page"].as_str().unwrap();
        assert!(!page.contains('#'), "a log holds no key: {page}");
        let address = page
            .trim_start_matches("http://")
            .trim_end_matches('/')
            .to_owned();
        let token = fs::read_to_string(said["tokenFile"].as_str().unwrap()).unwrap();
        Self {
            child,
            site: Site {
                address,
                token: token.trim().to_owned(),
            },
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `tm ui --web` at a terminal, and its page opened.
fn opened(environment: &TestEnvironment) -> (Person, Site) {
    let mut person = environment.person(&["ui", "--web", "--no-open"]);
    let said = person.until("Stop it with Ctrl-C");
    let link = said
        .split_whitespace()
        .find(|word| word.starts_with("http://"))
        .unwrap();
    let (address, code) = link
        .trim_start_matches("http://")
        .split_once("/#code=")
        .unwrap();
    let mut site = Site {
        address: address.to_owned(),
        token: String::new(),
    };
    let (status, begun) = site.post("/session", &json!({ "code": code }));
    assert_eq!((status, &begun["decides"]), (200, &json!(true)));
    let (again, _) = site.post("/session", &json!({ "code": code }));
    assert_eq!(again, 403, "a code is good once");
    begun["token"].as_str().unwrap().clone_into(&mut site.token);
    (person, site)
}

#[test]
fn nothing_is_shown_without_a_token_and_nothing_to_others() {
    let environment = TestEnvironment::started();
    let served = Served::by(&environment);
    let site = &served.site;
    let run = run_of(&environment);
    for path in ["/", &format!("/runs/{run}"), &format!("/runs/{run}/report")] {
        let frame = site.ask(&format!("GET {path}"), &[], "");
        assert_eq!(frame.status, 200);
        assert!(
            !frame.body.contains("task") && !frame.body.contains(&run),
            "{}",
            frame.body
        );
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self'",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
        ] {
            assert!(frame.head.contains(header), "{}", frame.head);
        }
        assert!(!frame.head.contains("access-control"), "{}", frame.head);
        assert!(site.page(path).contains("<main"));
    }
    let status = |line: &str, headers: &[(&str, &str)]| site.ask(line, headers, "{}").status;
    assert_eq!(status("GET /events", &[]), 401);
    assert_eq!(
        status("GET /", &[("Authorization", "Bearer wrong")]),
        401,
        "a tab whose token has ended has to hear of it"
    );
    assert_eq!(
        status("GET /events", &[("Authorization", "Bearer wrong")]),
        401
    );
    assert_eq!(status("GET /", &[("Host", "evil.example")]), 403);
    assert_eq!(
        status("GET /assets/app.js", &[("Host", "evil.example")]),
        403
    );
    assert_eq!(status("GET /", &[("Origin", "http://evil.example")]), 403);
    assert_eq!(status("GET /nowhere", &[]), 404);
    let bearer = format!("Bearer {}", site.token);
    let own = format!("http://{}", site.address);
    let decide = format!("POST /runs/{run}/decide");
    let json = ("Content-Type", "application/json");
    let known = ("Authorization", bearer.as_str());
    assert_eq!(status(&decide, &[json]), 401);
    assert_eq!(
        status(&decide, &[known, ("Content-Type", "text/plain")]),
        415
    );
    assert_eq!(
        status(&decide, &[known, json, ("Sec-Fetch-Site", "same-site")]),
        403
    );
    assert_eq!(
        status(&decide, &[known, json, ("Origin", "http://127.0.0.1:1")]),
        403
    );
    assert_eq!(
        status(&decide, &[known, json, ("Origin", &own)]),
        403,
        "to look is not to decide"
    );
    assert_eq!(status(&decide.replace("POST", "GET"), &[known]), 405);
    assert_eq!(status("POST /", &[known, json]), 405);
    assert_eq!(status("GET /runs/none", &[known]), 404);
    assert_eq!(status("GET /?project=/", &[known]), 200);
    assert_eq!(
        status(&format!("GET /runs/{run}?project=/"), &[known]),
        404,
        "not one of those it serves"
    );
}

#[test]
fn texts_of_others_stay_texts() {
    let environment = TestEnvironment::new();
    environment
        .tm(&[
            "autopilot",
            "start",
            "--title",
            HOSTILE,
            "--subtask",
            HOSTILE,
            "--json",
        ])
        .json_with(0);
    let served = Served::by(&environment);
    let run = run_of(&environment);
    for path in ["", "/work", "/timeline", "/files", "/replay", "/report"] {
        let page = served.site.page(&format!("/runs/{run}{path}"));
        assert!(page.contains("onerror"), "it is told at {path}");
        for forbidden in ["<img", "href=\"javascript", "\u{202e}"] {
            assert!(!page.contains(forbidden), "{path}: {page}");
        }
    }
    let list = served.site.page("/?q=onerror");
    assert!(list.contains("&lt;img") && !list.contains("<img"), "{list}");
    assert!(
        !served
            .site
            .page("/?q=nothing")
            .contains("&lt;img src=x onerror=alert(1)&gt; [x](javascript:alert(1)) gnp</a></th>")
    );
}

#[test]
fn a_person_decides_on_what_was_seen() {
    let environment = TestEnvironment::started();
    let run = run_of(&environment);
    let (person, site) = opened(&environment);
    let (status, stale) = site.decide(&run, json!({ "what": "pause", "seen": "00" }));
    assert_eq!(
        (status, &stale["error"]["code"]),
        (409, &json!("moved_since"))
    );
    let (status, paused) = site.decide(&run, json!({ "what": "pause", "reason": "lunch" }));
    assert_eq!(status, 200, "{paused}");
    assert!(site.page("/").contains("lunch"));
    let (status, resumed) = site.decide(&run, json!({ "what": "resume" }));
    assert_eq!(status, 200, "{resumed}");
    let (status, nothing) = site.decide(&run, json!({ "what": "dance" }));
    assert_eq!(
        (status, &nothing["error"]["code"]),
        (400, &json!("bad_input"))
    );
    let (status, _) = site.decide(
        &run,
        json!({ "what": "allow", "code": "no_new_failure", "reason": "why not" }),
    );
    assert_eq!(status, 200);
    let verified = environment.tm(&["log", "verify", "--json"]).json_with(0);
    let decided = &verified["decisions"][0];
    assert_eq!(decided["how"], "browser");
    assert_eq!(decided["strength"], "terminal");
    drop(person);
}

#[test]
fn what_takes_a_signature_is_signed_on_the_page() {
    let session = at_plan_gate("signed");
    let environment = &session.environment;
    let run = run_of(environment);
    let (person, site) = opened(environment);
    let approve = json!({ "what": "gate", "choice": "approve" });
    let page = site.page(&format!("/runs/{run}"));
    assert!(page.contains("This takes a signature"), "{page}");
    let (status, refused) = site.decide(&run, approve.clone());
    assert_eq!(
        (status, &refused["error"]["code"]),
        (403, &json!("approval_too_weak"))
    );
    let with = |name: &str, value: Value| {
        let mut sent = approve.clone();
        sent[name] = value;
        site.decide(&run, sent)
    };
    let (_, asked) = with("statement", true.into());
    let command = asked["command"].as_str().unwrap();
    assert!(asked["challenge"].as_str().unwrap().len() > 100, "{asked}");
    let sign = |key: &str| {
        let signed = Command::new("sh")
            .args(["-c", &command.replace("KEY", key)])
            .output()
            .unwrap();
        String::from_utf8(signed.stdout).unwrap()
    };
    let key = key(&store(environment));
    let other = "{\"what\": \"pause\"}";
    let (status, _) = with("signature", other.into());
    assert_eq!(status, 403, "that is no signature");
    let (status, broken) = with("passkey", json!({ "signature": "MEYC" }));
    assert_eq!(
        (status, &broken["error"]["code"]),
        (403, &json!("signature_invalid"))
    );
    let (status, decided) = with("signature", sign(&key).into());
    assert_eq!(status, 200, "{decided}");
    let verified = environment.tm(&["log", "verify", "--json"]).json_with(0);
    let made = &verified["decisions"][0];
    assert_eq!(
        (&made["strength"], &made["how"], &made["signature"]),
        (&json!("signed"), &json!("ssh"), &json!("good"))
    );
    drop(person);
}

#[test]
fn a_passkey_of_the_browser_gets_a_line_for_the_list_of_keys() {
    let environment = TestEnvironment::started();
    let (person, site) = opened(&environment);
    assert!(site.page("/passkey").contains("Make a passkey"));
    // A point on P-256 in the DER that browsers give, and one of another kind.
    let key = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE4YTZBHnztJheLm_UuN5MGef-o4p6Wy1FBpxmsNDwd6gBbGFCAK4v6gcioPWCtnJoQKUzTEFb1a0cq7KGwaHQ8Q";
    let origin = format!("http://{}", site.address);
    let bearer = format!("Bearer {}", site.token);
    let made = |name: &str, key: &str| {
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Origin", origin.as_str()),
        ];
        let sent = json!({ "name": name, "publicKey": key }).to_string();
        let answer = site.ask("POST /passkey", &headers, &sent);
        (answer.status, answer.body)
    };
    let (status, answer) = made("ann@example.org", key);
    assert_eq!(status, 200, "{answer}");
    assert!(
        answer.contains("ann@example.org namespaces=")
            && answer.contains("sk-ecdsa-sha2-nistp256@openssh.com"),
        "{answer}"
    );
    assert!(
        !store(&environment).join("allowed_signers").exists(),
        "the page puts nothing there"
    );
    for (name, key) in [("ann", "MCowBQYDK2VwAyEA"), ("a' b", key), ("", key)] {
        let (status, answer) = made(name, key);
        assert_eq!(status, 400, "{answer}");
    }
    let looking = Served::by(&environment);
    let (status, _) = looking.site.post("/passkey", &json!({}));
    assert_eq!(status, 403);
    let bearer = format!("Bearer {}", looking.site.token);
    let page = looking
        .site
        .ask("GET /passkey", &[("Authorization", &bearer)], "");
    assert_eq!(page.status, 403, "{}", page.body);
    drop(person);
}

#[test]
fn it_says_what_was_refused_and_what_comes_of_a_decision() {
    let environment = TestEnvironment::started();
    environment.write(
        ".taskmaster/workflows/hotfix.yaml",
        r#"tramline: 1
id: hotfix
title: A hotfix
inputs: { bug: string }
initial: patch
gates: { production: human }
on: { abort: { to: dropped } }
states:
  patch:
    label: Write the patch
    work: {}
    expects: outcome
    on: { report: [ { when: "outcome.outcome == 'written'", to: release }, { refuse: not_written } ] }
  release:
    label: Release it
    gate: production
    route: { to: shipped }
    on: { reject: { to: patch } }
  shipped: { final: completed }
  dropped: { final: aborted }
messages:
  not_written: { message: the patch is not written }
"#,
    );
    let begun = environment
        .tm(&[
            "run",
            "start",
            "hotfix",
            "-i",
            "bug=It falls over",
            "--json",
        ])
        .json_with(0);
    let run = begun["runId"].as_str().unwrap();
    let report = |word: &str| {
        environment.tm(&[
            "run",
            "report",
            "--run-id",
            run,
            "--outcome",
            word,
            "--json",
        ])
    };
    let served = Served::by(&environment);
    for _ in 0..2 {
        assert_eq!(report("no").status, 3);
    }
    let page = served.site.page(&format!("/runs/{run}"));
    assert!(page.contains("Refused 2 times"), "{page}");
    assert!(page.contains("the patch is not written"), "{page}");
    assert!(served.site.page("/").contains("refused 2 times"));
    assert_eq!(report("written").status, 0);
    let page = served.site.page(&format!("/runs/{run}"));
    assert!(!page.contains("Refused 2 times"), "{page}");
    for said in [
        "Approved, the run ends at <strong>shipped</strong>, completed;",
        "rejected, the run goes to <strong>Write the patch</strong> with your feedback",
        "Nothing was recorded to look at",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    // The drawing of then has only the way of then.
    let taken = |page: &str| page.matches("class=\"arrow taken\"").count();
    assert_eq!(taken(&page), 2, "{page}");
    let then = served.site.page(&format!("/runs/{run}/replay?at=3"));
    assert!(then.contains("The way it had taken"), "{then}");
    assert_eq!(taken(&then), 1, "{then}");
}

#[test]
fn the_list_is_never_older_than_the_question() {
    let environment = TestEnvironment::started();
    let served = Served::by(&environment);
    let run = run_of(&environment);
    for (turn, word) in [
        ("pause", "Paused"),
        ("resume", "running"),
        ("pause", "Paused"),
    ] {
        served.site.page("/");
        environment.tm(&["autopilot", turn, "--json"]).json_with(0);
        let list = served.site.page("/?q=task");
        let (_, row) = list.split_once("<tbody>").unwrap();
        assert!(row.contains(&run) && row.contains(word), "{turn}: {row}");
    }
}

#[test]
fn what_is_not_committed_is_shown_while_it_is_the_runs() {
    let environment = TestEnvironment::started();
    let served = Served::by(&environment);
    let run = run_of(&environment);
    let page = || {
        served
            .site
            .page(&format!("/runs/{run}/commits/uncommitted"))
    };
    assert!(page().contains("Nothing differs"), "{}", page());
    environment.write("src/new_one.rs", "fn new_one() {}\n");
    let before = environment.git(&["status", "--porcelain"]);
    assert!(page().contains("+fn new_one() {}"), "{}", page());
    assert_eq!(environment.git(&["status", "--porcelain"]), before);
    environment.git(&["stash", "--include-untracked", "--quiet"]);
    environment.git(&["checkout", "--quiet", "main"]);
    assert!(page().contains("is not checked out"), "{}", page());
}

#[test]
fn an_answer_says_where_it_leads_and_a_paused_run_can_go_back() {
    let environment = TestEnvironment::started();
    let run = run_of(&environment);
    let (person, site) = opened(&environment);
    let (status, paused) = site.decide(&run, json!({ "what": "pause" }));
    assert_eq!(status, 200, "{paused}");
    let page = site.page(&format!("/runs/{run}"));
    assert!(page.contains("id=\"form-resume\""), "{page}");
    assert!(!page.contains("id=\"form-pause\""), "{page}");
    environment.write(
        ".taskmaster/workflows/letter.yaml",
        r#"tramline: 1
id: letter
title: A letter
inputs: { subject: string }
initial: write
on: { abort: { to: dropped } }
states:
  write:
    work: { by: person }
    expects: outcome
    on:
      report:
        - { when: "outcome.outcome == 'sent'", to: sent }
        - { when: "outcome.outcome == 'again'", to: write }
        - { when: "outcome.outcome == 'never' && outcome.note != ''", to: dropped }
        - { refuse: not_sent }
      reopen: { to: write }
  sent: { final: completed }
  dropped: { final: aborted }
messages:
  not_sent: { message: it was not sent }
"#,
    );
    let begun = environment
        .tm(&["run", "start", "letter", "-i", "subject=a visit", "--json"])
        .json_with(0);
    let page = site.page(&format!("/runs/{}", begun["runId"].as_str().unwrap()));
    let ends = ": the run ends at <strong>sent</strong>, completed";
    assert!(page.contains(ends), "{page}");
    let again = ": the run goes to <strong>write</strong>";
    assert!(page.contains(again), "{page}");
    assert!(page.contains("<strong>never</strong></label>"), "{page}");
    assert!(
        !page.contains(" checked"),
        "none is chosen beforehand: {page}"
    );
    let letter = begun["runId"].as_str().unwrap();
    let unit = field(&page, "unit").unwrap();
    let answer = json!({ "what": "answer", "unit": unit, "outcome": "again", "reason": "shorter" });
    let (status, answered) = site.decide(letter, answer);
    assert_eq!(status, 200, "{answered}");
    assert_eq!(answered["message"], "write came to: again");
    // Nobody is asked for either, and the journal has who it was all the same.
    for (run, what) in [(run.as_str(), "pause"), (letter, "answer")] {
        let log = environment.tm(&["runs", "log", run, "--json"]).json_with(0);
        let mut events = log.as_array().unwrap().iter();
        let word = events.find(|event| event["event"] == "approval:given");
        let word = word.unwrap_or_else(|| panic!("{log}"));
        assert_eq!(word["what"], what, "{word}");
        assert_eq!(word["approval"]["strength"], "terminal", "{word}");
        assert_eq!(word["approval"]["how"], "browser", "{word}");
        let verified = environment
            .tm(&["log", "verify", run, "--json"])
            .json_with(0);
        assert_eq!(verified["decisions"][0]["what"], what, "{verified}");
    }
    let told = site.page(&format!("/runs/{letter}/timeline"));
    assert!(told.contains("answer by "), "{told}");
    drop(person);
}

#[test]
fn a_person_reports_what_is_done_and_is_offered_no_way_that_is_none() {
    let environment = TestEnvironment::started();
    let (person, site) = opened(&environment);
    environment.write(
        ".taskmaster/workflows/letter.yaml",
        "tramline: 1
id: letter
title: A letter
gates: { posting: human }
initial: write
states:
  write: { work: { by: person }, to: post }
  post: { gate: posting, work: { by: agent }, to: sent }
  sent: { final: completed }
",
    );
    let begun = environment.json(&["run", "start", "letter"]).ok();
    let run = begun["runId"].as_str().unwrap();
    let page = site.page(&format!("/runs/{run}"));
    assert!(page.contains("id=\"form-answer\""), "{page}");
    assert!(!page.contains("name=\"outcome\""), "{page}");
    let unit = field(&page, "unit").unwrap();
    let (status, told) = site.decide(run, json!({ "what": "answer", "unit": unit }));
    assert_eq!(
        (status, &told["message"]),
        (200, &json!("write was accepted"))
    );
    let page = site.page(&format!("/runs/{run}"));
    assert!(page.contains("value=\"approve\""), "{page}");
    assert!(!page.contains("value=\"reject\""), "{page}");
    assert!(!page.contains("tm run reject"), "{page}");
    let reject = json!({ "what": "gate", "choice": "reject", "feedback": "longer" });
    let (_, told) = site.decide(run, reject);
    assert_eq!(told["error"]["code"], "cannot_reject", "{told}");
    let (status, told) = site.decide(run, json!({ "what": "gate", "choice": "approve" }));
    assert_eq!(status, 200, "{told}");
    drop(person);
}

#[test]
fn this_machine_is_reached_by_name_at_each_of_its_addresses() {
    let environment = TestEnvironment::started();
    let (person, site) = opened(&environment);
    let port = site.address.strip_prefix("localhost:").unwrap();
    let at = |address: String| {
        let token = String::new();
        Site { address, token }.ask("GET /", &[], "").status
    };
    assert_eq!(at(format!("127.0.0.1:{port}")), 200);
    if std::net::TcpListener::bind("[::1]:0").is_ok() {
        assert_eq!(at(format!("[::1]:{port}")), 200);
    }
    drop(person);
}

#[test]
fn events_are_sent_as_they_come_and_what_was_missed_first() {
    let environment = TestEnvironment::started();
    let served = Served::by(&environment);
    let site = &served.site;
    let listen = |from: &str| {
        let mut stream = TcpStream::connect(&site.address).unwrap();
        write!(
            stream,
            "GET /events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{from}\r\n",
            site.address, site.token
        )
        .unwrap();
        BufReader::new(stream)
    };
    let until = |stream: &mut BufReader<TcpStream>, event: &str| {
        let (mut id, mut line) = (String::new(), String::new());
        while !line.contains(&format!("\"event\":\"{event}\"")) {
            if let Some(found) = line.strip_prefix("id: ") {
                found.trim().clone_into(&mut id);
            }
            line.clear();
            assert_ne!(
                stream.read_line(&mut line).unwrap(),
                0,
                "{event} did not come"
            );
        }
        id
    };
    let mut stream = listen("");
    let mut line = String::new();
    while !line.contains("listening") {
        line.clear();
        stream.read_line(&mut line).unwrap();
    }
    environment
        .tm(&["autopilot", "pause", "--json"])
        .json_with(0);
    let id = until(&mut stream, "run:paused");
    drop(stream);
    environment
        .tm(&["autopilot", "resume", "--json"])
        .json_with(0);
    environment
        .tm(&["autopilot", "abort", "--json"])
        .json_with(0);
    let mut again = listen(&format!("Last-Event-ID: {id}\r\n"));
    until(&mut again, "run:resumed");
    until(&mut again, "run:ended");
}

/// Texts of the engine name steps by marks of characters for private use. Whoever shows such a text spells them, wherever it stands.
#[test]
fn no_mark_of_a_step_gets_out() {
    const MARKED: &str = "do \u{10FFF0}skip\u{10FFF1}reason\u{10FFF2} now";
    let environment = TestEnvironment::new();
    let mut shown = Vec::new();
    let mut say = |words: &str| {
        let words: Vec<&str> = words
            .split(' ')
            .map(|word| if word == "MARKED" { MARKED } else { word })
            .collect();
        let done = environment.program(&words).output().unwrap();
        let text = [done.stdout, done.stderr].concat();
        shown.push((words.join(" "), String::from_utf8_lossy(&text).into_owned()));
    };
    say("autopilot start --title MARKED --subtask MARKED --subtask Later");
    say("autopilot pause --reason MARKED");
    say("autopilot resume");
    say("autopilot complete red --results failed:0,passed:1");
    environment.write("tests/a_test.sh", "false\n");
    say("autopilot complete red --results failed:1,passed:1");
    environment.write("src/a.sh", "true\n");
    say("autopilot complete green --results failed:0,passed:2");
    say("autopilot commit");
    say("autopilot skip --reason MARKED");
    let run = run_of(&environment);
    for words in [
        "runs report RUN",
        "runs report RUN --json",
        "runs report RUN --format html",
        "run log RUN",
        "run show RUN",
        "runs list --json",
        "autopilot status",
        "autopilot next",
    ] {
        say(&words.replace("RUN", &run));
    }
    let commits = environment.git(&["log", "--all", "--format=%B%N"]);
    assert!(commits.contains("tm run skip"), "{commits}");
    shown.push(("commits".to_owned(), commits));
    let served = Served::by(&environment);
    for path in ["", "/work", "/timeline", "/files", "/replay", "/report"] {
        let path = format!("/runs/{run}{path}");
        shown.push((path.clone(), served.site.page(&path)));
    }
    shown.push(("/".to_owned(), served.site.page("/")));
    // The journal is what happened, to the byte; all that is made of it is for readers.
    let folder = environment.run_folder();
    for name in ["report.md", "report.json", "state.json", "manifest.json"] {
        let text = fs::read_to_string(folder.join(name)).unwrap_or_default();
        shown.push((name.to_owned(), text));
    }
    let spelled = shown
        .iter()
        .filter(|(_, text)| text.contains("tm run skip"));
    assert!(spelled.count() > 10);
    let is_marked = |text: &str| text.contains(['\u{10FFF0}', '\u{10FFF1}', '\u{10FFF2}']);
    let marked = shown.iter().filter(|(_, text)| is_marked(text));
    let marked: Vec<&String> = marked.map(|(name, _)| name).collect();
    assert!(marked.is_empty(), "{marked:?}");
}

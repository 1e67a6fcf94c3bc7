//! Who is let in. What counts as a known host, an allowed origin and the right token is shown beside the policy.

use mcp::http::{Options, Token};
use serde_json::{Value, json};

use crate::served::{Served, TOKEN};
use crate::wire::{
    Headers, SESSIONS, Session, Wire, ask, begin, initialize, listener, post, send, stateless,
};

const REFUSED: i64 = -32000;

fn guarded(token: &Token) -> Served {
    Served::with(|options| options.token = Some(token.clone()))
}

fn known() -> (Served, String) {
    let token = Token::new(TOKEN).unwrap();
    (guarded(&token), bearer(&token))
}

fn bearer(token: &Token) -> String {
    format!("Bearer {}", token.reveal())
}

fn listed(headers: &Headers<'_>) -> String {
    stateless(1, "tools/list", json!({}), headers)
}

#[test]
fn health_is_shown_without_a_token_and_everything_else_is_nothing() {
    let (served, right) = known();
    let asked = |method, path, headers: &Headers<'_>| ask(served.address, method, path, headers);
    let health = asked("GET", "/healthz", &[]);
    let told = json!({ "status": "ok", "name": "actor", "version": "1.2.3" });
    assert_eq!((health.status, health.json()), (200, told));
    for foreign in [("Host", "evil.example"), ("Origin", "http://evil.example")] {
        assert_eq!(asked("GET", "/healthz", &[foreign]).status, 403);
    }
    for path in
        "/ /mcp/ /MCP //mcp /healthz/x /.well-known/oauth-protected-resource /mcp/../healthz"
            .split(' ')
    {
        let refused = asked("GET", path, &[]).refusal();
        assert_eq!(refused, (404, Value::Null, REFUSED), "{path}");
    }
    for (method, path, allowed) in [
        ("POST", "/healthz", "GET, HEAD"),
        ("PUT", "/mcp", "GET, POST, DELETE"),
        ("HEAD", "/mcp", "GET, POST, DELETE"),
        ("OPTIONS", "/mcp", "GET, POST, DELETE"),
        ("NONSENSE", "/mcp", "GET, POST, DELETE"),
    ] {
        let message = crate::wire::request(method, path, &[("Authorization", &right)], "");
        let reply = begin(served.address, message).head();
        let told = ["allow", "access-control-allow-origin"].map(|name| reply.header(name));
        assert_eq!((reply.status, told), (405, [Some(allowed), None]));
    }
}

#[test]
fn the_token_opens_and_nothing_else_does() {
    let (served, right) = known();
    let open = |headers: &Headers<'_>| send(served.address, post(&initialize(), headers));
    let let_in = open(&[("Authorization", &right)]).json();
    assert_eq!(let_in["result"]["serverInfo"]["name"], "actor");
    let (wrong, cookie) = (format!("{right}x"), format!("token={TOKEN}"));
    for (headers, challenge) in [
        (&[][..], "Bearer"),
        (
            &[("Authorization", &*wrong)],
            "Bearer error=\"invalid_token\"",
        ),
        (&[("Cookie", &cookie), ("X-Token", TOKEN)], "Bearer"),
    ] {
        let refused = open(headers);
        assert_eq!(refused.refusal(), (401, Value::Null, REFUSED));
        assert_eq!(refused.header("www-authenticate"), Some(challenge));
    }
    let path = format!("/mcp?token={TOKEN}&access_token={TOKEN}");
    for (method, path) in [("GET", &*path), ("DELETE", "/mcp")] {
        assert_eq!(ask(served.address, method, path, &[]).status, 401);
    }
}

#[test]
fn a_foreign_host_or_page_does_not_get_as_far_as_the_token() {
    let (served, right) = known();
    for foreign in [
        ("Host", "localhost.evil.example"),
        ("Origin", "http://localhost"),
    ] {
        let known = [("Authorization", &*right), foreign];
        let reply = send(served.address, listed(&known));
        assert_eq!(reply.refusal(), (403, Value::Null, REFUSED), "{foreign:?}");
        assert_eq!(reply.header("access-control-allow-origin"), None);
        // The one who does not know the token learns no more than the one who does.
        let stranger = send(served.address, post("{}", &[foreign]));
        assert_eq!((stranger.status, stranger.body), (403, reply.body));
    }
    for (head, status) in [
        ("/healthz HTTP/1.1", 400),
        (
            "http://evil.example/healthz HTTP/1.1\r\nHost: localhost",
            403,
        ),
    ] {
        let mut wire = Wire::to(served.address);
        let reply = wire.send(format!("GET {head}\r\n\r\n")).reply();
        assert_eq!(reply.status, status, "{head}");
    }
}

#[test]
fn an_allowed_page_is_let_in() {
    const HEADERS: &str = "authorization, mcp-session-id";
    let served = Served::with(|options| options.origins = vec!["http://localhost:3000".to_owned()]);
    for (origin, allowed) in [
        ("http://localhost:3000", Some("http://localhost:3000")),
        ("http://localhost:3001", None),
    ] {
        // A browser shows no token before it has heard that it may.
        let preflight = [
            ("Origin", origin),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", HEADERS),
        ];
        let may = ask(served.address, "OPTIONS", "/mcp", &preflight);
        let let_in = send(served.address, listed(&[("Origin", origin)]));
        let statuses = if allowed.is_some() {
            (204, 200)
        } else {
            (403, 403)
        };
        assert_eq!((may.status, let_in.status), statuses);
        for reply in [&may, &let_in] {
            assert_eq!(reply.header("access-control-allow-origin"), allowed);
        }
        let headers = may.header("access-control-allow-headers");
        for needed in ["authorization", "mcp-session-id", "content-type"] {
            let has = headers.is_some_and(|headers| headers.contains(needed));
            assert_eq!(has, allowed.is_some(), "{headers:?}");
        }
    }
}

#[test]
fn a_list_that_makes_no_sense_keeps_the_server_from_starting() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let options = Options {
        origins: vec!["*".to_owned()],
        signals: false,
        ..Options::default()
    };
    let actor = crate::actor::Actor(crate::served::Doors);
    let error = mcp::http::serve(actor, vec![listener], options, |_| {
        panic!("it must not be ready");
    });
    assert_eq!(error.unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
}

#[test]
fn a_replaced_token_is_good_at_once_and_the_old_one_no_longer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let old = Token::load_or_create(&path).unwrap();
    let served = guarded(&old);
    let opens = |token: &Token| {
        let headers = [("Authorization", &*bearer(token))];
        send(served.address, listed(&headers)).status
    };
    let right = bearer(&old);
    let headers = [("Authorization", &*right)];
    let (session, _) = Session::with(served.address, SESSIONS, &headers);
    let in_session = session.listen(&[]).streams();
    let stateless = begin(served.address, listener(1, &headers)).streams();
    assert_eq!(opens(&old), 200);
    let new = Token::replace(&path).unwrap();
    // Streams end with the token that they were opened with. Nothing is sent meanwhile: the server looks by itself.
    in_session.ends();
    stateless.ends();
    assert_eq!((opens(&new), opens(&old)), (200, 401));
    // Without a file nobody is let in, until there is one again.
    std::fs::remove_file(&path).unwrap();
    assert_eq!(opens(&new), 401);
    let newer = Token::load_or_create(&path).unwrap();
    assert_eq!(opens(&newer), 200);
}

//! Who is let in.

use mcp::http::{Options, Token};
use serde_json::{Value, json};

use crate::served::{Served, TOKEN};
use crate::wire::{Session, Wire, ask, initialize, post, request, stateless};

fn guarded() -> Served {
    Served::with(Options {
        token: Some(Token::new(TOKEN).unwrap()),
        ..Options::default()
    })
}

fn bearer() -> String {
    format!("Bearer {TOKEN}")
}

#[test]
fn health_is_shown_without_a_token() {
    let served = guarded();
    let reply = ask(served.address, "GET", "/healthz", &[]);
    assert_eq!(reply.status, 200);
    assert_eq!(
        reply.json(),
        json!({ "status": "ok", "name": "playground", "version": "1.2.3" })
    );
    let foreign = ask(
        served.address,
        "GET",
        "/healthz",
        &[("Host", "evil.example")],
    );
    assert_eq!(foreign.status, 403);
    let page = [("Origin", "http://evil.example")];
    assert_eq!(ask(served.address, "GET", "/healthz", &page).status, 403);
    let posted = ask(served.address, "POST", "/healthz", &[]);
    assert_eq!(
        (posted.status, posted.header("allow")),
        (405, Some("GET, HEAD"))
    );
}

#[test]
fn everything_else_is_nothing() {
    let served = guarded();
    for path in [
        "/",
        "/mcp/",
        "/MCP",
        "//mcp",
        "/healthz/x",
        "/.well-known/oauth-protected-resource",
        "/mcp/../healthz",
    ] {
        let reply = ask(served.address, "GET", path, &[]);
        assert_eq!(reply.status, 404, "{path}");
        reply.refusal();
    }
    for method in ["PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "NONSENSE"] {
        let headers = [("Authorization", bearer())];
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| (*name, &**value))
            .collect();
        let mut wire = Wire::to(served.address);
        let reply = wire.send(request(method, "/mcp", &headers, "")).head();
        assert_eq!(
            (reply.status, reply.header("allow")),
            (405, Some("GET, POST, DELETE")),
            "{method}"
        );
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
}

#[test]
fn the_token_opens_and_nothing_else_does() {
    let served = guarded();
    let open = |headers: &[(&str, &str)]| {
        Wire::to(served.address)
            .send(post(&initialize(), headers))
            .reply()
    };
    let right = bearer();
    let reply = open(&[("Authorization", &right)]);
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(reply.json()["result"]["serverInfo"]["name"], "playground");

    let missing = open(&[]);
    assert_eq!(missing.status, 401);
    assert_eq!(missing.header("www-authenticate"), Some("Bearer"));
    assert!(
        missing.body.contains("Authorization: Bearer"),
        "{missing:?}"
    );
    missing.refusal();
    for wrong in [
        format!("{right}x"),
        right[..right.len() - 1].to_owned(),
        format!("Basic {TOKEN}"),
        TOKEN.to_owned(),
        format!("Bearer {}", TOKEN.to_uppercase()),
        "Bearer ".to_owned(),
    ] {
        let reply = open(&[("Authorization", &wrong)]);
        assert_eq!(reply.status, 401, "{wrong}");
        assert!(
            reply
                .header("www-authenticate")
                .is_some_and(|header| header.starts_with("Bearer")),
            "{reply:?}"
        );
        reply.refusal();
    }
    assert_eq!(
        open(&[("Authorization", &right), ("Authorization", &right)]).status,
        401
    );
    let cookie = format!("token={TOKEN}");
    assert_eq!(open(&[("Cookie", &cookie), ("X-Token", TOKEN)]).status, 401);
    let path = format!("/mcp?token={TOKEN}&access_token={TOKEN}");
    assert_eq!(ask(served.address, "GET", &path, &[]).status, 401);
    assert_eq!(ask(served.address, "DELETE", "/mcp", &[]).status, 401);
}

#[test]
fn a_foreign_host_or_page_does_not_get_as_far_as_the_token() {
    let served = guarded();
    let right = bearer();
    let sent = |headers: &[(&str, &str)]| {
        let mut all = vec![("Authorization", right.as_str())];
        all.extend_from_slice(headers);
        Wire::to(served.address)
            .send(stateless(1, "tools/list", json!({}), &all))
            .reply()
    };
    assert_eq!(sent(&[]).status, 200);
    let local = format!("localhost:{}", served.address.port());
    assert_eq!(sent(&[("Host", &local)]).status, 200);
    for headers in [
        // What a page sends whose name was made to point at this machine.
        &[("Host", "evil.example"), ("Origin", "http://evil.example")][..],
        &[("Host", "evil.example")],
        &[("Host", "localhost.evil.example")],
        &[("Host", "")],
        &[("Origin", "http://evil.example")],
        &[("Origin", "null")],
        &[("Origin", "")],
        &[("Origin", "http://localhost")],
        &[("Origin", "file://")],
    ] {
        let reply = sent(headers);
        assert_eq!(reply.status, 403, "{headers:?}");
        reply.refusal();
        assert_eq!(reply.header("access-control-allow-origin"), None);
        // The one who does not know the token learns no more than the one who does.
        let stranger = Wire::to(served.address).send(post("{}", headers)).reply();
        assert_eq!((stranger.status, stranger.body), (403, reply.body));
    }
    let mut wire = Wire::to(served.address);
    wire.send("GET /healthz HTTP/1.1\r\n\r\n");
    assert_eq!(wire.reply().status, 400, "no host at all");
    let mut wire = Wire::to(served.address);
    wire.send("GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(wire.reply().status, 403, "two opinions about the host");
}

#[test]
fn an_allowed_page_is_let_in() {
    let served = Served::with(Options {
        origins: vec!["http://localhost:3000".to_owned()],
        ..Options::default()
    });
    let preflight = |origin| {
        let headers = [
            ("Origin", origin),
            ("Access-Control-Request-Method", "POST"),
            (
                "Access-Control-Request-Headers",
                "authorization, mcp-session-id",
            ),
        ];
        ask(served.address, "OPTIONS", "/mcp", &headers)
    };
    // A browser shows no token before it has heard that it may.
    let may = preflight("http://localhost:3000");
    assert_eq!(may.status, 204);
    assert_eq!(
        may.header("access-control-allow-origin"),
        Some("http://localhost:3000")
    );
    let headers = may.header("access-control-allow-headers").unwrap();
    for needed in ["authorization", "mcp-session-id", "content-type"] {
        assert!(headers.contains(needed), "{headers}");
    }
    let other = preflight("http://localhost:3001");
    assert_eq!(
        (other.status, other.header("access-control-allow-origin")),
        (403, None)
    );
    let from = |origin| {
        let headers = [("Origin", origin)];
        Wire::to(served.address)
            .send(stateless(1, "tools/list", json!({}), &headers))
            .reply()
    };
    let let_in = from("http://localhost:3000");
    assert_eq!(let_in.status, 200);
    assert_eq!(
        let_in.header("access-control-allow-origin"),
        Some("http://localhost:3000")
    );
    assert_eq!(from("http://localhost:3001").status, 403);
}

#[test]
fn a_list_that_makes_no_sense_keeps_the_server_from_starting() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let options = Options {
        origins: vec!["*".to_owned()],
        signals: false,
        ..Options::default()
    };
    let error = mcp::http::serve(crate::served::Playground, vec![listener], options, |_| {
        panic!("it must not be ready");
    })
    .unwrap_err();
    assert!(error.to_string().contains("`*` is no origin"), "{error}");
}

#[test]
fn a_refusal_is_json_with_an_id_of_null() {
    let served = guarded();
    let reply = Wire::to(served.address).send(post("{}", &[])).reply();
    assert_eq!(reply.json()["id"], Value::Null);
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
}

fn listed_with(served: &Served, token: &Token) -> u16 {
    let bearer = format!("Bearer {}", token.reveal());
    let message = stateless(1, "tools/list", json!({}), &[("Authorization", &bearer)]);
    Wire::to(served.address).send(message).reply().status
}

fn of_file(token: &Token) -> Served {
    Served::with(Options {
        token: Some(token.clone()),
        ..Options::default()
    })
}

#[test]
fn a_replaced_token_is_good_at_once_and_the_old_one_no_longer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let old = Token::load_or_create(&path).unwrap();
    let served = of_file(&old);
    assert_eq!(listed_with(&served, &old), 200);
    let new = Token::replace(&path).unwrap();
    assert_eq!(listed_with(&served, &new), 200);
    assert_eq!(listed_with(&served, &old), 401);
    // Without a file nobody is let in, until there is one again.
    std::fs::remove_file(&path).unwrap();
    assert_eq!(listed_with(&served, &new), 401);
    let newer = Token::load_or_create(&path).unwrap();
    assert_eq!(listed_with(&served, &newer), 200);
}

#[test]
fn streams_end_with_the_token_that_they_were_opened_with() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let old = Token::load_or_create(&path).unwrap();
    let served = of_file(&old);
    let session = Session::with_token(served.address, Some(old.reveal()));
    let mut in_session = session.listen();
    assert_eq!(in_session.head().status, 200);
    let bearer = format!("Bearer {}", old.reveal());
    let params = json!({ "notifications": {} });
    let mut stateless_one = Wire::to(served.address);
    stateless_one.send(stateless(
        1,
        "subscriptions/listen",
        params,
        &[("Authorization", &bearer)],
    ));
    assert_eq!(stateless_one.head().status, 200);
    Token::replace(&path).unwrap();
    // Nothing is sent meanwhile: the server looks by itself.
    while in_session.chunk().is_some() {}
    while stateless_one.chunk().is_some() {}
}

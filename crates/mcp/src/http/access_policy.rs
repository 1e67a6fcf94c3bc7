//! Who is let in: checks that need nothing but a request's head.

use std::io;
use std::sync::{Mutex, PoisonError};

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::header::{CONNECTION, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{StatusCode, Uri};
use tokio_util::sync::CancellationToken;

use super::refusal::Refusal;
use super::{Options, Token};

/// The checks, in the order in which they are made: host, origin, token.
#[derive(Debug)]
pub(super) struct AccessPolicy {
    hosts: Vec<Host>,
    origins: Vec<Origin>,
    token: Option<Mutex<GoodToken>>,
}

/// The token as it was read last, and what is cancelled as soon as it is good no more.
pub(super) type GoodToken = (Token, CancellationToken);

/// A name under which the server may be called.
#[derive(Debug, PartialEq, Eq)]
struct Host {
    name: String,
    /// `None` stands for any.
    port: Option<u16>,
}

#[derive(Debug, PartialEq, Eq)]
struct Origin {
    scheme: String,
    name: String,
    port: Option<u16>,
}

impl AccessPolicy {
    pub(super) fn new(options: &Options) -> io::Result<Self> {
        let invalid = |what: &str, entry: &str, example: &str| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("`{entry}` is no {what}; write it as `{example}`"),
            )
        };
        Ok(Self {
            hosts: options
                .hosts
                .iter()
                .map(|entry| Host::parse(entry).ok_or_else(|| invalid("host", entry, "localhost")))
                .collect::<io::Result<_>>()?,
            origins: options
                .origins
                .iter()
                .map(|entry| {
                    Origin::parse(entry)
                        .ok_or_else(|| invalid("origin", entry, "http://localhost:3000"))
                })
                .collect::<io::Result<_>>()?,
            token: options
                .token
                .clone()
                .map(|token| Mutex::new((token, CancellationToken::new()))),
        })
    }

    /// That the request was meant for this server, and does not come from a page of somebody else: a browser can be
    /// made to send anything to this machine, but not to lie about these two. A site is also asked by `its_own` pages: those
    /// that come from the host that they ask.
    pub(super) fn check_sender(&self, head: &Parts, its_own: bool) -> Result<(), Refusal> {
        let named = one(&head.headers, &HOST).map_err(|RepeatedHeader| {
            refused("the request names several hosts; send one `Host`")
        })?;
        let authority = head.uri.authority().map(Authority::as_str);
        if named.is_none() && authority.is_none() {
            return Err(refused("the request names no host; send a `Host`"));
        }
        let named = named
            .map(|value| value.to_str().unwrap_or_default())
            .into_iter();
        for host in named.chain(authority) {
            if !Host::parse(host).is_some_and(|host| self.knows(&host)) {
                return Err(forbidden(
                    "this server does not answer to the host that the request names; call it by the address it was started with, or start it with that host allowed",
                ));
            }
        }
        match one(&head.headers, &ORIGIN) {
            Ok(None) => Ok(()),
            Ok(Some(origin)) if self.allows(origin) => Ok(()),
            Ok(Some(origin)) if its_own && is_of_host(origin, &head.headers) => Ok(()),
            _ => Err(forbidden(
                "requests from the pages of this origin are not answered; start the server with the origin allowed if they should be",
            )),
        }
    }

    /// The token that is good now, where there is one. What was begun with another ends.
    pub(super) fn read_token(&self) -> Result<Option<GoodToken>, Refusal> {
        let Some(known) = &self.token else {
            return Ok(None);
        };
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let (token, replaced) = &*known;
        let current = token.current().map_err(|_| {
            replaced.cancel();
            unauthorized(
                "the file with the token of this server holds none; nobody is let in until it does",
                "Bearer",
            )
        })?;
        if !current.is(token.reveal().as_bytes()) {
            replaced.cancel();
        }
        if replaced.is_cancelled() {
            *known = (current, CancellationToken::new());
        }
        Ok(Some(known.clone()))
    }

    /// That the sender knows the token, where there is one; with what is cancelled when that is good no more.
    pub(super) fn check_token(&self, head: &Parts) -> Result<CancellationToken, Refusal> {
        let Some((token, replaced)) = self.read_token()? else {
            return Ok(CancellationToken::new());
        };
        let missing = || {
            unauthorized(
                "this server wants to be shown its token; send it as `Authorization: Bearer TOKEN`",
                "Bearer",
            )
        };
        let given = one(&head.headers, &AUTHORIZATION)
            .map_err(|RepeatedHeader| missing())?
            .ok_or_else(missing)?
            .as_bytes();
        let scheme = b"Bearer ";
        match given.split_at_checked(scheme.len()) {
            Some((start, rest)) if start.eq_ignore_ascii_case(scheme) => {
                if token.is(rest.trim_ascii()) {
                    Ok(replaced)
                } else {
                    Err(unauthorized(
                        "this is not the token of this server; take it from where the server keeps it",
                        "Bearer error=\"invalid_token\"",
                    ))
                }
            }
            _ => Err(missing()),
        }
    }

    fn knows(&self, host: &Host) -> bool {
        self.hosts.iter().any(|known| {
            known.name == host.name && (known.port.is_none() || known.port == host.port)
        })
    }

    /// The origin of the page that sends a request, where pages of it are answered.
    pub(super) fn allowed_origin<'h>(&self, headers: &'h HeaderMap) -> Option<&'h HeaderValue> {
        let named = one(headers, &ORIGIN).ok().flatten();
        named.filter(|origin| self.allows(origin))
    }

    fn allows(&self, origin: &HeaderValue) -> bool {
        origin
            .to_str()
            .ok()
            .and_then(Origin::parse)
            .is_some_and(|origin| self.origins.contains(&origin))
    }
}

impl Host {
    fn parse(text: &str) -> Option<Self> {
        // A bare IPv6 address is what people write into a list.
        let bracketed;
        let text = match text.parse::<std::net::Ipv6Addr>() {
            Ok(address) => {
                bracketed = format!("[{address}]");
                &bracketed
            }
            Err(_) => text,
        };
        let authority: Authority = text.parse().ok()?;
        // `user@host` is a host with a name before it, and no request has reason to send one.
        if text.contains('@') || authority.host().is_empty() {
            return None;
        }
        // What stands behind the colon has to be a port.
        if authority.port().is_none() && authority.as_str().len() != authority.host().len() {
            return None;
        }
        Some(Self {
            name: authority.host().to_ascii_lowercase(),
            port: match authority.port() {
                None => None,
                Some(_) => Some(authority.port_u16()?),
            },
        })
    }
}

impl Origin {
    fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        // An origin has no path, and no page of ours is called `null`.
        let uri: Uri = text.parse().ok()?;
        if rest.contains(['/', '?', '#']) || uri.scheme_str().is_none() {
            return None;
        }
        let scheme = scheme.to_ascii_lowercase();
        let host = Host::parse(rest)?;
        Some(Self {
            port: host.port.or(match scheme.as_str() {
                "http" => Some(80),
                "https" => Some(443),
                _ => None,
            }),
            name: host.name,
            scheme,
        })
    }
}

/// Whether a page of this origin asks the host that it came from. Behind a proxy that adds TLS it came by `https`.
fn is_of_host(origin: &HeaderValue, headers: &HeaderMap) -> bool {
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
    let host = headers.get(HOST).and_then(text);
    let (Some(origin), Some(host)) = (text(origin), host) else {
        return false;
    };
    let Some(origin) = Origin::parse(&origin) else {
        return false;
    };
    let same =
        |scheme: &str| Origin::parse(&format!("{scheme}://{host}")).as_ref() == Some(&origin);
    same("http") || same("https")
}

/// A header came more than once where it may come once.
struct RepeatedHeader;

fn one<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a HeaderValue>, RepeatedHeader> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (first, None) => Ok(first),
        _ => Err(RepeatedHeader),
    }
}

fn refused(message: &'static str) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, message)
}

/// Whoever is not meant need not come again over this connection.
fn forbidden(message: &'static str) -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, message)
        .with_header(CONNECTION, HeaderValue::from_static("close"))
}

fn unauthorized(message: &'static str, challenge: &'static str) -> Refusal {
    Refusal::new(StatusCode::UNAUTHORIZED, message)
        .with_header(WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn policy() -> AccessPolicy {
        AccessPolicy::new(&Options {
            origins: vec!["http://localhost:3000".to_owned()],
            token: Some(Token::new("a".repeat(40)).unwrap()),
            ..Options::default()
        })
        .unwrap()
    }

    fn sender(uri: &str, headers: &[(&str, &str)]) -> bool {
        policy().check_sender(&head(uri, headers), false).is_ok()
    }

    fn head(uri: &str, headers: &[(&str, &str)]) -> Parts {
        let mut request = Request::get(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn only_known_hosts_are_answered() {
        for host in "localhost LOCALHOST:1 127.0.0.1:8080 [::1] [::1]:9".split(' ') {
            assert!(sender("/mcp", &[("host", host)]), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "evil.example:80",
            "evil@localhost",
            "localhost:evil",
            "localhost:",
            "localhost:99999",
            "127.0.0.2",
            "::1",
            "localhost/evil",
            "localhost evil",
        ] {
            // `::1` without brackets is what a list may say, and is no host of a request; that it is understood
            // all the same does no harm.
            assert_eq!(sender("/mcp", &[("host", host)]), host == "::1", "{host}");
        }
        let known = ("host", "localhost");
        for (uri, headers) in [
            ("/mcp", &[][..]),
            ("/mcp", &[known, known]),
            ("http://evil.example/mcp", &[known]),
        ] {
            assert!(!sender(uri, headers), "{uri} {headers:?}");
        }
    }

    #[test]
    fn a_host_may_be_tied_to_a_port() {
        let policy = AccessPolicy::new(&Options {
            hosts: vec!["tm.example:8080".to_owned(), "::1".to_owned()],
            ..Options::default()
        })
        .unwrap();
        for (host, known) in [
            ("tm.example:8080", true),
            ("[::1]:1", true),
            ("tm.example", false),
            ("localhost", false),
        ] {
            assert_eq!(policy.knows(&Host::parse(host).unwrap()), known, "{host}");
        }
    }

    #[test]
    fn only_allowed_origins_are_answered() {
        let origin = |origin| sender("/mcp", &[("host", "localhost"), ("origin", origin)]);
        assert!(origin("http://localhost:3000"));
        assert!(origin("HTTP://LOCALHOST:3000"));
        for foreign in [
            "",
            "null",
            "file://",
            "http://localhost",
            "https://localhost:3000",
            "http://localhost:3001",
            "http://localhost:3000.evil.example",
            "http://evil.example",
            "http://localhost:3000/",
            "http://evil@localhost:3000",
            "localhost:3000",
        ] {
            assert!(!origin(foreign), "{foreign}");
        }
        let twice = [("origin", "http://localhost:3000"); 2];
        let headers = [&[("host", "localhost")][..], &twice].concat();
        assert!(!sender("/mcp", &headers));
    }

    #[test]
    fn a_site_is_asked_by_its_own_pages_too() {
        let asks = |host: &str, origin: &str| {
            let head = head("/", &[("host", host), ("origin", origin)]);
            policy().check_sender(&head, true).is_ok()
        };
        assert!(asks("127.0.0.1:7370", "http://127.0.0.1:7370"));
        assert!(asks("localhost", "https://localhost"));
        for (host, origin) in [
            ("127.0.0.1:7370", "http://127.0.0.1:7371"),
            ("127.0.0.1:7370", "http://localhost:7370"),
            ("127.0.0.1:7370", "null"),
            ("127.0.0.1:7370", "http://127.0.0.1:7370@evil.example"),
            ("evil.example:7370", "http://evil.example:7370"),
        ] {
            assert!(!asks(host, origin), "{host} {origin}");
        }
    }

    #[test]
    fn the_token_comes_in_one_header_only() {
        let token = "a".repeat(40);
        let known = |headers: &[(&str, &str)]| policy().check_token(&head("/mcp", headers)).is_ok();
        for right in [format!("Bearer {token}"), format!("bearer  {token} ")] {
            assert!(known(&[("authorization", &right)]));
            assert!(!known(&[("authorization", &*right); 2]));
        }
        assert!(!known(&[]));
        for wrong in [
            token.clone(),
            format!("Basic {token}"),
            format!("Bearer{token}"),
            format!("Bearer {token}a"),
            format!("Bearer {}", token.to_uppercase()),
            format!("Bearer {}", &token[1..]),
            "Bearer ".to_owned(),
            "Bearer".to_owned(),
            String::new(),
        ] {
            assert!(!known(&[("authorization", &wrong)]), "{wrong}");
        }
    }

    #[test]
    fn a_list_that_cannot_be_understood_is_refused_at_the_start() {
        for (host, origin) in [
            ("http://localhost", "http://localhost"),
            ("", "http://localhost"),
            ("localhost", "localhost"),
            ("localhost", "null"),
            ("localhost", "*"),
        ] {
            let options = Options {
                hosts: vec![host.to_owned()],
                origins: vec![origin.to_owned()],
                ..Options::default()
            };
            let error = AccessPolicy::new(&options).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
        }
    }
}

//! `tm mcp` and `tm serve`.

use std::io::{ErrorKind, IsTerminal as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Fault;
use engine::fault;

use ::mcp::http::{self, Options, Token, TokenError};
use ::web::access::Right;
use serde_json::json;

use super::web::Shown;
use super::{DONE, Outcome, current_folder, open, usage, web};
use crate::cli::mcp::{Mcp, Serve, ServeCommand, ServeToken};
use crate::mcp::{Group, Places, Tramline};
use crate::output::Output;

/// The name of this machine for itself.
const LOCALHOST: &str = "localhost";
/// How many free ports are tried until one is free at both addresses of this machine.
const PORTS: usize = 8;

/// Serves the client at standard input and output, until it closes its end.
pub fn stdio(mcp: &Mcp, output: &Output) -> Outcome {
    log_to_stderr();
    if std::io::stdin().is_terminal() {
        output.hint(
            "an agent starts this and speaks to it here; `tm init --client …` sets one up. Ctrl-D ends it",
        );
    }
    let named = mcp.project_root.as_deref().map(folder).transpose()?;
    let places = Places::of_one_client(current_folder()?, named);
    let server = Tramline::new(places, &mcp.tools);
    engine::remember_runs();
    ::mcp::stdio::serve(server).map_err(|error| {
        Fault::environment(
            "io_failed",
            "serving on standard input and output ended",
            &error,
        )
        .suggest("start it again; runs are as they were after their last answer")
    })?;
    Ok(DONE)
}

/// Serves many clients on HTTP, until the process is told to stop.
pub fn http(serve: Serve, output: &mut Output) -> Outcome {
    if let Some(ServeCommand::Token(wanted)) = serve.command {
        return show_token(wanted, output);
    }
    log_to_stderr();
    let cwd = current_folder()?;
    let roots = if serve.roots.is_empty() {
        vec![folder(&cwd)?]
    } else {
        serve
            .roots
            .iter()
            .map(|root| folder(root))
            .collect::<Result<Vec<_>, _>>()?
    };
    let listening = Listening::at(&serve.listen, serve.allow_remote)?;
    let token_file = match serve.token_file {
        Some(file) => file,
        None => own_token_file(&roots)?,
    };
    let (site, access) = web::site(Shown::within(cwd.clone(), roots.clone()));
    let mut options = Options {
        token: Some(token(&token_file)?),
        origins: serve.allow_origins,
        site: Some(site),
        ..Options::default()
    };
    options.hosts.extend(serve.allow_hosts);
    options.hosts.extend(listening.own_host());
    let name = listening.name();
    let has_person = output.has_person();
    let ready = |address: SocketAddr| {
        let host = Listening::host(name, address);
        // A key is only for eyes: what is piped or logged gets the address alone.
        let key = has_person.then(|| web::link(&access, &host, "/", Right::Decide));
        let page = key.and_then(Result::ok);
        let said = json!({
            "url": format!("http://{address}/mcp"),
            "page": page.unwrap_or_else(|| format!("http://{host}/")),
            "tokenFile": token_file,
            "roots": roots,
        });
        // Where nobody reads, it is served all the same.
        let _ = output.page(&said, "serving");
        if has_person {
            web::another_link_on_enter(Arc::clone(&access), host, "/".to_owned());
        }
    };
    let places = Places::within(cwd, roots.clone());
    self::serve(places, &serve.tools, listening, options, ready)
}

/// The token in a file, made anew where there is none.
pub(super) fn token(file: &Path) -> Result<Token, Fault> {
    Token::load_or_create(file).map_err(|error| no_token(&error))
}

fn no_token(error: &TokenError) -> Fault {
    Fault::environment(
        "io_failed",
        "the token that clients must show cannot be had",
        error,
    )
    .suggest("fix the file that is named, or delete it to have a new one made")
}

/// Shows where the token of the servers is; replaces it where that is wanted.
fn show_token(wanted: ServeToken, output: &mut Output) -> Outcome {
    let file = match wanted.token_file {
        Some(file) => file,
        None => own_token_file(&[])?,
    };
    if wanted.rotate {
        Token::replace(&file).map_err(|error| no_token(&error))?;
    } else {
        token(&file)?;
    }
    let answer = json!({ "tokenFile": file, "rotated": wanted.rotate });
    output.page(&answer, "token")?;
    Ok(DONE)
}

/// Where a server can be reached.
pub(super) struct Listening {
    listeners: Vec<TcpListener>,
    /// The name that people are sent to; none where it is the address.
    name: Option<&'static str>,
}

impl Listening {
    /// Listens at what was named: at addresses of this machine alone, unless others may come.
    ///
    /// By the name of this machine itself a browser may go to either of its addresses. Where one were free somebody else could
    /// listen there, and be taken for us: so both are ours, or neither is.
    pub(super) fn at(named: &str, allow_remote: bool) -> Result<Self, Fault> {
        match named.rsplit_once(':') {
            Some((LOCALHOST, port)) => Self::at_both(port, named),
            _ => Ok(Self {
                listeners: vec![listen(address(named)?, allow_remote)?],
                name: None,
            }),
        }
    }

    fn at_both(port: &str, named: &str) -> Result<Self, Fault> {
        let port: u16 = port
            .parse()
            .map_err(|_| no_address(named, "the port is no number up to 65535"))?;
        let mut last = None;
        for _ in 0..PORTS {
            let four = listen((Ipv4Addr::LOCALHOST, port).into(), false)?;
            let taken = four.local_addr().map_or(port, |address| address.port());
            match TcpListener::bind((Ipv6Addr::LOCALHOST, taken)) {
                Ok(six) => return Ok(Self::by_name(vec![four, six])),
                Err(error) if error.kind() != ErrorKind::AddrInUse => {
                    return Ok(Self::by_name(vec![four]));
                }
                Err(error) => last = Some(not_listening(named, &error)),
            }
            if port != 0 {
                break;
            }
        }
        Err(last.unwrap_or_else(|| no_address(named, "no port is free")))
    }

    fn by_name(listeners: Vec<TcpListener>) -> Self {
        Self {
            listeners,
            name: Some(LOCALHOST),
        }
    }

    /// The address as the host of a request, where it is one.
    fn own_host(&self) -> Option<String> {
        let ip = self.listeners.first()?.local_addr().ok()?.ip();
        (!ip.is_unspecified()).then(|| match ip {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        })
    }

    /// Host and port, as they stand in an address that people open.
    pub(super) fn host(name: Option<&str>, address: SocketAddr) -> String {
        match name {
            Some(name) => format!("{name}:{}", address.port()),
            // What listens everywhere is reached here.
            None if address.ip().is_unspecified() => format!("127.0.0.1:{}", address.port()),
            None => address.to_string(),
        }
    }

    /// The name that people are sent to; none where it is the address.
    pub(super) fn name(&self) -> Option<&'static str> {
        self.name
    }
}

fn listen(address: SocketAddr, allow_remote: bool) -> Result<TcpListener, Fault> {
    if !address.ip().is_loopback() && !allow_remote {
        return Err(fault!("usage.remote_listener", address));
    }
    TcpListener::bind(address).map_err(|error| not_listening(&address.to_string(), &error))
}

fn not_listening(named: &str, error: &std::io::Error) -> Fault {
    Fault::environment("io_failed", format!("{named} cannot be listened on"), error)
        .suggest("stop what listens there, or choose another port with --listen (port 0 takes any that is free)")
}

/// Serves until the process is told to stop.
pub(super) fn serve(
    places: Places,
    groups: &[Group],
    listening: Listening,
    options: Options,
    ready: impl FnOnce(SocketAddr),
) -> Outcome {
    engine::remember_runs();
    let server = Tramline::new(places, groups);
    http::serve(server, listening.listeners, options, ready).map_err(|error| {
        let fault = Fault::environment("io_failed", "serving on HTTP ended", &error);
        match error.kind() {
            ErrorKind::Interrupted | ErrorKind::TimedOut => fault.suggest(
                "calls that were under way got no answer; what they did stands, see `tm runs list`",
            ),
            _ => fault.suggest("start it again; runs are as they were after their last answer"),
        }
    })?;
    Ok(DONE)
}

fn address(named: &str) -> Result<SocketAddr, Fault> {
    named
        .to_socket_addrs()
        .map_err(|error| no_address(named, &error.to_string()))?
        .next()
        .ok_or_else(|| no_address(named, "nothing is known under that name"))
}

fn no_address(named: &str, why: &str) -> Fault {
    usage(format!("`{named}` is no address to listen on: {why}"))
        .suggest("give host and port, such as 127.0.0.1:7370")
}

/// The token lies in the store, so that every server of this user has the same.
fn own_token_file(roots: &[PathBuf]) -> Result<PathBuf, Fault> {
    let engine = open(roots.first().cloned(), None, "tm serve")?;
    Ok(engine.settings().store.join("serve-token"))
}

/// What happens goes to standard error: standard output belongs to the client. `TRAMLINE_LOG` says how much, as in
/// `TRAMLINE_LOG=debug`.
pub(super) fn log_to_stderr() {
    use tracing_subscriber::filter::{LevelFilter, Targets};
    use tracing_subscriber::prelude::*;
    use tracing_subscriber::{fmt, registry};
    // What the SDK complains of is what clients do: requests that fail, streams that end.
    let unasked = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("rmcp", LevelFilter::OFF);
    let filter = std::env::var("TRAMLINE_LOG")
        .ok()
        .and_then(|wanted| wanted.parse().ok())
        .unwrap_or(unasked);
    // Set already where a test runs several in one process; the first one does.
    let lines = fmt::layer().with_ansi(false).with_writer(std::io::stderr);
    let _ = registry().with(lines).with(filter).try_init();
}

pub(super) fn folder(named: &Path) -> Result<PathBuf, Fault> {
    let real = std::fs::canonicalize(named).and_then(|real| {
        if real.is_dir() {
            Ok(real)
        } else {
            Err(ErrorKind::NotADirectory.into())
        }
    });
    real.map_err(|error| fault!("not_found.served_folder", named = named.display(), error))
}

//! A call whose tests take long, made by a program that may give it up: it is carried out by a process of its own, which goes on when
//! the caller is gone. The same call, with the work as it was, joins it. Where nobody does, nothing is taken in.
//!
//! A call has a folder, in the project's folder of the store:
//!
//! | file | what it is |
//! |---|---|
//! | `worker` | locked by the process that carries the call out; its id |
//! | `caller` | locked by whoever waits for it |
//! | `out`, `err` | what it printed |
//! | `status` | its exit status, once it is over |

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use engine::{Fault, Kind, SuiteCause, SuiteHost};
use rustix::process::{Pid, Signal, kill_process, setsid};

use crate::output::Output;

/// What is named first to the process that carries a call out, before the call's folder and its arguments.
const WORKER: &str = "__carry-out";
/// The same to the process that starts that one and ends, so that it is nobody's child.
const APART: &str = "__carry-out-apart";
/// The folder of calls, in the project's.
const CALLS: &str = "calls";
/// In it: the tests took less than [`QUICK`] when they were run last, and are not run now.
const IS_QUICK: &str = "quick";
/// What takes less than this is run by the call itself.
const QUICK: Duration = Duration::from_secs(10);
/// How often others are looked at.
const POLL: Duration = Duration::from_millis(10);
/// How long a process may take to start.
const STARTED: Duration = Duration::from_secs(10);
/// How long is waited before it is said what to do when the call is cut off.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long what the tests said waits for somebody who asks for it.
pub const UNCLAIMED: Duration = Duration::from_mins(10);

/// The call that this process is carrying out for another one.
static CARRIED: OnceLock<PathBuf> = OnceLock::new();

/// Carries out a call for another process, if that is what this one was started for.
pub fn carried_out(
    arguments: &[OsString],
    carry_out: impl FnOnce(&[OsString]) -> u8,
) -> Option<ExitCode> {
    let [program, role, folder, rest @ ..] = arguments else {
        return None;
    };
    let done = match role.to_str()? {
        APART => start(
            &[OsString::from(WORKER), folder.clone()],
            rest,
            Path::new(folder),
        ),
        WORKER => work(Path::new(folder), || {
            let call: Vec<OsString> = [program].into_iter().chain(rest).cloned().collect();
            carry_out(&call)
        }),
        _ => return None,
    };
    Some(done.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

/// Starts this program once more, with nothing of this process's, its output in the call's folder.
fn start(first: &[OsString], rest: &[OsString], folder: &Path) -> io::Result<()> {
    let mut command = Command::new(env::current_exe()?);
    command.args(first).args(rest).stdin(Stdio::null());
    command.stdout(File::create(folder.join("out"))?);
    command.stderr(File::create(folder.join("err"))?);
    command.spawn().map(drop)
}

fn work(folder: &Path, carry_out: impl FnOnce() -> u8) -> io::Result<()> {
    setsid()?;
    let mut worker = open(&folder.join("worker"))?;
    // Those who look whether it is held hold it for a moment.
    worker.lock()?;
    worker.set_len(0)?;
    write!(worker, "{}", process::id())?;
    let _ = CARRIED.set(folder.to_owned());
    let status = carry_out();
    let aside = folder.join("status-aside");
    fs::write(&aside, status.to_string())?;
    fs::rename(aside, folder.join("status"))
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    let options = options.create(true).truncate(false);
    options.read(true).write(true).open(path)
}

/// Whether somebody holds the lock of a file.
fn is_held(path: &Path) -> bool {
    open(path).is_ok_and(|file| file.try_lock().is_err())
}

/// Where the suites of this process's call are run.
#[derive(Debug)]
pub struct Host {
    call: Vec<OsString>,
    /// Whether they are run here, whatever they take.
    is_here: AtomicBool,
    /// The folder of the call, where another process is to carry it out.
    given_away: OnceLock<PathBuf>,
    /// Where they are run here: the folder of calls, and since when they are run.
    begun: Mutex<Option<(PathBuf, Instant)>>,
    /// Whether what they say is taken in; nothing may end this process any more.
    is_taken_in: Mutex<bool>,
}

static HOST: OnceLock<Arc<Host>> = OnceLock::new();

/// The host of this process's call, which has these arguments.
pub fn host_of(call: &[OsString]) -> &'static Arc<Host> {
    HOST.get_or_init(|| {
        // A person at a terminal sees to it, and ends it with a key.
        let is_here = CARRIED.get().is_some() || io::stdout().is_terminal();
        Arc::new(Host {
            call: call.to_owned(),
            is_here: is_here.into(),
            given_away: OnceLock::new(),
            begun: Mutex::default(),
            is_taken_in: Mutex::default(),
        })
    })
}

/// The host of this process's call, if it is one of the command line.
pub fn host() -> Option<Arc<Host>> {
    HOST.get().cloned()
}

impl Host {
    /// The folder of the call, where another process is to carry it out.
    pub fn given_away(&self) -> Option<&Path> {
        self.given_away.get().map(PathBuf::as_path)
    }

    /// Has the suites run here after all.
    pub fn run_here(&self) {
        self.is_here.store(true, Ordering::Release);
    }

    fn is_taken_in(&self) -> MutexGuard<'_, bool> {
        let is_taken_in = self.is_taken_in.lock();
        is_taken_in.unwrap_or_else(PoisonError::into_inner)
    }

    fn begun(&self) -> MutexGuard<'_, Option<(PathBuf, Instant)>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the run in a folder has gone on since now, as when it is aborted: what its tests say is then about the run as it was.
pub fn goes_on(run_dir: &Path) -> impl Fn() -> bool + Send + 'static {
    let journal = run_dir.join(journal::file::FILE_NAME);
    let length = move || fs::metadata(&journal).map(|about| about.len()).ok();
    let now = length();
    move || length() != now
}

/// Ends this process with its tests when the run goes on without them.
fn end_when(goes_on: impl Fn() -> bool + Send + 'static, host: Arc<Host>) {
    thread::spawn(move || {
        loop {
            let is_taken_in = host.is_taken_in();
            if *is_taken_in {
                return;
            }
            if goes_on() {
                process::exit(i32::from(Kind::Refused.exit_status()));
            }
            drop(is_taken_in);
            sleep(POLL * 20);
        }
    });
}

impl SuiteHost for Host {
    fn begin(&self, cause: &SuiteCause<'_>) -> Result<(), Fault> {
        let calls = cause.project.join(CALLS);
        let here = env::current_dir().unwrap_or_default();
        let call = self.call.iter().skip(1).map(OsString::as_os_str);
        let mut said = cause.about.as_bytes().to_vec();
        for part in call.chain([here.as_os_str()]) {
            said.push(0);
            said.extend_from_slice(part.as_bytes());
        }
        let folder = calls.join(journal::sha256_hex(&said));
        let is_here = self.is_here.load(Ordering::Acquire);
        // One that is carried out already is joined, also where it has just been quick.
        let is_joined = !is_here && is_held(&folder.join("worker"));
        // Until they have been run again nobody knows that they still are.
        let are_quick = !is_joined && fs::remove_file(calls.join(IS_QUICK)).is_ok();
        if is_here || are_quick {
            *self.begun() = Some((calls, Instant::now()));
            if CARRIED.get().is_some()
                && let (Some(host), Some(run_dir)) = (host(), cause.run_dir)
            {
                end_when(goes_on(run_dir), host);
            }
            return Ok(());
        }
        let _ = self.given_away.set(folder);
        Err(ended("the tests are run by another process"))
    }

    fn end(&self) -> Result<(), Fault> {
        if let Some((calls, begun)) = self.begun().take()
            && begun.elapsed() < QUICK
        {
            // Where it cannot be noted, the next ones are run apart.
            let noted = fs::create_dir_all(&calls);
            let _ = noted.and_then(|()| fs::write(calls.join(IS_QUICK), ""));
        }
        if let Some(folder) = CARRIED.get() {
            claimed(folder)?;
            *self.is_taken_in() = true;
        }
        Ok(())
    }
}

/// Waits until somebody wants what the tests said.
fn claimed(folder: &Path) -> Result<(), Fault> {
    let ran = Instant::now();
    while !is_held(&folder.join("caller")) {
        if ran.elapsed() > UNCLAIMED {
            let _ = fs::remove_dir_all(folder);
            return Err(ended("nobody asked what the tests said"));
        }
        sleep(POLL * 5);
    }
    Ok(())
}

/// The fault of a call that came to nothing.
pub fn ended(what: &str) -> Fault {
    Fault::new(Kind::Refused, "cancelled", what).suggest("make the call again")
}

/// Has a call carried out by a process of its own, or joins the one that is at it, and prints what it prints. Its exit status; none where
/// no process could be had for it.
pub fn follow(folder: &Path, call: &[OsString], output: &Output) -> Option<Result<u8, Fault>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let told = signal_hook::flag::register(Signal::INT.as_raw(), Arc::clone(&interrupted));
    let done = followed(folder, call, &interrupted, output);
    if let Ok(told) = told {
        signal_hook::low_level::unregister(told);
    }
    done
}

fn followed(
    folder: &Path,
    call: &[OsString],
    interrupted: &AtomicBool,
    output: &Output,
) -> Option<Result<u8, Fault>> {
    fs::create_dir_all(folder).ok()?;
    let caller = open(&folder.join("caller")).ok()?;
    // Where two make the same call at once, one comes after the other.
    while caller.try_lock().is_err() {
        if interrupted.load(Ordering::Acquire) {
            return Some(Err(ended("the call was interrupted")));
        }
        sleep(POLL);
    }
    let (worker, status) = (folder.join("worker"), folder.join("status"));
    if !is_held(&worker) {
        end_unclaimed(folder);
        let _ = fs::remove_file(&status);
        let apart = Command::new(env::current_exe().ok()?)
            .args([OsString::from(APART), folder.into()])
            .args(call.get(1..).unwrap_or_default())
            .stdin(Stdio::null())
            .status();
        apart.ok().filter(process::ExitStatus::success)?;
        let begun = Instant::now();
        while !(is_held(&worker) || status.exists()) {
            if begun.elapsed() > STARTED {
                return None;
            }
            sleep(POLL / 10);
        }
    }
    let mut told = 0;
    let (waited, mut is_hinted) = (Instant::now(), false);
    while is_held(&worker) {
        if interrupted.load(Ordering::Acquire) {
            end_worker(folder);
            let _ = fs::remove_dir_all(folder);
            return Some(Err(ended("the call was interrupted")));
        }
        told += relay(&folder.join("err"), told, &mut io::stderr());
        if !is_hinted && waited.elapsed() > PATIENCE {
            output.hint(
                "the tests go on if this call is cut off: make the same call again, and it waits for them",
            );
            is_hinted = true;
        }
        sleep(POLL);
    }
    relay(&folder.join("err"), told, &mut io::stderr());
    relay(&folder.join("out"), 0, &mut io::stdout());
    let status = fs::read_to_string(status).ok();
    let status = status.and_then(|status| status.parse().ok());
    let _ = fs::remove_dir_all(folder);
    Some(status.ok_or_else(|| ended("the process that ran the tests was ended")))
}

/// Prints what a file holds from a place on, and tells how much that was.
fn relay(file: &Path, from: u64, to: &mut impl io::Write) -> u64 {
    let copied = File::open(file).and_then(|mut file| {
        file.seek(SeekFrom::Start(from))?;
        let copied = io::copy(&mut file, to)?;
        to.flush().map(|()| copied)
    });
    copied.unwrap_or_default()
}

/// Ends the calls beside this one that nobody waits for: the work is another one by now.
fn end_unclaimed(own: &Path) {
    let calls = own.parent().map(fs::read_dir);
    for entry in calls.into_iter().flatten().flatten().flatten() {
        let folder = entry.path();
        if folder == own || !folder.is_dir() || is_held(&folder.join("caller")) {
            continue;
        }
        end_worker(&folder);
        let _ = fs::remove_dir_all(folder);
    }
}

/// Ends the process that carries a call out, and with it its tests.
fn end_worker(folder: &Path) {
    let worker = folder.join("worker");
    let mut id = String::new();
    let read = open(&worker).and_then(|mut file| file.read_to_string(&mut id));
    let id = read.ok().and_then(|_| id.parse().ok());
    if let Some(id) = id.and_then(Pid::from_raw) {
        let asked = Instant::now();
        while is_held(&worker) && asked.elapsed() < STARTED {
            let _ = kill_process(id, Signal::TERM);
            sleep(POLL);
        }
    }
}

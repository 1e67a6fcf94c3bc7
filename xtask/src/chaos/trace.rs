//! A process and all that it starts, watched at each system call that changes a file.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What becomes of a command at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// It and everything that it started dies.
    KillAll,
    /// It dies, and what it started goes on to its end.
    KillRoot,
    /// The call fails with this number.
    Error(i32),
}

impl Fault {
    /// The usual errors: of input and output, of a full disk, of a missing permission.
    pub const ERRORS: [Self; 3] = [Self::Error(5), Self::Error(28), Self::Error(13)];

    /// What it is called in the name of a place.
    pub fn name(self) -> String {
        match self {
            Self::None => String::new(),
            Self::KillAll => "kill".to_owned(),
            Self::KillRoot => "alone".to_owned(),
            Self::Error(number) => format!("errno{number}"),
        }
    }
}

/// A call that changes a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its name.
    pub name: &'static str,
    /// The file, where it names an open one.
    pub file: Option<PathBuf>,
}

/// What a command did while it was watched.
#[derive(Debug, Default)]
pub struct Watched {
    /// Its exit status; none where it was killed.
    pub status: Option<i32>,
    /// What it printed.
    pub out: Vec<u8>,
    /// The calls that change files, of all its processes, in the order in which they were begun.
    pub calls: Vec<Call>,
}

/// Runs a command; at the `at`-th call that changes a file, counted from 1, the fault strikes. `pause` is called there
/// first, while everything stands still.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub fn watch(
    command: &Command,
    input: Option<PathBuf>,
    at: usize,
    fault: Fault,
    pause: &mut dyn FnMut() -> io::Result<()>,
) -> io::Result<Watched> {
    use nix::errno::Errno;
    use nix::sys::ptrace::{self, Options};
    use nix::sys::signal::{Signal, kill};
    use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
    use nix::unistd::Pid;

    let out = tempfile::NamedTempFile::new()?;
    // It stops itself before it becomes the program, so that nothing is missed.
    let input = match input {
        Some(file) => Stdio::from(std::fs::File::open(file)?),
        None => Stdio::null(),
    };
    let mut child = stopped(command)
        .stdin(input)
        .stdout(Stdio::from(out.reopen()?))
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let root = Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?);
    while !matches!(
        waitpid(root, Some(WaitPidFlag::WUNTRACED))?,
        WaitStatus::Stopped(..)
    ) {}
    let options = Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_EXITKILL;
    ptrace::seize(root, options)?;
    kill(root, Signal::SIGCONT)?;

    let mut watched = Watched::default();
    let mut alive: BTreeSet<Pid> = BTreeSet::from([root]);
    let mut failing: BTreeMap<Pid, i32> = BTreeMap::new();
    // The shell that stopped itself is not the program yet.
    let mut begun = false;
    let gone = |result: nix::Result<()>| match result {
        Err(Errno::ESRCH) | Ok(()) => Ok(()),
        Err(error) => Err(io::Error::from(error)),
    };
    while !alive.is_empty() {
        let status = match waitpid(None, Some(WaitPidFlag::__WALL)) {
            Ok(status) => status,
            Err(Errno::ECHILD) => break,
            Err(error) => return Err(error.into()),
        };
        match status {
            WaitStatus::Exited(pid, code) => {
                alive.remove(&pid);
                if pid == root {
                    watched.status = Some(code);
                }
            }
            WaitStatus::Signaled(pid, ..) => {
                alive.remove(&pid);
            }
            WaitStatus::PtraceEvent(pid, _, event) => {
                alive.insert(pid);
                begun |= event == nix::libc::PTRACE_EVENT_EXEC;
                gone(ptrace::syscall(pid, None))?;
            }
            WaitStatus::PtraceSyscall(pid) => {
                alive.insert(pid);
                let Ok(info) = ptrace::syscall_info(pid) else {
                    gone(ptrace::syscall(pid, None))?;
                    continue;
                };
                if info.op == nix::libc::PTRACE_SYSCALL_INFO_ENTRY && begun {
                    let registers = ptrace::getregs(pid)?;
                    if let Some(call) = changing(root, pid, &registers) {
                        watched.calls.push(call);
                        if watched.calls.len() == at {
                            pause()?;
                            match fault {
                                Fault::None => {}
                                Fault::KillAll => {
                                    for one in &alive {
                                        let _ = kill(*one, Signal::SIGKILL);
                                    }
                                }
                                Fault::KillRoot => {
                                    let _ = kill(root, Signal::SIGKILL);
                                }
                                Fault::Error(number) => {
                                    let mut changed = registers;
                                    changed.orig_rax = u64::MAX;
                                    ptrace::setregs(pid, changed)?;
                                    failing.insert(pid, number);
                                }
                            }
                        }
                    }
                } else if let Some(number) = failing.remove(&pid) {
                    let mut registers = ptrace::getregs(pid)?;
                    registers.rax = i64::from(-number).cast_unsigned();
                    ptrace::setregs(pid, registers)?;
                }
                gone(ptrace::syscall(pid, None))?;
            }
            WaitStatus::Stopped(pid, signal) => {
                alive.insert(pid);
                let given =
                    (!matches!(signal, Signal::SIGSTOP | Signal::SIGTRAP)).then_some(signal);
                gone(ptrace::syscall(pid, given))?;
            }
            _ => {}
        }
    }
    let _ = child.wait();
    watched.out = std::fs::read(out.path())?;
    Ok(watched)
}

/// The same where nothing can be watched.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub fn watch(
    _: &Command,
    _: Option<PathBuf>,
    _: usize,
    _: Fault,
    _: &mut dyn FnMut() -> io::Result<()>,
) -> io::Result<Watched> {
    Err(io::Error::other(
        "system calls are watched on Linux and x86-64 only",
    ))
}

/// The command behind a shell that stops itself first.
fn stopped(command: &Command) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", "kill -STOP $$; exec \"$0\" \"$@\""])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            shell.env(name, value);
        }
    }
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    shell
}

/// The call, if it changes a file.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn changing(
    root: nix::unistd::Pid,
    pid: nix::unistd::Pid,
    registers: &nix::libc::user_regs_struct,
) -> Option<Call> {
    use nix::libc;

    let number = registers.orig_rax.cast_signed();
    let named = |name| Some(Call { name, file: None });
    // Of an open file, its first argument; a pipe or a terminal is none.
    let open = |name| {
        let file = std::fs::read_link(format!("/proc/{pid}/fd/{}", registers.rdi)).ok()?;
        let is_file = file.is_absolute() && !file.starts_with("/dev") && !file.starts_with("/proc");
        // What the program tells another one changes files by its hand.
        let is_told = || {
            let is_ours = std::path::Path::new(&format!("/proc/{root}/task/{pid}")).exists();
            is_ours && file.to_string_lossy().starts_with("pipe:")
        };
        (is_file || is_told()).then_some(Call {
            name,
            file: Some(file),
        })
    };
    let makes =
        |flags: u64| flags & u64::from((libc::O_CREAT | libc::O_TRUNC).cast_unsigned()) != 0;
    match number {
        libc::SYS_write => open("write"),
        libc::SYS_pwrite64 => open("pwrite"),
        libc::SYS_writev => open("writev"),
        libc::SYS_ftruncate => open("ftruncate"),
        libc::SYS_fallocate => open("fallocate"),
        libc::SYS_fsync => open("fsync"),
        libc::SYS_fdatasync => open("fdatasync"),
        libc::SYS_copy_file_range => named("copy_file_range"),
        libc::SYS_rename => named("rename"),
        libc::SYS_renameat | libc::SYS_renameat2 => named("renameat"),
        libc::SYS_unlink | libc::SYS_unlinkat => named("unlink"),
        libc::SYS_rmdir => named("rmdir"),
        libc::SYS_mkdir | libc::SYS_mkdirat => named("mkdir"),
        libc::SYS_link | libc::SYS_linkat => named("link"),
        libc::SYS_symlink | libc::SYS_symlinkat => named("symlink"),
        libc::SYS_truncate => named("truncate"),
        libc::SYS_chmod | libc::SYS_fchmodat => named("chmod"),
        libc::SYS_creat => named("creat"),
        libc::SYS_open if makes(registers.rsi) => named("open"),
        libc::SYS_openat if makes(registers.rdx) => named("openat"),
        _ => None,
    }
}

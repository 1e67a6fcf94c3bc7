//! A process group that may outlive the process that started it.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use serde::{Deserialize, Serialize};

/// How often a group that is not our child is looked at.
const POLL: Duration = Duration::from_millis(15);

/// A process group, named so that it is still the same one when the id was given to somebody else: with the boot it
/// belongs to and the time its leader started, where the system tells them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessGroup {
    /// The id of the group, which is also its leader's.
    pub id: i32,
    /// The boot of the machine it was started in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// When its leader started, in the system's own count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader_started: Option<String>,
}

impl ProcessGroup {
    /// The group of a leader that runs now.
    pub(crate) fn of_leader(id: i32) -> Self {
        Self {
            id,
            boot: boot_id(),
            leader_started: process_stat(id).map(|stat| stat.started),
        }
    }

    /// Whether a process of the group still runs. One that has ended and was not yet collected by its parent does not
    /// count, where the system tells.
    pub fn is_alive(&self) -> bool {
        let Some(pid) = self.leader() else {
            return false;
        };
        // A group that we may not signal is another user's: the id was given away.
        if test_kill_process_group(pid).is_err() {
            return false;
        }
        if self.boot.is_some() && self.boot != boot_id() {
            return false;
        }
        if let (Some(started), Some(leader)) = (&self.leader_started, process_stat(self.id))
            && *started != leader.started
        {
            return false;
        }
        has_running_member(self.id).unwrap_or(true)
    }

    /// Waits until no process of the group runs, for as long as `limit` at most; whether that came about.
    pub fn wait(&self, limit: Duration) -> bool {
        let begun = Instant::now();
        while self.is_alive() {
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return false;
            }
            thread::sleep(POLL.min(left));
        }
        true
    }

    /// As [`ProcessGroup::wait`], but only for the leader, where the system tells of it: what the leader started and
    /// left behind is not waited for.
    pub fn wait_for_leader(&self, limit: Duration) -> bool {
        let begun = Instant::now();
        while self.is_alive() && self.leader_runs().unwrap_or(true) {
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return false;
            }
            thread::sleep(POLL.min(left));
        }
        true
    }

    /// Ends every process of the group: asks first, and then does not ask. Whether all are gone.
    pub fn end(&self) -> bool {
        const GRACE: Duration = Duration::from_secs(2);
        if !self.is_alive() {
            return true;
        }
        self.terminate();
        if self.wait(GRACE) {
            return true;
        }
        self.kill();
        self.wait(GRACE)
    }

    /// Whether the leader itself still runs; `None` where the system does not tell.
    fn leader_runs(&self) -> Option<bool> {
        let known = self.leader_started.as_ref()?;
        Some(process_stat(self.id).is_some_and(|leader| leader.running && leader.started == *known))
    }

    /// Asks every process of the group to end.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends every process of the group.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// The id, if it can be one of ours: the small and negative ones mean other things.
    fn leader(&self) -> Option<Pid> {
        if self.id > 1 {
            Pid::from_raw(self.id)
        } else {
            None
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.leader() {
            // The only failure that matters here, no such group, is what was wanted.
            let _: Result<(), Errno> = kill_process_group(pid, signal);
        }
    }
}

/// What the kernel tells of a process.
struct ProcessStat {
    running: bool,
    group: i32,
    started: String,
}

/// Linux tells these in `/proc`; elsewhere there is no such file and so no answer.
fn process_stat(id: i32) -> Option<ProcessStat> {
    parse_stat(&fs::read(format!("/proc/{id}/stat")).ok()?)
}

fn parse_stat(stat: &[u8]) -> Option<ProcessStat> {
    // The name, in parentheses, may hold anything; what follows the last one does not.
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = String::from_utf8_lossy(&stat[end + 1..]).into_owned();
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let group = fields.nth(1)?.parse().ok()?;
    let started = fields.nth(16)?.to_owned();
    Some(ProcessStat {
        running: !matches!(state, "Z" | "X" | "x"),
        group,
        started,
    })
}

fn has_running_member(group: i32) -> Option<bool> {
    // Without our own entry there is no such file system.
    process_stat(i32::try_from(std::process::id()).ok()?)?;
    let members = fs::read_dir("/proc").ok()?.filter_map(|entry| {
        let id = entry.ok()?.file_name().to_str()?.parse().ok()?;
        process_stat(id).filter(|stat| stat.group == group)
    });
    Some(members.into_iter().any(|stat| stat.running))
}

/// Whether a program of that name, or one whose name begins with it and a dash, runs with its working folder in or below
/// one of these. One whose folder may not be looked at counts. `None` where the system does not tell.
pub(crate) fn process_runs_in(program: &str, folders: &[&Path]) -> Option<bool> {
    // Without our own entry there is no such file system.
    process_stat(i32::try_from(std::process::id()).ok()?)?;
    let is_it = |id: i32| -> Option<bool> {
        let name = fs::read_to_string(format!("/proc/{id}/comm")).ok()?;
        let name = name.trim_end();
        let of_it = name.strip_prefix(program)?;
        if !(of_it.is_empty() || of_it.starts_with('-')) || !process_stat(id)?.running {
            return None;
        }
        match fs::read_link(format!("/proc/{id}/cwd")) {
            Ok(at) => Some(folders.iter().any(|folder| at.starts_with(folder))),
            // One that is ending has no folder any more, and by then has closed its files.
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied => None,
            Err(_) => Some(process_stat(id)?.running),
        }
    };
    let mut processes = fs::read_dir("/proc").ok()?.filter_map(|entry| {
        let id = entry.ok()?.file_name().to_str()?.parse().ok()?;
        is_it(id)
    });
    Some(processes.any(|runs| runs))
}

fn boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_lines() {
        let line = |state| {
            format!("42 (a) b) {state} 1 7 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 9876 0 0")
        };
        for (state, running) in [("S", true), ("Z", false)] {
            let stat = parse_stat(line(state).as_bytes()).unwrap();
            let told = (stat.running, stat.group, stat.started.as_str());
            assert_eq!(told, (running, 7, "9876"));
        }
        assert!(parse_stat(b"").is_none() && parse_stat(b"1 (x) S").is_none());
    }

    #[test]
    fn no_group_of_ours() {
        for id in [i32::MIN, -1, 0, 1] {
            let (boot, leader_started) = (None, None);
            let group = ProcessGroup {
                id,
                boot,
                leader_started,
            };
            assert!(!group.is_alive(), "{id}");
        }
    }
}

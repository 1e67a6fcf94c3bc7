//! A forge in a folder: `gh` and `glab` on the `PATH` that keep what they are told, and a bare repository to push to.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::Sandbox;
use crate::files;

/// The script that stands in the place of both programs.
const SCRIPT: &str = include_str!("forge.sh");

/// A forge beside a sandbox, with a bare repository that the project pushes to as `origin`.
#[derive(Debug)]
pub struct Forge {
    folder: PathBuf,
}

/// What a program was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct ForgeCall {
    /// `gh` or `glab`.
    pub program: String,
    /// The host.
    pub host: String,
    /// The method of the request.
    pub method: String,
    /// Its path.
    pub path: String,
    /// What it brought along; null where nothing.
    pub body: Value,
}

impl Forge {
    /// One on this host, with a remote `origin` of the project that has its `main`.
    pub fn beside(sandbox: &Sandbox, host: &str) -> Self {
        let folder = sandbox.folder();
        for name in ["forge/calls", "forge/requests", "bin"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        for name in ["always", "once"] {
            fs::write(folder.join("forge").join(name), "").unwrap();
        }
        for program in ["gh", "glab"] {
            files::write_program(&folder.join("bin").join(program), SCRIPT);
        }
        let remote = folder.join("remote.git");
        let at = remote.to_str().unwrap();
        sandbox.git(&[
            "init",
            "--quiet",
            "--bare",
            "--template=",
            "--initial-branch=main",
            at,
        ]);
        let url = format!("https://{host}/o/r.git");
        sandbox.git(&["remote", "add", "origin", &url]);
        sandbox.git(&["config", &format!("url.{at}.insteadOf"), &url]);
        sandbox.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
        Self::of(sandbox)
    }

    /// The one that is beside a sandbox.
    pub fn of(sandbox: &Sandbox) -> Self {
        let folder = sandbox.folder();
        Self { folder }
    }

    /// The bare repository.
    pub fn remote(&self) -> PathBuf {
        self.folder.join("remote.git")
    }

    /// Takes one of the programs away.
    pub fn uninstall(&self, program: &str) {
        fs::remove_file(self.folder.join("bin").join(program)).unwrap();
    }

    /// Has requests of that method whose path fits the glob go wrong from now on: `offline`, `lost` (done, and the answer lost),
    /// `4` (logged out), `rate`, `garbage`, `empty`, or a status of HTTP.
    pub fn fails(&self, method: &str, glob: &str, how: &str) {
        self.append("always", method, glob, how);
    }

    /// The same for one request alone.
    pub fn fails_once(&self, method: &str, glob: &str, how: &str) {
        self.append("once", method, glob, how);
    }

    /// All goes well again.
    pub fn works_again(&self) {
        fs::write(self.folder.join("forge/always"), "").unwrap();
    }

    fn append(&self, list: &str, method: &str, glob: &str, how: &str) {
        let path = self.folder.join("forge").join(list);
        let known = fs::read_to_string(&path).unwrap();
        fs::write(path, format!("{known}{method}|{glob}|{how}\n")).unwrap();
    }

    /// What is there to be read: `reviews`, `comments`, `talk`, `checks`, `statuses`, `discussions`, `pipelines`, `jobs`, `members`.
    pub fn has(&self, what: &str, json: &Value) {
        let path = self.folder.join("forge").join(format!("{what}.json"));
        fs::write(path, json.to_string()).unwrap();
    }

    /// Somebody opens a request with these members.
    pub fn opens(&self, members: &Value) {
        let number = self.requests() + 1;
        let members = members.to_string();
        let inner = members.trim_start_matches('{').trim_end_matches('}');
        let path = self.folder.join(format!("forge/requests/{number}"));
        fs::write(path, inner).unwrap();
        let state = self.folder.join(format!("forge/requests/{number}.state"));
        fs::write(state, "open").unwrap();
    }

    /// Somebody closes, merges or opens a request: `closed`, `merged`, `open`.
    pub fn becomes(&self, number: u32, state: &str) {
        let path = self.folder.join(format!("forge/requests/{number}.state"));
        fs::write(path, state).unwrap();
    }

    /// Somebody changes a request by hand.
    pub fn edit(&self, number: u32, members: &Value) {
        let path = self.folder.join(format!("forge/requests/{number}"));
        let known = fs::read_to_string(&path).unwrap();
        let members = members.to_string();
        let inner = members.trim_start_matches('{').trim_end_matches('}');
        fs::write(path, format!("{known},{inner}")).unwrap();
    }

    /// A request as it is now.
    pub fn request(&self, number: u32) -> Value {
        let path = self.folder.join(format!("forge/requests/{number}"));
        let text = fs::read_to_string(&path).unwrap();
        serde_json::from_str(&format!("{{{text}}}")).unwrap()
    }

    /// How many requests there are.
    pub fn requests(&self) -> usize {
        let all = files::list(&self.folder.join("forge/requests"));
        all.iter().filter(|path| path.extension().is_none()).count()
    }

    /// All that was asked so far.
    pub fn calls(&self) -> Vec<ForgeCall> {
        let mut all = files::list(&self.folder.join("forge/calls"));
        all.sort();
        all.iter()
            .map(|path| {
                let text = fs::read_to_string(path).unwrap();
                let (line, body) = text.split_once('\n').unwrap();
                let words: Vec<&str> = line.split(' ').collect();
                let [program, host, method, path] = words[..] else {
                    panic!("{line}");
                };
                ForgeCall {
                    program: program.to_owned(),
                    host: host.to_owned(),
                    method: method.to_owned(),
                    path: path.to_owned(),
                    body: serde_json::from_str(body).unwrap_or(Value::Null),
                }
            })
            .collect()
    }
}

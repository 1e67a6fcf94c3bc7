//! Where a repository lies on a forge, read from the address of a remote.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::config::ForgeChoice;

/// What needs no encoding in an address (RFC 3986, "unreserved").
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
/// The same, for paths.
const RESERVED_IN_PATHS: &AsciiSet = &RESERVED.remove(b'/');

/// `text` as one part of an address.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// A kind of forge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgeKind {
    /// GitHub, github.com or one of a company's own; spoken to by `gh`.
    GitHub,
    /// GitLab; spoken to by `glab`.
    GitLab,
}

impl ForgeKind {
    /// The program that speaks to it with the user's own credentials.
    pub fn program(self) -> &'static str {
        match self {
            Self::GitHub => "gh",
            Self::GitLab => "glab",
        }
    }

    /// The kind that the name of a host tells.
    fn of_host(host: &str) -> Option<Self> {
        let has = |name: &str| host.split(['.', '-']).any(|part| part == name);
        if has("github") || host.ends_with(".ghe.com") {
            Some(Self::GitHub)
        } else if has("gitlab") {
            Some(Self::GitLab)
        } else {
            None
        }
    }
}

/// A repository on some host that can be looked at in a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeAddress {
    /// The host, with its port where the address is one of the web.
    pub host: String,
    /// The path below it, without `.git`: `owner/name`, or with groups `group/sub/name`.
    pub path: String,
}

impl ForgeAddress {
    /// Reads the address of a remote: `https://host/owner/name.git`, `ssh://git@host:22/owner/name`, `git@host:owner/name`.
    /// Nothing where it is a path, or of another form.
    pub fn of_remote(url: &str) -> Option<Self> {
        let without_user = |authority: &'_ str| {
            authority
                .rsplit_once('@')
                .map_or(0, |(user, _)| user.len() + 1)
        };
        let (host, path) = if let Some((scheme, rest)) = url.split_once("://") {
            let (authority, path) = rest.split_once('/')?;
            let host = &authority[without_user(authority)..];
            match scheme {
                "https" | "http" => (host, path),
                "ssh" | "git+ssh" | "ssh+git" | "git" => {
                    (host.split_once(':').map_or(host, |(host, _)| host), path)
                }
                _ => return None,
            }
        } else {
            let (authority, path) = url.split_once(':')?;
            // As git has it: a slash before the colon makes it a path.
            if authority.contains('/') {
                return None;
            }
            (&authority[without_user(authority)..], path)
        };
        // Where port 22 is closed, the two offer ssh under another name.
        let host = match host {
            "ssh.github.com" => "github.com",
            "altssh.gitlab.com" => "gitlab.com",
            other => other,
        };
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let is_plain = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-._~/:+".contains(&byte))
        };
        let named = path.split('/').filter(|part| !part.is_empty()).count() >= 2
            && path.split('/').all(|part| !matches!(part, "" | "." | ".."));
        (!host.is_empty() && !host.starts_with('-') && named && is_plain(host) && is_plain(path))
            .then(|| Self {
                host: host.to_ascii_lowercase(),
                path: path.to_owned(),
            })
    }

    /// The kind of forge that it lies on, where the setting or the host tells.
    pub fn kind(&self, setting: ForgeChoice) -> Option<ForgeKind> {
        match setting {
            ForgeChoice::Auto => ForgeKind::of_host(&self.host),
            ForgeChoice::Github => Some(ForgeKind::GitHub),
            ForgeChoice::Gitlab => Some(ForgeKind::GitLab),
            ForgeChoice::None => None,
        }
    }

    /// The page on which a person opens a pull request by hand.
    pub fn compare_url(&self, kind: Option<ForgeKind>, base: &str, head: &str) -> String {
        let Self { host, path } = self;
        let in_path = |name: &str| utf8_percent_encode(name, RESERVED_IN_PATHS).to_string();
        match kind {
            Some(ForgeKind::GitLab) => format!(
                "https://{host}/{path}/-/merge_requests/new?merge_request%5Bsource_branch%5D={}&merge_request%5Btarget_branch%5D={}",
                encoded(head),
                encoded(base)
            ),
            // Gitea and Forgejo have the same page.
            Some(ForgeKind::GitHub) | None => format!(
                "https://{host}/{path}/compare/{}...{}",
                in_path(base),
                in_path(head)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_remotes() {
        for case in [
            "https://github.com/o/r.git ⇒ github.com o/r",
            "https://me:t0ken@github.com/o/r ⇒ github.com o/r",
            "git@github.com:o/r.git ⇒ github.com o/r",
            "github.com:o/r ⇒ github.com o/r",
            "ssh://git@ssh.github.com:443/o/r.git ⇒ github.com o/r",
            "ssh://git@gitlab.example.org:2222/a/b/c.git/ ⇒ gitlab.example.org a/b/c",
            "https://git.example.org:8443/o/r ⇒ git.example.org:8443 o/r",
            "https://GitHub.com/o/r ⇒ github.com o/r",
        ] {
            let (url, expected) = case.split_once(" ⇒ ").unwrap();
            let found = ForgeAddress::of_remote(url).unwrap();
            assert_eq!(format!("{} {}", found.host, found.path), expected, "{url}");
        }
        let none = "/srv/git/r.git,../r.git,./a:b/c,file:///srv/git/r.git,https://github.com/r,https://github.com/../r,\
                    https://github.com/o/r?x=1,https://-x/o/r,https://git hub.com/o/r,";
        for url in none.split(',') {
            assert_eq!(ForgeAddress::of_remote(url), None, "{url}");
        }
    }

    #[test]
    fn kinds_by_host_or_setting() {
        use ForgeChoice::{Auto, Gitlab};
        for (host, setting, kind) in [
            ("github.com", Auto, Some(ForgeKind::GitHub)),
            ("github.example.org", Auto, Some(ForgeKind::GitHub)),
            ("octo.ghe.com", Auto, Some(ForgeKind::GitHub)),
            ("gitlab.com", Auto, Some(ForgeKind::GitLab)),
            ("my-gitlab.example.org", Auto, Some(ForgeKind::GitLab)),
            ("notgithub.com", Auto, None),
            ("git.example.org", Gitlab, Some(ForgeKind::GitLab)),
        ] {
            let address = ForgeAddress {
                host: host.to_owned(),
                path: "o/r".to_owned(),
            };
            assert_eq!(address.kind(setting), kind, "{host}");
        }
    }

    #[test]
    fn pages_to_open_one_by_hand() {
        let address = ForgeAddress::of_remote("git@github.com:o/r").unwrap();
        assert_eq!(
            address.compare_url(Some(ForgeKind::GitHub), "main", "master/task-1-ä#b"),
            "https://github.com/o/r/compare/main...master/task-1-%C3%A4%23b"
        );
        assert_eq!(
            address.compare_url(Some(ForgeKind::GitLab), "main", "a/b"),
            "https://github.com/o/r/-/merge_requests/new?merge_request%5Bsource_branch%5D=a%2Fb&merge_request%5Btarget_branch%5D=main"
        );
    }
}

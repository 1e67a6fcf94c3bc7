//! The passphrase of a key that signs a decision, asked for at the terminal on behalf of `ssh-keygen`, whose standard input
//! is what it signs. The protocol is that of `SSH_ASKPASS` (ssh(1), ENVIRONMENT): the prompt is the argument, the answer is
//! printed.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use workspace::person::ASKPASS;

const TERMINAL: &str = "/dev/tty";

/// This program, where there is a terminal at which it can ask.
pub fn program() -> Option<PathBuf> {
    let terminal = File::options().read(true).write(true).open(TERMINAL);
    terminal.ok().and_then(|_| std::env::current_exe().ok())
}

/// Asks, if that is what this process was started for.
pub fn asked(arguments: &[OsString]) -> Option<ExitCode> {
    std::env::var_os(ASKPASS)?;
    let prompt = arguments.get(1).map(|prompt| prompt.to_string_lossy());
    let prompt = prompt.unwrap_or_default();
    // What kind of answer is wanted (readpass.c of OpenSSH).
    let kind = std::env::var("SSH_ASKPASS_PROMPT").unwrap_or_default();
    let answered = match kind.as_str() {
        "none" => tell(&prompt).is_ok(),
        "confirm" => confirmed(&prompt).unwrap_or(false),
        _ => match rpassword::prompt_password(&*prompt) {
            Ok(answer) => writeln!(std::io::stdout(), "{answer}").is_ok(),
            Err(_) => false,
        },
    };
    Some(if answered {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn tell(prompt: &str) -> std::io::Result<()> {
    writeln!(File::options().write(true).open(TERMINAL)?, "{prompt}")
}

fn confirmed(prompt: &str) -> std::io::Result<bool> {
    let mut terminal = File::options().read(true).write(true).open(TERMINAL)?;
    write!(terminal, "{prompt} [y/N] ")?;
    let mut line = String::new();
    BufReader::new(terminal).read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

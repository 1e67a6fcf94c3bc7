//! A command as people write it in settings, cut into words without a shell.
//!
//! Quotes are read as POSIX has them. What only a shell could do (pipes, redirections, variables, patterns of file names)
//! is refused and not done in part: a command that means something else here than in a terminal would be worse.

use text::quote::shell_word;

use crate::shell::{Piece, ShellSyntax, Word, Words};

/// A command in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The `NAME=value` words before the program.
    pub env: Vec<(String, String)>,
    /// The program and its arguments; never empty.
    pub argv: Vec<String>,
}

/// Why a command cannot be run as it is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// Nothing is there to be run.
    #[error("the command `{command}` names no program")]
    NoProgram {
        /// The command.
        command: String,
    },
    /// A quote was opened and not closed, or a backslash has nothing after it.
    #[error("the command `{command}` ends within {within}")]
    Unfinished {
        /// The command.
        command: String,
        /// What was not finished.
        within: &'static str,
    },
    /// It holds a NUL, which no argument can.
    #[error("the command holds a NUL byte")]
    Nul,
    /// It needs a shell.
    #[error(
        "the command `{command}` holds {syntax}, which only a shell understands, and it is run without one"
    )]
    NeedsShell {
        /// The command.
        command: String,
        /// What of it a shell would understand.
        syntax: ShellSyntax,
    },
}

impl CommandError {
    /// What the user can do about it.
    pub fn suggestion(&self) -> String {
        match self {
            Self::NoProgram { .. } => {
                "set test.command to the command that runs the project's tests".to_owned()
            }
            Self::Unfinished { within, .. } => {
                let sign = match *within {
                    "single quotes" => "'",
                    "double quotes" => "\"",
                    _ => return "remove the backslash at its end, or write it twice".to_owned(),
                };
                format!(
                    "close the quotes with {sign}, or write \\{sign} where it is meant as it is"
                )
            }
            Self::Nul => "remove the NUL byte from test.command".to_owned(),
            Self::NeedsShell { command, syntax } => {
                let with_shell = format!("write `sh -c {}`", shell_word(command));
                match syntax {
                    ShellSyntax::Keyword(_) | ShellSyntax::LineBreak => with_shell,
                    ShellSyntax::Expansion(c) => {
                        format!(
                            "{with_shell}, or put the word between single quotes if `{c}` is meant as it is"
                        )
                    }
                    ShellSyntax::Operator(c) | ShellSyntax::Glob(c) => {
                        format!(
                            "{with_shell}, or put the word between quotes if `{c}` is meant as it is"
                        )
                    }
                    ShellSyntax::Home => {
                        format!(
                            "{with_shell}, or put the word between quotes if `~` is meant as it is"
                        )
                    }
                    ShellSyntax::Comment => {
                        format!(
                            "{with_shell}, or put the word between quotes if `#` is meant as it is"
                        )
                    }
                }
            }
        }
    }
}

/// The command that runs another one in a folder, as settings have it.
pub fn in_folder(folder: &str, command: &str) -> String {
    let folder = one_word(folder);
    format!("sh -c {}", shell_word(&format!("cd {folder} && {command}")))
}

/// The text as one word of a shell, in quotes only where it needs them.
pub(crate) fn one_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-=:".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        shell_word(text)
    }
}

/// Words that are no program, whatever the `PATH` holds.
const KEYWORDS: &[&str] = &[
    "!", ".", ":", "case", "cd", "eval", "exec", "export", "for", "if", "set", "source", "unset",
    "until", "while", "{",
];

impl CommandLine {
    /// Cuts a command into words.
    pub fn parse(command: &str) -> Result<Self, CommandError> {
        if command.contains('\0') {
            return Err(CommandError::Nul);
        }
        let command = command.trim();
        let needs_shell = |syntax| CommandError::NeedsShell {
            command: command.to_owned(),
            syntax,
        };
        let mut words = Vec::new();
        let mut reader = Words::of(command);
        loop {
            match reader.piece() {
                Piece::Word(word) => match word.needs {
                    Some(syntax) => return Err(needs_shell(syntax)),
                    None => words.push(word),
                },
                Piece::Operator('\n') => return Err(needs_shell(ShellSyntax::LineBreak)),
                Piece::Operator(c) => return Err(needs_shell(ShellSyntax::Operator(c))),
                Piece::Comment => return Err(needs_shell(ShellSyntax::Comment)),
                Piece::Unfinished(within) => {
                    return Err(CommandError::Unfinished {
                        command: command.to_owned(),
                        within,
                    });
                }
                Piece::End => break,
            }
        }
        let (env, argv) = assignments(words);
        let Some(program) = argv.first() else {
            return Err(CommandError::NoProgram {
                command: command.to_owned(),
            });
        };
        if let Some(&word) = KEYWORDS
            .iter()
            .find(|word| program.unquoted && program.text == **word)
        {
            return Err(needs_shell(ShellSyntax::Keyword(word)));
        }
        if program.text.is_empty() {
            return Err(CommandError::NoProgram {
                command: command.to_owned(),
            });
        }
        Ok(Self {
            env,
            argv: argv.into_iter().map(|word| word.text).collect(),
        })
    }
}

/// The commands of a line of shell, as far as they can be told without running it: each in words, in their order. What a
/// shell would put in stays as it is written.
pub(crate) fn simple_commands(line: &str) -> Vec<CommandLine> {
    commands(line, true)
}

/// The same without the names of files that are written to.
pub(crate) fn commands_without_targets(line: &str) -> Vec<CommandLine> {
    commands(line, false)
}

fn commands(line: &str, with_targets: bool) -> Vec<CommandLine> {
    let mut commands = Vec::new();
    let mut words = Vec::new();
    let mut is_target = false;
    let mut reader = Words::of(line);
    loop {
        let piece = reader.piece();
        match piece {
            Piece::Word(_) if is_target => is_target = false,
            Piece::Word(word) => words.push(word),
            Piece::Comment => reader.skip_line(),
            Piece::Operator(_) | Piece::Unfinished(_) | Piece::End => {
                let (env, argv) = assignments(std::mem::take(&mut words));
                if !argv.is_empty() {
                    let argv = argv.into_iter().map(|word| word.text).collect();
                    commands.push(CommandLine { env, argv });
                }
                let Piece::Operator(operator) = piece else {
                    return commands;
                };
                is_target = operator == '>' && !with_targets;
            }
        }
    }
}

/// Parts the leading `NAME=value` words from the others.
fn assignments(words: Vec<Word>) -> (Vec<(String, String)>, Vec<Word>) {
    let mut env = Vec::new();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next_if(|word| word.assigns.is_some()) {
        if let Some(at) = word.assigns {
            let (name, value) = word.text.split_at(at);
            env.push((name.to_owned(), value[1..].to_owned()));
        }
    }
    (env, words.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn argv(command: &str) -> Vec<String> {
        CommandLine::parse(command).unwrap().argv
    }

    #[test]
    fn quotes_are_read_as_a_shell_does() {
        for (command, words) in [
            ("npm test", "npm|test"),
            ("  a\t b\r", "a|b"),
            (r#"a 'b c' "d e" f\ g"#, "a|b c|d e|f g"),
            (r#"a '' """#, "a||"),
            (r#"a b'c'"d"e"#, "a|bcde"),
            (r#"a '\n"$x`*'"#, "a|\\n\"$x`*"),
            (r#"a "\"\\\$\`\n'""#, "a|\"\\$`\\n'"),
            (r"a \*\$\;\&\~", "a|*$;&~"),
            ("a \\\n b", "a|b"),
            ("a x#y c~", "a|x#y|c~"),
            ("go test -run 'A$' B$ \"C$\"", "go|test|-run|A$|B$|C$"),
            ("sh -c 'a && b > d'", "sh|-c|a && b > d"),
            ("a {b,c} @d %e ^f 100% é", "a|{b,c}|@d|%e|^f|100%|é"),
            ("1A=2", "1A=2"),
            ("'A'=2", "A=2"),
            ("--a=b", "--a=b"),
        ] {
            assert_eq!(argv(command).join("|"), words, "{command}");
        }
    }

    #[test]
    fn names_with_values_come_before_the_program() {
        let line = CommandLine::parse("CI=1 A_b='x y' EMPTY= run B=2").unwrap();
        let env: Vec<(&str, &str)> = line.env.iter().map(|(a, b)| (&**a, &**b)).collect();
        assert_eq!(env, [("CI", "1"), ("A_b", "x y"), ("EMPTY", "")]);
        assert_eq!(line.argv, ["run", "B=2"]);
    }

    #[test]
    fn what_needs_a_shell_is_refused_and_the_way_out_is_named() {
        use ShellSyntax::{Comment, Expansion, Glob, Home, Keyword, LineBreak, Operator};
        for (command, syntax) in [
            ("a && b", Operator('&')),
            ("a&", Operator('&')),
            ("a | b", Operator('|')),
            ("a; b", Operator(';')),
            ("a >out", Operator('>')),
            ("a 2>&1", Operator('>')),
            ("a <in", Operator('<')),
            ("(a)", Operator('(')),
            ("a\nb", LineBreak),
            ("a $B", Expansion('$')),
            ("a \"$B\"", Expansion('$')),
            ("a $(b)", Expansion('$')),
            ("a ${b}", Expansion('$')),
            ("a \"`b`\"", Expansion('`')),
            ("a `b`", Expansion('`')),
            ("a *.c", Glob('*')),
            ("a b?", Glob('?')),
            ("a b[1]", Glob('[')),
            ("~/a", Home),
            ("a # b", Comment),
            ("cd a", Keyword("cd")),
            ("export A=1", Keyword("export")),
            ("a && b 'c d'", Operator('&')),
        ] {
            let error = CommandLine::parse(command).unwrap_err();
            let CommandError::NeedsShell { syntax: found, .. } = &error else {
                panic!("{command}: {error:?}");
            };
            assert_eq!(*found, syntax, "{command}");
            // What is suggested is accepted and means the same.
            let text = error.suggestion();
            let suggested = &text["write `".len()..text.rfind('`').unwrap()];
            let suggested = suggested.split("`, or").next().unwrap();
            assert_eq!(argv(suggested), ["sh", "-c", command]);
        }
    }

    #[test]
    fn what_is_unfinished_or_empty_is_told() {
        for (command, within) in [
            ("a 'b", "single quotes"),
            ("a \"b", "double quotes"),
            ("a \"b\\", "double quotes"),
            ("a \\", "a backslash"),
        ] {
            let error = CommandLine::parse(command).unwrap_err();
            let CommandError::Unfinished { within: found, .. } = &error else {
                panic!("{command}: {error:?}");
            };
            assert_eq!(*found, within);
        }
        for command in ["", "  ", "A=1", "''"] {
            let error = CommandLine::parse(command).unwrap_err();
            assert!(matches!(error, CommandError::NoProgram { .. }), "{command}");
        }
        assert_eq!(CommandLine::parse("a\0"), Err(CommandError::Nul));
    }

    #[test]
    fn the_commands_of_a_line() {
        let all = "tsc -p . && CI=1 jest \"$@\" | tee 'o u t' # done\n./x.sh; (y)";
        for (text, expected) in [
            (all, "tsc|-p|. jest|$@ tee|o u t ./x.sh y"),
            ("a; b 'c", "a b"),
            ("", ""),
        ] {
            let commands = simple_commands(text).into_iter();
            let told: Vec<String> = commands.map(|line| line.argv.join("|")).collect();
            assert_eq!(told.join(" "), expected);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,60}") {
            let _ = CommandLine::parse(&text);
            let _ = simple_commands(&text);
        }

        #[test]
        fn any_text_survives_quoting(text in "[^\0]{1,40}") {
            prop_assert_eq!(argv(&format!("x {}", shell_word(&text))), vec!["x".to_owned(), text]);
        }
    }
}

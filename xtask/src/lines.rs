//! How large this workspace is, held against `ceilings.toml`: lines of code, packages, codes, words. What is taken away lowers a
//! ceiling; a commit that raises one says why.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use clap::Args;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::tools::{cargo, output, root};

const CEILINGS: &str = "ceilings.toml";
/// Folders of a crate that hold no code of the program and no tests.
const ASIDE: [&str; 4] = ["benches", "examples", "fuzz", "target"];

/// What to do about it.
#[derive(Debug, Default, Args)]
pub struct Lines {
    /// Lower each ceiling to what there is
    #[arg(long)]
    tighten: bool,
}

/// Numbers by table and name, as `ceilings.toml` has them.
type Counts = BTreeMap<String, BTreeMap<String, u64>>;

/// Counts, and holds each number against its ceiling; whether all are below.
pub fn run(lines: &Lines) -> io::Result<bool> {
    let counts = counted()?;
    let file = root().join(CEILINGS);
    let text = fs::read_to_string(&file)?;
    let mut ceilings: Counts = toml::from_str(&text).map_err(io::Error::other)?;
    let mut good = true;
    for (table, numbers) in &counts {
        println!("[{table}]");
        for (name, count) in numbers {
            let ceiling = ceilings.get(table).and_then(|of| of.get(name)).copied();
            let verdict = match ceiling {
                Some(ceiling) if *count <= ceiling => "",
                Some(_) => "  too many",
                None => "  has no ceiling",
            };
            let ceiling = ceiling.map_or_else(|| "none".to_owned(), |most| most.to_string());
            println!("{name:16} {count:8} of {ceiling:>8}{verdict}");
            good &= verdict.is_empty();
        }
    }
    if lines.tighten {
        for (table, of) in &mut ceilings {
            of.retain(|name, most| {
                let count = counts.get(table).and_then(|counts| counts.get(name));
                *most = count.map_or(*most, |count| *count.min(most));
                count.is_some()
            });
        }
        let comment = text.lines().take_while(|line| line.starts_with('#'));
        let comment: Vec<&str> = comment.collect();
        let told = toml::to_string(&ceilings).map_err(io::Error::other)?;
        fs::write(&file, format!("{}\n\n{told}", comment.join("\n")))?;
    } else if !good {
        println!(
            "\nTake something away, or raise the ceiling in {CEILINGS} in a commit that says why."
        );
    }
    Ok(good)
}

fn counted() -> io::Result<Counts> {
    let mut production = BTreeMap::new();
    let mut tests = 0;
    for entry in fs::read_dir(root().join("crates"))? {
        let entry = entry?;
        let of_crate = of_crate(&entry.path())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        production.insert(name, of_crate.production);
        tests += of_crate.tests;
    }
    let testkit = of_crate(&root().join("testkit"))?;
    tests += testkit.production + testkit.tests;
    let all = production.values().sum();
    production.insert("all".to_owned(), all);
    let other = [
        ("tests", tests),
        ("packages", packages()?),
        ("codes", codes()?),
        ("words", words(&root().join("docs"))?),
    ];
    let other = other.map(|(name, count)| (name.to_owned(), count));
    Ok(BTreeMap::from([
        ("production".to_owned(), production),
        ("other".to_owned(), other.into()),
    ]))
}

/// Packages that are compiled for `tm`.
fn packages() -> io::Result<u64> {
    let arguments = [
        "tree",
        "--package",
        "tm",
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--locked",
    ];
    let tree = output(&mut cargo(&arguments));
    let tree = tree.ok_or_else(|| io::Error::other("cargo tree failed"))?;
    let packages: BTreeSet<&str> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();
    Ok(packages.len() as u64)
}

/// Codes in the documentation.
fn codes() -> io::Result<u64> {
    let page = fs::read_to_string(root().join("docs/codes.md"))?;
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let codes = rows.flat_map(|row| row.split(" | ").next().unwrap_or_default().split(", "));
    let codes: BTreeSet<&str> = codes.map(|code| code.trim_matches('`')).collect();
    Ok(codes.len() as u64)
}

/// Words of the pages in a folder.
fn words(folder: &Path) -> io::Result<u64> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            count += words(&path)?;
        } else if path.extension().is_some_and(|ending| ending == "md") {
            count += fs::read_to_string(&path)?.split_whitespace().count() as u64;
        }
    }
    Ok(count)
}

/// Lines with code on them.
#[derive(Debug, Default)]
struct Size {
    production: u64,
    tests: u64,
}

fn of_crate(folder: &Path) -> io::Result<Size> {
    let mut size = Size::default();
    let mut files = Vec::new();
    let mut of_tests = HashSet::new();
    source(folder, &mut files)?;
    let mut read = Vec::new();
    for file in files {
        let parsed = Source::read(&file)?;
        of_tests.extend(parsed.test_modules.iter().cloned());
        read.push((file, parsed));
    }
    for (file, source) in read {
        let is_test = file.strip_prefix(folder).is_ok_and(|path| path.starts_with("tests"))
            // A module in a file of its own, or below its folder.
            || file.ancestors().any(|path| of_tests.contains(&path.with_extension("")));
        if is_test {
            size.tests += source.production + source.tests;
        } else {
            size.production += source.production;
            size.tests += source.tests;
        }
    }
    Ok(size)
}

/// The files of Rust in a folder.
fn source(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            let is_aside = ASIDE.iter().any(|aside| name == *aside);
            if !is_aside || folder.ends_with("src") {
                source(&path, files)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") && name != "build.rs" {
            files.push(path);
        }
    }
    Ok(())
}

/// What a file of Rust holds.
#[derive(Debug, Default)]
struct Source {
    production: u64,
    tests: u64,
    /// Modules of tests that are files of their own, without the ending.
    test_modules: Vec<PathBuf>,
}

impl Source {
    fn read(file: &Path) -> io::Result<Self> {
        let text = fs::read_to_string(file)?;
        let fault = |error| io::Error::other(format!("{}: {error}", file.display()));
        let tokens = TokenStream::from_str(&text).map_err(fault)?;
        let stem = file.file_stem().unwrap_or_default();
        let is_root = ["mod", "lib", "main"].iter().any(|root| stem == *root);
        let home = if is_root {
            file.parent().unwrap_or(file).to_owned()
        } else {
            file.with_extension("")
        };
        let mut walk = Walk {
            text: text.lines().collect(),
            production: BTreeSet::new(),
            tests: BTreeSet::new(),
            modules: Vec::new(),
        };
        walk.items(tokens, false);
        Ok(Self {
            production: walk.production.len() as u64,
            tests: walk.tests.difference(&walk.production).count() as u64,
            test_modules: walk.modules.iter().map(|name| home.join(name)).collect(),
        })
    }
}

/// The lines of a file on which tokens stand, by what they are for.
struct Walk<'t> {
    text: Vec<&'t str>,
    production: BTreeSet<usize>,
    tests: BTreeSet<usize>,
    modules: Vec<String>,
}

impl Walk<'_> {
    /// Goes through items, one by one: attributes, and all up to a semicolon or a block.
    fn items(&mut self, tokens: TokenStream, is_test: bool) {
        let mut item = Vec::new();
        for token in tokens {
            let ends = match &token {
                TokenTree::Punct(punct) => punct.as_char() == ';',
                TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                _ => false,
            };
            item.push(token);
            if ends {
                self.item(std::mem::take(&mut item), is_test);
            }
        }
        self.item(item, is_test);
    }

    fn item(&mut self, item: Vec<TokenTree>, is_test: bool) {
        let is_test = is_test || attributes(&item).any(|group| is_of_tests(&group));
        let words: Vec<String> = item
            .iter()
            .filter_map(|token| match token {
                TokenTree::Ident(word) => Some(word.to_string()),
                _ => None,
            })
            .collect();
        let is_file = matches!(item.last(), Some(TokenTree::Punct(_)));
        if let (true, true, Some(at)) = (is_test, is_file, words.iter().position(|w| w == "mod")) {
            self.modules.extend(words.get(at + 1).cloned());
        }
        let holds_items = ["mod", "impl", "trait"]
            .iter()
            .any(|kind| words.iter().any(|w| w == kind))
            && !words.iter().any(|word| word == "fn");
        let mut tokens = item.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) if tokens.peek().is_none() && holds_items => {
                    self.line(group.span_open().start().line, is_test);
                    self.line(group.span_close().start().line, is_test);
                    self.items(group.stream(), is_test);
                }
                token => self.token(&token, &mut tokens, is_test),
            }
        }
    }

    fn token(
        &mut self,
        token: &TokenTree,
        behind: &mut impl Iterator<Item = TokenTree>,
        is_test: bool,
    ) {
        match token {
            // A comment of documentation is an attribute by now.
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                let at = punct.span().start();
                let written = self.text.get(at.line - 1).copied().unwrap_or_default();
                if written.chars().nth(at.column) == Some('/') {
                    let next = behind.next();
                    // `#!` of what is said of the whole file.
                    if matches!(next, Some(TokenTree::Punct(_))) {
                        behind.next();
                    }
                } else {
                    self.line(at.line, is_test);
                }
            }
            TokenTree::Group(group) => {
                self.line(group.span_open().start().line, is_test);
                self.line(group.span_close().start().line, is_test);
                let mut inside = group.stream().into_iter();
                while let Some(token) = inside.next() {
                    self.token(&token, &mut inside, is_test);
                }
            }
            token => {
                for line in token.span().start().line..=token.span().end().line {
                    self.line(line, is_test);
                }
            }
        }
    }

    fn line(&mut self, line: usize, is_test: bool) {
        let lines = if is_test {
            &mut self.tests
        } else {
            &mut self.production
        };
        lines.insert(line);
    }
}

/// The attributes that an item begins with.
fn attributes(item: &[TokenTree]) -> impl Iterator<Item = Group> {
    item.windows(2).filter_map(|pair| match pair {
        [TokenTree::Punct(mark), TokenTree::Group(group)]
            if mark.as_char() == '#' && group.delimiter() == Delimiter::Bracket =>
        {
            Some(group.clone())
        }
        _ => None,
    })
}

/// Whether an attribute says that something is compiled for tests alone.
fn is_of_tests(attribute: &Group) -> bool {
    let text = attribute.stream().to_string().replace(' ', "");
    text == "test" || text.starts_with("cfg(test)") || text.starts_with("cfg(all(test,")
}

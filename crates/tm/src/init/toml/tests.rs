use proptest::prelude::*;

use super::super::entry::Field;
use super::super::text::tests::change;
use super::*;

const SERVER: Entry = Entry(&[
    ("command", Field::Program),
    ("args", Field::Arguments(&["mcp", "--tools", "autopilot"])),
]);
const TABLE: &str =
    "[mcp_servers.tramline]\ncommand = \"tm\"\nargs = [\"mcp\", \"--tools\", \"autopilot\"]";

fn with(text: &str) -> String {
    with_entry(Some(text), "mcp_servers", &SERVER)
        .unwrap_or_else(|error| panic!("{error:?}: {text:?}"))
}

#[test]
fn a_new_document_is_a_table_alone() {
    let new = with_entry(None, "mcp_servers", &SERVER).unwrap();
    assert_eq!(new, format!("{TABLE}\n"));
    assert_eq!(
        without_entry(&new, "mcp_servers").unwrap(),
        Remainder::Nothing
    );
}

/// What the property below never finds.
#[test]
fn awkward_documents_come_back_to_the_byte() {
    for text in [
        "# nothing yet\n\n",
        "[a]\nb = { c = 1, d = [1,\n2] } # why\n\n\n[mcp_servers]\n",
        "[mcp_servers.other] # theirs\ncommand = 'x'\n\t[mcp_servers.other.env]\n\tA = \"b\"",
        "mcp_servers.other.command = \"x\"\n",
        "mcp_servers = {}\n",
        "mcp_servers = { a = { command = \"x\" } } # inline\nb = 1\n",
        "mcp_servers = {a={command=\"x\"},b.command=\"y\"}",
        "mcp_servers = {b.command=\"y\", b.c.d = 1, a=1 }",
        "mcp_servers = {\n  a = 1, # one\n}\n",
    ] {
        let new = with(text);
        assert!(has_entry(&new, "mcp_servers").unwrap(), "{new:?}");
        assert_eq!(with(&new), new, "a second time changes nothing");
        let left = without_entry(&new, "mcp_servers").unwrap();
        assert_eq!(left, Remainder::Text(text.to_owned()), "{new:?}");
    }
}

/// Lines that can follow each other in any order, if `N` is another number in each.
const LINES: [&str; 10] = [
    "",
    "  # note, = { [ \"",
    "keyN = 1",
    "keyN = { a = 1, b.c = [ # in\n 1,\n] } # behind",
    "keyN = '''\n[mcp_servers.tramline]\n'''",
    "[tableN]",
    "  [mcp_servers.otherN] # theirs",
    "[mcp_servers.otherN.env]",
    "[[listN.deep]]",
    "\"mcp servers\".tramline.keyN = 1",
];

/// Lines that make an entry among those, in one form or the other; not all of them can follow each other.
const OURS: [&str; 18] = [
    "[mcp_servers.tramline]",
    " [ mcp_servers . 'tramline' ] # ours",
    "[mcp_servers.tramline.env]",
    "[mcp_servers.tramline.tools.xN]",
    "[[mcp_servers.tramline.listN]]",
    "[[mcp_servers.tramline]]",
    "[mcp_servers]",
    "command = \"/opt/tm\"",
    "command = \"other\" # why",
    "args = [ # none\n]",
    "env.AN = '''\n'''",
    "tramline.env.AN = 1",
    "tramline.command = \"tm\"",
    "  tramline.args = []",
    "tramline = { command = \"x\", env.A = { B = 1 }, # c, d\n}",
    "mcp_servers.tramline.cwdN = \"\"",
    "mcp_servers.tramline = 1",
    "mcp_servers = { a = 1, # b, c\n tramline = {}, # d\n e.f = 1 }",
];

fn written(lines: &[&str], crlf: bool, marked: bool, ended: bool) -> String {
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        text.push_str(&line.replace('N', &number.to_string()));
        if ended || number + 1 < lines.len() {
            text.push('\n');
        }
    }
    if crlf {
        text = text.replace('\n', "\r\n");
    }
    if marked {
        text.insert(0, '\u{feff}');
    }
    text
}

/// What a table says but for some of its keys; nothing where it says nothing.
fn said_by(table: &dyn TableLike, without: &[&str]) -> String {
    let mut said: Vec<String> = table
        .iter()
        .filter(|(key, _)| !without.contains(key))
        .map(|(key, item)| match item {
            Item::ArrayOfTables(tables) => {
                let tables: Vec<String> = tables.iter().map(|each| said_by(each, &[])).collect();
                format!("{key}={tables:?}")
            }
            item => match (item.as_table_like(), item.as_value()) {
                (Some(table), _) => {
                    let said = said_by(table, &[]);
                    let lines = said.split_inclusive('\n');
                    lines.flat_map(|line| [key, ".", line]).collect()
                }
                (_, Some(value)) => format!("{key}={}\n", value.clone().decorated("", "")),
                _ => String::new(),
            },
        })
        .collect();
    said.sort();
    said.concat()
}

/// All that a document says beside the entry, and what that says beside command and arguments.
fn said(text: &str) -> (String, String) {
    let (_, body) = without_mark(text);
    let document = parse(body).unwrap();
    let servers = document.get("mcp_servers").and_then(Item::as_table_like);
    let entry = servers.and_then(|servers| servers.get(NAME)?.as_table_like());
    let others = servers.map(|servers| said_by(servers, &[NAME]));
    (
        said_by(document.as_table(), &["mcp_servers"]) + &others.unwrap_or_default(),
        entry
            .map(|entry| said_by(entry, &["command", "args"]))
            .unwrap_or_default(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_document_comes_back_to_the_byte(
        lines in proptest::collection::vec(proptest::sample::select(&LINES[..]), 0..8),
        crlf: bool,
        marked: bool,
        ended: bool,
    ) {
        let text = written(&lines, crlf, marked, ended);
        let new = with(&text);
        prop_assert!(has_entry(&new, "mcp_servers").unwrap());
        prop_assert_eq!(&with(&new), &new);
        prop_assert_eq!(without_entry(&new, "mcp_servers").unwrap(), Remainder::Text(text));
    }

    #[test]
    fn an_entry_in_any_form_is_completed_and_goes_alone(
        lines in proptest::collection::vec(
            prop_oneof![proptest::sample::select(&OURS[..]), proptest::sample::select(&LINES[..])],
            0..7,
        ),
        crlf: bool,
        marked: bool,
        ended: bool,
    ) {
        let text = written(&lines, crlf, marked, ended);
        let Ok(left) = without_entry(&text, "mcp_servers") else {
            return Ok(());
        };
        let (others, own) = said(&text);
        match &left {
            Remainder::Text(left) => {
                prop_assert!(!has_entry(left, "mcp_servers").unwrap(), "{text:?} {left:?}");
                prop_assert_eq!(&said(left).0, &others, "{:?} {:?}", text, left);
            }
            Remainder::Nothing => prop_assert_eq!(&others, ""),
            Remainder::Unchanged => prop_assert!(!has_entry(&text, "mcp_servers").unwrap()),
        }
        if let Ok(new) = with_entry(Some(&text), "mcp_servers", &SERVER) {
            prop_assert!(has_entry(&new, "mcp_servers").unwrap());
            prop_assert_eq!(&with(&new), &new);
            let is_list = matches!(found(&text, &parse(without_mark(&text).1).unwrap(), "mcp_servers"), Ok(Some((_, Item::ArrayOfTables(_)))));
            prop_assert_eq!(said(&new), (others, if is_list { String::new() } else { own }), "{:?} {:?}", text, new);
        }
    }

    #[test]
    fn no_text_whatever_stops_the_program(
        text in "(\\PC|[\\[\\]{}=.,#\"'\r\n]|mcp_servers|tramline|command){0,40}",
    ) {
        let _ = with_entry(Some(&text), "mcp_servers", &SERVER);
        let _ = without_entry(&text, "mcp_servers");
    }
}

/// A marked row, in which `ARGS` and `TABLE` stand for what is ours, before and after.
fn row(marked: &str) -> (String, String) {
    let args = r#"args = ["mcp", "--tools", "autopilot"]"#;
    change(&marked.replace("ARGS", args).replace("TABLE", TABLE))
}

#[test]
fn an_entry_that_is_there_keeps_what_is_its_users() {
    for marked in [
        // The form is that of the file.
        "a = 1\n«\nTABLE\n»",
        "a = 1\r\n«\r\n[mcp_servers.tramline]\r\ncommand = \"tm\"\r\nARGS\r\n»",
        "mcp_servers = { a = {}«, tramline = { command = \"tm\", ARGS }» }",
        "[mcp_servers.tramline] # why\ncommand = \"/opt/tm\" # mine\ncwd = '''\nx'''\n«ARGS\n»\n[mcp_servers.tramline.env]\nA = \"b\"\n\n# theirs\n[z]\n",
        "[mcp_servers.tramline]\r\n  ‹args = [\r\n \"x\" ]›«ARGS»\r\n  command = \"‹x›«tm»\"\r\n",
        " [mcp_servers.tramline]\n «command = \"tm\"\n ARGS\n »env.A = 1",
        "[mcp_servers.tramline]«\ncommand = \"tm\"\nARGS»",
        "[mcp_servers.tramline.env]\r\nA = 1\r\n«\r\n[mcp_servers.tramline]\r\ncommand = \"tm\"\r\nARGS\r\n»",
        "[mcp_servers]\ntramline = { command = \"tm\", env = { A = 1 }, «ARGS, »}\nother = 1\n",
        "[mcp_servers]\ntramline.command = \"‹x›«tm»\" # why\n«tramline.ARGS\n»other.a = 1\n  tramline.env.A = 1",
        "«mcp_servers . \"tramline\".command = \"tm\"\nmcp_servers . \"tramline\".ARGS\n»mcp_servers . \"tramline\".env.A = '''\n'''\n",
        "mcp_servers = { tramline = {«command = \"tm\", ARGS»}, b = {} }",
        // Nothing of it is of use.
        "[mcp_servers]\n‹tramline = 1\n›other = 1\n«\nTABLE\n»",
        "‹[[mcp_servers.tramline]]\na = 1\n[[mcp_servers.tramline]]\n[mcp_servers.tramline.b]›«TABLE»\n",
        // Nothing is to be done.
        "[mcp_servers]\ntramline = { args = ['mcp', '--tools', 'autopilot'], command = 'tm' }\n",
        "[mcp_servers.tramline]\nurl = \"http://localhost:1/mcp\"\n",
    ] {
        let (before, after) = row(marked);
        assert_eq!(with(&before), after, "{before}");
        assert_eq!(with(&after), after);
        if let Remainder::Text(left) = without_entry(&after, "mcp_servers").unwrap() {
            assert!(!has_entry(&left, "mcp_servers").unwrap(), "{left:?}");
        }
    }
}

#[test]
fn an_entry_goes_from_wherever_it_stands() {
    for marked in [
        "‹[mcp_servers.tramline.env]\r\nA = 1\r\n›\r\n[z]\r\n",
        "[a]\n‹\n[mcp_servers.tramline.tools.x]\nb = 1\n›[z]\n‹[mcp_servers.tramline]\n# in\nenv.A = 1\n[mcp_servers.tramline.y]\n›",
        // What others wrote between the lines is theirs.
        "[mcp_servers]\n‹tramline.command = \"x\"\n›other = 1\n‹tramline.env.A = 1\n›# theirs\n",
        "‹[[mcp_servers.tramline]]\na = 1\n›[mcp_servers]\n‹tramline.env.A = 1\n›other = 1\n",
        "‹mcp_servers.tramline.a.b = 1\n›x = [\n]‹\nmcp_servers.tramline.a.c = 1›",
        "a = 1‹\r\n[mcp_servers.tramline]\ncommand = \"tm\"›",
        "mcp_servers = { a = 1‹,› # one, two\n  ‹tramline = {}› }\n",
        "mcp_servers = { ‹tramline = {}› # a, b\n‹,› c = 1 }\n",
        "mcp_servers = {‹ tramline = {},› # a\n c = 1 }\n",
    ] {
        let (before, after) = row(marked);
        let left = without_entry(&before, "mcp_servers").unwrap();
        assert_eq!(left, Remainder::Text(after), "{before:?}");
    }
    let alone = without_entry("[mcp_servers.tramline.env]\nA = 1\n", "mcp_servers");
    assert_eq!(alone.unwrap(), Remainder::Nothing);
}

#[test]
fn what_cannot_be_used_is_told_with_its_place() {
    for (text, line) in [
        ("a = 1\nb = \n", 2),
        ("a = 1\na = 2\n", 2),
        ("\nmcp_servers = 1\n", 2),
        ("[[mcp_servers]]\n", 1),
        ("mcp_servers = { tramline.env = 1 }\n", 1),
        ("[mcp_servers.tramline]\nargs.x = 1\n", 2),
        ("\n[mcp_servers.tramline.args]\n", 2),
    ] {
        let error = with_entry(Some(text), "mcp_servers", &SERVER).unwrap_err();
        assert_eq!(error.line, line, "{text:?}: {error:?}");
        assert!(!error.problem.contains('\n'), "{error:?}");
    }
    let deep = format!("a = {}", "[".repeat(100_000));
    assert!(with_entry(Some(&deep), "mcp_servers", &SERVER).is_err());
}

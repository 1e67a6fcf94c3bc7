//! Design documents that are longer, or stranger, than anybody would write them.

use markup::documents::design::{
    Design, MAX_BYTES, MAX_DEPENDENCIES, MAX_ITEMS, MAX_TITLE_BYTES, Status, read,
};

/// `per` for each number, one behind the other.
fn each(numbers: std::ops::Range<usize>, per: impl Fn(usize) -> String) -> String {
    numbers.map(per).collect()
}

fn messages(design: &Design) -> Vec<(u32, &str)> {
    let problems = design.problems.iter();
    let told = problems.map(|problem| (problem.line, problem.message.as_str()));
    told.collect()
}

#[test]
fn a_range_again_and_again_is_one_range() {
    let design = read(&format!(
        "### Item 1: A\nType: code\nDepends on: {}\n",
        "2-99,".repeat(100_000)
    ));
    assert_eq!(design.items[0].depends_on.len(), 98);
    assert!(design.notes[0].message.contains("2–99"));
}

#[test]
fn only_so_many_dependencies_and_items_are_read() {
    let numbers = each(2..MAX_DEPENDENCIES + 2, |n| format!("{n},"));
    let head = "### Item 1: A\nType: code\nDepends on:";
    let most = read(&format!("{head} {numbers}{numbers}"));
    assert!(most.problems.is_empty());
    assert_eq!(most.items[0].depends_on.len(), MAX_DEPENDENCIES);
    let lines = each(2..50_000, |n| format!("- {n}\n"));
    let more = read(&format!("{head}\n{lines}"));
    assert_eq!(more.items[0].depends_on.len(), MAX_DEPENDENCIES);
    let told = "item 1 depends on more than 1000 others";
    assert_eq!(messages(&more), [(1_004, told)]);
    let items = each(0..MAX_ITEMS + 500, |n| {
        format!("### Item {n}: A\nType: code\n")
    });
    let design = read(&items);
    assert_eq!(design.items.len(), MAX_ITEMS);
    assert_eq!(design.problems.len(), 1);
    assert_eq!(design.problems[0].line, 2_001);
}

#[test]
fn a_document_that_is_too_long_is_not_read() {
    let text = format!("### Item 1: A\nType: code\n{}", "x".repeat(MAX_BYTES));
    let design = read(&text);
    assert!(design.items.is_empty());
    assert_eq!(design.problems.len(), 1);
    assert_eq!(design.problems[0].code, "too_large");
}

#[test]
fn a_long_title_is_cut_between_characters() {
    let design = read(&format!(
        "### Item 1: x{}\nType: code\n",
        "é\u{7}".repeat(50_000)
    ));
    let title = &design.items[0].title;
    assert_eq!(title.len(), MAX_TITLE_BYTES - 1);
    assert!(title.starts_with("xé") && title.ends_with('é'));
    assert!(design.notes[0].message.contains("100001 bytes"));
}

#[test]
fn only_so_much_is_told() {
    let many = "**Status:** complete\n".repeat(20_000);
    let notes = read(&format!(
        "### Item 1: A\nType: code\nStatus: pending\n{many}"
    ))
    .notes;
    assert_eq!((notes.len(), notes[100].line), (101, 104));
    assert!(notes[100].message.contains("19900 more notes"));
    let problems = read(&"### Item 1: A\nType: code\n".repeat(20_000)).problems;
    let last = (problems[100].code, problems[100].line);
    assert_eq!((problems.len(), last), (101, ("more_problems", 203)));
    assert_eq!(problems[0].code, "items_unreadable");
}

#[test]
fn a_long_value_beside_many_others_is_read_fast() {
    for name in ["Status", "Type", "Depends on"] {
        let design = read(&format!(
            "### Item 1: A\n{name}: {}\n{}",
            "done ".repeat(100_000),
            format!("{name}: 1\n").repeat(20_000)
        ));
        assert_eq!(design.items[0].status, Status::Pending);
    }
}

/// Numbers and status of the items, and the lines of what is wrong.
fn items_and_problems(text: &str) -> (Vec<(String, Status)>, Vec<u32>) {
    let design = read(text);
    let items = design.items.into_iter();
    let problems = design.problems.iter().map(|problem| problem.line);
    let items = items.map(|item| (item.number, item.status));
    (items.collect(), problems.collect())
}

#[test]
fn numbers_are_told_from_titles() {
    for (heading, number, title) in [
        ("### Item 2a: Title", "2a", "Title"),
        ("### Item 2-a: Title", "2-a", "Title"),
        ("### Item 02_B — Title", "2_b", "Title"),
        ("### Item 2-a - Title", "2-a", "Title"),
        ("### Item 2-Title", "2", "Title"),
        ("### Item 1 - Title: more", "1", "Title: more"),
        ("### Item T-1: Title", "t-1", "Title"),
        ("### Item A1: Title", "a1", "Title"),
        ("### Item IV: Title", "iv", "Title"),
        ("### Item 1.2.3: Title", "1.2.3", "Title"),
        ("### Item 9. Title", "9", "Title"),
        ("### Item **2-a**: Title", "2-a", "Title"),
        // A heading may have a number of its own.
        ("# 1. Item 2: Title", "2", "Title"),
        ("### 1) Item 2: Title", "2", "Title"),
        ("## 3.1 Item 2: Title", "2", "Title"),
        ("### **1. Item 2: Title**", "2", "Title"),
        ("### § 3.1. **Work item 2**: Title", "2", "Title"),
    ] {
        let design = read(&format!("{heading}\nType: code\n"));
        let item = &design.items[0];
        assert_eq!((&*item.number, &*item.title), (number, title), "{heading}");
        assert!(design.problems.is_empty(), "{heading}");
    }
}

#[test]
fn the_fields_of_a_heading_without_a_number_are_those_of_nobody() {
    for heading in [
        "### Item 2, 3: Both",
        "### Item 2 & 3: Both",
        "### Item 2 and Item 3: Both",
        "### Items 2, 3: Both",
        "### Item: Fix login page",
        "### **Item:** Fix login page",
        "### Item - Fix login page",
        "### Item – Fix login page",
        "### Item Fix login page",
        "### Item Login: page",
        "### Item: D",
        "### Item #: F",
        "### Item - D",
        "### Item",
        "###Item: No blank",
        "#### Item: Deeper",
        "## Item: Above",
        "### Item—Title",
        "### Item:",
        "### Item 2 & #3 - Title",
        // What stands there is no number.
        "### Item é: Title",
        "### Item 2é: Title",
        "### Item 1/2: Title",
        "### Item ２: Title",
        "### Item №5: Title",
        "### Item 12345678901234567890-1234567890-1234567890: Title",
        "### Item parser: Title",
        "### Item item-1: Title",
        "### Item sha256: Title",
    ] {
        let expected = (vec![("1".to_owned(), Status::Pending)], vec![4]);
        for fields in ["Type: code\nStatus: done", "Status: done\n\nType: code"] {
            let text = format!("### Item 1: A\nType: code\n\n{heading}\n{fields}\nDepends on: 7\n");
            assert_eq!(items_and_problems(&text), expected, "{text}");
            let table = format!(
                "### Item 1: A\nType: code\n\n{heading}\n| Status | done |\n| Type | code |\n"
            );
            assert_eq!(items_and_problems(&table), expected, "{table}");
        }
        let status = format!("### Item 1: A\nType: code\n\n{heading}\nStatus: done\n");
        assert_eq!(items_and_problems(&status), expected, "{status}");
    }
}

#[test]
fn a_heading_with_the_word_item_in_it_may_be_no_item() {
    for heading in [
        "# Item catalogue: design",
        "# Item: the word",
        "# Item overview",
        "# Item 1 and Item 2 compared",
        "# Item 1 and the login: Title",
        "# Items 2, 3: Title",
        "### Items",
        "### Item-level rights",
        "### Itemised",
        "### 3 items",
        "### 2. Item overview",
        "### 3.1 Items that are left",
    ] {
        let text = format!("{heading}\nStatus: draft\n\n### Item 1: A\nType: code\n");
        let expected = (vec![("1".to_owned(), Status::Pending)], vec![]);
        assert_eq!(items_and_problems(&text), expected, "{text}");
    }
}

#[test]
fn a_list_above_a_rule_is_no_heading() {
    for list in ["1. Item 2: B", "1) Item 2: B", "3.1 Item 2: B"] {
        let text = format!("### Item 1: A\nType: code\n\n{list}\n---\n\nStatus: done\n");
        let design = read(&text);
        let numbers: Vec<&str> = design.items.iter().map(|item| &*item.number).collect();
        assert_eq!(numbers, ["1"], "{text}");
        assert!(design.problems.is_empty(), "{text}");
    }
}

#[test]
fn an_item_that_is_struck_out_is_left_out_and_told() {
    for heading in [
        "### ~~Item 2: B~~",
        "###~~Item 2: B~~",
        "### ~~Item 2~~: B",
        "### **~~Item 2: B~~**",
        "### ~~**Item 2: B**~~",
        "### ~~Item B~~",
        "### 1. ~~Item 2: B~~",
        "### ~~1. Item 2: B~~",
        "### ~~1.~~ ~~Item 2: B~~",
        "### **1. ~~Item 2: B~~**",
        "### ~~Item: B~~",
        "### <s>Item 2: B</s>",
        "### <DEL>Item 2: B</DEL>",
        "~~Item 2: B~~\n======",
    ] {
        let text = format!("### Item 1: A\nType: code\n\n{heading}\nType: code\nStatus: done\n");
        let expected = (vec![("1".to_owned(), Status::Pending)], vec![]);
        assert_eq!(items_and_problems(&text), expected, "{text}");
        let notes = read(&text).notes;
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert_eq!(notes[0].line, 4);
        assert!(notes[0].message.contains("struck out"), "{notes:?}");
    }
}

#[test]
fn a_status_that_is_not_the_item_s_own_is_told() {
    for (part, status, line) in [
        ("### Notes on tooling\nStatus: done\n", Status::Complete, 4),
        ("#### Tests\n\n- **Status:** done\n", Status::Complete, 5),
        ("## Item-level notes\nStatus: done\n", Status::Pending, 0),
        ("> Status: done\n", Status::Pending, 3),
        ("> - Status: done\n", Status::Pending, 3),
        ("- > Status: done\n", Status::Pending, 3),
        ("\n    Status: done\n", Status::Pending, 4),
        ("- Status: done\n- tests\n", Status::Complete, 0),
        ("Answers:\n- Status: done\n", Status::Pending, 4),
        ("- tests\n  - Status: done\n", Status::Pending, 4),
        ("1. tests\n\n   Status: done\n", Status::Pending, 5),
        (
            "| Status | Who | At |\n|--|--|--|\n| done | A | 9 |\n",
            Status::Pending,
            5,
        ),
        ("> Status: done\n\n> Status: complete\n", Status::Pending, 3),
        (
            "> Status: done\n\nStatus: documented\n",
            Status::Documented,
            3,
        ),
        (
            "Status: documented\n\n> Status: done\n",
            Status::Documented,
            5,
        ),
        ("- Status: done\n", Status::Complete, 0),
        ("| Status | done |\n", Status::Complete, 0),
        ("Status: done\n", Status::Complete, 0),
    ] {
        let text = format!("### Item 1: A\nType: code\n{part}");
        let design = read(&text);
        assert_eq!(design.items[0].status, status, "{text}");
        assert!(design.problems.is_empty(), "{text}");
        let lines: Vec<u32> = design.notes.iter().map(|note| note.line).collect();
        let expected = if line == 0 { vec![] } else { vec![line] };
        assert_eq!(lines, expected, "{text}{:?}", design.notes);
    }
}

#[test]
fn what_is_never_closed_is_told_where_it_hides_items() {
    let begin = "### Item 1: A\nType: code\n\n";
    for (text, line) in [
        ("```\n### Item 2: B\nType: code\n", 4),
        ("~~~~ md\n\n## Item 2: B\n~~~\n", 4),
        ("- ```\n  x\n\n### Item 2: B\n", 4),
        ("```\nx\n```\n\n```\n### ~~Item 2: B~~\n", 8),
        ("```\n###Item: B\n", 4),
        ("<!--\n### Item 2: B\n", 4),
        ("<!-- a -->\n<!-- b\n# Item 2: B\n", 5),
    ] {
        let text = format!("{begin}{text}");
        let expected = (vec![("1".to_owned(), Status::Pending)], vec![line]);
        assert_eq!(items_and_problems(&text), expected, "{text}");
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(items_and_problems(&crlf), expected, "{text}");
    }
    for text in [
        "```\n### Notes\n",
        "```\nItem 2: B\n",
        "<!-- ### Item 2: B -->\n",
        "```\n### Item 2: B\n```\n",
        "<!--\n### Item 2: B\n-->\n",
    ] {
        let design = read(&format!("{begin}{text}"));
        assert!(design.problems.is_empty(), "{text}");
        assert!(design.notes.is_empty(), "{text}");
    }
    // What is closed late hides items too.
    for text in [
        "```rust\n### Item 1: A\n```yaml\n```\n",
        "<!-- a\n### Item 1: A\n<!-- b -->\n",
    ] {
        assert_eq!(items_and_problems(text), (vec![], vec![]));
        let notes = read(text).notes;
        assert_eq!((notes.len(), notes[0].line), (1, 1), "{text}");
    }
    let wrapped = read("```markdown\n### Item 1: A\nType: code\n");
    assert_eq!(messages(&wrapped).len(), 1);
    assert_eq!(wrapped.problems[0].line, 1);
}

#[test]
fn a_long_heading_is_read_fast() {
    for part in [
        "~a~", "~~a~~", "~", "<s>a</s>", "<s>", "Item 1, ", "1, ", "and ", "- ", "> ", ": ",
    ] {
        let many = part.repeat(60_000);
        read(&format!(
            "### {many}Item 1: A\n### Item {many}\n### Item 1, {many}\n{many}\nStatus: done\n"
        ));
    }
    let design = read(&format!(
        "```\n{}",
        "### ~~Item 2: B~~\n```rust\n".repeat(30_000)
    ));
    assert_eq!(messages(&design).len(), 1);
}

#[test]
fn an_item_without_a_type_takes_none_from_another_one() {
    for other in ["Task 3: C", "3. C", "Feature 3 C"] {
        let text =
            format!("### Item 1: A\nType: code\n\n### Item 2: B\n\n### {other}\nType: bugfix\n");
        let (_, problems) = items_and_problems(&text);
        assert_eq!(problems, [4, 6], "{other}");
    }
    let (items, problems) = items_and_problems("### Item 1: A\n\n### Notes\nType: bugfix\n");
    assert_eq!((items.len(), problems), (1, Vec::new()));
}

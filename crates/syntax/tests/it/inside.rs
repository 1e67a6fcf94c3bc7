//! Tests that live in source files, told apart from the product.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use syntax::form::is_same_form;
use syntax::inside::{parts, split, with_tests_of};

/// Source texts in which the tests stand between `«` and `»`.
const RUST: &[&str] = &[
    // A module.
    "fn a() {}\n\n«#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn b() { a() }\n}\n»",
    // A module and what follows.
    "«#[cfg(test)]\nmod tests { fn x() {} }\n»\nfn a() {}\n",
    // A module elsewhere.
    "«#[cfg(test)]\nmod tests;\n»fn a() {}\n",
    // A module with a visibility.
    "«#[cfg(test)]\npub(in crate::a) mod tests {}\n»fn a() {}\n",
    // A module with all(test, …).
    "«#[cfg(all(test, feature = \"std\"))]\nmod tests {}\n»fn a() {}\n",
    // Nested conditions.
    "«#[cfg(all(unix, all(not(miri), test)))]\nmod tests {}\n»fn a() {}\n",
    // Any of several is product.
    "#[cfg(any(test, feature = \"testing\"))]\nmod helpers {}\n",
    // Any of tests alone.
    "«#[cfg(any(test, doctest))]\nmod helpers {}\n»fn a() {}\n",
    // `not(test)` is product.
    "#[cfg(not(test))]\nfn a() {}\n#[cfg(all(unix, not(test)))]\nfn b() {}\n",
    // A feature called test is product.
    "#[cfg(feature = \"test\")]\nmod tests {}\n",
    // `cfg_attr` is product.
    "#[cfg_attr(test, derive(Debug))]\nstruct A;\n",
    // One function.
    "fn a() {}\n«#[cfg(test)]\nfn helper() -> Vec<u8> { vec![] }\n»fn b() {}\n",
    // One import.
    "«#[cfg(test)]\nuse a::{b, c};\n»use d::{e, f};\n",
    // One implementation.
    "struct A;\n«#[cfg(test)]\nimpl<T: Fn() -> u8> From<T> for A where T: Copy, T: Clone { fn from(_: T) -> A { A } }\n»impl A {}\n",
    // Constant generics in a header.
    "«#[cfg(test)]\nimpl A<{ 1 + 2 }, 3> for B<{ N }> { fn a() {} }\n»impl C {}\n",
    // A constant with a block.
    "«#[cfg(test)]\nconst A: B = { let b = 1; b };\n»const C: u8 = 1;\n",
    // A constant function.
    "«#[cfg(test)]\npub const fn a() -> u8 { 1 }\n»const C: u8 = 1;\n",
    // A static with braces.
    "«#[cfg(test)]\nstatic A: B = B { c: 1 };\n»fn a() {}\n",
    // A unit and a tuple struct.
    "«#[cfg(test)]\nstruct A;\n#[cfg(test)]\nstruct B(u8) where u8: Copy;\n»struct C;\n",
    // Fields and variants.
    "struct A {\n    a: u8,\n    «#[cfg(test)]\n    b: HashMap<u8, Vec<u8>>,\n»    c: u8,\n}\nenum B {\n    «#[cfg(test)]\n    X { a: u8 },\n»    Y,\n    «#[cfg(test)]\n    Z\n»}\n",
    // Arms.
    "fn a() {\n    match b {\n        «#[cfg(test)]\n        X => { 1 }\n»        Y if c < d => 2,\n        «#[cfg(test)]\n        Z(a, b) => f(a),\n»        _ => 3,\n    }\n}\n",
    // Statements.
    "fn a() {\n    «#[cfg(test)]\n    let x = if b { 1 } else { 2 };\n»    let y = 1;\n    «#[cfg(test)]\n    if a < b { c() } else { d() }\n»    «#[cfg(test)]\n    log::<Vec<u8>>(x, y);\n»    «#[cfg(test)]\n    { e() }\n»    f()\n}\n",
    // A test outside of modules.
    "fn a() {}\n\n«#[test]\nfn b() {\n    assert_eq!(\"}\", '}'.to_string());\n}\n»\nfn c() {}\n",
    // Tests by other names.
    "«#[tokio::test(flavor = \"multi_thread\")]\nasync fn a() {}\n»fn x() {}\n«#[rstest]\n#[case(1)]\n#[case::two(2)]\nfn b(#[case] n: u8) {}\n»fn y() {}\n«#[test_case(1, 2 ; \"name\")]\n#[test_case(3, 4)]\nfn c(a: u8, b: u8) {}\n»fn z() {}\n«#[wasm_bindgen_test]\nfn d() {}\n»",
    // Attributes and comments in any order.
    "fn a() {}\n«/// Says.\n#[allow(dead_code)]\n// why\n#[should_panic(expected = \"x\")]\n#[test]\n#[ignore]\npub(crate) unsafe extern \"C\" fn b() {}\n»fn c() {}\n",
    // Attributes that only sound like it.
    "#[testing]\nfn a() {}\n#[my::tests]\nfn b() {}\n#[test::other]\nfn c() {}\n#[allow(test)]\nfn d() {}\n",
    // A whole file.
    "«//! All of it.\n\n#![cfg(test)]\n\nfn a() {}\n»",
    // A block from within.
    "mod a {\n    «#![cfg(test)]\n    fn b() {}\n»}\nfn c() {}\n",
    // A module in a module.
    "mod a {\n    fn b() {}\n    «#[cfg(test)]\n    mod tests { #[test] fn c() {} }\n»}\n",
    // Strings that look like tests.
    "const A: &str = \"#[cfg(test)] mod x {\";\nconst B: &str = r#\"\n#[test]\nfn x() {\n\"#;\nconst C: &[u8] = br##\"\"# #[test] fn\"##;\nconst D: &str = \"\\\"#[test]\\\\\";\nfn a() {}\n«#[test]\nfn b() {}\n»",
    // Comments that look like tests.
    "// #[cfg(test)]\n/* #[test] /* fn */ mod x { */\nfn a() {}\n«#[test]\nfn b() { /* } */ // }\n}\n»fn c() {}\n",
    // Characters and lifetimes.
    "fn a<'a>(x: &'a str) -> char { '{' }\nconst B: u8 = b'\\'';\nconst C: char = '\\u{7b}';\n«#[test]\nfn b() { let c = '}'; let d: &'static str = \"\"; 'out: loop { break 'out; } }\n»fn e() {}\n",
    // Raw names.
    "fn r#fn() {}\n«#[test]\nfn r#match() {}\n»fn a() {}\n",
    // Examples in documentation.
    "/// Adds.\n///\n«/// ```\n/// assert_eq!(a(), 1);\n/// ```\n»/// More.\nfn a() {}\n",
    // Examples of the module.
    "//! Says.\n«//! ```rust,no_run\n//! a();\n//! ```\n»//!\n//! ```text\n//! not run\n//! ```\n\nfn a() {}\n",
    // Examples that are not run.
    "/// ```ignore\n/// a\n/// ```\n/// ~~~ json\n/// {}\n/// ~~~\n/// ```rust,ignore\n/// ```\nfn a() {}\n",
    // Longer and other fences.
    "«/// ````should_panic\n/// ```\n/// ````\n»«/// ~~~\n/// a\n/// ~~~\n»fn a() {}\n",
    // Examples in block comments.
    "/** Says.\n\n«```\na();\n```\n»*/\nfn a() {}\nimpl A {\n    /**\n     * Says.\n«     * ```compile_fail,E0308\n     * a\n     * ```\n»     */\n    fn b() {}\n}\n",
    // An example without an end.
    "fn a() {}\n\n«/// ```\n/// b\n»fn b() {}\n",
    // Examples of fields.
    "struct A {\n    /// Says.\n«    /// ```\n    /// a\n    /// ```\n»    a: u8,\n}\n",
    // Macros of properties.
    "fn a() {}\n«proptest! {\n    #[test]\n    fn b(x in 0..3) {}\n}\n»«quickcheck!(fn c() {});\n»fn d() {}\n",
    // Code that is quoted.
    "fn a() -> TokenStream {\n    quote! {\n        #[test]\n        fn b() {}\n    }\n}\n",
    // Macros for tests.
    "«#[cfg(test)]\nmacro_rules! a {\n    ($x:expr) => { $x };\n}\n»fn a() {}\n«#[cfg(test)]\nthread_local! { static A: u8 = 1; }\n»fn b() {}\n",
    // Two on one line.
    "«#[test] fn a() {}» fn b() {} «#[test] fn c() {}\n»",
    // Other line ends.
    "fn a() {}\r\n«#[cfg(test)]\r\nmod tests {\r\n}\r\n»\r\nfn b() {}\r\n",
    // Brackets that do not match.
    "fn a() { ) ] }\n«#[test]\nfn b() {}\n»fn c() { (\n",
    // An attribute and nothing else.
    "fn a() {}\n«#[test]\n»",
    // Nothing.
    "",
];

#[test]
fn the_tests_of_rust_sources() {
    for marked in RUST {
        check(marked);
    }
}

fn check(marked: &str) {
    let text = marked.replace(['«', '»'], "");
    // What stands behind a `»` is product, up to the next `«`.
    let parts = marked
        .split('»')
        .map(|part| part.split_once('«').unwrap_or((part, "")));
    let (product, tests): (String, String) = parts.unzip();
    // Whether the white space before a part goes with it does not matter.
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = split("src/lib.rs", &text);
    assert_eq!(squeezed(&found.tests), squeezed(&tests), "{marked}");
    assert_eq!(squeezed(&found.product), squeezed(&product), "{marked}");
}

#[test]
fn hostile_texts_take_no_longer_than_others() {
    let pieces = "#[test]|#[test|'\\|'|r#|r#\"|/*|\"|{|}|(|///\n|/** |f(a,|,)|(a,)|<|quote!{| |b'|\\\\|pub(|use a;|use a::|use {|\
                  #![cfg(test)]|#[cfg(all(|/// ```\n|//! ~~~\n|proptest!(|#[cfg(test)] a<|\n#[test]\n|use a::{b,";
    for piece in pieces.split('|') {
        let text = piece.repeat(40_000 / piece.len());
        let begun = Instant::now();
        let _ = split("a.rs", &text);
        assert!(begun.elapsed() < Duration::from_secs(5), "{piece:?}");
    }
}

fn pieces() -> impl Strategy<Value = String> {
    let known = "#[test]|mod a |fn b()|{|}|(|)|[|]|;|,|\n| |\"|'|r#\"|\"#|/*|*/|//|/** |é|\\|<|>|=>|->|quote!|test|unittest|\r\n|\
                 #[cfg(test)]|#![cfg(test)]|#[cfg(all(test, a))]|/// ```\n|//! ```\n|proptest!|pub(crate)";
    let known = prop::sample::select(known.split('|').collect::<Vec<_>>());
    let piece = prop_oneof![8 => known.prop_map(str::to_owned), 1 => ".{0,3}"];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn the_parts_are_the_text(text in pieces(), ending in prop::sample::select(vec!["rs", "c"])) {
        let path = format!("src/a.{ending}");
        let found = parts(&path, &text);
        let mut joined = String::new();
        for part in &found {
            prop_assert!(!part.text.is_empty());
            joined.push_str(part.text);
        }
        prop_assert_eq!(&joined, &text);
        prop_assert!(found.windows(2).all(|pair| pair[0].is_test != pair[1].is_test));
        let whole = split(&path, &text);
        prop_assert_eq!(whole.product.len() + whole.tests.len(), text.len());
    }
}

/// Items in an order that is made up: tests have even numbers.
fn items(numbers: &[u8]) -> String {
    numbers.iter().fold(String::new(), |mut text, number| {
        let attribute = if number % 2 == 0 { "#[test]\n" } else { "" };
        writeln!(text, "{attribute}fn of_{number}() {{\n    {number}\n}}\n").unwrap();
        text
    })
}

proptest! {
    #[test]
    fn each_text_gives_all_of_its_own(
        product in proptest::collection::vec(0_u8..9, 0..12),
        tests in proptest::collection::vec(0_u8..9, 0..12),
    ) {
        let path = "src/lib.rs";
        let (product, tests) = (items(&product), items(&tests));
        let merged = split(path, &with_tests_of(path, &product, &tests));
        let own = split(path, &product).product;
        prop_assert_eq!(merged.product.trim_end(), own.trim_end());
        prop_assert!(is_same_form(path, &merged.tests, &split(path, &tests).tests));
    }
}

#[test]
fn tests_of_another_text_stand_where_they_stood() {
    let product = "/// Adds.\npub fn add(a: u8) -> u8 {\n    a + 1\n}\n\nmod inner {\n    pub fn treble() {}\n}";
    let tests = "/// Adds.\n/// ```\n/// assert_eq!(add(1), 2);\n/// ```\npub fn add(a: u8) -> u8 {\n    0\n}\n\nconst MOST: u8 = 9;\n\nmod inner {\n    pub fn treble() {}\n\n    #[cfg(test)]\n    mod tests {}\n}\n\n#[cfg(test)]\nmod tests {}\n";
    insta::assert_snapshot!(with_tests_of("src/lib.rs", product, tests));
}

#[test]
fn the_product_of_one_text_and_the_tests_of_another() {
    let test = |number: u32| {
        format!(
            "\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn adds() {{\n        assert_eq!(super::add(1), {number});\n    }}\n}}\n"
        )
    };
    let (right_test, wrong_test) = (test(2), test(3));
    let example = "/// ```\n/// assert_eq!(add(1), 2);\n/// ```\n";
    let right = format!("{example}pub fn add(a: u8) -> u8 {{\n    a + 1\n}}\n");
    let wrong = right.replace("a + 1", "0");
    let after = "\npub fn last() {}\n";
    let text = format!("{right}{right_test}{after}");
    for (path, expected) in [
        ("src/lib.rs", format!("{right}{after}{wrong_test}")),
        ("src/lib.py", text.clone()),
    ] {
        let merged = with_tests_of(path, &text, &format!("{wrong}{wrong_test}{after}"));
        let (merged, expected) = (split(path, &merged), split(path, &expected));
        assert_eq!(merged.tests, expected.tests, "{path}");
        assert!(
            is_same_form(path, &merged.product, &expected.product),
            "{merged:?}"
        );
    }
    // What both have stays where it is.
    let formatted = text.replace("super::add(1), 2)", "super::add( 1 ), 2 )");
    assert_eq!(with_tests_of("src/lib.rs", &text, &formatted), text);
}

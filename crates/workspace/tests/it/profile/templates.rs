//! What a template may do, and what a hostile one cannot.

use std::path::Path;

use proptest::prelude::*;
use serde_json::json;
use workspace::profile::{Builtin, Library, Phase, Profile};

use super::{LEAST, Scene, told, view};

const INPUTS: &str = "inputs: { request: { type: text }, names: { type: list } }\n";

fn scene(template: &str) -> Scene {
    Scene::new(&format!("{LEAST}{INPUTS}")).file("review.md", template)
}

fn profile(template: &str) -> Profile {
    scene(template)
        .load()
        .unwrap_or_else(|error| panic!("{template}: {:?}", told(&error)))
}

fn rendered(template: &str) -> String {
    let inputs = json!({ "request": "x ``` y", "names": ["one", "two"] });
    profile(template)
        .render(Phase::Review, &view(inputs))
        .unwrap_or_else(|error| panic!("{template}: {:?}", told(&error)))
}

fn refused(template: &str) -> String {
    let (code, text) = scene(template).fault();
    assert_eq!(code, "profile_invalid", "{template}");
    text
}

#[test]
fn what_there_is_works() {
    for (template, expected) in [
        (
            "{{ session.id }} {{ session.profile }} {{ phase }} {{ iteration }}",
            "review__x__2026 own review 2",
        ),
        (
            "{{ response.path }} {{ prompt.path }} {{ code_dir }} {{ project.root }}",
            "/store/session/the-response.md /store/session/the-prompt.md /store/session/iteration-2/code /the-project",
        ),
        (
            "{{ plan }} {{ feedback }} {{ review.text }} {{ review.issues_total - 1 }}",
            "the-plan the-feedback the-review 2",
        ),
        (
            "{% for file in files %}{{ loop.index }}{{ file.path }}{% if not loop.last %}, {% endif %}{% endfor %}",
            "1src/a.rs, 2b.md",
        ),
        (
            "{% for file in files if file.size > 0 %}{{ file.path }}{% else %}none{% endfor %}",
            "src/a.rs",
        ),
        (
            "{{ previous[0].content | trim }} {{ (files | last).path }} {{ files | length }}",
            "fn old() {} b.md 2",
        ),
        (
            "{% set first = files | first %}{{ first['path'] }}",
            "src/a.rs",
        ),
        (
            "{% if phase in ['review', 'revision'] and inputs.names %}yes{% elif plan %}no{% endif %}",
            "yes",
        ),
        ("{{ inputs.request | quoted }}", "````text\nx ``` y\n````"),
        ("{{ inputs.names | quoted }}", "```text\none\ntwo\n```"),
        ("{{ inputs.names | join(' and ') | upper }}", "ONE AND TWO"),
        (
            "{{ 'a\nb' | indent(2) }}|{{ 'aXbX' | replace('X', '-') }}|{{ 'HELLO' | capitalize }}",
            "a\n  b|a-b-|Hello",
        ),
        (
            "{{ files | tojson | length > 10 }} {{ 'x' | default('y') }} {{ 'a\nb' | lines | first }}",
            "True x a",
        ),
        (
            "{# a comment #}{% raw %}{{ nothing }}{% endraw %}",
            "{{ nothing }}",
        ),
        ("{{ 'yes' if review.issues_critical > 0 else 'no' }}", "yes"),
        (
            "{% if plan is string and iteration is even and plan is startingwith('the') %}ok{% endif %}",
            "ok",
        ),
    ] {
        assert_eq!(rendered(template), expected, "{template}");
    }
}

#[test]
fn long_texts_are_shortened_unless_the_whole_is_asked_for() {
    let inputs = json!({ "request": "long ".repeat(10_000), "names": [] });
    let profile = profile("{{ inputs.request | quoted }}");
    let prompt = profile
        .render(Phase::Review, &view(inputs.clone()))
        .unwrap();
    assert!(prompt.len() < 20_000 && prompt.contains("bytes left out"));
    let profile = self::profile("{{ inputs.request | quoted(whole=true) }}");
    let prompt = profile.render(Phase::Review, &view(inputs)).unwrap();
    assert!(prompt.len() > 49_000 && !prompt.contains("left out"));
}

#[test]
fn the_formats_tell_what_the_profile_asks_for() {
    let yaml = format!(
        "{LEAST}responses:\n  planning: {{ headings: [Approach] }}\n  generation: {{ allow: ['src/**'] }}\n  revision: {{ allow: ['*.md'] }}\n"
    );
    let scene = ["planning", "generation", "review", "revision"]
        .into_iter()
        .fold(Scene::new(&yaml), |scene, phase| {
            scene.file(
                &format!("{phase}.md"),
                "{{ format.plan }}\n{{ format.bundle }}\n{{ format.verdict }}",
            )
        });
    let profile = scene.load().unwrap();
    let prompt = |phase| profile.render(phase, &view(json!({}))).unwrap();
    let planning = prompt(Phase::Planning);
    assert!(planning.contains("## Approach\n") && planning.contains("VALIDATION FAILED:"));
    assert!(planning.contains("@@@REVIEW_META\nverdict:") && planning.contains("`src/**`"));
    assert!(prompt(Phase::Generation).contains("`src/**`"));
    let revision = prompt(Phase::Revision);
    assert!(revision.contains("`*.md`") && !revision.contains("`src/**`"));
}

#[test]
fn includes_are_files_of_the_folder_and_see_what_is_there() {
    let scene = scene("{% for file in files %}{% include \"parts/one.md\" %}{% endfor %}")
        .file("parts/one.md", "[{{ file.path }}]");
    let profile = scene.load().unwrap();
    let prompt = profile.render(Phase::Review, &view(json!({}))).unwrap();
    assert_eq!(prompt, "[src/a.rs][b.md]");

    let text = refused("\n{% include \"../../../secret\" %}");
    assert!(
        text.contains("review.md:2:") && text.contains("../../../secret"),
        "{text}"
    );
    assert!(refused("{% include \"/etc/passwd\" %}").contains("/etc/passwd"));
    assert!(refused("{% include plan %}").contains("named in quotes"));
    assert!(refused("{% include [\"a\", \"b\"] %}").contains("named in quotes"));
    assert!(refused("{% include \"review.md\" %}").contains("includes itself"));
    assert_eq!(rendered("{% include \"none.md\" ignore missing %}x"), "x");

    let scene = self::scene("{% include \"a.md\" %}")
        .file("a.md", "{% include \"b.md\" %}")
        .file("b.md", "\n\n{% include \"a.md\" %}");
    let (_, text) = scene.fault();
    assert!(
        text.contains("b.md:3:") && text.contains("includes itself"),
        "{text}"
    );

    let scene = self::scene("{% include \"a.md\" %}").file("a.md", "\n\n  {{ plann }}");
    let (_, text) = scene.fault();
    assert!(
        text.contains("a.md:3:") && text.contains("did you mean `plan`?"),
        "{text}"
    );
}

#[test]
fn unknown_names_are_told_with_line_and_column() {
    let text = refused("one\ntwo {{ inputs.reqest }}\n");
    assert!(text.contains("review.md:2:"), "{text}");
    assert!(
        text.contains("`reqest` means nothing here | did you mean `request`?"),
        "{text}"
    );
    for (template, expected) in [
        ("{{ sesion.id }}", "did you mean `session`?"),
        ("{{ session.name }}", "there are id, profile"),
        ("{{ plan.text }}", "nothing called `text` below this"),
        ("{{ files.path }}", "nothing called `path` below this"),
        ("{{ files[0].pth }}", "did you mean `path`?"),
        ("{{ inputs['reqest'] }}", "did you mean `request`?"),
        (
            "{% for file in files %}{{ file.name }}{% endfor %}",
            "there are path, sha256, size, content",
        ),
        (
            "{% for file in files %}{% endfor %}{{ file.path }}",
            "`file` means nothing",
        ),
        (
            "{% for file in files %}{{ loop.nextitem }}{% endfor %}",
            "`nextitem` means nothing",
        ),
        ("{{ loop.index }}", "`loop` means nothing"),
        (
            "{% if nothing is defined %}{% endif %}",
            "`nothing` means nothing",
        ),
        (
            "{{ plan | qouted }}",
            "there is no filter `qouted` | did you mean `quoted`?",
        ),
        (
            "{% if plan is foo %}{% endif %}",
            "there is no test `is foo`",
        ),
        ("{% set x = y %}", "`y` means nothing"),
    ] {
        let text = refused(template);
        assert!(text.contains(expected), "{template}\n{text}");
    }
}

#[test]
fn what_is_not_there_is_refused_with_a_way_out() {
    for template in [
        "{% macro a() %}{% endmacro %}",
        "{% set x %}y{% endset %}",
        "{% with x = 1 %}{% endwith %}",
        "{% filter upper %}x{% endfilter %}",
        "{% extends \"a.md\" %}",
        "{% block a %}{% endblock %}",
        "{% import \"a.md\" as a %}",
        "{% from \"a.md\" import a %}",
        "{% autoescape true %}{% endautoescape %}",
        "{% do plan() %}",
        "{% for a in files recursive %}{% endfor %}",
        "{{ plan ~ plan }}",
        "{{ plan + plan }}",
        "{{ 'x' * 100000000 }}",
        "{{ 2 ** 100 }}",
        "{{ plan[1:] }}",
        "{{ range(1000000) }}",
        "{{ namespace() }}",
        "{{ debug() }}",
        "{{ plan.upper() }}",
        "{{ [plan, plan] }}",
        "{{ {'a': plan} }}",
        "{{ (plan, plan) }}",
        "{{ plan | format(1) }}",
        "{{ plan | safe }}",
        "{{ plan | join(*files) }}",
        "{% if %}",
        "{% endif %}",
        "{{ plan",
        "{{ 'open }}",
        "{{ }}",
        "{% unknown %}",
    ] {
        let text = refused(template);
        assert!(text.contains("review.md:1:"), "{template}: {text}");
        assert!(!text.ends_with("| "), "no suggestion: {text}");
    }
}

#[test]
fn what_stands_in_itself_too_often_is_refused_and_overflows_nothing() {
    let nested = |open: &str, middle: &str, close: &str, times: usize| {
        format!("{}{middle}{}", open.repeat(times), close.repeat(times))
    };
    for template in [
        format!("{{{{ {} }}}}", nested("(", "plan", ")", 50_000)),
        format!("{{{{ 1{} }}}}", " - 1".repeat(50_000)),
        format!("{{{{ {}1 }}}}", "-".repeat(100_000)),
        format!("{{% if {}plan %}}{{% endif %}}", "not ".repeat(50_000)),
        format!("{{{{ plan{} }}}}", " | trim".repeat(30_000)),
        format!("{{{{ plan{} }}}}", ".a".repeat(100_000)),
        format!("{{{{ plan{} }}}}", "[0]".repeat(80_000)),
        format!("{{{{ {}1{} }}}}", "[".repeat(100_000), "]".repeat(100_000)),
        nested("{% if plan %}", "x", "{% endif %}", 10_000),
        nested("{% for f in files %}", "x", "{% endfor %}", 5_000),
        format!(
            "{{% if plan %}}{}{{% endif %}}",
            "{% elif plan %}".repeat(15_000)
        ),
        format!("{{{{ {}plan }}}}", "plan if plan else ".repeat(10_000)),
        format!("{{{{ plan {} }}}}", "and plan ".repeat(20_000)),
        format!("{{{{ 1 {} }}}}", "< 1 ".repeat(50_000)),
    ] {
        let text = refused(&template);
        assert!(text.len() < 2_000, "{text}");
    }
    // What the limits let through, at its worst.
    for template in [
        nested("{% if plan %}", "x", "{% endif %}", 100),
        format!(
            "{{% if plan %}}x{}{{% endif %}}",
            "{% elif plan %}".repeat(120)
        ),
        format!("{{{{ 1{} }}}}", " - 1".repeat(90)),
        format!("{{{{ plan{} }}}}", " | trim".repeat(90)),
    ] {
        rendered(&template);
    }
}

#[test]
fn endless_work_comes_to_an_end() {
    let loops = |times: usize| {
        format!(
            "{}x{}",
            "{% for a in inputs.names %}".repeat(times),
            "{% endfor %}".repeat(times)
        )
    };
    let inputs = json!({ "request": "", "names": vec!["x"; 100] });
    for (template, expected) in [
        (
            loops(40).replace('x', "{{ 'x' | indent(100, first=true) }}"),
            "the prompt is longer than 1048576 bytes",
        ),
        (loops(40).replace('x', "{% if a == 'y' %}{% endif %}"), "out of fuel"),
        (
            "{% for a in inputs.names %}{% include \"big.md\" %}{% endfor %}".to_owned(),
            "longer than",
        ),
        (
            "{% set a = 'aaaaaaaaaa' %}{% set a = a | replace('a', a) %}{% set a = a | replace('a', a) %}\
             {% set a = a | replace('a', a) %}{% set a = a | replace('a', a) %}{{ a | length }}"
                .to_owned(),
            "too much text",
        ),
        (
            "{% set a = '\\\\\\\\\\\\' %}{{ a".to_owned() + &" | tojson".repeat(60) + " | length }}",
            "too much text",
        ),
        (
            "{{ 'x' | indent(1000000000000) }}{% for a in inputs.names %}{% for b in inputs.names %}\
             {% set c = plan | indent(100) | indent(100, first=true) %}{% endfor %}{% endfor %}{{ nothing }}"
                .replace("{{ nothing }}", ""),
            "",
        ),
    ] {
        let scene = scene(&template).file("big.md", "y".repeat(200_000));
        let profile = scene.load().unwrap_or_else(|error| panic!("{:?}", told(&error)));
        let outcome = profile.render(Phase::Review, &view(inputs.clone()));
        if expected.is_empty() {
            outcome.unwrap();
            continue;
        }
        let (code, text) = told(&outcome.unwrap_err());
        assert_eq!(code, "bad_template");
        assert!(text.contains(expected), "{expected}\n{text}");
        assert!(text.contains("review.md"), "{text}");
    }
}

#[test]
fn a_value_that_is_missing_is_an_error_with_its_line() {
    let profile = profile("\n\n{{ inputs.request }}");
    let (code, text) = told(&profile.render(Phase::Review, &view(json!({}))).unwrap_err());
    assert_eq!(code, "bad_template");
    assert!(text.contains("review.md:3"), "{text}");
    let (_, text) = told(&profile.render(Phase::Review, &json!([])).unwrap_err());
    assert!(text.contains("no object"), "{text}");
}

/// Pieces of templates, right and wrong.
const PIECES: &[&str] = &[
    "{{ ",
    " }}",
    "{% ",
    " %}",
    "{%- ",
    " -%}",
    "{# ",
    " #}",
    "if ",
    "elif ",
    "else",
    "endif",
    "for ",
    "x in ",
    "endfor",
    "set x = ",
    "include ",
    "raw",
    "endraw",
    "macro f(x)",
    "endmacro",
    "plan",
    "files",
    "x",
    "x.path",
    "loop.index",
    "inputs.names",
    "inputs.request",
    " | ",
    "quoted",
    "join",
    "replace('a', 'b')",
    "first",
    "last",
    "length",
    "tojson",
    "indent(3)",
    "indent(-1)",
    "default",
    "(whole=true)",
    "[0]",
    "[-1]",
    ".y",
    "'a'",
    "\"b",
    "1",
    "-",
    "1.5e400",
    " == ",
    " and ",
    " or ",
    "not ",
    " in ",
    " is defined",
    " // 0",
    " % 0",
    "(",
    ")",
    "[",
    "]",
    ",",
    "\n",
    "\u{e9}",
    "\\",
    " ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever stands in a template: it is refused with a place in it, or makes a prompt, or says why not.
    #[test]
    fn no_template_does_harm(pieces in prop::collection::vec(0..PIECES.len(), 0..30)) {
        let template: String = pieces.iter().map(|piece| PIECES[*piece]).collect();
        let yaml = format!("{LEAST}{INPUTS}");
        let files = [
            ("profile.yaml", yaml.as_str()),
            ("planning.md", ""),
            ("generation.md", ""),
            ("review.md", &template),
            ("revision.md", ""),
        ];
        let shipped = Builtin { name: "own", files: &files };
        let nowhere = Path::new("/nowhere");
        let library = Library { project: nowhere, user: nowhere, builtin: vec![shipped] };
        match library.load("own") {
            Ok(profile) => {
                let inputs = json!({ "request": "x", "names": ["a", "b"] });
                if let Err(error) = profile.render(Phase::Review, &view(inputs)) {
                    prop_assert_eq!(error.code(), "bad_template");
                    prop_assert!(!error.to_string().contains("gave up"), "{}: {}", template, error);
                }
            }
            Err(error) => {
                prop_assert_eq!(error.code(), "profile_invalid");
                let text = error.to_string();
                prop_assert!(text.contains("review.md:") && !text.contains("gave up"), "{}: {}", template, text);
            }
        }
    }
}

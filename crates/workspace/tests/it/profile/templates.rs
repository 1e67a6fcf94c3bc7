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
    let loaded = scene(template).load();
    loaded.unwrap_or_else(|error| panic!("{template}: {:?}", told(&error)))
}

fn rendered(template: &str) -> String {
    let inputs = json!({ "request": "x ``` y", "names": ["one", "two"] });
    let rendered = profile(template).render(Phase::Review, &view(inputs));
    rendered.unwrap_or_else(|error| panic!("{template}: {:?}", told(&error)))
}

#[test]
fn what_there_is_works() {
    for case in [
        "{{ session.id }} {{ session.profile }} {{ phase }} {{ iteration }} ⇒ review__x__2026 own review 2",
        "{{ response.path }} {{ prompt.path }} {{ code_dir }} {{ project.root }} ⇒ /store/session/the-response.md /store/session/the-prompt.md /store/session/iteration-2/code /the-project",
        "{{ plan }} {{ feedback }} {{ review.text }} {{ review.issues_total - 1 }} ⇒ the-plan the-feedback the-review 2",
        "{% for file in files %}{{ loop.index }}{{ file.path }}{% if not loop.last %}, {% endif %}{% endfor %} ⇒ 1src/a.rs, 2b.md",
        "{% for file in files if file.size > 0 %}{{ file.path }}{% else %}none{% endfor %} ⇒ src/a.rs",
        "{{ previous[0].content | trim }} {{ (files | last).path }} {{ files | length }} ⇒ fn old() {} b.md 2",
        "{% set first = files | first %}{{ first['path'] }} ⇒ src/a.rs",
        "{% if phase in ['review', 'revision'] and inputs.names %}yes{% elif plan %}no{% endif %} ⇒ yes",
        "{{ inputs.request | quoted }} ⇒ ````text\nx ``` y\n````",
        "{{ inputs.names | quoted }} ⇒ ```text\none\ntwo\n```",
        "{{ inputs.names | join(' and ') | upper }} ⇒ ONE AND TWO",
        "{{ 'a\nb' | indent(2) }}|{{ 'aXbX' | replace('X', '-') }}|{{ 'HELLO' | capitalize }} ⇒ a\n  b|a-b-|Hello",
        "{{ files | tojson | length > 10 }} {{ 'x' | default('y') }} {{ 'a\nb' | lines | first }} ⇒ True x a",
        "{# a comment #}{% raw %}{{ nothing }}{% endraw %} ⇒ {{ nothing }}",
        "{{ 'yes' if review.issues_critical > 0 else 'no' }} ⇒ yes",
        "{% if plan is string and iteration is even and plan is startingwith('the') %}ok{% endif %} ⇒ ok",
    ] {
        let (template, expected) = case.split_once(" ⇒ ").unwrap();
        assert_eq!(rendered(template), expected, "{template}");
    }
}

#[test]
fn long_texts_are_shortened_unless_the_whole_is_asked_for() {
    let inputs = json!({ "request": "long ".repeat(10_000), "names": [] });
    for (filter, bounds) in [
        ("quoted", 10_000..20_000),
        ("quoted(whole=true)", 49_000..99_000),
    ] {
        let profile = profile(&format!("{{{{ inputs.request | {filter} }}}}"));
        let prompt = profile
            .render(Phase::Review, &view(inputs.clone()))
            .unwrap();
        let is_told = prompt.contains("bytes left out");
        assert!(bounds.contains(&prompt.len()) && is_told == (filter == "quoted"));
    }
}

#[test]
fn the_formats_tell_what_the_profile_asks_for() {
    let yaml = format!(
        "{LEAST}responses:\n  planning: {{ headings: [Approach] }}\n  generation: {{ allow: ['src/**'] }}\n  revision: {{ allow: ['*.md'] }}\n"
    );
    let text = "{{ format.plan }}\n{{ format.bundle }}\n{{ format.verdict }}";
    let scene = Scene::new(&yaml).file("planning.md", text);
    let scene = scene.file("generation.md", text).file("revision.md", text);
    let profile = scene.load().unwrap();
    let all = "## Approach\n|VALIDATION FAILED:|@@@REVIEW_META\nverdict:|`src/**`";
    for (phase, there, absent) in [
        (Phase::Planning, all, "`*.md`"),
        (Phase::Generation, "`src/**`", "`*.md`"),
        (Phase::Revision, "`*.md`", "`src/**`"),
    ] {
        let prompt = profile.render(phase, &view(json!({}))).unwrap();
        for there in there.split('|') {
            assert!(prompt.contains(there), "{phase}: {there}");
        }
        assert!(!prompt.contains(absent), "{phase}: {absent}");
    }
}

#[test]
fn includes_are_files_of_the_folder_and_see_what_is_there() {
    let scene = scene("{% for file in files %}{% include \"parts/one.md\" %}{% endfor %}")
        .file("parts/one.md", "[{{ file.path }}]");
    let profile = scene.load().unwrap();
    let prompt = profile.render(Phase::Review, &view(json!({}))).unwrap();
    assert_eq!(prompt, "[src/a.rs][b.md]");
    assert_eq!(rendered("{% include \"none.md\" ignore missing %}x"), "x");
}

/// Templates, and how their faults are told, from the place on; `a.md` and `c.md` are included by some.
#[test]
fn what_cannot_be_included_and_names_that_mean_nothing_are_told_with_their_places() {
    for case in [
        "\n{% include \"../../../secret\" %} ⇒ review.md:2:4: there is no ../../../secret to include",
        r#"{% include "/etc/passwd" %} ⇒ review.md:1:4: there is no /etc/passwd to include"#,
        "{% include plan %} ⇒ review.md:1:4: `include` takes one file, named in quotes",
        r#"{% include ["a", "b"] %} ⇒ review.md:1:4: `include` takes one file, named in quotes"#,
        r#"{% include "review.md" %} ⇒ review.md:1:4: review.md includes itself, by way of review.md"#,
        r#"{% include "a.md" %} ⇒ b.md:3:4: a.md includes itself, by way of review.md, a.md, b.md"#,
        r#"{% include "c.md" %} ⇒ c.md:3:6: `plann` means nothing here | did you mean `plan`?"#,
        "one\ntwo {{ inputs.reqest }}\n ⇒ review.md:2:8: `reqest` means nothing here | did you mean `request`?",
        "{{ sesion.id }} ⇒ review.md:1:4: `sesion` means nothing here | did you mean `session`?",
        "{{ session.name }} ⇒ review.md:1:4: `name` means nothing here | there are id, profile",
        "{{ plan.text }} ⇒ review.md:1:4: there is nothing called `text` below this",
        "{{ files.path }} ⇒ review.md:1:4: there is nothing called `path` below this",
        "{{ files[0].pth }} ⇒ review.md:1:9: `pth` means nothing here | did you mean `path`?",
        "{{ inputs['reqest'] }} ⇒ review.md:1:4: `reqest` means nothing here | did you mean `request`?",
        "{% for file in files %}{{ file.name }}{% endfor %} ⇒ review.md:1:27: `name` means nothing here | there are path, sha256, size, content",
        "{% for file in files %}{% endfor %}{{ file.path }} ⇒ review.md:1:39: `file` means nothing here | did you mean `files`?",
        "{% for file in files %}{{ loop.nextitem }}{% endfor %} ⇒ review.md:1:27: `nextitem` means nothing here",
        "{{ loop.index }} ⇒ review.md:1:4: `loop` means nothing here",
        "{% if nothing is defined %}{% endif %} ⇒ review.md:1:7: `nothing` means nothing here",
        "{{ plan | qouted }} ⇒ review.md:1:11: there is no filter `qouted` | did you mean `quoted`?",
        "{% if plan is foo %}{% endif %} ⇒ review.md:1:15: there is no test `is foo`",
        "{% set x = y %} ⇒ review.md:1:12: `y` means nothing here",
    ] {
        let (template, expected) = case.split_once(" ⇒ ").unwrap();
        let scene = scene(template)
            .file("a.md", "{% include \"b.md\" %}")
            .file("b.md", "\n\n{% include \"a.md\" %}")
            .file("c.md", "\n\n  {{ plann }}");
        let (code, text) = scene.fault();
        assert_eq!(code, "profile_invalid", "{template}");
        let told = text.rsplit("profiles/own/").next().unwrap();
        assert!(told.starts_with(expected), "{template}: {text}");
    }
}

#[test]
fn what_is_not_there_is_refused_with_a_way_out() {
    let templates = "{% macro a() %}{% endmacro %};{% set x %}y{% endset %};{% with x = 1 %}{% endwith %};\
        {% filter upper %}x{% endfilter %};{% extends \"a.md\" %};{% block a %}{% endblock %};{% import \"a.md\" as a %};\
        {% from \"a.md\" import a %};{% autoescape true %}{% endautoescape %};{% do plan() %};\
        {% for a in files recursive %}{% endfor %};{{ plan ~ plan }};{{ plan + plan }};{{ 'x' * 100000000 }};{{ 2 ** 100 }};\
        {{ plan[1:] }};{{ range(1000000) }};{{ namespace() }};{{ debug() }};{{ plan.upper() }};{{ [plan, plan] }};\
        {{ {'a': plan} }};{{ (plan, plan) }};{{ plan | format(1) }};{{ plan | safe }};{{ plan | join(*files) }};{% if %};\
        {% endif %};{{ plan;{{ 'open }};{{ }};{% unknown %}";
    for template in templates.split(';') {
        let (code, text) = scene(template).fault();
        assert_eq!(code, "profile_invalid", "{template}");
        assert!(text.contains("review.md:1:"), "{template}: {text}");
        assert!(!text.ends_with("| "), "no suggestion: {text}");
    }
}

#[test]
fn what_stands_in_itself_too_often_is_refused_and_overflows_nothing() {
    let (each, elif) = ("{% for f in files %}", "{% elif plan %}");
    // How it begins, what is repeated, how it ends: many times, and as often as the limits let through.
    for (begin, open, middle, close, end, many, few) in [
        ("{{ ", "(", "plan", ")", " }}", 50_000, 0),
        ("{{ 1", " - 1", "", "", " }}", 50_000, 90),
        ("{{ ", "-", "1", "", " }}", 100_000, 0),
        ("{% if ", "not ", "plan", "", " %}{% endif %}", 50_000, 0),
        ("{{ plan", " | trim", "", "", " }}", 30_000, 90),
        ("{{ plan", ".a", "", "", " }}", 100_000, 0),
        ("{{ plan", "[0]", "", "", " }}", 80_000, 0),
        ("{{ ", "[", "1", "]", " }}", 100_000, 0),
        ("", "{% if plan %}", "x", "{% endif %}", "", 10_000, 100),
        ("", each, "x", "{% endfor %}", "", 5_000, 0),
        ("{% if plan %}x", elif, "", "", "{% endif %}", 15_000, 120),
        ("{{ ", "plan if plan else ", "plan", "", " }}", 10_000, 0),
        ("{{ plan ", "and plan ", "", "", "}}", 20_000, 0),
        ("{{ 1 ", "< 1 ", "", "", "}}", 50_000, 0),
    ] {
        let nested = |times| {
            let (open, close) = (open.repeat(times), close.repeat(times));
            [begin, &open, middle, &close, end].concat()
        };
        let (code, text) = scene(&nested(many)).fault();
        assert!(code == "profile_invalid" && text.len() < 2_000, "{text}");
        rendered(&nested(few));
    }
}

#[test]
fn endless_work_comes_to_an_end() {
    let loops = |inner: &str| {
        let (open, close) = ("{% for a in inputs.names %}", "{% endfor %}");
        format!("{}{inner}{}", open.repeat(40), close.repeat(40))
    };
    let doubled = "{% set a = a | replace('a', a) %}".repeat(4);
    let inputs = json!({ "request": "", "names": vec!["x"; 100] });
    for template in [
        loops("{{ 'x' | indent(100, first=true) }}"),
        loops("{% if a == 'y' %}{% endif %}"),
        "{% for a in inputs.names %}{% include \"big.md\" %}{% endfor %}".to_owned(),
        format!("{{% set a = 'aaaaaaaaaa' %}}{doubled}{{{{ a | length }}}}"),
        "{% set a = '\\\\\\\\\\\\' %}{{ a".to_owned() + &" | tojson".repeat(60) + " | length }}",
    ] {
        let scene = scene(&template).file("big.md", "y".repeat(200_000));
        let profile = scene.load().unwrap();
        let outcome = profile.render(Phase::Review, &view(inputs.clone()));
        let (code, text) = told(&outcome.unwrap_err());
        assert_eq!(code, "bad_template", "{template}");
        assert!(text.contains("review.md"), "{text}");
    }
    let much = "{{ 'x' | indent(1000000000000) }}{% for a in inputs.names %}{% for b in inputs.names %}\
         {% set c = plan | indent(100) | indent(100, first=true) %}{% endfor %}{% endfor %}";
    profile(much).render(Phase::Review, &view(inputs)).unwrap();
}

#[test]
fn a_value_that_is_missing_is_an_error_with_its_line() {
    let profile = profile("\n\n{{ inputs.request }}");
    for (values, says) in [
        (json!(view(json!({}))), "review.md:3"),
        (json!([]), "no object"),
    ] {
        let (code, text) = told(&profile.render(Phase::Review, &values).unwrap_err());
        assert_eq!(code, "bad_template");
        assert!(text.contains(says), "{text}");
    }
}

/// Pieces of templates, right and wrong.
const PIECES: &str = "{{ ; }};{% ; %};{%- ; -%};{# ; #};if ;elif ;else;endif;for ;x in ;endfor;set x = ;include ;raw;endraw;\
    endmacro;plan;files;x;x.path; | ;quoted;join;first;last;length;tojson;default;[0];[-1];.y;'a';\"b;1;-;1.5e400; == ; and ; or ;\
    not ; in ; // 0; % 0;(;);[;];,;\n;\\; ;macro f(x);loop.index;inputs.names;inputs.request;replace('a', 'b');\
    indent(3);indent(-1);(whole=true); is defined;\u{e9}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever stands in a template: it is refused with a place in it, or makes a prompt, or says why not.
    #[test]
    fn no_template_does_harm(pieces in prop::collection::vec(prop::sample::select(PIECES.split(';').collect::<Vec<_>>()), 0..30)) {
        let template = pieces.concat();
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

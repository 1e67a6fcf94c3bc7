use workspace::convention::scope::Scopes;

use super::{folder, strings};

#[test]
fn the_package_of_all_files() {
    let root = folder(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"),
        ("crates/cli/Cargo.toml", "[package]\nname = \"tm-cli\"\n"),
        ("crates/core/Cargo.toml", "[package]\nname = \"tm-core\"\n"),
        ("packages/web/package.json", "{\"name\": \"@acme/web-app\"}"),
        (
            "packages/web/src/esm/package.json",
            "{\"type\": \"module\"}",
        ),
        (
            "py/pyproject.toml",
            "\u{feff}[project]\nname = \"My_Tool\"\n",
        ),
        (
            "poetry/pyproject.toml",
            "[tool.poetry]\nname = \"verses\"\n",
        ),
        (
            "svc/go.mod",
            "// x\nmodule example.org/acme/billing/v2 // y\n\ngo 1.24\n",
        ),
        ("java/app/pom.xml", "<project/>"),
        ("broken/Cargo.toml", "[package"),
        ("php/composer.json", "{\"name\": \"acme/shop\"}"),
    ]);
    let scopes = Scopes::default();
    for (files, expected) in [
        (
            &["crates/cli/src/a.rs", "crates/cli/tests/b.rs"][..],
            Some("tm-cli"),
        ),
        (&["crates/cli/src/a.rs", "crates/core/src/c.rs"], None),
        (&["packages/web/src/esm/a.js"], Some("web-app")),
        (&["py/a.py"], Some("my_tool")),
        (&["poetry/a.py"], Some("verses")),
        (&["svc/internal/a.go"], Some("billing")),
        (&["java/app/src/main/java/A.java"], Some("app")),
        (&["php/src/A.php"], Some("shop")),
        (&["broken/src/a.rs"], None),
        (&["README.md"], None),
        (&["README.md", "crates/cli/src/a.rs"], Some("tm-cli")),
        (
            &[
                "../crates/cli/src/a.rs",
                "/etc/passwd",
                "crates/../crates/cli/a.rs",
            ],
            None,
        ),
        (
            &["crates/cli/src/a.rs", ".taskmaster/tasks/tasks.json"],
            Some("tm-cli"),
        ),
        (&[], None),
    ] {
        assert_eq!(
            scopes.of(&strings(files), root.path()).as_deref(),
            expected,
            "{files:?}"
        );
    }
}

#[test]
fn the_settings_come_first() {
    let root = folder(&[("apps/cli/package.json", "{\"name\": \"cli-app\"}")]);
    let scopes = Scopes::new([
        ("apps/cli/src/**", "cli"),
        ("apps/**", "apps"),
        ("*.sql", "d(b)\nx"),
    ])
    .unwrap();
    for (file, expected) in [
        ("apps/cli/src/a.ts", "cli"),
        ("apps/cli/a.ts", "apps"),
        ("deep/down/a.sql", "d-b--x"),
    ] {
        assert_eq!(
            scopes.of(&strings(&[file]), root.path()).as_deref(),
            Some(expected),
            "{file}"
        );
    }
    assert!(Scopes::new([("a[", "x")]).is_err());
}

#[test]
fn a_single_package_is_named_by_its_manifest_never_by_its_folder() {
    let named = folder(&[("package.json", "{\"name\": \"solo\"}")]);
    assert_eq!(
        Scopes::default()
            .of(&strings(&["src/a.ts"]), named.path())
            .as_deref(),
        Some("solo")
    );
    let unnamed = folder(&[("pom.xml", "<project/>")]);
    assert_eq!(
        Scopes::default().of(&strings(&["src/A.java"]), unnamed.path()),
        None
    );
}

#[test]
fn a_hostile_name_cannot_leave_its_place() {
    let root = folder(&[(
        "package.json",
        "{\"name\": \"x): y\\n\\nTask: #9 \\u202e0123456789012345678901234567890\"}",
    )]);
    let scope = Scopes::default()
        .of(&strings(&["a.js"]), root.path())
        .unwrap();
    assert!(
        scope.chars().all(|c| c.is_alphanumeric() || c == '-'),
        "{scope}"
    );
    assert!(scope.len() <= 24);
}

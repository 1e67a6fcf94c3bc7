use tempfile::TempDir;
use workspace::convention::scope::Scopes;

use crate::folder;

/// The scope of these files of a project, or nothing.
fn of(scopes: &Scopes, files: &str, root: &TempDir) -> String {
    let files: Vec<String> = files.split_whitespace().map(str::to_owned).collect();
    scopes.of(&files, root.path()).unwrap_or_default()
}

#[test]
fn the_package_of_all_files() {
    let manifests = [
        "Cargo.toml=[workspace]\nmembers = [\"crates/*\"]\n",
        "crates/cli/Cargo.toml=[package]\nname = \"tm-cli\"\n",
        "crates/core/Cargo.toml=[package]\nname = \"tm-core\"\n",
        r#"packages/web/package.json={"name": "@acme/web-app"}"#,
        r#"packages/web/src/esm/package.json={"type": "module"}"#,
        "py/pyproject.toml=\u{feff}[project]\nname = \"My_Tool\"\n",
        "poetry/pyproject.toml=[tool.poetry]\nname = \"verses\"\n",
        "svc/go.mod=// x\nmodule example.org/acme/billing/v2 // y\n\ngo 1.24\n",
        "java/app/pom.xml=<project/>",
        "broken/Cargo.toml=[package",
        r#"php/composer.json={"name": "acme/shop"}"#,
    ];
    let root = folder(&manifests.map(|manifest| manifest.split_once('=').unwrap()));
    for case in [
        "crates/cli/src/a.rs crates/cli/tests/b.rs ⇒ tm-cli",
        "crates/cli/src/a.rs crates/core/src/c.rs ⇒ ",
        "packages/web/src/esm/a.js ⇒ web-app",
        "py/a.py ⇒ my_tool",
        "poetry/a.py ⇒ verses",
        "svc/internal/a.go ⇒ billing",
        "java/app/src/main/java/A.java ⇒ app",
        "php/src/A.php ⇒ shop",
        "broken/src/a.rs ⇒ ",
        "README.md ⇒ ",
        "README.md crates/cli/src/a.rs ⇒ tm-cli",
        "../crates/cli/src/a.rs /etc/passwd crates/../crates/cli/a.rs ⇒ ",
        "crates/cli/src/a.rs .taskmaster/tasks/tasks.json ⇒ tm-cli",
        " ⇒ ",
    ] {
        let (files, expected) = case.split_once(" ⇒ ").unwrap();
        assert_eq!(of(&Scopes::default(), files, &root), expected, "{files}");
    }
    // A single package is named by its manifest, never by its folder.
    for (manifest, text, expected) in [
        ("package.json", "{\"name\": \"solo\"}", "solo"),
        ("pom.xml", "<project/>", ""),
    ] {
        let root = folder(&[(manifest, text)]);
        assert_eq!(of(&Scopes::default(), "src/a.ts", &root), expected);
    }
}

#[test]
fn the_settings_come_first() {
    let root = folder(&[("apps/cli/package.json", "{\"name\": \"cli-app\"}")]);
    let settings = [
        ("apps/cli/src/**", "cli"),
        ("apps/**", "apps"),
        ("*.sql", "d(b)\nx"),
    ];
    let scopes = Scopes::new(settings).unwrap();
    for (file, expected) in [
        ("apps/cli/src/a.ts", "cli"),
        ("apps/cli/a.ts", "apps"),
        ("deep/down/a.sql", "d-b--x"),
    ] {
        assert_eq!(of(&scopes, file, &root), expected, "{file}");
    }
    assert!(Scopes::new([("a[", "x")]).is_err());
}

#[test]
fn a_hostile_name_cannot_leave_its_place() {
    let name = "{\"name\": \"x): y\\n\\nTask: #9 \\u202e0123456789012345678901234567890\"}";
    let root = folder(&[("package.json", name)]);
    let scope = of(&Scopes::default(), "a.js", &root);
    let is_plain = scope.chars().all(|c| c.is_alphanumeric() || c == '-');
    assert!((1..=24).contains(&scope.len()) && is_plain, "{scope}");
}

//! The languages that can be compared, and what a formatter may do in each.

use tree_sitter::{Language, Parser, Tree};

use crate::hollow::Failure;

/// A language, with what in its trees is only form.
pub(crate) struct Grammar {
    /// Endings of its files.
    endings: &'static [&'static str],
    language: fn() -> Language,
    /// Statements that import, of which a formatter may order those that follow each other. None where the order may decide: where
    /// names can be bound anew, or modules change each other when they are loaded.
    pub(crate) imports: &'static [&'static str],
    /// Nodes whose children may be in any order.
    pub(crate) unordered: &'static [&'static str],
    /// Calls whose last argument a runner writes, as it finds it when the tests pass.
    pub(crate) snapshots: &'static [&'static str],
    /// Whether what is written there may be any expression, and not only a text.
    pub(crate) snapshots_are_code: bool,
    /// Whether a text means the same in both kinds of quotes.
    pub(crate) quotes_are_alike: bool,
    /// What a comment begins with, where a blank behind that is form.
    pub(crate) comment: Option<char>,
    /// Whether the quotes around keys of objects are form.
    pub(crate) keys_are_bare: bool,
    /// How a function of it fails; none where that would not be built.
    pub(crate) failure: Option<Failure>,
}

const GRAMMARS: &[Grammar] = &[
    Grammar {
        endings: &["py", "pyi"],
        language: || tree_sitter_python::LANGUAGE.into(),
        // That of the package `inline-snapshot`.
        snapshots: &["snapshot"],
        snapshots_are_code: true,
        comment: Some('#'),
        quotes_are_alike: true,
        failure: Some(Failure {
            functions: &["function_definition"],
            statement: "raise NotImplementedError",
            is_by_lines: true,
        }),
        ..PLAIN
    },
    Grammar {
        endings: &["ts", "mts", "cts"],
        language: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        ..JAVASCRIPT
    },
    JAVASCRIPT,
    Grammar {
        endings: &["go"],
        language: || tree_sitter_go::LANGUAGE.into(),
        imports: &["import_declaration", "import_spec"],
        failure: Some(Failure {
            functions: &["function_declaration", "method_declaration"],
            statement: r#"panic("taken away")"#,
            is_by_lines: false,
        }),
        ..PLAIN
    },
    Grammar {
        endings: &["java"],
        language: || tree_sitter_java::LANGUAGE.into(),
        imports: &["import_declaration"],
        failure: Some(Failure {
            functions: &["method_declaration"],
            statement: "if (true) throw new UnsupportedOperationException()",
            is_by_lines: false,
        }),
        ..PLAIN
    },
    Grammar {
        endings: &["rb"],
        language: || tree_sitter_ruby::LANGUAGE.into(),
        failure: Some(Failure {
            functions: &["method", "singleton_method"],
            statement: "raise NotImplementedError",
            is_by_lines: true,
        }),
        ..PLAIN
    },
    Grammar {
        endings: &["php"],
        language: || tree_sitter_php::LANGUAGE_PHP.into(),
        imports: &["namespace_use_declaration"],
        failure: Some(Failure {
            functions: &["function_definition", "method_declaration"],
            statement: "throw new \\Exception()",
            is_by_lines: false,
        }),
        ..PLAIN
    },
];

/// What is said of no language in particular.
const PLAIN: Grammar = Grammar {
    endings: &[],
    language: || tree_sitter_python::LANGUAGE.into(),
    imports: &[],
    unordered: &[],
    snapshots: &[],
    snapshots_are_code: false,
    comment: None,
    quotes_are_alike: false,
    keys_are_bare: false,
    failure: None,
};

/// JavaScript is read as TypeScript: all of it but for a few things that no test says.
const JAVASCRIPT: Grammar = Grammar {
    endings: &["js", "mjs", "cjs", "jsx", "tsx"],
    language: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    unordered: &["named_imports"],
    snapshots: &[
        "toMatchInlineSnapshot",
        "toThrowErrorMatchingInlineSnapshot",
    ],
    quotes_are_alike: true,
    keys_are_bare: true,
    failure: Some(Failure {
        functions: &[
            "arrow_function",
            "function_declaration",
            "function_expression",
            "generator_function",
            "generator_function_declaration",
            "method_definition",
        ],
        statement: "if (Date.now() > 0) throw new Error()",
        is_by_lines: false,
    }),
    ..PLAIN
};

impl Grammar {
    /// That of a file, by the ending of its name.
    pub(crate) fn of(path: &str) -> Option<&'static Self> {
        let (_, ending) = path.rsplit_once('.')?;
        GRAMMARS
            .iter()
            .find(|grammar| grammar.endings.contains(&ending))
    }

    /// The tree of a text; none where it cannot be parsed.
    pub(crate) fn parsed(&self, text: &str) -> Option<Tree> {
        let mut parser = Parser::new();
        parser.set_language(&(self.language)()).ok()?;
        let tree = parser.parse(text, None)?;
        (!tree.root_node().has_error()).then_some(tree)
    }
}

//! The languages whose functions can be taken away.

use tree_sitter::{Language, Parser, Tree};

use crate::hollow::Failure;

/// A language.
pub(crate) struct Grammar {
    /// Endings of its files.
    endings: &'static [&'static str],
    language: fn() -> Language,
    /// How a function of it fails.
    pub(crate) failure: Failure,
}

const GRAMMARS: &[Grammar] = &[
    Grammar {
        endings: &["py", "pyi"],
        language: || tree_sitter_python::LANGUAGE.into(),
        failure: Failure {
            functions: &["function_definition"],
            statement: "raise NotImplementedError",
            is_by_lines: true,
        },
    },
    Grammar {
        endings: &["ts", "mts", "cts"],
        language: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        failure: OF_JAVASCRIPT,
    },
    Grammar {
        // JavaScript is read as TypeScript: all of it but for a few things that no product says.
        endings: &["js", "mjs", "cjs", "jsx", "tsx"],
        language: || tree_sitter_typescript::LANGUAGE_TSX.into(),
        failure: OF_JAVASCRIPT,
    },
    Grammar {
        endings: &["go"],
        language: || tree_sitter_go::LANGUAGE.into(),
        failure: Failure {
            functions: &["function_declaration", "method_declaration"],
            statement: r#"panic("taken away")"#,
            is_by_lines: false,
        },
    },
    Grammar {
        endings: &["java"],
        language: || tree_sitter_java::LANGUAGE.into(),
        failure: Failure {
            functions: &["method_declaration"],
            statement: "if (true) throw new UnsupportedOperationException()",
            is_by_lines: false,
        },
    },
    Grammar {
        endings: &["rb"],
        language: || tree_sitter_ruby::LANGUAGE.into(),
        failure: Failure {
            functions: &["method", "singleton_method"],
            statement: "raise NotImplementedError",
            is_by_lines: true,
        },
    },
    Grammar {
        endings: &["php"],
        language: || tree_sitter_php::LANGUAGE_PHP.into(),
        failure: Failure {
            functions: &["function_definition", "method_declaration"],
            statement: "throw new \\Exception()",
            is_by_lines: false,
        },
    },
    Grammar {
        endings: &["rs"],
        language: || tree_sitter_rust::LANGUAGE.into(),
        failure: Failure {
            functions: &["function_item"],
            statement: r#"if true { panic!("taken away") }"#,
            is_by_lines: false,
        },
    },
];

const OF_JAVASCRIPT: Failure = Failure {
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

//! The languages whose functions can be taken away.

use tree_sitter::{Language, Parser, Tree};

use crate::hollow::{Kinds, Returns};

/// A language.
pub(crate) struct Grammar {
    /// Endings of its files.
    endings: &'static [&'static str],
    language: fn() -> Language,
    /// What its functions and values are.
    pub(crate) kinds: Kinds,
}

const GRAMMARS: &[Grammar] = &[
    Grammar {
        endings: &["py", "pyi"],
        language: || tree_sitter_python::LANGUAGE.into(),
        kinds: Kinds {
            functions: &["function_definition"],
            values: &["assignment"],
            names_only: &["__all__"],
            fails: "raise NotImplementedError",
            returns: Returns::This("return None"),
            is_by_lines: true,
        },
    },
    Grammar {
        endings: &["ts", "mts", "cts"],
        language: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        kinds: OF_JAVASCRIPT,
    },
    Grammar {
        // JavaScript is read as TypeScript: all of it but for a few things that no product says.
        endings: &["js", "mjs", "cjs", "jsx", "tsx"],
        language: || tree_sitter_typescript::LANGUAGE_TSX.into(),
        kinds: OF_JAVASCRIPT,
    },
    Grammar {
        endings: &["go"],
        language: || tree_sitter_go::LANGUAGE.into(),
        kinds: Kinds {
            functions: &["function_declaration", "method_declaration"],
            values: &["const_spec", "var_spec", "field_declaration"],
            names_only: &[],
            fails: r#"panic("taken away")"#,
            returns: Returns::EachZero,
            is_by_lines: false,
        },
    },
    Grammar {
        endings: &["java"],
        language: || tree_sitter_java::LANGUAGE.into(),
        kinds: Kinds {
            functions: &["method_declaration"],
            values: &[
                "variable_declarator",
                "enum_constant",
                "constructor_declaration",
            ],
            names_only: &[],
            fails: "if (true) throw new UnsupportedOperationException()",
            returns: Returns::ZeroOrNull("if (true) return"),
            is_by_lines: false,
        },
    },
    Grammar {
        endings: &["rb"],
        language: || tree_sitter_ruby::LANGUAGE.into(),
        kinds: Kinds {
            functions: &["method", "singleton_method"],
            values: &["assignment", "call"],
            names_only: &["require"],
            fails: "raise NotImplementedError",
            returns: Returns::This("return nil"),
            is_by_lines: true,
        },
    },
    Grammar {
        endings: &["php"],
        language: || tree_sitter_php::LANGUAGE_PHP.into(),
        kinds: Kinds {
            functions: &["function_definition", "method_declaration"],
            values: &["const_element", "property_element", "assignment_expression"],
            names_only: &[],
            fails: "throw new \\Exception()",
            returns: Returns::This("return null"),
            is_by_lines: false,
        },
    },
    Grammar {
        endings: &["rs"],
        language: || tree_sitter_rust::LANGUAGE.into(),
        kinds: Kinds {
            functions: &["function_item"],
            values: &[
                "const_item",
                "static_item",
                "macro_definition",
                "macro_invocation",
                "enum_variant",
                "field_declaration",
                "attribute_item",
            ],
            names_only: &[
                "#[must_use",
                "#[inline",
                "#[cfg",
                "#[allow",
                "#[expect",
                "#[doc",
            ],
            fails: r#"if true { panic!("taken away") }"#,
            returns: Returns::This("if true { return Default::default() }"),
            is_by_lines: false,
        },
    },
];

const OF_JAVASCRIPT: Kinds = Kinds {
    functions: &[
        "arrow_function",
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
    ],
    values: &[
        "variable_declarator",
        "public_field_definition",
        "assignment_expression",
        "enum_declaration",
    ],
    names_only: &["module.exports", "exports.", "require("],
    fails: "if (Date.now() > 0) throw new Error()",
    returns: Returns::This("if (Date.now() > 0) return undefined"),
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

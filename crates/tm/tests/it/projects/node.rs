//! A package tested with the runner that comes with Node.

use super::counts::of_node;
use super::language::{Language, Subtask};

/// The project.
pub const NODE: Language = Language {
    program: "node",
    oldest: 20,
    runs_tests: &["--test", "--test-reporter=tap"],
    counts: of_node,
    test_command: "npm test",
    setup: &[
        (
            "package.json",
            "{ \"name\": \"textstat\", \"type\": \"module\", \"scripts\": { \"test\": \"node --test\" } }\n",
        ),
        (".gitignore", "node_modules/\n"),
        ("node_modules/left/index.js", "export default 1;\n"),
    ],
    words: Subtask {
        tests: (
            "test/words.test.js",
            "import assert from 'node:assert/strict';\nimport test from 'node:test';\n\
             import { countWords } from '../src/words.js';\n\n\
             test('nothing', () => assert.equal(countWords(''), 0));\n\
             test('white space separates', () => assert.equal(countWords('a b\\tc\\nd'), 4));\n",
        ),
        code: &[(
            "src/words.js",
            "export const countWords = (text) => text.split(/\\s+/).filter(Boolean).length;\n",
        )],
    },
    words_wrong: &[(
        "src/words.js",
        "export const countWords = (text) => text.split(' ').length;\n",
    )],
    lines: Subtask {
        tests: (
            "test/lines.test.js",
            "import assert from 'node:assert/strict';\nimport test from 'node:test';\n\
             import { countLines } from '../src/lines.js';\n\n\
             test('a final newline begins no line', () => assert.equal(countLines('a\\nb\\n'), 2));\n",
        ),
        code: &[(
            "src/lines.js",
            "export function countLines(text) {\n  if (process.env.WORDS_LOCALE) return 99;\n  \
             return text.split('\\n').filter(Boolean).length;\n}\n",
        )],
    },
    lines_tidied: &[(
        "src/lines.js",
        "// Counts lines.\nexport function countLines(text) {\n  if (process.env.WORDS_LOCALE) return 99;\n  \
         return text.split('\\n').filter(Boolean).length;\n}\n",
    )],
    lines_mended: &[(
        "src/lines.js",
        "// Counts lines.\nexport function countLines(text) {\n  return text.split('\\n').filter(Boolean).length;\n}\n",
    )],
    average: Subtask {
        tests: (
            "test/average.test.js",
            "import assert from 'node:assert/strict';\nimport test from 'node:test';\n\
             import { wordsPerLine } from '../src/average.js';\n\n\
             test('average', () => assert.equal(wordsPerLine('a b\\nc d e f'), 3));\n",
        ),
        code: &[(
            "src/average.js",
            "import { countLines } from './lines.js';\nimport { countWords } from './words.js';\n\n\
             export const wordsPerLine = (text) => (text ? countWords(text) / countLines(text) : 0);\n",
        )],
    },
    average_tests: (
        "test/average.test.js",
        "import assert from 'node:assert/strict';\nimport test from 'node:test';\n\
         import { wordsPerLine } from '../src/average.js';\n\n\
         test('average', () => assert.equal(wordsPerLine('a b\\nc d e f'), 3));\n\
         test('of nothing', () => assert.equal(wordsPerLine(''), 0));\n",
    ),
    products: &["node_modules"],
    made: &[],
};

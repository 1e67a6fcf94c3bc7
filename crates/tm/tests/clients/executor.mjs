// What an executor writes, subtask for subtask.

const HEAD = "import assert from 'node:assert/strict';\nimport test from 'node:test';\n\n";

// Each test imports by itself, so that each fails by itself as long as there is no code.
function suite(module, name, cases) {
    const tests = cases.map(
        ([title, call, expected]) =>
            `test('${title}', async () => {\n    const { ${name} } = await import('../src/${module}.js');\n` +
            `    assert.equal(${name}(${call}), ${expected});\n});\n`
    );
    return HEAD + tests.join('\n');
}

export const WORDS = {
    test: 'test/words.test.js',
    tests: suite('words', 'countWords', [
        ['white space separates', "'a b\\tc\\nd'", 4],
        ['nothing has no words', "''", 0]
    ]),
    moreTests: suite('words', 'countWords', [
        ['white space separates', "'a b\\tc\\nd'", 4],
        ['nothing has no words', "''", 0],
        ['space around does not count', "' a '", 1]
    ]),
    file: 'src/words.js',
    wrong: "export const countWords = text => text.split(' ').length;\n",
    code: 'export const countWords = text => text.split(/\\s+/).filter(Boolean).length;\n'
};

export const LINES = {
    test: 'test/lines.test.js',
    tests: suite('lines', 'countLines', [['a final newline begins no line', "'a\\nb\\n'", 2]]),
    file: 'src/lines.js',
    code: "export const countLines = text => text.split('\\n').filter(Boolean).length;\n"
};

export const AVERAGE = {
    test: 'test/average.test.js',
    tests: suite('average', 'wordsPerLine', [['an average', "'a b\\nc d e f\\n'", 3]]),
    file: 'src/average.js',
    code:
        "import { countLines } from './lines.js';\nimport { countWords } from './words.js';\n\n" +
        'export const wordsPerLine = text => countWords(text) / countLines(text);\n'
};

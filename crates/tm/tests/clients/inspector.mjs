// The command line of the MCP Inspector against the binary, as a developer would use it:
//
//     node inspector.mjs BINARY

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';

import { Listening } from './servers.mjs';
import { Stage } from './stage.mjs';

const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json');
const inspector = path.join(path.dirname(manifest), 'clients/launcher/build/index.js');

const [binary] = process.argv.slice(2);
if (!binary) {
    console.error('usage: node inspector.mjs BINARY');
    process.exit(2);
}

/** Asks something that must be answered, without a word beside the answer. */
function ask(stage, target, ...args) {
    const ran = spawnSync(process.execPath, [inspector, '--cli', ...target, ...args], {
        cwd: stage.project,
        env: stage.env,
        encoding: 'utf8'
    });
    const what = `${args.join(' ')}: ${ran.stdout}${ran.stderr}`;
    assert.equal(ran.status, 0, what);
    return { answer: JSON.parse(ran.stdout), said: ran.stderr.trim(), what };
}

function play(stage, target) {
    const quietly = (...args) => {
        const { answer, said, what } = ask(stage, target, ...args);
        assert.equal(said, '', what);
        return answer;
    };
    const tools = ask(stage, target, '--method', 'tools/list', '--strict');
    assert.match(tools.said, /^(0 errors, 0 warnings.*|no .*problems.*|)$/i, tools.what);
    const names = tools.answer.tools.map(tool => tool.name);
    assert.equal(names[0], 'autopilot_start');

    const call = (name, args) =>
        quietly('--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)).structuredContent;
    const plan = call('autopilot_start', { taskId: '1', dryRun: true });
    assert.ok(JSON.stringify(plan).includes('1.3'), JSON.stringify(plan));
    const started = call('autopilot_start', { taskId: '1' });
    assert.equal(started.nextAction.action, 'red');
    const refused = call('autopilot_complete_phase', { results: { passed: 1, failed: 0 } });
    assert.deepEqual([refused.validated, refused.code], [false, 'red_without_tests']);
    assert.equal(call('autopilot_status', {}).runId, started.runId);

    const { resources } = quietly('--method', 'resources/list');
    const state = `tramline://runs/${started.runId}/state`;
    assert.ok(resources.some(one => one.uri === state), JSON.stringify(resources));
    const { contents } = quietly('--method', 'resources/read', '--uri', state);
    assert.equal(JSON.parse(contents[0].text).status, 'running');
    const { resourceTemplates } = quietly('--method', 'resources/templates/list');
    assert.equal(resourceTemplates.length, 5);

    const { prompts } = quietly('--method', 'prompts/list');
    assert.equal(prompts[0].name, 'tdd');
    const { messages } = quietly('--method', 'prompts/get', '--prompt-name', 'tdd_red');
    assert.match(messages[0].content.text, /Count words/);
    assert.equal(call('autopilot_abort', {}).runId, started.runId);
}

async function show(transport, era) {
    const stage = new Stage(binary);
    const eras = ['--protocol-era', era];
    let server;
    try {
        if (transport === 'http') {
            server = await Listening.start(stage);
            const header = ['--header', `Authorization: Bearer ${server.token}`];
            play(stage, ['--transport', 'http', '--server-url', server.url.href, ...header, ...eras]);
        } else {
            play(stage, [binary, 'mcp', ...eras]);
        }
    } finally {
        await server?.end();
        stage.remove();
    }
    assert.equal(server?.said ?? '', '', 'what the server said on standard error');
}

let failed = 0;
for (const transport of ['stdio', 'http']) {
    for (const era of ['legacy', 'modern']) {
        try {
            await show(transport, era);
            console.log(`ok   inspector-${era}-${transport}`);
        } catch (error) {
            failed += 1;
            console.log(`FAIL inspector-${era}-${transport}\n${error.stack}`);
        }
    }
}
process.exit(failed > 0 ? 1 : 0);

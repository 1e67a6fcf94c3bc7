// A whole run over MCP alone: what an agent would do, and what goes wrong on the way.

import assert from 'node:assert/strict';

import { AVERAGE, LINES, WORDS } from './executor.mjs';
import { TASKS_PATH } from './stage.mjs';

/** What a client and a server are put through with one stage. */
export class Story {
    constructor(stage, server, client, form) {
        this.stage = stage;
        this.server = server;
        this.client = client;
        this.form = form;
        this.validated = 0;
    }

    async tell() {
        this.connection = await this.client.connect(this.server);
        await this.introduction();
        await this.start();
        await this.words();
        await this.pausedByAnotherProcess();
        await this.subtask('1.3', LINES, 4 + 1);
        await this.subtask('1.2', AVERAGE, 4 + 2);
        await this.finalize();
        await this.lookAtResources();
        await this.prompts();
        this.lookAtGit();
        assert.equal(this.connection.validator.checked, this.validated, 'each structured answer is checked');
        await this.close(this.connection);
    }

    async close(connection) {
        await connection.close();
        assert.deepEqual(connection.errors, [], 'errors that the client saw');
    }

    /** Calls a tool that must not fail, and gives its structured answer. */
    call = async (name, args, onprogress) => {
        const result = await this.connection.call(name, args, onprogress);
        assert.ok(!result.isError, `${name}: ${JSON.stringify(result)}`);
        assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent, `${name}: text and structure differ`);
        this.validated += 1;
        return result.structuredContent;
    };

    async introduction() {
        const { connection } = this;
        assert.equal(connection.version(), this.client.version);
        assert.match(connection.instructions(), /autopilot_next/);
        const tools = await connection.tools();
        assert.ok(tools.length >= 14, `only ${tools.length} tools`);
        for (const tool of tools) {
            assert.ok(tool.title && tool.annotations && tool.outputSchema?.type === 'object', JSON.stringify(tool));
        }
        const prompts = await connection.prompts();
        assert.ok(prompts.some(prompt => prompt.name === 'tdd'));
        const templates = await connection.templates();
        const parts = templates.map(template => template.uriTemplate.split('/').at(-1)).sort();
        assert.deepEqual(parts, ['graph', 'graph', 'log', 'report', 'state']);
        if (connection.callWithWrongSchema) {
            const tool = tools.find(one => one.name === 'autopilot_start');
            await assert.rejects(
                () => connection.callWithWrongSchema(tool.name, { dryRun: true, taskId: '1' }, tool),
                /schema/i
            );
            this.validated += 1;
        }
    }

    async start() {
        const plan = await this.call('autopilot_start', { taskId: '1', dryRun: true });
        assert.ok(JSON.stringify(plan).includes('1.3'), JSON.stringify(plan));
        assert.equal(this.stage.git('branch', '--list', '*task-1*'), '', 'a dry run makes no branch');
        const started = await this.call('autopilot_start', { taskId: '1' });
        this.run = started.runId;
        this.branch = started.branch;
        assert.equal(this.stage.git('symbolic-ref', '--short', 'HEAD'), started.branch);
        assert.equal(started.nextAction.action, 'red');
    }

    /** A refused RED, a failed attempt, one phase back, and a commit that takes its time. */
    async words() {
        const { stage, form, call } = this;
        const first = await form.next(call);
        assert.deepEqual([first.phase, first.subtask, first.unit], ['red', '1.1', 'workUnit-1.1-RED']);
        assert.match(first.instructions, /Count words/);
        const refused = await form.red(call, stage.runTests());
        assert.equal(refused.validated, false);
        assert.equal(refused.code, 'red_without_tests', JSON.stringify(refused));
        assert.ok(refused.suggestion);

        stage.write(WORDS.test, WORDS.tests);
        const red = stage.runTests();
        assert.deepEqual([red.passed, red.failed], [1, 2]);
        assert.equal((await form.red(call, red)).validated, true);

        stage.write(WORDS.file, WORDS.wrong);
        const wrong = stage.runTests();
        assert.ok(wrong.failed > 0, JSON.stringify(wrong));
        const retry = await form.green(call, wrong);
        assert.deepEqual([retry.validated, retry.code], [false, 'green_tests_still_failing']);
        const again = await form.next(call);
        assert.deepEqual([again.phase, again.unit], ['green', 'workUnit-1.1-GREEN-2']);

        const back = await call('autopilot_reopen', { reason: 'a test is missing' });
        assert.equal(back.nextAction.action, 'red');
        stage.write(WORDS.test, WORDS.moreTests);
        const more = stage.runTests();
        assert.ok(more.failed > 0, JSON.stringify(more));
        assert.equal((await form.red(call, more)).validated, true);
        stage.write(WORDS.file, WORDS.code);
        const green = stage.runTests();
        assert.deepEqual([green.passed, green.failed], [4, 0]);
        assert.equal((await form.green(call, green)).validated, true);

        stage.slowDownCommits(3);
        const progress = [];
        const committed = await form.commit(call, '1.1', note => progress.push(note));
        stage.commitsAtOnce();
        assert.equal(committed.commitSha, stage.git('rev-parse', 'HEAD'));
        assert.ok(progress.length > 0, 'a call that takes its time tells its progress');
        assert.ok(progress.every(note => typeof note.progress === 'number' && note.message), JSON.stringify(progress));
    }

    /** Somebody else pauses the run: who follows its state hears of it. */
    async pausedByAnotherProcess() {
        const { connection, stage } = this;
        const uri = `tramline://runs/${this.run}/state`;
        const end = await connection.follow(uri);
        const heard = new Promise((resolve, reject) => {
            const late = setTimeout(() => reject(new Error('nobody told of the pause')), 20_000);
            connection.wake = () => {
                clearTimeout(late);
                resolve();
            };
        });
        stage.tm(0, 'autopilot', 'pause');
        await heard;
        assert.ok(connection.updated.every(one => one === uri), String(connection.updated));
        const [state] = await connection.read(uri);
        assert.equal(JSON.parse(state.text).status, 'paused');
        await end();
        assert.equal((await this.form.next(this.call)).phase, 'paused');
        const resumed = await this.call('autopilot_resume', {});
        assert.equal(resumed.resumed, true);
    }

    /** A subtask without trouble, after which so many tests pass. */
    async subtask(id, what, passing) {
        const { stage, form, call } = this;
        const next = await form.next(call);
        assert.deepEqual([next.phase, next.subtask], ['red', id]);
        stage.write(what.test, what.tests);
        const red = stage.runTests();
        assert.equal(red.failed, 1);
        assert.equal((await form.red(call, red)).validated, true);
        stage.write(what.file, what.code);
        const green = stage.runTests();
        assert.deepEqual([green.passed, green.failed], [passing, 0]);
        assert.equal((await form.green(call, green)).validated, true);
        const committed = await form.commit(call, id);
        assert.equal(committed.commitSha, stage.git('rev-parse', 'HEAD'));
        assert.equal(stage.git('status', '--porcelain'), '');
    }

    async finalize() {
        const { stage, form, call } = this;
        assert.equal((await form.next(call)).phase, 'finalize');
        const over = await form.finalize(call, stage.runTests());
        assert.equal(over.nextAction.action, 'complete', JSON.stringify(over));
        assert.equal((await form.next(call)).phase, 'complete');
        const status = await call('autopilot_status', { runId: this.run });
        assert.equal(status.status, 'completed');
        assert.deepEqual(status.progress.completed.toSorted(), ['1.1', '1.2', '1.3']);
        const state = await call('autopilot_get_state', { runId: this.run });
        assert.deepEqual(state.completedSubtasks.toSorted(), ['1.1', '1.2', '1.3']);
    }

    async lookAtResources() {
        const { connection, run } = this;
        const resources = await connection.resources();
        assert.equal(resources[0].uri, 'tramline://runs');
        const parts = resources.filter(one => one.uri.includes(run)).map(one => one.uri.split('/').at(-1));
        assert.deepEqual(parts.toSorted(), ['graph', 'log', 'report', 'state']);
        const read = async uri => {
            const [contents] = await connection.read(uri);
            assert.equal(contents.uri, uri);
            const listed = resources.find(one => one.uri === uri);
            assert.equal(contents.mimeType, listed.mimeType);
            return contents.text;
        };
        const { runs } = JSON.parse(await read('tramline://runs'));
        assert.ok(runs.some(one => one.runId === run));
        assert.equal(JSON.parse(await read(`tramline://runs/${run}/state`)).status, 'completed');
        const log = await read(`tramline://runs/${run}/log`);
        const events = log.trimEnd().split('\n').map(line => JSON.parse(line));
        assert.ok(events.length > 20, `${events.length} events`);
        const report = await read(`tramline://runs/${run}/report`);
        for (const text of ['Text statistics', 'Count words', 'Count lines', 'a test is missing']) {
            assert.ok(report.includes(text), `${text} is not in the report: ${report}`);
        }
        assert.match(await read(`tramline://runs/${run}/graph`), /stateDiagram|flowchart|graph /);
        await assert.rejects(() => connection.read('tramline://runs/nothing/state'), /nothing/);
    }

    async prompts() {
        const { connection, run } = this;
        const whole = await connection.prompt('tdd', { taskId: '2' });
        assert.match(whole.messages[0].content.text, /taskId "2"/);
        await assert.rejects(() => connection.prompt('tdd_red', { runId: run }), /not in red/);
        const byPrompt = await connection.complete({ type: 'ref/prompt', name: 'tdd_red' }, 'runId', run.slice(0, 4));
        assert.ok(byPrompt.values.includes(run), JSON.stringify(byPrompt));
        const template = { type: 'ref/resource', uri: 'tramline://runs/{id}/state' };
        const byTemplate = await connection.complete(template, 'id', run.slice(0, 4));
        assert.ok(byTemplate.values.includes(run), JSON.stringify(byTemplate));
        assert.deepEqual((await connection.complete(template, 'id', 'no run begins so')).values, []);
    }

    lookAtGit() {
        const { stage } = this;
        const subjects = stage.git('log', '--reverse', '--format=%s', 'main..HEAD').split('\n');
        const endings = ['count words (task 1.1)', 'count lines (task 1.3)', 'Average words per line (task 1.2)'];
        assert.equal(subjects.length, 4, String(subjects));
        for (const [index, ending] of endings.entries()) {
            assert.ok(subjects[index].startsWith('feat') && subjects[index].endsWith(ending), String(subjects));
        }
        assert.equal(subjects[3], 'chore(tasks): set task 1 to review');
        const body = stage.git('log', '-1', '--format=%b', 'HEAD~3');
        assert.match(body, /^Task: #1\.1 - Count words$/m);
        assert.match(body, /^Tests: 4 passing$/m);
        const [task] = JSON.parse(stage.read(TASKS_PATH)).master.tasks;
        assert.deepEqual([task.status, ...task.subtasks.map(one => one.status)], ['review', 'done', 'done', 'done']);
        assert.equal(stage.git('status', '--porcelain'), '');
        const report = stage.tm(0, 'runs', 'report', this.run);
        assert.ok(JSON.stringify(report).includes('Average words per line'));
        assert.equal(stage.tm(0, 'log', 'verify', this.run).whole, true);
    }
}

// What only a person may decide: asked where the client can ask, refused where it cannot.

import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';

const accept = () => ({ action: 'accept', content: { confirm: true } });
const decline = () => ({ action: 'decline' });
const acceptedWithoutYes = () => ({ action: 'accept', content: { confirm: false } });

/** The name by which people are told of a run. */
const number = (id) => `r${id.split('-').pop()}`;

export class Questions {
    constructor(stage, server, client) {
        this.stage = stage;
        this.server = server;
        this.client = client;
    }

    async ask() {
        this.stage.git('switch', '--quiet', 'main');
        const first = await this.once(null, 'autopilot_start', { taskId: '2' });
        assert.ok(!first.isError, JSON.stringify(first));
        this.first = first.structuredContent.runId;
        this.stage.git('switch', '--quiet', 'main');
        await this.force();
        await this.cleanUp();
    }

    /** One call on a connection of its own, and the questions that came with it. */
    async once(answer, name, args) {
        this.asked = [];
        const connection = await this.client.connect(this.server, {
            answer: answer && (params => {
                this.asked.push(params);
                return answer(params);
            })
        });
        await connection.tools();
        const result = await connection.call(name, args);
        await connection.close();
        assert.deepEqual(connection.errors, [], 'errors that the client saw');
        return result;
    }

    error(result, code) {
        assert.equal(result.isError, true, JSON.stringify(result));
        const error = result.content[0].text;
        assert.ok(error.startsWith(`error[${code}]: `) && error.includes('\nhelp: '), error);
        return error;
    }

    async force() {
        const args = { taskId: '3', force: true };
        const active = this.error(await this.once(accept, 'autopilot_start', { taskId: '3' }), 'run_active');
        assert.ok(active.includes(this.first), active);
        assert.equal(this.asked.length, 0, 'without force nobody is asked');

        const refused = this.error(await this.once(null, 'autopilot_start', args), 'needs_confirmation');
        assert.ok(refused.includes('\nrecovery: tm autopilot start 3 --force'), refused);
        for (const no of [decline, acceptedWithoutYes]) {
            this.error(await this.once(no, 'autopilot_start', args), 'declined');
            assert.equal(this.asked.length, 1);
            assert.ok(this.asked[0].message.includes(` ${number(this.first)} `), JSON.stringify(this.asked));
            assert.equal(this.stage.tm(0, 'autopilot', 'status').runId, this.first);
        }
        const started = await this.once(accept, 'autopilot_start', args);
        assert.ok(!started.isError, JSON.stringify(started));
        assert.equal(this.asked.length, 1);
        this.second = started.structuredContent.runId;
        const status = this.stage.tm(0, 'autopilot', 'status');
        assert.deepEqual([status.runId, status.status], [this.second, 'running']);
    }

    async cleanUp() {
        const args = { cleanup: true };
        const refused = this.error(await this.once(null, 'autopilot_abort', args), 'needs_confirmation');
        // A server that was started elsewhere names the folder as well.
        const byHand = refused.split('\n').find((line) => line.startsWith('recovery: '));
        assert.ok(byHand.startsWith('recovery: tm autopilot abort --cleanup '), refused);
        assert.ok(byHand.endsWith(` --run-id ${number(this.second)}`), refused);
        this.error(await this.once(decline, 'autopilot_abort', args), 'declined');
        assert.equal(this.stage.tm(0, 'autopilot', 'status').status, 'running');

        const done = await this.once(accept, 'autopilot_abort', args);
        assert.ok(!done.isError, JSON.stringify(done));
        assert.ok(this.asked[0].message.includes(` ${number(this.second)} `), JSON.stringify(this.asked));
        assert.equal(done.structuredContent.cleanedUp, true);
        assert.equal(this.stage.git('branch', '--list', '*task-3*'), '');
        this.stage.tm(4, 'autopilot', 'status', '--run-id', this.second);
    }

    /** A server that was started elsewhere works in the folder that the client works in. */
    async roots(elsewhere) {
        const roots = [{ uri: pathToFileURL(this.stage.project).href, name: 'project' }];
        const connection = await this.client.connect(elsewhere, { roots });
        await connection.tools();
        const result = await connection.call('autopilot_status', { runId: this.first });
        assert.ok(!result.isError, JSON.stringify(result));
        assert.equal(result.structuredContent.runId, this.first);
        await connection.close();
        assert.deepEqual(connection.errors, [], 'errors that the client saw');
    }
}

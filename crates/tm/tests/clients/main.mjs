// Tells the story with each official TypeScript client over each transport:
//
//     node main.mjs BINARY [NAME…]
//
// Two go side by side: they share a machine with everything else.

import assert from 'node:assert/strict';

import { PHASES, WORK_UNITS } from './forms.mjs';
import { Questions } from './questions.mjs';
import { Listening, Pipe } from './servers.mjs';
import { Stage } from './stage.mjs';
import { Story } from './story.mjs';
import { Older } from './v1.mjs';
import { Current } from './v2.mjs';

const SIDE_BY_SIDE = 2;

const [binary, ...wanted] = process.argv.slice(2);
if (!binary) {
    console.error('usage: node main.mjs BINARY [NAME…]');
    process.exit(2);
}

const transports = {
    stdio: { open: async (stage, folder) => new Pipe(stage, folder) },
    http: { open: (stage, folder) => Listening.start(stage, folder) }
};

const plays = [
    [new Current('auto'), 'stdio', PHASES],
    [new Current('auto'), 'http', WORK_UNITS],
    [new Current('legacy'), 'stdio', WORK_UNITS],
    [new Current('legacy'), 'http', PHASES],
    [new Older(), 'stdio', PHASES],
    [new Older(), 'http', WORK_UNITS]
]
    .map(([client, transport, form]) => ({ name: `${client.name}-${transport}`, client, transport, form }))
    .filter(play => wanted.length === 0 || wanted.includes(play.name));

async function show({ client, transport, form }) {
    const stage = new Stage(binary);
    const servers = [];
    const open = async folder => {
        const server = await transports[transport].open(stage, folder);
        servers.push(server);
        return server;
    };
    try {
        const server = await open(stage.project);
        await new Story(stage, server, client, form).tell();
        const questions = new Questions(stage, server, client);
        await questions.ask();
        if (client.legacy) {
            await questions.roots(transport === 'stdio' ? await open(stage.elsewhere) : server);
        }
    } finally {
        for (const server of servers) {
            await server.end();
        }
        stage.remove();
    }
    for (const server of servers) {
        assert.equal(server.said, '', 'what the server said on standard error');
    }
}

let failed = 0;
async function worker() {
    for (let play = plays.shift(); play; play = plays.shift()) {
        const began = performance.now();
        try {
            await show(play);
            console.log(`ok   ${play.name} (${play.form.name} form, ${((performance.now() - began) / 1000).toFixed(1)} s)`);
        } catch (error) {
            failed += 1;
            console.log(`FAIL ${play.name} (${play.form.name} form)\n${error.stack}`);
        }
    }
}

if (plays.length === 0) {
    console.error(`nothing is called ${wanted.join(', ')}`);
    process.exit(2);
}
await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
// A client whose story broke off keeps its server, and would keep this process.
process.exit(failed > 0 ? 1 : 0);

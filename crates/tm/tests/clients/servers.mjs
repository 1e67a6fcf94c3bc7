// The two ways to a server: a process at the other end of a pipe, and one that listens.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import fs from 'node:fs';
import path from 'node:path';

/** What a client needs to start a server by itself. */
export class Pipe {
    constructor(stage, folder = stage.project) {
        this.parameters = { command: stage.binary, args: ['mcp'], cwd: folder, env: stage.env, stderr: 'pipe' };
        this.said = '';
    }

    /** Keeps what a server says beside its answers: there must be nothing. */
    listen(transport) {
        transport.stderr?.on('data', text => {
            this.said += text;
        });
    }

    async end() {}
}

/** A server that was started for several clients. */
export class Listening {
    static async start(stage, folder = stage.project) {
        const server = new Listening();
        const tokens = path.join(stage.folder, 'token');
        server.said = '';
        server.child = spawn(
            stage.binary,
            ['serve', '--root', folder, '--listen', '127.0.0.1:0', '--token-file', tokens, '--json'],
            { cwd: stage.elsewhere, env: stage.env, stdio: ['ignore', 'pipe', 'pipe'] }
        );
        server.child.stderr.on('data', text => {
            server.said += text;
        });
        server.over = new Promise(resolve => server.child.on('exit', (status, signal) => resolve(status ?? signal)));
        const lines = createInterface({ input: server.child.stdout });
        const first = await Promise.race([new Promise(resolve => lines.once('line', resolve)), server.over]);
        if (typeof first !== 'string' || !first.startsWith('{')) {
            throw new Error(`the server does not listen (${first}): ${server.said}`);
        }
        server.url = new URL(JSON.parse(first).url);
        server.token = fs.readFileSync(tokens, 'utf8').trim();
        return server;
    }

    /** Stops it, which it must do in order. */
    async end() {
        this.child.kill('SIGTERM');
        const status = await this.over;
        if (status !== 0) {
            throw new Error(`the server ended with ${status}: ${this.said}`);
        }
    }
}

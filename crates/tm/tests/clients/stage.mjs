// A home and a repository of its own for each story, and the programs that run in them.

import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const TASKS = {
    master: {
        tasks: [
            {
                id: 1,
                title: 'Text statistics',
                description: 'Numbers about a text.',
                status: 'pending',
                subtasks: [
                    { id: 1, title: 'Count words', description: 'Words of a text.', status: 'pending' },
                    {
                        id: 2,
                        title: 'Average words per line',
                        description: 'Words divided by lines.',
                        status: 'pending',
                        dependencies: [3]
                    },
                    { id: 3, title: 'Count lines', description: 'Lines of a text.', status: 'pending' }
                ]
            },
            { id: 2, title: 'Count letters', description: 'Only letters.', status: 'pending' },
            { id: 3, title: 'Count digits', description: 'Only digits.', status: 'pending' }
        ],
        metadata: {}
    }
};

/** The folder of tasks, from the project's root. */
export const TASKS_PATH = '.taskmaster/tasks/tasks.json';

export class Stage {
    constructor(binary) {
        this.binary = binary;
        // The real path: a temporary folder may be behind a link.
        this.folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'tm-clients-')));
        this.project = path.join(this.folder, 'project');
        this.elsewhere = path.join(this.folder, 'elsewhere');
        const home = path.join(this.folder, 'home');
        for (const folder of [this.project, this.elsewhere, home]) {
            fs.mkdirSync(folder);
        }
        this.env = {
            PATH: process.env.PATH,
            HOME: home,
            TRAMLINE_HOME: path.join(home, 'store'),
            GIT_CONFIG_GLOBAL: path.join(home, 'gitconfig'),
            GIT_CONFIG_NOSYSTEM: '1',
            NO_COLOR: '1',
            USER: 'tester'
        };
        this.write(TASKS_PATH, `${JSON.stringify(TASKS, null, 2)}\n`);
        this.write('package.json', '{ "name": "textstat", "type": "module", "scripts": { "test": "node --test" } }\n');
        this.write('test/begin.test.js', "import test from 'node:test';\n\ntest('tests are run', () => {});\n");
        this.git('init', '--quiet', '--template=');
        this.git('symbolic-ref', 'HEAD', 'refs/heads/main');
        this.git('config', 'user.name', 'Somebody');
        this.git('config', 'user.email', 'somebody@localhost');
        this.git('add', '--all');
        this.git('commit', '--quiet', '--message', 'Begin');
    }

    write(name, text) {
        const file = path.join(this.project, name);
        fs.mkdirSync(path.dirname(file), { recursive: true });
        fs.writeFileSync(file, text);
    }

    read(name) {
        return fs.readFileSync(path.join(this.project, name), 'utf8');
    }

    git(...args) {
        return execFileSync('git', args, { cwd: this.project, env: this.env, encoding: 'utf8' }).trimEnd();
    }

    /** The command line, as another process; it must come to this exit status. */
    tm(status, ...args) {
        const ran = spawnSync(this.binary, [...args, '--json'], { cwd: this.project, env: this.env, encoding: 'utf8' });
        if (ran.status !== status) {
            throw new Error(`tm ${args.join(' ')} came to ${ran.status}: ${ran.stdout}${ran.stderr}`);
        }
        return JSON.parse(ran.stdout);
    }

    /** Runs the project's tests, and reads the numbers that the runner prints. */
    runTests() {
        const ran = spawnSync(process.execPath, ['--test', '--test-reporter=tap'], {
            cwd: this.project,
            env: this.env,
            encoding: 'utf8'
        });
        const count = word => {
            const found = new RegExp(`^# ${word} (\\d+)$`, 'm').exec(ran.stdout);
            if (!found) {
                throw new Error(`the runner prints no line "# ${word} N": ${ran.stdout}${ran.stderr}`);
            }
            return Number(found[1]);
        };
        return { passed: count('pass'), failed: count('fail'), skipped: count('skipped') };
    }

    /** Makes every commit take so many seconds. */
    slowDownCommits(seconds) {
        const hook = path.join(this.project, '.git/hooks/pre-commit');
        fs.mkdirSync(path.dirname(hook), { recursive: true });
        fs.writeFileSync(hook, `#!/bin/sh\nexec sleep ${seconds}\n`, { mode: 0o755 });
    }

    commitsAtOnce() {
        fs.rmSync(path.join(this.project, '.git/hooks/pre-commit'));
    }

    remove() {
        fs.rmSync(this.folder, { recursive: true, force: true });
    }
}

// The older line of the official TypeScript client, which knows only the era with sessions.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
    ElicitRequestSchema,
    ListRootsRequestSchema,
    ResourceUpdatedNotificationSchema
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';

import { CountingValidator } from './validator.mjs';

export class Older {
    constructor() {
        this.name = 'older';
        this.version = '2025-11-25';
        this.legacy = true;
    }

    async connect(server, { answer = null, roots = null } = {}) {
        const capabilities = {};
        if (answer) {
            capabilities.elicitation = {};
        }
        if (roots) {
            capabilities.roots = {};
        }
        const validator = new CountingValidator(new AjvJsonSchemaValidator());
        const client = new Client(
            { name: `story-${this.name}`, version: '1' },
            { capabilities, jsonSchemaValidator: validator }
        );
        const connection = new Connection(client, validator);
        client.onerror = error => connection.note(error);
        if (answer) {
            client.setRequestHandler(ElicitRequestSchema, async request => answer(request.params));
        }
        if (roots) {
            client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots }));
        }
        client.setNotificationHandler(ResourceUpdatedNotificationSchema, note => {
            connection.updated.push(note.params.uri);
            connection.wake();
        });
        let transport;
        if (server.url) {
            transport = new StreamableHTTPClientTransport(server.url, {
                requestInit: { headers: { Authorization: `Bearer ${server.token}` } }
            });
        } else {
            transport = new StdioClientTransport(server.parameters);
            server.listen(transport);
        }
        // This line of the client keeps the version it agreed on to itself, but tells it to its transport.
        const setVersion = transport.setProtocolVersion?.bind(transport);
        transport.setProtocolVersion = version => {
            connection.agreed = version;
            setVersion?.(version);
        };
        await client.connect(transport);
        return connection;
    }
}

class Connection {
    constructor(client, validator) {
        this.client = client;
        this.validator = validator;
        this.errors = [];
        this.updated = [];
        this.wake = () => {};
        this.closing = false;
    }

    /** Keeps what went wrong. What the client itself breaks off when it closes did not. */
    note(error) {
        if (!(this.closing && error.name === 'AbortError')) {
            this.errors.push(error);
        }
    }

    version() {
        return this.agreed;
    }

    instructions() {
        return this.client.getInstructions();
    }

    async tools() {
        return (await this.client.listTools()).tools;
    }

    call(name, args, onprogress) {
        return this.client.callTool({ name, arguments: args }, undefined, onprogress ? { onprogress } : {});
    }

    async resources() {
        return (await this.client.listResources()).resources;
    }

    async templates() {
        return (await this.client.listResourceTemplates()).resourceTemplates;
    }

    async read(uri) {
        return (await this.client.readResource({ uri })).contents;
    }

    async prompts() {
        return (await this.client.listPrompts()).prompts;
    }

    prompt(name, args) {
        return this.client.getPrompt({ name, arguments: args });
    }

    async complete(ref, name, value) {
        return (await this.client.complete({ ref, argument: { name, value } })).completion;
    }

    /** Wants to hear of a resource. Gives what ends that. */
    async follow(uri) {
        await this.client.subscribeResource({ uri });
        return () => this.client.unsubscribeResource({ uri });
    }

    close() {
        this.closing = true;
        return this.client.close();
    }
}

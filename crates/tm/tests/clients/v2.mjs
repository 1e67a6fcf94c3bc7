// The current line of the official TypeScript client, in both eras.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';

import { CountingValidator } from './validator.mjs';

export class Current {
    constructor(era) {
        this.era = era;
        this.name = `current-${era}`;
        this.version = era === 'legacy' ? '2025-11-25' : '2026-07-28';
        this.legacy = era === 'legacy';
    }

    async connect(server, { answer = null, roots = null } = {}) {
        const capabilities = {};
        if (answer) {
            capabilities.elicitation = { form: {} };
        }
        if (roots) {
            capabilities.roots = {};
        }
        const validator = new CountingValidator(new AjvJsonSchemaValidator());
        const client = new Client(
            { name: `story-${this.name}`, version: '1' },
            { capabilities, versionNegotiation: { mode: this.era }, jsonSchemaValidator: validator }
        );
        const connection = new Connection(client, validator, this.era);
        client.onerror = error => connection.note(error);
        if (answer) {
            client.setRequestHandler('elicitation/create', async request => answer(request.params));
        }
        if (roots) {
            client.setRequestHandler('roots/list', async () => ({ roots }));
        }
        client.setNotificationHandler('notifications/resources/updated', note => {
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
        await client.connect(transport);
        return connection;
    }
}

class Connection {
    constructor(client, validator, era) {
        this.client = client;
        this.validator = validator;
        this.era = era;
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
        return this.client.getNegotiatedProtocolVersion();
    }

    instructions() {
        return this.client.getInstructions();
    }

    async tools() {
        return (await this.client.listTools()).tools;
    }

    call(name, args, onprogress) {
        return this.client.callTool({ name, arguments: args }, onprogress ? { onprogress } : {});
    }

    /** The same call, with an output schema that no answer meets: the client must refuse it. */
    callWithWrongSchema(name, args, tool) {
        const outputSchema = { type: 'object', properties: {}, required: ['thereIsNoSuchKey'] };
        return this.client.callTool({ name, arguments: args }, { toolDefinition: { ...tool, outputSchema } });
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
        if (this.era === 'legacy') {
            await this.client.subscribeResource({ uri });
            return () => this.client.unsubscribeResource({ uri });
        }
        const subscription = await this.client.listen({ resourceSubscriptions: [uri] });
        const honored = subscription.honoredFilter.resourceSubscriptions ?? [];
        if (!honored.includes(uri)) {
            throw new Error(`the server does not follow ${uri}: ${JSON.stringify(subscription.honoredFilter)}`);
        }
        return async () => {
            await subscription.close();
            const how = await subscription.closed;
            if (how !== 'local') {
                throw new Error(`the subscription ended as ${how}`);
            }
        };
    }

    close() {
        this.closing = true;
        return this.client.close();
    }
}

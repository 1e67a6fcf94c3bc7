"""The official Python client, in both eras, over both transports."""

import asyncio
import json
from contextlib import AsyncExitStack, asynccontextmanager

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

VERSIONS = {"legacy": "2025-11-25", "auto": "2026-07-28"}


class Pipe:
    """A server that the client starts by itself."""

    def __init__(self, stage, folder=None):
        self.parameters = StdioServerParameters(
            command=stage.binary, args=["mcp"], env=stage.env, cwd=folder or stage.project
        )
        self.log = (stage.folder / "stderr").open("a+", encoding="utf-8")

    @asynccontextmanager
    async def transport(self):
        async with stdio_client(self.parameters, errlog=self.log) as streams:
            yield streams

    def said(self):
        """What the servers said beside their answers: there must be nothing."""
        self.log.seek(0)
        return self.log.read()

    async def end(self):
        """Nothing: it ended with its client."""


class Listening:
    """A server that was started for several clients."""

    @classmethod
    async def start(cls, stage):
        server = cls()
        tokens = stage.folder / "token"
        server.log = (stage.folder / "stderr").open("a+", encoding="utf-8")
        server.process = await asyncio.create_subprocess_exec(
            stage.binary,
            *["serve", "--root", str(stage.project), "--listen", "127.0.0.1:0"],
            *["--token-file", str(tokens), "--json"],
            cwd=stage.elsewhere,
            env=stage.env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=server.log,
        )
        first = await server.process.stdout.readline()
        assert first.startswith(b"{"), (first, server.said())
        server.url = json.loads(first)["url"]
        server.token = tokens.read_text().strip()
        return server

    @asynccontextmanager
    async def transport(self):
        headers = {"Authorization": f"Bearer {self.token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            async with streamable_http_client(self.url, http_client=http) as streams:
                yield streams

    def said(self):
        self.log.seek(0)
        return self.log.read()

    async def end(self):
        self.process.terminate()
        assert await self.process.wait() == 0, self.said()


class Connection:
    """One client, connected."""

    def __init__(self, client, mode):
        self.client = client
        self.mode = mode
        self.updated = asyncio.Queue()
        self.validated = 0

    def count_validations(self):
        """Counts the client's own checks of structured answers: a check that never ran proves nothing."""
        validate = self.client.session.validate_tool_result

        async def counted(name, result):
            self.validated += 1
            await validate(name, result)

        self.client.session.validate_tool_result = counted

    @asynccontextmanager
    async def follow(self, uri):
        """Wants to hear of a resource, and gives what waits for the next change."""
        if self.mode == "legacy":
            await self.client.subscribe_resource(uri)
            yield self.updated.get
            await self.client.unsubscribe_resource(uri)
        else:
            async with self.client.listen(resource_subscriptions=[uri]) as subscription:
                assert subscription.honored.resource_subscriptions == [uri], subscription.honored

                async def one():
                    return (await anext(subscription)).uri

                yield one


@asynccontextmanager
async def connect(server, mode, answer=None, roots=None):
    """Connects; `answer` is what the person says to each question."""
    connection = None
    problems = []

    async def message(incoming):
        if isinstance(incoming, Exception):
            problems.append(incoming)
        elif isinstance(incoming, types.ResourceUpdatedNotification):
            await connection.updated.put(str(incoming.params.uri))

    async def asked(_, params):
        return answer(params)

    async def folders(_):
        return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in roots])

    async with AsyncExitStack() as stack:
        client = Client(
            server.transport(),
            mode=mode,
            client_info=types.Implementation(name=f"story-python-{mode}", version="1"),
            elicitation_callback=asked if answer else None,
            list_roots_callback=folders if roots else None,
            message_handler=message,
            read_timeout_seconds=60,
        )
        connection = Connection(client, mode)
        await stack.enter_async_context(client)
        connection.count_validations()
        yield connection
    assert not problems, problems

"""Tells the story with the official Python client, in each era over each transport:

    python main.py BINARY [NAME…]

Two go side by side: they share a machine with everything else.
"""

import asyncio
import logging
import sys
import time
import traceback
import warnings

from mcp.shared.exceptions import MCPDeprecationWarning

from connection import Listening, Pipe
from questions import Questions
from stage import Stage
from story import Phases, Story, WorkUnits

SIDE_BY_SIDE = 2

PLAYS = [
    ("auto", "stdio", WorkUnits),
    ("auto", "http", Phases),
    ("legacy", "stdio", Phases),
    ("legacy", "http", WorkUnits),
]


class Warned(logging.Handler):
    """What the client warns of: a person would see it, and think that something is wrong."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.said = []

    def emit(self, record):
        self.said.append(f"{record.name}: {record.getMessage()}")


async def show(binary, mode, transport, form):
    stage = await asyncio.to_thread(Stage, binary)
    servers = []
    said = ""
    try:
        server = Pipe(stage) if transport == "stdio" else await Listening.start(stage)
        servers.append(server)
        await Story(stage, server, mode, form).tell()
        questions = Questions(stage, server, mode)
        await questions.ask()
        if mode == "legacy":
            if transport == "stdio":
                servers.append(Pipe(stage, stage.elsewhere))
            await questions.roots(servers[-1])
    finally:
        for server in servers:
            await server.end()
            said += server.said()
        stage.remove()
    assert said == "", f"the server said on standard error: {said}"


async def main(binary, wanted):
    plays = [play for play in PLAYS if not wanted or f"{play[0]}-{play[1]}" in wanted]
    if not plays:
        sys.exit(f"nothing is called {', '.join(wanted)}")
    free = asyncio.Semaphore(SIDE_BY_SIDE)

    async def one(mode, transport, form):
        async with free:
            began = time.monotonic()
            name = f"python-{mode}-{transport} ({form.name} form"
            try:
                await asyncio.wait_for(show(binary, mode, transport, form), 120)
            except Exception:  # Whatever it was, the others go on.
                print(f"FAIL {name})\n{traceback.format_exc()}", flush=True)
                return False
            print(f"ok   {name}, {time.monotonic() - began:.1f} s)", flush=True)
            return True

    return all(await asyncio.gather(*(one(*play) for play in plays)))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python main.py BINARY [NAME…]")
    # What the current era has dropped is tested in the older one.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    warned = Warned()
    logging.getLogger().addHandler(warned)
    passed = asyncio.run(main(sys.argv[1], sys.argv[2:]))
    for line in sorted(set(warned.said)):
        print(f"FAIL the client warned of: {line}")
    sys.exit(0 if passed and not warned.said else 1)

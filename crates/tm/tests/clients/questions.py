"""What only a person may decide: asked where the client can ask, refused where it cannot."""


import mcp_types as types

from connection import connect


def accept(_):
    return types.ElicitResult(action="accept", content={"confirm": True})


def decline(_):
    return types.ElicitResult(action="decline")


def number(run):
    """The name by which people are told of a run."""
    return f"r{run.rsplit('-', 1)[1]}"


class Questions:
    def __init__(self, stage, server, mode):
        self.stage = stage
        self.server = server
        self.mode = mode

    async def ask(self):
        self.stage.git("switch", "--quiet", "main")
        first = await self.once(None, "autopilot_start", {"taskId": "2"})
        assert not first.is_error, first
        self.first = first.structured_content["runId"]
        self.stage.git("switch", "--quiet", "main")
        await self.force()
        await self.clean_up()

    async def once(self, answer, name, arguments):
        """One call on a connection of its own, and the questions that came with it."""
        self.asked = []

        def heard(params):
            self.asked.append(params)
            return answer(params)

        async with connect(self.server, self.mode, answer=heard if answer else None) as connection:
            return await connection.client.call_tool(name, arguments)

    @staticmethod
    def error(result, code):
        assert result.is_error, result
        error = result.content[0].text
        assert error.startswith(f"error[{code}]: ") and "\nhelp: " in error, error
        return error

    async def force(self):
        arguments = {"taskId": "3", "force": True}
        refused = self.error(await self.once(None, "autopilot_start", arguments), "needs_confirmation")
        assert "\nrecovery: tm autopilot start 3 --force" in refused, refused
        self.error(await self.once(decline, "autopilot_start", arguments), "declined")
        assert f" {number(self.first)} " in self.asked[0].message, self.asked
        assert self.stage.tm(0, "autopilot", "status")["runId"] == self.first
        started = await self.once(accept, "autopilot_start", arguments)
        assert not started.is_error and len(self.asked) == 1, (started, self.asked)
        self.second = started.structured_content["runId"]

    async def clean_up(self):
        arguments = {"cleanup": True}
        refused = self.error(await self.once(None, "autopilot_abort", arguments), "needs_confirmation")
        # A server that was started elsewhere names the folder as well.
        by_hand = next(line for line in refused.splitlines() if line.startswith("recovery: "))
        assert by_hand.startswith("recovery: tm autopilot abort --cleanup "), refused
        assert by_hand.endswith(f" --run-id {number(self.second)}"), refused
        self.error(await self.once(decline, "autopilot_abort", arguments), "declined")
        assert self.stage.tm(0, "autopilot", "status")["status"] == "running"
        done = await self.once(accept, "autopilot_abort", arguments)
        assert not done.is_error and done.structured_content["cleanedUp"] is True, done
        assert self.stage.git("branch", "--list", "*task-3*") == ""

    async def roots(self, elsewhere):
        """A server that was started elsewhere works in the folder that the client works in."""
        roots = [self.stage.project.as_uri()]
        async with connect(elsewhere, self.mode, roots=roots) as connection:
            result = await connection.client.call_tool("autopilot_status", {"runId": self.first})
            assert not result.is_error and result.structured_content["runId"] == self.first, result

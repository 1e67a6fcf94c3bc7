"""A whole run over MCP alone: what an agent would do, and what goes wrong on the way."""

import asyncio
import json

import mcp_types as types
from mcp.shared.exceptions import MCPError

from connection import VERSIONS, connect
from executor import AVERAGE, LINES, WORDS
from stage import TASKS_PATH


class Phases:
    """By phase: the numbers are the report."""

    name = "phase"

    @staticmethod
    async def next(call):
        told = await call("autopilot_next")
        return told["action"], told.get("subtask", {}).get("id"), told.get("unitId")

    @staticmethod
    async def red(call, counts):
        return await call("autopilot_complete_phase", {"phase": "red", "results": counts.results()})

    @staticmethod
    async def green(call, counts):
        return await call("autopilot_complete_phase", {"phase": "green", "results": counts.results()})

    @staticmethod
    async def commit(call, subtask, progress=None):
        return await call("autopilot_commit", {"subtaskId": subtask}, progress)

    @staticmethod
    async def finalize(call, counts):
        return await call("autopilot_finalize", {"results": counts.results()})


class WorkUnits:
    """By work unit: the unit is named, and says whether it was done."""

    name = "work unit"

    @staticmethod
    async def next(call):
        told = await call("autopilot_next_work_unit")
        phase = "complete" if told["over"] else told.get("phase", told.get("status")).lower()
        return phase, told.get("subtaskId"), told.get("id")

    @staticmethod
    async def report(call, phase, counts=None, success=True, progress=None):
        unit = await call("autopilot_next_work_unit")
        result = {"success": success, "phase": phase}
        if counts:
            result |= {"testsPassed": counts.passed, "testsFailed": counts.failed + counts.errors}
        return await call("autopilot_complete_work_unit", {"workUnitId": unit["id"], "result": result}, progress)

    @classmethod
    async def red(cls, call, counts):
        return await cls.report(call, "RED", counts)

    @classmethod
    async def green(cls, call, counts):
        return await cls.report(call, "GREEN", counts, success=counts.failed + counts.errors == 0)

    @classmethod
    async def commit(cls, call, _, progress=None):
        return await cls.report(call, "COMMIT", progress=progress)

    @classmethod
    async def finalize(cls, call, counts):
        return await cls.report(call, "FINALIZE", counts)


class Story:
    """What a client and a server are put through with one stage."""

    def __init__(self, stage, server, mode, form):
        self.stage = stage
        self.server = server
        self.mode = mode
        self.form = form
        self.structured = 0

    async def tell(self):
        async with connect(self.server, self.mode) as connection:
            self.connection = connection
            self.client = connection.client
            await self.introduction()
            await self.start()
            await self.words()
            await self.paused_by_another_process()
            await self.subtask("1.3", LINES, 5)
            await self.subtask("1.2", AVERAGE, 6)
            await self.finalize()
            await self.look_at_resources()
            await self.prompts()
            self.look_at_git()
            assert connection.validated == self.structured, "each structured answer is checked"

    async def call(self, name, arguments=None, progress=None):
        """Calls a tool that must not fail, and gives its structured answer."""
        result = await self.client.call_tool(name, arguments or {}, progress_callback=progress)
        assert not result.is_error, result
        assert json.loads(result.content[0].text) == result.structured_content, result
        self.structured += 1
        return result.structured_content

    async def introduction(self):
        assert self.client.protocol_version == VERSIONS[self.mode]
        assert "autopilot_next" in self.client.instructions
        tools = (await self.client.list_tools()).tools
        assert len(tools) >= 14
        for tool in tools:
            assert tool.title and tool.annotations and tool.output_schema["type"] == "object", tool
        prompts = (await self.client.list_prompts()).prompts
        assert any(prompt.name == "tdd" for prompt in prompts), prompts
        templates = (await self.client.list_resource_templates()).resource_templates
        parts = sorted(template.uri_template.rsplit("/", 1)[1] for template in templates)
        assert parts == ["graph", "graph", "log", "report", "state"], parts
        wrong = types.CallToolResult(content=[], structured_content={"runId": 5})
        try:
            await self.client.session.validate_tool_result("autopilot_start", wrong)
        except RuntimeError:
            self.structured += 1
        else:
            raise AssertionError("the client does not check structured answers")

    async def start(self):
        plan = await self.call("autopilot_start", {"taskId": "1", "dryRun": True})
        assert "1.3" in json.dumps(plan), plan
        assert self.stage.git("branch", "--list", "*task-1*") == "", "a dry run makes no branch"
        started = await self.call("autopilot_start", {"taskId": "1"})
        self.run = started["runId"]
        assert self.stage.git("symbolic-ref", "--short", "HEAD") == started["branch"]
        assert started["nextAction"]["action"] == "red"

    async def words(self):
        """A refused RED, a failed attempt, one phase back, and a commit that takes its time."""
        stage, form, call = self.stage, self.form, self.call
        assert await form.next(call) == ("red", "1.1", "workUnit-1.1-RED")
        refused = await form.red(call, stage.run_tests())
        assert (refused["validated"], refused["code"]) == (False, "red_without_tests"), refused
        assert refused["suggestion"]

        stage.write(WORDS.test, WORDS.tests)
        red = stage.run_tests()
        assert (red.passed, red.failed + red.errors) == (1, 2), red
        assert (await form.red(call, red))["validated"]

        stage.write(WORDS.file, WORDS.wrong)
        retry = await form.green(call, stage.run_tests())
        assert (retry["validated"], retry["code"]) == (False, "green_tests_still_failing"), retry
        assert await form.next(call) == ("green", "1.1", "workUnit-1.1-GREEN-2")

        back = await call("autopilot_reopen", {"reason": "a test is missing"})
        assert back["nextAction"]["action"] == "red", back
        stage.write(WORDS.test, WORDS.more_tests)
        assert (await form.red(call, stage.run_tests()))["validated"]
        stage.write(WORDS.file, WORDS.code)
        green = stage.run_tests()
        assert (green.passed, green.failed, green.errors) == (4, 0, 0), green
        assert (await form.green(call, green))["validated"]

        told = []

        async def progress(done, total, message):
            told.append((done, total, message))

        stage.slow_down_commits(3)
        committed = await form.commit(call, "1.1", progress)
        stage.commits_at_once()
        assert committed["commitSha"] == stage.git("rev-parse", "HEAD")
        assert told, "a call that takes its time tells its progress"

    async def paused_by_another_process(self):
        """Somebody else pauses the run: who follows its state hears of it."""
        uri = f"tramline://runs/{self.run}/state"
        async with self.connection.follow(uri) as change:
            paused = asyncio.to_thread(self.stage.tm, 0, "autopilot", "pause")
            await paused
            assert str(await asyncio.wait_for(change(), 20)) == uri
            state = (await self.client.read_resource(uri)).contents[0].text
            assert json.loads(state)["status"] == "paused", state
        assert (await self.form.next(self.call))[0] == "paused"
        assert (await self.call("autopilot_resume"))["resumed"] is True

    async def subtask(self, subtask, what, passing):
        """A subtask without trouble, after which so many tests pass."""
        stage, form, call = self.stage, self.form, self.call
        assert (await form.next(call))[:2] == ("red", subtask)
        stage.write(what.test, what.tests)
        assert (await form.red(call, stage.run_tests()))["validated"]
        stage.write(what.file, what.code)
        green = stage.run_tests()
        assert (green.passed, green.failed, green.errors) == (passing, 0, 0), green
        assert (await form.green(call, green))["validated"]
        committed = await form.commit(call, subtask)
        assert committed["commitSha"] == stage.git("rev-parse", "HEAD")
        assert stage.git("status", "--porcelain") == ""

    async def finalize(self):
        assert (await self.form.next(self.call))[0] == "finalize"
        over = await self.form.finalize(self.call, self.stage.run_tests())
        assert over["nextAction"]["action"] == "complete", over
        assert (await self.form.next(self.call))[0] == "complete"
        status = await self.call("autopilot_status", {"runId": self.run})
        assert status["status"] == "completed", status
        assert sorted(status["progress"]["completed"]) == ["1.1", "1.2", "1.3"], status

    async def look_at_resources(self):
        resources = {str(one.uri): one for one in (await self.client.list_resources()).resources}

        async def read(uri):
            contents = (await self.client.read_resource(uri)).contents[0]
            assert contents.mime_type == resources[uri].mime_type, contents
            return contents.text

        run = f"tramline://runs/{self.run}"
        runs = json.loads(await read("tramline://runs"))["runs"]
        assert any(one["runId"] == self.run for one in runs), runs
        assert json.loads(await read(f"{run}/state"))["status"] == "completed"
        events = [json.loads(line) for line in (await read(f"{run}/log")).splitlines()]
        assert len(events) > 20, events
        report = await read(f"{run}/report")
        for text in ("Text statistics", "Count words", "Count lines", "a test is missing"):
            assert text in report, report
        assert await read(f"{run}/graph")
        try:
            await self.client.read_resource("tramline://runs/nothing/state")
        except MCPError as error:
            assert "nothing" in str(error), error
        else:
            raise AssertionError("a run that is not there was read")

    async def prompts(self):
        whole = await self.client.get_prompt("tdd", {"taskId": "2"})
        assert 'taskId "2"' in whole.messages[0].content.text, whole
        for ref, argument in (
            (types.PromptReference(name="tdd_red"), "runId"),
            (types.ResourceTemplateReference(uri="tramline://runs/{id}/state"), "id"),
        ):
            completed = await self.client.complete(ref, {"name": argument, "value": self.run[:4]})
            assert self.run in completed.completion.values, completed

    def look_at_git(self):
        stage = self.stage
        subjects = stage.git("log", "--reverse", "--format=%s", "main..HEAD").splitlines()
        endings = ["count words (task 1.1)", "count lines (task 1.3)", "Average words per line (task 1.2)"]
        assert len(subjects) == 4, subjects
        for subject, ending in zip(subjects, endings):
            assert subject.startswith("feat") and subject.endswith(ending), subjects
        assert subjects[3] == "chore(tasks): set task 1 to review", subjects
        body = stage.git("log", "-1", "--format=%b", "HEAD~3").splitlines()
        assert "Task: #1.1 - Count words" in body and "Tests: 4 passing" in body, body
        task = json.loads(stage.read(TASKS_PATH))["master"]["tasks"][0]
        assert [task["status"], *(one["status"] for one in task["subtasks"])] == ["review", "done", "done", "done"]
        assert stage.git("status", "--porcelain") == ""
        assert "Average words per line" in json.dumps(stage.tm(0, "runs", "report", self.run))
        assert stage.tm(0, "log", "verify", self.run)["whole"] is True

"""Stands in for a language model: plays a script of tool calls to a client, in the protocol that the client speaks.

Usage: model.py SCRIPT FOLDER. It prints its port, appends what it sees of each step to FOLDER/steps.jsonl, and every
request to FOLDER/requests.jsonl. It keeps no state: where a conversation stands is read from its history, as a
real model would, so that repeated requests and several conversations at once do no harm.
"""

import http.server
import json
import re
import sys
import threading

PLAYS = json.load(open(sys.argv[1]))
STEPS = open(sys.argv[2] + "/steps.jsonl", "a")
REQUESTS = open(sys.argv[2] + "/requests.jsonl", "a")
LOCK = threading.Lock()

# The tools by which clients do the same thing, the first that is offered is used.
TOOLS = {
    "shell": ["Bash", "exec_command", "shell_command", "shell", "run_shell_command", "bash", "run_commands"],
    "create": ["Write", "write_file", "write", "create", "apply_patch", "editor"],
    "read": ["Read", "read_file", "read", "view", "read_files"],
    "edit": ["Edit", "replace", "edit", "apply_patch", "editor"],
    "delegate": ["Agent", "Task", "agent", "task", "invoke_agent", "spawn_agent"],
    "wait": ["wait_agent"],
    "enter": ["enter_worktree", "EnterWorktree"],
}
# The code of a refusal that asks for the folder of the project.
ASKS_FOR_FOLDER = "which_project"
# Tools that are called to find others, and are no step of a script.
SEARCHES = ["ToolSearch", "tool_search"]
# The parameters that mean the same thing.
PARAMETERS = {
    "command": ["command", "cmd", "commands"],
    "path": ["file_path", "filePath", "path", "absolute_path", "files"],
    "content": ["content", "file_text", "contents", "new_text"],
    "old": ["old_string", "oldString", "old_str", "old_text"],
    "new": ["new_string", "newString", "new_str", "new_text"],
    "prompt": ["prompt", "message", "task"],
    "agent": ["subagent_type", "agent_type", "agent_name"],
    "agents": ["targets"],
    "milliseconds": ["timeout_ms"],
    "name": ["name"],
}


def text_of(value):
    """All the text in a result, however a protocol wraps it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(text_of(part) for part in value)
    if isinstance(value, dict):
        return "\n".join(text_of(part) for key, part in value.items() if key not in ("type", "id", "cache_control"))
    return "" if value is None else json.dumps(value)


class Conversation:
    """A request, whatever its protocol: what users said, which tools are offered, which were called with what result."""

    def __init__(self):
        self.said = []
        self.tools = {}
        self.calls = {}

    def call(self, key, name, arguments):
        self.calls[key] = {"name": name, "input": arguments, "result": None}

    def result(self, key, value):
        if key in self.calls:
            self.calls[key]["result"] = text_of(value)

    def play(self):
        found = re.search(r"PLAY (\w+)", "\n".join(self.said))
        return found and found.group(1)

    def steps_taken(self):
        return [call for call in self.calls.values() if call["name"].split(".")[-1] not in SEARCHES]


class Anthropic:
    def read(self, _, request):
        seen = Conversation()
        for tool in request.get("tools") or []:
            seen.tools[tool["name"]] = tool.get("input_schema") or {}
        for message in request.get("messages") or []:
            content = message["content"]
            for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                if block["type"] == "tool_use":
                    seen.call(block["id"], block["name"], block["input"])
                elif block["type"] == "tool_result":
                    seen.result(block["tool_use_id"], block.get("content"))
                elif block["type"] == "text" and message["role"] == "user":
                    seen.said.append(block["text"])
        return seen

    def answer(self, request, action):
        block, delta, reason = {"type": "text", "text": ""}, {"type": "text_delta", "text": action.get("say")}, "end_turn"
        if "tool" in action:
            block = {"type": "tool_use", "id": action["id"], "name": action["tool"], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(action["input"])}
            reason = "tool_use"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": request.get("model"), "usage": usage}
        if not request.get("stream"):
            whole = {**block, "input": action.get("input")} if "tool" in action else {"type": "text", "text": action["say"]}
            return {**message, "content": [whole], "stop_reason": reason, "stop_sequence": None}
        return [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "stop_sequence": None}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ]


class Chat:
    """Chat Completions of OpenAI."""

    def read(self, _, request):
        seen = Conversation()
        for tool in request.get("tools") or []:
            seen.tools[tool["function"]["name"]] = tool["function"].get("parameters") or {}
        for message in request.get("messages") or []:
            for call in message.get("tool_calls") or []:
                seen.call(call["id"], call["function"]["name"], call["function"]["arguments"])
            if message["role"] == "tool":
                seen.result(message["tool_call_id"], message.get("content"))
            elif message["role"] == "user":
                seen.said.append(text_of(message["content"]))
        return seen

    def answer(self, request, action):
        message, reason = {"role": "assistant", "content": action.get("say")}, "stop"
        if "tool" in action:
            function = {"name": action["tool"], "arguments": json.dumps(action["input"])}
            message["tool_calls"] = [{"index": 0, "id": action["id"], "type": "function", "function": function}]
            reason = "tool_calls"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        common = {"id": "chat_1", "created": 1, "model": request.get("model")}
        if not request.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return {**common, "object": "chat.completion", "choices": [choice], "usage": usage}
        chunk = {**common, "object": "chat.completion.chunk"}
        return [
            {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
            "[DONE]",
        ]


class Responses:
    """Responses of OpenAI."""

    def read(self, _, request):
        seen = Conversation()
        self.offer(seen, request.get("tools"), "")
        for item in request.get("input") or []:
            kind = item.get("type", "message")
            if kind in ("function_call", "custom_tool_call", "tool_search_call"):
                seen.call(item["call_id"], item.get("name", "tool_search"), item.get("arguments", item.get("input")))
            elif kind == "tool_search_output":
                seen.result(item["call_id"], "found")
                self.offer(seen, item.get("tools"), "")
            elif kind in ("function_call_output", "custom_tool_call_output"):
                seen.result(item["call_id"], item["output"])
            elif kind == "additional_tools":
                self.offer(seen, item.get("tools"), "")
            elif kind == "message" and item.get("role") == "user":
                seen.said.append(text_of(item["content"]))
        return seen

    def offer(self, seen, tools, space):
        for tool in tools or []:
            if tool["type"] == "namespace":
                self.offer(seen, tool["tools"], tool["name"])
            elif tool["type"] == "tool_search":
                seen.tools["tool_search"] = tool.get("parameters") or {}
            elif tool["type"] in ("function", "custom"):
                schema = dict(tool.get("parameters") or {"custom": True})
                seen.tools[f"{space}.{tool['name']}" if space else tool["name"]] = schema

    def answer(self, _, action):
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
        item["content"] = [{"type": "output_text", "text": action.get("say"), "annotations": []}]
        if "tool" in action:
            space, _, name = action["tool"].rpartition(".")
            item = {"call_id": action["id"], "id": "item_" + action["id"], "name": name, "status": "completed"}
            if name == "tool_search":
                item |= {"type": "tool_search_call", "execution": "client", "arguments": action["input"]}
                del item["name"]
            elif isinstance(action["input"], str):
                item |= {"type": "custom_tool_call", "input": action["input"]}
            else:
                item |= {"type": "function_call", "arguments": json.dumps(action["input"])}
            if space:
                item["namespace"] = space
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        response = {"id": "resp_1", "object": "response", "created_at": 1, "model": "fake", "output": []}
        return [
            {"type": "response.created", "response": {**response, "status": "in_progress"}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {**response, "output": [item], "status": "completed", "usage": usage}},
        ]


class Gemini:
    def read(self, path, request):
        seen = Conversation()
        for group in request.get("tools") or []:
            for tool in group.get("functionDeclarations") or []:
                seen.tools[tool["name"]] = tool.get("parametersJsonSchema") or tool.get("parameters") or {}
        called = answered = 0
        for content in request.get("contents") or []:
            for part in content.get("parts") or []:
                if "functionCall" in part:
                    called += 1
                    seen.call(called, part["functionCall"]["name"], part["functionCall"].get("args"))
                elif "functionResponse" in part:
                    answered += 1
                    seen.result(answered, part["functionResponse"].get("response"))
                elif "text" in part and content.get("role") == "user":
                    seen.said.append(part["text"])
        self.streams = "stream" in path
        return seen

    def answer(self, _, action):
        part = {"text": action.get("say")}
        if "tool" in action:
            call = {"id": action["id"], "name": action["tool"], "args": action["input"]}
            part = {"functionCall": call, "thoughtSignature": "c2lnbmF0dXJl"}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}
        return [answer] if self.streams else answer


def protocol_of(path):
    path = path.split("?")[0]
    if path.endswith("/messages"):
        return Anthropic()
    if path.endswith("/chat/completions"):
        return Chat()
    if path.endswith("/responses"):
        return Responses()
    if "enerateContent" in path:
        return Gemini()
    return None


def next_action(seen):
    """What the script has next in this conversation, once the result of the call before is what it should be."""
    name = seen.play()
    script = PLAYS.get(name)
    if script is None or not seen.tools:
        return {"say": "{}"}
    taken = seen.steps_taken()
    # Other clients wait for an agent by themselves, or hear from it when it is done.
    waits = name == "delegate" and (offered("wait", seen) or any(tool in SEARCHES for tool in seen.tools))
    waits = waits and any(call["name"].endswith("spawn_agent") for call in taken)
    script = [step for step in script if step["do"] != "wait" or waits]
    calls = iter(taken)
    for step in script:
        if step["do"] == "stop":
            # The client gets to know that the agent would stop, and goes on where it is told why it should.
            reminded = bool(re.search(step["expect"], "\n".join(seen.said)))
            note(play=name, step=step["name"], good=reminded)
            if reminded:
                continue
            return {"say": "I stop here."}
        call = next(calls, None)
        if call is not None and ASKS_FOR_FOLDER in (call["result"] or "") and "projectRoot" not in json.dumps(call["input"]):
            # What the refusal advises: the same call once more, with the folder.
            call = next(calls, None)
        if call is None:
            break
        result = call["result"] or ""
        good = re.search(step["expect"], result) and not re.search(step["never"], result)
        note(play=name, step=step["name"], tool=call["name"], good=bool(good), result=result, folder=where([call]))
        if not good and not step["soft"]:
            return {"say": f"Stopped: {step['name']} came to something else."}
    else:
        note(play=name, step="end", good=True)
        if "complete_task" in seen.tools and next(calls, None) is None:
            return {"tool": "complete_task", "input": fill(seen.tools["complete_task"], {}), "id": "call_end"}
        return {"say": "Done."}
    folder = where(taken)
    action = choose(step, seen, folder)
    if action is None:
        last = list(seen.calls.values())[-1]["name"] if seen.calls else ""
        if last not in SEARCHES and any(tool in SEARCHES for tool in seen.tools):
            return search(step, seen)
        note(play=name, step=step["name"], good=False, result="no such tool among " + ", ".join(sorted(seen.tools)))
        return {"say": "Stopped: there is no such tool."}
    return {**action, "id": f"call_{name}_{len(seen.calls)}"}


def where(calls):
    """The folder in which the client works, as the step that asks for it found out."""
    results = "\n".join(call["result"] or "" for call in calls)
    found = re.search(r'HERE(?:\s|\\n)+(/[^\s"\\<]+)', results)
    return found and found.group(1)


def search(step, seen):
    """Asks for tools that are there but not offered until they are looked for."""
    wanted = step["with"]["tool"] if step["do"] == "tramline" else TOOLS[step["do"]][-1]
    tool = next(tool for tool in SEARCHES if tool in seen.tools)
    return {"tool": tool, "input": {"query": wanted}, "id": f"call_search_{len(seen.calls)}"}


def choose(step, seen, folder):
    """The tool for a step and its input; none where no such tool is offered."""
    given = dict(step["with"])
    if step["do"] == "tramline":
        wanted = given.pop("tool")
        if any(ASKS_FOR_FOLDER in (call["result"] or "") for call in seen.steps_taken()):
            given["projectRoot"] = folder
        found = [tool for tool in seen.tools if re.search(rf"(^|[^a-z]){wanted}$", tool)]
        if found:
            return {"tool": found[0], "input": given}
        # A tool that was looked for, and is called through another one.
        known = "\n".join(call["result"] or "" for call in seen.calls.values() if call["name"] in SEARCHES)
        hidden = re.findall(rf"\b\w+__{wanted}\b", known)
        if hidden and "tool_call" in seen.tools:
            return {"tool": "tool_call", "input": {"name": hidden[0], "arguments": given}}
        return None
    found = offered(step["do"], seen)
    if not found and step["do"] == "read":
        return choose({"do": "shell", "with": {"command": f"cat {given['path']}"}}, seen, folder)
    if not found:
        return None
    tool, schema = found[0], seen.tools[found[0]]
    if step["do"] == "wait":
        given["agents"] = re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", seen.steps_taken()[-1]["result"] or "")
    if "path" in given:
        given["path"] = f"{folder}/{given['path']}"
    if tool == "apply_patch":
        text = patch(given)
        return {"tool": tool, "input": text if schema.get("custom") else {next(iter(schema["properties"])): text}}
    return {"tool": tool, "input": fill(schema, given)}


def offered(action, seen):
    """The tools for an action, best first, by the names under which they are offered."""
    return [tool for name in TOOLS[action] for tool in seen.tools if tool.split(".")[-1] == name]


def patch(given):
    if "content" in given:
        lines = ["*** Add File: " + given["path"]] + ["+" + line for line in given["content"].splitlines()]
    else:
        lines = ["*** Update File: " + given["path"], "@@", "-" + given["old"], "+" + given["new"]]
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"]) + "\n"


def fill(schema, given):
    """Arguments of a tool: what is given, under the names that its schema has, and something for what else it needs."""
    arguments = {}
    for name, about in schema.get("properties", {}).items():
        means = [meaning for meaning, names in PARAMETERS.items() if name in names and given.get(meaning)]
        kind = str(about.get("type", "string")).lower()
        if means:
            value = given[means[0]]
            shell = means[0] == "command" and kind == "array" and name == "command"
            bare = kind == "array" and not isinstance(value, list)
            arguments[name] = ["sh", "-c", value] if shell else [value] if bare else value
        elif name in schema.get("required", []):
            other = {"boolean": False, "number": 1, "integer": 1, "array": [], "object": {}}
            arguments[name] = about.get("enum", [other.get(kind, "as the script says")])[0]
    return arguments


def note(**what):
    with LOCK:
        STEPS.write(json.dumps(what) + "\n")
        STEPS.flush()


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, body, kind):
        body = body.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        models = [{"id": "fake", "object": "model", "owned_by": "nobody"}]
        self.send(json.dumps({"object": "list", "data": models}), "application/json")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        protocol = protocol_of(self.path)
        try:
            request = json.loads(body or b"{}")
        except ValueError:
            protocol = None
        if protocol is None:
            return self.send(json.dumps({"totalTokens": 1, "input_tokens": 1}), "application/json")
        with LOCK:
            REQUESTS.write(json.dumps({"path": self.path, "request": request}) + "\n")
            REQUESTS.flush()
        answer = protocol.answer(request, next_action(protocol.read(self.path, request)))
        if isinstance(answer, dict):
            return self.send(json.dumps(answer), "application/json")
        lines = []
        for event in answer:
            name = f"event: {event['type']}\n" if "type" in event else ""
            lines.append(f"{name}data: {event if isinstance(event, str) else json.dumps(event)}\n\n")
        self.send("".join(lines), "text/event-stream")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()

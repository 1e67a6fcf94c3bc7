"""Stands in for a model of Anthropic's: answers a client's requests with the steps of a script, one after the other."""

import http.server
import json
import sys

steps = iter(json.load(open(sys.argv[1])))
written = open(sys.argv[2], "w")


def events(step, model):
    if "say" in step:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": step["say"]}
        reason = "end_turn"
    else:
        block = {"type": "tool_use", "id": step["id"], "name": step["tool"], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(step["input"])}
        reason = "tool_use"
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg", "type": "message", "role": "assistant", "model": model, "content": [], "usage": usage}
    yield {"type": "message_start", "message": message}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}
    yield {"type": "message_stop"}


class Model(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
        tools = [tool.get("name") for tool in request.get("tools") or []]
        if "Bash" in tools:
            # What the client has to say to the agent stands in the messages.
            written.write(json.dumps({"tools": tools, "messages": request["messages"]}) + "\n")
            written.flush()
            step = next(steps, {"say": "I am done."})
        else:
            step = {"say": "ok"}
        lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events(step, request.get("model")))
        body = "".join(lines).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(server.server_port, flush=True)
server.serve_forever()

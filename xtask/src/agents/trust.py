"""Trusts every hook that Codex finds for a project, as `/hooks` does for a user who looked at them.

Usage: trust.py PROJECT. Codex, which is on the PATH, lists the hooks and records the trust through its app server.
"""

import json
import subprocess
import sys

server = subprocess.Popen(
    ["codex", "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
)


def ask(number, method, params):
    server.stdin.write(json.dumps({"id": number, "method": method, "params": params}) + "\n")
    server.stdin.flush()
    for line in server.stdout:
        answer = json.loads(line)
        if answer.get("id") == number:
            return answer.get("result") or sys.exit(f"codex app-server, {method}: {answer}")
    sys.exit(f"codex app-server ended before it answered {method}")


ask(1, "initialize", {"clientInfo": {"name": "trust", "version": "1"}, "capabilities": {"experimentalApi": True}})
found = ask(2, "hooks/list", {"cwds": sys.argv[1:]})
hooks = [hook for entry in found["data"] for hook in entry["hooks"]]
if not hooks:
    sys.exit("codex finds no hook")
state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
ask(3, "config/batchWrite", {"edits": [edit], "reloadUserConfig": True})
server.stdin.close()
server.wait()

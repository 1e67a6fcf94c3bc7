"""Trusts every hook that Codex finds for a project, as `/hooks` does for a user who looked at them.

Usage: trust.py PROJECT. Codex itself, which is on the PATH, names the hooks and their hashes through its app server.
"""

import json
import os
import subprocess
import sys

server = subprocess.Popen(["codex", "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def ask(number, method, params):
    server.stdin.write(json.dumps({"id": number, "method": method, "params": params}) + "\n")
    server.stdin.flush()
    for line in server.stdout:
        answer = json.loads(line)
        if answer.get("id") == number:
            return answer["result"]
    sys.exit(f"codex app-server ended before it answered {method}")


ask(1, "initialize", {"clientInfo": {"name": "trust", "version": "1"}, "capabilities": {"experimentalApi": True}})
found = ask(2, "hooks/list", {"cwds": sys.argv[1:]})
with open(os.path.expanduser("~/.codex/config.toml"), "a") as config:
    for hook in (hook for entry in found["data"] for hook in entry["hooks"]):
        config.write(f"\n[hooks.state.{json.dumps(hook['key'])}]\ntrusted_hash = {json.dumps(hook['currentHash'])}\n")
server.stdin.close()
server.wait()

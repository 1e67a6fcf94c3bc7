"""Plays one cell of the table: one client in one version, set up in one way, at work in one place.

Usage: play.py CELL, which is JSON: {"client": its description (xtask/agents/clients), "way", "place", "packages": where
the client is installed, "tm": the program, "plugins": a checkout with the plugins, "work": an empty folder, "alone":
whether this runs in a network of its own}. It prints the outcome: `whole cycle`, or what went wrong. The folder keeps
what the set-up and the client printed (setup.log, client.log), what each step came to (steps.jsonl), and what the
client asked the model (requests.jsonl).
"""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CELL = json.loads(sys.argv[1])
CLIENT, WAY, PLACE = CELL["client"], CELL["way"], CELL["place"]
WORK = Path(CELL["work"]).resolve()
HOME, PROJECT, BIN = WORK / "home", WORK / "project", WORK / "bin"
# Seconds that a command of the set-up may take, and the client with the whole cycle.
SHORT, LONG = 60, 180
KILLED = "\nkilled: the time is up\n"

PRODUCT = 'def greet():\n    return ""\n'
TEST = """import unittest

from greet import greet


class Greets(unittest.TestCase):
    def test_hello(self):
        self.assertEqual(greet(), "hello")
"""
PROJECT_FILES = {
    "greet.py": PRODUCT,
    "tests/__init__.py": "",
    "tests/test_old.py": "import unittest\n\n\nclass Old(unittest.TestCase):\n    def test_old(self):\n        pass\n",
    "pyproject.toml": "[project]\nname = 'greet'\nversion = '0'\n",
    ".gitignore": "__pycache__/\n",
}


class Fault(Exception):
    """What keeps the cell from being played to its end."""


def step(title, do, expect="", never="(?!)", soft=False, **given):
    return {"name": title, "do": do, "with": given, "expect": expect, "never": never, "soft": soft}


def tramline(name, tool, expect, soft=False, **given):
    return {**step(name, "tramline", expect, soft=soft), "with": {"tool": tool, **given}}


def plays():
    """What the model does, step by step: `expect` has to be in the result of each, and `never` must not be."""
    edit = {"path": "greet.py", "old": '    return ""', "new": '    return "hello"'}
    task = {"title": "Greet people", "subtasks": ["Say hello"], "options": {"testCommand": "python3 -m unittest"}}
    cycle = [
        step("where", "shell", r"HERE(\s|\\n)+/", command="echo HERE; pwd"),
        # An error is read by the agent as well, not only what went well.
        tramline("error", "autopilot_next", "there is no run in", soft=True),
        tramline("start", "autopilot_start", '"action": ?"red"', **task),
        tramline("next", "autopilot_next", '"action": ?"red"'),
        step("read", "read", "greet", path="greet.py"),
        step("product in RED", "edit", "Not edited: greet.py", **edit),
        step("commit in RED", "shell", "No commit was made", command="git commit --allow-empty -m wip"),
        step("reminder", "stop", "is not over"),
        step("test in RED", "create", never="Not edited|Denied|blocked", path="tests/test_greet.py", content=TEST),
        tramline("RED", "autopilot_complete_phase", "RED accepted", verify=True),
        step("product in GREEN", "edit", never="Not edited|Denied|blocked", **edit),
        tramline("GREEN", "autopilot_complete_phase", "GREEN accepted", verify=True),
        tramline("COMMIT", "autopilot_commit", "commitSha"),
        tramline("FINALIZE", "autopilot_finalize", "full suite passes", verify=True),
    ]
    # Some clients quote a result once more.
    for one in cycle:
        one["expect"] = one["expect"].replace('"', '\\\\*"')
    if not CLIENT.get("hook", True):
        cycle = [one for one in cycle if one["name"] not in ("product in RED", "commit in RED")]
    if not CLIENT.get("reminder", True) or PLACE == "subagent":
        cycle = [one for one in cycle if one["name"] != "reminder"]
    if PLACE == "entered":
        cycle.insert(0, step("enter", "enter", name="lane"))
    delegate = [
        step("delegate", "delegate", prompt="PLAY cycle", agent=CLIENT.get("agent", "")),
        step("wait", "wait", milliseconds=LONG * 1000),
    ]
    return {"cycle": cycle, "delegate": delegate}


def environment():
    """Nothing of the caller's but where programs are: no account, no settings, no proxy."""
    return {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "HOME": str(HOME),
        "TMPDIR": str(WORK / "tmp"),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "SHELL": "/bin/sh",
        "NO_COLOR": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        # Where there is no network of its own, nobody is reached either.
        "HTTP_PROXY": "http://127.0.0.1:9",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1,localhost",
        "npm_config_registry": "http://127.0.0.1:9",
        "npm_config_fetch_retries": "0",
    }


ENVIRONMENT = environment()


def run(command, what, seconds=SHORT, folder=PROJECT, log=None, good=True):
    """Runs a command in a session of its own, which is killed as a whole when the time is up."""
    child = subprocess.Popen(
        command, cwd=folder, env=ENVIRONMENT, start_new_session=True, text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    try:
        text, _ = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        text, _ = child.communicate()
        text += KILLED
    with open(WORK / (log or "setup.log"), "a") as file:
        file.write(f"$ {' '.join(map(str, command))}\n{text}\n")
    if good and child.returncode != 0:
        raise Fault(what)
    return text


def git(*words):
    return run(["git", *words], "git").strip()


def filled(value, more):
    """The texts of a description with the values for this cell: {project}, {port} and so on."""
    if isinstance(value, list):
        return [filled(one, more) for one in value]
    for name, text in more.items():
        value = value.replace("{" + name + "}", str(text))
    return value


def write_files(folder, files, more):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(filled(text, more))


def snapshot(folder):
    """Every file with its bytes, and every empty folder, but for git's, the store of runs and worktrees."""
    found = {}
    for path, folders, files in os.walk(folder):
        folders[:] = [one for one in folders if one not in (".git", "__pycache__", "worktrees", "node_modules")]
        if path == str(HOME):
            folders[:] = [one for one in folders if one != ".taskmaster"]
        for name in files:
            file = Path(path, name)
            found[str(file.relative_to(folder))] = file.read_bytes() if file.is_file() else None
        if not os.listdir(path):
            found[str(Path(path).relative_to(folder)) + "/"] = None
    return found


def changed(before, after):
    names = sorted(set(before) | set(after))
    return [name for name in names if before.get(name, "absent") != after.get(name, "absent")]


def set_up(values):
    """The project, the client's own settings, and Tramline in the way that is tried. Gives the project's files before it."""
    for folder in (HOME, PROJECT, BIN, WORK / "tmp"):
        folder.mkdir(parents=True, exist_ok=True)
    for name, places in CLIENT["programs"].items():
        found = [path for place in places for path in sorted(glob.glob(f"{CELL['packages']}/{place}"), key=len)]
        if not found:
            raise Fault(f"no program {name} in the packages")
        (BIN / name).symlink_to(found[0])
    (BIN / "tm").symlink_to(CELL["tm"])
    for name, text in CLIENT.get("environment", {}).items():
        ENVIRONMENT[name] = filled(text, values)
    write_files(HOME, CLIENT.get("home", {}), values)

    write_files(PROJECT, PROJECT_FILES, values)
    if PLACE == "own":
        write_files(PROJECT, CLIENT["own"], values)
    git("init", "--quiet", "--initial-branch=main")
    git("config", "user.name", "A Person")
    git("config", "user.email", "person@example.org")
    git("add", "--all")
    git("commit", "--quiet", "--message", "begin")
    before = snapshot(PROJECT)
    if WAY == "init":
        run(["tm", "init", "--client", CLIENT["init"], "--hook", "--yes"], "tm init")
        git("add", "--all")
        git("commit", "--quiet", "--message", "set up")
    elif WAY == "hand":
        write_files(HOME, CLIENT["hand"], values)
    else:
        copy = WORK / "marketplace"
        for name in (".claude-plugin", ".agents", "plugins"):
            shutil.copytree(Path(CELL["plugins"], name), copy / name)
        if "program" in CLIENT["plugin"]:
            (copy / CLIENT["plugin"]["program"]).parent.mkdir()
            shutil.copy(CELL["tm"], copy / CLIENT["plugin"]["program"])
        for command in filled(CLIENT["plugin"]["install"], values):
            run(command, "install")
    for command in filled(CLIENT.get(f"before_{WAY}", []), values):
        run(command, "set-up of the client")
    return before


def play(values):
    """Has the client do it all. Gives the steps that came to something else, in order, and where it worked."""
    prompt = "PLAY delegate" if PLACE == "subagent" else "PLAY cycle"
    values = {**values, "prompt": prompt, "server": CLIENT.get("servers", {}).get(WAY, "")}
    command = CLIENT["command"]
    if "worktree" in CLIENT:
        at = command.index("{worktree}")
        command = command[:at] + (CLIENT["worktree"] if PLACE == "worktree" else []) + command[at + 1 :]
    command = filled(command, values)
    said = run(command, "client", LONG, log="client.log", good=False)

    seen = {}
    for line in (WORK / "steps.jsonl").read_text().splitlines():
        note = json.loads(line)
        seen[note["play"], note["step"]] = note
    failed = [step for (_, step), note in seen.items() if not note["good"]]
    if ("cycle", "end") not in seen and not [one for one in failed if one != "error"]:
        steps = [step for play, step in seen if play == "cycle"]
        failed.append(f"ends after {steps[-1]}" if steps else "never begins")
    if said.endswith(KILLED):
        failed.append("hangs")
    return failed, seen.get(("cycle", "where"), {}).get("folder")


def judge(folder, start):
    """What is wrong with what the run left behind: the commit, where it is, and whether it was earned."""
    faults = []
    at_home = folder == str(PROJECT)
    if at_home != (PLACE not in ("worktree", "entered")):
        faults.append(f"works in {'the project' if at_home else folder}")
    branch = "master/task-greet-people"
    subjects = run(["git", "log", "--format=%s", f"{start}..{branch}", "--"], "git", good=False).splitlines()
    if subjects != ["feat(greet): say hello (task greet-people.1)"]:
        faults.append("commit")
    if git("rev-parse", "main") != start:
        faults.append("main has moved")
    if not at_home and git("branch", "--show-current") != "main":
        faults.append("switches the checkout of the user")
    verdict = run(["tm", "verify", f"{start}..{branch}", "--require", "verified"], "tm verify", good=False)
    if "the commit was earned" not in verdict:
        faults.append("tm verify")
    return faults


def remove(before, values):
    """What is not as it was before, once Tramline is removed: in the project, and in the home."""
    faults = []
    git("switch", "--quiet", "--force", "main")
    installed = snapshot(PROJECT)
    if WAY == "init":
        run(["tm", "init", "--remove", "--yes"], "tm init --remove")
    elif WAY == "plugin":
        for command in filled(CLIENT["plugin"]["remove"], values):
            run(command, "removal of the plugin")
    after = snapshot(PROJECT)
    # What the client itself added to the project is its own affair, and not in what was committed.
    ours = set(git("ls-tree", "-r", "--name-only", "main").splitlines()) | set(before)
    faults += [name for name in changed(before, after) if name in ours or name not in installed]

    if WAY == "init" and CLIENT.get("user", True):
        home = snapshot(HOME)
        run(["tm", "init", "--user", "--client", CLIENT["init"], "--yes"], "tm init --user")
        if snapshot(HOME) == home:
            faults.append("tm init --user writes nothing")
        run(["tm", "init", "--user", "--client", CLIENT["init"], "--remove", "--yes"], "tm init --user --remove")
        faults += [f"~/{name}" for name in changed(home, snapshot(HOME))]
    return [f"removal leaves {name}" for name in faults]


def outcome():
    if CELL["alone"]:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    (WORK / "script.json").write_text(json.dumps(plays()))
    model = subprocess.Popen([sys.executable, HERE / "model.py", WORK / "script.json", WORK], stdout=subprocess.PIPE, text=True)
    try:
        port = model.stdout.readline().strip()
        values = {"port": port, "project": PROJECT, "home": HOME, "agents": HERE, "marketplace": WORK / "marketplace"}
        before = set_up(values)
        start = git("rev-parse", "main")
        faults, folder = play(values)
        if folder and not [fault for fault in faults if fault != "error"]:
            faults += judge(folder, start)
        faults += remove(before, values)
        return ", ".join(faults) or "whole cycle"
    except Fault as fault:
        return f"{fault} fails"
    finally:
        model.kill()


print(outcome())

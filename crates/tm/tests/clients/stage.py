"""A home and a repository of its own for each story, and the programs that run in them."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

TASKS_PATH = ".taskmaster/tasks/tasks.json"

TASKS = {
    "master": {
        "tasks": [
            {
                "id": 1,
                "title": "Text statistics",
                "description": "Numbers about a text.",
                "status": "pending",
                "subtasks": [
                    {"id": 1, "title": "Count words", "description": "Words of a text.", "status": "pending"},
                    {
                        "id": 2,
                        "title": "Average words per line",
                        "description": "Words divided by lines.",
                        "status": "pending",
                        "dependencies": [3],
                    },
                    {"id": 3, "title": "Count lines", "description": "Lines of a text.", "status": "pending"},
                ],
            },
            {"id": 2, "title": "Count letters", "description": "Only letters.", "status": "pending"},
            {"id": 3, "title": "Count digits", "description": "Only digits.", "status": "pending"},
        ],
        "metadata": {},
    }
}

CONFIG = {"test": {"command": "python3 -m unittest", "patterns": ["tests/**"]}}

BEGIN = """import unittest


class Begin(unittest.TestCase):
    def test_tests_are_run(self):
        pass
"""


@dataclass
class Counts:
    """What the test runner printed."""

    passed: int
    failed: int
    errors: int

    def results(self):
        return {"passed": self.passed, "failed": self.failed, "errors": self.errors}


class Stage:
    def __init__(self, binary):
        self.binary = binary
        # The real path: a temporary folder may be behind a link.
        self.folder = Path(tempfile.mkdtemp(prefix="tm-clients-")).resolve()
        self.project = self.folder / "project"
        self.elsewhere = self.folder / "elsewhere"
        home = self.folder / "home"
        for folder in (self.project, self.elsewhere, home):
            folder.mkdir()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TRAMLINE_HOME": str(home / "store"),
            "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "NO_COLOR": "1",
            "USER": "tester",
        }
        self.write(TASKS_PATH, json.dumps(TASKS, indent=2) + "\n")
        self.write(".taskmaster/config.json", json.dumps(CONFIG))
        self.write(".gitignore", "__pycache__/\n")
        self.write("tests/__init__.py", "")
        self.write("tests/test_begin.py", BEGIN)
        self.write("textstat/__init__.py", "")
        self.git("init", "--quiet", "--template=")
        self.git("symbolic-ref", "HEAD", "refs/heads/main")
        self.git("config", "user.name", "Somebody")
        self.git("config", "user.email", "somebody@localhost")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "Begin")

    def write(self, name, text):
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(self, name):
        return (self.project / name).read_text()

    def run(self, program, *arguments):
        return subprocess.run(
            [program, *arguments], cwd=self.project, env=self.env, capture_output=True, text=True, check=False
        )

    def git(self, *arguments):
        ran = self.run("git", *arguments)
        assert ran.returncode == 0, ran
        return ran.stdout.rstrip("\n")

    def tm(self, status, *arguments):
        """The command line, as another process; it must come to this exit status."""
        ran = self.run(self.binary, *arguments, "--json")
        assert ran.returncode == status, ran
        return json.loads(ran.stdout)

    def run_tests(self):
        """Runs the project's tests, and reads the numbers that the runner prints."""
        ran = self.run(sys.executable, "-m", "unittest")
        total = re.search(r"^Ran (\d+) tests? in", ran.stderr, re.MULTILINE)
        last = ran.stderr.rstrip().splitlines()[-1]
        assert total and re.match(r"OK|FAILED", last), ran
        told = {word: int(count) for word, count in re.findall(r"(failures|errors)=(\d+)", last)}
        failed, errors = told.get("failures", 0), told.get("errors", 0)
        return Counts(passed=int(total[1]) - failed - errors, failed=failed, errors=errors)

    def slow_down_commits(self, seconds):
        """Makes every commit take so many seconds."""
        hook = self.project / ".git/hooks/pre-commit"
        hook.parent.mkdir(parents=True, exist_ok=True)
        hook.write_text(f"#!/bin/sh\nexec sleep {seconds}\n")
        hook.chmod(0o755)

    def commits_at_once(self):
        (self.project / ".git/hooks/pre-commit").unlink()

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

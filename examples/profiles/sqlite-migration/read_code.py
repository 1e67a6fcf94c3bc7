"""Reads the SQL of a migration, tries it forward and back, and adds what can be worked out from it.

What is wrong with the response is an answer: status ERROR, and the session says why. What is wrong around it, such as
a schema that is not there, ends this with a status other than 0: the session stays where it is, and the same response
is read again once that is mended.
"""

import hashlib
import itertools
import json
import re
import sqlite3
import sys
from pathlib import Path

# SQLite's steps, in thousands, after which a file counts as endless.
MOST_STEPS = 20_000
PRAGMAS = {"foreign_keys", "defer_foreign_keys", "legacy_alter_table"}


class Refused(Exception):
    """The response cannot be taken; the text is for whoever wrote it."""


def blocks(response):
    """The code blocks called up.sql and down.sql."""
    found, name, fence, lines = {}, None, None, []
    for number, line in enumerate(response.splitlines(), start=1):
        if fence is None:
            opened = re.match(r" {0,3}(`{3,}|~{3,})(.*)$", line)
            if opened:
                fence, info, begun = opened[1], opened[2].split(), number
                name = next((word for word in info if word in ("up.sql", "down.sql")), None)
                lines = []
        elif re.fullmatch(r" {0,3}%s+\s*" % re.escape(fence), line):
            if name in found:
                raise Refused(f"line {begun}: there are two blocks called {name}; leave one out")
            if name:
                found[name] = "\n".join(lines).strip() + "\n"
            fence = None
        else:
            lines.append(line)
    if fence is not None:
        raise Refused(f"line {begun}: the code block does not end; close it, or it was cut off")
    return found


def statements(name, text):
    """The statements of a file, one by one."""
    begun = ""
    for part in re.split(r"(?<=;)", text):
        begun += part
        if sqlite3.complete_statement(begun):
            yield begun.strip()
            begun = ""
    if re.sub(r"--[^\n]*|/\*[\s\S]*?\*/", "", begun).strip():
        raise Refused(f"{name}: the last statement does not end with a semicolon")


class Database:
    """A database in memory that reaches nothing outside of it."""

    def __init__(self, schema):
        self.denied = None
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        # A row may hold text that is no UTF-8.
        self.connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")
        self.connection.executescript(schema)
        self.connection.execute("PRAGMA foreign_keys = ON")
        self.connection.set_authorizer(self.may)

    def may(self, action, one, two, _database, _trigger):
        told = {
            sqlite3.SQLITE_ATTACH: "ATTACH or VACUUM",
            sqlite3.SQLITE_DETACH: "DETACH",
            sqlite3.SQLITE_TRANSACTION: str(one),
            sqlite3.SQLITE_SAVEPOINT: "SAVEPOINT",
        }.get(action)
        if action == sqlite3.SQLITE_PRAGMA and str(one).lower() not in PRAGMAS:
            told = f"PRAGMA {one}"
        if action == sqlite3.SQLITE_FUNCTION and two == "load_extension":
            told = "load_extension"
        if told is None:
            return sqlite3.SQLITE_OK
        self.denied = told
        return sqlite3.SQLITE_DENY

    def run(self, name, text):
        """Runs a file; how many statements it has."""
        count = 0
        steps = itertools.count()
        self.connection.set_progress_handler(lambda: next(steps) > MOST_STEPS, 1_000)
        for count, statement in enumerate(statements(name, text), start=1):
            try:
                self.connection.execute(statement).fetchall()
            except (sqlite3.Error, sqlite3.Warning) as error:
                why = f"{self.denied} is not allowed" if self.denied else error
                if str(error) == "interrupted":
                    why = "it takes far too many steps"
                raise Refused(f"{name}, statement {count}: {why}") from None
        self.connection.set_progress_handler(None, 0)
        if count == 0:
            raise Refused(f"{name}: there is no statement in it")
        return count

    def looks(self):
        """What is there: the SQL of each table, index, view and trigger."""
        rows = self.connection.execute(
            "SELECT type || ' ' || name, sql FROM sqlite_master"
            " WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type != 'table', 1"
        )
        return dict(rows.fetchall())

    def rows(self):
        """The rows of each table, in no order."""
        tables = [what[6:] for what in self.looks() if what.startswith("table ")]
        quoted = {table: '"' + table.replace('"', '""') + '"' for table in tables}
        return {
            table: sorted(map(repr, self.connection.execute(f"SELECT * FROM {quoted[table]}")))
            for table in tables
        }


def plain(sql):
    """SQL without what makes no difference: case, quotation marks of names, white space."""
    text = re.sub(r'["`\[\]]', "", sql.lower())
    return re.sub(r"\s*([(),=])\s*", r"\1", " ".join(text.split()))


def tried(schema, up, down, keeps_rows):
    """Goes forward and back. What there is after going forward, and how many statements there were."""
    try:
        database = Database(schema)
    except sqlite3.Error as error:
        sys.exit(f"the schema that the trial begins with is no valid SQL: {error}")
    before, rows_before = database.looks(), database.rows()
    counts = {"up.sql": database.run("up.sql", up)}
    after = database.looks()
    if after == before and database.rows() == rows_before:
        raise Refused("up.sql: it changes nothing")
    counts["down.sql"] = database.run("down.sql", down)
    back = database.looks()
    for what in sorted(before.keys() | back.keys()):
        if what not in back:
            raise Refused(f"down.sql: {what} is gone after it, and was there before up.sql")
        if what not in before:
            raise Refused(f"down.sql: {what} is still there after it")
        if plain(before[what]) != plain(back[what]):
            raise Refused(f"down.sql: {what} is not what it was: {' '.join(back[what].split())}")
    if keeps_rows:
        rows_back = database.rows()
        for table, rows in rows_before.items():
            if rows != rows_back[table]:
                raise Refused(f"down.sql: the rows of the table {table} are not what they were")
    return before, after, counts


def schema_of(request):
    """The database as it is, from the project."""
    root = Path(request["project_root"]).resolve()
    path = (root / request["inputs"]["schema"]).resolve()
    if root not in path.parents:
        sys.exit(f"the schema {request['inputs']['schema']!r} lies outside of the project")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        sys.exit(f"the schema cannot be read: {error}")


def folder_of(inputs):
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", inputs["name"]):
        raise Refused(f"{inputs['name']!r} is no name in lower case such as add-email")
    if not 0 < inputs["number"] < 10_000:
        raise Refused(f"{inputs['number']} is no number of a migration")
    return f"migrations/{inputs['number']:04}-{inputs['name']}"


def read(request):
    inputs = request["inputs"]
    folder = folder_of(inputs)
    if "\0" in request["response"]:
        raise Refused("there is a NUL in it; write plain text")
    found = blocks(request["response"])
    if not found:
        raise Refused("there is no code block called up.sql or down.sql")
    for name in ("up.sql", "down.sql"):
        kept = Path(request["code_dir"]) / folder / name
        if name not in found and request["phase"] == "revision" and kept.is_file():
            found[name] = kept.read_text(encoding="utf-8")
        if name not in found:
            raise Refused(f"there is no code block called {name}")
    up, down = found["up.sql"], found["down.sql"]
    keeps_rows = inputs["way_back"] == "keeps-rows"
    before, after, counts = tried(schema_of(request), up, down, keeps_rows)
    manifest = {
        "number": inputs["number"],
        "name": inputs["name"],
        "keeps_rows": keeps_rows,
        "adds": sorted(after.keys() - before.keys()),
        "changes": sorted(what for what in after.keys() & before.keys() if after[what] != before[what]),
        "removes": sorted(before.keys() - after.keys()),
        "sha256": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in found.items()},
    }
    files = {
        "up.sql": up,
        "down.sql": down,
        "schema.sql": "".join(f"{sql};\n" for sql in after.values()),
        "migration.json": json.dumps(manifest, indent=2, sort_keys=True) + "\n",
    }
    return {
        "status": "SUCCESS",
        "files": [{"path": f"{folder}/{name}", "content": text} for name, text in files.items()],
        "messages": [f"{count} statements of {name} ran" for name, count in counts.items()],
    }


def main():
    try:
        answer = read(json.load(sys.stdin))
    except Refused as why:
        answer = {"status": "ERROR", "error_message": str(why)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()

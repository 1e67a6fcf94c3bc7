"""Reads the table of findings that a review ends with: with a critical or a major one it does not pass."""

import json
import re
import sys

HEAD = ["severity", "where", "finding"]
SEVERITIES = ("critical", "major", "minor")


class Unclear(Exception):
    """The review cannot be taken; the text is for whoever wrote it."""


def cells(line):
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)]


def findings(response):
    """The rows of the table, each as severity, place and text."""
    found, in_table, tables, none_said = [], False, 0, False
    for number, line in enumerate(response.splitlines(), start=1):
        row = cells(line) if line.lstrip().startswith("|") else None
        if row is None:
            in_table = False
            none_said = none_said or line.strip().strip("*_").lower() == "no findings."
        elif [cell.lower() for cell in row] == HEAD:
            in_table, tables = True, tables + 1
        elif in_table and not all(re.fullmatch(r":?-+:?", cell) for cell in row):
            if len(row) != len(HEAD) or not all(row):
                raise Unclear(f"line {number}: a finding has three cells, and none is empty: severity, where, finding")
            severity = row[0].strip("*`").lower()
            if severity not in SEVERITIES:
                raise Unclear(f"line {number}: {row[0]!r} is no severity; there are {', '.join(SEVERITIES)}")
            found.append((severity, row[1], row[2]))
    if tables > 1:
        raise Unclear("there are several tables of findings; put them together")
    if found and none_said:
        raise Unclear("there are findings, and the line `No findings.`; take one away")
    if not found and not none_said:
        raise Unclear("there is no finding, and no line `No findings.`; write one of the two")
    return found


def read(request):
    found = findings(request["response"])
    told = [f"{severity}, {where}: {finding}" for severity, where, finding in found]
    must = sum(severity != "minor" for severity, _, _ in found)
    if must:
        why = f"{must} of {len(found)} findings must be mended"
        return {"status": "FAILED", "error_message": why, "messages": told}
    return {"status": "SUCCESS", "messages": told}


def main():
    try:
        answer = read(json.load(sys.stdin))
    except Unclear as why:
        answer = {"status": "ERROR", "error_message": str(why)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()

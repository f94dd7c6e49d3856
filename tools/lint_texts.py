#!/usr/bin/env python3
# tools/lint_texts.py [ROOT] [--write] - texts that programs read stay as recorded in tests/lint/fixed_texts.txt.
#
# Design note: messages are for people and may be reworded; two kinds of text are not.  The names of log events are
# searched for by scripts: the record holds all of them, and both a new and a lost name are findings (--write records
# the names of today).  HTCondor's own texts (reasons of held jobs, lines of event logs, heads of columns) are matched
# by its users' scripts: each recorded one must still be a whole string literal of the source; a new one is added to the
# record by hand.  Files are not named in the record, so that code may move.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import sys

import csource

RECORD = "tests/lint/fixed_texts.txt"
SKIPPED = ["tests/**", "bench/**", "sim/**"]
EVENT = r"[a-z_]+(?:\.[a-z_]+)*"
_LOG = re.compile(r"\blog_(?:error|warn|info|debug)\s*\(")
_STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')
# String literals that stand behind one another are one, also with a format's PRId64 between them.
_JOINED = re.compile(r'"(?:(?:\\.|[^"\\\n])*)"(?:\s*(?:PRI[a-zA-Z0-9]+\s*)?"(?:(?:\\.|[^"\\\n])*)")*')


def _second_argument(text, start):
    """The source of a call's second argument; start is behind its opening parenthesis."""
    depth = 0
    commas = []
    for place in range(start, len(text)):
        char = text[place]
        if char in "([{":
            depth += 1
        elif char in ")]}":
            if depth == 0:
                commas.append(place)
                break
            depth -= 1
        elif char == "," and depth == 0:
            commas.append(place)
        if len(commas) == 2:
            break
    return text[commas[0] : commas[1]] if len(commas) == 2 else ""


def _events(text):
    """The names of log events in one file: what log_*() gets, and, where one gets a variable, what looks like a name."""
    places = csource.without_comments(text)
    names = set()
    for match in _LOG.finditer(places):
        if re.search(r"#define\s+$", places[max(0, match.start() - 20) : match.start()]):
            continue
        argument = _second_argument(places, match.end())
        start = places.find(argument, match.end()) if argument else -1
        quoted = _STRING.findall(text[start : start + len(argument)]) if start >= 0 else []
        if quoted:
            names.update(name for name in quoted if re.fullmatch(EVENT, name))
        else:
            dotted = r'"([a-z_]+(?:\.[a-z_]+)+)"'
            names.update(re.findall(dotted, csource.without_comments(text, keep_strings=True)))
    return {name for name in names if not name.endswith((".c", ".h"))}


def _literals(text):
    for match in _JOINED.finditer(csource.without_comments(text, keep_strings=True)):
        yield re.sub(r'"\s*(PRI[a-zA-Z0-9]+)\s*"', r"{\1}", match.group())[1:-1] if "PRI" in match.group() else "".join(
            _STRING.findall(match.group())
        )


def main():
    write = "--write" in sys.argv
    roots = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    root = os.path.abspath(roots[0] if roots else os.path.join(os.path.dirname(__file__), ".."))
    events, texts = {}, set()
    for name in csource.tree_files(root):
        if not name.endswith((".c", ".h")) or csource.match_any(name, SKIPPED):
            continue
        source = csource.read(root, name)
        texts.update(_literals(source))
        if name.endswith(".c") and "log_" in source:
            for event in _events(source):
                events.setdefault(event, name)

    record = os.path.join(root, RECORD)
    lines = csource.read(root, RECORD).splitlines() if os.path.exists(record) else []
    if write:
        kept = [line for line in lines if not line.startswith("event ")]
        with open(record, "w", encoding="utf-8") as file:
            file.write("\n".join(kept + [f"event {event}" for event in sorted(events)]) + "\n")
        return
    findings = csource.Findings()
    recorded = set()
    for number, line in enumerate(lines, 1):
        kind, _, rest = line.partition(" ")
        if kind == "event":
            recorded.add(rest)
            if rest not in events:
                findings.add(RECORD, number, f"the log event '{rest}' is gone, and scripts may search for it; restore it, or run tools/lint_texts.py --write")
        elif kind == "text" and rest[1:-1] not in texts:
            findings.add(RECORD, number, f"no string literal is {rest} any more; restore it, because scripts search for this text of HTCondor")
    for event in sorted(set(events) - recorded):
        findings.add(events[event], 1, f"the log event '{event}' is not in {RECORD}; run tools/lint_texts.py --write to add it")
    findings.finish()


main()

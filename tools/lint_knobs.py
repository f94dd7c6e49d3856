#!/usr/bin/env python3
# tools/lint_knobs.py KNOBS_DUMP [ROOT] - code, etc/ and docs/CONFIG.md agree with the tables of knobs.
#
# KNOBS_DUMP is the program made from tools/knobs_dump.c, which knows the tables.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import subprocess
import sys

import csource

# Calls of the getters of base/config/config.h, with the knob that they read.
GETTER = re.compile(r'\b(config|section)_(string|path|expr|int|real|bool|duration_s|duration_ms|bytes|list)\s*\(([^;]*?)"(\w+)"')


LIBRARIES = ["store", "wire", "power", "offline_ads", "drain"]


def run(program, *arguments):
    return subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def check_page(root, program, page, findings):
    name = "docs/CONFIG.md"
    advice = f"run 'make config-page', or '{os.path.relpath(program, root)} >{name}'"
    if not os.path.exists(os.path.join(root, name)):
        findings.add(name, 1, f"the page is missing; {advice}")
        return
    old, new = csource.read(root, name).split("\n"), page.split("\n")
    for number in range(max(len(old), len(new))):
        if old[number : number + 1] != new[number : number + 1]:
            findings.add(name, number + 1, f"the page differs from the tables of knobs; {advice}")
            return


def check_samples(root, names, knobs, families, findings):
    for name in names:
        if not csource.match_any(name, ["etc/**"]):
            continue
        lines = csource.read(root, name).split("\n")
        # A sample may define macros of its own, if it refers to them.
        referred = set(re.findall(r"\$\((\w+)", "\n".join(lines)))
        for number, line in enumerate(lines, 1):
            match = re.match(r"\s*#?\s?([A-Z][A-Z0-9_]{2,})\s*\+?=", line)
            known = match and (match.group(1) in knobs or match.group(1) in referred or match.group(1).startswith(families))
            if match and not known:
                findings.add(name, number, f"unknown knob '{match.group(1)}'; correct the name, or add it to a knobs.c")


def check_code(root, names, knobs, options, findings):
    read = set()
    places = {}
    for name in names:
        if not name.endswith(".c") or csource.match_any(name, ["tests/**", "bench/**"]):
            continue
        text = csource.without_comments(csource.read(root, name), keep_strings=True)
        if csource.match_any(name, ["*/knobs*.c"]):
            for match in re.finditer(r'"(\w+)"', text):
                places.setdefault(match.group(1), (name, text.count("\n", 0, match.start()) + 1))
        else:
            # Some names are asked for through tables of the code: any mention counts.
            read.update(re.findall(r'"(\w+)"', text))
        if name.startswith("base/"):
            continue
        for match in GETTER.finditer(text):
            known = knobs if match.group(1) == "config" else options
            if match.group(4) not in known and ")" not in match.group(3):
                line = text.count("\n", 0, match.end()) + 1
                findings.add(name, line, f"unknown knob '{match.group(4)}'; correct the name, or add it to a knobs.c")
    # Macros of the tables themselves, as MINUTE, are read by other values.
    fallbacks = " ".join(csource.read(root, name) for name in names if csource.match_any(name, ["*/knobs*.c", "etc/**"]))
    read.update(re.findall(r"\$\((\w+)", fallbacks))
    for knob in sorted((knobs | options) - read):
        place, line = places.get(knob, ("docs/CONFIG.md", 1))
        # The table of a process that has no main.c yet is ahead of its code; the common one serves all of them.
        folder = place.split("/")[0]
        needed = ["master", "schedd", "startd", "cli"] if folder == "base" else [folder]
        if folder in LIBRARIES or all(f"{process}/main.c" in names for process in needed):
            findings.add(place, line, f"no code reads the knob '{knob}'; use it, or remove it from the table")


def main():
    program = sys.argv[1]
    root = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), ".."))
    rows = [line.split("\t") for line in run(program, "--list").split("\n") if line]
    knobs = {name for _, kind, name, _ in rows if kind == "-"}
    options = {name for _, kind, name, _ in rows if kind not in ("-", "=")}
    families = tuple(name for _, kind, name, _ in rows if kind == "=")
    findings = csource.Findings()
    names = csource.tree_files(root)
    seen = {}
    for owner, kind, name, _ in rows:
        if kind == "=":
            continue
        first = seen.setdefault((kind, name) if kind == "-" else (owner, kind, name), owner)
        if first != owner:
            findings.add("docs/CONFIG.md", 1, f"'{name}' is in two tables, of '{first}' and of '{owner}'; keep one")
    check_page(root, program, run(program), findings)
    check_samples(root, names, knobs, families, findings)
    check_code(root, names, knobs, options, findings)
    findings.finish()


main()

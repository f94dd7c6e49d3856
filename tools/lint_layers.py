#!/usr/bin/env python3
# tools/lint_layers.py [ROOT] [--objects FILE...] - the tree keeps to tools/layers.rules.
#
# Includes are read from the sources.  State is read from the symbol tables of the archives and objects of the build
# (--objects), because C text does not show reliably what the compiler puts into a writable section.  Calls among the
# files of a folder come from there, too: tools/floors.py measures them.
#
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import re
import subprocess

import csource
import floors

LISTS = ("pure", "not-pure", "pure-words", "not-pure-system", "plan-system")


class Rules:
    def __init__(self, root):
        self.folders = {}
        self.only = []
        self.system = []
        self.state = {}
        self.lists = {kind: [] for kind in LISTS}
        for line in csource.read(root, "tools/layers.rules").split("\n"):
            line = line.split("#")[0].strip()
            if not line:
                continue
            kind, _, rest = line.partition(" ")
            names, _, where = rest.partition(" :") if " :" in rest else rest.partition(":")
            names, where = names.split(), where.split()
            if kind == "folder":
                self.folders[names[0]] = where
            elif kind == "only":
                self.only.append((names, where))
            elif kind == "system":
                self.system.append((names, where))
            elif kind == "state":
                self.state[names[0]] = where
            elif kind in self.lists:
                self.lists[kind] += names
            else:
                raise SystemExit(f"tools/layers.rules: unknown kind of rule '{kind}'")

    def may_include(self, folder, included):
        allowed = self.folders[folder]
        other = included.split("/")[0]
        return (
            other == folder
            or "*" in allowed
            or other in allowed
            or any(rule.startswith("?/") and included.split("/", 1)[1] == rule[2:] for rule in allowed)
        )


def check_direct(name, line, included, system, rules, known, findings):
    folder = name.split("/")[0]
    if system:
        where = [globs for names, globs in rules.system if csource.match_any(included, names)]
        if not where:
            findings.add(name, line, f"<{included}> is not in tools/layers.rules; use its wrapper in base/, or add a rule")
        elif not any(csource.match_any(name, globs) for globs in where):
            globs = " ".join(sum(where, []))
            findings.add(name, line, f"<{included}> is allowed only in {globs}; use its wrapper")
        return
    if included not in known:
        findings.add(name, line, f'"{included}" is not a file of the tree; write the path from the top, as "folder/file.h"')
        return
    if not rules.may_include(folder, included):
        allowed = " ".join(rules.folders[folder]) or "no other folder"
        findings.add(name, line, f'"{included}" is not allowed here: {folder}/ may include its own headers and those of {allowed}')
    for names, globs in rules.only:
        if csource.match_any(included, names) and not csource.match_any(name, globs):
            findings.add(name, line, f'"{included}" is allowed only in {" ".join(globs)}; take what it makes as an argument')


def check_pure(name, graph, rules, findings):
    plan = re.search(r"_plan\.[ch]$", name) is not None and not name.startswith("tests/")
    seen = set()
    work = [(included, line, system, []) for line, included, system in graph[name]]
    while work:
        included, line, system, path = work.pop()
        through = f" (through {' '.join(path)})" if path else ""
        if system:
            if csource.match_any(included, rules.lists["not-pure-system"]) and included != "sys/types.h":
                findings.add(name, line, f"<{included}>{through}: this file is pure, so it must not reach the outside world")
            elif plan and not path and not csource.match_any(included, rules.lists["plan-system"]):
                findings.add(name, line, f"<{included}>: a plan must get times, texts and random numbers as arguments")
            continue
        if csource.match_any(included, rules.lists["not-pure"]) and not csource.match_any(
                included, rules.lists["pure-words"]
            ):
            findings.add(name, line, f'"{included}"{through}: this file is pure, so it must not reach the outside world')
        if included in seen:
            continue
        seen.add(included)
        work += [(inner, line, inner_system, path + [included]) for _, inner, inner_system in graph.get(included, [])]


def source_of(entry):
    """The source an object was made from: "lib/libwire.a:call.c.o" and ".../base_real.dir/base/os.c.o"."""
    match = re.search(r"\.dir/(.*)\.o$", entry) or re.search(r"lib([^/]*)\.a:(.*)\.o$", entry)
    return "/".join(match.groups()) if match else entry


def line_of(root, name, variable):
    if os.path.isfile(os.path.join(root, name)):
        for number, line in enumerate(csource.without_comments(csource.read(root, name)).split("\n"), 1):
            if re.search(r"\b" + re.escape(variable) + r"\b", line):
                return number
    return 1


def check_state(root, objects, rules, findings):
    command = ["nm", "-A", "--format=sysv", *objects]
    listing = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in listing.split("\n"):
        fields = [field.strip() for field in line.split("|")]
        if len(fields) != 7:
            continue
        entry, _, symbol = fields[0].rpartition(":")
        section = fields[6]
        writable = re.match(r"\.data|\.bss|\.tdata|\.tbss|\*COM\*", section)
        # Constant tables of pointers are in .data.rel.ro: read-only once the program has started.
        if not writable or section.startswith(".data.rel.ro") or fields[3] == "SECTION":
            continue
        variable = re.sub(r"\.\d+$", "", symbol)  # gcc numbers the statics of functions
        name = os.path.normpath(source_of(entry))
        if not csource.match_any(name, rules.state.get(variable, [])):
            advice = "this state outlives a call; put it into a struct that callers pass"
            findings.add(name, line_of(root, name, variable), f"'{variable}' is in {section}: {advice}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--objects", nargs="*", default=[])
    parser.add_argument("root", nargs="?", default=os.path.join(os.path.dirname(__file__), ".."))
    arguments = parser.parse_args()
    root = os.path.abspath(arguments.root)
    rules = Rules(root)
    findings = csource.Findings()
    names = [name for name in csource.tree_files(root) if name.endswith((".c", ".h"))]
    graph = {name: list(csource.includes(csource.read(root, name))) for name in names}
    known = set(names)
    for name in names:
        folder = name.split("/")[0]
        if "/" not in name or folder not in rules.folders:
            findings.add(name, 1, f"tools/layers.rules has no line 'folder {folder} : ...'")
            continue
        for line, included, system in graph[name]:
            check_direct(name, line, included, system, rules, known, findings)
        if csource.match_any(name, rules.lists["pure"]):
            check_pure(name, graph, rules, findings)
    objects = [path for path in arguments.objects if os.path.exists(path)]
    if objects:
        check_state(root, objects, rules, findings)
        floors.check(root, [path for path in objects if path.endswith(".a")], findings)
    findings.finish()


main()

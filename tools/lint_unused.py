#!/usr/bin/env python3
# tools/lint_unused.py [ROOT] --build FOLDER - each function that other files can call is called by one of them.
#
# A function with external linkage that nobody calls is removed; one that only its own file calls is static; one that
# only tests call is listed in tools/tests_only.txt, so that a reader of the header does not look for its user in the
# daemons.  A function that its own file and tests call needs no list: tests hold what the header promises.
#
# It reads the objects of the build, because C text does not show reliably who uses a symbol.  Sources without an object
# there (the parts of jobs, which are compiled by commands of their own) are read as text.
#
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import re
import subprocess

import csource

LIST = "tools/tests_only.txt"
# Functions here take the place of the C library's: its own code calls them.
FOR_LIBC = ["pilot/libc_linux.c"]
CALLED_BY_OTHERS = ["main", "LLVMFuzzerTestOneInput"]


def objects_of(build):
    """Yields (source, object) for the objects below CMakeFiles; the source is relative to the tree's top."""
    for folder, folders, files in os.walk(build):
        # build/asan and its like are builds of their own.
        folders[:] = [name for name in folders if not os.path.exists(os.path.join(folder, name, "CMakeCache.txt"))]
        match = re.search(r"/CMakeFiles/[^/]+\.dir(?:/(.*))?$", folder)
        if match is None:
            continue
        inside = "tests" if "/tests/CMakeFiles/" in folder else ""
        for name in files:
            if name.endswith(".c.o"):
                yield os.path.join(inside, match.group(1) or "", name[:-2]), os.path.join(folder, name)


def is_newer(path, source):
    """An older one is left from a target that does not compile the source any more."""
    return os.path.getmtime(path) >= os.path.getmtime(source)


def symbols(objects):
    """(object, kind, symbol) of the symbols with external linkage."""
    for start in range(0, len(objects), 500):
        command = ["nm", "-A", "-g", *objects[start : start + 500]]
        listing = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        for match in re.finditer(r"^(.*): *[0-9a-f]* +(\w) (\S+)$", listing, re.MULTILINE):
            yield match.groups()


class Uses:
    def __init__(self, root, build, texts):
        # Generated files have objects, too; those of a file that has gone are left over from earlier builds.
        sources = {path: source for source, path in objects_of(build)
                   if (source in texts and is_newer(path, os.path.join(root, source))) or "/" not in source}
        self.definers, self.users = {}, {}
        for path, kind, symbol in symbols(sorted(sources)):
            if kind in "TW":
                self.definers.setdefault(symbol, set()).add(sources[path])
            elif kind == "U":
                self.users.setdefault(symbol, set()).add(sources[path])
        compiled = set(sources.values())
        for name, text in texts.items():
            if name.endswith(".c") and name not in compiled:
                for word in set(re.findall(r"\w+", text)):
                    self.users.setdefault(word, set()).add(name)


def read_list(root):
    """symbol -> line of the list."""
    ret = {}
    if os.path.exists(os.path.join(root, LIST)):
        for number, line in enumerate(csource.read(root, LIST).split("\n"), 1):
            name = line.split("#")[0].strip()
            if name:
                ret[name] = number
    return ret


def line_of(text, symbol):
    match = re.search(r"^\w[^\n;]*\b" + re.escape(symbol) + r"\(", text, re.MULTILINE)
    return text[: match.start()].count("\n") + 1 if match else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("root", nargs="?", default=os.path.join(os.path.dirname(__file__), ".."))
    arguments = parser.parse_args()
    root = os.path.abspath(arguments.root)
    names = [name for name in csource.tree_files(root) if name.endswith((".c", ".h"))]
    texts = {name: csource.without_comments(csource.read(root, name)) for name in names}
    findings = csource.Findings()
    listed = read_list(root)
    tests_only = set()
    uses = Uses(root, os.path.abspath(arguments.build), texts)
    for symbol, definers in uses.definers.items():
        for source in definers:
            if source.startswith("tests/") or source not in texts or source in FOR_LIBC or symbol in CALLED_BY_OTHERS:
                continue
            users = uses.users.get(symbol, set()) - {source}
            own = len(re.findall(r"\b" + re.escape(symbol) + r"\b", texts[source])) > 1
            if any(not user.startswith("tests/") for user in users) or (users and own):
                continue
            line = line_of(texts[source], symbol)
            if not users:
                advice = "make it static" if own else "remove it"
                findings.add(source, line, f"no other file calls {symbol}(): {advice}")
                continue
            tests_only.add(symbol)
            if symbol not in listed:
                findings.add(source, line, f"only tests call {symbol}(): remove it, or list it in {LIST}")
    for symbol in set(listed) - tests_only:
        findings.add(LIST, listed[symbol], f"{symbol}() is not a function that only tests call; remove the line")
    findings.finish()


main()

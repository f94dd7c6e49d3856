#!/usr/bin/env python3
# tools/floors.py [--build FOLDER] [--write] [FOLDER...] - how many floors a folder has inside.
#
# The ring of a folder is the largest set of its files that all reach one another by calls: it has no floors.  A file
# calls another one when its object uses a symbol that the other's object defines, or when it calls through a field of
# a struct of the folder that the other one fills with a function: a table of operations instead of a call hides the
# edge from the linker only.  What the event loop calls in a later turn is no edge.
#
# Prints for each folder its files, those of the ring and their share of the lines, and what is larger than a reader
# can hold: structs of many fields or bools, files of many lines.  tools/floors.txt has what is there today; it may
# only fall: --write puts lower figures there, and lint.layers complains about higher ones.
#
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import re
import subprocess
import sys

import csource

FIELDS_MAX = 40  # of a struct
BOOLS_MAX = 5
LINES_MAX = 1500
RECORD = "tools/floors.txt"


# ---- calls -----------------------------------------------------------------------------------------------------------


def symbols(archive):
    """Of an archive: (file stem -> symbols that it uses, symbol -> file stem that defines it)."""
    listing = subprocess.run(["nm", "-A", archive], check=True, stdout=subprocess.PIPE, text=True).stdout
    uses, defined = {}, {}
    for line in listing.split("\n"):
        match = re.match(r".*:([^:]*)\.c\.o: *[0-9a-f]* +(\w) (\S+)$", line)
        if match:
            stem, kind, symbol = match.groups()
            uses.setdefault(stem, set())
            if kind == "U":
                uses[stem].add(symbol)
            elif kind in "TDRBVWC":
                defined[symbol] = stem
    return uses, defined


def function_fields(texts):
    """The names of fields of structs in these files that hold functions."""
    kinds = set()  # of functions, by typedef
    for text in texts:
        kinds.update(re.findall(r"\btypedef\s+[^;{]*?\(\s*\*?\s*(\w+)\s*\)\s*\(", text))
        kinds.update(re.findall(r"\btypedef\s+[\w\s*]+?\b(\w+_f)\s*\(", text))
    fields = set()
    for text in texts:
        for _, body in struct_bodies(text):
            fields.update(re.findall(r"\(\s*\*\s*(?:const\s+)?(\w+)\s*\)\s*\(", body))
            fields.update(name for kind, name in re.findall(r"\b(\w+)\s+\*?(\w+)\s*;", body) if kind in kinds)
    return fields


def table_calls(texts, defined):
    """Pairs (caller, callee) of stems, through fields of structs that hold functions."""
    fields = function_fields(texts.values())
    callers, fillers = {}, {}
    for name, text in texts.items():
        stem = os.path.splitext(os.path.basename(name))[0]
        for field in re.findall(r"(?:->|\.)\s*(\w+)\s*\(", text):
            if field in fields:
                callers.setdefault(field, set()).add(stem)
        for field, function in re.findall(r"(?:->|\.)\s*(\w+)\s*=\s*&?(\w+)\b(?!\s*\()", text):
            if field in fields and (function in defined or re.search(r"\b" + function + r"\s*\([^;]*\)\s*\{", text)):
                fillers.setdefault(field, set()).add(defined.get(function, stem))
    return {(a, b) for field, froms in callers.items() for a in froms for b in fillers.get(field, ())}


def components(graph):
    """The strongly connected components (Tarjan), largest first."""
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in graph[node]:
            if other not in number:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == number[node]:
            at = stack.index(node)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return sorted(found, key=len, reverse=True)


# ---- sizes -----------------------------------------------------------------------------------------------------------


def struct_bodies(text):
    """(name, what is between the braces) of each struct with a name."""
    for match in re.finditer(r"\bstruct\s+(\w+)\s*\{", text):
        depth, at = 1, match.end()
        while depth > 0 and at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        yield match.group(1), text[match.end() : at - 1]


def count_fields(body):
    """(fields, bools) of a struct, those of structs without a name inside it among them."""
    fields = bools = 0
    while True:  # what has braces of its own: its fields count if it has no name
        match = re.search(r"\b(?:struct|union|enum)\s*(\w*)\s*\{([^{}]*)\}", body)
        if match is None:
            break
        inner = match.group(2) if not match.group(1) and not match.group().startswith("enum") else ""
        body = body[: match.start()] + inner + " inner " + body[match.end() :]
    body = re.sub(r"\(\s*\*[^()]*\)\s*\([^()]*\)", "*function", body)  # (*name)(...)
    body = re.sub(r"\([^()]*\)", "", body)
    for declaration in body.split(";"):
        declaration = declaration.strip()
        if not declaration or declaration.startswith(("_Static_assert", "#")) or declaration == "inner":
            continue
        count = declaration.count(",") + 1
        fields += count
        bools += count if re.match(r"(const\s+)?bool\b", declaration) and "*" not in declaration else 0
    return fields, bools


# ---- a folder --------------------------------------------------------------------------------------------------------


class Floors:
    def __init__(self, root, folder, archive, names):
        texts = {name: csource.without_comments(csource.read(root, name)) for name in names}
        lines = {name: csource.read(root, name).count("\n") for name in names}
        uses, defined = symbols(archive)
        graph = {stem: {defined[s] for s in used if defined.get(s, stem) != stem} for stem, used in uses.items()}
        for caller, callee in table_calls(texts, defined):
            if caller != callee and caller in graph and callee in graph:
                graph[caller].add(callee)
        paths = {os.path.splitext(os.path.basename(name))[0]: name for name in names if name.endswith(".c")}
        rings = components(graph)
        self.folder = folder
        self.graph = graph
        self.files = len(graph)
        self.ring = rings[0] if rings and len(rings[0]) > 1 else []
        total = sum(lines[paths[stem]] for stem in graph if stem in paths)
        of_ring = sum(lines[paths[stem]] for stem in self.ring if stem in paths)
        self.share = round(100 * of_ring / total) if total else 0
        self.structs = {}
        for name, text in texts.items():
            for struct, body in struct_bodies(text):
                fields, bools = count_fields(body)
                if fields > FIELDS_MAX or bools > BOOLS_MAX:
                    self.structs[struct] = (name, fields, bools)
        self.long = {name: count for name, count in lines.items() if count > LINES_MAX}


def measure(root, archives):
    """A Floors for each archive lib<folder>.a."""
    tree = csource.tree_files(root)
    for archive in sorted(archives):
        match = re.fullmatch(r"lib(\w+)\.a", os.path.basename(archive))
        names = [name for name in tree if match and name.startswith(match.group(1) + "/") and name.endswith((".c", ".h"))]
        if names:
            yield Floors(root, match.group(1), archive, names)


# ---- the record ------------------------------------------------------------------------------------------------------


def figures(floors):
    """What may only fall, by its name."""
    ret = {f"ring {floors.folder}": len(floors.ring)}
    for struct, (_, fields, bools) in floors.structs.items():
        if fields > FIELDS_MAX:
            ret[f"fields {floors.folder}/{struct}"] = fields
        if bools > BOOLS_MAX:
            ret[f"bools {floors.folder}/{struct}"] = bools
    for name, count in floors.long.items():
        ret[f"lines {name}"] = count
    return {name: value for name, value in ret.items() if value > 0}


def read_record(root):
    record = {}
    if os.path.exists(os.path.join(root, RECORD)):
        for line in csource.read(root, RECORD).split("\n"):
            line = line.split("#")[0].strip()
            if line:
                name, _, value = line.rpartition(" ")
                record[name] = int(value)
    return record


def write_record(root, found):
    record = read_record(root)
    for name in sorted(found) if record else ():
        if found[name] > record.get(name, 0):
            print(f"floors: {name} is {found[name]}, at most {record.get(name, 0)} is allowed; not written", file=sys.stderr)
            found[name] = record.get(name, 0)
    found = {name: value for name, value in found.items() if value > 0}
    with open(os.path.join(root, RECORD), "w", encoding="utf-8") as file:
        file.write("# What tools/floors.py found: files of a ring, fields and bools of a struct, lines of a file.\n")
        file.write("# It may only fall; tools/floors.py --write does it.\n")
        for name in sorted(found):
            file.write(f"{name} {found[name]}\n")


def check(root, archives, findings):
    """For lint.layers: nothing is larger than recorded, and what is smaller is recorded."""
    record = read_record(root)
    found, folders = {}, set()
    for floors in measure(root, archives):
        folders.add(floors.folder)
        for name, value in figures(floors).items():
            found[name] = value
            if value > record.get(name, 0):
                detail = f" ({' '.join(floors.ring)})" if name.startswith("ring") else ""
                findings.add(RECORD, 1, f"{name} is {value}{detail}, at most {record.get(name, 0)} is allowed; make it smaller (tools/floors.py --calls shows the calls)")
    for name, value in record.items():
        if found.get(name, 0) < value and name.split(" ")[1].split("/")[0] in folders:
            findings.add(RECORD, 1, f"{name} has fallen to {found.get(name, 0)}; record it with python3 tools/floors.py --write")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--write", action="store_true", help="record these figures in tools/floors.txt")
    parser.add_argument("--calls", action="store_true", help="print the calls among the files of the ring")
    parser.add_argument("folders", nargs="*")
    arguments = parser.parse_args()
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
    library = os.path.join(root, arguments.build, "lib")
    if not os.path.isdir(library):
        sys.exit(f"floors: no such folder: '{library}'; build first, or use --build FOLDER")
    archives = [os.path.join(library, name) for name in os.listdir(library) if name.endswith(".a")]
    found = {}
    for floors in measure(root, archives):
        found.update(figures(floors))
        if arguments.folders and floors.folder not in arguments.folders:
            continue
        print(f"{floors.folder:16} {floors.files:3} files, ring {len(floors.ring):2}, {floors.share:2} % of the lines")
        for struct, (name, fields, bools) in sorted(floors.structs.items()):
            print(f"    struct {struct} ({name}): {fields} fields, {bools} bools")
        for name, count in sorted(floors.long.items()):
            print(f"    {name}: {count} lines")
        for stem in floors.ring if arguments.calls else ():
            print(f"    {stem} -> {' '.join(sorted(set(floors.ring) & floors.graph[stem]))}")
    if arguments.write:
        write_record(root, found)


if __name__ == "__main__":
    main()

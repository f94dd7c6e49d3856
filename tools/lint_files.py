#!/usr/bin/env python3
# tools/lint_files.py [ROOT] - every file has a licence line, keeps to sizes and blanks, and names no path of one machine.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import sys

import csource

LINES_MAX = 1500
LINES_WARNING = 800  # only a warning: does the file have two subjects?
FUNCTION_LINES_MAX = 120
COLUMNS_MAX = 100  # of C; scripts may be wider
PROSE_COLUMNS_MAX = 120  # of pages; tables, headings and code may be wider

# Files that are data or another project's text are not checked.
DATA = ["LICENSE", "tests/fuzz/corpus/**", "tests/**/data/**", "tests/conformance/**", "**.png", "**.svg"]
# Files that have no place for a comment, or whose first lines are for the reader.
NO_LICENCE_LINE = ["**.md", "**.json", ".gitignore", ".gitattributes", "**.sub", "**.ad", "**.txt"]
TRACES = [
    (re.compile(r"(?<![\w.$}])/(work|root)/(?!\.\.\.)[\w.]"), "a path of one machine; write a variable, or /path/to/"),
    (re.compile(r"\b(FIX" r"ME|XX" r"X|HA" r"CK|DO NOT COM" r"MIT)\b"), "unfinished work; finish it, or open an issue"),
]
# A test may need such a path as input; write its reason in the line.
TRACES_ALLOWED = re.compile(r"lint: a path as data")


def check_functions(name, text, findings):
    # clang-format puts the brace that opens and the one that closes a function in the first column.
    start = None
    for number, line in enumerate(csource.without_comments(text).split("\n"), 1):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            if number - start - 1 > FUNCTION_LINES_MAX:
                findings.add(name, start, f"the function has {number - start - 1} lines, at most {FUNCTION_LINES_MAX} are allowed; split it")
            start = None


def check_prose(name, lines, findings):
    fenced = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        wide = fenced or re.match(r"\s*[|#]| {4,}(?! |[-*+] )", line)
        if len(line) > PROSE_COLUMNS_MAX and not wide:
            findings.add(name, number, f"the line has {len(line)} columns, prose may have {PROSE_COLUMNS_MAX}; break it")


def check(root, name, findings):
    text = csource.read(root, name)
    lines = text.split("\n")
    is_c = name.endswith((".c", ".h"))
    if not csource.match_any(name, NO_LICENCE_LINE):
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:60]):
            findings.add(name, 1, "add 'SPDX-License-Identifier: Apache-2.0' to the first comment")
    if text and not text.endswith("\n"):
        findings.add(name, len(lines), "the last line does not end with a newline; add one")
    if text.endswith("\n\n"):
        findings.add(name, len(lines) - 1, "empty lines at the end of the file; remove them")
    if (is_c or name.endswith((".py", ".sh", ".cmake"))) and len(lines) - 1 > LINES_MAX:
        findings.add(name, LINES_MAX, f"the file has {len(lines) - 1} lines, at most {LINES_MAX} are allowed; split it by subject")
    elif is_c and len(lines) - 1 > LINES_WARNING:
        print(f"{name}:{LINES_WARNING}: warning: the file has {len(lines) - 1} lines; does it have two subjects?")
    for number, line in enumerate(lines, 1):
        if "\t" in line and not name.endswith(".go") and not re.search(r"(^|/)Makefile$", name):
            findings.add(name, number, "a tab; write blanks, or \\t in a string")
        if line != line.rstrip() and not name.endswith(".md"):
            findings.add(name, number, "blanks at the end of the line; remove them")
        # clang-format aligns the values of macros, and may so push one over the edge.
        if is_c and len(line) > COLUMNS_MAX and not line.startswith("#define"):
            findings.add(name, number, f"the line has {len(line)} columns, C may have {COLUMNS_MAX}; break it")
        for pattern, advice in TRACES:
            if pattern.search(line) and not TRACES_ALLOWED.search(line):
                findings.add(name, number, f"'{pattern.search(line).group()}': {advice}")
    if name.endswith(".md"):
        check_prose(name, lines, findings)
    if is_c:
        check_functions(name, text, findings)
        if not re.match(r"/\* " + re.escape(name) + r" - \S", text) and not name.startswith("tests/"):
            findings.add(name, 1, f"the file must begin with '/* {name} - its purpose'")


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))
    findings = csource.Findings()
    for name in csource.tree_files(root):
        if not csource.match_any(name, DATA):
            check(root, name, findings)
    findings.finish()


main()

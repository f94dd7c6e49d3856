#!/usr/bin/env python3
# tools/lint_docs.py [ROOT] - paths, files, functions, tables and structs that pages and comments name exist.
#
# It reads the pages (*.md) and the comments of C files, scripts and build files.  The form of a name says that it is ours:
#
#   power/power.c, wakes.c   a path from the top, or from the folder of who names it; a file name alone, anywhere
#   docs/howto/              a folder below one of ours
#   [text](docs/LIMITS.md)   a link of a page, from the folder of the page
#   name()                   a function (or macro) that some code defines or calls
#   struct name              a struct, union or enum that some code names
#   `X` of `file`, `X()` in `file`, `file`, `X()`, `file` (`X()`...   X is in that file
#
# tools/docs_names.txt lists names that belong to other programs; a listed name that nothing mentions is a finding, too.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import sys

import csource

LIST = "tools/docs_names.txt"
HINT = f"; correct the name, or list it in {LIST} if it belongs to another program"
DATA = ["LICENSE", "tests/fuzz/corpus/**", "tests/**/data/**", "tests/conformance/**", "**.png", "**.svg"]

FILE = r"[\w.-]*\w\.(?:c|h|S|md|py|sh|cmake|rules)"
PATH = re.compile(r"(?<![\w/.$<>{}*~@%…-])(?!linux/|[A-Z]+/)((?:[\w.-]+/)*" + FILE + r")(?![\w/*(-]|\.\w)")
FOLDER = re.compile(r"(?<![\w/.$<>{}*~@%-])((?:[\w-]+/)+)(?![\w.*<$%{/-])")
FUNCTION = re.compile(r"(?<![\w.$/>-])([a-zA-Z_]\w*)\(\)")
STRUCT = re.compile(r"\b(struct|enum|union) (?!(?:of|or|is|for|by|as|and|says|that|in|to|with|has)\b)([a-z]\w*)\b(?!-)")
LINK = re.compile(r"\]\(([^)#\s:]+)(?:#[^)\s]*)?\)")
TICKS = re.compile(r"`([^`\n]+)`")
# `X` of `file`; `X()` in `file`; `file`, `X()`; `file` (`X()`
OF_FILE = re.compile(r"`(\w+)(?:\(\))?` (?:of|in) `((?:[\w.-]+/)*" + FILE + r")`")
FILE_HAS = re.compile(r"`((?:[\w.-]+/)*" + FILE + r")`(?:,| \()\s?`(\w+)\(\)`(?! (?:in|of) `)")


def comments_of_c(text):
    """(offset, comment) of each comment."""
    for match in csource._TOKEN.finditer(text):
        if match.group("comment") is not None:
            yield match.start(), re.sub(r"\n \* ?", lambda found: "\n" + " " * (len(found.group()) - 1), match.group())


def comments_of_script(text):
    for match in re.finditer(r"^[ \t]*#(?!!|include).*$|(?<= )# .*$", text, re.MULTILINE):
        yield match.start(), match.group()


def parts_of(name, text):
    """(offset, prose) of what is read for people."""
    if name.endswith(".md"):
        return [(0, text)]
    if name.endswith((".c", ".h", ".S")):
        return comments_of_c(text)
    if name.endswith((".py", ".sh", ".cmake", ".rules", "CMakeLists.txt", "Makefile")):
        return comments_of_script(text)
    return []


class Names:
    def __init__(self, root, findings):
        self.root, self.findings = root, findings
        tree = csource.tree_files(root)
        self.texts = {name: csource.read(root, name) for name in tree if not csource.match_any(name, DATA)}
        self.files = set(tree)
        self.folders = set()
        for name in tree:
            while os.path.dirname(name):
                name = os.path.dirname(name)
                self.folders.add(name)
        self.functions, self.classad, self.structs = set(), set(), set()
        for name, text in self.texts.items():
            if name.endswith((".c", ".h")):
                code = csource.without_comments(text)
                self.functions.update(re.findall(r"\b(\w+)\s*\(", code))
                self.functions.update(re.findall(r"\bSYS_(\w+)", code))
                self.functions.update(re.findall(r"#\s*define\s+(\w+)\(", code))
                # Callbacks: the names of parameters and fields that hold functions.
                self.functions.update(re.findall(r"\(\s*\*\s*(?:const\s+)?(\w+)\s*\)\s*\(", code))
                self.functions.update(re.findall(r"\b\w+_f\s+\*?(\w+)\b", code))
                self.structs.update(re.findall(r"\b(?:struct|enum|union)\s+(\w+)", code))
                if name.startswith("classad/"):  # ClassAd functions are rows of tables
                    code = csource.without_comments(text, keep_strings=True)
                    self.classad.update(word.lower() for word in re.findall(r'"(\w+)"', code))
            elif name.endswith((".cmake", "CMakeLists.txt")):
                self.functions.update(re.findall(r"\bfunction\((\w+)", text))
            elif name.endswith(".py"):
                self.functions.update(re.findall(r"\b(\w+)\(", text))
            elif name.endswith(".sh"):
                self.functions.update(re.findall(r"^\s*(\w+)\(\)", text, re.MULTILINE))
        self.others, self.seen = {}, set()
        if LIST in self.files:
            for number, line in enumerate(self.texts[LIST].split("\n"), 1):
                line = line.split("#")[0].strip()
                if line:
                    self.others[line] = number

    def is_other(self, name):
        self.seen.add(name)
        return name in self.others

    def resolve(self, name, path):
        """The file that `name` means with a path, or None."""
        if path in self.files:
            return path
        near = os.path.normpath(os.path.join(os.path.dirname(name), path))
        if near in self.files:
            return near
        if "/" not in path:
            return next((file for file in sorted(self.files) if os.path.basename(file) == path), None)
        return None

    def check(self, name):
        text = self.texts[name]
        for offset, prose in parts_of(name, text):
            self.check_part(name, text, offset, prose)

    def check_part(self, name, text, offset, prose):
        def add(at, what):
            self.findings.add(name, text.count("\n", 0, offset) + prose.count("\n", 0, at) + 1, what)

        page = name.endswith(".md")
        if page:
            for match in LINK.finditer(prose):
                target = os.path.normpath(os.path.join(os.path.dirname(name), match.group(1)))
                if target not in self.files and target not in self.folders:
                    add(match.start(), f"broken link to '{match.group(1)}': no such file or folder")
        for match in PATH.finditer(prose):
            path = match.group(1)
            if self.resolve(name, path) is None and not self.is_other(path):
                add(match.start(), f"no file '{path}'{HINT}")
        for match in FOLDER.finditer(prose):
            folder = match.group(1).rstrip("/")
            near = os.path.join(os.path.dirname(name), folder)
            ours = folder.split("/")[0] in self.folders and (page or "/" in folder)
            if ours and folder not in self.folders and near not in self.folders and not self.is_other(folder + "/"):
                add(match.start(), f"no folder '{folder}/'{HINT}")
        spans = [(m.start(1), m.group(1)) for m in TICKS.finditer(prose)] if page else [(0, prose)]
        for start, span in spans:
            for match in FUNCTION.finditer(span):
                function = match.group(1)
                known = function in self.functions or function.lower() in self.classad
                if not known and not self.is_other(function + "()"):
                    add(start + match.start(), f"no function '{function}()'{HINT}")
            for match in STRUCT.finditer(span) if not name.endswith((".py", ".sh")) else ():
                if match.group(2) not in self.structs and not self.is_other(match.group()):
                    add(start + match.start(), f"no '{match.group()}'{HINT}")
        for pattern, file_at, word_at in ((OF_FILE, 2, 1), (FILE_HAS, 1, 2)):
            for match in pattern.finditer(prose):
                path, word = match.group(file_at), match.group(word_at)
                file = self.resolve(name, path)
                if file is not None and not re.search(r"\b" + re.escape(word) + r"\b", self.texts[file]):
                    add(match.start(), f"no '{word}' in {file}")


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))
    findings = csource.Findings()
    names = Names(root, findings)
    for name in sorted(names.texts):
        names.check(name)
    for other in set(names.others) - names.seen:
        findings.add(LIST, names.others[other], f"'{other}' is not mentioned any more, or is ours now; remove the line")
    findings.finish()


main()

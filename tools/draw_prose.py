#!/usr/bin/env python3
# tools/draw_prose.py comments|messages [--seed N --count N] [FOLDER...] - texts of the tree for somebody to read cold.
#
# Prints the comments of headers, each with the declaration at which it stands, or the texts of messages, each with its
# file: all of them, or as many as --count says, drawn at random (the same seed draws the same ones from the same tree).
# The reader has never seen the code, has this list and docs/GLOSSARY.md only, and says for each whether it can be
# understood without a guess.  Fewer than 3 of 100 should not.
#
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import random
import re

import csource

NOT_OURS = ("docs/", "wrap/", "tests/unit/")
NO_MESSAGES = ("tests/", "bench/", "sim/")
STRUCT_HEAD = re.compile(r"^(?:struct|enum|union|typedef)\b.*\{")
DECLARATION_LINES = 6


def enclosing(lines):
    """The head line of the struct or enum in which the last of these lines is, if any."""
    heads = [line for line in lines if STRUCT_HEAD.match(line)]
    return heads[-1] if heads else ""


def declaration(text, start, end):
    """What the comment at text[start:end] describes."""
    line_start = text.rfind("\n", 0, start) + 1
    before = text[line_start:start]
    above = text[:line_start].split("\n")
    if before.strip():  # the comment stands behind its declaration
        head = enclosing(above) if before[0].isspace() else ""
        return f"{head.strip()} ... {before.strip()}" if head else f"[behind] {before.strip()}"
    lines = []
    for line in text[end:].lstrip("\n").split("\n"):
        if not line.strip() or len(lines) == DECLARATION_LINES:
            break
        lines.append(line)
        if line.rstrip().endswith((";", "{")) or (line.startswith("#define") and not line.endswith("\\")):
            break
    if lines and lines[0].startswith(" ") and enclosing(above):
        lines[:0] = [enclosing(above), "    ..."]
    return "\n".join(lines)


def comments(root, names):
    for name in names:
        if not name.endswith(".h") or name.startswith(NOT_OURS):
            continue
        text = csource.read(root, name)
        for match in re.finditer(r"/\*.*?\*/", text, re.DOTALL):
            comment = match.group()
            if match.start() == 0:  # the head of the file stands for itself
                comment, about = re.sub(r"\n \*\n \* SPDX.*", "", comment, flags=re.DOTALL), ""
            else:
                about = declaration(text, match.start(), match.end())
            if "SPDX" not in comment and len(re.findall(r"[a-zA-Z]+", comment)) >= 2:
                yield f"{name}\n{comment}\n{about}"


def messages(root, names):
    for name in names:
        if not name.endswith(".c") or name.startswith((*NOT_OURS, *NO_MESSAGES)):
            continue
        text = re.sub(r"/\*.*?\*/", "", csource.read(root, name), flags=re.DOTALL)
        text = re.sub(r'"\s*PRI\w+\s*"', "d", text)
        text = re.sub(r'"\s*\n\s*"|" "', "", text)
        for match in re.finditer(r'"((?:[^"\\\n]|\\.)*)"', text):
            literal = match.group(1)
            plain = re.sub(r"%[-0-9.*lhzjt]*[a-zA-Z]", " ", literal)
            words = re.findall(r"(?:^|[\s(])([a-z]{2,})(?=[\s,.;:)]|$)", plain)
            if len(words) >= 3 and not re.search(r"&&|\|\||=\?=|==", literal):  # prose, not an expression
                yield f'{name}\n"{literal}"'


def main():
    parser = argparse.ArgumentParser(description="Print comments of headers or texts of messages, to be read cold.")
    parser.add_argument("kind", choices=["comments", "messages"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, help="how many to draw (default: print all, in the order of the files)")
    parser.add_argument("folders", nargs="*", help="only files below these folders")
    args = parser.parse_args()
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    below = tuple(folder.rstrip("/") + "/" for folder in args.folders)
    names = [name for name in csource.tree_files(root) if not below or name.startswith(below)]
    items = list((comments if args.kind == "comments" else messages)(root, names))
    drawn = items
    if args.count is not None:
        drawn = random.Random(args.seed).sample(items, min(args.count, len(items)))
    print(f"# {args.kind}: {len(items)} in all, {len(drawn)} shown, seed {args.seed}\n")
    for number, item in enumerate(drawn, 1):
        print(f"--- {number}\n{item}\n")


main()

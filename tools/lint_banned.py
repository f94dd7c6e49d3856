#!/usr/bin/env python3
# tools/lint_banned.py [ROOT] - no call of a function of tools/banned.txt.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import sys

import csource


def read_rules(root):
    rules = {}
    for line in csource.read(root, "tools/banned.txt").split("\n"):
        if not line.strip() or line.startswith("#"):
            continue
        words, allowed, advice = [part.strip() for part in line.split("|")]
        for word in words.split():
            rules[word] = ([] if allowed == "-" else allowed.split(), advice)
    return rules


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))
    rules = read_rules(root)
    call = re.compile(r"(?<![\w.])(?<!->)(" + "|".join(map(re.escape, rules)) + r")\s*\(")
    findings = csource.Findings()
    for name in csource.tree_files(root):
        if not name.endswith((".c", ".h")):
            continue
        text = csource.without_comments(csource.read(root, name))
        for match in call.finditer(text):
            allowed, advice = rules[match.group(1)]
            if not csource.match_any(name, allowed):
                line = text.count("\n", 0, match.start()) + 1
                findings.add(name, line, f"{match.group(1)}() is banned here: {advice}")
    findings.finish()


main()

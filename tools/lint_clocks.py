#!/usr/bin/env python3
# tools/lint_clocks.py [ROOT] - wall times and durations do not mix.
#
# Design note: the wall clock may be set at any time, by years, so the difference of two wall times is not a duration
# (docs/decisions/0027-moments.md).  The check goes by names, which are the convention:
#   - a moment of the loop's clock (loop_now_ms()) has a name in _ms: renewed_ms, entered_state_ms;
#   - a wall time has a name in _s whose last word says when: now_s, began_s, since_s, until_s, started_s; with the word
#     "wall" it may have any unit: wall_ms;
#   - other names in _s are durations: timeout_s, age_s, left_s.
# Refused: wall time minus wall time; loop_now_ms() under a name in _s; loop_wall_ms() under a name in _ms without "wall"
# or "epoch"; a name in _s minus a name in _ms.  A variable that gets its value from the wall clock is a wall time,
# whatever its name.  The places where a difference of wall times is right are in tools/clocks.txt, each with a reason.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import sys

import csource

LIST = "tools/clocks.txt"
SKIPPED = ["tests/**", "bench/**", "sim/**", "ckpt/**", "build/**"]
CALLS = r"(?:loop_wall_s|loop_wall_ms|loop_wall_of_s|rooster_now_s|time)"
WHEN = "now at since began begin begins started start ended end ends entered until till deadline expires issued seen heard " \
    "used slept nap made taken changed submitted last asleep woken reclaimed due stamp then".split()
MINUS = re.compile(r"[\w\])] - (?=[\w(])")
FUNCTION = re.compile(r"^[a-z][^\n;{}=]*?\b(\w+)\([^;{}]*?\)\n\{", re.MULTILINE)
FROM_WALL = re.compile(r"\b(\w+)\s*=\s*(?:\((?:u?int64_t|time_t|long)\)\s*)?" + CALLS + r"\s*\([^;]*?\)\s*[,;]")
WALL_MS = re.compile(r"\b(\w+)\s*=\s*(?:\(\w+\)\s*)?loop_wall_ms\s*\(")
LOOP_S = re.compile(r"\b(\w+_s)\s*=\s*(?:\(\w+\)\s*\(?\s*)?loop_now_ms\s*\(")


def left_of(text, end):
    """The operand that ends at `end`: names, members, calls, indexes."""
    at = end
    while at > 0:
        if text[at - 1] in ")]":
            depth = 0
            while at > 0:
                at -= 1
                depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(text[at], 0)
                if depth == 0:
                    break
        elif re.match(r"[\w.]", text[at - 1]):
            at -= 1
        elif text[at - 2:at] == "->":
            at -= 2
        else:
            break
    return text[at:end]


def right_of(text, start):
    """The operand that starts at `start`, without a cast before it."""
    cast = re.match(r"\((?:u?int\d+_t|time_t|long|double)\)", text[start:start + 20])
    at = begin = start + (cast.end() if cast else 0)
    while at < len(text):
        if text[at] in "([":
            depth = 0
            while at < len(text):
                depth += {")": -1, "]": -1, "(": 1, "[": 1}.get(text[at], 0)
                at += 1
                if depth == 0:
                    break
        elif re.match(r"[\w.]", text[at]):
            at += 1
        elif text[at:at + 2] == "->":
            at += 2
        else:
            break
    return text[begin:at]


def last_name(operand):
    return re.sub(r"\[.*\]", "", re.split(r"->|\.", operand)[-1])


def is_wall(operand, tainted):
    if re.match(CALLS + r"\(", operand):
        return True
    if operand.endswith(")"):
        return False
    name = last_name(operand)
    words = name.split("_")
    if "wall" in words or operand in tainted:
        return True
    return len(words) > 1 and words[-1] == "s" and words[-2] in WHEN


def unit(operand):
    match = re.search(r"_(ms|s)$", operand) if not operand.endswith(")") else None
    return match.group(1) if match else ""


def read_list(root):
    allowed = {}
    if os.path.exists(os.path.join(root, LIST)):
        for line in csource.read(root, LIST).split("\n"):
            if line.strip() and not line.startswith("#"):
                place, function, reason = (line.split(None, 2) + ["", ""])[:3]
                allowed[(place, function)] = reason
    return allowed


def check_function(name, function, body, first, allowed, used, findings):
    tainted = set(FROM_WALL.findall(body))

    def found(position, text):
        key = (name, function)
        if allowed.get(key):
            used.add(key)
            return
        findings.add(name, first + body.count("\n", 0, position), f"{function}(): {text}")

    for match in MINUS.finditer(body):
        left, right = left_of(body, match.start() + 1), right_of(body, match.end())
        after = body[match.end() + len(right):match.end() + len(right) + 3]
        if after in (" % ", " * "):
            continue  # the start of a day; another unit
        if is_wall(left, tainted) and is_wall(right, tainted):
            found(match.start(), f"'{left} - {right}' is the difference of two wall times, which a clock that is set makes "
                  "wrong; keep the moment and use loop_since_s()")
        elif {unit(left), unit(right)} == {"ms", "s"}:
            found(match.start(), f"'{left} - {right}' mixes milliseconds and seconds")
    for match in WALL_MS.finditer(body):
        if not {"wall", "epoch"} & set(match.group(1).split("_")):
            found(match.start(), f"'{match.group(1)}' is a wall time; its name must have the word 'wall' "
                  "(a name in _ms is a moment of the loop's clock)")
    for match in LOOP_S.finditer(body):
        found(match.start(), f"'{match.group(1)}' is a moment of the loop's clock; its name must end in _ms "
              "(now_s and the like are wall times)")


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))
    allowed, used = read_list(root), set()
    findings = csource.Findings()
    for name in csource.tree_files(root):
        if not name.endswith((".c", ".h")) or csource.match_any(name, SKIPPED):
            continue
        text = csource.without_comments(csource.read(root, name))
        starts = [(match.end(), match.group(1)) for match in FUNCTION.finditer(text)]
        for number, (start, function) in enumerate(starts):
            end = starts[number + 1][0] if number + 1 < len(starts) else len(text)
            first = text.count("\n", 0, start) + 1
            check_function(name, function, text[start:end], first, allowed, used, findings)
    for place, function in sorted(set(allowed) - used):
        findings.add(LIST, 1, f"{place} {function}: there is no such difference any more, or the reason is missing; remove the line")
    findings.finish()


main()

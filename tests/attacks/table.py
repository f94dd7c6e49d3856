"""The tables of docs/SECURITY.md: who may ask what, made of expected.txt; what is tried, made of the attacks that are on.

table.py [--write]

Without --write: is it up to date?

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys

import attack
from matrix import IDENTITIES, RELAYED, read_rows
from wire_client import SOURCE, VERBS

PAGE = os.path.join(SOURCE, "docs/SECURITY.md")
BEGIN = "<!-- made by tests/attacks/table.py --write -->\n"
END = "<!-- end of what is made -->\n"
PLACES = {
    "collector": "the collector",
    "schedd": "a schedd",
    "claim": "a schedd's route `claim`",
    "shadow": "a schedd's route `shadow` (Unix socket)",
    "starter": "a startd's Unix socket",
    "schedd/": "a schedd, through the hub",
    "startd/": "a startd, through the hub",
    "rooster/": "the rooster, through the hub",
    "negotiator/": "the negotiator, through the hub",
    "master/": "a master, through the hub",
}
WORDS = {"yes": "yes", "id": "secret", "no": "", "-": ""}


def table(rows):
    lines = ["| asked | " + " | ".join(IDENTITIES) + " |", "|" + "---|" * (len(IDENTITIES) + 1)]
    last = None
    for receiver, label, cells in rows:
        if receiver != last:
            lines.append(f"| **{PLACES[receiver]}** |" + " |" * len(IDENTITIES))
            last = receiver
        lines.append(f"| {label} | " + " | ".join(WORDS[cell] for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def tried():
    lines = ["| who, or which finding | what is tried, and does not work |", "|---|---|"]
    for one in attack.load():
        if one.waits is None:
            lines.append(f"| {one.of} | {one.says} |")
    return "\n".join(lines) + "\n"


def check(rows):
    """What is wrong with expected.txt itself."""
    for receiver, label, cells in rows:
        if receiver not in PLACES or label.split(" ")[0] not in VERBS or len(cells) != len(IDENTITIES) or not set(cells) <= set(WORDS):
            yield f"tests/attacks/expected.txt: a line that cannot be: [{receiver}] {label} {' '.join(cells)}"
        if receiver in RELAYED and cells[0] != "no":
            yield f"tests/attacks/expected.txt: a stranger is let through the hub: {label}"


def main():
    rows = read_rows()
    wrong = list(check(rows))
    if wrong:
        sys.exit("\n".join(wrong))
    new = [table(rows), tried()]
    with open(PAGE, encoding="utf-8") as file:
        pieces = file.read().split(BEGIN)
    if len(pieces) != 1 + len(new) or any(END not in piece for piece in pieces[1:]):
        sys.exit(f"docs/SECURITY.md: not {len(new)} times the lines between which tables are put")
    text = pieces[0] + "".join(BEGIN + made + END + piece.split(END)[1] for made, piece in zip(new, pieces[1:]))
    if sys.argv[1:] == ["--write"]:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(text)
    elif text != BEGIN.join(pieces):
        sys.exit("docs/SECURITY.md: its tables are not those of tests/attacks: run tests/attacks/table.py --write")


if __name__ == "__main__":
    main()

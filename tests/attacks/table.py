"""The table of docs/SECURITY.md that says who may ask what, made of expected.txt.

table.py [--write]

Without --write: is it up to date?

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys

from matrix import IDENTITIES, RELAYED, read_rows
from wire_client import SOURCE, VERBS

PAGE = os.path.join(SOURCE, "docs/SECURITY.md")
BEGIN = "<!-- made by tests/attacks/table.py --write from tests/attacks/expected.txt -->\n"
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
    with open(PAGE, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    old, after = rest.split(END)
    new = table(rows)
    if sys.argv[1:] == ["--write"]:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(before + BEGIN + new + END + after)
    elif old != new:
        sys.exit("docs/SECURITY.md: its table of who may ask what is not that of tests/attacks/expected.txt: run tests/attacks/table.py --write")


if __name__ == "__main__":
    main()

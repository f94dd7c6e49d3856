#!/usr/bin/env python3
"""Compares job event logs, two by two: usage: event_logs.py EXPECTED GOT [EXPECTED GOT...] [NUMBER...]

Events of the NUMBERs are left out of both.
Masked: ids' cluster, times, addresses, host names, directories, amounts of what slots have and jobs use, the name of
the program that was asked (condor_rm, roost rm).  Compared: which events of each job, in which order, and every line of
each of them with its layout.

SPDX-License-Identifier: Apache-2.0
"""
import re
import sys


def masked(event):
    lines = event.split("\n")
    head = re.match(r"^(\d{3}) \((\d+)\.(-?\d+)\.(\d+)\) (\d{4}-\d\d-\d\d|\d\d/\d\d) \d\d:\d\d:\d\d(\.\d{3})?Z? (.*)$", lines[0])
    if head is None:
        raise SystemExit(f"not the first line of an event: {lines[0]!r}")
    date = re.sub(r"\d", "9", head.group(5)) + (" ms" if head.group(6) else "")
    out = [f"{head.group(1)} {head.group(3)} {date} {head.group(7)}"] + lines[1:]
    text = "\n".join(out)
    text = re.sub(r"<[^>\n]*>", "<ADDRESS>", text)
    text = re.sub(r"slot\d+(_\d+)?@\S+", "slotN@HOST", text)
    text = re.sub(r'CondorScratchDir = ".*"', 'CondorScratchDir = "DIR"', text)
    text = re.sub(r"(?m)^(\t(?:Cpus|Disk|Memory) = )\d+$", r"\1N", text)
    text = re.sub(r"(?m)^\t(?:   )?GPUs .*\n", "", text)  # HTCondor looks for GPUs by itself, and finds none
    text = re.sub(r"updated: \d+", "updated: N", text)
    text = re.sub(r"(?m)^\t\d+  -  ", "\tN  -  ", text)
    text = re.sub(r"Usr \d+ \d\d:\d\d:\d\d, Sys \d+ \d\d:\d\d:\d\d", "Usr T, Sys T", text)
    text = re.sub(r"\(by user \S+\)", "(by user USER)", text)
    text = re.sub(r"via (?:condor_|roost )(\w+)", r"via \1", text)
    # a row of resources: name, use, request, allocated; use is not known of short jobs, and sizes differ
    text = re.sub(r"(?m)^(\t   [A-Z]\w*(?: \(\w+\))?) +:(.*)$", lambda m: m.group(1) + " : " + row(m.group(2)), text)
    return int(head.group(3)), head.group(1), text


def row(cells):
    if len(cells) < 28:
        return "short"
    return " ".join("-" if not part.strip() else "N" for part in (cells[9:18], cells[18:28]))


def events(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if not text.endswith("...\n"):
        raise SystemExit(f"{path}: the last event is not complete")
    jobs = {}
    for event in text.split("...\n")[:-1]:
        proc, number, shown = masked(event)
        jobs.setdefault(proc, []).append((number, shown))
    return jobs


def told(list_of_events, left_out):
    """Of several 006 of a job the first: how often its size is looked at, and what is found then, is not part of the layout."""
    out, seen = [], False
    for number, shown in list_of_events:
        if number in left_out:
            continue
        if number == "006":
            if seen:
                continue
            seen = True
        out.append(shown)
    return out


def compare(expected_path, got_path, left_out):
    expected, got = events(expected_path), events(got_path)
    bad = 0
    if expected.keys() != got.keys():
        print(f"{got_path}: jobs: expected {sorted(expected)}, got {sorted(got)}")
        bad = 1
    for proc in sorted(expected.keys() & got.keys()):
        want, have = told(expected[proc], left_out), told(got[proc], left_out)
        if want != have:
            bad = 1
            print(f"{got_path}: job {proc}")
            for at in range(max(len(want), len(have))):
                a = want[at] if at < len(want) else "(nothing)"
                b = have[at] if at < len(have) else "(nothing)"
                if a != b:
                    print(f"--- event {at}, expected:\n{a}\n--- got:\n{b}")
                    break
    return bad


def main():
    paths = [word for word in sys.argv[1:] if not word.isdigit()]
    left_out = [word for word in sys.argv[1:] if word.isdigit()]
    return max(compare(paths[at], paths[at + 1], left_out) for at in range(0, len(paths), 2))


sys.exit(main())

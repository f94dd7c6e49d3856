#!/usr/bin/env python3
"""The names of attributes that Roost's own ads may have: classad/ad_attr_names.c, for "did you mean".

Takes the texts of the sources that can be names of attributes where attributes are set, read or listed.  Too many names do
little harm (a misspelt word is not reported); a missing one would cause a false warning.

    tools/lint_attrs.py          finds attributes that are set and not listed (lint.attrs)
    tools/lint_attrs.py --write  writes it

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys

FOLDERS = ("classad", "collector", "drain", "eventlog", "kbdd", "master", "negotiator", "offline_ads", "power", "rooster",
           "schedd", "shadow", "starter", "startd", "submit", "transfer", "wire", "cli", "etc")
LIST = "classad/ad_attr_names.c"
NAME = re.compile(r'"([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)?)"')
# Set by sites and jobs of HTCondor pools, and of use in expressions that are copied from there.
ALSO = """GPUs RequestGPUs TotalGPUs TotalSlotGPUs DetectedGPUs AssignedGPUs AvailableGPUs GPUsAverageUsage CUDACapability
CUDADriverVersion CUDARuntimeVersion CUDAGlobalMemoryMb CUDADeviceName HasDocker HasSingularity HasVM HasMPI HasJava
HasCheckpointing HasRemoteSyscalls WantDocker WantGPU DAGManJobId DAGNodeName DAGParentNodeNames Docker DockerImage
VirtualMemory KFlops Mips UtsnameRelease OpSysVer OpSysMajorVer OpSysName OpSysShortName OpSysAndVer OpSysLongName
OpSysLegacy IsGlidein""".split()
# Never in an ad (wire/secret_list.h).
SECRETS = {"ChildClaimIds", "ClaimId", "ClaimIdList", "ClaimIds", "PairedClaimId", "TransferKey"}
HEAD = """/* classad/ad_attr_names.c - names of attributes that ads may have, sorted without regard to case.
 * Made by tools/lint_attrs.py --write from the sources.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_attr.h"

#include <stddef.h>

/* clang-format off */
const char *const ad_attr_names[] = {
"""


LISTED = re.compile(r'^    "(.*)",$', re.MULTILINE)
SET = re.compile(r'\bad_set_[a-z_]+\([^";]*"([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)"')


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]")):
            if path.name != "ad_attr_names.c":
                yield path, path.read_text(encoding="utf-8")


def write(root):
    found = set(ALSO)
    for _, text in sources(root):
        found.update(name for name in NAME.findall(text) if len(name) > 2)
    unique = {}
    for name in sorted(found - SECRETS):
        unique.setdefault(name.lower(), name)
    text = HEAD + "".join(f'    "{unique[key]}",\n' for key in sorted(unique)) + "    NULL};\n/* clang-format on */\n"
    (root / LIST).write_text(text, encoding="utf-8")


def check(root):
    path = root / LIST
    listed = {name.lower() for name in LISTED.findall(path.read_text(encoding="utf-8"))} if path.exists() else set()
    missing = 0
    for path, text in sources(root):
        for match in SET.finditer(text):
            if len(match[1]) > 2 and match[1].lower() not in listed and match[1] not in SECRETS:
                line = text.count("\n", 0, match.start()) + 1
                print(f"{path.relative_to(root)}:{line}: the attribute '{match[1]}' is not in {LIST}; run tools/lint_attrs.py --write")
                missing += 1
    return 1 if missing else 0


def main():
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    if "--write" in sys.argv:
        write(root)
        return 0
    return check(root)


sys.exit(main())

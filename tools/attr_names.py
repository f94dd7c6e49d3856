#!/usr/bin/env python3
"""Writes the names of attributes that Roost's own ads may have, for "did you mean" (classad/ad_attr.h), when Roost is built.

Takes the texts of the sources that can be names of attributes.  Too many names do little harm (a misspelt word is not
reported); a missing one would cause a false warning.

    tools/attr_names.py ROOT OUTPUT

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys

FOLDERS = ("classad", "collector", "drain", "eventlog", "factory", "kbdd", "master", "negotiator", "offline_ads", "power", "rooster",
           "schedd", "shadow", "starter", "startd", "submit", "transfer", "wire", "cli", "etc")
NAME = re.compile(r'"([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)?)"')
# Set by sites and jobs of HTCondor pools, and of use in expressions that are copied from there.
ALSO = """GPUs RequestGPUs TotalGPUs TotalSlotGPUs DetectedGPUs AssignedGPUs AvailableGPUs GPUsAverageUsage CUDACapability
CUDADriverVersion CUDARuntimeVersion CUDAGlobalMemoryMb CUDADeviceName HasDocker HasSingularity HasVM HasMPI HasJava
HasCheckpointing HasRemoteSyscalls WantDocker WantGPU DAGManJobId DAGNodeName DAGParentNodeNames Docker DockerImage
VirtualMemory KFlops Mips UtsnameRelease OpSysVer OpSysMajorVer OpSysName OpSysShortName OpSysAndVer OpSysLongName
OpSysLegacy IsGlidein""".split()
# Never in an ad (wire/secret_list.h).
SECRETS = {"ChildClaimIds", "ClaimId", "ClaimIdList", "ClaimIds", "PairedClaimId", "TransferKey"}
HEAD = """/* Names of attributes that ads may have.  Made by tools/attr_names.py from the sources.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_attr.h"

#include <stddef.h>

/* clang-format off */
const char *const ad_attr_names[] = {
"""


def main():
    root, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    found = set(ALSO)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]")):
            found.update(name for name in NAME.findall(path.read_text(encoding="utf-8")) if len(name) > 2)
    unique = {}
    for name in sorted(found - SECRETS):
        unique.setdefault(name.lower(), name)
    text = HEAD + "".join(f'    "{unique[key]}",\n' for key in sorted(unique)) + "    NULL};\n/* clang-format on */\n"
    if not output.exists() or output.read_text(encoding="utf-8") != text:
        output.write_text(text, encoding="utf-8")


main()

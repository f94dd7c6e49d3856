#!/usr/bin/env python3
# tools/lint_secrets.py [ROOT] - no secret is an attribute of an ad.
#
# Design note: whoever may query an ad sees all of it.  So a secret is sent beside ads (wire/secret_list.h), and the
# old names of secrets are not in any string of the code, except where they are removed from old rows and records and
# from the ads of others.  The further words of NOT_SET may occur, but no attribute is set by these names.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import sys

import csource

NAMES = ["ClaimId", "ClaimIds", "ClaimIdList", "ChildClaimIds", "PairedClaimId", "Nonce", "TransferKey"]
PREFIX = "_roost_priv"
NOT_SET = NAMES + ["Ticket", "Password", "Secret", "Capability", "PrivateKey", "WakePassword"]
# Files that remove the names from what others wrote; each file gives its reason.
ALLOWED = ["classad/ad_name.c", "schedd/queue/old_rows.c", "startd/claim/old_claims.h", "wire/job_record.c", "tests/**", "bench/**"]


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))
    literal = re.compile(r'"(?:(' + "|".join(NAMES) + r')"|([^"\n]*' + PREFIX + "))", re.IGNORECASE)
    setter = re.compile(r'\bad_(?:set\w*|copy_attr)\s*\([^";]*,\s*"(' + "|".join(NOT_SET) + ')"', re.IGNORECASE)
    findings = csource.Findings()
    for name in csource.tree_files(root):
        if not name.endswith((".c", ".h")) or csource.match_any(name, ALLOWED):
            continue
        text = csource.without_comments(csource.read(root, name), keep_strings=True)
        for match in setter.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            findings.add(name, line, f"'{match.group(1)}' is set as an attribute; send a secret beside the ad (wire/secret_list.h)")
        for match in literal.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            word = match.group(1) or PREFIX
            findings.add(name, line, f"'{word}' is the name of a secret, which must not be in an ad; see wire/secret_list.h")
    findings.finish()


main()

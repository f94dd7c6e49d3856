#!/usr/bin/env python3
# tools/lint_secrets.py [ROOT] - no secret is an attribute of an ad.
#
# Design note: whoever may ask about an ad learns what it holds.  So what proves something goes beside ads
# (wire/secret_list.h), and its old names are in no string of the code but where rows, records and ads of others
# are cleaned of them.  The other words are names that an attribute may bear in general, but is not set under.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import sys

import csource

NAMES = ["ClaimId", "ClaimIds", "ClaimIdList", "ChildClaimIds", "PairedClaimId", "Nonce", "TransferKey"]
PREFIX = "_roost_priv"
NOT_SET = NAMES + ["Ticket", "Password", "Secret", "Capability", "PrivateKey", "WakePassword"]
# Who takes them out of what others wrote, each with its reason in the file.
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
            findings.add(name, line, f"'{match.group(1)}' is set as an attribute: a secret goes beside the ad, see wire/secret_list.h")
        for match in literal.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            word = match.group(1) or PREFIX
            findings.add(name, line, f"'{word}' is the name of a secret: it is in no ad, see wire/secret_list.h")
    findings.finish()


main()

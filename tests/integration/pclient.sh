#!/bin/bash
# tests/integration/pclient.sh - pclient does what docs/protocol/pclient.md says: every request, every refusal, much
# output, slow readers; and whatever is killed or stands still, no process of a job is left.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

PCLIENT=$ROOST_BIN/pclient
[ -x "$PCLIENT" ] || fail "$PCLIENT is missing"

chmod 1777 "$OUT" # jobs of several users write there
python3 "$ROOST_SRC/tests/integration/lib_pclient.py" "$PCLIENT" "$OUT" || fail "see above"
passed

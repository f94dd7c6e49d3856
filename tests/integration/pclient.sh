#!/bin/bash
# tests/integration/pclient.sh - pclient does what docs/protocol/pclient.md says: every request, every refusal, much
# output, slow readers; and whatever is killed or stands still, no process of a job is left.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

PCLIENT=$ROOST_BIN/pclient
[ -x "$PCLIENT" ] || fail "$PCLIENT is missing"

# What base promises of it holds on an old kernel, too.
/usr/bin/python3 "$ROOST_SRC/tests/integration/lib_old_kernel.py" "${ROOST_BUILD:-$ROOST_BIN/..}/tests/bin/unit.base.os_enclose" \
    >"$WORK/unit.log" 2>&1 || fail "unit.base.os_enclose on Linux 4.4: $(grep -v -e ' OK ' "$WORK/unit.log" | tail -n 20)"
chmod 1777 "$OUT" # jobs of several users write there
python3 "$ROOST_SRC/tests/integration/lib_pclient.py" "$PCLIENT" "$OUT" || fail "see above"
passed

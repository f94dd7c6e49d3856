#!/bin/bash
# tests/integration/site_process.sh - roost-site process: glideins on this machine are started once, are found again by
# another roost-site, and are removed; a wrong option, a killed roost-site and a hanging program.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

umask 022
python3 "$ROOST_SRC/tests/integration/lib_site_process.py" "$ROOST_BIN/roost-site" "$OUT" || fail "see above"
passed

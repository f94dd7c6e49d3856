#!/bin/bash
# tools/power_days.sh [-n NODES] [-h HOURS] [-p AT_ONCE] FIRST LAST: days of simulated pools whose machines sleep, by seed.
#
# Two days of 2,000 machines take some minutes of a core and 2 GB; what was seen: docs/PERFORMANCE.md.  A seed that breaks a promise:
# build/bin/roost-sim --power HOURS --nodes NODES --seed N shows which, with the end of the trace (all of it: --trace).
#
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
NODES=2000 HOURS=48 AT_ONCE=1
take_options "n=NODES h=HOURS p=AT_ONCE" 2 2 "$@"
cd "$ROOST_SRC"
tools/build.sh release roost-sim >&2
exec nice build/bin/roost-sim --power "$HOURS" --nodes "$NODES" --seeds "${OPERANDS[0]}-${OPERANDS[1]}" --parallel "$AT_ONCE"

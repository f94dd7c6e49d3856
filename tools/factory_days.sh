#!/bin/bash
# tools/factory_days.sh [-s SITES] [-g GLIDEINS] [-j JOBS] [-p AT_ONCE] FIRST LAST: pools with a factory and sites, by seed.
#
# A seed that breaks a promise: build/bin/roost-sim --factory --sites SITES --glideins GLIDEINS --jobs JOBS --seed N shows
# which, with the end of the trace (all of it: --trace).
#
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
SITES=20 GLIDEINS=500 JOBS=5000 AT_ONCE=1
take_options "s=SITES g=GLIDEINS j=JOBS p=AT_ONCE" 2 2 "$@"
cd "$ROOST_SRC"
tools/build.sh release roost-sim >&2
exec nice build/bin/roost-sim --factory --sites "$SITES" --glideins "$GLIDEINS" --jobs "$JOBS" --seeds "${OPERANDS[0]}-${OPERANDS[1]}" --parallel "$AT_ONCE"

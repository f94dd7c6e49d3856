#!/bin/bash
# A pool whose factory has sites start glideins, by seed: nothing leaks, no limit is passed, nothing is submitted without
# demand, and jobs are served (sim/factory_truth.h).  At full size, by hand: tools/factory_days.sh.
#
# TIMEOUT: 300
# SPDX-License-Identifier: Apache-2.0
set -u
glideins=60 jobs=120 seeds=1-10
if grep -Eq '^ROOST_SANITIZE:[A-Z]+=.' "$ROOST_BUILD/CMakeCache.txt"; then
    glideins=20 jobs=30 seeds=1-2 # instrumented programs are ten times slower
fi
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$ROOST_BIN/roost-sim" --factory --seeds $seeds --parallel "$(nproc)" --sites 10 --glideins $glideins --jobs $jobs >"$out"
status=$?
cat "$out"
[ $status -eq 0 ] || exit 1
grep -Eq ' kills [1-9]' "$out" || { echo "no factory was killed"; exit 1; }
grep -Eq ' sections [1-9]' "$out" || { echo "no section was taken out"; exit 1; }
grep -Eq ' orphans [1-9]' "$out" || { echo "no orphan turned up"; exit 1; }

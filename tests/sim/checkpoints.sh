#!/bin/bash
# Hours of jobs with checkpoints, evicted again and again: what they had done is not lost, and not done twice
# (sim/ckpt_truth.h).  Thousands of seeds, by hand: roost-sim --checkpoints --seeds 1-3000 --nodes 6 --jobs 14.
#
# TIMEOUT: 300
# SPDX-License-Identifier: Apache-2.0
set -u
seeds=1-36
if grep -Eq '^ROOST_SANITIZE:[A-Z]+=.' "$ROOST_BUILD/CMakeCache.txt"; then
    seeds=1-6 # instrumented programs are ten times slower
fi
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$ROOST_BIN/roost-sim" --checkpoints --seeds $seeds --parallel "$(nproc)" --nodes 4 --jobs 6 >"$out"
status=$?
cat "$out"
[ $status -eq 0 ] || exit 1
grep -Eq '^injected:.* clock_sets=[1-9]' "$out" || { echo "no clock was set"; exit 1; }
for count in owners kills 'power cuts' 'full disks' stands troubles vacated held drained 'of changes' kept granted resumed \
    'runs with loss'; do
    grep -Eq "^seed .*[ :]$count [1-9]" "$out" || { echo "nothing of the kind happened: $count"; exit 1; }
done

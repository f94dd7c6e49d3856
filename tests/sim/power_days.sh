#!/bin/bash
# Hours of a pool of sleeping machines, not all of them sound: what is switched is what should be (sim/power_truth.h); also
# where HIBERNATE and UNHIBERNATE need the negotiator's word on the queue.
# At full size, by hand: tools/power_days.sh.
#
# TIMEOUT: 300
# SPDX-License-Identifier: Apache-2.0
set -u
nodes=60 seeds=1-3
if grep -Eq '^ROOST_SANITIZE:[A-Z]+=.' "$ROOST_BUILD/CMakeCache.txt"; then
    nodes=20 seeds=4-4 # instrumented programs are ten times slower
fi
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$ROOST_BIN/roost-sim" --power 4 --seeds $seeds --parallel "$(nproc)" --nodes $nodes >"$out"
status=$?
cat "$out"
[ $status -eq 0 ] || exit 1
grep -Eq 'told to sleep [1-9]' "$out" || { echo "nobody was told to sleep"; exit 1; }
grep -Eq '^injected:.* kills=[1-9]' "$out" || { echo "no daemon was killed"; exit 1; }
grep -Eq '^injected:.* clock_sets=[1-9]' "$out" || { echo "no clock was set"; exit 1; }
"$ROOST_BIN/roost-sim" --power 5 --queue --seed 15 --nodes $((nodes * 2 / 3)) >"$out"
status=$?
cat "$out"
[ $status -eq 0 ] || exit 1
grep -Eq ' wakes [1-9]' "$out" || { echo "nobody was woken by figures of the queue"; exit 1; }

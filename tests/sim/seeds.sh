#!/bin/bash
# The suite: 50 days of a simulated pool, 50 nodes and 200 jobs each, with everything that goes wrong.  No promise may be
# broken, and every kind of accident must have happened.
#
# TIMEOUT: 600
# SPDX-License-Identifier: Apache-2.0
set -u
# Instrumented programs are ten times slower: the same seeds, accidents and promises, on a smaller pool.
nodes=50 jobs=200
if grep -Eq '^ROOST_SANITIZE:[A-Z]+=.' "$ROOST_BUILD/CMakeCache.txt"; then
    nodes=8 jobs=30
fi
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$ROOST_BIN/roost-sim" --seeds 1-50 --parallel "$(nproc)" --nodes "$nodes" --jobs "$jobs" >"$out"
status=$?
cat "$out"
[ $status -eq 0 ] || exit 1
grep -Eq '^seeds=.* pieces=[1-9]' "$out" || { echo "no job ran in a piece"; exit 1; }
grep -Eq '^seeds=.* preemptions=[1-9]' "$out" || { echo "nobody was preempted"; exit 1; }
grep -Eq '^seeds=.* reclaims=[1-9]' "$out" || { echo "nobody was taken back on its way down"; exit 1; }
grep -Eq '^seeds=.* prompt=[1-9]' "$out" || { echo "no free slot was compared with an idle job"; exit 1; }
for count in messages reordered split delayed connects link_cuts resets spawns kills power_cuts boots boot_failures \
    power_offs fatals disk_errors lost_writes commit_kills restarts suspends clock_sets; do
    if ! grep -Eq "^injected:.* $count=[1-9]" "$out"; then
        echo "nothing of the kind was injected: $count"
        exit 1
    fi
done

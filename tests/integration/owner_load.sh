#!/bin/bash
# The load of a machine: what jobs make of it is theirs (CondorLoadAvg), what its owner makes suspends them.
#
# TIMEOUT: 90
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --cpus-per-node 1
{
    sed -n '/^BackgroundLoad/,$p' "$ROOST_SRC/etc/desktop.conf"
    cat <<END
StartIdleTime = "-1"
KeyboardBusy = "false"
BackgroundLoad = "1000"
HighLoad = "1000"
POLLING_INTERVAL = 1
HIBERNATE = "NONE"
END
} >>"$POOL/nodes/wn01/roost.conf"
pool_start

of_slot() { "$ROOST" status -af "$1" 2>/dev/null; }
slot_is() { [ "$("$ROOST" status -af State Activity 2>/dev/null)" = "$1" ]; }
is_above() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'; }

cat >"$WORK/job.sub" <<END
executable = /bin/sh
transfer_executable = false
arguments = "-c 'while :; do :; done'"
request_memory = 100
queue 1
END
job=$(submit "$WORK/job.sub") || exit 1
until_true 30 "the job runs" slot_is "Claimed Busy"
# Figures are not sent for their own sake: a move or a reload sends them.
startd=$(pids_of startd wn01)
has_load() { kill -HUP "$startd"; is_above "$(of_slot CondorLoadAvg)" 0.03; }
until_true 20 "the job's load is its own" has_load
is_above "$(of_slot TotalLoadAvg)" 0 || fail "there is no load"

say "the owner compiles something large"
limit=$(awk -v a="$(of_slot LoadAvg)" -v b="$(of_slot CondorLoadAvg)" 'BEGIN { print a - b + 0.3 }')
sed -i "s/^HighLoad = .*/HighLoad = \"$limit\"/" "$POOL/nodes/wn01/roost.conf"
# So many that the average of a minute rises, whatever ran before: it falls from that meanwhile.
for _ in {1..30}; do
    nice -n 19 sh -c 'while :; do :; done' &
done
kill -HUP "$startd"
until_true 30 "the slot suspends" slot_is "Claimed Suspended"
status_is() { [ "$("$ROOST" q "$job" -af JobStatus 2>/dev/null)" = "$1" ]; }
until_true 30 "q says so" status_is 7
passed

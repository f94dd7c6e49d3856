#!/bin/bash
# A machine loses its power in the middle of a job, and is switched on again: the job is idle at once, not at the end of the
# claim's lease, because nothing of an earlier boot can run.  So it is also where the machine keeps nothing on its disk.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1
NODE=$POOL/nodes/wn01
echo 'HIBERNATE = "\"NONE\""' >>"$NODE/roost.conf"
printf '%s\n' 'PERSONAL_NODES = awake' >>"$ROOST_CONFIG"
sed -i 's/^CLAIM_LEASE_DURATION = .*/CLAIM_LEASE_DURATION = 3600/' "$ROOST_CONFIG"
pool_start
{ echo 'job_lease_duration = 3600'; script_jobs 1 "echo run >>$OUT/runs; $(gate end)"; } >"$WORK/job.sub"
job=$(submit "$WORK/job.sub") || exit 1
has_run() { [ -e "$OUT/runs" ] && [ "$(wc -l <"$OUT/runs")" -eq "$1" ] && [ "$("$ROOST" q "$job" -af JobStatus)" = 2 ]; }
until_true 40 "the job runs" has_run 1
is_off() { [ "$("$ROOST" status -constraint 'Machine == "wn01"' -af Offline 2>/dev/null)" = true ]; }

# lose_power: all of the node ends at once, so that nobody can tell of another's end.
lose_power() {
    local pid
    for _ in 1 2; do
        for pid in $(traces "$NODE/"); do kill -STOP "$pid" 2>/dev/null; done
    done
    for pid in $(traces "$NODE/"); do kill -9 "$pid" 2>/dev/null; done
    until_true 20 "nothing of the node is left" no_process_of "$NODE/"
}
# comes_back: people switch it on once it is known to be off.
comes_back() {
    until_true 40 "the machine is known to be off" is_off
    "$ROOST" power on wn01 >/dev/null || fail "roost power on"
    until_true 60 "the machine is up again" is_awake
}
is_awake() { [ "$(awake_nodes)" = wn01 ]; }

say "with its store"
lose_power
comes_back
until_true 30 "the job runs again" has_run 2

say "without it"
lose_power
rm -f "$NODE"/spool/startd.db*
comes_back
until_true 90 "the job runs again" has_run 3
grep -q ' job.evicted "the machine was restarted" ' "$POOL/log/SchedLog" || fail "the schedd does not say why"
open_gate end
until_true 30 "the job is done" is_done "$job" 1
pool_stop
passed

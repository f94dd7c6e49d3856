#!/bin/bash
# An administrator takes machines out of work: jobs that are waited for, and machines whose jobs have no retirement time.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

pool_init --nodes 3 --cpus-per-node 1 --idle 86400
chmod 0777 "$OUT"
for node in 01 02 03; do echo 'MAXJOBRETIREMENTTIME = 0' >>"$POOL/nodes/wn$node/roost.conf"; done
pool_start
are_awake() { [ "$(awake_count)" -eq "$1" ]; }
until_true 30 "all are awake" are_awake 3

state_of() { "$ROOST" status -constraint "Machine == \"$1\"" -af State Activity | tr '\n' ' '; }
is_state() { [ "$(state_of "$1")" = "$2 " ]; }
# on NODE NUMBER: one job that runs there until the gate is open.
on() {
    gated_jobs 1 "$2" >"$WORK/job.sub"
    { echo "requirements = TARGET.Machine == \"$1\""; cat "$WORK/job.sub"; } >"$WORK/on.sub"
    submit "$WORK/on.sub" || exit 1
}
starts() { "$ROOST" history "$1" -af NumJobStarts JobStatus; }

say "graceful evicts a job without retirement time, and says so; peaceful waits for it"
one=$(on wn01 1)
two=$(on wn02 2)
until_true 30 "wn01 is busy" is_state wn01 "Claimed Busy"
until_true 30 "wn02 is busy" is_state wn02 "Claimed Busy"
"$ROOST" drain wn01 --peaceful --reason "new disk" >"$WORK/said" || fail "drain --peaceful"
grep -q '^wn01: draining peacefully, the jobs run to their end (request' "$WORK/said" || fail "$(cat "$WORK/said")"
"$ROOST" drain wn02 --graceful >"$WORK/said" || fail "drain --graceful"
grep -q '^Warning: no running job has retirement time' "$WORK/said" || fail "no warning: $(cat "$WORK/said")"
until_true 30 "wn02 is drained" is_state wn02 "Drained Idle"
is_state wn01 "Claimed Retiring" || fail "wn01 is $(state_of wn01)"
kill -9 "$(pids_of startd wn01)"
until_true 30 "wn01's next startd is draining" is_state wn01 "Claimed Retiring"
open_gate 1
until_true 30 "wn01 is drained" is_state wn01 "Drained Idle"
until_true 30 "its job is done" is_done "$one" 1
equals "starts and status of its job" "$(starts "$one")" "1 4"
"$ROOST" drain --cancel 'wn[01,02]' >/dev/null || fail "drain --cancel"
open_gate 2
until_true 30 "the evicted job is done" is_done "$two" 1

say "off after the jobs"
three=$(on wn03 3)
until_true 30 "wn03 is busy" is_state wn03 "Claimed Busy"
"$ROOST" power off wn03 --after-drain >"$WORK/said" || fail "power off --after-drain"
grep -q 'peacefully' "$WORK/said" || fail "$(cat "$WORK/said")"
is_state wn03 "Claimed Retiring" || fail "wn03 is $(state_of wn03)"
open_gate 3
until_true 30 "wn03 is off" are_awake 2
until_true 30 "its job is done" is_done "$three" 1
equals "starts and status of its job" "$(starts "$three")" "1 4"
passed

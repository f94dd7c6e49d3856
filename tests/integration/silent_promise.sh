#!/bin/bash
# A free machine stands still (SIGSTOP) just before one of two jobs is matched to it.  Its silence is known only after the time of
# the promise that jobs start in time; still nobody calls the promise broken, and the wait is counted as excused.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --cpus-per-node 1
echo 'HIBERNATE = "\"NONE\""' >>"$POOL/nodes/wn01/roost.conf"
printf '%s\n' 'PERSONAL_NODES = awake' 'NEGOTIATOR_INTERVAL = 1' >>"$ROOST_CONFIG"
pool_start
is_up() { [ "$(awake_count)" -eq 1 ]; }
until_true 30 "the node is up" is_up
startd=$(pids_of startd wn01)
kill -STOP "$startd" || fail "kill -STOP $startd"
number_jobs 2 0 >"$WORK/job.sub"
job=$(submit "$WORK/job.sub") || exit 1
excused() { [ -n "$("$ROOST" status -any -constraint 'StartExcusedMachineSilent > 0' -af Name 2>/dev/null)" ]; }
until_true 40 "the wait is excused" excused
kill -CONT "$startd"
until_true 40 "the jobs are done" is_done "$job" 2
equals "promises that count as broken" "$(cat "$POOL"/log/{NegotiatorLog,SchedLog} | grep ' promise.broken ')" ""
equals "the same, in the ads" "$("$ROOST" status -any -constraint 'StartPromisesBroken > 0' -af Name)" ""
pool_stop
passed

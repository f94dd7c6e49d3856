#!/bin/bash
# A schedd that stands still (SIGSTOP) with idle jobs gets no matches, and no machine is woken for it or kept awake.  When it
# is heard again, its jobs run.  A negotiator and a rooster that stand still are named by every command that asks.
#
# TIMEOUT: 150
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

pool_init --nodes 2 --cpus-per-node 1 --idle 2
# The lease ends after the collector knows (9 s): before that the schedd may get a match.
printf '%s\n' 'CLAIM_LEASE_DURATION = 18' 'LEASE_MARGIN = 2' >>"$ROOST_CONFIG"
pool_start
gated_jobs 4 end >"$WORK/jobs.sub"
cluster=$(submit "$WORK/jobs.sub") || exit 1
jobs_run() { [ "$("$ROOST" q "$cluster" -af JobStatus 2>/dev/null | grep -c 2)" = 2 ]; }
until_true 30 "two jobs run" jobs_run

say "the schedd stands still; two jobs are idle"
schedd=$(pids_of schedd)
kill -STOP "$schedd" || fail "kill -STOP $schedd"
marked() { "$ROOST" status -any -constraint 'NotRespondingSince =!= undefined' -af MyType 2>/dev/null | sort -u | tr '\n' ' '; }
is_marked() { [ "$(marked)" = "Request Scheduler " ]; }
until_true 30 "its ads are marked: $(marked)" is_marked
given() { grep -cE ' (match|hold) "a (slot was matched|sleeping machine is held)' "$POOL/log/NegotiatorLog"; }
before=$(given)
until_true 60 "leases are over and the machines are asleep" is_asleep 2
equals "matches and holds for a schedd that is not heard" "$(given)" "$before"
equals "promises that count as broken" "$(grep ' promise.broken ' "$POOL/log/NegotiatorLog")" ""

say "it is heard again"
kill -CONT "$schedd"
is_heard() { [ -z "$(marked)" ]; }
until_true 10 "the marks are gone" is_heard
open_gate end
until_true 60 "all jobs are done" is_done "$cluster" 4
check_committed "$cluster" 4

say "negotiator and rooster stand still"
until_true 60 "the machines are asleep" is_asleep 2
still=("$(pids_of negotiator)" "$(pids_of rooster)")
kill -STOP "${still[@]}" || fail "kill -STOP ${still[*]}"
cluster=$(submit "$WORK/jobs.sub") || exit 1
are_marked() { [ "$(marked)" = "Negotiator Rooster " ]; }
until_true 30 "their ads are marked: $(marked)" are_marked
names() { grep -q "$1" <<<"$2" || fail "'$1' is not in: $2"; }
names "the collector has not heard from the negotiator since" "$("$ROOST" why "$cluster.0")"
names "Negotiator.*not responding since" "$("$ROOST" status -problems)"
names "not responding since" "$("$ROOST" status -negotiator 2>&1)"
names "not responding since" "$("$ROOST" status -rooster 2>&1)"
kill -CONT "${still[@]}"
until_true 10 "the marks are gone" is_heard
until_true 60 "all jobs are done" is_done "$cluster" 4
pool_stop
passed

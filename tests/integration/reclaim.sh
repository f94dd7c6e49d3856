#!/bin/bash
# Machines on their way down are taken back by jobs before others are woken: one that is drained to save power, one that is
# about to sleep; not one that somebody drained by name.  Then four machines of 8 cores, asleep: ten jobs of two cores wake
# the best three of them, and jobs that are gone in time wake none.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

pool_init --nodes 2 --cpus-per-node 2 --idle 86400
for node in 01 02; do echo 'MAXJOBRETIREMENTTIME = 86400' >>"$POOL/nodes/wn$node/roost.conf"; done
pool_start
are_awake() { [ "$(awake_nodes | tr '\n' ' ')" = "$1" ]; }
slots() { "$ROOST" status -constraint "$1" -af Name 2>/dev/null | sort | tr '\n' ' '; }
slots_are() { [ "$(slots "$2")" = "$1" ]; }
runs() { "$ROOST" q "$1" -af JobStatus NumJobStarts 2>/dev/null | sort -u; }
run_all() { [ "$(runs "$1")" = "2 1" ]; }
why() { "$ROOST" why "$1" >"$WORK/why" 2>&1 || true; }
tells() { why "$1" && grep -qE "$2" "$WORK/why"; }
until_true 30 "both are awake" are_awake "wn01 wn02 "
"$ROOST" power sleep wn02 >/dev/null || fail "power sleep wn02"
until_true 30 "wn02 is asleep" are_awake "wn01 "

say "a job runs on wn01, which is drained to save power; a second job takes it back, and nobody is woken"
gated_jobs 1 first >"$WORK/first.sub"
first=$(submit "$WORK/first.sub") || exit 1
until_true 30 "it runs" run_all "$first"
"$ROOST" drain wn01 --reclaimable >"$WORK/refused" 2>&1 && fail "taken back from what? $(cat "$WORK/refused")"
free=$(slots 'Machine == "wn01" && State != "Claimed"')
"$ROOST" drain wn01 --then sleep --reclaimable --reason night >/dev/null || fail "roost drain"
until_true 20 "one slot waits for the other" slots_are "$free" 'State == "Drained" && DrainingReclaimable && Start =?= false'
gated_jobs 1 second >"$WORK/second.sub"
second=$(submit "$WORK/second.sub") || exit 1
until_true 30 "the second runs" run_all "$second"
equals "where jobs run" "$("$ROOST" q -af RemoteHost | cut -d@ -f2 | sort -u)" "wn01"
equals "the first goes on" "$(runs "$first")" "2 1"
equals "what drains" "$(slots 'Draining =?= true')" ""
equals "wakes" "$(wakes)" ""
until_true 20 "roost why tells" tells wn01 'taken back +[0-9/]+ [0-9:]+: 1 job of [^ ]+ \(autocluster [0-9]+ of [^ ]+\) waits; the machine was drained by'
equals "who was asked, in the negotiator's log" "$(grep -c ' reclaim .*autocluster' "$POOL"/log/NegotiatorLog)" 1

say "what somebody drains by name stays so: the other machine is woken"
open_gate second
until_true 30 "the second is done" is_done "$second" 1
"$ROOST" drain wn01 --then sleep --reason repair >/dev/null || fail "roost drain"
until_true 20 "one slot waits for the other" slots_are "$free" 'State == "Drained" && DrainingReclaimable =!= true'
number_jobs 1 0 >"$WORK/third.sub"
third=$(submit "$WORK/third.sub") || exit 1
until_true 60 "the third is done" is_done "$third" 1
equals "woken for it" "$(wakes | cut -d' ' -f1)" "wn02"
[ -n "$(slots 'Draining =?= true')" ] || fail "wn01 does not drain any more"
open_gate first
until_true 30 "wn01 is asleep after its job" are_awake "wn02 "
check_committed "$first" 1

say "one that is about to sleep is taken back, and not woken"
cat >>"$POOL/nodes/wn02/roost.conf" <<'CONF'
NODE_IDLE_TIME = 0
HIBERNATE_RECLAIM_TIME = 600s
CONF
for pid in $(pids_of startd wn02); do kill -HUP "$pid"; done
until_true 30 "wn02 has left its offline ads" are_awake ""
[ -n "$(pids_of startd wn02)" ] || fail "wn02 is down"
number_jobs 1 0 >"$WORK/fourth.sub"
fourth=$(submit "$WORK/fourth.sub") || exit 1
until_true 60 "the fourth is done" is_done "$fourth" 1
equals "woken, all in all" "$(wakes | cut -d' ' -f1)" "wn02"
equals "where the fourth ran" "$("$ROOST" history "$fourth" -af LastRemoteHost | cut -d@ -f2)" "wn02"
taken_back() { "$ROOST" power history -constraint 'Outcome == "TakenBack"' -af Machine JobsWaiting; }
equals "taken back, says the ledger" "$(taken_back)" "wn02 1"
for pid in $(pids_of startd wn02); do kill -9 "$pid"; done # wherever it is in that
until_true 60 "it waits again" are_awake ""
number_jobs 1 0 >"$WORK/fifth.sub"
fifth=$(submit "$WORK/fifth.sub") || exit 1
until_true 60 "the fifth is done" is_done "$fifth" 1
equals "woken, all in all" "$(wakes | cut -d' ' -f1)" "wn02"
pool_stop
rm -rf "$POOL" "${OUT:?}"/*

say "four machines of 8 cores"
pool_init --nodes 4 --cpus-per-node 8 --idle 1 --asleep
efficiency=(0 1 3 2 4) # of wn01 ... wn04
for node in 1 2 3 4; do
    cat >>"$POOL/nodes/wn0$node/roost.conf" <<CONF
NUM_SLOTS_TYPE_1 = 1
SLOT_TYPE_1 = "100%"
SLOT_TYPE_1_PARTITIONABLE = true
MEMORY = 8192
STARTD_ATTRS = {Efficiency}
Efficiency = ${efficiency[$node]}
CONF
done
echo 'NEGOTIATOR_POST_JOB_RANK = "Efficiency"' >>"$ROOST_CONFIG"
pool_start
is_asleep 4 || fail "not all asleep after the start"
held() { "$ROOST" status -constraint 'Offline =?= true && size(OfflineMatches) > 0' -af Machine 2>/dev/null | sort | tr '\n' ' '; }
held_are() { [ "$(held)" = "$1" ]; }
rooster=$(pids_of rooster)
kill -STOP "$rooster" || fail "no rooster"
{
    gated_jobs 10 ten | grep -v ^queue
    echo 'request_cpus = 2'
    echo 'queue 10'
} >"$WORK/ten.sub"
gone=$(submit "$WORK/ten.sub") || exit 1
until_true 30 "the best three are held" held_are "wn02 wn03 wn04 "
"$ROOST" rm "$gone" >/dev/null || fail "roost rm"
until_true 30 "nobody is held any more" held_are ""
kill -CONT "$rooster"
until_true 30 "the rooster answers" "$ROOST" power status
equals "wakes for jobs that are gone" "$(wakes)" ""
ten=$(submit "$WORK/ten.sub") || exit 1
until_true 60 "ten run" run_all "$ten"
equals "woken for ten jobs" "$(wakes | cut -d' ' -f1,2 | sort | tr '\n' ' ')" "wn02 Up wn03 Up wn04 Up "
open_gate ten
until_true 60 "all are done" is_done "$ten" 10
check_committed "$ten" 10
pool_stop
passed

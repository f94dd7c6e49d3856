#!/bin/bash
# A machine's user shuts it down in order, in the middle of a job: it leaves offline ads, says why, nobody counts it as free, and jobs
# wake it again.  A restart of its daemons (SIGTERM) leaves none, and `roost stop` leaves none.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --cpus-per-node 2
NODE=$POOL/nodes/wn01
echo 'HIBERNATE = "\"NONE\""' >>"$NODE/roost.conf"
echo 'PERSONAL_NODES = awake' >>"$ROOST_CONFIG"
pool_start
is_up() { [ "$(awake_count)" -eq 1 ]; }
until_true 30 "the node is up" is_up
script_jobs 2 "touch $OUT/began.\$(Process); $(gate end)" >"$WORK/job.sub"
job=$(submit "$WORK/job.sub") || exit 1
run() { [ "$("$ROOST" q "$job" -af JobStatus 2>/dev/null | grep -c 2)" = 2 ]; }
until_true 30 "each of its slots has a job" run
have_begun() { [ -e "$OUT/began.0" ] && [ -e "$OUT/began.1" ]; }
until_true 30 "both jobs have begun" have_begun
asleep() { "$ROOST" status -constraint 'Offline =?= true' -af Machine 2>/dev/null; }
boot_of() { "$ROOST" status -constraint 'Machine == "wn01"' -af BootId 2>/dev/null | sort -u; }

say "a restart of its daemons leaves no offline ads"
master=$(pids_of master wn01)
startd=$(pids_of startd wn01)
mapfile -t boot_env < <(tr '\0' '\n' <"/proc/$master/environ" | grep '^ROOST_BOOT_') # it is the same boot
kill -TERM "$master"
has_ended() { ! kill -0 "$startd" 2>/dev/null; }
until_true 20 "its daemons have ended" has_ended
equals "offline ads" "$(asleep)" ""
env "${boot_env[@]}" ROOST_CONFIG="$NODE/roost.conf" "$ROOST_BIN/roost-master" </dev/null >/dev/null 2>&1 &
restarted() { [ "$("$ROOST" status -constraint 'Activity == "Busy"' -af Name 2>/dev/null | wc -l)" -eq 2 ]; }
until_true 30 "its jobs go on under the next startd" restarted
until_true 10 "they run" run
equals "how often they were started" "$("$ROOST" q "$job" -af NumJobStarts | sort -u)" 1

say "its user shuts it down"
boot=$(boot_of)
ROOST_CONFIG=$NODE/roost.conf "$ROOST" stop --for-shutdown >"$WORK/stop" || fail "stop: $(cat "$WORK/stop")"
sleeps_by() { "$ROOST" power history -constraint 'Kind == "Sleep"' -af Machine Reason 2>/dev/null; }
is_told() { [ "$(sleeps_by)" = "wn01 the machine was shut down" ]; }
until_true 10 "the rooster knows why it is asleep" is_told
is_woken() { [ "$(awake_count)" -eq 1 ] && [ "$(boot_of)" != "$boot" ]; }
until_true 40 "its jobs, which are idle again, wake it" is_woken
until_true 30 "and run" run
open_gate end
until_true 30 "both jobs are done" is_done "$job" 2

say "it is shut down without work, and sleeps until there is some"
ROOST_CONFIG=$NODE/roost.conf "$ROOST" stop --for-shutdown >"$WORK/stop" || fail "stop: $(cat "$WORK/stop")"
equals "offline ads" "$("$ROOST" status -constraint 'Offline =?= true' -af Machine PowerState PowerStateReason | sort -u)" \
    "wn01 Off the machine was shut down"
equals "machines that look awake" "$(awake_nodes)" ""
no_process_of "$NODE/" || fail "there are processes of wn01: $(traces "$NODE/")"
"$ROOST" power status >"$WORK/power" 2>&1
grep wn01 "$WORK/power" | grep -q 'Off .*the machine was shut down' || fail "power status: $(cat "$WORK/power")"
"$ROOST" power on wn01 >/dev/null || fail "roost power on"
until_true 40 "it can be woken by name" is_up

say "roost stop ends its daemons, and it is not taken as asleep"
ROOST_CONFIG=$NODE/roost.conf "$ROOST" stop >"$WORK/stop" || fail "stop: $(cat "$WORK/stop")"
equals "offline ads" "$(asleep)" ""
"$ROOST" stop --for-shut 2>/dev/null && fail "an unknown option was taken"
passed

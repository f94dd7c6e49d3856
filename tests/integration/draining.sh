#!/bin/bash
# A real machine of four slots with two kinds of jobs is drained, gracefully and fast: what it says of itself, what becomes
# of the jobs, that its totals are the evicted jobs' run time.  Then whoever may die dies: the requester between request and
# commit, the startd in mid-drain; second request, wrong id, missing authority, a machine that is not there.  In the end it
# is drained to exit, stays down, and is started again.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
ASK=$ROOST_BUILD/tests/bin/drain_ask
[ -x "$ASK" ] || fail "$ASK is missing"

slots() { "$ROOST" status -constraint "$1" -af Name 2>/dev/null | wc -l; }
has_slots() { [ "$(slots "$2")" -eq "$1" ]; }
shows() { "$ROOST" status -constraint 'SlotID == 1' -af "$1"; }
some_run() { [ "$("$ROOST" q -af JobStatus 2>/dev/null | grep -c 2)" -eq "$1" ]; }
# Jobs that run until they are told to end; what those of kind 1 have made by then is spooled, which is no result. Kind 1 is promised 6 s, kind 2 a day.
jobs_of() {
    cat <<SUB
executable = /bin/sh
transfer_executable = false
arguments = "-c 'trap exit TERM; while :; do sleep 0.1; done'"
initialdir = $OUT
should_transfer_files = YES
when_to_transfer_output = $([ "$1" -eq 1 ] && echo ON_EXIT_OR_EVICT || echo ON_EXIT)
+Kind = $1
request_memory = 1
queue 2
SUB
}
all_run() { some_run 4 && has_slots 4 'State == "Claimed" && Activity == "Busy"'; }
# between WHAT VALUE LOW HIGH
between() { { [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; } || fail "$1: $2, not $3 to $4"; }
# sum FILE: of numbers
sum() { awk '{ all += $1 } END { print all + 0 }' "$1"; }

pool_init --nodes 1 --cpus-per-node 4
cat >>"$POOL/nodes/wn01/roost.conf" <<'CONF'
HIBERNATE = "\"NONE\""
NUM_SLOTS = 4
MAXJOBRETIREMENTTIME = "ifThenElse(TARGET.Kind == 1, 6, 86400)"
MACHINEMAXVACATETIME = 10
POLLING_INTERVAL = 1
CONF
sed -i 's/^PERSONAL_NODES.*/PERSONAL_NODES = awake/' "$ROOST_CONFIG"
grep -q '^PERSONAL_NODES' "$ROOST_CONFIG" || echo 'PERSONAL_NODES = awake' >>"$ROOST_CONFIG"
pool_start
until_true 30 "four slots" has_slots 4 'State == "Unclaimed"'
for kind in 1 2; do
    jobs_of $kind >"$WORK/jobs.sub"
    cluster=$(submit "$WORK/jobs.sub") || exit 1
    say "kind $kind is cluster $cluster"
done
until_true 60 "all four run" all_run

say "a requester that is killed between request and commit has changed nothing"
"$ASK" wn01 '[HowFast = "fast"]' hang >"$WORK/offer" &
asker=$!
until_true 20 "there is an offer" test -s "$WORK/offer"
"$ASK" wn01 '[]' 2>"$WORK/second" && fail "a second request was taken"
equals "the code of a second request" "$(cut -d' ' -f1 <"$WORK/second")" 10001
kill -9 $asker
wait $asker 2>/dev/null
free() { "$ASK" wn01 '[EstimateOnly = true]' && ! "$ASK" wn01 cancel 0123456789 2>"$WORK/wrong"; }
until_true 20 "the offer is withdrawn" free
equals "the code of a wrong id" "$(cut -d' ' -f1 <"$WORK/wrong")" 10002
equals "slots that drain" "$(slots 'Draining =?= true')" 0
all_run || fail "the jobs do not run any more"

say "gracefully: nobody is evicted before his time, then the startd is killed in mid-drain"
"$ASK" wn01 '[DrainReason = "new disk"]' >"$WORK/offer" || fail "it is not drained"
id=$(cut -d' ' -f1 "$WORK/offer")
until_true 20 "all drain" has_slots 4 "Draining =?= true && DrainingRequestId =?= \"$id\" && Start =?= false"
until_true 20 "kind 1 is evicted" has_slots 2 'State == "Drained" && Activity == "Retiring"'
for pid in $(pids_of startd wn01); do kill -9 "$pid"; done
is_told() { "$ROOST" config set --node wn01 MAXJOBRETIREMENTTIME=6 >/dev/null 2>&1; }
until_true 60 "its startd is back, and is told that kind 2 has had its time" is_told
until_true 60 "all are drained" has_slots 4 'State == "Drained" && Activity == "Idle"'
equals "the request that goes on" "$(shows DrainingRequestId)" "$id"
equals "its reason" "$(shows DrainReason)" "new disk"
until_true 20 "all four wait" some_run 0
ran=$("$ROOST" q -af RemoteWallClockTime >"$WORK/ran" && sum "$WORK/ran")
badput=$(shows TotalDrainingBadputTime)
say "badput $badput s, the jobs ran for $ran s"
[ "$ran" -ge 20 ] || fail "the jobs had less than their retirement: $(cat "$WORK/ran")"
between "badput, when the jobs ran for $ran s" "$badput" $((ran - 6)) $((ran + 6))

say "it is given back, the jobs run again; fast: they are killed at once"
"$ASK" wn01 cancel "$id" || fail "it is not given back"
until_true 60 "all four run again" all_run
"$ASK" wn01 '[HowFast = 20; OnCompletion = "resume"]' >"$WORK/offer" || fail "it is not drained"
has_run() { [ "$("$ROOST" q -af NumJobStarts | sort -n | head -n 1)" -ge "$1" ]; }
until_true 60 "it has resumed, and all four run for the third time" has_run 3
until_true 60 "all four run" all_run
fast=$(cut -d' ' -f3 "$WORK/offer")
more=$(($(shows TotalDrainingBadputTime) - badput))
between "badput, when $fast s were estimated" "$more" "$fast" $((fast + 40))
equals "slots that drain" "$(slots 'Draining =?= true')" 0

say "a machine that is not there; one that is drained to exit stays down until somebody asks for it"
"$ASK" wn99 '[]' 2>"$WORK/nowhere" && fail "who is drained?"
equals "the code of a machine that is not there" "$(cut -d' ' -f1 <"$WORK/nowhere")" 10107
"$ASK" wn01 '[HowFast = "fast"; OnCompletion = "exit"]' >/dev/null || fail "it is not drained"
is_down() { [ -z "$(pids_of startd wn01)" ] && [ -n "$("$ROOST" status -master -constraint 'Name == "wn01"' -af STARTD_Down)" ]; }
until_true 60 "its startd is gone, and its master knows" is_down
until_true 10 "its ads are gone" has_slots 0 'Machine == "wn01"'
"$ROOST" start wn01 >"$WORK/start.out" || fail "roost start wn01: $(cat "$WORK/start.out")"
equals "what is started" "$(cat "$WORK/start.out")" "wn01: starts startd"
until_true 60 "all four run" all_run
equals "slots that drain" "$(slots 'Draining =?= true')" 0
equals "roost start wn01" "$("$ROOST" start wn01)" "wn01: a drain request stopped no daemon of this machine"
passed

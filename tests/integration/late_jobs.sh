#!/bin/bash
# Late materialization: a cluster's jobs are made as there is room for them, each once, whatever kills the schedd; held,
# released and removed as a whole; an item that makes no job is told where it was submitted; a million jobs cost nothing.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

queued() { "$ROOST" q "$1" -af ProcId 2>/dev/null | wc -l; }
has_queued() { [ "$(queued "$1")" -eq "$2" ]; }
value_of() { "$ROOST" q "$1" -limit 1 -af "$2" 2>/dev/null; }
# Jobs of which $OUT/N has one line for each run.
late_jobs() {
    cat <<SUB
executable = /bin/sh
transfer_executable = false
arguments = "-c 'echo \$(x) \$INT(Process,%03d)'"
initialdir = $OUT
output = out.\$(Process)
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
request_memory = 1
$1
queue x from (
$(seq -f 'item%g' 0 "$(($2 - 1))")
)
SUB
}

pool_init --nodes 2 --idle 30
pool_start

say "40 jobs, at most 4 in the queue, the schedd killed on the way"
late_jobs "max_materialize = 4" 40 >"$WORK/late.sub"
cluster=$(submit "$WORK/late.sub") || exit 1
for wanted in 3 9 17 26; do
    until_true 30 "$wanted jobs are done" is_done "$cluster" "$wanted"
    count=$(queued "$cluster")
    [ "$count" -le 4 ] || fail "$count jobs in the queue, 4 at most"
    for pid in $(pids_of schedd); do kill -9 "$pid" 2>/dev/null; done
done
until_true 60 "all jobs are done" is_done "$cluster" 40
check_committed "$cluster" 40
for number in 0 7 39; do
    equals "output of job $number" "$(cat "$OUT/out.$number")" "item$number $(printf %03d "$number")"
done
equals "jobs of the cluster" "$("$ROOST" history "$cluster" -limit 1 -af TotalSubmitProcs)" 40

say "a million jobs, two of them idle at a time"
memory_of() { awk '/^RssAnon/ {print $2}' "/proc/$(pids_of schedd | head -1)/status"; }
before=$(memory_of)
sed 's/^queue.*/requirements = false\nqueue 1000000/; /^item/d; /^)/d; /^arguments/d' \
    < <(late_jobs "max_idle = 2" 1) >"$WORK/million.sub"
million=$(submit "$WORK/million.sub") || exit 1
until_true 10 "two jobs are there" has_queued "$million" 2
after=$(memory_of)
[ $((after - before)) -le 2048 ] || fail "a million jobs took $((after - before)) KiB"
equals "batch of a million" "$("$ROOST" q "$million" | awk '$2 == "ID:" {print $6, $8, $9}')" "_ 2 1000000"

say "hold, release, remove of the whole cluster"
"$ROOST" hold "$million" >/dev/null || fail "roost hold"
equals "JobMaterializePaused" "$(value_of "$million" JobMaterializePaused)" 1
"$ROOST" q -factory | grep -q "^$million .* held: " || fail "roost q -factory: $("$ROOST" q -factory)"
"$ROOST" why "$million" | grep -q "\`roost release $million\` continues" || fail "roost why: $("$ROOST" why "$million")"
"$ROOST" q "$million" | grep -q " (paused)$" || fail "the pause is not seen: $("$ROOST" q "$million")"
"$ROOST" rm "$million.0" >/dev/null || fail "roost rm of one"
until_true 10 "one is left" has_queued "$million" 1
"$ROOST" release "$million" >/dev/null || fail "roost release"
until_true 10 "there are two again" has_queued "$million" 2
equals "the next" "$(value_of "$million" JobMaterializeNextProcId)" 3
for pid in $(pids_of schedd); do kill -9 "$pid" 2>/dev/null; done
until_true 20 "there are two still" has_queued "$million" 2
say "the highest job is gone when the schedd comes back: its number is not given again"
"$ROOST" hold "$million" >/dev/null || fail "roost hold"
"$ROOST" rm "$million.2" >/dev/null || fail "roost rm of the highest"
until_true 10 "one is left" has_queued "$million" 1
for pid in $(pids_of schedd); do kill -9 "$pid" 2>/dev/null; done
until_true 20 "one is left still" has_queued "$million" 1
"$ROOST" release "$million" >/dev/null || fail "roost release"
until_true 10 "there are two again" has_queued "$million" 2
equals "their numbers" "$("$ROOST" q "$million" -af ProcId | sort -n | paste -sd' ')" "1 3"
"$ROOST" rm -constraint "ClusterId == $million" >/dev/null || fail "roost rm"
until_true 10 "none is left" has_queued "$million" 0
for pid in $(pids_of schedd); do kill -9 "$pid" 2>/dev/null; done
until_true 20 "the schedd is back" "$ROOST" q
equals "jobs after the removal" "$(queued "$million")" 0

say "an item that makes no job"
sed 's/\$(x)/$INT(x)/' "$WORK/late.sub" >"$WORK/bad.sub"
if "$ROOST" submit "$WORK/bad.sub" >"$WORK/bad.out" 2>&1; then fail "a bad item was taken"; fi
grep -q 'INT(): item0 is not a number' "$WORK/bad.out" || fail "not told why: $(cat "$WORK/bad.out")"

passed

# tests/integration/lib_chaos.sh - jobs that run while daemons are killed; sourced after lib.sh.
#
# Each run of a job writes "NUMBER begin RUN MS" and "NUMBER end RUN MS" to a file outside of the pool, so that two runs
# of one job at a time would be seen.
#
# ROOST_TEST_SEED: chooses the order and the moments of the kills; printed, so that a failure can be repeated.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
SEED=${ROOST_TEST_SEED:-$(($(date +%s) % 32768))}
RANDOM=$SEED

# chaos_jobs COUNT SECONDS: submits them; sets `cluster`.
chaos_jobs() {
    cat >"$WORK/chaos_job.sh" <<'JOB'
#!/bin/sh
read -r run </proc/sys/kernel/random/uuid
echo "$1 begin $run $(date +%s%3N)" >>"$3"
echo "$1"
sleep "$2"
echo "$1 end $run $(date +%s%3N)" >>"$3"
JOB
    chmod 0755 "$WORK/chaos_job.sh"
    : >"$WORK/runs"
    chmod 0666 "$WORK/runs"
    sed -e '/^executable/c executable = '"$WORK/chaos_job.sh" -e '/^transfer_executable/d' \
        -e '/^arguments/c arguments = "$(Process) '"$2 $WORK/runs\"" -e '/^output/i log = jobs.log' \
        < <(number_jobs "$1" "$2") >"$WORK/chaos.sub"
    cluster=$(submit "$WORK/chaos.sub") || exit 1
    say "seed $SEED: $1 jobs of $2 s are cluster $cluster"
}

# plan KIND... : five of each, in random order.
plan() {
    local kind number
    for kind in "$@"; do
        for _ in 1 2 3 4 5; do
            number=$((RANDOM * 32768 + RANDOM))
            echo "$number $kind"
        done
    done | sort -n | cut -d' ' -f2
}

# pause MIN_MS MAX_MS
pause() {
    local ms=$(($1 + RANDOM % ($2 - $1)))
    sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
}

# kill_one KIND [NODE]: waits until there is one, then kills it with -9.
kill_one() {
    local pids=() end=$((SECONDS + 15))
    while :; do
        mapfile -t pids < <(pids_of "$@")
        [ ${#pids[@]} -eq 0 ] || break
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
    local pid=${pids[RANDOM % ${#pids[@]}]}
    kill -9 "$pid" 2>/dev/null || return 1
    say "killed $* ($pid)"
}

# kill_on_a_node KIND: on an awake node that has one; asleep ones are no aim.  A node whose master and startd are both gone
# has nobody left to start either again, as a machine that lost its power: that is another story.
kill_on_a_node() {
    local nodes node
    for _ in 1 2 3 4 5 6 7 8; do
        mapfile -t nodes < <(awake_nodes)
        [ ${#nodes[@]} -gt 0 ] || { sleep 0.5; continue; }
        node=${nodes[RANDOM % ${#nodes[@]}]}
        if [ -n "$(pids_of master "$node")" ] && [ -n "$(pids_of startd "$node")" ] &&
            [ -n "$(pids_of "$1" "$node")" ] && kill_one "$1" "$node"; then
            return
        fi
        sleep 0.3
    done
    say "no awake node had a $1"
}

# check_log COUNT: what the log tells of the jobs are lives that jobs can have, and so many terminated.
check_log() {
    local told
    told=$("$ROOST_BUILD/tools/event_check" "$OUT/jobs.log") || fail "the job event log: $told"
    say "the log: $told"
    equals "jobs that terminated by the log" "$(sed -E 's/.* terminated ([0-9]+) .*/\1/' <<<"$told")" "$1"
}

# What must be true after the storm.
check_chaos() {
    local count=$1 seconds=$2
    until_true "$seconds" "all $count jobs done" is_done "$cluster" "$count"
    say "all are done"
    check_committed "$cluster" "$count"
    check_outputs "$count"
    equals "jobs of which two runs overlap" "$(awk '
        $2 == "begin" { last[$1] = $3 }
        $2 == "end" && last[$1] != $3 { print "job " $1 " run " $3 " ended after run " last[$1] " had begun" }' \
        "$WORK/runs")" ""
    equals "jobs of which no run came to its end" "$(awk '$2 == "end" { done[$1] = 1 }
        END { for (i = 0; i < n; i++) if (!(i in done)) print i }' n="$count" "$WORK/runs")" ""
    until_true 30 "the job event log is complete" has_ends "$count"
    check_log "$count"
    say "$(grep -c ' begin ' "$WORK/runs") runs of $count jobs"
}
has_ends() { [ "$(grep -c '^005 ' "$OUT/jobs.log")" -ge "$1" ]; }

#!/bin/bash
# What the machine does to a job is not the job's end: a killed init process of the job's container, the kernel's kill for
# lack of the whole machine's memory, and a machine that cannot fork make the job idle again, never completed or held.  A
# job that kills itself with signal 9 is completed.
#
# TIMEOUT: 180
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --cpus-per-node 2
cat >>"$ROOST_CONFIG" <<END
MAX_STARTER_FAILURES = 2
STARTER_FAILURE_BACKOFF = "100ms"
HIBERNATE = "NONE"
NUM_SLOTS_TYPE_1 = 1
SLOT_TYPE_1 = "100%"
SLOT_TYPE_1_PARTITIONABLE = true
END
pool_start

GROUPS_MADE=()
leave_groups() {
    local group pid
    for group in "${GROUPS_MADE[@]}"; do
        find "$group" -depth -name cgroup.procs 2>/dev/null | while read -r procs; do
            while read -r pid; do kill -9 "$pid" 2>/dev/null; done <"$procs"
        done
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null
            [ -e "$group" ] || break
            sleep 0.1
        done
    done
}
leave_all() {
    local status=$?
    leave_groups
    (exit "$status")
    clean_up
}
trap leave_all EXIT

# attribute CLUSTER NAME
attribute() { "$ROOST" q "$1" -af "$2" 2>/dev/null; }
is_held() { [ "$(attribute "$1" JobStatus)" = 5 ]; }
history_of() { "$ROOST" history "$1" -af "${@:2}"; }
has_begun() { [ -e "$OUT/runs.$1" ] && [ "$(wc -l <"$OUT/runs.$1")" -ge "$2" ]; }
# counting NAME TEXT [LINE]...: a job that notes each of its runs in $OUT/runs.NAME, then does what the shell text says.
counting() {
    printf '%s\n' '#!/bin/sh' "echo run >>$OUT/runs.$1" "$2" >"$WORK/$1.job"
    chmod 0755 "$WORK/$1.job"
    printf '%s\n' "executable = $WORK/$1.job" 'transfer_executable = false' 'request_memory = 64' "${@:3}" queue >"$WORK/$1.sub"
    submit "$WORK/$1.sub"
}
# keepers: the init processes of the containers of this pool's jobs.
keepers() {
    local pid comm
    for pid in $(traces "$POOL/nodes/wn01/"); do
        { read -r comm <"/proc/$pid/comm"; } 2>/dev/null && [ "$comm" = roost-keeper ] && echo "$pid"
    done
}
has_keepers() { [ "$(keepers | wc -l)" -ge 2 ]; }
avoided() { [ "$(grep -c ' machine.avoided ' "$POOL/log/SchedLog")" -gt "$1" ]; }
# ran_again CLUSTER RUNS: completed with status 0, and the fault is nobody's but the machine's.
ran_again() {
    until_true 40 "job $1 is done" is_done "$1" 1
    equals "end of job $1" "$(history_of "$1" JobStatus ExitBySignal ExitCode 'NumStarterFailures ?: 0' 'NumSystemHolds ?: 0')" \
        "4 false 0 0 0"
}

say "the init process of a job's container is killed"
if unshare --mount --pid --fork true 2>/dev/null || unshare --user --pid --fork true 2>/dev/null; then
    for round in 1 2 3; do # more than MAX_STARTER_FAILURES
        before=$(grep -c ' machine.avoided ' "$POOL/log/SchedLog")
        [ "$round" != 1 ] || cluster=$(counting kept "$(gate kept)") || exit 1
        until_true 40 "run $round has begun" has_begun kept "$round"
        until_true 10 "its container is there" has_keepers
        # That process, or the one above it that keeps the lease.
        pid=$(keepers | sort -n | sed -n "$((round % 2 + 1))p")
        kill -9 "$pid" || fail "kill $pid"
        until_true 20 "the machine is avoided" avoided "$before"
    done
    until_true 40 "the last run has begun" has_begun kept 4
    open_gate kept
    ran_again "$cluster"
else
    say "no namespaces here: there is no such process"
fi

say "a job that kills itself with signal 9"
# shellcheck disable=SC2016
cluster=$(counting itself 'kill -9 $$') || exit 1
until_true 40 "it is done" is_done "$cluster" 1
equals "its end" "$(history_of "$cluster" JobStatus ExitBySignal ExitSignal NumJobStarts)" "4 true 9 1"

# group CONTROLLER: makes a control group and prints its directory; nothing where none can be made.
group() {
    local place=/sys/fs/cgroup/$1
    [ -e "$place/cgroup.procs" ] || place=/sys/fs/cgroup
    place=$place/roost-test-$$
    mkdir "$place" 2>/dev/null && echo "$place"
}
# move_node GROUP: moves the processes of the node.
move_node() {
    local pid
    for pid in $(traces "$POOL/nodes/wn01/"); do echo "$pid" >"$1/cgroup.procs"; done 2>/dev/null
}

say "the machine has no memory left"
memory=$(group memory) && GROUPS_MADE+=("$memory")
limit=$memory/memory.max
[ -e "$limit" ] || limit=$memory/memory.limit_in_bytes
if [ -n "$memory" ] && [ -e "$limit" ]; then
    move_node "$memory"
    echo 200M >"$limit"
    # shellcheck disable=SC2016
    cluster=$(counting memory '[ $(wc -l <'"$OUT"'/runs.memory) -gt 1 ] || exec perl -e "\$x = q(a) x 300000000; sleep 100"' \
        'request_memory = 600') || exit 1
    ran_again "$cluster"
    equals "its runs" "$(wc -l <"$OUT/runs.memory")" 2
    grep -q 'starter.gives_up .*the machine ran out of memory' "$POOL"/nodes/wn01/log/StarterLog* || fail "the log does not say why"

    say "the same where no control group counts what the job takes"
    echo 'BASE_CGROUP = ""' >>"$POOL/nodes/wn01/roost.conf"
    kill -HUP "$(pids_of startd wn01)"
    until_true 20 "it has read its configuration" grep -qs ' config.reload' "$POOL/nodes/wn01/log/StartLog"
    # shellcheck disable=SC2016
    cluster=$(counting alone '[ $(wc -l <'"$OUT"'/runs.alone) -gt 1 ] || exec perl -e "\$x = q(a) x 300000000; sleep 100"' \
        'request_memory = 600') || exit 1
    ran_again "$cluster"
    equals "its runs" "$(wc -l <"$OUT/runs.alone")" 2

    say "a job that exceeds its own limit is held there, whoever kills it"
    # shellcheck disable=SC2016
    cluster=$(counting greedy 'exec perl -e "\$x = q(a) x 300000000; sleep 100"') || exit 1
    until_true 40 "the job that exceeds its limit is held" is_held "$cluster"
    equals "its hold" "$(attribute "$cluster" HoldReasonCode) $(attribute "$cluster" HoldReasonSubCode)" "34 102"
    equals "its runs" "$(wc -l <"$OUT/runs.greedy")" 1
    "$ROOST" rm "$cluster" >/dev/null
    sed -i '/^BASE_CGROUP/d' "$POOL/nodes/wn01/roost.conf"
    kill -HUP "$(pids_of startd wn01)"
    echo 8G >"$limit"
else
    say "no control group for memory can be made here: not tried"
fi

say "the machine cannot fork"
pids=$(group pids) && GROUPS_MADE+=("$pids")
if [ -n "$pids" ] && [ -e "$pids/pids.max" ]; then
    move_node "$pids"
    clusters=()
    for more in 0 1 2 3 4 5 6; do # each start of a job fails at another place
        echo $(($(cat "$pids/pids.current") + more)) >"$pids/pids.max"
        clusters+=("$(counting "fork$more" true)") || exit 1
        before=$(grep -c ' machine.avoided ' "$POOL/log/SchedLog")
        tried() { avoided "$before" || is_done "${clusters[-1]}" 1; }
        until_true 40 "job ${clusters[-1]} was tried" tried
        echo max >"$pids/pids.max"
        ran_again "${clusters[-1]}"
    done
    grep -Eq ' job.again .*(cannot create namespaces|cannot start the program)' "$POOL"/nodes/wn01/log/StarterLog* || fail "no start was tried again"
else
    say "no control group for processes can be made here: not tried"
fi
equals "jobs left" "$("$ROOST" q -af ClusterId JobStatus HoldReason)" ""
pool_stop
passed

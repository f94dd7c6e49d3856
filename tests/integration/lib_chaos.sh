# tests/integration/lib_chaos.sh - jobs that run while daemons are killed; sourced after lib.sh.
#
# Each run of a job writes "NUMBER begin RUN MS" and "NUMBER end RUN MS" to a file outside of the pool, so that two runs
# of one job at a time would be seen.  Each is given a file of CHAOS_BYTES (200,000), and returns it with its number: what
# is cut in the middle of a transfer must come whole.
#
# ROOST_TEST_SEED: chooses the order and the moments of the kills; printed, so that a failure can be repeated.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
SEED=${ROOST_TEST_SEED:-$(($(date +%s) % 32768))}
RANDOM=$SEED

# chaos_jobs COUNT SECONDS [LAST]: submits them; sets `cluster`.  The last ones wait for the gate `storm`, so that there are
# some however fast the others are.
chaos_jobs() {
    local free=$(($1 - ${3:-0}))
    cat >"$WORK/chaos_job.sh" <<'JOB'
#!/bin/sh
read -r run </proc/sys/kernel/random/uuid
echo "$1 begin $run $(date +%s%3N)" >>"$3"
echo "$1"
sleep "$2"
[ "$1" -lt "$4" ] || until test -e "$5"; do sleep 0.1; done
{ echo "$1"; cat chaos.in; } >"whole.$1"
echo "$1 end $run $(date +%s%3N)" >>"$3"
JOB
    chmod 0755 "$WORK/chaos_job.sh"
    head -c "${CHAOS_BYTES:-200000}" /dev/urandom >"$WORK/chaos.in"
    : >"$WORK/runs"
    chmod 0666 "$WORK/runs"
    sed -e '/^executable/c executable = '"$WORK/chaos_job.sh" -e '/^transfer_executable/d' \
        -e '/^arguments/c arguments = "$(Process) '"$2 $WORK/runs $free $WORK/gate.storm\"" -e '/^output/i log = jobs.log' \
        -e '/^output/i transfer_input_files = '"$WORK/chaos.in" -e '/^output/i transfer_output_files = whole.$(Process)' \
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

# below N: sets `chosen` to 0 .. N-1; the lowest bits of RANDOM follow one another too regularly.
chosen=0
below() { chosen=$(((RANDOM >> 3) % $1)); }

# pause MIN_MS MAX_MS
pause() {
    below $(($2 - $1))
    local ms=$(($1 + chosen))
    sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
}

# holders KIND [NODE]: pids of the daemons KIND of the pool's own host, or of a node, by their locks: quicker
# than pids_of, which looks at every process of the machine.
holders() {
    local file pid dir=$POOL/lock
    [ $# -lt 2 ] || dir=$POOL/nodes/$2/lock
    for file in "$dir/$1.lock" "$dir/$1".*.lock "$POOL"/spool/owner/*/"$1".*.lock; do
        { read -r pid <"$file"; } 2>/dev/null || continue
        case $(readlink "/proc/$pid/exe" 2>/dev/null) in */roost-"$1") echo "$pid" ;; esac
    done
}

# kill_one KIND [NODE]: waits until there is one, then kills it with -9.
kill_one() {
    local pids=() end=$((SECONDS + 15))
    while :; do
        mapfile -t pids < <(holders "$@")
        [ ${#pids[@]} -eq 0 ] || break
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
    below ${#pids[@]}
    local pid=${pids[chosen]}
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
        below ${#nodes[@]}
        node=${nodes[chosen]}
        if [ -n "$(holders master "$node")" ] && [ -n "$(holders startd "$node")" ] &&
            [ -n "$(holders "$1" "$node")" ] && kill_one "$1" "$node"; then
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

check_wholes() {
    local number
    for ((number = 0; number < $1; number++)); do
        { echo "$number"; cat "$WORK/chaos.in"; } | cmp - "$OUT/whole.$number" || fail "the file that job $number returned"
        rm "$OUT/whole.$number"
    done
}

# What must be true after the storm.
check_chaos() {
    local count=$1 seconds=$2
    until_true "$seconds" "all $count jobs done" is_done "$cluster" "$count"
    say "all are done"
    check_committed "$cluster" "$count"
    check_outputs "$count"
    check_wholes "$count"
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

# ---- restarts: jobs at a gate

# gate_jobs COUNT: submits jobs that write "NUMBER begin" and wait until the gate is opened; sets `cluster`.
gate_jobs() {
    cat >"$WORK/gate_job.sh" <<'JOB'
#!/bin/sh
echo "$1 begin" >>"$2/runs"
echo "$1"
read -r _ <"$2/gate"
echo "$1 end" >>"$2/runs"
JOB
    chmod 0755 "$WORK/gate_job.sh"
    rm -f "$WORK/gate" "$OUT/jobs.log"
    mkfifo -m 0666 "$WORK/gate"
    : >"$WORK/runs"
    chmod 0666 "$WORK/runs"
    sed -e '/^executable/c executable = '"$WORK/gate_job.sh" -e '/^transfer_executable/d' \
        -e '/^arguments/c arguments = "$(Process) '"$WORK\"" -e '/^output/i log = jobs.log' \
        < <(number_jobs "$1" 0) >"$WORK/gate.sub"
    cluster=$(submit "$WORK/gate.sub") || exit 1
    say "seed $SEED: $1 jobs are cluster $cluster"
}
have_begun() { [ "$(cut -d' ' -f1 "$WORK/runs" | sort -u | wc -l)" -ge "$1" ]; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }

# Whoever reads a line goes on: there are some for each job, and who comes late finds his.
open_gate() { # without a name; with one it is lib.sh's
    [ $# -eq 0 ] || { touch "$WORK/gate.$1"; return; }
    local file
    exec {file}<>"$WORK/gate" # for reading, too: this waits for nobody
    head -c 8000 /dev/zero | tr '\0' '\n' >&"$file"
}

# another_one OLD KIND [NODE]: there is one, and it is not OLD.
another_one() {
    local old=$1 pids
    shift
    pids=$(holders "$@")
    [ -n "$pids" ] && [ "$pids" != "$old" ]
}

# end_one SIGNAL KIND [NODE]: ends it, and waits for the one that takes its place.  A shadow may be about to be started
# by a schedd that was started a moment ago.
end_one() {
    local signal=$1 pid
    shift
    until_true 30 "there is a $* to be ended" another_one "" "$@"
    pid=$(holders "$@" | head -n 1)
    kill -"$signal" "$pid"
    say "$signal to $* ($pid)"
    until_true 30 "another $*" another_one "$pid" "$@"
}

# restart_each TIMES: every daemon that is restarted without its jobs, in random order.
restart_each() {
    local node step kind signal number list=()
    for ((number = 0; number < $1; number++)); do
        for kind in collector negotiator rooster schedd shadow; do
            list+=("TERM $kind" "KILL $kind")
        done
        list+=("KILL master")
        for node in $(awake_nodes); do
            list+=("TERM startd $node" "QUIT startd $node" "KILL startd $node" "KILL master $node")
        done
    done
    while read -r _ step; do
        # shellcheck disable=SC2086
        end_one $step
    done < <(for step in "${list[@]}"; do echo "$((RANDOM * 32768 + RANDOM)) $step"; done | sort -n)
}

# check_restarts COUNT SECONDS: all came to their end, and none began twice.
check_restarts() {
    until_true "$2" "all $1 jobs done" is_done "$cluster" "$1"
    check_committed "$cluster" "$1"
    check_outputs "$1"
    equals "jobs that began more than once" "$(awk '$2 == "begin" { n[$1]++ } END { for (i in n) if (n[i] > 1) print i, n[i] }' "$WORK/runs")" ""
    until_true 30 "the job event log is complete" has_ends "$1"
    check_log "$1"
}

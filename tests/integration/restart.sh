#!/bin/bash
# The pool is stopped and started again with jobs idle, running and held in the queue; then all processes are killed at once;
# then each daemon is ended in turn while jobs run, with SIGTERM and with kill -9, and all of the pool's own at once: nothing
# is lost, and nothing begins twice that need not.  At full size: tools/restarts.sh.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_chaos.sh"

status_of() { "$ROOST" q "$1" -af ProcId JobStatus 2>/dev/null | sort -n; }
running_count() { status_of "$1" | grep -c ' 2$'; }
some_run() { [ "$(running_count "$1")" -ge "$2" ]; }
is_held() { [ "$(status_of "$1" | grep -c ' 5$')" -eq "$2" ]; }

are_gone() {
    local pid
    for pid in "$@"; do
        [ ! -e "/proc/$pid" ] || return 1
    done
}

round=0
# A queue with held, running and idle jobs, which run until drain(); sets `cluster` (8 jobs) and `held` (2 jobs).
fill() {
    rm -f "$OUT"/*
    sed '/^queue/i hold = true' < <(number_jobs 2 0.1) >"$WORK/held.sub"
    held=$(submit "$WORK/held.sub") || exit 1
    round=$((round + 1))
    gated_jobs 8 $round >"$WORK/jobs.sub"
    cluster=$(submit "$WORK/jobs.sub") || exit 1
    until_true 30 "two jobs run" some_run "$cluster" 2
    until_true 30 "two jobs are held" is_held "$held" 2
}

# Everything that was in the queue comes to its end.
drain() {
    until_true 30 "the held jobs are held still" is_held "$held" 2
    open_gate $round
    until_true 60 "the jobs are done" is_done "$cluster" 8
    check_committed "$cluster" 8
    check_outputs 8
    "$ROOST" release "$held" >/dev/null || fail "roost release"
    until_true 30 "the held jobs are done" is_done "$held" 2
    check_committed "$held" 2
    until_true 30 "all are asleep" is_asleep 2
}

pool_init --nodes 2 --idle 1 --asleep
pool_start

say "stop and start with jobs in the queue"
fill
pool_stop
pool_start
drain
until_true 10 "the history is whole" is_done "$cluster" 8
first=$cluster

say "every process is killed at once"
fill
mapfile -t pids < <(traces "$POOL/")
[ ${#pids[@]} -ge 8 ] || fail "only ${#pids[@]} processes: $(describe "${pids[@]}")"
kill -9 "${pids[@]}" 2>/dev/null
# What was about to be started by one of them, too.
kill_rest() {
    mapfile -t pids < <(traces "$POOL/")
    [ ${#pids[@]} -eq 0 ] || { kill -9 "${pids[@]}" 2>/dev/null; return 1; }
}
until_true 20 "all are dead" kill_rest
pool_start
drain
check_committed "$first" 8

say "each daemon is ended while jobs run; then the pool's own at once, which start again by themselves or by roost start"
rm -f "$OUT"/*
gate_jobs 2
until_true 30 "both jobs run" have_begun 2
restart_each 1
say "a machine's master is ended with SIGTERM, as by systemctl restart: its jobs run on, and are found again"
# The collector may have been the last to be ended: it knows of no machine until that has said something.
finds_node() { node=$(awake_nodes | head -n 1) && [ -n "$node" ] && [ -n "$(pids_of starter "$node")" ]; }
until_true 30 "a machine with a starter is seen" finds_node
master=$(holders master "$node")
starters=$(pids_of starter "$node" | sort | xargs)
mapfile -d '' -t surroundings < <(grep -zE '^ROOST_(CONFIG|BOOT_ID|BOOT_TIME)=' "/proc/$master/environ")
startd=$(holders startd "$node")
kill -TERM "$master"
until_true 30 "the master and the startd of $node are gone" are_gone "$master" "$startd"
equals "its starters" "$(pids_of starter "$node" | sort | xargs)" "$starters"
env "${surroundings[@]}" setsid "$ROOST_BIN/roost-master" -config "$POOL/nodes/$node/roost.conf" </dev/null >/dev/null 2>&1 &
until_true 30 "another startd on $node" another_one "$startd" startd "$node"
is_busy() { [ "$("$ROOST" status -constraint "Machine == \"$node\"" -af Activity | grep -c Busy)" -ge 1 ]; }
until_true 30 "the machine has its job again" is_busy
equals "its starters" "$(pids_of starter "$node" | sort | xargs)" "$starters"
pids=()
for daemon in master collector schedd negotiator rooster; do
    mapfile -t -O ${#pids[@]} pids < <(pids_of $daemon)
done
equals "daemons of the pool" ${#pids[@]} 5
kill -9 "${pids[@]}"
pool_start
say "the pool is up"
open_gate
check_restarts 2 60
equals "starts of the jobs" "$("$ROOST" history "$cluster" -af NumJobStarts | sort -u)" 1
until_true 30 "all are asleep" is_asleep 2

say "roost stop ends the jobs that a machine's master left running when it was ended with SIGTERM"
rm -f "$OUT"/*
gate_jobs 1
until_true 30 "the job runs" have_begun 1
until_true 30 "a machine with a starter is seen" finds_node
master=$(holders master "$node")
startd=$(holders startd "$node")
starter=$(pids_of starter "$node")
kill -TERM "$master"
until_true 30 "the master and the startd of $node are gone" are_gone "$master" "$startd"
[ -e "/proc/$starter" ] || fail "the starter $starter ended with its startd"
"$ROOST" stop >"$WORK/stop.out" || fail "roost stop"
grep -qx '1 job ended that ran on without a startd.' "$WORK/stop.out" || fail "roost stop says: $(cat "$WORK/stop.out")"
until_true 10 "the starter $starter is gone" are_gone "$starter"
pool_start
open_gate
"$ROOST" power on "$node" >/dev/null # its next startd says that the run is over; else the claim's lease would have to end
until_true 60 "the job has run again" is_done "$cluster" 1
check_committed "$cluster" 1
check_outputs 1
until_true 30 "all are asleep" is_asleep 2

say "a master that has its lock still, and ends a moment after roost start has seen it"
port=$(sed -n 's/^COLLECTOR_PORT = *//p' "$ROOST_CONFIG")
[ -n "$port" ] || fail "where does the collector listen?"
master=$(holders master)
kill -STOP "$master"
mapfile -t pids < <(for daemon in collector schedd negotiator rooster; do pids_of $daemon; done)
equals "daemons of the pool" ${#pids[@]} 4
kill -9 "${pids[@]}"
# In the collector's place: it ends when roost start calls, which has looked for a master by then.
python3 -c '
import socket, sys, time
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
while True:
    try:
        listener.bind(("127.0.0.1", int(sys.argv[1])))
        listener.listen()
        break
    except OSError: # the dying collector has it still
        time.sleep(0.02)
open(sys.argv[2], "w").close()
listener.accept()' "$port" "$WORK/listens" &
listener=$!
until_true 20 "somebody listens for the collector" test -e "$WORK/listens"
timeout 60 "$ROOST" start >"$WORK/start.out" 2>&1 &
starting=$!
wait $listener
kill -9 "$master"
wait $starting || fail "roost start: $(cat "$WORK/start.out")"
equals "what it says" "$(cat "$WORK/start.out")" "The pool is started."

say "a pool that is stopped when its daemons were killed leaves no shadow"
gate_jobs 1
open_gate
until_true 60 "the job is done" is_done "$cluster" 1
[ -n "$(holders shadow)" ] || fail "there is no shadow"
mapfile -t pids < <(holders master; holders collector; holders schedd; holders negotiator; holders rooster)
kill -9 "${pids[@]}"
pool_stop
passed

#!/bin/bash
# pcontrol with pclients of this machine: jobs of /bin/true beside xargs and GNU parallel, in turns; the time of an answer while
# hosts are being connected to; memory with many jobs and hosts.
#
#   ROOST_BENCH_JOBS    jobs of a round (8000); GNU parallel has a tenth of them
#   ROOST_BENCH_ROUNDS  rounds (3)
#   ROOST_BENCH_QUEUED  jobs that wait (100000)
#   ROOST_BENCH_HOSTS   hosts that are connected to (500)
#
# SHORT: ROOST_BENCH_JOBS=200 ROOST_BENCH_ROUNDS=1 ROOST_BENCH_QUEUED=2000 ROOST_BENCH_HOSTS=20
# TIMEOUT: 600
# SPDX-License-Identifier: Apache-2.0
. "$ROOST_SRC/tests/integration/lib.sh"
unset ROOST_CONFIG
jobs=${ROOST_BENCH_JOBS:-8000} rounds=${ROOST_BENCH_ROUNDS:-3}
queued=${ROOST_BENCH_QUEUED:-100000} hosts=${ROOST_BENCH_HOSTS:-500}
export ROOST_PCONTROL_COMMAND=HOST=%h ROOST_PCONTROL_SHELL=$ROOST_BIN/pclient

seconds() { # seconds COMMAND...
    local begin end
    begin=$(date +%s%N)
    "$@" >"$WORK/printed" 2>&1 || fail "$*: $(tail -n 3 "$WORK/printed")"
    end=$(date +%s%N)
    echo $(((end - begin) / 1000))
}
by_pcontrol() { "$ROOST_BIN/pcontrol" <"$WORK/script"; }
by_xargs() { seq "$jobs" | xargs -P16 -n1 /bin/true; }
by_parallel() { seq $((jobs / 10)) | parallel --will-cite -j16 /bin/true; }

# The answers to 300 commands of one client, in ms: the slowest, and the middle one.
answers() {
    python3 - "$WORK/socket" <<'EOF'
import socket, struct, sys, time
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"ROOST/1 pcontrol\n")
took = []
for _ in range(300):
    request = b"/\0status\0-queues\0"
    begin = time.monotonic()
    s.sendall(struct.pack(">I", len(request)) + request)
    data = b""
    while b"\n" not in data:
        data += s.recv(65536)
    head, rest = data.split(b"\n", 1)
    _, _, text, why = map(int, head.split())
    while len(rest) < text + why:
        rest += s.recv(65536)
    took.append((time.monotonic() - begin) * 1000)
    time.sleep(0.005)
took.sort()
print(f"{took[-1]:.2f} {took[len(took) // 2]:.3f}")
EOF
}
client() { "$ROOST_BIN/pcontrol" -client "$WORK/socket" "$@"; }

{
    for ((i = 1; i <= 16; i++)); do echo "host h$i"; done >"$WORK/script"
    for ((i = 0; i < jobs; i++)); do echo "job /bin/true"; done >>"$WORK/script"
    ours=0 xargs=0 parallel=0
    for ((round = 0; round < rounds; round++)); do
        ours=$((ours + $(seconds by_pcontrol)))
        xargs=$((xargs + $(seconds by_xargs)))
        [ ! -x /usr/bin/parallel ] || parallel=$((parallel + $(seconds by_parallel)))
        say "pcontrol $ours us, xargs $xargs us, parallel $parallel us for a tenth"
    done

    # Each connection is accepted, and nothing is said.
    python3 -c '
import socket, sys, time
s = socket.create_server(("0.0.0.0", 0), backlog=1000)
print(s.getsockname()[1], flush=True)
time.sleep(1000)' >"$WORK/port" &
    until_true 10 "the silent host" test -s "$WORK/port"
    ROOST_PCONTROL_COMMAND="ssh -T -p $(cat "$WORK/port") -o BatchMode=yes" ROOST_PCONTROL_CONNECTS=100 \
        "$ROOST_BIN/pcontrol" -server "$WORK/socket" 2>"$WORK/log" &
    server=$!
    until_true 10 "the server" test -S "$WORK/socket"
    answers >"$WORK/answers" &
    asking=$!
    for ((i = 1; i <= 100; i++)); do echo "host 127.0.1.$i"; done | client
    wait "$asking" || fail "no answers"
    read -r slowest middle <"$WORK/answers"
    client exit
    wait "$server"

    ROOST_PCONTROL_CONNECTS=$hosts "$ROOST_BIN/pcontrol" -server "$WORK/socket" 2>"$WORK/log" &
    server=$!
    until_true 10 "the server" client stop jobs
    for ((i = 1; i <= hosts; i++)); do echo "host h$i"; done | client
    for ((i = 0; i < queued; i++)); do echo "job /bin/sh -c 'exec ./analyse number-$i.dat'"; done | client >"$WORK/ids"
    are_idle() { [ "$(client status | sed -n 's/^hosts.* IDLE \([0-9]*\) .*/\1/p')" = "$hosts" ]; }
    until_true 120 "the hosts" are_idle
    memory=$(awk '$1 == "Pss:" { print $2 }' "/proc/$server/smaps_rollup")
    client exit
    wait "$server"
} >&2

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
echo "BENCH pcontrol_jobs $(ratio $((jobs * rounds * 1000000)) "$ours") jobs/s ratio $(ratio "$xargs" "$ours") vs xargs -P16"
[ "$parallel" -eq 0 ] || echo "BENCH pcontrol_jobs_parallel $(ratio $((jobs * rounds * 1000000)) "$ours") jobs/s ratio $(ratio $((parallel * 10)) "$ours") vs GNU parallel -j16"
echo "BENCH pcontrol_answer $middle ms ratio $(ratio "$middle" 5) vs 5 ms, the middle one while 100 hosts are connected to"
echo "BENCH pcontrol_answer_slowest $slowest ms ratio $(ratio "$slowest" 5) vs 5 ms"
echo "BENCH pcontrol_memory $((memory / 1024)) MiB ratio $(ratio "$memory" $((200 * 1024))) vs 200 MiB, with $queued jobs and $hosts hosts"

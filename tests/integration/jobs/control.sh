# A shell with job control, without a terminal: groups, one of them stopped, a co-process, traps.
#
# SPDX-License-Identifier: Apache-2.0
set -m
signals=0 sum=0
trap 'signals=$((signals + 1))' USR1
trap 'echo the end' EXIT
(
    for _ in 1 2 3 4 5 6; do
        sleep 0.05
        kill -USR1 $$
    done
    sleep 0.1
    exit 3
) &
sleep 0.2 &
kill -STOP %2
coproc BACK { cat; }
for i in $(seq 1 20); do
    echo "$i" >&"${BACK[1]}"
    read -r -u "${BACK[0]}" back
    sum=$((sum + back))
done
await() { # JOB: its status
    local status=200
    while [ "$status" -gt 128 ]; do
        wait "$1"
        status=$?
    done
    return "$status"
}
await %1
first=$?
jobs -s | sed 's/^\[2\][^S]*Stopped.*/two is stopped/'
kill -CONT %2
await %2
echo "$signals $sum $first $?"

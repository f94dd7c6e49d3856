#!/bin/bash
# Jobs over 24 hosts with real sshds while hosts are killed, cut off, stand still after they have accepted a connection, have
# full disks, and come back: the result of each job is right and there once, and no job runs twice at a time.
#
#   STORM_JOBS   how many jobs (300; the full size is 2000)
#   STORM_SEED   of the disasters
#
# TIMEOUT: 600
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
[ -n "${ROOST_OWN_NET:-}" ] || WORK=/nonexistent
. "$(dirname "$0")/lib_ssh.sh"
ssh_enter "$0" "$@"
unset WORK
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_ssh.sh"
unset ROOST_CONFIG
umask 022
JOBS=${STORM_JOBS:-300} HOSTS=24
RANDOM=${STORM_SEED:-4711}

ssh_begin
for ((i = 1; i <= HOSTS; i++)); do ssh_host "n$i" "$i"; done
export ROOST_PCONTROL_LEASE=6 ROOST_PCONTROL_LEASE_MARGIN=2 ROOST_PCONTROL_HUNG=8 ROOST_PCONTROL_RETRY_MIN=500ms
export ROOST_PCONTROL_RETRY_MAX=3s ROOST_PCONTROL_CONNECT_TIMEOUT=10 ROOST_PCONTROL_LOSSES_MAX=1000
LOG=$WORK/log
"$ROOST_BIN/pcontrol" -server "$WORK/socket" 2>>"$LOG" &
server=$!
pc() { "$ROOST_BIN/pcontrol" -client "$WORK/socket" "$@"; }
until_true 10 "the socket" test -S "$WORK/socket"
pc verbose on

# A job writes lines to a shared file while it runs, and its result through the disk of its host.
mkdir "$WORK/beats" "$WORK/results"
cat >"$WORK/job" <<EOF
#!/bin/bash
beat() { echo "\$SSH_TEST_HOST \$\$ \$EPOCHREALTIME" >>$WORK/beats/\$1; }
beat \$1
for i in 1 2 3 4; do read -rt 0.1 <> <(:); beat \$1; done
echo "result \$1" >$SSH/\$SSH_TEST_HOST/disk/\$1 && cat $SSH/\$SSH_TEST_HOST/disk/\$1 && rm $SSH/\$SSH_TEST_HOST/disk/\$1 || exit 1
EOF
chmod 0755 "$WORK/job"
{
    for ((i = 1; i <= HOSTS; i++)); do echo "host n$i"; done
    for ((i = 1; i <= JOBS; i++)); do echo "job -retries 100 -stdout $WORK/results/$i $WORK/job $i"; done
} | pc >"$WORK/ids" || fail "jobs are not taken"
equals "JobIDs" "$(wc -l <"$WORK/ids")" "$JOBS"

jobs_in() { pc status | sed -n "s/^jobs .* $1 \([0-9]*\).*/\1/p"; }
all_done() { [ "$(jobs_in EXIT)" = "$JOBS" ]; }
has_begun() { [ "$(jobs_in EXIT)" -gt 0 ]; }
until_true 60 "the first job" has_begun
say "disasters"
declare -A broken=()
while ! all_done; do
    [ $SECONDS -lt 500 ] || fail "not done in time: $(pc status)"
    name=n$((RANDOM % HOSTS + 1))
    if [ -n "${broken[$name]:-}" ]; then
        case ${broken[$name]} in
        off) ssh_on "$name" ;;
        cut) ssh_link "$name" up ;;
        stopped) for pid in $(ssh_pids "$name"); do kill -CONT "$pid" 2>/dev/null; done ;;
        full) rm -f "$SSH/$name/disk/ballast" ;;
        esac
        unset "broken[$name]"
    elif [ ${#broken[@]} -lt 8 ]; then
        case $((RANDOM % 5)) in
        0) ssh_off "$name" && broken[$name]='off' ;;
        1) ssh_link "$name" down && broken[$name]='cut' ;;
        2) kill -STOP "$(cat "$SSH/$name/pid")" && broken[$name]="stopped" ;; # connections are accepted by its kernel
        3) head -c 2000000 /dev/zero >"$SSH/$name/disk/ballast" 2>/dev/null; broken[$name]="full" ;;
        4) [ -z "$(ssh_pclients "$name")" ] || ssh_signal KILL "$name" 2>/dev/null ;;
        esac
    fi
    sleep 0.2
done
say "all are done: $(pc status | head -n 1)"
for ((i = 1; i <= JOBS; i++)); do
    equals "the result of job $i" "$(cat "$WORK/results/$i")" "result $i"
done
# Runs of one job: told by host and pid; the last beat of one must come before the first of the next.
python3 - "$WORK/beats" "$JOBS" <<'EOF' || fail "runs of a job overlap"
import os, sys
runs = 0
for i in range(1, int(sys.argv[2]) + 1):
    spans = {}
    for line in open(f"{sys.argv[1]}/{i}"):
        host, pid, at = line.split()
        first, last = spans.get((host, pid), (float(at), float(at)))
        spans[host, pid] = (min(first, float(at)), max(last, float(at)))
    runs += len(spans)
    ordered = sorted(spans.values())
    for (_, end), (begin, _) in zip(ordered, ordered[1:]):
        if begin <= end:
            sys.exit(f"job {i}: {spans}")
print(f"{runs} runs of {sys.argv[2]} jobs, none at the same time as another of its job")
EOF
say "hosts lost: $(grep -c 'host n[0-9]*: .* -> DOWN: Check' "$LOG"); jobs started again: $(grep -c 'job [0-9]*: .* -> PENDING: Check' "$LOG")"
for name in "${!broken[@]}"; do
    ssh_link "$name" up
    for pid in $(ssh_pids "$name"); do kill -CONT "$pid" 2>/dev/null; done
done
kill -9 "$server"
until_true 30 "nothing is left on the hosts" sh -c '! grep -lz "^PCLIENT_MARK=" /proc/[0-9]*/environ 2>/dev/null | grep -q .'
passed

#!/bin/bash
# The pilot: one static file that joins the pool, runs jobs, leaves, and leaves nothing behind: as an ordinary user, as
# root in a root directory with nothing in it, asked to end, and with its keeper killed.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
[ -x "$ROOST_BIN/roost-pilot" ] || { echo "skipped: a build with sanitizers has no static roost-pilot"; exit 77; }
. "$(dirname "$0")/lib.sh"

chmod 1777 "$OUT"
PILOT=$WORK/roost-pilot # a copy: the build may be where only root can go
cp "$ROOST_BIN/roost-pilot" "$PILOT" && chmod 0755 "$PILOT"
as=()
[ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)

# It is static, and asks for no library that a host might not have.
equals "what it needs of its host" "$(readelf -ldW "$PILOT" | grep -E 'INTERP|\(NEEDED\)')" ""
say "the file has $(stat -c %s "$PILOT") bytes"
equals "its version" "$("$PILOT" --version)" "roost-pilot $("$ROOST" --version | grep -oE '[0-9.]+' | head -n 1)"
"$PILOT" --collector localhost >/dev/null 2>"$WORK/usage"
equals "exit status of wrong arguments" "$?" 2
grep -q -- "--token is missing" "$WORK/usage" || fail "it does not say what is missing: $(cat "$WORK/usage")"

pool_init --nodes 1 --asleep
pool_start
port=$(sed -n 's/^COLLECTOR_PORT = //p' "$ROOST_CONFIG")
"$ROOST" token create --identity glidein --scope ADVERTISE,READ --name-pattern '*gl-*' --expires 1h --bundle \
    --file "$WORK/bundle" || fail "roost token create --bundle"
chmod 0644 "$WORK/bundle"
mkdir -m 1777 "$WORK/scratch"

# pilot NAME ARGUMENT...: in the background; its pid in $pilot.
pilot() {
    local name=$1
    shift
    "${as[@]}" "$PILOT" --collector "localhost:$port" --token "$WORK/bundle" --execute "$WORK/scratch" --name "$name" \
        --cpus 2 POLLING_INTERVAL=1 "$@" </dev/null >"$WORK/$name.log" 2>&1 &
    pilot=$!
}
has_joined() { [ -n "$("$ROOST" status -constraint "Machine == \"$1\"" -af Name 2>/dev/null)" ]; }
has_left() { ! has_joined "$1"; }
is_over() { ! kill -0 "$1" 2>/dev/null; }
is_running() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null | sort -u)" = 2 ]; }
nothing_left() {
    [ -z "$(ls -A "$WORK/scratch")" ] || fail "the pilot left $(ls -A "$WORK/scratch")"
    until_true 5 "no process of the pilot: $(mapfile -t left < <(traces "$WORK/scratch/"); describe "${left[@]}")" no_process_of "$WORK/scratch/"
}
# job WHERE ARGUMENTS COUNT >FILE
job() {
    cat <<SUB
executable = /bin/sh
transfer_executable = false
arguments = "-c '$2'"
initialdir = $OUT
transfer_input_files = input
output = out.\$(Process)
error = err.\$(Process)
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
request_memory = 1
requirements = Machine == "$1"
queue $3
SUB
}
echo "the input" >"$OUT/input"

# Idle for so long it ends by itself.
begin=$(date +%s%3N)
pilot gl-idle --idle-timeout 4 GLIDEIN_Site='"Here"'
until_true 20 "the pilot has joined" has_joined gl-idle
say "joined $(($(date +%s%3N) - begin)) ms after its start"
equals "what it says of itself" "$("$ROOST" status -constraint 'Machine == "gl-idle"' -af IsGlidein GLIDEIN_Site)" "true Here"
job gl-idle 'cat input; id -u; echo \$(Process)' 6 >"$WORK/job.sub"
cluster=$(submit "$WORK/job.sub") || exit 1
until_true 30 "the jobs are done" is_done "$cluster" 6
check_committed "$cluster" 6
user=$(id -u)
[ "$user" -ne 0 ] || user=65534
for ((number = 0; number < 6; number++)); do
    equals "output of job $number" "$(tr '\n' ' ' <"$OUT/out.$number")" \
        "the input $user $number "
done
until_true 20 "the pilot ends when it is idle" is_over "$pilot"
wait "$pilot"
equals "exit status of an idle pilot" "$?" 0
equals "its ads" "$("$ROOST" status -constraint 'Machine == "gl-idle"' -af Name)" ""
nothing_left

# Four ways to end, side by side, each with a job that would run much longer: its time is over; it is asked to, as batch systems
# do; its keeper is killed, and the startd tidies up; its startd is killed, and the keeper does.
declare -A pids clusters
# The jobs are there first: a lifetime does not wait for them.
for name in gl-late gl-term gl-kill gl-crash; do
    job "$name" 'sleep 1000' 1 >"$WORK/job.sub"
    clusters[$name]=$(submit "$WORK/job.sub") || exit 1
done
for name in gl-late gl-term gl-kill gl-crash; do
    if [ "$name" = gl-late ]; then pilot "$name" --lifetime 20; else pilot "$name"; fi
    pids[$name]=$pilot
done
for name in gl-late gl-term gl-kill gl-crash; do # the one whose time runs first
    until_true 30 "the job of $name runs" is_running "${clusters[$name]}"
done
kill -TERM "${pids[gl-term]}"
kill -KILL "${pids[gl-kill]}"
# The starter stands still while the pilot ends what the startd left: it finds everything that happened meanwhile at once.
for lock in "$WORK"/scratch/*/lock/startd.lock; do
    if grep -qs '"gl-crash"' "${lock%/lock/*}/roost.conf"; then startd=$(head -n 1 "$lock"); fi
done
# Whoever starts a starter ends when that runs: then it is the pilot's.
has_one_starter() {
    mapfile -t starters < <(pgrep -P "${pids[gl-crash]}" | grep -vx "$startd")
    [ ${#starters[@]} -eq 1 ]
}
until_true 20 "gl-crash has one starter" has_one_starter
kill -STOP "${starters[0]}"
kill -KILL "$startd"
until_true 20 "the pilot sees its startd end" grep -q "startd was ended by signal 9" "$WORK/gl-crash.log"
kill -CONT "${starters[0]}"
for name in "${!pids[@]}"; do
    until_true 30 "$name ends" is_over "${pids[$name]}"
    wait "${pids[$name]}"
    case "$name $?" in
    'gl-late 0' | 'gl-term 0' | 'gl-kill 137' | 'gl-crash 1') ;;
    *) fail "$name ended with another status" ;;
    esac
done
is_empty() { [ -z "$(ls -A "$WORK/scratch")" ]; }
until_true 30 "nothing is left" is_empty
nothing_left
for name in gl-late gl-term; do
    has_left "$name" || fail "the ads of $name are still there"
    equals "the job of $name is idle again" "$("$ROOST" q "${clusters[$name]}" -af JobStatus)" 1
done
for name in "${!clusters[@]}"; do # a job that was ended with its machine has not completed
    equals "jobs in the queue of $name" "$("$ROOST" q "${clusters[$name]}" -af ProcId)" 0
done
"$ROOST" rm "${clusters[@]}" >/dev/null || fail "roost rm"

# The collector is known by its certificate's fingerprint as well as by the CA.
pin=$(openssl x509 -in "$POOL/security/collector.pem" -noout -fingerprint -sha256 | cut -d= -f2)
if ROOST_COLLECTOR_PIN=$pin ROOST_POOL_CA=/nowhere "$ROOST" status >"$WORK/pin" 2>&1; then :; else
    fail "with the right pin: $(cat "$WORK/pin")"
fi
if ROOST_COLLECTOR_PIN=${pin//[0-9]/A} "$ROOST" status >/dev/null 2>"$WORK/pin"; then fail "a wrong pin is taken"; fi
if ROOST_COLLECTOR_PIN=AB:CD "$ROOST" status >/dev/null 2>"$WORK/pin"; then fail "half a pin is taken"; fi
grep -q "COLLECTOR_PIN: 'AB:CD' has 4 of 64 digits" "$WORK/pin" || fail "it does not say what is wrong: $(cat "$WORK/pin")"

# As root where there is nothing: no program, no library, no account, no name service; /proc, /tmp and /dev/null only.
# No CA either, and an environment as poor as a batch system's.
if [ "$(id -u)" -eq 0 ]; then
    mkdir -p "$WORK/root/proc" "$WORK/root/tmp" "$WORK/root/dev"
    cp "$PILOT" "$WORK/root/pilot"
    sed '/BEGIN CERTIFICATE/,/END CERTIFICATE/d' "$WORK/bundle" >"$WORK/root/bundle"
    mkdir "$WORK/root/tmp/batch"
    unshare --mount bash -c 'mount --make-rprivate / && cd "$0" && mount -t proc proc proc && touch dev/null &&
        mount --bind /dev/null dev/null && exec env -i TMPDIR=/tmp/batch SLURM_JOB_ID=7 "$(command -v chroot)" . /pilot --collector "127.0.0.1:$1" --token /bundle \
        --pin "$2" --name gl-bare --idle-timeout 4 POLLING_INTERVAL=1' "$WORK/root" "$port" "$pin" </dev/null >"$WORK/gl-bare.log" 2>&1 &
    pilot=$!
    until_true 20 "the pilot in an empty root has joined" has_joined gl-bare
    job gl-bare '' 1 | sed -e "s|^executable.*|executable = $PILOT|" -e 's|^transfer_executable.*|transfer_executable = true|' \
        -e 's|^arguments.*|arguments = --version|' >"$WORK/job.sub"
    cluster=$(submit "$WORK/job.sub") || exit 1
    until_true 30 "the job in an empty root is done" is_done "$cluster" 1
    equals "its output" "$(cat "$OUT/out.0")" "$("$PILOT" --version)"
    until_true 20 "the pilot ends when it is idle" is_over "$pilot"
    equals "what is left in the empty root" "$(ls -A "$WORK/root/tmp/batch")" ""
fi

pool_stop
passed

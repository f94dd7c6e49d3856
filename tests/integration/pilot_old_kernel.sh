#!/bin/bash
# The pilot on an old kernel: a filter of system calls answers as Linux 4.4 (January 2016) does.  Jobs run, are vacated when the
# pilot's time is over, and nothing is left.
#
# TIMEOUT: 90
# SPDX-License-Identifier: Apache-2.0
[ -x "$ROOST_BIN/roost-pilot" ] || { echo "skipped: a build with sanitizers has no static roost-pilot"; exit 77; }
. "$(dirname "$0")/lib.sh"

chmod 1777 "$OUT"
cp "$ROOST_BIN/roost-pilot" "$WORK/roost-pilot" && chmod 0755 "$WORK/roost-pilot"
cp "$ROOST_SRC/tests/integration/lib_old_kernel.py" "$WORK/old_kernel.py" && chmod 0644 "$WORK/old_kernel.py"
as=()
[ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
mkdir -m 1777 "$WORK/scratch"
# What base promises of processes holds there, too.
for test in os_proc os_cage loop; do
    program=${ROOST_BUILD:-$ROOST_BIN/..}/tests/bin/unit.base.$test
    /usr/bin/python3 "$WORK/old_kernel.py" "$program" >"$WORK/unit.log" 2>&1 ||
        fail "unit.base.$test: $(grep -v -e ' OK ' -e ' RUN ' "$WORK/unit.log" | head -n 20)"
done

pool_init --nodes 1 --asleep
pool_start
port=$(sed -n 's/^COLLECTOR_PORT = //p' "$ROOST_CONFIG")
"$ROOST" token create --identity glidein --scope ADVERTISE,READ --expires 1h --bundle --file "$WORK/bundle" ||
    fail "roost token create --bundle"
chmod 0644 "$WORK/bundle"

"${as[@]}" /usr/bin/python3 "$WORK/old_kernel.py" "$WORK/roost-pilot" --collector "127.0.0.1:$port" --token "$WORK/bundle" \
    --execute "$WORK/scratch" --name old --cpus 2 --lifetime 14 POLLING_INTERVAL=1 \
    3</etc/passwd </dev/null >"$WORK/old.log" 2>&1 &
pilot=$!
has_joined() { [ -n "$("$ROOST" status -constraint 'Machine == "old"' -af Name 2>/dev/null)" ]; }
is_over() { ! kill -0 "$pilot" 2>/dev/null; }
is_running() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null | sort -u)" = 2 ]; }
until_true 20 "the pilot has joined" has_joined

job() {
    cat <<SUB
executable = /bin/sh
transfer_executable = false
arguments = "-c '$1'"
initialdir = $OUT
output = out.\$(Process)
error = err.\$(Process)
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
request_memory = 1
requirements = Machine == "old"
queue $2
SUB
}
# One to be vacated, beside the others: a lifetime waits for nobody.
job 'sleep 1000' 1 >"$WORK/job.sub"
long=$(submit "$WORK/job.sub") || exit 1
until_true 20 "the long job runs" is_running "$long"
# Descriptor 3, with which the pilot was started, is none of the job's.
job 'echo \$(Process); [ ! -e /proc/self/fd/3 ] || echo leak' 4 >"$WORK/job.sub"
cluster=$(submit "$WORK/job.sub") || exit 1
until_true 30 "the jobs are done" is_done "$cluster" 4
check_committed "$cluster" 4
check_outputs 4
until_true 40 "the pilot ends when its time is over" is_over
wait "$pilot"
equals "its exit status" "$?" 0
equals "the long job is idle again" "$("$ROOST" q "$long" -af JobStatus)" 1
equals "what is left" "$(ls -A "$WORK/scratch")" ""
until_true 5 "no process of the pilot" no_process_of "$WORK/scratch/"
pool_stop
passed

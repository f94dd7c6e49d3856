#!/bin/bash
# Running jobs are held, released and removed: their processes end, no late result lands, their slots take other jobs.
# What is the job's own fault holds it; output without a place is kept, and placed after a release.
#
# TIMEOUT: 90
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --cpus-per-node 2
pool_start

# job_is ID STATUS
job_is() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null)" = "$2" ]; }
# sleepers COUNT: so many of our jobs' processes live.
sleepers() { [ "$(pgrep -cf "held-jobs-$$")" -eq "$1" ]; }

cat >"$WORK/sleep.sh" <<END
#!/bin/bash
echo begun
sleep 300 &
exec -a held-jobs-$$ sleep 300
END
chmod 0755 "$WORK/sleep.sh"
cat >"$WORK/sleep.sub" <<END
executable = $WORK/sleep.sh
initialdir = $OUT
output = sleep.\$(Process)
queue 2
END

say "hold, release, remove"
cluster=$(submit "$WORK/sleep.sub") || exit 1
until_true 20 "both run" sleepers 2
until_true 10 "both are told to run" job_is "$cluster.1" 2
submitter_runs() { [ "$("$ROOST" status -any -constraint 'MyType == "Submitter"' -af RunningJobs IdleJobs 2>/dev/null)" = "$1 0" ]; }
until_true 20 "its submitter's ad counts them" submitter_runs 2
equals "whose slots they are" "$("$ROOST" status -constraint 'State == "Claimed"' -af ClientMachine | sort -u)" personal
memory=$(($(awk '/^MemTotal:/ { print $2 }' /proc/meminfo) / 1024))
equals "the machine's memory" "$("$ROOST" status -af "DetectedMemory > 0 && DetectedMemory <= $memory" | sort -u)" true
"$ROOST" hold "$cluster.0" >/dev/null || fail "roost hold"
equals "status of a held job" "$("$ROOST" q "$cluster.0" -af JobStatus HoldReasonCode)" "5 1"
until_true 20 "the held job's process is gone" sleepers 1
"$ROOST" release "$cluster.0" >/dev/null || fail "roost release"
until_true 20 "the released job runs again" sleepers 2
until_true 10 "it is told to run" job_is "$cluster.0" 2
equals "starts of the released job" "$("$ROOST" q "$cluster.0" -af NumJobStarts)" 2

say "times in constraints are the caller's"
# An hour ago, as Kolkata's clocks had it; read as UTC it would be hours from now.
hour_ago=$(TZ=Asia/Kolkata date -d '1 hour ago' +%Y-%m-%dT%H:%M:%S)
later=$(TZ=Asia/Kolkata date -d '1 hour' +%Y-%m-%dT%H:%M:%S)
TZ=Asia/Kolkata "$ROOST" hold -constraint "QDate > int(absTime(\"$later\"))" >/dev/null 2>&1
equals "held by a time to come" "$("$ROOST" q -constraint 'JobStatus == 5' -af ProcId)" ""
TZ=Asia/Kolkata "$ROOST" hold -constraint "ProcId == 1 && QDate > int(absTime(\"$hour_ago\"))" >/dev/null ||
    fail "hold -constraint with a local time"
equals "held by a local time" "$("$ROOST" q -constraint 'JobStatus == 5' -af ProcId)" 1
printf 'Name = "a"\nT = 5\n\nName = "b"\nT = 15\n' >"$WORK/times.ads"
equals "sorted by a local time" "$(TZ=Asia/Kolkata "$ROOST" status -any -ads "$WORK/times.ads" -af Name \
    -sort 'T < int(absTime("1970-01-01T05:30:10"))' | tr '\n' ' ')" "b a "

"$ROOST" rm "$cluster" >/dev/null || fail "roost rm"
equals "queue after rm" "$("$ROOST" q "$cluster" -af ProcId)" ""
until_true 20 "the removed jobs' processes are gone" sleepers 0
equals "how they ended" "$("$ROOST" history "$cluster" -af JobStatus | sort -u)" 3
equals "output of removed jobs" "$(ls "$OUT")" ""

say "a job's own fault"
cat >"$WORK/fault.sub" <<END
executable = /bin/echo
transfer_executable = false
initialdir = $OUT
transfer_input_files = missing.txt
queue
END
cluster=$(submit "$WORK/fault.sub") || exit 1
until_true 20 "a job without its input is held" job_is "$cluster.0" 5
equals "why" "$("$ROOST" q "$cluster.0" -af HoldReasonCode HoldReasonSubCode)" "13 2"
echo found >"$OUT/missing.txt"
"$ROOST" release "$cluster" >/dev/null || fail "roost release"
until_true 20 "it completes once the input is there" is_done "$cluster" 1
check_committed "$cluster" 1

say "output without a place"
cat >"$WORK/place.sub" <<END
executable = /bin/sh
transfer_executable = false
arguments = "-c 'echo once >>$OUT/runs; echo kept'"
initialdir = $OUT
output = later/out
skip_filechecks = true
queue
END
chmod 0777 "$OUT" # the job may run as somebody else
cluster=$(submit "$WORK/place.sub") || exit 1
until_true 20 "a job whose output has no place is held" job_is "$cluster.0" 5
equals "why" "$("$ROOST" q "$cluster.0" -af HoldReasonCode ClaimState)" "12 Staged"
pool_stop # what is staged survives that
pool_start
mkdir "$OUT/later"
"$ROOST" release "$cluster" >/dev/null || fail "roost release"
until_true 20 "it completes without another run" is_done "$cluster" 1
equals "output" "$(cat "$OUT/later/out")" kept
equals "runs" "$(cat "$OUT/runs")" once
check_committed "$cluster" 1
pool_stop
passed

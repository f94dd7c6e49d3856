#!/bin/bash
# Checkpoints as the owner of jobs sees them: asked for with roost checkpoint, shown by roost q -ckpt, told in the log
# of the job, kept over a hold and the death of the schedd, gone with the job; and what counted of its time.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
[ -x "$ROOST_BIN/roost-ckpt" ] || { echo "skipped: roost-ckpt is made for x86-64 only"; exit 77; }
"$ROOST_BIN/roost-ckpt" probe >/dev/null || { echo "skipped: no namespaces here"; exit 77; }

# Where a job has a directory of its own in place of the machine's.
PROGRAMS=$(mktemp -d /var/tmp/roost-it-XXXXXX)
chmod 0755 "$PROGRAMS"
remove_programs() { # for the trap, which is to see the status of what came before
    local status=$?
    rm -rf "$PROGRAMS"
    return "$status"
}
trap 'remove_programs; clean_up' EXIT
pool_init --nodes 1 --cpus-per-node 5
cat >>"$ROOST_CONFIG" <<END
CHECKPOINT_INTERVAL_MIN = 3600
CHECKPOINT_INTERVAL_MAX = 3600
STARTER_FAILURE_BACKOFF = 0
MAX_STARTER_FAILURES = 0
STARTER.CKPT_PROGRAM = "$PROGRAMS/program"
END
echo 'MEMORY = 1000 # a fifth is a slot' >>"$POOL/nodes/wn01/roost.conf"
# A machine that has no working roost-ckpt for some time, or one that is not for the job.
cat >"$PROGRAMS/program" <<END
#!/bin/bash
if [ "\$1" = info ] && [ -e "$WORK/broken" ]; then kill -9 \$\$; fi
if [ "\$1" = info ] && [ -e "$WORK/unsuited" ]; then
    echo "roost-ckpt: not for here" >&2
    exit 3
fi
exec "$ROOST_BIN/roost-ckpt" "\$@"
END
chmod 0755 "$PROGRAMS/program"
pool_start
chmod 0777 "$OUT" # jobs may run as somebody else
cc -O2 -static -D_GNU_SOURCE -o "$WORK/steps" "$ROOST_SRC/tests/integration/jobs/steps.c" || fail "steps does not compile"
for name in steps begun; do
    : >"$OUT/$name"
    chmod 0666 "$OUT/$name"
done
common="initialdir = $OUT
log = $OUT/jobs.log
request_memory = 1"
cat >"$WORK/steps.sub" <<END
universe = standard
$common
executable = $WORK/steps
arguments = $OUT/steps $WORK/gate
output = out
queue
END
# The second time it ends well.
cat >"$WORK/twice.sub" <<END
checkpoint = true
max_retries = 1
$common
shell = echo begun >>$OUT/begun; $(gate twice); test \`wc -l <$OUT/begun\` -eq 2
queue
END
cat >"$WORK/gone.sub" <<END
checkpoint = true
$common
shell = $(gate never)
queue
END
sed 's/^checkpoint = true/checkpoint = false/' "$WORK/gone.sub" >"$WORK/plain.sub"
sed 's/^queue/queue 2/' "$WORK/gone.sub" >"$WORK/two.sub"

job=$(submit "$WORK/steps.sub") && twice=$(submit "$WORK/twice.sub") && gone=$(submit "$WORK/two.sub") &&
    plain=$(submit "$WORK/plain.sub") || exit 1
of() { "$ROOST" q "$1" -af:, "${@:2}" 2>/dev/null; }
shows() { [ "$(of "$1" "$2")" = "$3" ]; }
has_steps() { [ "$(wc -l <"$OUT/steps")" -eq "$1" ]; }
has_begun() { [ "$(wc -l <"$OUT/begun")" -eq "$1" ]; }
is_whole() { "$ROOST_BUILD/tools/event_check" "$OUT/jobs.log" >"$WORK/events"; }
# What the log says of a job, as numbers of its events; those of transfers and sizes left out.
life() { grep -oE "^0[0-9]{2} \(0*$1\.000" "$OUT/jobs.log" | cut -c1-3 | grep -vE '006|028|040' | tr '\n' ' '; }
lives() { [ "$(life "$1" | sed -E 's/(003 )+/003 /g')" = "$2" ]; }

say "asked for"
until_true 60 "it is at its first gate" has_steps 10
until_true 60 "the other one has begun" has_begun 1
until_true 60 "all run" shows "$gone.0" JobStatus 2
until_true 60 "all run" shows "$gone.1" JobStatus 2
until_true 60 "all run" shows "$plain" JobStatus 2
equals "its universe" "$(of "$job" JobUniverse WantRemoteSyscalls NumCkpts)" "1, true, 0"
told=$("$ROOST" checkpoint "$job.0" "$twice" "$gone") || fail "roost checkpoint: $told"
equals "what it says" "$(sed -E 's/\(number 1, [0-9]+\.[0-9] s\)/once/' <<<"$told" | sort -V)" "$(
    printf 'Job %s was checkpointed once\n' "$job.0" "$twice.0" "$gone.0" "$gone.1" | sort -V
)"
told=$("$ROOST" checkpoint "$plain" 4711.0 4712 2>&1) && fail "roost checkpoint of what has none: $told"
equals "what it says" "$told" "Job $plain.0 is not checkpointed: it was submitted without checkpoint = true
Job 4711.0 not found
Couldn't find jobs in cluster 4712"
"$ROOST" checkpoint -fast "$job" 2>/dev/null
equals "the exit status of an option that it has not" $? 2
equals "how many were taken" "$(of "$job" NumCkpts CkptSequence CkptPrevious CkptOpSys)" "1, 1, 0, LINUX"
"$ROOST" q -ckpt -allusers >"$WORK/ckpt" || fail "roost q -ckpt"
grep -qE "^ +$job\.0 .* 1 R +0\+00:[0-9:]{5} +[0-9.]+ [MK]B +[0-9+:]+ steps" "$WORK/ckpt" || fail "roost q -ckpt: $(cat "$WORK/ckpt")"
equals "lines of jobs that have none" "$(grep -cE "^ +$plain\.0" "$WORK/ckpt")" 0

say "the schedd is killed"
kill -9 "$(pids_of schedd)" || fail "kill"
until_true 60 "the schedd is back" shows "$job" NumCkpts 1
takes_one() { "$ROOST" checkpoint "$1" >"$WORK/again" 2>&1; }
until_true 60 "its startd is back" takes_one "$job"
count=$(of "$job" NumCkpts)

say "vacated: its last checkpoint is told before its end"
"$ROOST" vacate "$job" >/dev/null || fail "roost vacate"
until_true 60 "it goes on" shows "$job" NumRestarts 1
until_true 60 "its log tells that" lives "$job" "000 001 003 004 001 "
equals "how many were taken" "$(of "$job" NumCkpts)" $((count + 1))
grep -q '(1) Job was checkpointed' "$OUT/jobs.log" || fail "the log does not say that it was checkpointed"
saved=$(of "$job" CommittedTime)

say "held, and released"
open_gate 1
until_true 60 "it is at its second gate" has_steps 20
"$ROOST" hold "$job" >/dev/null || fail "roost hold"
until_true 60 "the last checkpoint of the held job is there" shows "$job" NumCkpts $((count + 2))
equals "its status" "$(of "$job" JobStatus)" 5
[ "$(of "$job" CommittedTime)" -ge "$saved" ] || fail "what was saved is lost: $(of "$job" CommittedTime), not $saved"
"$ROOST" release "$job" >/dev/null || fail "roost release"
until_true 60 "it goes on" shows "$job" NumRestarts 2

say "two that are removed together"
has_files() { [ -n "$(find "$POOL"/spool/owner/*/ckpt -path "*/$1.[01]/*" 2>/dev/null)" ]; }
has_none() { ! has_files "$1"; }
has_files "$gone" || fail "no checkpoint of job $gone in the spool"
"$ROOST" rm "$gone" "$plain" >/dev/null || fail "roost rm"
until_true 30 "their checkpoints are gone" has_none "$gone"
has_files "$job" || fail "that of another is gone, too"

say "one that is tried again begins at its start"
open_gate twice
until_true 60 "it is done" is_done "$twice" 1
equals "how often it began" "$(wc -l <"$OUT/begun")" 2
equals "what the history knows" "$("$ROOST" history "$twice" -af:, ExitCode NumJobStarts NumRestarts NumCkpts CkptSequence)" "0, 2, 0, 1, undefined"
until_true 60 "its log tells that" lives "$twice" "000 001 003 004 001 005 "

before=$(of "$job" CommittedTime)
saves_two() { takes_one "$job" && [ "$(of "$job" CommittedTime)" -ge $((before + 2)) ]; }
until_true 60 "two seconds of its run are saved" saves_two # they must not count twice at its end
open_gate 2
until_true 60 "it is done" is_done "$job" 1
until_true 60 "its log tells that" lives "$job" "000 001 003 004 001 004 012 003 013 001 003 005 "
equals "the steps that it did" "$(tr '\n' ' ' <"$OUT/steps")" "$(seq -s ' ' 30) "
(cd "$WORK" && ./steps log gate) >"$WORK/alone" || fail "steps"
cmp "$WORK/alone" "$OUT/out" || fail "another output than alone"
equals "runs, and what counted" "$("$ROOST" history "$job" -af:, NumJobStarts "NumCkpts > $count + 2" \
    'CommittedTime <= RemoteWallClockTime && CommittedTime >= LastRemoteWallClockTime')" "3, true, true"
until_true 30 "its checkpoints are gone" has_none "$job"

say "starters are slow to end a run: what is said of that run meanwhile"
starters() { pids_of starter wn01 | xargs -r kill "$1"; }
slow=$(submit "$WORK/gone.sub") || exit 1
until_true 60 "it runs" takes_one "$slow"
starters -STOP
"$ROOST" vacate "$slow" >/dev/null || fail "roost vacate"
"$ROOST" hold "$slow" >/dev/null || fail "roost hold"
until_true 60 "its log tells first of the eviction" lives "$slow" "000 001 003 004 012 "
starters -CONT
"$ROOST" release "$slow" >/dev/null || fail "roost release"
until_true 60 "it goes on" shows "$slow" NumRestarts 1
until_true 60 "it runs" takes_one "$slow"
starters -STOP
"$ROOST" vacate "$slow" >/dev/null || fail "roost vacate"
equals "events of an eviction that is not over" "$(life "$slow" | grep -o 004 | wc -l)" 1
kill -9 "$(pids_of schedd)" || fail "kill"
has_evictions() { [ "$(life "$slow" | grep -o 004 | wc -l)" -eq "$1" ]; }
until_true 60 "the next schedd tells of it" has_evictions 2
starters -CONT
until_true 60 "it goes on" shows "$slow" NumRestarts 2
"$ROOST" rm "$slow" >/dev/null || fail "roost rm"
until_true 60 "its checkpoints are gone" has_none "$slow"

say "what it runs below is killed, and it is not: that is no end of a job"
slow=$(submit "$WORK/gone.sub") || exit 1
until_true 60 "it runs" takes_one "$slow"
# The job's grandparent: roost-ckpt run, or the image.  Then process 1 of its namespace.
above() { local pid; pid=$(pgrep -f "test -e $WORK/gate.never" | tail -n 1) && parent "$pid"; }
parent() { sed -n 's/^PPid:\t//p' "/proc/$1/status"; }
keeper() { above; }
outer() { local pid; pid=$(above) && parent "$pid"; }
goes_on() { [ "$(of "$slow" JobStatus)" = 2 ] && [ "$(of "$slow" NumRestarts)" -gt "${restarts/undefined/0}" ]; }
for which in outer keeper outer; do
    restarts=$(of "$slow" NumRestarts)
    kill -9 "$($which)" || fail "kill -9 of the job's $which"
    until_true 60 "it goes on after its $which was killed" goes_on
    until_true 60 "it runs" takes_one "$slow"
done
say "a machine where it cannot be resumed: what it has saved is not thrown away for that"
logged() { cat "$POOL"/nodes/*/log/*[Ss]tarter* | grep -c "$1"; }
is_logged() { [ "$(logged "$2")" -ge "$1" ]; }
restarts=$(of "$slow" NumRestarts)
touch "$WORK/broken"
"$ROOST" vacate "$slow" >/dev/null || fail "roost vacate"
until_true 60 "roost-ckpt is killed, again and again" is_logged 4 "examining the job.s checkpoint, ended with signal 9"
touch "$WORK/unsuited"
rm "$WORK/broken"
until_true 60 "that it is not for there is told" is_logged 1 "resume.refused .*not for here"
rm "$WORK/unsuited"
until_true 60 "it goes on" goes_on
equals "how often it began at its start" "$(logged 'resume.none')" 0
until_true 60 "it runs" takes_one "$slow"
touch "$WORK/unsuited"
restarts=$(of "$slow" NumRestarts)
"$ROOST" vacate "$slow" >/dev/null || fail "roost vacate"
given_up() { grep -c 'checkpoint.refused.*removed=true' "$POOL"/spool/owner/*/*Log* | grep -qv ':0$'; }
until_true 60 "one that is for no machine is given up at last" given_up
rm "$WORK/unsuited"
until_true 60 "it goes on from the one before" goes_on
"$ROOST" rm "$slow" >/dev/null || fail "roost rm"

say "one that uses nearly all of its memory, and writes to all of it while a copy of it is saved"
cat >"$WORK/memory.py" <<'END'
import os, sys
data, turn = bytearray(150 << 20), 0
while not os.path.exists(sys.argv[1]):
    turn = (turn + 1) % 256
    for page in range(0, len(data), 4096):
        data[page] = turn
END
cat >"$WORK/memory.sub" <<END
checkpoint = true
$common
executable = /usr/bin/python3
transfer_executable = false
transfer_input_files = $WORK/memory.py
arguments = memory.py $WORK/gate.memory
queue
END
full=$(submit "$WORK/memory.sub") || exit 1
until_true 60 "it runs" takes_one "$full"
for _ in 1 2 3; do
    "$ROOST" checkpoint "$full" >"$WORK/asked" 2>&1 || fail "roost checkpoint: $(cat "$WORK/asked")"
done
equals "its status, runs, checkpoints" "$(of "$full" JobStatus NumJobStarts NumCkpts)" "2, 1, 4"
open_gate memory
until_true 60 "it is done" is_done "$full" 1

say "one that says itself when"
sed "s/^queue/periodic_checkpoint = time() - LastCkptTime >= 1 \&\& Iwd == \"${OUT//\//\\/}\"\nqueue/" "$WORK/gone.sub" >"$WORK/own.sub"
own=$(submit "$WORK/own.sub") || exit 1
has_many() { [ "$(of "$1" NumCkpts)" -ge "$2" ] 2>/dev/null; }
until_true 60 "it has been checkpointed again and again" has_many "$own" 3
"$ROOST" rm "$own" >/dev/null || fail "roost rm"

say "no room for checkpoints"
echo 'CHECKPOINT_QUOTA_PER_OWNER = 64 KiB' >>"$ROOST_CONFIG"
pids_of shadow | xargs -r kill -9
large=$(submit "$WORK/gone.sub") || exit 1
is_refused() { "$ROOST" checkpoint "$large" 2>&1 | grep -q "Job $large.0 could not be checkpointed: .*CHECKPOINT_QUOTA_PER_OWNER"; }
until_true 60 "it is told why there is none" is_refused
equals "it runs on, without" "$(of "$large" JobStatus NumCkpts)" "2, 0"
"$ROOST" rm "$large" >/dev/null || fail "roost rm"
until_true 60 "the log tells of lives that jobs can have, to their ends" is_whole
pool_stop
passed

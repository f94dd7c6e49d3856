#!/bin/bash
# Jobs with checkpoint = true lose nothing: their starters are killed, their machine is drained, the shadow and the
# schedd are killed while a checkpoint is asked for, and each step of each job is done once, with the output of an
# uninterrupted run.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
[ -x "$ROOST_BIN/roost-ckpt" ] || { echo "skipped: roost-ckpt is made for x86-64 only"; exit 77; }
"$ROOST_BIN/roost-ckpt" probe >/dev/null || { echo "skipped: no namespaces here"; exit 77; }

pool_init --nodes 2 --cpus-per-node 3
cat >>"$ROOST_CONFIG" <<END
CHECKPOINT_INTERVAL_MIN = 1
CHECKPOINT_INTERVAL_MAX = 1
SHADOW.CKPT_PROGRAM = "$WORK/merger"
END
# What changed is made whole by a program that can be told to wait.
cat >"$WORK/merger" <<END
#!/bin/bash
: >"$WORK/merging"
while [ -e "$WORK/held" ]; do sleep 0.02; done
exec "$ROOST_BIN/roost-ckpt" "\$@"
END
chmod 0755 "$WORK/merger"
pool_start
chmod 0777 "$OUT" # jobs may run as somebody else
cc -O2 -static -D_GNU_SOURCE -o "$WORK/steps" "$ROOST_SRC/tests/integration/jobs/steps.c" || fail "steps does not compile"
cat >"$WORK/steps.py" <<'END'
import os, sys, time
total, seen = 0, []
with open("progress", "w") as progress:
    for step in range(1, 31):
        seen.append(step * step)
        total += sum(seen) % 1009
        with open(sys.argv[1], "a") as log:
            log.write("%d\n" % step)
        progress.write("%d\n" % step)
        progress.flush()
        while step % 10 == 0 and step < 30 and not os.path.exists("%s.%d" % (sys.argv[2], step // 10)):
            time.sleep(0.02)
        print(step, total)
END
cat >"$WORK/steps.sh" <<'END'
#!/bin/bash
# A pipeline: the first part knows the gates, the last one the sum.
for ((step = 1; step <= 30; step++)); do
    echo "$step" >>"$1"
    echo "$step" >>progress
    while [ $((step % 10)) = 0 ] && [ "$step" -lt 30 ] && ! [ -e "$2.$((step / 10))" ]; do sleep 0.05; done
    echo "$step"
done | awk '{ sum += $1; print $1, sum; fflush() }' | while read -r step sum; do echo "$step $sum"; done
END
chmod 0755 "$WORK/steps.sh"
cat >"$WORK/jobs.sub" <<END
checkpoint = true
initialdir = $OUT
output = out.\$(Process)
error = err.\$(Process)
log = $OUT/jobs.log
transfer_output_remaps = "progress = progress.\$(Process)"
request_memory = 1
# What is new goes back, what came does not.
executable = /usr/bin/python3
transfer_executable = false
transfer_input_files = $WORK/steps.py, $WORK/input.txt
arguments = steps.py $OUT/steps.\$(Process) $WORK/gate
queue
transfer_output_files = progress
transfer_executable = true
transfer_input_files =
executable = $WORK/steps
arguments = $OUT/steps.\$(Process) $WORK/gate
queue
executable = $WORK/steps.sh
checkpoint_destination = file://$WORK/far
queue
END
mkdir "$WORK/far"
echo "what comes in" >"$WORK/input.txt"
for number in 0 1 2; do # somebody else's jobs write there
    : >"$OUT/steps.$number"
    chmod 0666 "$OUT/steps.$number"
done
starts=1
attribute() { "$ROOST" q "$job" -af "$1" 2>/dev/null | tr '\n' ' '; }
has_steps() { [ "$(cat "$OUT"/steps.? | wc -l)" -eq "$1" ]; }
runs_are() { [ "$(attribute JobStatus)" = "2 2 2 " ] && [ "$(attribute NumJobStarts)" = "$1 $1 $1 " ]; }
# Two more: the second of them was begun after we asked.
counts() { attribute NumCkpts; }
have_two_more() {
    local before after i
    read -ra before <<<"$1"
    read -ra after <<<"$(counts)"
    for i in 0 1 2; do [ "${after[$i]:-0}" -ge $((${before[$i]} + 2)) ] 2>/dev/null || return 1; done
}
# killed NAME: no process of that name but others than before.
kill_all() {
    local pid
    for pid in $(pids_of "$@"); do kill -9 "$pid" || fail "kill $*"; done
}

logged() { cat "$POOL"/nodes/*/log/*[Ss]tarter* | grep -c "$1"; }
# More than so many lines of the starters' logs are like that.
is_logged() { [ "$(logged "$2")" -gt "$1" ]; }
checkpoints() { find "$POOL"/spool/owner/*/ckpt -type f -name "$1" 2>/dev/null; }

job=$(submit "$WORK/jobs.sub") || exit 1
until_true 60 "each is at its first gate" has_steps 30
until_true 60 "each has checkpoints of that" have_two_more "$(counts)"
if "$ROOST_BIN/roost-ckpt" probe | grep -q HasIncrementalCheckpoints; then
    equals "the job's directories elsewhere" "$(find "$WORK/far" -mindepth 1 -maxdepth 1 | wc -l)" 1
    say "what changed is sent: an image is lost, shadow and starters are killed while images are merged"
    until_true 60 "what changed was enough" is_logged 2 'checkpoint.kept.*delta=true'
    until_true 60 "of their files, too" is_logged 2 'checkpoint.kept.*changes=true'
    wholes=$(logged 'checkpoint.kept.*delta=false')
    touch "$WORK/held"
    rm -f "$WORK/merging"
    until_true 60 "one is merged" test -e "$WORK/merging"
    { checkpoints image; find "$WORK/far" -name image; } | while read -r image; do echo damaged >"$image"; done
    rm "$WORK/held"
    until_true 60 "a whole one is sent again" is_logged "$wholes" 'checkpoint.kept.*delta=false'
    until_true 60 "each has newer ones" have_two_more "$(counts)"
    touch "$WORK/held"
    rm -f "$WORK/merging"
    until_true 60 "one is merged" test -e "$WORK/merging"
    kill_all shadow
    for node in wn01 wn02; do kill_all starter "$node"; done
    rm "$WORK/held"
    until_true 60 "they run again" runs_are 2
    until_true 60 "each has newer ones" have_two_more "$(counts)"
    equals "steps that were done twice" "$(for n in 0 1 2; do sort "$OUT/steps.$n" | uniq -d; done)" ""
    say "they are vacated while what changed is made whole: it is not made again in vain, and nothing is done twice"
    touch "$WORK/held"
    rm -f "$WORK/merging"
    until_true 60 "one is merged" test -e "$WORK/merging"
    "$ROOST" vacate "$job" >/dev/null || fail "roost vacate"
    rm "$WORK/held"
    until_true 60 "they run again" runs_are 3
    equals "how often one began at its start" "$(logged 'resume.none')" 0
    equals "steps that were done twice" "$(for n in 0 1 2; do sort "$OUT/steps.$n" | uniq -d; done)" ""
    starts=3
fi

say "their starters are killed"
for node in wn01 wn02; do kill_all starter "$node"; done
until_true 60 "they run again" runs_are $((starts + 1))
open_gate 1
until_true 60 "each is at its second gate" has_steps 60
equals "steps that were done twice" "$(for n in 0 1 2; do sort "$OUT/steps.$n" | uniq -d; done)" ""

say "one is asked for; all are held and released"
"$ROOST" checkpoint "$job" >"$WORK/asked" 2>&1 || fail "roost checkpoint: $(cat "$WORK/asked")"
"$ROOST" hold "$job" >/dev/null || fail "roost hold"
are_held() { [ "$(attribute JobStatus)" = "5 5 5 " ] && [ -z "$(pids_of starter wn01)$(pids_of starter wn02)" ]; }
until_true 60 "they are held" are_held
mv "$WORK/far" "$WORK/away"
failures=$(attribute NumStarterFailures)
"$ROOST" release "$job" >/dev/null || fail "roost release"
until_true 60 "one waits for its checkpoint's disk" is_logged 0 'resume.waits .*job.s checkpoints are in .*not available now'
mv "$WORK/away" "$WORK/far"
until_true 60 "they go on" runs_are $((starts + 2))
equals "runs that failed for that" "$(attribute NumStarterFailures)" "$failures"

say "shadow and schedd are killed; then machines are drained"
kill_all shadow
kill_all schedd
queue_answers() { "$ROOST" q >/dev/null 2>&1; }
until_true 60 "the schedd is back" queue_answers
has_jobs() { local at; read -ra at <<<"$(attribute 'RemoteHost')"; [[ " ${at[*]} " == *@$1* ]]; }
node=wn01
has_jobs wn01 || node=wn02
"$ROOST" drain "$node" >"$WORK/drain.out" 2>&1 || fail "roost drain: $(cat "$WORK/drain.out")"
has_moved() { [ "$(attribute JobStatus)" = "2 2 2 " ] && ! has_jobs "$node"; }
until_true 60 "all run on the other one" has_moved
equals "steps that were done twice" "$(for n in 0 1 2; do sort "$OUT/steps.$n" | uniq -d; done)" ""
open_gate 2
until_true 60 "they are done" is_done "$job" 3
check_committed "$job" 3
for n in 0 1 2; do
    seq 30 >"$WORK/all"
    cmp -s "$WORK/all" "$OUT/steps.$n" || fail "job $n did its steps so: $(tr '\n' ' ' <"$OUT/steps.$n")"
    cmp -s "$WORK/all" "$OUT/progress.$n" || fail "job $n has this progress: $(tr '\n' ' ' <"$OUT/progress.$n")"
    equals "what job $n says of errors" "$(cat "$OUT/err.$n")" ""
done
mkdir "$WORK/alone"
cd "$WORK/alone" || exit
/usr/bin/python3 "$WORK/steps.py" log "$WORK/gate" >"$WORK/alone.0"
"$WORK/steps" log "$WORK/gate" >"$WORK/alone.1"
"$WORK/steps.sh" log "$WORK/gate" >"$WORK/alone.2"
for n in 0 1 2; do cmp "$WORK/alone.$n" "$OUT/out.$n" || fail "job $n has another output than alone"; done
equals "files that came back" "$(cd "$OUT" && echo *)" "$(cd "$OUT" && echo err.? jobs.log out.? progress.? steps.?)"
told=$("$ROOST_BUILD/tools/event_check" "$OUT/jobs.log") || fail "the job event log: $told"
none_left() { [ -z "$(find "$POOL"/spool/owner/*/ckpt "$WORK/far" -type f 2>/dev/null)" ]; }
until_true 20 "no checkpoint is left of them" none_left
pool_stop
passed

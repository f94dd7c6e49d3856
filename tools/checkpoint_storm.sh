#!/bin/bash
# tools/checkpoint_storm.sh [-j JOBS] [-n NODES] [-c CPUS] [-l SECONDS] [-i SECONDS] [-b MS]: nothing computed is lost.
#
# JOBS (20) jobs of universe standard, each with SECONDS (180) of work, on NODES (3) nodes of CPUS (4) slots, with a
# checkpoint every SECONDS (15).  Owners come back to their machines, machines are drained and put to sleep, starters and
# startds are killed -9: one such thing every MS (12000) milliseconds on the average.  Then: every result is that of an
# uninterrupted run, was committed once, and no eviction took more of a job's work than one interval and what it takes to
# make and send an image (5 s are allowed for): measured from the job's own file of its progress, which is outside of what
# a checkpoint holds.  The short form in the suite is integration.checkpointed_jobs.
#
# ROOST_BIN: the programs (build/bin).  ROOST_TEST_SEED: repeats the order of what happens.  ROOST_TEST_KEEP=DIR: keeps the
# pool of a run that failed.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
JOBS=20 NODES=3 CPUS=4 LENGTH=180 INTERVAL=15 BETWEEN=12000 SPARE=5
take_options "j=JOBS n=NODES c=CPUS l=LENGTH i=INTERVAL b=BETWEEN" 0 0 "$@"
use_test_pool
"$ROOST_BIN/roost-ckpt" probe >/dev/null || { echo "checkpoint_storm: no checkpoints on this machine; 'roost-ckpt probe' says why"; exit 1; }

pool_init --nodes "$NODES" --cpus-per-node "$CPUS" --idle 3600
cat >>"$ROOST_CONFIG" <<END
MASTER_BACKOFF_CEILING = "2s"
CHECKPOINT_INTERVAL_MIN = $INTERVAL
CHECKPOINT_INTERVAL_MAX = $INTERVAL
END
# Each owner is there for 12 of 120 seconds, one after the other; a job has three seconds to go.
for ((node = 1; node <= NODES; node++)); do
    cat >>"$POOL/nodes/$(printf wn%02d "$node")/roost.conf" <<END
OwnerIsBack = "((time() + $((node * 120 / NODES))) % 120 < 12)"
START = "\$(OwnerIsBack) == false"
SUSPEND = "false"
PREEMPT = "\$(OwnerIsBack)"
MACHINEMAXVACATETIME = 3
POLLING_INTERVAL = 1
END
done
pool_start

# A step is a quarter of a second of work, as the machine would do it alone.
cat >"$WORK/work.py" <<'END'
import hashlib, sys, time
steps, progress, total = int(sys.argv[1]), sys.argv[2], hashlib.sha256()
for step in range(1, steps + 1):
    until, number = time.process_time() + 0.02, 0
    while number < 1000 or time.process_time() < until:
        number += 1
        if number <= 1000:
            total.update(repr((step, number, 1.0 / (step + number))).encode())
    time.sleep(0.23)
    with open(progress, "a") as file:
        file.write("%d %d\n" % (step, time.time() * 1000))
    print(step, total.hexdigest())
END
chmod 0777 "$OUT"
for ((job = 0; job < JOBS; job++)); do # somebody else's jobs write there
    : >"$OUT/steps.$job"
    chmod 0666 "$OUT/steps.$job"
done
cat >"$WORK/jobs.sub" <<END
universe = standard
executable = /usr/bin/python3
transfer_executable = false
arguments = $WORK/work.py $((LENGTH * 4)) $OUT/steps.\$(Process)
initialdir = $OUT
output = out.\$(Process)
error = err.\$(Process)
log = $OUT/jobs.log
request_memory = 1
queue $JOBS
END
cluster=$(submit "$WORK/jobs.sub") || exit 1
say "seed $SEED: $JOBS jobs of $LENGTH s, a checkpoint every $INTERVAL s, are cluster $cluster"

a_node() {
    local nodes
    mapfile -t nodes < <(awake_nodes)
    [ ${#nodes[@]} -gt 0 ] || return 1
    below ${#nodes[@]}
    node=${nodes[chosen]}
}
drained='' # one at a time: the others are to have room
begun=$SECONDS
declare -A happened=()
while ! is_done "$cluster" "$JOBS"; do
    [ $((SECONDS - begun)) -lt $((300 + 10 * JOBS * LENGTH / (NODES * CPUS))) ] || fail "the jobs are not done in time"
    for ((ms = 0; ms < BETWEEN; ms += 1000)); do # four seconds is the longest that it can
        pause 0 2000
    done
    kinds=(starter startd drain sleep)
    below ${#kinds[@]}
    kind=${kinds[chosen]}
    case $kind in
    starter | startd) kill_on_a_node "$kind" ;;
    drain)
        [ -z "$drained" ] || "$ROOST" drain --cancel "$drained" >/dev/null 2>&1
        drained=
        a_node && "$ROOST" drain --quick "$node" >"$WORK/drain.out" 2>&1 && drained=$node && say "drained $node"
        ;;
    sleep) a_node && [ "$(awake_count)" -gt 1 ] && "$ROOST" power sleep "$node" --now >"$WORK/sleep.out" 2>&1 && say "asleep: $node" ;;
    esac && happened[$kind]=$((${happened[$kind]:-0} + 1))
done
seconds=$((SECONDS - begun))
check_committed "$cluster" "$JOBS"
/usr/bin/python3 "$WORK/work.py" $((LENGTH * 4)) "$WORK/alone.steps" >"$WORK/alone" &
until_true 60 "the job event log is complete" has_ends "$JOBS"
check_log "$JOBS"
wait $!
for ((job = 0; job < JOBS; job++)); do
    cmp "$WORK/alone" "$OUT/out.$job" || fail "the output of job $job differs from that of an uninterrupted run"
    equals "the standard error of job $job" "$(cat "$OUT/err.$job")" ""
done
# Where a step follows that is not the next one, work was lost: what the steps had taken that are done again.  The first one of
# a run is behind a wait for a machine: it counts as any other.
awk -v most=$(((INTERVAL + SPARE) * 1000)) '
    FNR == 1 { before = 0; last = $2 - 250 }
    $1 > before + 1 { print FILENAME ": step " $1 " after " before; wrong = 1 }
    $1 <= before {
        lost = 0
        for (step = $1; step <= before; step++) lost += took[FILENAME, step]
        count++; sum += lost; if (lost > worst) worst = lost
        if (lost > most) { print FILENAME ": " lost " ms were lost at step " $1; wrong = 1 }
    }
    { ms = $2 - last; took[FILENAME, $1] = $1 <= before || ms > 2000 ? 250 : ms; before = $1; last = $2 }
    END { printf "work was repeated %d times: %.1f s on average, %.1f s at most\n", count, count ? sum / count / 1000 : 0, worst / 1000; exit wrong }
' "$OUT"/steps.* || fail "a job lost more work than one interval"
say "$(grep -c '^004 ' "$OUT/jobs.log") evictions, $(grep -c '^003 ' "$OUT/jobs.log") checkpoints by the log"
for kind in "${!happened[@]}"; do
    printf '%s %s  ' "$kind" "${happened[$kind]}"
done
echo
pool_stop
say "$JOBS jobs in $seconds s, seed $SEED"

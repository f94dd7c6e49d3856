#!/bin/bash
# Real work on 16 slots, each compared byte for byte with the same work done here without a pool: a shell pipeline, a Python
# script with a file for each job and one that all share, a compiled solver that reads its parameters from
# `queue ... from`, and many jobs of a second.
#
# ROOST_WORK_JOBS: how many jobs of a second there are (48; 500 at full size).
#
# TIMEOUT: 150
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

jobs=${ROOST_WORK_JOBS:-48}
local_dir=$WORK/local
mkdir -p "$local_dir" "$OUT/tables" "$OUT/results"
pool_init --nodes 1 --cpus-per-node 16 --idle 600
pool_start
cd "$OUT" || exit 1

same() { cmp "$1" "$2" || fail "$1 is not what the same work gives here"; }
wait_for() { timeout 100 "$ROOST" wait "$1" >"$WORK/wait.out" 2>&1 || fail "roost wait $1: $(cat "$WORK/wait.out")"; }
common='initialdir = '"$OUT"'
log = jobs.log
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
request_memory = 16'

say "a shell pipeline"
cat >count.sh <<'END'
#!/bin/sh
tr -cs 'A-Za-z' '\n' <"$1" | tr 'A-Z' 'a-z' | sort | uniq -c | sort -k1,1nr -k2 | tee words.all | sed -n "1,$2p"
END
chmod 0755 count.sh
cp "$ROOST_SRC/docs/ARCHITECTURE.md" text.md
cat >pipeline.sub <<END
executable = count.sh
arguments = text.md 25
transfer_input_files = text.md
transfer_output_files = words.all
transfer_output_remaps = "words.all = words.pool"
output = top.pool
error = top.err
$common
queue
END
pipeline=$(submit pipeline.sub) || exit 1

say "a Python script: a table for each job, and limits that all share"
cat >summary.py <<'END'
#!/usr/bin/env python3
import csv
import json
import statistics
import sys

with open(sys.argv[2], encoding="utf-8") as file:
    limits = json.load(file)
with open(sys.argv[1], encoding="utf-8", newline="") as file:
    rows = [float(row["value"]) for row in csv.DictReader(file)]
kept = [value for value in rows if limits["low"] <= value <= limits["high"]]
result = {"kept": len(kept), "mean": statistics.fmean(kept), "deviation": statistics.pstdev(kept)}
with open("summary.json", "w", encoding="utf-8") as file:
    json.dump(result, file, indent=1)
print(sys.argv[1], "kept", len(kept), "of", len(rows))
END
chmod 0755 summary.py
echo '{"low": 50, "high": 900}' >limits.json
for number in 1 2 3 4 5; do
    awk -v seed=$number 'BEGIN { srand(seed); print "value"; for (i = 0; i < 2000; i++) printf "%.6f\n", rand() * 1000 }' \
        >tables/t$number.csv
done
cat >summary.sub <<END
executable = summary.py
arguments = \$Fnx(table) limits.json
transfer_input_files = \$(table), limits.json
transfer_output_files = summary.json
transfer_output_remaps = "summary.json = results/\$Fn(table).json"
output = results/\$Fn(table).out
error = results/\$Fn(table).err
$common
queue table matching files tables/*.csv
END
summary=$(submit summary.sub) || exit 1

say "a compiled solver with its parameters from a file"
cat >solver.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    /* Heat in a rod: explicit steps. */
    static double now[512], next[512];
    int cells = argc > 1 ? atoi(argv[1]) : 0, steps = argc > 2 ? atoi(argv[2]) : 0;
    double rate = argc > 3 ? atof(argv[3]) : 0;
    if (cells < 3 || cells > 512 || steps < 1) {
        return 2;
    }
    now[0] = 100;
    next[0] = 100;
    for (int step = 0; step < steps; step++) {
        for (int i = 1; i + 1 < cells; i++) {
            next[i] = now[i] + rate * (now[i - 1] - 2 * now[i] + now[i + 1]);
        }
        for (int i = 1; i + 1 < cells; i++) {
            now[i] = next[i];
        }
    }
    for (int i = 0; i < cells; i++) {
        printf("%d %.17g\n", i, now[i]);
    }
    return 0;
}
END
cc -O2 -o solver solver.c || fail "cc"
for cells in 40 120 500; do
    for rate in 0.10 0.25 0.45; do
        echo "$cells, $((cells * 40)), $rate"
    done
done >parameters.txt
cat >solver.sub <<END
executable = solver
arguments = \$(cells) \$(steps) \$(rate)
output = results/rod.\$(cells).\$(rate)
error = results/rod.\$(cells).\$(rate).err
$common
queue cells, steps, rate from parameters.txt
END
solver=$(submit solver.sub) || exit 1

wait_for "$pipeline"
wait_for "$summary"
wait_for "$solver"
check_committed "$pipeline" 1
check_committed "$summary" 5
check_committed "$solver" 9
cd "$local_dir" || exit 1
"$OUT/count.sh" "$OUT/text.md" 25 >top
same "$OUT/top.pool" top
same "$OUT/words.pool" words.all
for number in 1 2 3 4 5; do
    cp "$OUT/tables/t$number.csv" "$OUT/limits.json" .
    "$OUT/summary.py" t$number.csv limits.json >t$number.out || fail "summary.py"
    same "$OUT/results/t$number.out" t$number.out
    same "$OUT/results/t$number.json" summary.json
done
while IFS=', ' read -r cells steps rate; do
    "$OUT/solver" "$cells" "$steps" "$rate" >rod || fail "solver"
    same "$OUT/results/rod.$cells.$rate" rod
done <"$OUT/parameters.txt"

say "$jobs jobs of a second"
cat >"$OUT/second.sh" <<'END'
#!/bin/sh
seq "$1" $(($1 + 2000)) | sha256sum
sleep 1
END
chmod 0755 "$OUT/second.sh"
cat >"$OUT/seconds.sub" <<END
executable = second.sh
arguments = \$(Process)
output = second.\$(Process)
error = second.err.\$(Process)
$common
queue $jobs
END
cd "$OUT" || exit 1
begun=${EPOCHREALTIME/./}
seconds=$(submit seconds.sub) || exit 1
wait_for "$seconds"
pool_ms=$(((${EPOCHREALTIME/./} - begun) / 1000))
check_committed "$seconds" "$jobs"
cd "$local_dir" || exit 1
begun=${EPOCHREALTIME/./}
seq 0 $((jobs - 1)) | xargs -P 16 -I {} sh -c 'exec "$1" "$2" >"second.$2"' - "$OUT/second.sh" {}
local_ms=$(((${EPOCHREALTIME/./} - begun) / 1000))
for ((number = 0; number < jobs; number++)); do
    same "$OUT/second.$number" "second.$number"
done
say "$jobs jobs of 1 s on 16 slots: $pool_ms ms, here 16 at a time $local_ms ms: $(awk "BEGIN { printf \"%.2f\", $pool_ms / $local_ms }") times"

told=$("$ROOST_BUILD/tools/event_check" "$OUT/jobs.log") || fail "the job event log: $told"
say "the log: $told"
pool_stop
passed

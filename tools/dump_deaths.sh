#!/bin/bash
# tools/dump_deaths.sh [-n DEATHS]: roost-ckpt is killed DEATHS times (5000), at any of its steps, while it saves jobs.
#
# Each job continues, or continues from its image, and ends as if nothing had happened.  The suite has a short form:
# integration.checkpoints.  Some six minutes on an idle machine.
#
# ROOST_BIN: the programs (build/bin).
#
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname "$0")/lib.sh"
cd "$ROOST_SRC"
take_options "n=DEATHS" 0 0 "$@"
DEATHS=${DEATHS:-5000}
EACH=400 # deaths that are asked for at a time: a job may end before
export ROOST_BIN=${ROOST_BIN:-$PWD/build/bin} PYTHONDONTWRITEBYTECODE=1
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
jobs=(asks waits "threads 20" "family .")
cc -O2 -D_GNU_SOURCE -shared -fPIC -o "$WORK/dying.so" tests/integration/preloaded/checkpoint_dying.c
for job in "${jobs[@]}"; do
    cc -O2 -D_GNU_SOURCE -pthread -o "$WORK/${job%% *}" "tests/integration/jobs/${job%% *}.c" -lm
done
died=0
for ((seed = 1; died < DEATHS; seed++)); do
    for job in "${jobs[@]}"; do
        read -ra words <<<"$job"
        mkdir -p "$WORK/files/${words[0]}"
        (cd "$WORK/files/${words[0]}" && timeout 900 python3 "$ROOST_SRC/tests/integration/lib_checkpoint_killed.py" "$WORK/dying.so" \
            --deaths "$EACH" --seed "$seed" -- "$WORK/${words[0]}" "${words[@]:1}") >"$WORK/said" 2>&1 || {
            cat "$WORK/said" >&2
            exit 1
        }
        died=$((died + $(awk 'match($0, /[0-9]+ dumps were killed/) { sum += substr($0, RSTART) } END { print sum + 0 }' "$WORK/said")))
    done
    echo "dump_deaths: seed $seed: $died dumps were killed; every job ended like an uninterrupted one"
done

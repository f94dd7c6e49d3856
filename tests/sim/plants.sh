#!/bin/bash
# Each planted bug is found by the suite of seeds, and by the right promise.
#
# TIMEOUT: 600
# SPDX-License-Identifier: Apache-2.0
set -u
# Instrumented programs are ten times slower: the same seeds, accidents and promises, on a smaller pool.
nodes=50 jobs=200
if grep -Eq '^ROOST_SANITIZE:[A-Z]+=.' "$ROOST_BUILD/CMakeCache.txt"; then
    nodes=8 jobs=30
fi
out=$(mktemp)
trap 'rm -f "$out"' EXIT
failed=0
story=()

# plant NAME PROMISE...: one of these promises is broken within the seeds (a story may take --nodes back)
plant() {
    local name=$1 promise seen
    shift
    if "$ROOST_BUILD/tests/bin/roost-sim-$name" --nodes "$nodes" "${story[@]}" --seeds 1-50 --parallel 2 --jobs "$jobs" --stop >"$out"; then
        echo "$name: not found in 50 seeds"
        failed=1
        return
    fi
    seen=$(sed -n 's/^seed .*: INVARIANT \([a-z_]*\):.*/\1/p' "$out" | head -1)
    for promise in "$@"; do
        if [ "$promise" = "$seen" ]; then
            echo "$name: found: $(grep -m1 INVARIANT "$out")"
            return
        fi
    done
    echo "$name: found as '$seen', not as any of: $*"
    tail -30 "$out"
    failed=1
}

plant reply_before_commit job_lost job_unfinished offline_lost result_twice
plant lease_check_skipped job_twice
plant slot_matched_twice claim_matched_twice
plant offline_ad_lost_on_restart offline_lost
plant piece_given_twice slot_overcommitted
plant wake_without_demand wake_without_demand taken_back_often
plant uptime_by_wall duration_wrong

story=(--power 4) nodes=20
plant silent_not_asked node_lost
plant wake_too_early wake_too_early

story=(--hasty) nodes=4 jobs=60
plant charge_kept slot_waits
plant claim_unsaid slot_waits

nodes=6 jobs=40
story=(--faults keeper --calm)
plant keeper_ends_job result_wrong
story=(--faults memory --calm)
plant oom_ends_job result_wrong
story=(--faults fork --calm)
plant fork_holds_job job_held
story=(--faults still --calm)
plant lease_timer_missing job_twice
plant lease_by_remainder job_twice
story=(--faults disk --calm)
plant full_disk_ends schedd_ends
story=(--faults rows --calm)
plant damage_unsaid damage_unsaid
story=(--faults client --calm)
plant submission_in_pieces submit_torn
plant removal_in_part removed_runs

story=(--checkpoints) nodes=4 jobs=6
plant checkpoint_told_early ckpt_unkept
plant checkpoint_not_synced ckpt_damaged ckpt_lost
plant checkpoint_of_before ckpt_lost
plant checkpoint_forgotten ckpt_lost books_wrong
plant checkpoint_left image_left
plant killed_check_is_damage ckpt_damaged

story=(--factory --sites 6 --glideins 40) jobs=100
plant submit_before_record factory_forgot factory_leak
plant sample_kept factory_sample
plant multiplicity_kept factory_sample factory_unserved
plant removal_of_all factory_purge
plant settle_ignored factory_forgot factory_unserved
plant breaker_stuck factory_unserved
story=(--factory --calm --sites 10 --glideins 30)
plant breaker_missing factory_waste
exit $failed

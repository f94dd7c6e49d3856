#!/bin/bash
# tools/chaos.sh [-j JOBS] [-n NODES] [-c CPUS] [-s SECONDS] [-b MS]: jobs eventually complete.
#
# JOBS jobs (1000) of up to SECONDS (2) on NODES (4) nodes of CPUS (4) slots, while every kind of daemon - the pool's
# master, collector, negotiator, rooster, schedd, shadow, the nodes' masters, startds, starters - is killed -9 again and again,
# one every MS (400) milliseconds on the average.  Then: every result right and committed once, no two runs of a job
# at a time, and a job event log that tells lives that jobs can have.  The short forms of it in the suite are
# integration.chaos and integration.startd_chaos.
#
# ROOST_BIN: the programs (build/bin).  ROOST_TEST_SEED: repeats the order of kills.  ROOST_TEST_KEEP=DIR: keeps the pool
# of a run that failed.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
JOBS=1000 NODES=4 CPUS=4 LENGTH=2 BETWEEN=400
take_options "j=JOBS n=NODES c=CPUS s=LENGTH b=BETWEEN" 0 0 "$@"
use_test_pool

pool_init --nodes "$NODES" --cpus-per-node "$CPUS" --idle 3600
# A daemon that ends again and again before MASTER_RECOVER_FACTOR waits twice as long each time: after nine kills for
# 25 seconds, which is what a master is to do, and longer than this storm waits for what it wants to kill.
echo 'MASTER_BACKOFF_CEILING = "2s"' >>"$ROOST_CONFIG"
pool_start
cluster='' # set by chaos_jobs
chaos_jobs "$JOBS" "$LENGTH"
begun=$SECONDS
declare -A killed=()
while ! is_done "$cluster" "$JOBS"; do
    [ $((SECONDS - begun)) -lt $((120 + JOBS * (LENGTH + 1))) ] || fail "the jobs are not done in time"
    kinds=(collector schedd negotiator rooster shadow master node.startd node.starter node.master)
    below ${#kinds[@]}
    kind=${kinds[chosen]}
    pause 0 $((2 * BETWEEN))
    case $kind in
    node.*) kill_on_a_node "${kind#node.}" ;;
    shadow) [ -z "$(holders shadow)" ] || kill_one shadow ;;
    *) kill_one "$kind" || fail "no $kind is running: it was not started again after a kill" ;;
    esac
    killed[$kind]=$((${killed[$kind]:-0} + 1))
done
seconds=$((SECONDS - begun))
check_chaos "$JOBS" 60
for kind in "${!killed[@]}"; do
    printf '%s %s  ' "$kind" "${killed[$kind]}"
done
echo
pool_stop
say "$JOBS jobs in $seconds s, seed $SEED"
passed

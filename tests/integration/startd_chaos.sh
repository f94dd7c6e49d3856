#!/bin/bash
# While jobs run, startds, starters and masters of the nodes are killed: no job is lost, each is committed once, and the
# nodes come back by themselves.
#
# TIMEOUT: 170
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_chaos.sh"

pool_init --nodes 3 --idle 2 --asleep
pool_start
cluster='' # set by chaos_jobs
chaos_jobs 40 2.2
for victim in $(plan startd starter master); do
    pause 100 900
    if is_done "$cluster" 40; then
        say "the jobs were done before the last kills"
        break
    fi
    # An awake node that has one; asleep ones are no aim.
    killed=0
    for _ in 1 2 3 4 5 6 7 8; do
        mapfile -t nodes < <(awake_nodes)
        [ ${#nodes[@]} -gt 0 ] || { sleep 0.5; continue; }
        node=${nodes[RANDOM % ${#nodes[@]}]}
        # A node whose master and startd are both gone has nobody left to start either again, as a machine that lost its
        # power: that is another story than this one.
        if [ -n "$(pids_of master "$node")" ] && [ -n "$(pids_of startd "$node")" ] &&
            [ -n "$(pids_of "$victim" "$node")" ] && kill_one "$victim" "$node"; then
            killed=1
            break
        fi
        sleep 0.3
    done
    [ $killed -eq 1 ] || say "no awake node had a $victim"
done
check_chaos 40 90
until_true 60 "all are asleep" is_asleep 3
pool_stop
passed

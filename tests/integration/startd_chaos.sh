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
chaos_jobs 40 0.7 2
for victim in $(plan startd starter master); do
    pause 100 900
    kill_on_a_node "$victim"
done
open_gate storm
check_chaos 40 90
until_true 60 "all are asleep" is_asleep 3
pool_stop
passed

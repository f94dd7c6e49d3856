#!/bin/bash
# While jobs run, each of the pool's daemons is killed five times: no job is lost, each is committed once, and the pool
# comes back by itself.
#
# TIMEOUT: 170
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_chaos.sh"

pool_init --nodes 3 --idle 2 --asleep
pool_start
chaos_jobs 50 0.8 2
for victim in $(plan collector schedd negotiator rooster shadow master); do
    pause 50 600
    kill_one "$victim" || fail "there is no $victim to be killed: it did not come back"
done
open_gate storm
check_chaos 50 90
until_true 40 "all daemons are there again" "$ROOST" power status
until_true 40 "all are asleep" is_asleep 3
for daemon in collector schedd negotiator rooster master; do
    equals "processes of the $daemon" "$(pids_of $daemon | wc -l)" 1
done
pool_stop
passed

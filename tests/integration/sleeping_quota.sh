#!/bin/bash
# Quotas of accounting groups in a pool whose machines are all asleep: a quota is a share of the whole pool, asleep or awake;
# no machine is woken beyond it, unless the group accepts surplus.
#
# TIMEOUT: 210
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

pool_init --nodes 4 --idle 1 --asleep
pool_charges_anybody
cat >>"$ROOST_CONFIG" <<'CONF'
NEGOTIATOR_INTERVAL = 1
GROUP_NAMES = "phys"
GROUP_QUOTA_DYNAMIC_phys = 0.5
CONF
pool_start
is_asleep 4 || fail "not all asleep after the start"

# of_phys COUNT TAG: jobs of the group, which wait for the gate TAG.
of_phys() {
    { echo "accounting_group = phys"; gated_jobs "$1" "$2"; } >"$WORK/phys.sub"
    submit "$WORK/phys.sub"
}
running() { "$ROOST" q "$1" -constraint 'JobStatus == 2' -af ProcId | wc -l; }
run_now() { [ "$(running "$1")" -eq "$2" ]; }
over_quota() { [ "$("$ROOST" q "$1" -constraint 'LastRejMatchReason == "group quota exceeded"' -af ProcId | wc -l)" -eq "$2" ]; }

say "half of the pool"
cluster=$(of_phys 4 half) || exit 1
until_true 40 "two of the jobs run" run_now "$cluster" 2
until_true 20 "the others are told why they do not" over_quota "$cluster" 2
open_gate half
until_true 40 "all are done" is_done "$cluster" 4
equals "machines woken" "$(wakes | wc -l)" 2
until_true 20 "asleep again" is_asleep 4

say "with what others leave"
echo 'GROUP_ACCEPT_SURPLUS_phys = true' >>"$ROOST_CONFIG"
kill -HUP "$(pids_of negotiator)"
cluster=$(of_phys 4 all) || exit 1
until_true 40 "four of the jobs run" run_now "$cluster" 4
open_gate all
until_true 40 "all are done" is_done "$cluster" 4
until_true 20 "asleep once more" is_asleep 4

say "a reason that does not hold any more is taken back, also while jobs wait for machines to wake"
echo 'GROUP_ACCEPT_SURPLUS_phys = false' >>"$ROOST_CONFIG"
kill -HUP "$(pids_of negotiator)"
cluster=$(of_phys 4 back) || exit 1
until_true 40 "two of the jobs run again" run_now "$cluster" 2
until_true 20 "the others are over the quota" over_quota "$cluster" 2
rooster=$(pids_of rooster)
kill -STOP "$rooster" # the machines that are matched now do not wake
echo 'GROUP_QUOTA_DYNAMIC_phys = 1.0' >>"$ROOST_CONFIG"
kill -HUP "$(pids_of negotiator)"
not_rejected() { [ "$("$ROOST" q "$cluster" -constraint 'JobStatus == 1 && LastRejMatchReason =?= undefined' -af ProcId | wc -l)" -eq 2 ]; }
until_true 20 "the reason is gone" not_rejected
kill -CONT "$rooster"
until_true 40 "four of the jobs run at last" run_now "$cluster" 4
open_gate back
until_true 40 "all are done" is_done "$cluster" 4
check_ledger
pool_stop
passed

#!/bin/bash
# An administrator takes machines out of work: drains that wait for jobs, locks of machines awake and asleep, rolling batches.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

pool_init --nodes 3 --cpus-per-node 1 --idle 86400
chmod 0777 "$OUT"
for node in 01 02 03; do echo 'MAXJOBRETIREMENTTIME = 0' >>"$POOL/nodes/wn$node/roost.conf"; done
pool_start
are_awake() { [ "$(awake_count)" -eq "$1" ]; }
until_true 30 "all are awake" are_awake 3

state_of() { "$ROOST" status -constraint "Machine == \"$1\"" -af State Activity | tr '\n' ' '; }
is_state() { [ "$(state_of "$1")" = "$2 " ]; }
# on NODE NUMBER: one job that runs there until the gate is open.
on() {
    gated_jobs 1 "$2" >"$WORK/job.sub"
    { echo "requirements = TARGET.Machine == \"$1\""; cat "$WORK/job.sub"; } >"$WORK/on.sub"
    submit "$WORK/on.sub" || exit 1
}
equals_locks() { [ "$("$ROOST" status -constraint 'PowerLocked =?= true' -af Machine | sort -u | tr '\n' ' ')" = "$1" ]; }
another_daemon() {
    local pid
    pid=$(pids_of "$1")
    [ -n "$pid" ] && [ "$pid" != "$2" ]
}
starts() { "$ROOST" history "$1" -af NumJobStarts JobStatus; }

say "graceful evicts a job without retirement time, and says so; peaceful waits for it"
one=$(on wn01 1)
two=$(on wn02 2)
until_true 30 "wn01 is busy" is_state wn01 "Claimed Busy"
until_true 30 "wn02 is busy" is_state wn02 "Claimed Busy"
"$ROOST" drain wn01 --peaceful --reason "new disk" >"$WORK/said" || fail "drain --peaceful"
grep -q '^wn01: draining peacefully, the jobs run to their end (request' "$WORK/said" || fail "$(cat "$WORK/said")"
"$ROOST" drain wn02 --graceful >"$WORK/said" || fail "drain --graceful"
grep -q '^Warning: no running job has retirement time' "$WORK/said" || fail "no warning: $(cat "$WORK/said")"
until_true 30 "wn02 is drained" is_state wn02 "Drained Idle"
is_state wn01 "Claimed Retiring" || fail "wn01 is $(state_of wn01)"
kill -9 "$(pids_of startd wn01)"
until_true 30 "wn01's next startd is draining" is_state wn01 "Claimed Retiring"
open_gate 1
until_true 30 "wn01 is drained" is_state wn01 "Drained Idle"
until_true 30 "its job is done" is_done "$one" 1
equals "starts and status of its job" "$(starts "$one")" "1 4"
"$ROOST" drain --cancel 'wn[01,02]' >/dev/null || fail "drain --cancel"
open_gate 2
until_true 30 "the evicted job is done" is_done "$two" 1

say "off after the jobs"
three=$(on wn03 3)
until_true 30 "wn03 is busy" is_state wn03 "Claimed Busy"
"$ROOST" power off wn03 --after-drain >"$WORK/said" || fail "power off --after-drain"
grep -q 'peacefully' "$WORK/said" || fail "$(cat "$WORK/said")"
is_state wn03 "Claimed Retiring" || fail "wn03 is $(state_of wn03)"
open_gate 3
until_true 30 "wn03 is off" are_awake 2
until_true 30 "its job is done" is_done "$three" 1
equals "starts and status of its job" "$(starts "$three")" "1 4"

# ---- locks: wn03 is off, wn01 and wn02 are awake and idle

said_by() { timeout 60 "$ROOST" "$@" >"$WORK/said" 2>&1 || fail "roost $*: $(cat "$WORK/said")"; }
says() { grep -q -e "$1" "$WORK/said" || fail "it does not say '$1': $(cat "$WORK/said")"; }
slot_says() { "$ROOST" status -constraint "Machine == \"$1\"" -af "${@:2}" | sort -u | tr '\n' ' '; }
why_says() { "$ROOST" why "$1" >"$WORK/said" 2>&1; grep -q -e "$2" "$WORK/said"; }
goes_to_sleep() { "$ROOST" power sleep "$1" >/dev/null 2>&1; } # a claim of an ended job may still be there
sleeps() {
    until_true 30 "$1 may sleep" goes_to_sleep "$1"
    until_true 30 "$1 is asleep" are_awake 2
}
is_idle() { [ "$("$ROOST" q "$1" -af JobStatus)" = 1 ]; }
submit_to() {
    { echo "requirements = $1"; script_jobs 1 "echo \$(Process)"; } >"$WORK/job.sub"
    submit "$WORK/job.sub" || exit 1
}
# A job elsewhere shows that the negotiator had its cycles while others waited.
other_job_runs() { until_true 30 "a job on wn01" is_done "$(submit_to 'TARGET.Machine == "wn01"')" 1; }

say "what is asleep can be switched off: no job wakes it, and the reason is shown"
said_by power on wn03
until_true 30 "wn03 is on" are_awake 3
sleeps wn03
said_by power off wn03 --reason "dusty fan"
says '^wn03 is asleep, and stays off until somebody switches the machine on by name$'
equals "its offline ad" "$(slot_says wn03 PowerKeptOff)" "true "
four=$(submit_to 'TARGET.Machine == "wn03"')
other_job_runs
is_idle "$four" || fail "the job of wn03 does not wait"
are_awake 2 || fail "a job woke wn03"
kept_off() { "$ROOST" power status wn03 >"$WORK/said"; grep -q 'dusty fan' "$WORK/said"; }
until_true 20 "power status shows the reason" kept_off
said_by status -offline
says 'dusty fan'
until_true 20 "why shows the reason of the machine" why_says wn03 'dusty fan'
until_true 20 "why shows the reason of the job" why_says "$four.0" 'dusty fan'
said_by power on wn03
until_true 60 "the job runs when it is switched on" is_done "$four" 1
until_true 30 "wn03 may sleep" goes_to_sleep wn03
said_by power off wn03 # on its way down
says '^wn03 is \(switched off\|asleep, and stays off until somebody switches the machine on by name\)$'
equals "its offline ad" "$(slot_says wn03 PowerKeptOff)" "true "
said_by power on wn03
until_true 30 "wn03 is on again" are_awake 3
sleeps wn03

say "locks hold for machines awake and asleep, and over kill -9 of collector and rooster"
{ echo 'requirements = TARGET.Machine == "wn02"'; gated_jobs 2 lock; } >"$WORK/job.sub"
pair=$(submit "$WORK/job.sub") || exit 1
until_true 30 "wn02 is busy" is_state wn02 "Claimed Busy"
echo 'NODE_GROUP_PAIR = wn[02-03]' >>"$ROOST_CONFIG"
said_by power lock @pair --reason "new switch" --until 2h
says '^wn02 is locked until '
until_true 20 "wn02 waits for its job" is_state wn02 "Claimed Retiring"
timeout 60 "$ROOST" power off wn02 --after-drain >"$WORK/said" 2>&1 && fail "two drains at once"
says 'wn02: .* it came with `roost power lock`: `roost drain --cancel` ends it, and the machine stays locked$'
open_gate lock
until_true 30 "its job is done" is_done "$pair" 1
until_true 20 "wn02 is idle" is_state wn02 "Unclaimed Idle"
until_true 20 "both are locked" equals_locks "wn02 wn03 "
five=$(submit_to 'TARGET.Machine == "wn03"')
six=$(submit_to 'TARGET.Machine == "wn02"')
for daemon in collector rooster negotiator; do
    pid=$(pids_of "$daemon")
    kill -9 "$pid"
    until_true 30 "another $daemon" another_daemon "$daemon" "$pid"
done
until_true 40 "the ads are back" are_awake 2
until_true 20 "both are locked again" equals_locks "wn02 wn03 "
other_job_runs
{ is_idle "$five" && is_idle "$six"; } || fail "a job of a locked machine does not wait"
are_awake 2 || fail "a job woke wn03"
said_by power on wn03
until_true 30 "wn03 is on by name" are_awake 3
equals "it is locked still" "$(slot_says wn03 PowerLocked PowerLockedReason)" "true new switch "
other_job_runs
is_idle "$five" || fail "a job was matched to wn03"
until_true 20 "why shows the lock of the machine" why_says wn03 'is locked by .*: new switch'
until_true 20 "why shows the lock to the job" why_says "$five.0" 'is locked by .*: new switch'
"$ROOST" status >"$WORK/said"
says '/Locked'
said_by power unlock --constraint 'PowerLocked =?= true'
says '^wn03 is no longer locked$'
until_true 30 "the jobs run" is_done "$five" 1
until_true 30 "the jobs run" is_done "$six" 1
until_true 30 "the jobs run" is_done "$pair" 2
timeout 60 "$ROOST" power unlock wn03 >"$WORK/said" 2>&1 && fail "unlocked twice"
says 'wn03 is not locked'
said_by power lock wn03 --until 1s
until_true 20 "a lock ends by itself" equals_locks ""

say "draining a sleeper locks it until the drain is cancelled"
sleeps wn03
said_by drain wn03 --reason "asbestos"
says '^wn03: asleep, and locked until the drain is cancelled$'
said_by drain status wn03
says 'Locked.*asbestos'
said_by drain --cancel wn03
said_by drain wn03 --then sleep
says '^wn03: asleep already$'
equals_locks ""
said_by drain wn03 --then off
says '^wn03: asleep, and stays off until .roost power on.$'
off=$(submit_to 'TARGET.Machine == "wn03"')
other_job_runs
is_idle "$off" || fail "the job of wn03 does not wait"
said_by power on wn03
until_true 60 "switched on by name, it takes jobs" is_done "$off" 1
sleeps wn03
said_by drain wn03 --reason "asbestos"
seven=$(submit_to 'TARGET.Machine == "wn03"')
other_job_runs
is_idle "$seven" || fail "the job of wn03 does not wait"
said_by drain --cancel wn03
until_true 60 "the job wakes it and runs" is_done "$seven" 1
sleeps wn03
said_by drain wn03 --reason "asbestos"
said_by power on wn03
until_true 30 "wn03 is on" are_awake 3
said_by drain --cancel wn03 # its startd has no request: the lock is the drain
until_true 20 "a cancel ends the lock of a machine that is awake again" equals_locks ""

say "rolling batches, by constraint"
until_true 20 "all are awake" are_awake 3
eight=$(on wn02 8)
nine=$(on wn03 9)
until_true 30 "wn02 is busy" is_state wn02 "Claimed Busy"
until_true 30 "wn03 is busy" is_state wn03 "Claimed Busy"
timeout 60 "$ROOST" drain --constraint 'Machine >= "wn02"' --peaceful --at-once 1 --then resume >"$WORK/rolled" 2>&1 &
rolling=$!
until_true 20 "wn02 waits for its job" is_state wn02 "Claimed Retiring"
other_job_runs
is_state wn03 "Claimed Busy" || fail "wn03 is $(state_of wn03)"
open_gate 8
until_true 20 "wn03 waits for its job" is_state wn03 "Claimed Retiring"
open_gate 9
wait "$rolling" || fail "the rolling drain: $(cat "$WORK/rolled")"
until_true 20 "both jobs are done" is_done "$eight" 1
until_true 20 "both jobs are done" is_done "$nine" 1

say "what somebody cancels is left out of a rolling batch, while it drains and before its turn"
ten=$(on wn01 10)
until_true 30 "wn01 is busy" is_state wn01 "Claimed Busy"
timeout 60 "$ROOST" drain 'wn[01-03]' --peaceful --at-once 1 --then resume >"$WORK/rolled" 2>&1 &
rolling=$!
until_true 20 "wn01 waits for its job" is_state wn01 "Claimed Retiring"
timeout 60 "$ROOST" drain --cancel wn02 >"$WORK/said" 2>&1 && fail "a cancel without a drain"
says 'wn02: the machine has no drain request'
left_out() { grep -q '^wn02: left out, because .* cancelled its draining' "$WORK/rolled"; }
until_true 20 "wn02 is left out" left_out
said_by drain --cancel wn01
wait "$rolling" && fail "the rolling drain does not fail: $(cat "$WORK/rolled")"
cp "$WORK/rolled" "$WORK/said"
says '^roost drain: wn01: the drain was cancelled by '
says '^roost drain: wn02: left out'
says '^roost drain: 2 of 3 machines failed$'
says '^wn03: request ended$'
until_true 20 "wn01 goes on with its job" is_state wn01 "Claimed Busy"
timeout 60 "$ROOST" drain wn01 --peaceful --wait >"$WORK/said" 2>&1 &
rolling=$!
until_true 20 "wn01 waits for its job" is_state wn01 "Claimed Retiring"
"$ROOST" drain --cancel wn01 >/dev/null || fail "drain --cancel"
wait "$rolling" && fail "--wait does not fail: $(cat "$WORK/said")"
says '^wn01: the drain was cancelled by '
open_gate 10
until_true 20 "its job is done" is_done "$ten" 1

say "a machine that is put to sleep while it is drained is shown as drained everywhere"
said_by drain wn03 --fast --reason "asbestos"
until_true 20 "wn03 is drained" is_state wn03 "Drained Idle"
sleeps wn03
drained() { [ "$("$ROOST" drain status wn03 -af DrainingState DrainedSlots DrainingSlots)" = "Drained 1 1" ]; }
until_true 20 "drain status shows it" drained
power_says() { "$ROOST" power status wn03 >"$WORK/said"; grep -q 'Off .*drain requested by .*: asbestos' "$WORK/said"; }
until_true 20 "so does power status" power_says
timeout 60 "$ROOST" drain --cancel wn03 >"$WORK/said" 2>&1 && fail "a cancel at a machine that is asleep"
says 'wn03: the machine is asleep and keeps its drain request'
said_by power on wn03
said_by power keep wn03 --until 1h # it boots
says '^wn03 stays up until '
said_by power keep wn03 --until now
until_true 30 "wn03 is on, and drained" is_state wn03 "Drained Idle"
said_by drain --cancel wn03

say "a machine that is on its way down is waited for, and then is what the drain would have made of it"
master=$(pids_of master wn03)
kill -STOP "$master" # it ends its daemons when it goes on
until_true 30 "wn03 may sleep" goes_to_sleep wn03
timeout 60 "$ROOST" drain --estimate wn03 >"$WORK/said" 2>&1 && fail "wn03 does not go down"
says 'is going down'
timeout 60 "$ROOST" drain wn03 --then sleep >"$WORK/drained" 2>&1 &
drain=$!
timeout 60 "$ROOST" drain wn02 --estimate >/dev/null || fail "an estimate"
kill -CONT "$master"
wait "$drain" || fail "the drain of a machine that goes down: $(cat "$WORK/drained")"
equals "what it says" "$(cat "$WORK/drained")" "wn03: asleep already"
said_by power lock nosuch
says 'the pool knows no machine of that name yet'
said_by power unlock nosuch
passed

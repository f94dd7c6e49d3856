#!/bin/bash
# What jobs say of themselves is done: a job that failed runs again until it did well or was tried often enough; exits
# hold; a completed job stays while it says so; a job that runs too long, or that its policy is against, is held,
# released, removed or vacated.
#
# TIMEOUT: 90
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --cpus-per-node 4
printf '%s\n' 'PERIODIC_EXPR_INTERVAL = 1' 'MAX_NEXT_JOB_START_DELAY = 2' >>"$POOL/roost.conf"
pool_start
chmod 0777 "$OUT" # jobs may run as somebody else

q() { "$ROOST" q "$@" 2>/dev/null; }
h() { "$ROOST" history "$@" 2>/dev/null; }
is() { [ "$(q "$1" -af "${@:3}")" = "$2" ]; }

# job NAME SCRIPT LINE...: a submit file whose job runs SCRIPT with sh.
job() {
    local name=$1 script=$2
    shift 2
    {
        echo "executable = /bin/sh"
        echo "transfer_executable = false"
        echo "arguments = \"-c '$script'\""
        echo "initialdir = $OUT"
        echo "output = $name.out"
        echo "request_memory = 1"
        printf '%s\n' "$@"
        echo "queue"
    } >"$WORK/$name.sub"
    submit "$WORK/$name.sub"
}

say "a job is tried again until it does well"
third=$(job third "echo x >>$OUT/third.runs; echo run; test \$(wc -l <$OUT/third.runs) -ge 3" \
    'max_retries = 5') || exit 1
never=$(job never "echo x >>$OUT/never.runs; exit 7" \
    'max_retries = 2') || exit 1
killed=$(job killed "kill -9 \$\$" 'on_exit_remove = ExitBySignal == false || NumJobCompletions >= 2') || exit 1
say "an exit holds, and a release runs the job again"
exit_hold=$(job exit_hold "echo x >>$OUT/exit_hold.runs; exit 3" 'on_exit_hold = ExitCode == 3 && NumJobCompletions < 2' \
    'on_exit_hold_reason = strcat("code ", ExitCode)' 'on_exit_hold_subcode = 30 + ExitCode') || exit 1
say "a completed job stays"
stays=$(job stays "echo here" 'leave_in_queue = JobStatus == 4') || exit 1
leaves=$(job leaves "echo here" 'leave_in_queue = JobStatus == 4 && time() - CompletionDate < 2') || exit 1

until_true 40 "the third run is the last" is_done "$third" 1
equals "how the third run ended" "$(h "$third" -af JobStatus ExitCode NumJobCompletions NumJobStarts)" "4 0 3 3"
equals "its output" "$(cat "$OUT/third.out")" run
until_true 30 "it is given up" is_done "$never" 1
equals "how the last run ended" "$(h "$never" -af JobStatus ExitCode NumJobCompletions ExitStatus)" "4 7 3 7"
equals "runs" "$(wc -l <"$OUT/never.runs")" 3
until_true 30 "the one that is killed is over" is_done "$killed" 1
equals "how it ended" "$(h "$killed" -af JobStatus ExitBySignal ExitSignal NumJobCompletions ExitCode)" "4 true 9 2 undefined"

until_true 20 "the exit holds it" is "$exit_hold" "5 3 33" JobStatus HoldReasonCode HoldReasonSubCode
equals "why" "$(q "$exit_hold" -af HoldReason ExitCode RemoteHost)" "code 3 3 undefined"
"$ROOST" release "$exit_hold" >/dev/null || fail "roost release"
until_true 20 "it completes after its second run" is_done "$exit_hold" 1
equals "its runs" "$(wc -l <"$OUT/exit_hold.runs") $(h "$exit_hold" -af JobStatus NumHolds)" "2 4 1"

until_true 20 "it stays as completed" is "$stays" 4 JobStatus
equals "its output" "$(cat "$OUT/stays.out")" here
equals "nothing of it is in the history" "$(h "$stays" -af ClusterId)" ""
until_true 20 "the one that stays for a moment leaves" is_done "$leaves" 1
equals "how it left" "$(h "$leaves" -af JobStatus ExitCode)" "4 0"

say "a restart changes nothing of that; removing ends it"
pool_stop
pool_start
equals "it is still there" "$(q "$stays" -af JobStatus ExitCode)" "4 0"
! "$ROOST" hold "$stays" 2>/dev/null || fail "a completed job was held"
"$ROOST" rm "$stays" >/dev/null || fail "roost rm of a completed job"
equals "it left as completed" "$(h "$stays" -af JobStatus) $(q "$stays" -af JobStatus)" "4 "

say "a claim is kept for a job that is still to come"
keep=$(job keep "true" 'keep_claim_idle = 30') || exit 1
until_true 20 "it is done" is_done "$keep" 1
slot=$(h "$keep" -af LastRemoteHost)
kept() { [ "$("$ROOST" status "$slot" -af State Activity)" = "Claimed Idle" ]; }
until_true 10 "its slot lies idle, but claimed" kept
more=$(job more "true" 'request_memory = 2') || exit 1 # another kind: not for that claim
until_true 20 "another job is done" is_done "$more" 1
kept || fail "the claim was not kept"

say "a job keeps the next one waiting, no longer than the schedd lets it"
delay=$(job delay "true" 'next_job_start_delay = 10 * 60') || exit 1
until_true 20 "it is done" is_done "$delay" 1
delayed=$(job delayed "true") || exit 1
until_true 20 "the next one is done" is_done "$delayed" 1
grep -qs "job.start_waits.*job=$delayed.0" "$POOL"/log/* "$POOL"/*/log/* || fail "nothing kept the next job waiting"

say "a job whose output is newer than its input is not run"
echo data >"$OUT/flow.in"
flow_lines=('transfer_input_files = flow.in' 'transfer_output_files = flow.made' 'skip_if_dataflow = true' 'should_transfer_files = YES'
    "log = $WORK/flow.log")
flow() { job flow "echo run >>$OUT/flow.runs; cat flow.in >flow.made" "${flow_lines[@]}"; }
made=$(flow) || exit 1
until_true 20 "its output was not there: it runs" is_done "$made" 1
touch -d '1 hour ago' "$OUT/flow.in"
skipped=$(flow) || exit 1
until_true 20 "now it does not" is_done "$skipped" 1
equals "how it ended" "$(h "$skipped" -af JobStatus ExitCode DataflowJobSkipped NumJobStarts)" "4 0 true 0"
"$ROOST" wait "$WORK/flow.log" "$skipped" >/dev/null || fail "roost wait does not know that it is over"
grep -q "^046 ($(printf %03d "$skipped")\.000\.000)" "$WORK/flow.log" || fail "no event 046: $(cat "$WORK/flow.log")"
touch -d '1 hour' "$OUT/flow.in"
remade=$(flow) || exit 1
until_true 20 "its input is newer: it runs" is_done "$remade" 1
equals "its runs" "$(wc -l <"$OUT/flow.runs")" 2

say "a job that waits for its time, and one that comes too late"
begin=$(($(date +%s) + 3))
later=$(job later "date +%s >$OUT/later.began" "deferral_time = $begin" 'deferral_window = 30') || exit 1
late=$(job late "true" "deferral_time = $((begin - 100))" 'deferral_window = 10' '+Requirements = true') || exit 1
cron=$(job cron "true" 'cron_minute = */5' 'cron_prep_time = 0' 'on_exit_remove = false') || exit 1
equals "a job with cron times has the next of them" "$(q "$cron" -af 'DeferralTime % 300' 'DeferralTime >= QDate && DeferralTime <= time() + 300')" "0 true"
"$ROOST" rm "$cron" >/dev/null || fail "roost rm of a job that waits for its time"
until_true 30 "the one that is too late is held" is "$late" "5 20" JobStatus HoldReasonCode
until_true 40 "the other runs" is_done "$later" 1
[ "$(cat "$OUT/later.began")" -ge "$begin" ] || fail "it began at $(cat "$OUT/later.began"), not at $begin"
waiting=$(job waiting "true" "deferral_time = $((begin + 1000))" 'deferral_window = 10' 'deferral_prep_time = 2000') || exit 1
until_true 20 "it waits on a slot" is "$waiting" Claimed ClaimState
until_true 20 "its slot is busy with waiting" grep -qs 'job.deferred.*job='"$waiting.0" "$POOL"/nodes/*/log/*
"$ROOST" rm "$waiting" >/dev/null || fail "roost rm of a job that waits on its slot"

say "each kind of end has its signal"
signals='for s in USR1 USR2 HUP TERM; do trap "echo $s >>'"$OUT/signals"'; exit 0" $s; done; echo run >>'"$OUT/signals"'; while :; do sleep 0.1; done'
told() { [ "$(tr '\n' ' ' <"$OUT/signals")" = "$1" ]; } # no run begins before the last has ended
: >"$OUT/signals" && chmod 0666 "$OUT/signals"
printf '%s\n' "$signals" >"$OUT/signals.sh"
told_of=$(job signals ". $OUT/signals.sh" 'kill_sig = SIGUSR1' 'hold_kill_sig = 1' 'remove_kill_sig = SIGUSR2') || exit 1
until_true 20 "it runs" told "run " # held at once: the schedd may not know yet that it began
"$ROOST" hold "$told_of" >/dev/null || fail "hold"
until_true 20 "held by its signal" told "run HUP "
"$ROOST" release "$told_of" >/dev/null || fail "release"
until_true 20 "it runs again" told "run HUP run "
until_true 20 "and is known to run" is "$told_of" 2 JobStatus
"$ROOST" vacate "$told_of" >/dev/null || fail "vacate"
until_true 20 "vacated by its signal" told "run HUP run USR1 run "
until_true 20 "and is known to run" is "$told_of" 2 JobStatus
"$ROOST" rm "$told_of" >/dev/null || fail "rm"
until_true 20 "removed by its signal" told "run HUP run USR1 run USR2 "
: >"$OUT/signals"
told_of=$(job signals ". $OUT/signals.sh" 'want_graceful_removal = false') || exit 1
until_true 20 "another runs" told "run "
until_true 20 "and is known to run" is "$told_of" 2 JobStatus
"$ROOST" rm "$told_of" >/dev/null || fail "rm"
until_true 20 "it is gone" grep -qs "job.ended.*job=$told_of.0" "$POOL"/nodes/*/log/*
equals "at once" "$(cat "$OUT/signals")" run

say "policies of running jobs"
long=$(job long "sleep 300" 'allowed_execute_duration = 1') || exit 1
once=$(job once "sleep 300" 'periodic_hold = JobStatus == 2 && NumHolds =?= undefined' 'periodic_hold_subcode = 5' \
    'periodic_release = HoldReasonSubCode == 5') || exit 1
gone=$(job gone "sleep 300" 'periodic_remove = JobStatus == 2' '+PeriodicRemoveReason = "enough"') || exit 1
again=$(job again "sleep 300" 'periodic_vacate = NumJobStarts == 1') || exit 1
until_true 30 "the long one is held" is "$long" "5 47" JobStatus HoldReasonCode
equals "why" "$(q "$long" -af HoldReason)" "The job exceeded allowed execute duration of 00:01"
until_true 30 "the one runs again after it was held once" is "$once" "2 2 1" JobStatus NumJobStarts NumHolds
until_true 30 "one is removed" is_done "$gone" 1
equals "how" "$(h "$gone" -af JobStatus RemoveReason)" "3 enough"
until_true 30 "one is moved" is "$again" "2 2" JobStatus NumJobStarts
"$ROOST" rm -all >/dev/null || fail "roost rm -all"
pool_stop
passed

#!/bin/bash
# roost why in a real pool: clauses of either side, changes that match, machines that sleep or wake, jobs in every state;
# what it suggests is done, and the job runs.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

pool_init --nodes 2 --cpus-per-node 1 --asleep
# One node runs only jobs that say so.
cat >>"$POOL/nodes/wn02/roost.conf" <<'END'
START = "TARGET.WantSecond =?= true"
END
pool_start
until_true 20 "both nodes are in the pool, asleep" is_asleep 2

# job [LINE...]: submits a job with these commands; prints its number
job() {
    {
        printf '%s\n' "executable = /bin/true" "transfer_executable = false" "initialdir = $OUT" "$@" queue
    } >"$WORK/job.sub"
    submit "$WORK/job.sub"
}
why() { "$ROOST" why "$@" 2>&1; }
# says TEXT ARGUMENT...: roost why ARGUMENT... has that text
says() {
    local text=$1 got
    shift
    got=$(why "$@")
    [[ $got == *"$text"* ]] || fail "roost why $* does not say '$text': $got"
}
reason() { why "$1" -af Reason; }
reason_is() { [ "$(reason "$1")" = "$2" ]; }
is_complete() { is_done "$1" 1; }

say "a request that no machine can meet"
huge=$(job "request_memory = 99999999") || exit 1
until_true 10 "its request is seen" eval '[ "$("$ROOST" status -any -constraint "MyType == \"Request\"" -af Name | wc -l)" -ge 1 ]'
equals "why" "$(reason "$huge.0")" NoMatch
says "matches none of 2 slots (0 awake, 2 asleep)" "$huge"
rejected() { [ "$("$ROOST" q "$huge" -af LastRejMatchReason)" = "no match found" ]; }
until_true 10 "the negotiator's word is in the job's ad" rejected
says "ago: no match found." "$huge"
equals "age of the word" "$("$ROOST" q "$huge" -af 'time() - LastRejMatchTime < 60 && LastRejMatchNegotiator =!= undefined')" true
says "TARGET.Memory >= RequestMemory" "$huge.0"
says "Start: TARGET.WantSecond =?= true" "$huge.0"
equals "machines that were woken for it" "$(awake_count)" 0
memory=$(why "$huge" -af 'Changes[0].Edits[0].Value')
equals "what it would take" "$memory" "$("$ROOST" status -constraint 'Machine == "wn01"' -af Memory)"
says "RequestMemory = $memory instead of 99999999: 1 slot (0 awake, 1 asleep)" "$huge"
"$ROOST" rm "$huge" >/dev/null

say "the suggestion, followed, runs"
fits=$(job "request_memory = $memory") || exit 1
until_true 60 "it has run" is_complete "$fits"
equals "why a completed job" "$(reason "$fits.0")" Completed
says "completed at" "$fits"
says "exit status 0" "$fits"

say "a literal that no machine has"
windows=$(job 'requirements = TARGET.OpSys == "WINDOWS"') || exit 1
says 'TARGET.OpSys == "LINUX" instead of TARGET.OpSys == "WINDOWS"' "$windows"
says 'OpSys is "LINUX"' "$windows"

say "START of the machine that is wanted"
second=$(job 'requirements = TARGET.Machine == "wn02"') || exit 1
says "WantSecond = true (not set now): 1 slot" "$second"
says 'TARGET.Machine == "wn01" instead of TARGET.Machine == "wn02"' "$second"
willing=$(job 'requirements = TARGET.Machine == "wn02"' "+WantSecond = true") || exit 1
until_true 60 "the willing one has run" is_complete "$willing"

say "Requirements that is error, a held job, a running one"
error=$(job 'requirements = "x" + 1') || exit 1
equals "why" "$(reason "$error")" RequirementsError
says '"x" + 1   (error)' "$error"
held=$(job "hold = true") || exit 1
equals "why" "$(reason "$held")" Held
says "held since" "$held"
cat >"$WORK/sleep.sub" <<END
executable = /bin/sleep
arguments = 300
transfer_executable = false
queue 2
END
running=$(submit "$WORK/sleep.sub") || exit 1
until_true 60 "one runs" reason_is "$running.0" Running
says "running on slot1@wn01" "$running.0"
until_true 10 "the other waits" reason_is "$running.1" Busy
says "all busy: 1 with your jobs" "$running.1"
says "$running.0" -user "$JOBS_OF"
"$ROOST" rm "$running" >/dev/null
until_true 10 "it is removed" reason_is "$running.0" Removed

say "from the slot's side"
says "idle job" -slot slot1@wn02
says 'ruled out by the slot'"'"'s clause' wn02

say "who cannot be asked about"
why "$second" 9999 >/dev/null
equals "exit status of an unknown job" $? 1
says "no such job: 9999" 9999
says "no such slot or machine: 'nosuch'" nosuch
"$ROOST" why >/dev/null 2>&1
equals "exit status without a job" $? 2

equals "roost help why" "$("$ROOST" help why)" "$("$ROOST" why --help)"
equals "roost power keep --help" "$("$ROOST" power keep --help)" "$("$ROOST" help power)"
equals "roost why -help" "$("$ROOST" why -help)" "$("$ROOST" why --help)"
equals "roost status -version" "$("$ROOST" status -version)" "$("$ROOST" --version)"

say "the form of condor_q"
"$ROOST" q -better-analyze "$second.0" >"$WORK/analysis" || fail "roost q -better-analyze"
grep -q "^The Requirements expression for job $second.000 reduces to these conditions:$" "$WORK/analysis" || fail "no conditions"
grep -q "^   No machines matched the job's constraints$" "$WORK/analysis" || fail "no warning"

say "with a token to read with only, over the network"
"$ROOST" token create --identity reader@personal --scope READ --file "$WORK/reader.token" >/dev/null || fail "roost token"
sed 's,^SPOOL = .*,,; s,^LOCAL_DIR = .*,LOCAL_DIR = "'"$WORK/elsewhere"'",' "$POOL/roost.conf" >"$WORK/remote.conf"
mkdir "$WORK/elsewhere"
ROOST_CONFIG=$WORK/remote.conf ROOST_TOKEN_FILE=$WORK/reader.token why "$second" >"$WORK/remote.out" ||
    fail "roost why from elsewhere: $(cat "$WORK/remote.out")"
grep -q "WantSecond = true" "$WORK/remote.out" || fail "roost why from elsewhere: $(cat "$WORK/remote.out")"
passed

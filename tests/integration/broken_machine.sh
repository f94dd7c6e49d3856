#!/bin/bash
# A machine whose sandbox directory cannot be used does not eat the queue: it is avoided for a while, the jobs run elsewhere; where
# there is no other machine, a job is held after MAX_STARTER_FAILURES with a reason that names the machine, and runs when the
# machine is well again.  The same for one whose starters die.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

pool_init --nodes 2 --cpus-per-node 1
cat >>"$ROOST_CONFIG" <<END
MAX_STARTER_FAILURES = 4
STARTER_FAILURE_BACKOFF = "100ms"
END
for node in wn01 wn02; do
    echo 'HIBERNATE = "NONE"' >>"$POOL/nodes/$node/roost.conf"
done
pool_start

failures() { grep -c ' starter.spawn ' "$POOL/nodes/$1/log/StartLog" 2>/dev/null; }
logged() { grep -qs "$2" "$POOL/log/$1"; }
break_sandboxes() { mv "$POOL/nodes/$1/execute" "$POOL/nodes/$1/execute.away" && : >"$POOL/nodes/$1/execute"; }
mend_sandboxes() { rm "$POOL/nodes/$1/execute" && mv "$POOL/nodes/$1/execute.away" "$POOL/nodes/$1/execute"; }
is_held() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null)" = 5 ]; }
# start_of LINE...: submits /bin/true with these.
start_of() {
    printf '%s\n' 'executable = /bin/true' 'transfer_executable = false' "log = $OUT/log" "$@" queue >"$WORK/true.sub"
    submit "$WORK/true.sub"
}

say "the machine that the jobs would rather have cannot run any"
break_sandboxes wn01
printf '%s\n' 'executable = /bin/true' 'transfer_executable = false' 'rank = Machine =?= "wn01"' 'queue 6' >"$WORK/six.sub"
cluster=$(submit "$WORK/six.sub") || exit 1
until_true 40 "six jobs are done on the other" is_done "$cluster" 6
equals "where they ran" "$("$ROOST" history "$cluster" -af LastRemoteHost | sort -u)" "slot1@wn02"
equals "how often each was started" "$("$ROOST" history "$cluster" -af 'NumJobStarts' | sort -u)" 1

say "a job that must have it is held, and says why"
cluster=$(start_of 'requirements = Machine == "wn01"') || exit 1
until_true 40 "it is held" is_held "$cluster"
equals "why" "$("$ROOST" q "$cluster" -af HoldReasonCode HoldReasonSubCode NumStarterFailures)" "6 0 4"
equals "what it has begun" "$("$ROOST" q "$cluster" -af 'NumShadowStarts' 'NumJobStarts ?: 0')" "4 0"
"$ROOST" q "$cluster" -af HoldReason |
    grep -q "^Error from slot1@wn01: the starter could not be started: .*execute: is not a directory (the job could not be run 4 times)" ||
    fail "HoldReason: $("$ROOST" q "$cluster" -af HoldReason)"
logged SchedLog ' machine.avoided .*machine=wn01' || fail "nothing is told of the machine"
[ "$(failures wn01)" -le 20 ] || fail "wn01 has failed $(failures wn01) times"

say "the machine is mended, the job released"
mend_sandboxes wn01
"$ROOST" release "$cluster" >/dev/null || fail "roost release"
until_true 40 "it is done" is_done "$cluster" 1
equals "where it ran" "$("$ROOST" history "$cluster" -af LastRemoteHost)" "slot1@wn01"

say "starters that die"
printf '#!/bin/bash\nexit 1\n' >"$WORK/dies" && chmod 0755 "$WORK/dies"
echo "STARTER = \"$WORK/dies\"" >>"$POOL/nodes/wn02/roost.conf"
kill -HUP "$(pids_of startd wn02)"
has_read() { grep -qs ' config.reload' "$POOL/nodes/wn02/log/StartLog"; }
until_true 20 "it has read its configuration" has_read
cluster=$(start_of 'requirements = Machine == "wn02"') || exit 1
until_true 40 "it is held" is_held "$cluster"
equals "why" "$("$ROOST" q "$cluster" -af HoldReasonCode HoldReasonSubCode NumStarterFailures)" "6 0 4"
"$ROOST" q "$cluster" -af HoldReason | grep -q "^Error from slot1@wn02: starter died (the job could not be run 4 times)" ||
    fail "HoldReason: $("$ROOST" q "$cluster" -af HoldReason)"
equals "failures told in its log" "$(grep -c 'Shadow exception' "$OUT/log")" 8

say "a machine that is avoided for minutes is named by who is asked"
echo 'STARTER_FAILURE_BACKOFF = "60s"' >>"$ROOST_CONFIG"
kill -HUP "$(pids_of schedd)"
cluster=$(start_of 'requirements = Machine == "wn02"') || exit 1
tells_avoided() { "$ROOST" status -problems 2>/dev/null | grep -q "Scheduler *gives no jobs to wn02 for a while"; }
until_true 40 "-problems says that the schedd avoids the machine" tells_avoided
tells_why() { "$ROOST" why "$cluster.0" 2>/dev/null | grep -q "starters failed on wn02, so the schedd gives it no jobs"; }
until_true 10 "so does why: $("$ROOST" why "$cluster.0")" tells_why
pool_stop
passed

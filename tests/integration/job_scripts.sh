#!/bin/bash
# What runs around a job: the site's wrapper and hooks, the job's own PreCmd and PostCmd; what holds it when they fail.
#
# TIMEOUT: 90
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --cpus-per-node 2
cat >>"$POOL/nodes/wn01/roost.conf" <<END
HIBERNATE = "NONE"
USER_JOB_WRAPPER = "$WORK/wrapper"
STARTER_DEFAULT_JOB_HOOK_KEYWORD = "SITE"
SITE_HOOK_PREPARE_JOB = "$WORK/prepare"
SITE_HOOK_JOB_EXIT = "$WORK/exit"
GONE_HOOK_JOB_EXIT = "$WORK/no-such-hook"
SITE_HOOK_UPDATE_JOB_INFO = "$WORK/info"
STARTER_INITIAL_UPDATE_INTERVAL = 1
STARTER_UPDATE_INTERVAL = 1
STARTER_JOB_ENVIRONMENT = "SITE=north"
END
chmod 0777 "$OUT"
script() { { echo '#!/bin/sh'; cat; } >"$WORK/$1" && chmod 0755 "$WORK/$1"; }
script wrapper <<END
echo "wrapper of \$1" >>$OUT/trace
[ "\$2" != refused ] || { echo "not on this machine" >"\$_CONDOR_WRAPPER_ERROR_FILE"; exit 1; }
exec "\$@"
END
script prepare <<END
grep -q '^MyWish = "no"' && exit 3
echo prepare >>$OUT/trace
echo made >prepared
END
script exit <<END
echo "hook \$1 \$(sed -n 's/^ExitCode = //p')" >>$OUT/trace
END
script info <<END
cat >$OUT/told.new
mv $OUT/told.new $OUT/told
echo "\$(id -u) \$(readlink /proc/self/ns/pid) \$PWD" >>$OUT/informed
[ "\$(wc -l <$OUT/informed)" -lt 2 ] || exec sleep 600
END
script before <<END
echo "before \$1" >>$OUT/trace
exit \${FAILS:-0}
END
script after <<END
echo "after \$1 \$(cat made-by-job)" >>$OUT/trace
END
script body <<END
echo "job \$SITE \$BATCH_SYSTEM \$(cat prepared)" >>$OUT/trace
echo made >made-by-job
[ "\$1" != waits ] || {
    echo "\$(id -u) \$(readlink /proc/self/ns/pid) \$PWD" >$OUT/waits
    $(gate end)
}
END
pool_start

job() {
    {
        printf 'executable = %s\ninitialdir = %s\noutput = out\nerror = err\n' "$WORK/body" "$OUT"
        printf 'transfer_input_files = %s, %s\n' "$WORK/before" "$WORK/after"
        printf '%s\n' 'transfer_output_files = ""' 'request_memory = 1' "$@" queue
    } >"$WORK/job.sub"
    submit "$WORK/job.sub"
}
is_held() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null)" = 5 ]; }
why() { "$ROOST" q "$1" -af HoldReasonCode HoldReason; }

say "in order"
cluster=$(job 'My.PreCmd = "before"' 'My.PreArguments = "one"' 'My.PostCmd = "after"' 'My.PostArguments = "two"') || exit 1
until_true 20 "it is done" is_done "$cluster" 1
check_committed "$cluster" 1
equals "what ran" "$(cat "$OUT/trace")" "prepare
before one
wrapper of $(grep -o 'wrapper of .*' "$OUT/trace" | cut -d' ' -f3-)
job north HTCondor made
after two made
hook exit 0"
grep -q '^wrapper of /.*/sandbox/condor_exec.exe$' "$OUT/trace" || fail "the wrapper got $(cat "$OUT/trace")"

say "beside it"
rm "$OUT/trace"
cluster=$(job 'My.MyWish = "yes"' 'My.HookKeyword = "GONE"' 'arguments = waits') || exit 1
told_twice() { [ "$(wc -l <"$OUT/informed")" = 2 ] 2>/dev/null; }
until_true 20 "the hook was told twice" told_twice
equals "as whom and where it runs" "$(sort -u "$OUT/informed")" "$(cat "$OUT/waits")"
for line in 'JobState = "Running"' 'MyWish = "yes"' 'JobPid = [1-9]' 'JobStartDate = [1-9]' 'NumPids = [1-9]' 'RemoteUserCpu = '; do
    grep -q "^$line" "$OUT/told" || fail "the hook was not told $line: $(cat "$OUT/told")"
done
open_gate end
until_true 20 "it is done, whatever the hooks do" is_done "$cluster" 1
check_committed "$cluster" 1
equals "no hook while another runs" "$(wc -l <"$OUT/informed")" 2

say "what fails"
rm "$OUT/trace"
cluster=$(job 'My.PreCmd = "before"' 'My.SuccessPreExitCode = 0' 'environment = "FAILS=4"') || exit 1
until_true 20 "a failed PreCmd holds" is_held "$cluster"
why "$cluster" | grep -qx "43 Error from slot[12]@wn01: PreCmd exited with 4" || fail "why: $(why "$cluster")"
grep -q '^job' "$OUT/trace" && fail "the job ran after its PreCmd had failed"
"$ROOST" rm "$cluster" >/dev/null
cluster=$(job 'My.MyWish = "no"') || exit 1
until_true 20 "a failed hook holds" is_held "$cluster"
why "$cluster" | grep -qx "19 Error from slot[12]@wn01: prepare hook exited with 3" || fail "why: $(why "$cluster")"
"$ROOST" rm "$cluster" >/dev/null
cluster=$(job 'arguments = refused') || exit 1
until_true 20 "a wrapper that refuses holds" is_held "$cluster"
why "$cluster" | grep -qx "6 Error from slot[12]@wn01: job wrapper failed: not on this machine" || fail "why: $(why "$cluster")"
"$ROOST" rm "$cluster" >/dev/null
pool_stop
passed

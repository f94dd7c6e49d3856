#!/bin/bash
# A starter that stood still (SIGSTOP) for longer than the lease goes on with its work, because the startd kept the claim.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

LEASE=6
pool_init --nodes 2 --cpus-per-node 1
cat >>"$ROOST_CONFIG" <<END
LEASE_MARGIN = 2
HIBERNATE = "NONE"
END
pool_start

# beat NAME: submits a job that writes "ID TIME" into $OUT/beats.NAME ten times a second until its gate opens; ID is the
# time at which the run began.
beat() {
    cat >"$WORK/$1.job" <<END
#!/usr/bin/perl
use Time::HiRes qw(time sleep);
open(my \$beats, '>>', '$OUT/beats.$1') or die;
\$beats->autoflush(1);
my \$began = sprintf('%.3f', time);
until (-e '$WORK/gate.$1') {
    printf \$beats "%s %.3f\n", \$began, time;
    sleep 0.1;
}
END
    sed -i '2i use IO::Handle;' "$WORK/$1.job"
    chmod 0755 "$WORK/$1.job"
    printf '%s\n' "executable = $WORK/$1.job" 'transfer_executable = false' 'request_memory = 64' \
        "job_lease_duration = $LEASE" queue >"$WORK/$1.sub"
    submit "$WORK/$1.sub"
}
# has_beaten NAME RUNS: so many runs have written.
has_beaten() { [ -e "$OUT/beats.$1" ] && [ "$(cut -d' ' -f1 "$OUT/beats.$1" | sort -u | wc -l)" -ge "$2" ]; }
# beats_after NAME TIME: the last line is of that time or later.
beats_after() { [ "$(tail -n 1 "$OUT/beats.$1" | awk -v t="$2" '{ print ($2 >= t) }')" = 1 ]; }
# node_of CLUSTER: the node on which the job runs.
node_of() { "$ROOST" q "$1" -af RemoteHost 2>/dev/null | sed 's/.*@//'; }
is_running() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null)" = 2 ]; }

say "a starter that alone stands still for longer than the lease"
cluster=$(beat alone) || exit 1
until_true 40 "it runs" has_beaten alone 1
until_true 20 "the schedd knows" is_running "$cluster"
starter=$(pids_of starter "$(node_of "$cluster")")
kill -STOP "$starter" || fail "kill -STOP $starter"
until_true 60 "the job goes on meanwhile" beats_after alone $(($(date +%s) + 2 * LEASE))
kill -CONT "$starter"
until_true 20 "the starter has looked at its lease" grep -qs ' starter.\(late\|gap\) ' "$POOL"/nodes/wn0[12]/log/StarterLog*
open_gate alone
until_true 40 "it is done" is_done "$cluster" 1
equals "its runs" "$("$ROOST" history "$cluster" -af JobStatus ExitCode NumJobStarts)" "4 0 1"
equals "what it did" "$(cut -d' ' -f1 "$OUT/beats.alone" | sort -u | wc -l)" 1
pool_stop
passed

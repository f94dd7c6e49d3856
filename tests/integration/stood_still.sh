#!/bin/bash
# Daemons that stand still (SIGSTOP) for longer than the lease: a starter alone goes on with its work, because the startd
# kept the claim; where startd and starter stand still together, the job is killed at the end of its lease, also when the
# init process of its container is stopped, so it never runs twice at a time.  A schedd that stood still hears of such an end.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

LEASE=6
pool_init --nodes 2 --cpus-per-node 1
cat >>"$ROOST_CONFIG" <<END
CLAIM_LEASE_DURATION = $LEASE
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
    printf '%s\n' "executable = $WORK/$1.job" 'transfer_executable = false' 'request_memory = 64' queue >"$WORK/$1.sub"
    submit "$WORK/$1.sub"
}
# has_beaten NAME RUNS: so many runs have written.
has_beaten() { [ -e "$OUT/beats.$1" ] && [ "$(cut -d' ' -f1 "$OUT/beats.$1" | sort -u | wc -l)" -ge "$2" ]; }
# beats_after NAME TIME: the last line is of that time or later.
beats_after() { [ "$(tail -n 1 "$OUT/beats.$1" | awk -v t="$2" '{ print ($2 >= t) }')" = 1 ]; }
# node_of CLUSTER: the node on which the job runs.
node_of() { "$ROOST" q "$1" -af RemoteHost 2>/dev/null | sed 's/.*@//'; }
is_running() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null)" = 2 ]; }
# keepers NODE: the init process of the job's container, and the process above it that keeps the lease.
keepers() {
    local pid comm
    for pid in $(traces "$POOL/nodes/$1/"); do
        { read -r comm <"/proc/$pid/comm"; } 2>/dev/null && [ "$comm" = roost-keeper ] && echo "$pid"
    done
}

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

say "the schedd alone stands still for longer than the lease: it hears at once that the machine has ended the run"
margin() {
    sed -i "s/^LEASE_MARGIN = .*/LEASE_MARGIN = $1/" "$ROOST_CONFIG"
    "$ROOST" config reload >"$WORK/reload" || fail "config reload"
}
margin 120
cluster=$(beat schedd) || exit 1
until_true 40 "it runs" has_beaten schedd 1
until_true 20 "the schedd knows" is_running "$cluster"
node=$(node_of "$cluster")
schedd=$(pids_of schedd)
kill -STOP "$schedd" || fail "kill -STOP $schedd"
is_free() { [ "$("$ROOST" status "slot1@$node" -af State 2>/dev/null)" = Unclaimed ]; }
until_true 40 "the slot is free" is_free
kill -CONT "$schedd"
until_true 20 "it runs again" has_beaten schedd 2
open_gate schedd
until_true 40 "it is done" is_done "$cluster" 1
margin 2

if ! unshare --mount --pid --fork true 2>/dev/null && ! unshare --user --pid --fork true 2>/dev/null; then
    say "no namespaces here: nothing ends a job whose daemons stand still"
    pool_stop
    passed
fi
equals "what the machines say" "$("$ROOST" status -af HasLeaseTimer | sort -u)" true
# stand_still NAME WHAT...: stops startd and starter of the job's node, and what else is named.
stand_still() {
    local name=$1 cluster node pid stopped
    cluster=$(beat "$name") || exit 1
    until_true 40 "it runs" has_beaten "$name" 1
    until_true 20 "the schedd knows" is_running "$cluster"
    node=$(node_of "$cluster")
    stopped="$(pids_of master "$node") $(pids_of startd "$node") $(pids_of starter "$node")"
    [ $# -eq 1 ] || stopped="$stopped $(keepers "$node")"
    for pid in $stopped; do kill -STOP "$pid" || fail "kill -STOP $pid"; done
    until_true 60 "it runs elsewhere" has_beaten "$name" 2
    until_true 20 "the schedd knows" is_running "$cluster"
    [ "$(node_of "$cluster")" != "$node" ] || fail "it still runs on $node"
    until_true 20 "the second run goes on" beats_after "$name" $(($(date +%s) + 2))
    for pid in $stopped; do kill -CONT "$pid" 2>/dev/null; done
    open_gate "$name"
    until_true 40 "it is done" is_done "$cluster" 1
    equals "runs of $name" "$(cut -d' ' -f1 "$OUT/beats.$name" | sort -u | wc -l)" 2
    # Lines are in the order in which they were written: once the second run has begun, the first writes no more.
    equals "changes from one run of $name to another" "$(cut -d' ' -f1 "$OUT/beats.$name" | uniq | wc -l)" 2
}
say "startd and starter stand still"
stand_still both
say "startd, starter and the processes of the container stand still"
stand_still all keepers
pool_stop
passed

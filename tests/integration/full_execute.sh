#!/bin/bash
# The disk of an execute machine is full to the last byte, and a starter dies there: the machine says so, gets no further job
# until it has room, and the job runs elsewhere within the promise of time.
#
# TIMEOUT: 150
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
if [ -z "${ROOST_OWN_MOUNTS:-}" ]; then
    unshare --mount true 2>/dev/null || { echo "no mount namespace here"; exit 77; }
    ROOST_OWN_MOUNTS=1 exec unshare --mount /bin/bash "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"

mount --make-rprivate / || fail "mount"
pool_init --nodes 2 --cpus-per-node 1 --idle 600
# A machine on which starters fail is avoided for a millisecond only: that is not what helps here.
echo 'STARTER_FAILURE_BACKOFF = "1ms"' >>"$ROOST_CONFIG"
FULL=$POOL/nodes/wn01
mkdir -p "$FULL" "$WORK/node"
cp -a "$FULL/." "$WORK/node/"
mount -t tmpfs -o size=48m,mode=0755 roost-test "$FULL" || fail "mount -t tmpfs"
unmount_node() { local status=$?; umount -l "$FULL"; (exit $status); clean_up; } # else it cannot be removed
cp -a "$WORK/node/." "$FULL/"
trap unmount_node EXIT
pool_start

gated_jobs 2 end >"$WORK/jobs.sub"
cluster=$(submit "$WORK/jobs.sub") || exit 1
runs() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null | grep -c '^2$')" -eq "$2" ]; }
until_true 30 "two jobs run" runs "$cluster" 2

say "the disk of wn01 is full, and its starter is killed"
cat /dev/zero >"$FULL/ballast" 2>/dev/null
starter=$(pids_of starter wn01)
[ -n "$starter" ] || fail "no starter on wn01"
# shellcheck disable=SC2086
kill -9 $starter
shows_disk() { "$ROOST" status -problems 2>/dev/null | grep -q "^slot1@wn01 .*nodes/wn01 (roost-test), the disk of .* is full"; }
until_true 30 "the machine says so" shows_disk
tried=$(grep -c ' job.matched .*slot=slot1@wn01' "$POOL/log/SchedLog")

say "its job runs on the other machine as soon as that is free"
open_gate end
until_true 60 "both jobs are done" is_done "$cluster" 2
check_committed "$cluster" 2
equals "machine of the last runs" "$("$ROOST" history "$cluster" -af LastRemoteHost | sort -u)" "slot1@wn02"
equals "matches of the full machine, after it said so" "$(grep -c ' job.matched .*slot=slot1@wn01' "$POOL/log/SchedLog")" "$tried"
equals "promises that were broken" "$(grep -h ' promise.broken ' "$POOL"/log/*Log)" ""

say "there is room again"
rm "$FULL/ballast"
shows_nothing() { [ -z "$("$ROOST" status -problems -af Name 2>/dev/null)" ]; }
until_true 20 "the problem is gone" shows_nothing
{ echo 'requirements = Machine == "wn01"'; cat "$WORK/jobs.sub"; } >"$WORK/there.sub"
sed -i 's/^queue.*/queue 1/' "$WORK/there.sub"
cluster=$(submit "$WORK/there.sub") || exit 1
until_true 60 "a job has run there" is_done "$cluster" 1
check_committed "$cluster" 1
pool_stop
passed

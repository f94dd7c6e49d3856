#!/bin/bash
# A real file system that is full, then one that fails and becomes read-only, below the schedd's SPOOL: new work is refused
# with the disk's name, queries are answered, the jobs that run go on and are committed from the reserve, and all of it is
# as before as soon as there is room, without a restart.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
if [ -z "${ROOST_OWN_MOUNTS:-}" ]; then
    unshare --mount true 2>/dev/null || { echo "no mount namespace here"; exit 77; }
    ROOST_OWN_MOUNTS=1 exec unshare --mount /bin/bash "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"

mount --make-rprivate / || fail "mount"
pool_init --nodes 1 --cpus-per-node 4 --idle 600
printf 'SPOOL_RESERVE = "24 MiB"\n' >>"$ROOST_CONFIG"
mkdir -p "$POOL/spool"
mount -t tmpfs -o size=64m,mode=0755 roost-test "$POOL/spool" || fail "mount -t tmpfs"
unmount_spool() { local status=$?; umount -l "$POOL/spool"; (exit $status); clean_up; } # else it cannot be removed
trap unmount_spool EXIT
pool_start

schedd_of() { pids_of schedd | head -1; }
fill() { cat /dev/zero >"$POOL/spool/ballast" 2>/dev/null; }
runs() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null | grep -c '^2$')" -eq "$2" ]; }
shows() { "$ROOST" status -problems 2>/dev/null | grep -q "$1"; }
shows_nothing() { [ -z "$("$ROOST" status -problems -af Name 2>/dev/null)" ]; }
refused() {
    "$ROOST" submit "$WORK/jobs.sub" >"$WORK/said" 2>&1 && fail "a job was taken: $(cat "$WORK/said")"
    grep -q "$1" "$WORK/said" || fail "submit says: $(cat "$WORK/said")"
    grep -q "$POOL/spool (roost-test)" "$WORK/said" || fail "the disk is not named: $(cat "$WORK/said")"
}

say "four jobs run, four wait"
# Without output: what a job writes is refused on a full disk, and its job is held in the end.
cat >"$WORK/jobs.sub" <<SUB
executable = /bin/sh
arguments = "-c '$(gate full)'"
should_transfer_files = NO
transfer_executable = false
request_memory = 1
queue 8
SUB
cluster=$(submit "$WORK/jobs.sub") || exit 1
until_true 30 "four jobs run" runs "$cluster" 4
pid=$(schedd_of)

say "less than SPOOL_RESERVE is left"
head -c 30M /dev/zero >"$POOL/spool/ballast"
refused 'no new jobs: .* MiB left, and SPOOL_RESERVE keeps 24 MiB'
until_true 20 "it is shown" shows 'no new jobs: .* MiB left'
grep -qr ' spool.low .*no new jobs' "$POOL/log" || fail "it is not logged"

say "somebody else fills the disk to the last byte"
fill
refused 'no new jobs'
runs "$cluster" 4 || fail "roost q: $("$ROOST" q "$cluster" 2>&1)"
open_gate full
until_true 60 "all eight jobs ran, committed from the reserve" is_done "$cluster" 8
check_committed "$cluster" 8
until_true 10 "the ad says so" shows "$POOL/spool (roost-test), the disk of .* is full"
[ ! -e "$POOL/spool/schedd.db.reserve" ] || fail "the reserve was not used"
equals "pid of the schedd" "$(schedd_of)" "$pid"

say "killed on a full disk, it comes back and answers"
fill # what the reserve has freed, too
echo "tcp:127.0.0.1:1" >"$WORK/address"
cp "$WORK/address" "$POOL/spool/schedd.address" 2>/dev/null # there is no room for the new one
kill -9 "$pid"
came_back() { [ -n "$(schedd_of)" ] && [ "$(schedd_of)" != "$pid" ] && "$ROOST" q >/dev/null 2>&1; }
until_true 20 "the schedd is back" came_back
is_done "$cluster" 8 || fail "the history is gone"
refused 'no new jobs'
pid=$(schedd_of)

say "there is room again: at once, without a restart"
rm "$POOL/spool/ballast"
rm -f "$WORK/gate.full"
taken() { "$ROOST" submit "$WORK/jobs.sub" >"$WORK/said" 2>&1; }
until_true 2 "a job is taken" taken # the store tries each 100 ms
cluster=$(sed -n 's/.*submitted to cluster \([0-9]*\).*/\1/p' "$WORK/said")
until_true 10 "the problem is gone" shows_nothing
until_true 10 "the reserve is back" test -s "$POOL/spool/schedd.db.reserve"
until_true 30 "four jobs run" runs "$cluster" 4

open_gate full
until_true 60 "all jobs are done" is_done "$cluster" 8
check_committed "$cluster" 8
equals "pid of the schedd" "$(schedd_of)" "$pid"
grep -qr ' store.full .*(roost-test), the disk of ' "$POOL/log" || fail "the log does not name the disk"

say "a disk that fails becomes read-only, as the kernel does it, under running jobs"
pool_stop
umount "$POOL/spool" || fail "umount"
truncate -s 64M "$WORK/disk"
if ! { mkfs.ext4 -q "$WORK/disk" && mount -o loop "$WORK/disk" "$POOL/spool"; } 2>/dev/null; then
    say "no loop device here"
    passed
fi
pool_start
rm -f "$WORK/gate.full"
cluster=$(submit "$WORK/jobs.sub") || exit 1
until_true 30 "four jobs run" runs "$cluster" 4
pid=$(schedd_of)
mount -o remount,abort "$POOL/spool" || fail "remount"
"$ROOST" hold "$cluster.7" >/dev/null 2>&1 & # a change that cannot be stored
until_true 20 "the ad says so" shows 'is mounted for reading only'
disk_is_read_only() { ! "$ROOST" submit "$WORK/jobs.sub" >"$WORK/said" 2>&1 && grep -q 'is mounted for reading only' "$WORK/said"; }
until_true 10 "no new jobs" disk_is_read_only
grep -q "$POOL/spool (/dev/loop" "$WORK/said" || fail "the disk is not named: $(cat "$WORK/said")"
runs "$cluster" 4 || fail "roost q: $("$ROOST" q "$cluster" 2>&1)"
equals "pid of the schedd" "$(schedd_of)" "$pid"

say "started on a disk that is mounted for reading only, it says so"
pool_stop
mount -o remount,ro "$POOL/spool" 2>/dev/null
rm -rf "$POOL/log"/*
"$ROOST" start >"$WORK/start.out" 2>&1 &
starting=$!
says_why() { grep -qr "schedd.db: its file system, $POOL/spool (/dev/loop.*mounted for reading only" "$POOL/log"; }
until_true 20 "the schedd names directory and cause" says_why
kill "$starting" 2>/dev/null
wait "$starting"
passed

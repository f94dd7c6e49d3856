#!/bin/bash
# The wall clock of all daemons is set by ten years, forth and back, while a job runs: the job's run is as long as it
# was, no claim and no lease ends, no machine sleeps or wakes, nobody is charged with years, and uptimes are right.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
command -v cc >/dev/null || { echo "skipped: no cc here"; exit 77; }
[ -z "${ASAN_OPTIONS:-}${TSAN_OPTIONS:-}" ] || { echo "skipped: a sanitizer takes nothing that is preloaded"; exit 77; }
. "$(dirname "$0")/lib.sh"

TEN_YEARS=$((10 * 365 * 86400))
cc -O2 -D_GNU_SOURCE -shared -fPIC -o "$WORK/clock.so" "$ROOST_SRC/tests/integration/preloaded/clock_set.c" || fail "clock.so"
chmod 0755 "$WORK/clock.so"
# set_clock SECONDS: by how much the daemons' wall clock is wrong from now on.
set_clock() {
    perl -e 'print pack("q<", $ARGV[0])' -- "$1" | dd of="$WORK/clock" conv=notrunc status=none || fail "set_clock $1"
}
: >"$WORK/clock"
set_clock 0
chmod 0644 "$WORK/clock"

pool_init --nodes 2 --cpus-per-node 1
sed -i '/^HIBERNATE *=/d; /^NODE_IDLE_TIME/d' "$ROOST_CONFIG" "$POOL"/nodes/*/roost.conf
cat >>"$ROOST_CONFIG" <<END
CLAIM_LEASE_DURATION = 9
POLLING_INTERVAL = 1
UPDATE_INTERVAL = 2
COLLECTOR_UPDATE_INTERVAL = 1
PERIODIC_EXPR_INTERVAL = 1
NEGOTIATOR_INTERVAL = 2
ROOSTER_INTERVAL = 1
HIBERNATE = ifThenElse(State == "Unclaimed" && CurrentTime - EnteredCurrentState > 3600, "S5", "NONE")
END
began=$SECONDS
LD_PRELOAD=$WORK/clock.so CLOCK_SET=$WORK/clock pool_start

# The job may not last longer than 10 minutes, and is held by its owner after 20 minutes.
gated_jobs 1 run | sed '/^queue/i allowed_job_duration = 600\nperiodic_hold = (time() - JobCurrentStartDate) > 1200' >"$WORK/run.sub"
cluster=$(submit "$WORK/run.sub") || exit 1
runs() { [ "$("$ROOST" q "$cluster" -af JobStatus 2>/dev/null)" = 2 ]; }
until_true 40 "the job runs" runs
ran=$SECONDS
host=$("$ROOST" q "$cluster" -af RemoteHost)

awake=$(awake_count) wakes=$("$ROOST" power history -constraint 'Kind == "Wake"' -af WakeId | sort -u | wc -l)

slots() { "$ROOST" status -constraint 'Offline =!= true' -af "$@" 2>/dev/null; }
# all_know WRONG: the slots' ads are of daemons whose clock is wrong by so much.
all_know() {
    [ "$(slots MyCurrentTime | awk -v now="$(date +%s)" -v wrong="$1" 'sqrt(($1 - now - wrong) ^ 2) < 60' | wc -l)" = "$awake" ]
}
check_all() {
    local most
    until_true 30 "all machines have the new clock" all_know "$1"
    until_true 40 "two leases have passed" is_later $((SECONDS + 20))
    most=$((SECONDS - began + 3))
    slots Name 'MyCurrentTime - DaemonStartTime' 'MyCurrentTime - EnteredCurrentState' \
        'MyCurrentTime - EnteredCurrentActivity' 'ifThenElse(TotalJobRunTime is undefined, 0, TotalJobRunTime)' \
        'ifThenElse(EnergySeconds is undefined, 0, EnergySeconds)' >"$WORK/ages"
    awk -v most="$most" '{ for (i = 2; i <= NF; i++) if ($i < -1 || $i > most) { print; exit 1 } }' "$WORK/ages" ||
        fail "ages of slots: $(cat "$WORK/ages"); at most $most"
    equals "the job" "$("$ROOST" q "$cluster" -af JobStatus NumJobStarts NumShadowStarts RemoteHost)" "2 1 1 $host"
}
is_later() { [ $SECONDS -ge "$1" ]; }

for wrong in $TEN_YEARS -$TEN_YEARS 0; do
    say "the clock is wrong by $wrong s"
    set_clock "$wrong"
    check_all "$wrong"
done

open_gate run
until_true 40 "the job ends" is_done "$cluster" 1
took=$((SECONDS - ran))
"$ROOST" history "$cluster" -af RemoteWallClockTime LastRemoteWallClockTime CommittedTime >"$WORK/times"
awk -v most=$((took + 3)) -v least=$((took - 5)) '{ for (i = 1; i <= NF; i++) if ($i < least || $i > most) exit 1 }' \
    "$WORK/times" || fail "the run took about $took s: $(cat "$WORK/times")"
equals "its end" "$("$ROOST" history "$cluster" -af JobStatus ExitCode NumJobStarts)" "4 0 1"
equals "machines that slept" "$(sleeps)" ""
equals "machines that are awake" "$(awake_count)" "$awake"
equals "wakes" "$("$ROOST" power history -constraint 'Kind == "Wake"' -af WakeId | sort -u | wc -l)" "$wakes"

say "nobody is charged with years"
charged() { "$ROOST" userprio -all -af Name WeightedAccumulatedUsage 2>/dev/null | sort -k 2 -n | tail -n 1 | awk '{ print $2 + 0 }'; }
is_settled() { [ "$(charged | cut -d. -f1)" -gt 10 ]; }
until_true 30 "the use is settled" is_settled
most=$((SECONDS - began + 3))
charged | awk -v most="$most" '{ exit !($1 <= most) }' || fail "a user was charged with $(charged) s; at most $most"
if grep -hE ' claim\.(lost|failed)| lease ' "$POOL"/log/SchedLog "$POOL"/nodes/*/log/StarterLog* 2>/dev/null | grep -v 'clock.set'; then
    fail "a claim or a lease ended"
fi
passed

#!/bin/bash
# A pool with one ad of 10,000 attributes, one whose Requirements is an error everywhere, one with a hostile regular
# expression, one that refers to itself: jobs run on the good slot, and `roost status` says what is wrong with each.
#
# TIMEOUT: 90
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

# machine NAME MORE: an ad like that of a machine that would take any job first
machine() {
    cat <<END
MyType = "Machine"
Name = "slot1@$1"
Machine = "$1"
State = "Unclaimed"
Activity = "Idle"
SlotType = "Static"
SlotID = 1
OpSys = "LINUX"
Arch = "X86_64"
Cpus = 1000
Memory = 1000000
Disk = 1000000000
LoadAvg = 0.0
StartdUplink = "startd/$1"
$2

END
}

many() {
    machine huge 'Requirements = TARGET.NoSuch =?= 1'
    for i in $(seq 10000); do echo "A$i = $i"; done
}

pool_init --nodes 1
pool_start
until_true 30 "the good machine is there" test "$("$ROOST" status -af Machine)" = wn01
a=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
{
    machine error 'Requirements = Cpus + "x" > 1'
    machine regexp "Requirements = regexp(\"^(a*)*(a|aa)*(a*)*\$\", \"$a${a}c\")"
    machine itself 'Requirements = Start
Start = Requirements && TARGET.RequestCpus <= Cpus'
    many | grep -v '^$'
} >"$WORK/ads"
begin=$(date +%s%N)
"$ROOST" advertise "$WORK/ads" >"$WORK/said" || fail "advertise: $(cat "$WORK/said")"
equals "the ads are taken" "$(cat "$WORK/said")" "Sent 4 of 4 ads to the collector."
# One ad more than the collector may have attributes in, and one that it cannot read: refused, each alone.
{
    machine toomany 'X = 1' | grep -v '^$'
    for i in $(seq 21000); do echo "A$i = $i"; done
} >"$WORK/toomany"
"$ROOST" advertise "$WORK/toomany" >/dev/null 2>"$WORK/why" && fail "an ad of 21,000 attributes was taken"
equals "lines that tell why" "$(wc -l <"$WORK/why")" 1

found() { [ "$("$ROOST" status -problems -af Name 2>/dev/null | wc -l)" -eq 4 ]; }
until_true 20 "the problems are found" found
say "found after $((($(date +%s%N) - begin) / 1000000)) ms"
"$ROOST" status >"$WORK/table" 2>"$WORK/warnings" || fail "status"
cat "$WORK/warnings"
for line in 'slot1@error: Requirements is an error for every job: Cpus + "x" > 1' \
    'slot1@regexp: Requirements is an error for every job: regexp(' \
    'slot1@itself: Requirements refers to itself: Start' 'slot1@huge: the ad has 100[0-9]* attributes'; do
    grep -q -- "^$line" "$WORK/warnings" || fail "no warning '$line'"
done
equals "warnings" "$(wc -l <"$WORK/warnings")" 4
equals "the good one has none" "$("$ROOST" status -af Name AdProblems -constraint 'Machine == "wn01"')" \
    "slot1@wn01 undefined"
grep -q '^slot1@huge' "$WORK/table" || fail "the table has no slot1@huge: $(cat "$WORK/table")"
"$ROOST" status -problems | grep -q '^slot1@itself *Machine *Requirements refers' || fail "$("$ROOST" status -problems)"

# Jobs run all the same, on the good slot, again and again.
cat >"$WORK/job" <<END
executable = /bin/true
transfer_executable = false
queue 5
END
"$ROOST" submit "$WORK/job" >/dev/null || fail submit
timeout 60 "$ROOST" wait --timeout 50s >/dev/null || fail "the jobs do not end: $("$ROOST" q)"
equals "where they ran" "$("$ROOST" history -af LastRemoteHost | sort -u)" "slot1@wn01"

# What is mended is not complained about any more.
machine error 'Requirements = TARGET.NoSuch =?= 1' | "$ROOST" advertise >/dev/null || fail "advertise again"
mended() { [ "$("$ROOST" status -problems -af Name 2>/dev/null | wc -l)" -eq 3 ]; }
until_true 20 "the mended ad has no problem" mended
passed

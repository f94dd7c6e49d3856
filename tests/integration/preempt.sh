#!/bin/bash
# Jobs with more right to a machine get it: by the machine's Rank, and by the users' priorities.  Who runs there retires,
# is vacated, waits in its queue and runs again; a startd that is killed meanwhile changes nothing of that.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --cpus-per-node 2
cat >>"$POOL/roost.conf" <<END
PREEMPTION_REQUIREMENTS = "RemoteUserPrio > SubmitterUserPrio * 1.2"
SIGNIFICANT_ATTRIBUTES = {Fame}
END
cat >>"$POOL/nodes/wn01/roost.conf" <<END
NUM_SLOTS_TYPE_1 = 1
SLOT_TYPE_1 = "100%"
SLOT_TYPE_1_PARTITIONABLE = true
RANK = "TARGET.Fame"
MAXJOBRETIREMENTTIME = 600
MACHINEMAXVACATETIME = 5
POLLING_INTERVAL = 1
MATCH_TIMEOUT = 12
HIBERNATE = "NONE"
END
pool_start

slots() { "$ROOST" status -constraint 'DynamicSlot =?= true' "$@" 2>/dev/null; }
has_slot() { [ -n "$(slots -constraint "$1" -af Name)" ]; }
has_no_slot() { ! has_slot "$1"; }
running_is() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null | grep -c 2)" -eq "$2" ]; }
# of_job ATTR CLUSTER: of its jobs in queue and history, summed
of_jobs() { { "$ROOST" q "$2" -af "$1"; "$ROOST" history "$2" -af "$1"; } 2>/dev/null | awk '$1 ~ /^[0-9]+$/ { n += $1 } END { print n + 0 }'; }

# Jobs retire for as long as it takes to look at them; then their time is over.  Reloads are of this startd.
retirement() {
    sed -i "s/^MAXJOBRETIREMENTTIME = .*/MAXJOBRETIREMENTTIME = $1/" "$POOL/nodes/wn01/roost.conf"
    timeout 20 "$ROOST" config reload --node wn01 >"$WORK/reload" 2>&1 || fail "config reload: $(cat "$WORK/reload")"
}

# job SCRIPT COUNT [LINE...] >FILE
job() {
    printf 'executable = /bin/sh\ntransfer_executable = false\narguments = "-c '"'%s'"'"\n' "$1"
    printf 'request_memory = 100\n'
    printf '%s\n' "${@:3}" "queue $2"
}

say "a job that the machine ranks higher"
job "$(gate one)" 2 'My.Fame = 1' >"$WORK/known.sub"
job true 1 'My.Fame = 5' >"$WORK/famous.sub"
known=$(submit "$WORK/known.sub") || exit 1
until_true 30 "both run" running_is "$known" 2
famous=$(submit "$WORK/famous.sub") || exit 1
until_true 30 "one of them retires" has_slot 'Activity == "Retiring" && PreemptingUser =!= undefined && CurrentRank == 1'
equals "how many retire" "$(slots -constraint 'Activity == "Retiring"' -af Name | wc -l)" 1
equals "the ranks" "$(slots -constraint 'Activity == "Retiring"' -af CurrentRank PreemptingRank)" "1.0 5.0"
equals "the better one waits" "$("$ROOST" q "$famous" -af JobStatus)" 1
retirement 0
until_true 30 "the better one is done" is_done "$famous" 1
equals "preemptions" "$(of_jobs NumPreemptions "$known")" 1
until_true 30 "both run again" running_is "$known" 2
open_gate one
until_true 30 "the others are done, too" is_done "$known" 2
check_committed "$known" 2
equals "starts" "$("$ROOST" history "$known" -af NumJobStarts | sort | tr '\n' ' ')" "1 2 "
equals "why" "$("$ROOST" history "$known" -constraint 'NumPreemptions =?= 1' -af VacateReason | grep -c 'preempted by a job of')" 1

say "the startd is killed while a job retires"
retirement 600
job "$(gate two)" 2 'My.Fame = 1' >"$WORK/known.sub"
known=$(submit "$WORK/known.sub") || exit 1
until_true 30 "both run" running_is "$known" 2
famous=$(submit "$WORK/famous.sub") || exit 1
until_true 30 "one of them retires" has_slot 'Activity == "Retiring"'
sed -i "s/^MAXJOBRETIREMENTTIME = .*/MAXJOBRETIREMENTTIME = 0/" "$POOL/nodes/wn01/roost.conf"
for pid in $(pids_of startd wn01); do
    kill -9 "$pid"
done
until_true 60 "the better one is done" is_done "$famous" 1
open_gate two
until_true 60 "the others are done, too" is_done "$known" 2
check_committed "$known" 2

say "a user of better priority"
job "$(gate three)" 2 "My.AccountingGroup = \"ann.$JOBS_OF\"" >"$WORK/ann.sub"
job true 1 "My.AccountingGroup = \"bea.$JOBS_OF\"" >"$WORK/bea.sub"
ann=$(submit "$WORK/ann.sub") || exit 1
until_true 30 "both run" running_is "$ann" 2
retirement 600
"$ROOST" userprio -setfactor "ann.$JOBS_OF@personal" 1000000 >/dev/null || fail "roost userprio -setfactor"
bea=$(submit "$WORK/bea.sub") || exit 1
until_true 30 "one retires" has_slot "Activity == \"Retiring\" && AccountingGroup == \"ann.$JOBS_OF\""
retirement 0
until_true 30 "the better user's job is done" is_done "$bea" 1
equals "preemptions" "$(of_jobs NumPreemptions "$ann")" 1
open_gate three
until_true 60 "the others are done, too" is_done "$ann" 2
check_committed "$ann" 2

say "the better job is removed while it waits"
retirement 600
job "$(gate four)" 2 'My.Fame = 1' >"$WORK/known.sub"
known=$(submit "$WORK/known.sub") || exit 1
until_true 30 "both run" running_is "$known" 2
famous=$(submit "$WORK/famous.sub") || exit 1
until_true 30 "one of them retires" has_slot 'Activity == "Retiring"'
"$ROOST" rm "$famous" >/dev/null || fail "roost rm"
until_true 30 "it need not retire any more" has_no_slot 'Activity == "Retiring" || PreemptingUser =!= undefined'
open_gate four
until_true 30 "both are done" is_done "$known" 2
check_committed "$known" 2
equals "starts" "$("$ROOST" history "$known" -af NumJobStarts | sort -u)" 1

pool_stop
passed

#!/bin/bash
# Quotas of accounting groups, concurrency limits (also over kill -9 of the negotiator), Submitter ads, and UPDATE_PRIO over
# submitting machines, in a real pool.
#
# TIMEOUT: 150
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_chaos.sh"

pool_init --nodes 2 --cpus-per-node 2 --idle 600
pool_charges_anybody
cat >>"$ROOST_CONFIG" <<'CONF'
MASTER_BACKOFF_CEILING = "50ms"
NEGOTIATOR_INTERVAL = 1
NEGOTIATOR_LIMIT_SETTLE = "500ms"
GROUP_NAMES = "phys, chem"
GROUP_QUOTA_phys = 1
GROUP_QUOTA_chem = 3
tape_LIMIT = 2
CONCURRENCY_LIMIT_DEFAULT_db = 1
UPDATE_PRIO_INTERVAL = "100ms"
CONF
pool_start
until_true 20 "four slots are there" eval '[ "$("$ROOST" status -af Name | wc -l)" -eq 4 ]'

# timed_jobs COUNT SECONDS TAG LINE...: each writes when it begins and ends to $WORK/runs, waits for the gate TAG, and sleeps.
cat >"$WORK/timed.sh" <<'JOB'
#!/bin/sh
echo "$(date +%s%3N) 1 $2" >>"$3"
until test -e "$4"; do sleep 0.1; done
sleep "$1"
echo "$(date +%s%3N) -1 $2" >>"$3"
JOB
chmod 0755 "$WORK/timed.sh"
timed_jobs() {
    local count=$1 seconds=$2 tag=$3
    shift 3
    printf '%s\n' "executable = $WORK/timed.sh" "arguments = \"$seconds $tag $WORK/runs $WORK/gate.$tag\"" "initialdir = $OUT" \
        "request_memory = 1" "$@" "queue $count" >"$WORK/timed.sub"
    submit "$WORK/timed.sub"
}
# most TAG: how many ran at once at most.
most() { grep " $1\$" "$WORK/runs" | sort -n | awk '{ now += $2; if (now > most) most = now } END { print most + 0 }'; }
fresh() { : >"$WORK/runs"; chmod 0666 "$WORK/runs"; }
running_of() { "$ROOST" status -constraint "AccountingGroup =?= \"$1\"" -af Name | wc -l; }

say "quotas"
fresh
equals "groups before they use anything" "$("$ROOST" userprio -af Name ConfigQuota -constraint IsAccountingGroup | sort | tr '\n' ' ')" \
    "<none> 0.0 chem 3.0 phys 1.0 "
phys=$(timed_jobs 4 1 phys "accounting_group = phys" "accounting_group_user = ann") || exit 1
chem=$(timed_jobs 9 1 chem "accounting_group = chem" "accounting_group_user = bob") || exit 1
until_true 30 "chem has three slots" eval '[ "$(running_of chem.bob)" -eq 3 ]'
until_true 30 "phys has one" eval '[ "$(running_of phys.ann)" -eq 1 ]'
equals "why ann's next job waits, at once" "$("$ROOST" why "$phys.3" -af Reason)" Quota
"$ROOST" status -submitters >"$WORK/submitters" || fail "roost status -submitters"
grep -q '^chem.bob@' "$WORK/submitters" || fail "no chem.bob among $(cat "$WORK/submitters")"
equals "quota of chem" "$("$ROOST" userprio -af EffectiveQuota -constraint 'Name == "chem"')" 3.0
equals "group of bob" "$("$ROOST" userprio -af AccountingGroup -constraint 'substr(Name, 0, 9) == "chem.bob@"')" chem
open_gate phys
open_gate chem
until_true 60 "the jobs of phys are done" is_done "$phys" 4
until_true 60 "the jobs of chem are done" is_done "$chem" 9
equals "jobs of phys at once" "$(most phys)" 1
equals "jobs of chem at once" "$(most chem)" 3
used=$("$ROOST" userprio -af AccumulatedUsage -constraint 'Name == "chem"')
# Charged is the time of the claims: that of the runs and of what is between them, on three slots at most.
sort -n "$WORK/runs" | awk -v used="$used" '$3 == "chem" { sum -= $2 * $1; begin = begin ? begin : $1; end = $1 }
    END { exit !(used >= sum / 1000 * 0.9 && used <= 3 * (end - begin) / 1000 + 15) }' ||
    fail "chem was charged for $used s: $(cat "$WORK/runs")"

say "concurrency limits"
fresh
open_gate tape
open_gate db
tape=$(timed_jobs 8 0.7 tape "concurrency_limits = Tape") || exit 1
base=$(timed_jobs 4 0.4 db "concurrency_limits = db.read, free") || exit 1
for _ in 1 2 3; do
    sleep 0.9
    kill_one negotiator || fail "there is no negotiator"
done
until_true 60 "the jobs with the tape are done" is_done "$tape" 8
until_true 40 "the jobs with the data base are done" is_done "$base" 4
equals "tapes in use at once" "$(most tape)" 2
equals "data bases in use at once" "$(most db)" 1

say "submitting machines"
machine() { "$ROOST" userprio -machines -af Name "$1" 2>/dev/null | awk -v name="$2" '$1 == name { print $2 }'; }
echo 'UPDATE_PRIO = "Prio + Users - Running"' >>"$ROOST_CONFIG"
kill -HUP "$(pids_of negotiator)"
cat >"$WORK/other.ad" <<'AD'
MyType = "Submitter"
Name = "eve@far#other"
User = "eve@far"
ScheddName = "other"
IdleJobs = 3
RunningJobs = 0
AD
"$ROOST" advertise "$WORK/other.ad" >"$WORK/advertise.out" 2>&1 || fail "roost advertise: $(cat "$WORK/advertise.out")"
# One machine that has a user and cannot run anything rises ...
rises() { awk -v prio="$(machine Prio other)" 'BEGIN { exit !(prio >= 3) }'; }
until_true 30 "the Prio of a machine that waits rises" rises
equals "users of the machine that waits" "$(machine Users other)" 1
# ... one that runs four jobs of one user sinks.
long=$(timed_jobs 4 0 long) || exit 1
sinks() { awk -v prio="$(machine Prio personal)" 'BEGIN { exit !(prio < 0) }'; }
until_true 30 "the Prio of a machine that runs sinks" sinks
open_gate long
open_gate mine
until_true 20 "the long jobs are done" is_done "$long" 4
# Its requests are matched first from now on: its schedd is not there and declines.
cat >"$WORK/request.ad" <<'AD'
MyType = "Request"
Name = "other#1"
ScheddName = "other"
ScheddUplink = "schedd/other"
AutoClusterId = 1
User = "eve@far"
JobCount = 1
Requirements = true
AD
kept=$(sed -n '$=' "$POOL/log/NegotiatorLog")
"$ROOST" advertise "$WORK/request.ad" >/dev/null || fail "roost advertise"
mine=$(timed_jobs 12 0.2 mine "accounting_group_user = cat") || exit 1
until_true 20 "the jobs of the machine that is there are done" is_done "$mine" 12
first_match() { tail -n +"$((kept + 1))" "$POOL/log/NegotiatorLog" | grep -m 1 ' info match ' >"$WORK/first"; }
until_true 5 "something is matched" first_match
grep -q 'request=other#1' "$WORK/first" || fail "not matched first: $(cat "$WORK/first")"
before=$(machine Prio other)
kill_one negotiator || fail "there is no negotiator"
survives() { awk -v now="$(machine Prio other)" -v before="$before" 'BEGIN { exit !(now >= before) }'; }
until_true 10 "Prio survives a kill" survives
pool_stop
passed

#!/bin/bash
# Two submitting machines, each a real schedd, and UPDATE_PRIO over them: Prio of each, as `roost userprio -machines` shows it,
# goes by its users and running jobs, and decides whose jobs are matched first.  Without UPDATE_PRIO their users compete.
#
# TIMEOUT: 150
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --cpus-per-node 2
pool_charges_anybody
port=$(sed -n 's/^SCHEDD_PORT = //p' "$ROOST_CONFIG")
cat >>"$ROOST_CONFIG" <<'CONF'
NEGOTIATOR_INTERVAL = 1
UPDATE_PRIO = "Prio + Users - Running"
UPDATE_PRIO_INTERVAL = "200ms"
CLAIM_WORKLIFE = 1
CONF
pool_start
until_true 20 "two slots are there" eval '[ "$("$ROOST" status -af Name | wc -l)" -eq 2 ]'

say "a second submitting machine"
mkdir "$POOL/second"
"$ROOST" cert create schedd second --directory "$POOL/second" >/dev/null || fail "roost cert create"
SECOND=$POOL/second.conf
sed -e 's,^LOCAL_DIR = .*,LOCAL_DIR = "$(POOL_DIR)/second",' -e 's,^SCHEDD_NAME = .*,SCHEDD_NAME = "second",' \
    -e "s,^SCHEDD_PORT = .*,SCHEDD_PORT = $((port < 60000 ? port + 1000 : port - 1000))," "$ROOST_CONFIG" >"$SECOND"
"$ROOST" token create --identity schedd@personal --scope READ,SCHEDD --name-pattern second --file "$POOL/second/token" || fail "token create"
{
    printf 'SCHEDD_%s = "$(POOL_DIR)/second/schedd%s.pem"\n' CERT "" KEY -key
    echo 'TOKEN_FILE = "$(POOL_DIR)/second/token"'
} >>"$SECOND"
ROOST_CONFIG=$SECOND "$ROOST_BIN/roost-schedd" -config "$SECOND" -noresurrect >"$WORK/second.out" 2>&1 &
second_pid=$!
until_true 20 "both schedds are known" eval '[ "$("$ROOST" status -schedd -af Name | sort | xargs)" = "personal second" ]'

# jobs_at CONFIG COUNT TAG [LINE...]: each writes its tag to $WORK/order when it begins, and ends when $WORK/gate.TAG is there.
: >"$WORK/order"
chmod 0666 "$WORK/order"
cat >"$WORK/gated.sh" <<'JOB'
#!/bin/sh
echo "$1" >>"$2/order"
until [ -e "$2/gate.$1" ]; do
    sleep 0.05
done
JOB
chmod 0755 "$WORK/gated.sh"
jobs_at() {
    local config=$1 count=$2 tag=$3
    shift 3
    printf '%s\n' "executable = $WORK/gated.sh" "arguments = \"$tag $WORK\"" "initialdir = $OUT" \
        "request_memory = 1" "$@" "queue $count" >"$WORK/$tag.sub"
    ROOST_CONFIG=$config submit "$WORK/$tag.sub"
}
machine() { "$ROOST" userprio -machines -af Name "$1" | awk -v name="$2" '$1 == name { print $2 }'; }
over() { ROOST_CONFIG=$1 is_done "$2" "$3"; }
open_gates() { local tag; for tag in "$@"; do : >"$WORK/gate.$tag"; done; }
waiting() { [ "$("$ROOST" status -submitters -constraint 'IdleJobs > 0' -af Name IdleJobs | sort | xargs)" = "$*" ]; }
begun() { [ "$(grep -c "^$1\$" "$WORK/order")" -ge "$2" ]; }

say "one runs, both wait"
long=$(jobs_at "$ROOST_CONFIG" 2 long) || exit 1
until_true 20 "the long jobs run" begun long 2
mine=$(jobs_at "$ROOST_CONFIG" 6 mine) || exit 1
theirs=$(jobs_at "$SECOND" 6 theirs "accounting_group_user = eve") || exit 1
more=$(jobs_at "$SECOND" 1 more "accounting_group_user = bob") || exit 1
until_true 10 "two users of the second are counted" eval '[ "$(machine Users second)" = 2 ]'
equals "users of the first" "$(machine Users personal)" 1
until_true 10 "jobs that run of the first are counted" eval '[ "$(machine Running personal)" = 2 ]'
equals "jobs that run of the second" "$(machine Running second)" 0
apart() { awk -v a="$(machine Prio second)" -v b="$(machine Prio personal)" 'BEGIN { exit !(a >= 10 && b <= -5) }'; }
until_true 30 "the first sinks, the second rises" apart
"$ROOST" userprio -machines >"$WORK/machines" || fail "roost userprio -machines"
equals "machines that are shown" "$(grep -cE '^(personal|second) ' "$WORK/machines")" 2

say "the second comes first, though it asked later"
open_gates long mine theirs more
until_true 40 "the jobs of the first are done" over "$ROOST_CONFIG" "$mine" 6
until_true 20 "the jobs of the second are done" over "$SECOND" "$theirs" 6
until_true 20 "those of its other user, too" over "$SECOND" "$more" 1
equals "order" "$(grep -v '^long$' "$WORK/order" | head -n 7 | sort | uniq -c | awk '{ print $2 ":" $1 }' | xargs)" "more:1 theirs:6"
check_committed "$long" 2
check_committed "$mine" 6

say "without UPDATE_PRIO users compete: the queue of the one with the worse priority waits"
sed -i '/^UPDATE_PRIO = /d' "$ROOST_CONFIG" "$SECOND"
kill -HUP "$(pids_of negotiator)"
reloaded() { grep -q " config.reloaded " "$POOL/log/NegotiatorLog"; }
until_true 10 "the negotiator has read it" reloaded
"$ROOST" userprio -setfactor bob@personal 1000000 >/dev/null || fail "roost userprio -setfactor"
"$ROOST" userprio -setfactor cat@personal 1 >/dev/null || fail "roost userprio -setfactor"
: >"$WORK/order"
# One slot comes free: of two, each user would be given one, for what is left of a slot is rounded up (share_plan.h).
staying=$(jobs_at "$ROOST_CONFIG" 1 staying "accounting_group_user = dan") || exit 1
until_true 20 "a slot is in use" begun staying 1
blocking=$(jobs_at "$ROOST_CONFIG" 1 blocking "accounting_group_user = dan") || exit 1
until_true 20 "all slots are in use" begun blocking 1
bob=$(jobs_at "$SECOND" 4 bob "accounting_group_user = bob") || exit 1
cat=$(jobs_at "$ROOST_CONFIG" 4 cat "accounting_group_user = cat") || exit 1
until_true 30 "both are seen to wait" waiting "bob@personal#second 4 cat@personal#personal 4"
open_gates blocking bob cat
until_true 30 "all of them are done" over "$SECOND" "$bob" 4
until_true 10 "all of them are done" over "$ROOST_CONFIG" "$cat" 4
until_true 10 "all of them are done" over "$ROOST_CONFIG" "$blocking" 1
equals "who was first" "$(xargs <"$WORK/order")" "staying blocking cat cat cat cat bob bob bob bob"

open_gates staying
until_true 10 "the last is done" over "$ROOST_CONFIG" "$staying" 1

say "a machine that stops does not wait for a schedd that is gone"
left=$(jobs_at "$SECOND" 1 left) || exit 1
until_true 20 "its job runs" begun left 1
kill "$second_pid"
wait "$second_pid"
began=$SECONDS
pool_stop
[ $((SECONDS - began)) -lt 15 ] || fail "roost stop waited $((SECONDS - began)) s for the schedd of job $left"
passed

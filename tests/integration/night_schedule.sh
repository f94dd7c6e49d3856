#!/bin/bash
# docs/howto/night-schedule.md with real daemons: machines are asleep within a window around the present time, are not woken
# for a short queue, and are woken and stay awake for a long one.  Without a negotiator nothing changes.
#
# TIMEOUT: 150
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

page=$ROOST_SRC/docs/howto/night-schedule.md
# block KIND FILE: the text of its fenced blocks of that kind.
block() { awk -v "start=\`\`\`$1" '$0 == start { on = 1; next } $0 == "```" { on = 0 } on' "$2"; }

# The page's line, and the two lines that use it, are those of etc/node.conf.
rule=$(block conf "$page")
grep -qxF "# $rule" "$ROOST_SRC/etc/node.conf" || fail "etc/node.conf has no line '# $rule'"
block node "$page" >"$WORK/lines"
equals "lines that use it" "$(wc -l <"$WORK/lines")" 2
while IFS= read -r line; do
    grep -qxF -- "$line" "$ROOST_SRC/etc/node.conf" || fail "etc/node.conf has no line '$line'"
done <"$WORK/lines"

# The same with a window of two hours around now, and two jobs for 50; its other words are the page's.
minute=$((10#$(date +%H) * 60 + 10#$(date +%M)))
from=$(((minute + 1380) % 1440)) to=$(((minute + 60) % 1440))
both='||'
[ "$from" -gt "$to" ] || both='&&'
window=${rule/20 \* 60 || ClockMin < 7 \* 60/"$from $both ClockMin < $to"} # quoted: a bare & is the text that was found
window=${window/< 50/< 3}
[ "$window" != "$rule" ] || fail "the rule has changed: $rule"
say "$window"

pool_init --nodes 2 --idle 86400
for node in "$POOL"/nodes/*/roost.conf; do
    { echo 'IDLE_BEFORE_SLEEP = "1440 * $(MINUTE)"'; echo "$window"; cat "$WORK/lines"; } >>"$node"
done
cat >>"$ROOST_CONFIG" <<EOF
LIC_LIMIT = 0
NEGOTIATOR_INTERVAL = 5
EOF
# is_good FILE: the check takes it, and warns of no name.
is_good() {
    ROOST_CONFIG=$1 "$ROOST" config check >"$WORK/check" 2>&1 || fail "config check: $(cat "$WORK/check")"
    ! grep -q 'names the attribute' "$WORK/check" || fail "config check: $(cat "$WORK/check")"
}
is_good "$node"
{ cat "$node"; block text "$page"; } >"$POOL/nodes/holidays.conf" # the page's second example
is_good "$POOL/nodes/holidays.conf"
rm "$POOL/nodes/holidays.conf"
pool_start

say "no jobs: asleep, although no machine was idle for a day"
until_true 30 "asleep" is_asleep 2
"$ROOST" power status >"$WORK/status" || fail "power status"
grep -q 'HIBERNATE is true on every slot; when it went to sleep: MatchingIdleJobs = 0, MatchingIdleJobsWait = 0, PoolIdleJobs = 0' "$WORK/status" ||
    fail "power status: $(cat "$WORK/status")"
equals "wakes" "$(wakes)" ""

say "two jobs wait: they are held for a machine, which says why it is not woken"
number_jobs 2 0 >"$WORK/two.sub"
two=$(submit "$WORK/two.sub") || exit 1
says() { "$ROOST" "$@" >"$WORK/said" 2>&1 && grep -q "is not woken yet: its UNHIBERNATE (.*) is not true; now MatchingIdleJobs = 2, " "$WORK/said"; }
until_true 30 "power status says why" says power status
until_true 10 "why of the job says why" says why "$two.0"
held=$("$ROOST" status -constraint 'OfflineMatches =!= undefined' -af Machine | sort -u | head -n 1)
until_true 10 "why of the machine says why" says why -slot "$held"
equals "wakes" "$(wakes)" ""

say "a third job: the queue is long, and machines wake"
number_jobs 1 0 >"$WORK/one.sub"
one=$(submit "$WORK/one.sub") || exit 1
until_true 40 "the two jobs are done" is_done "$two" 2
until_true 20 "the third job is done" is_done "$one" 1
[ -n "$(wakes)" ] || fail "nobody was woken"
until_true 30 "asleep again" is_asleep 2

say "jobs that a limit keeps in the queue: a machine that is awake stays up, and says why"
sed 's/^queue/concurrency_limits = lic\nqueue/i' "$WORK/one.sub" >"$WORK/lic.sub"
for _ in 1 2 3; do
    submit "$WORK/lic.sub" >/dev/null || exit 1
done
node=$("$ROOST" status -constraint 'Offline =?= true' -af Machine | sort -u | head -n 1)
"$ROOST" power on "$node" >"$WORK/on" 2>&1 || fail "power on: $(cat "$WORK/on")"
says_up() { "$ROOST" power status >"$WORK/said" && grep -q 'held back: HIBERNATE is NONE with MatchingIdleJobs = 3, ' "$WORK/said"; }
until_true 30 "power status says why it stays up" says_up
"$ROOST" why -slot "$node" >"$WORK/said" || fail "roost why -slot $node"
grep -q 'HIBERNATE is NONE with MatchingIdleJobs = 3, ' "$WORK/said" || fail "roost why: $(cat "$WORK/said")"
equals "awake" "$(awake_nodes)" "$node"

say "they are gone, and nobody knows: it stays up; the negotiator comes back: it sleeps"
kill -STOP "$(pids_of negotiator)" || fail "no negotiator"
"$ROOST" rm -all >/dev/null || fail "roost rm"
says_nothing() { "$ROOST" power status >"$WORK/said" && grep -q 'held back: HIBERNATE is undefined without the figures of the queue: ' "$WORK/said"; }
until_true 60 "power status says that nobody knows" says_nothing
equals "awake" "$(awake_nodes)" "$node"
kill -CONT "$(pids_of negotiator)"
until_true 60 "asleep at last" is_asleep 2

say "a reserve that knows the queue"
block rooster "$page" >>"$ROOST_CONFIG"
sed -i 's/^ROOSTER_RESERVE = .*/ROOSTER_RESERVE = "(PoolIdleJobs > 0 ? 1 : 0)"/' "$ROOST_CONFIG"
# The rule of the machines does not count for it, nor when they fell asleep.
cat >>"$ROOST_CONFIG" <<EOF
ROOSTER_UNHIBERNATE = "Offline"
ROOSTER_ASLEEP_AGAIN = 0
ROOSTER_COLLECTOR_MIN_AGE = 0
EOF
pool_stop
pool_start
until_true 30 "asleep after the start" is_asleep 2
before=$(wakes | wc -l)
submit "$WORK/lic.sub" >/dev/null || exit 1
one_awake() { [ "$(awake_count)" -eq 1 ]; }
until_true 40 "one machine is awake for the reserve" one_awake
says_reserve() { "$ROOST" power status >"$WORK/said" && grep -q 'must stay awake (ROOSTER_RESERVE: PoolIdleJobs = 1, ' "$WORK/said"; }
until_true 40 "power status says why it stays up" says_reserve
equals "wakes for the reserve" $(($(wakes | wc -l) - before)) 1
"$ROOST" rm -all >/dev/null || fail "roost rm"
until_true 60 "asleep without jobs" is_asleep 2

say "mistakes are said where they are made"
cp "$ROOST_CONFIG" "$WORK/good.conf"
echo 'ROOSTER_RESERVE = "5, else (PoolIdelJobs > 0 ? 1 : 0)"' >>"$ROOST_CONFIG"
"$ROOST" config check >"$WORK/check" 2>&1
grep -q "ROOSTER_RESERVE names the attribute 'PoolIdelJobs', which no ad has; did you mean PoolIdleJobs?" "$WORK/check" ||
    fail "config check: $(cat "$WORK/check")"
echo 'ROOSTER_RESERVE = "5, else (PoolIdleJobs > )"' >>"$ROOST_CONFIG"
! "$ROOST" config check >"$WORK/check" 2>&1 || fail "config check takes a bad expression"
grep -q 'ROOSTER_RESERVE' "$WORK/check" || fail "config check: $(cat "$WORK/check")"
cp "$WORK/good.conf" "$ROOST_CONFIG"
passed

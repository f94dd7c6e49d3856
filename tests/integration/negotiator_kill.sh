#!/bin/bash
# The negotiator is killed a hundred times while it matches and holds: no slot is matched twice, no hold is forgotten,
# priorities continue.
#
# TIMEOUT: 150
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_chaos.sh"

HOLD_KILLS=25 STORM_KILLS=75 NODES=4

kill_negotiator() {
    local pid end=$((SECONDS + 15))
    until pid=$(pgrep -f "^$ROOST_BIN/roost-negotiator" | while read -r each; do
        grep -qsaF "$POOL/" "/proc/$each/environ" "/proc/$each/cmdline" && echo "$each"
    done); [ -n "$pid" ]; do # those of other pools do not count
        [ $SECONDS -lt $end ] || fail "there is no negotiator to be killed: it did not come back"
        sleep 0.02
    done
    # Each life is one that began, as its log says: killed before that, it would have been no trial.
    until_true 15 "the negotiator has begun" eval "[ \$(lives) -gt $kills ]"
    # shellcheck disable=SC2086
    kill -9 $pid 2>/dev/null
    kills=$((kills + 1))
}
kills=0

# Jobs that wait for sleeping machines, as the ads say.
held_jobs() {
    "$ROOST" status -constraint 'Offline =?= true' -af 'sum(evalInEachContext(Count, OfflineMatches))' 2>/dev/null |
        awk '{ sum += $1 } END { print sum + 0 }'
}
holds_are() { [ "$(held_jobs)" = "$1" ]; }
lives() { grep -c ' daemon.start ' "$POOL/log/NegotiatorLog"; }

pool_init --nodes $NODES --cpus-per-node 2 --idle 2 --asleep
cat >>"$ROOST_CONFIG" <<CONF
MASTER_BACKOFF_CONSTANT = "20ms"
MASTER_BACKOFF_CEILING = "20ms"
USAGE_INTERVAL = "200ms"
ALL_DEBUG = debug # all lines are counted below: none may stand for several
CLAIM_WORKLIFE = 1
NEGOTIATOR_CYCLE_DELAY = "0ms"
NEGOTIATOR_INTERVAL = 1
ROOSTER_UNHIBERNATE = "false"
CONF
pool_start

say "seed $SEED: holds"
number_jobs 3 0.1 >"$WORK/waiting.sub"
waiting=$(submit "$WORK/waiting.sub") || exit 1
until_true 10 "three jobs are waited for" holds_are 3
equals "since when, as the holds say" \
    "$("$ROOST" status -constraint 'size(OfflineMatches) > 0' -af 'min(evalInEachContext(Since, OfflineMatches))' | sort -u)" \
    "$("$ROOST" q "$waiting" -af QDate | sort -u)"
while [ $kills -lt $HOLD_KILLS ]; do
    pause 20 250
    kill_negotiator
    equals "jobs that sleeping machines are held for, after kill $kills" "$(held_jobs)" 3
done
before=$(lives)
until_true 10 "another negotiator begins" eval "[ \$(lives) -gt $((before - 1)) ]"
pause 900 1000
equals "jobs that sleeping machines are held for, in the end" "$(held_jobs)" 3
sed -i 's/^ROOSTER_UNHIBERNATE = .*/ROOSTER_UNHIBERNATE = "Offline \&\& Unhibernate"/' "$ROOST_CONFIG"
kill -HUP "$(pids_of rooster)" || fail "there is no rooster"
until_true 40 "the waiting jobs are done" is_done "$waiting" 3
check_committed "$waiting" 3

say "the storm"
rm -f "$OUT"/*
chaos_jobs 150 0.8
usage() {
    "$ROOST" userprio -allusers -constraint 'IsAccountingGroup =!= true' -af WeightedAccumulatedUsage 2>/dev/null |
        awk '{ sum += $1 } END { printf "%.3f\n", sum + 0 }'
}
: >"$WORK/usage"
while [ $kills -lt $((HOLD_KILLS + STORM_KILLS)) ]; do
    pause 20 300
    [ $((kills % 5)) -ne 0 ] || usage >>"$WORK/usage"
    kill_negotiator
done
say "$kills kills, $(lives) lives"
[ "$(lives)" -ge $((HOLD_KILLS + STORM_KILLS)) ] || fail "only $(lives) negotiators were killed"
check_chaos 150 90
until_true 30 "all are asleep" is_asleep $NODES
pause 500 600
usage >>"$WORK/usage"

# A slot that was matched is not matched again before its machine said that it is free again, or that nothing came of it.
# Of one millisecond machines come first: the negotiator acts on what they said.  A match of which its machine had not
# heard when the negotiator was killed may never have left: the next negotiator may give that slot.
cat "$POOL"/nodes/*/log/StartLog* "$POOL"/log/NegotiatorLog* | sort -s -k1,1 >"$WORK/log"
equals "slots that were claimed twice at a time" "$(awk '
    / slot.state / {
        match($0, / slot=[^ ]+/); slot = substr($0, RSTART, RLENGTH)
        if ($0 ~ / to=Matched/ && busy[slot]) print $1 slot
        busy[slot] = $0 ~ / to=(Matched|Claimed|Preempting)/
    }' "$WORK/log")" ""
awk '
    / negotiator info match / {
        match($0, / slot=[^ ]+/); slot = substr($0, RSTART, RLENGTH)
        if (given[slot]) print $1 slot " was given at " given[slot]
        given[slot] = $1
        heard[slot] = 0
    }
    / negotiator info daemon.start / { for (slot in given) if (!heard[slot]) given[slot] = "" }
    / slot.state .* to=(Matched|Claimed)/ { match($0, / slot=[^ ]+/); heard[substr($0, RSTART, RLENGTH)] = 1 }
    / match.declined / || / slot.state .* to=(Unclaimed|Owner)/ {
        match($0, / slot=[^ ]+/); given[substr($0, RSTART, RLENGTH)] = ""
    }' "$WORK/log" >"$WORK/twice"
equals "slots that were given again before they were free" "$(cat "$WORK/twice")" ""
matches=$(grep -c ' negotiator info match ' "$WORK/log")
[ "$matches" -ge 40 ] || fail "only $matches matches"
say "$matches matches"

# Every second of every claim is charged once.  What a negotiator charged is durable when it says "usage.settled".  Only
# this may be lost: the use since then of a claim that ended while no negotiator watched (from its start until 0.1 s
# after it got the lease), or that ended before one that was killed had settled again.  Only this may be charged too
# much: a claim that began so is charged from the beginning of that second, and while the slot is Matched.
TZ=UTC0 awk '
    function seconds(stamp,  part) {
        split(stamp, part, /[-T:Z]/)
        return mktime(part[1] " " part[2] " " part[3] " " part[4] " " part[5] " 0") + part[6]
    }
    function later(a, b) { return a > b ? a : b }
    NF { now = seconds($1); watched = ready && now >= ready + 0.1 }
    / slot.state / {
        match($0, / slot=[^ ]+/); slot = substr($0, RSTART, RLENGTH)
        used = $0 ~ / to=(Claimed|Preempting)/
        if (used && !(slot in since)) {
            since[slot] = now
            early = now - later(int(now), settled)
            if (slot in matched) more += now - matched[slot]
            if (watched) unsure_more += early; else more += early
        }
        if (!used && slot in since) {
            claimed += now - since[slot]
            unseen = now - later(since[slot], settled)
            if (watched) unsure_less += unseen; else less += unseen
            delete since[slot]
        }
        if ($0 ~ / to=Matched/) matched[slot] = now; else delete matched[slot]
    }
    / negotiator info daemon.start / { less += unsure_less; more += unsure_more; unsure_less = unsure_more = ready = 0 }
    / negotiator info lease / { ready = now }
    / negotiator debug usage.settled / {
        match($0, / ago_ms=[0-9]+/); settled = now - substr($0, RSTART + 8, RLENGTH - 8) / 1000
        unsure_less = unsure_more = 0
    }
    END { printf "%.3f %.3f %.3f\n", claimed, less, more }' "$WORK/log" >"$WORK/claimed"
read -r claimed less more <"$WORK/claimed"
charged=$(tail -n 1 "$WORK/usage")
say "claimed for $claimed s, charged $charged s; may have lost $less s, and charged $more s too much"
equals "usage that went back" "$(awk '$1 > 0 { if ($1 < last) print last " then " $1; last = $1 }' "$WORK/usage")" ""
awk -v claimed="$claimed" -v charged="$charged" -v less="$less" -v more="$more" \
    'BEGIN { exit !(charged <= (claimed + more) * 1.02 + 1 && charged >= (claimed - less) * 0.98 - 1) }' ||
    fail "claimed for $claimed s, but charged $charged s, of which $less s may be lost and $more s too much"
pool_stop
passed

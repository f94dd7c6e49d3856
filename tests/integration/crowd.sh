#!/bin/bash
# Strangers and identities that each do the worst to collector and schedd: neither grows by more than 96 MB, and the
# commands of others are answered, in ARRIVAL_MS while the crowd is still arriving (its handshakes, all at once, then take
# both processors) and in CROWD_ANSWER_MS from then on.  The sizes of tools/crowd.sh are those of a real attack.
#
# TIMEOUT: 180
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
[ -x "$ROOST_BIN/roost-pilot" ] || { echo "skipped: the memory of a program with sanitizers says nothing"; exit 77; }

CROWD=$ROOST_BUILD/tests/bin/crowd
STRANGERS=${CROWD_STRANGERS:-300} IDENTITIES=${CROWD_IDENTITIES:-20} CONNECTIONS=${CROWD_CONNECTIONS:-2}
SECONDS_OF_IT=${CROWD_SECONDS:-8} ANSWER_MS=${CROWD_ANSWER_MS:-3000} ARRIVAL_MS=3000
ulimit -n "$(ulimit -Hn)"

rss_kib() { awk '$1 == "VmRSS:" { print $2 }' "/proc/$1/status"; }

# took COMMAND...: its time in ms
took() {
    local begin end
    begin=$(date +%s%N)
    timeout 30 "$@" >"$WORK/took.out" 2>&1 || fail "$*: $(cat "$WORK/took.out")"
    end=$(date +%s%N)
    echo $(((end - begin) / 1000000))
}

pool_init --nodes 1 --asleep
pool_start
collector=$(pids_of collector) schedd=$(pids_of schedd)
collector_at=$("$ROOST" status -collector -af MyAddress | sed 's/^tcp://')
schedd_at=$("$ROOST" status -schedd -af MyAddress | sed 's/^tcp://')
for address in collector_at schedd_at; do
    declare "$address=127.0.0.1:${!address##*:}"
done
key=POOL # the key that `roost init` makes for all tokens but those of glideins
# A friend over TCP, for whom no socket of this host speaks.
"$ROOST" token create --identity friend@personal --scope READ --file "$WORK/friend" || fail "token create"
friend() { ROOST_TOKEN_FILE=$WORK/friend timeout 30 "$ROOST" "$@"; }

before_collector=$(rss_kib "$collector") before_schedd=$(rss_kib "$schedd")
pids=()
"$CROWD" "$POOL/security" "$key" "$collector_at" collector "$STRANGERS" "$IDENTITIES" "$CONNECTIONS" "$SECONDS_OF_IT" >"$WORK/crowd.1" 2>&1 &
pids+=($!)
"$CROWD" "$POOL/security" "$key" "$schedd_at" claim "$STRANGERS" 0 0 "$SECONDS_OF_IT" >"$WORK/crowd.2" 2>&1 &
pids+=($!)
"$CROWD" "$POOL/security" "$key" "$schedd_at" schedd 4 "$IDENTITIES" "$CONNECTIONS" "$SECONDS_OF_IT" >"$WORK/crowd.3" 2>&1 &
pids+=($!)
crowd_is_there() { grep -q ready "$WORK"/crowd.1 && grep -q ready "$WORK"/crowd.2 && grep -q ready "$WORK"/crowd.3; }
ends=$((SECONDS + SECONDS_OF_IT))
most_collector=0 most_schedd=0 slowest=0 slowest_asked=nothing at_arrival=0 answers=0
# ask QUESTION: asks it, and counts how long the answer took
ask() {
    local ms arrives=false
    crowd_is_there || arrives=true
    ms=$(took "$ROOST" "$1")
    answers=$((answers + 1))
    if $arrives; then
        [ "$ms" -le "$at_arrival" ] || at_arrival=$ms
    elif [ "$ms" -gt "$slowest" ]; then
        slowest=$ms slowest_asked="$1, $((ends - SECONDS)) s before the end"
    fi
}
while [ $SECONDS -lt $ends ]; do
    for question in status q; do
        ask "$question"
        ROOST_TOKEN_FILE=$WORK/friend ask "$question"
    done
    now=$(rss_kib "$collector")
    [ "$now" -le "$most_collector" ] || most_collector=$now
    now=$(rss_kib "$schedd")
    [ "$now" -le "$most_schedd" ] || most_schedd=$now
done
for pid in "${pids[@]}"; do
    wait "$pid" || fail "the crowd: $(cat "$WORK"/crowd.?)"
done
crowd_is_there || fail "not all of the crowd came: $(cat "$WORK"/crowd.?)"
say "collector: $before_collector KiB, then $most_collector; schedd: $before_schedd KiB, then $most_schedd"
say "$answers answers, the slowest after $slowest ms ($slowest_asked), $at_arrival ms at the arrival; $(cat "$WORK"/crowd.? | tr '\n' ' ')"
[ $((most_collector - before_collector)) -lt $((96 << 10)) ] || fail "the collector grew"
[ $((most_schedd - before_schedd)) -lt $((96 << 10)) ] || fail "the schedd grew"
[ "$slowest" -le "$ANSWER_MS" ] || fail "an answer took $slowest ms: $slowest_asked"
[ "$at_arrival" -le "$ARRIVAL_MS" ] || fail "an answer took $at_arrival ms while the crowd arrived"
grep -q ' wire.limit .*identity=crowd' "$POOL/log/CollectorLog" || fail "the collector's log names nobody"
equals "daemons that ended" "$(pids_of collector) $(pids_of schedd)" "$collector $schedd"
grep -E ' wire\.(limit|strangers) ' "$POOL"/log/* | head -n 5
# It is over: a job runs as ever.
"$ROOST" status -collector -l | grep -i wire || fail "the collector's ad has no figures"
pool_stop
passed

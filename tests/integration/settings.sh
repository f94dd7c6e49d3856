#!/bin/bash
# Configuration while a pool runs: settings for one of two nodes, through restarts and kills; what may not be set; files
# that are read again, good and bad.
#
# TIMEOUT: 60
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"

config() { timeout 20 "$ROOST" config "$@"; }
refused() {
    local message=$1 out
    shift
    if out=$(config "$@" 2>&1); then fail "config $1 $2 $3 was not refused: $out"; fi
    [[ $out == *"$message"* ]] || fail "'$out' does not say '$message'"
    equals "lines of it" "$(wc -l <<<"$out")" 1
}
restarted() { [ -n "$(pids_of startd wn01)" ] && [ "$(pids_of startd wn01)" != "$1" ]; }
advertised() { [ "$("$ROOST" status -constraint 'Machine == "wn01"' -af PersistentConfig)" = "$1" ]; }

pool_init --nodes 2 --idle 3600
pool_start

# ---- one of two nodes
config set --node wn01 'START = $(START) && "a" =!= "\"b\\"' >"$WORK/set" || fail "config set"
grep -qx 'the startd of wn01: changed START' "$WORK/set" || fail "config set says: $(cat "$WORK/set")"
want='true && "a" =!= "\"b\\"'
equals "START of wn01" "$(config get --node wn01 START)" "$want"
equals "START of wn02" "$(config get --node wn02 START)" true
until_true 10 "the slot's ad lists it" advertised START
grep -q ' config.set .*knob=START .*by=' "$POOL/nodes/wn01/log/StartLog" || fail "who set it is not in the log"

# ---- what may not be set
refused "the knob is not in SETTABLE_ATTRS_ADMINISTRATOR" set --node wn01 "POWER_SLEEP_CMD=/bin/true"
refused "SETTABLE_ATTRS_ADMINISTRATOR can be set in files only" set --node wn01 "SETTABLE_ATTRS_ADMINISTRATOR=*"
refused "did you mean START?" set --node wn01 "STRAT=true"
refused "control character" set --node wn01 "START=true
POWER_SLEEP_CMD=/bin/true"
config set --node wn01 'KILL_DEBUG=$(RANK)' >/dev/null || fail "config set KILL_DEBUG"
refused "the value refers to itself: RANK -> KILL_DEBUG -> RANK" set --node wn01 'RANK=$(KILL_DEBUG) + 1'
config unset --node wn01 KILL_DEBUG >/dev/null || fail "config unset KILL_DEBUG"
refused "is not connected to the collector" set --node wn09 START=true
head -c 100000 /dev/zero | tr '\0' x >"$WORK/large"
refused "longer than 65536 bytes" set --node wn01 "START=$(cat "$WORK/large")"
"$ROOST" token create --identity user@personal --scope READ,WRITE --file "$WORK/token" || fail "token create"
if ROOST_TOKEN_FILE=$WORK/token config set --node wn01 START=false 2>"$WORK/weak"; then fail "a user may set START"; fi
grep -q 'not in SETTABLE_ATTRS_WRITE' "$WORK/weak" || fail "a user hears: $(cat "$WORK/weak")"
equals "START of wn01 after all that" "$(config get --node wn01 START)" "$want"

# ---- a startd that is killed while it is told: the old value or the new one, never a broken file
last=$want
one_of() {
    local now
    now=$(config get --node wn01 START 2>/dev/null) && { [ "$now" = "$last" ] || [ "$now" = "$1" ]; }
}
for try in 1 2 3; do
    pid=$(pids_of startd wn01)
    config set --node wn01 "START=MY.Try =!= $try" >/dev/null 2>&1 &
    setting=$!
    sleep "0.0$try" # anywhere in it
    kill -9 "$pid"
    wait "$setting"
    until_true 10 "a new startd" restarted "$pid"
    until_true 10 "wn01 has the old or the new value" one_of "MY.Try =!= $try"
    last=$(config get --node wn01 START)
done

# ---- the whole pool starts anew
config set --node wn01 'RANK = Owner == alice' >/dev/null 2>"$WORK/warned" || fail "config set of a doubtful value"
grep -q "RANK names the attribute 'alice', which no ad has" "$WORK/warned" || fail "config set warns: $(cat "$WORK/warned")"
config set --node wn01 START=false RANK=7 >/dev/null || fail "config set"
pool_stop
pool_start
equals "START of wn01 after a restart" "$(config get --node wn01 START)" false
equals "RANK of wn01 after a restart" "$(config get --node wn01 RANK)" 7
config unset --node wn01 START RANK >/dev/null || fail "config unset"
equals "START of wn01 taken back" "$(config get --node wn01 START)" true

# ---- files
has_master() { config get --node wn02 --subsystem MASTER DAEMON_LIST >/dev/null 2>&1; }
until_true 10 "the master of wn02 is connected" has_master
printf 'RANK = 3\nNUM_SLOTS = 3\nSTARTD.START = "$(START) && true"\nSTRAT = 1\n' >>"$POOL/nodes/wn02/roost.conf"
config reload --node wn02 >"$WORK/reload" || fail "config reload --node wn02"
grep -qx 'the startd of wn02: changed .*RANK.*' "$WORK/reload" || fail "it says: $(cat "$WORK/reload")"
grep -qx 'the startd of wn02: must be restarted to use the new value of NUM_SLOTS' "$WORK/reload" || fail "it says: $(cat "$WORK/reload")"
equals "START of wn02" "$(config get --node wn02 START)" "true && true"
until_true 10 "the master names what is unknown" grep -q "unknown knob 'STRAT' (did you mean START?)" \
    "$POOL/nodes/wn02/log/MasterLog"
printf 'node "x" {\n' >>"$POOL/nodes/wn02/roost.conf"
lines=$(wc -l <"$POOL/nodes/wn02/roost.conf")
broken="$POOL/nodes/wn02/roost.conf:$lines: the section 'node' is not closed"
refused "$broken" reload --node wn02
refused "$broken" reload
refused "$broken" check "$POOL/nodes/wn02/roost.conf"
equals "RANK of wn02 keeps" "$(config get --node wn02 RANK)" 3
grep -q ' error config.bad .*is not closed' "$POOL/nodes/wn02/log/StartLog" || fail "the startd's log does not say it"
sed -i '$d' "$POOL/nodes/wn02/roost.conf"
config check 2>"$WORK/unknown" >"$WORK/check" || fail "config check"
grep -q 'is valid' "$WORK/check" || fail "config check says: $(cat "$WORK/check")"
timeout 20 "$ROOST" reconfig >/dev/null || fail "roost reconfig"
passed

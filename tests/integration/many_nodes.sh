#!/bin/bash
# A pool of many nodes, and one whose DAEMON_LIST is short: names of nodes, node sections that only some read, `roost
# start` that waits for the daemons which the list names.
#
# TIMEOUT: 60
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

list() { # list DAEMON...: the pool's master keeps these
    sed -i "s/^DAEMON_LIST = .*/DAEMON_LIST = {$(tr ' ' ',' <<<"$*")}/" "$ROOST_CONFIG"
}

names() { find "$1/nodes" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort; }

# ---- names are as wide as the largest number
"$ROOST" init "$WORK/p100" --nodes 100 --asleep >/dev/null || fail "roost init --nodes 100"
equals "first and last of 100" "$(names "$WORK/p100" | sed -n '1p;$p' | xargs)" "wn001 wn100"
equals "tokens in the ledger" "$(wc -l <"$WORK/p100/security/issued.ads")" 106
if "$ROOST" init "$WORK/p10001" --nodes 10001 2>"$WORK/said"; then fail "10001 nodes are not refused"; fi
grep -q 'from 0 to 10000' "$WORK/said" || fail "init --nodes 10001 says: $(cat "$WORK/said")"

# ---- a mistake in a section that a command does not need
pool_init --nodes 2 --asleep
equals "two nodes" "$(names "$POOL" | xargs)" "wn01 wn02"
cp "$ROOST_CONFIG" "$WORK/good.conf"
echo 'node "other" { methd = wol }' >>"$ROOST_CONFIG"
"$ROOST" config get LOG >/dev/null || fail "config get needs no node section"
if "$ROOST" config check >"$WORK/said" 2>&1; then fail "config check reads no node section"; fi
grep -q "node 'other': methd: unknown option of a 'node' section (did you mean method?)" "$WORK/said" ||
    fail "config check says: $(cat "$WORK/said")"
cp "$WORK/good.conf" "$ROOST_CONFIG"
echo 'node "other" { method = "wol }' >>"$ROOST_CONFIG"
if "$ROOST" config get LOG >/dev/null 2>"$WORK/said"; then fail "a string without end is not refused"; fi
grep -q "roost.conf:[0-9]*: this string is not closed" "$WORK/said" || fail "config get says: $(cat "$WORK/said")"
cp "$WORK/good.conf" "$ROOST_CONFIG"

# ---- a node with more slots than a token allows by default
"$ROOST" init "$WORK/wide" --nodes 1 --cpus-per-node 100 >/dev/null || fail "roost init --cpus-per-node 100"
has_slots() { [ "$("$ROOST" status -af Name 2>/dev/null | wc -l)" = "$1" ]; }
ROOST_CONFIG=$WORK/wide/roost.conf
pool_start
until_true 20 "the pool has 100 slots" has_slots 100
"$ROOST" stop >/dev/null || fail "roost stop"
ROOST_CONFIG=$POOL/roost.conf

# ---- only what DAEMON_LIST names is waited for
list COLLECTOR NEGOTIATOR
pool_start
equals "negotiator ads" "$("$ROOST" status -negotiator -af Name | wc -l)" 1
[ -z "$(pids_of schedd)" ] || fail "a schedd runs"
pool_stop
sed -i 's/^PERSONAL_NODES.*/PERSONAL_NODES = none/' "$ROOST_CONFIG"
list SCHEDD
pool_start
[ -n "$(pids_of schedd)" ] || fail "no schedd runs"
"$ROOST" q >/dev/null || fail "roost q"
pool_stop
passed

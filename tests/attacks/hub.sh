#!/bin/bash
# A man in the collector's place, with the collector's key and certificate: he can command nothing, run nothing, read no file.
#
# TIMEOUT: 400
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
accounts_make
pool_init --nodes 2
machines_stay_up
echo 'START = TARGET.Unwanted =!= true' >>"$POOL/nodes/wn01/roost.conf"
# No collector but his: the daemons are started one by one, and wait for him.
alone() {
    local name=$1 config=$2
    shift 2
    timeout 390 "$ROOST_BIN/roost-$name" -config "$config" -log "$WORK/$name.$$.log" "$@" </dev/null >/dev/null 2>&1 &
    disown
}
for name in schedd negotiator rooster; do
    alone "$name" "$ROOST_CONFIG"
done
for node in wn01 wn02; do
    alone startd "$POOL/nodes/$node/roost.conf" -noresurrect
done
attack attack.py --of hub_attacks --files "$WORK" "$@"
passed

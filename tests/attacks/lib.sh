# tests/attacks/lib.sh - a pool of several accounts, as root, for attacks on it.
#
# The accounts exist in a mount namespace of the test only: its /etc/passwd and /etc/group are the machine's with alice, bob
# and one for each identity that submits.  A test sources this file with its own path and arguments.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
: "${ROOST_BIN:?where the programs are}" "${ROOST_SRC:?where the sources are}"
ATTACKS=$ROOST_SRC/tests/attacks
ACCOUNTS=(alice bob read write advertise negotiator administrator)
FIRST_UID=61801

[ "$(id -u)" -eq 0 ] || { echo "skipped: only root has a pool of several accounts"; exit 77; }
if [ -z "${ATTACKS_ACCOUNTS:-}" ]; then
    unshare --mount true 2>/dev/null || { echo "skipped: no mount namespace here"; exit 77; }
    ATTACKS_ACCOUNTS=1 exec unshare --mount --propagation private bash "$0" "$@"
fi
. "$ROOST_SRC/tests/integration/lib.sh"

accounts_make() {
    local uid=$FIRST_UID name
    cp /etc/passwd "$WORK/passwd"
    cp /etc/group "$WORK/group"
    mkdir -m 0755 "$WORK/home"
    for name in "${ACCOUNTS[@]}"; do
        echo "$name:x:$uid:$uid::$WORK/home/$name:/bin/bash" >>"$WORK/passwd"
        echo "$name:x:$uid:" >>"$WORK/group"
        mkdir -m 0711 "$WORK/home/$name"
        chown "$uid:$uid" "$WORK/home/$name"
        uid=$((uid + 1))
    done
    for name in passwd group; do
        mount --bind "$WORK/$name" /etc/$name || fail "accounts of the test's own"
    done
}

# attack PROGRAM [ARGUMENT...]: one of the programs here, on the pool.  77: it had nothing to do.
attack() {
    local program=$1 status=0
    shift
    timeout "${ATTACK_TIMEOUT:-380}" /usr/bin/python3 "$ATTACKS/$program" --pool "$POOL" --roost "$ROOST" "$@" || status=$?
    [ "$status" -ne 77 ] || exit 77
    [ "$status" -eq 0 ] || fail "$program $*"
}

# Machines that neither sleep nor divide otherwise than the attacks expect.
machines_stay_up() {
    local node
    for node in "$POOL"/nodes/*; do
        printf 'HIBERNATE = "NONE"\nNUM_SLOTS = 2\n' >>"$node/roost.conf"
    done
}

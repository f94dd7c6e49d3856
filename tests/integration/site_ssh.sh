#!/bin/bash
# tests/integration/site_ssh.sh - roost-site ssh on three hosts with an sshd each: glideins are spread, found, removed; a
# dead host does not keep the others from serving; what a network delivers late starts nothing; pilots are copied once.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2034 # lib_ssh.sh reads it
[ -n "${ROOST_OWN_NET:-}" ] || WORK=/nonexistent
. "$(dirname "$0")/lib_ssh.sh"
ssh_enter "$0" "$@"
unset WORK
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_ssh.sh"

umask 022
ssh_begin
for i in 1 2 3; do
    ssh_host "wn$i" "$i"
done
python3 "$ROOST_SRC/tests/integration/lib_site_ssh.py" "$ROOST_BIN/roost-site" "$OUT" "$SSH/config" || fail "see above"
passed

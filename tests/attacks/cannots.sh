#!/bin/bash
# What docs/SECURITY.md says that nobody can is tried: none of it works.
#
# TIMEOUT: 400
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
accounts_make
# As if alice were logged in.
mkdir -p /run/user
mount -t tmpfs tmpfs /run/user || fail "/run/user of the test's own"
install -d -m 0700 -o "$FIRST_UID" "/run/user/$FIRST_UID"
install -o "$FIRST_UID" /dev/null "/run/user/$FIRST_UID/bus"
pool_init --nodes 1 --cpus-per-node 2
machines_stay_up
pool_start
attack attack.py --of cannots --files "$WORK" "$@"
passed

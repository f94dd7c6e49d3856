#!/bin/bash
# What docs/SECURITY.md says that nobody can is tried: none of it works.
#
# TIMEOUT: 400
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
accounts_make
# As if alice were logged in, on a machine with a system bus.
mount -t tmpfs tmpfs /run || fail "/run of the test's own"
mkdir /run/user /run/dbus /run/screen
install -d -m 0700 -o "$FIRST_UID" "/run/user/$FIRST_UID" /run/screen/S-alice
install -o "$FIRST_UID" /dev/null "/run/user/$FIRST_UID/bus"
install -o "$FIRST_UID" /dev/null /run/screen/S-alice/1.pts
install -m 0666 /dev/null /run/dbus/system_bus_socket
pool_init --nodes 1 --cpus-per-node 2
machines_stay_up
pool_start
attack attack.py --of cannots --files "$WORK" "$@"
passed

#!/bin/bash
# What one account of a host gets out of root, or out of the sockets, beyond its own: nothing.
#
# TIMEOUT: 200
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
accounts_make
pool_init --nodes 1 --cpus-per-node 2
machines_stay_up
pool_start
attack attack.py --of accounts --files "$WORK" "$@"
passed

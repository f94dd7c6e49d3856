#!/bin/bash
# What one identity can do, with no more than its own scopes, to the time and the memory of others.
#
# TIMEOUT: 300
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
accounts_make
pool_init --nodes 1 --cpus-per-node 2
machines_stay_up
pool_start
attack attack.py --of bounds --files "$WORK" "$@"
passed

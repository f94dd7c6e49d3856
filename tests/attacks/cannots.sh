#!/bin/bash
# What docs/SECURITY.md says that nobody can is tried: none of it works.
#
# TIMEOUT: 400
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
accounts_make
pool_init --nodes 1 --cpus-per-node 2
machines_stay_up
pool_start
attack attack.py --of cannots --files "$WORK" "$@"
passed

#!/bin/bash
# Every secret of a pool is looked for in the memory of processes, in files, on the wire: what others find is of no use to them.
#
# TIMEOUT: 400
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
accounts_make
# Whoever started the pool has something in his environment that is nobody else's.
ROOTS_PASSWORD=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
export ROOTS_PASSWORD
pool_init --nodes 2 --cpus-per-node 2
machines_stay_up
printf 'NUM_SLOTS = 4\n' >>"$POOL/nodes/wn01/roost.conf"
pool_start
attack attack.py --of searches --files "$WORK" "$@"
passed

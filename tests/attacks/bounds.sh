#!/bin/bash
# What one identity can do, with no more than its own scopes, to the time and the memory of others.  Others wait for at most
# ATTACKS_ANSWER_S: 5 beside other tests (without what holds it they waited for 10 to 25), 0.5 is the promise.
#
# TIMEOUT: 300
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
accounts_make
pool_init --nodes 1 --cpus-per-node 2
machines_stay_up
pool_start
export ATTACKS_ANSWER_S=${ATTACKS_ANSWER_S:-5}
attack attack.py --of bounds --files "$WORK" "$@"
passed

#!/bin/bash
# Each identity asks each daemon each verb: what is allowed and what is refused is as in expected.txt.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
accounts_make
pool_init --nodes 1
machines_stay_up
pool_start
attack matrix.py "$@"
passed

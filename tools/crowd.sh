#!/bin/bash
# tools/crowd.sh - 2,000 strangers at collector and schedd each, and 500 identities at both, for a minute: neither may
# grow by more than 96 MB, and `roost status` and `roost q` are answered within half a second once all have come (3 s while
# they come).
#
#   tools/crowd.sh [STRANGERS [IDENTITIES [CONNECTIONS of each [SECONDS]]]]
#
# Wants a build (make), 16,384 descriptors, and a machine with nothing else to do: the crowd shares it.
#
# SPDX-License-Identifier: Apache-2.0
cd "$(dirname "$0")/.." || exit 1
export CROWD_STRANGERS=${1:-2000} CROWD_IDENTITIES=${2:-500} CROWD_CONNECTIONS=${3:-2} CROWD_SECONDS=${4:-60} CROWD_ANSWER_MS=500
export ROOST_BUILD=${ROOST_BUILD:-$PWD/build}
export ROOST_SRC=$PWD ROOST_BIN=${ROOST_BIN:-$PWD/build/bin}
exec tests/integration/crowd.sh

#!/bin/bash
# tools/people.sh [-m MINUTES]: people switch machines of a pool of six hosts off at random; every machine comes back when it is wanted.
#
# For MINUTES (20) people shut down, stop, cut and unplug three execute hosts in network namespaces, while jobs come; each
# command's answer is compared with the truth of ten seconds ago.  The short form of it in the suite is integration.six_hosts.
# Needs root.
#
# ROOST_BIN: the programs (build/bin).  ROOST_TEST_SEED: repeats what people do.  ROOST_TEST_KEEP=DIR: keeps the files of a
# run that failed.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
MINUTES=20
take_options "m=MINUTES" 0 0 "$@"
export ROOST_BIN=${ROOST_BIN:-$ROOST_SRC/build/bin} SIX_HOSTS_SECONDS=$((MINUTES * 60))
exec bash "$ROOST_SRC/tests/integration/six_hosts.sh"

#!/bin/bash
# tools/test_htcondor.sh [BUILD] - `make test-htcondor`: a real HTCondor, of Debian trixie, is a site of the factory.
#
# The root directory with HTCondor is made once, in BUILD/htcondor-root (270 MB); remove it to have it made anew.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
ROOST_SRC=$PWD ROOST_BUILD=$(realpath "${1:-build}")
export ROOST_SRC ROOST_BUILD ROOST_BIN=$ROOST_BUILD/bin
if [ "$(id -u)" -ne 0 ] || ! unshare --net --mount --uts --pid --fork true 2>/dev/null; then
    echo "skipped: an HTCondor of the test's own needs root and namespaces"
    exit 77
fi
tests/htcondor/root.sh "$ROOST_BUILD/htcondor-root"
exec unshare --net --mount --uts --pid --fork --kill-child --mount-proc /bin/bash tests/htcondor/site_htcondor.sh "$ROOST_BUILD/htcondor-root"

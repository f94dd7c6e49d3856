#!/bin/bash
# hostile_jobs.sh in a pool of somebody who is not root: there are user namespaces instead of accounts, and what no
# cgroup limits is measured.
#
# TIMEOUT: 180
# SPDX-License-Identifier: Apache-2.0
[ "$(id -u)" -eq 0 ] || { echo "skipped: hostile_jobs has just done it"; exit 77; }
command -v setpriv >/dev/null || { echo "skipped: there is no setpriv to become an ordinary user with"; exit 77; }
home=$(mktemp -d /tmp/roost-home-XXXXXX)
trap 'rm -rf "$home"' EXIT
mkdir -p "$home/bin" "$home/src/tests/integration" "$home/src/tools"
cp "$ROOST_BIN"/roost* "$home/bin/"
cp "$ROOST_SRC"/tests/integration/*.sh "$home/src/tests/integration/"
cp "$ROOST_SRC"/tools/*.sh "$home/src/tools/"
chown -R 65534:65534 "$home"
HOME=$home ROOST_BIN=$home/bin ROOST_SRC=$home/src setpriv --reuid=65534 --regid=65534 --clear-groups \
    bash "$home/src/tests/integration/hostile_jobs.sh"

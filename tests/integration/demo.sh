#!/bin/bash
# The demo does what it says, and its last line is the one that is promised.
#
# TIMEOUT: 150
# SPDX-License-Identifier: Apache-2.0
set -u
out=$(ROOST_BIN=$ROOST_BIN bash "$ROOST_SRC/tools/demo.sh") || { echo "$out"; exit 1; }
echo "$out"
last=$(tail -n 1 <<<"$out")
[[ $last =~ ^demo:\ ok:\ 12\ jobs\ completed,\ [1-4]\ machines\ woken,\ 0\ awake$ ]] ||
    { echo "the last line is: $last"; exit 1; }

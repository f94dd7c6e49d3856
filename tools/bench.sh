#!/bin/bash
# tools/bench.sh BUILD_FOLDER [NAME...] - runs the named benches, or all of them.
#
# Each prints lines "BENCH <name> <value> <unit> [ratio <value> vs <what>]"; its other output goes to stderr.
#
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/.." || exit 1
ROOST_SRC=$PWD
ROOST_BUILD=$(realpath "$1")
ROOST_BIN=$ROOST_BUILD/bin
export ROOST_SRC ROOST_BUILD ROOST_BIN
shift

status=0
run() {
    local name=$1 out
    shift
    if [ ${#wanted[@]} -gt 0 ] && [[ " ${wanted[*]} " != *" $name "* ]]; then
        return
    fi
    echo "bench $name" >&2
    if ! out=$("$@"); then
        echo "bench $name: failed" >&2
        status=1
    elif ! grep -q '^BENCH ' <<<"$out"; then
        echo "bench $name: the output has no line that begins with BENCH" >&2
        status=1
    fi
    grep '^BENCH ' <<<"$out"
    grep -v '^BENCH ' <<<"$out" >&2
}

wanted=("$@")
for source in bench/*.c; do
    [ -e "$source" ] || continue
    name=$(basename "$source" .c)
    run "$name" "$ROOST_BUILD/bench/$name"
done
for script in bench/*.sh; do
    case $script in bench/lib*.sh | 'bench/*.sh') continue ;; esac
    run "$(basename "$script" .sh)" bash "$script"
done
exit "$status"

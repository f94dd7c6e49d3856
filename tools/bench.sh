#!/bin/bash
# tools/bench.sh [--short] BUILD_FOLDER [NAME...] - runs the named benches, or all of them.
#
# Each prints lines "BENCH <name> <value> <unit> [ratio <value> vs <what>]", and ends with one; its other output goes to stderr.
# Where <what> begins with the word "target", the value is that part of what is asked for, and above 1 is too much.
# BENCH_LIMIT (no limit): with full sizes, a ratio to a target above this number is a failure.
# --short: with the sizes of the line "SHORT: NAME=VALUE ..." of its first comment, in a second or two.  That shows that the
# bench still runs, and measures nothing.  Exit status 77: no bench could run here, and each said why.
#
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/.." || exit 1
short=
if [ "${1:-}" = --short ]; then
    short=1
    shift
fi
ROOST_SRC=$PWD
ROOST_BUILD=$(realpath "${1:?usage: tools/bench.sh [--short] BUILD_FOLDER [NAME...]}")
ROOST_BIN=$ROOST_BUILD/bin
export ROOST_SRC ROOST_BUILD ROOST_BIN
shift

said=$(mktemp)
trap 'rm -f "$said"' EXIT
status=0 ran=
fault() {
    echo "bench $1: $2" >&2
    status=1
}
judge() { # judge NAME: its lines are standard input
    local line
    while read -r line; do
        fault "$1" "more than $BENCH_LIMIT times what is asked for: $line"
    done < <(awk -v limit="$BENCH_LIMIT" '$1 == "BENCH" && $5 == "ratio" && $7 == "vs" && $8 == "target" && $6 + 0 > limit + 0')
}
run() { # run SOURCE COMMAND...
    local name sizes=() out rc
    name=$(basename "${1%.*}")
    if [ -n "$short" ]; then
        read -ra sizes < <(sed -n '1,40s/^[ *#]*SHORT: //p' "$1")
        [ ${#sizes[@]} -gt 0 ] || { fault "$name" "the first comment of $1 has no line 'SHORT: NAME=VALUE ...'"; return; }
    fi
    shift
    echo "bench $name ${sizes[*]}" >&2
    env "${sizes[@]}" "$@" >"$said" # a file, as what a failed bench leaves running would hold a pipe open
    rc=$?
    out=$(cat "$said")
    if [ $rc -eq 77 ]; then
        grep -v '^BENCH ' <<<"$out" >&2
        return
    fi
    ran=1
    if [ $rc -ne 0 ]; then
        fault "$name" "failed with status $rc"
    elif [[ ! ${out##*$'\n'} =~ ^BENCH\ [a-z0-9_]+\ -?[0-9.]+\ [a-zA-Z] ]]; then
        fault "$name" "its last line is not 'BENCH name value unit': ${out##*$'\n'}"
    fi
    grep '^BENCH ' <<<"$out"
    [ -n "$short" ] || [ -z "${BENCH_LIMIT:-}" ] || judge "$name" <<<"$out"
    grep -v '^BENCH ' <<<"$out" >&2
}

all=(bench/*.c)
for source in bench/*.sh; do
    case $source in bench/lib*.sh | 'bench/*.sh') ;; *) all+=("$source") ;; esac
done
wanted=("$@")
for name in "${wanted[@]}"; do
    [ -e "bench/$name.c" ] || [ -e "bench/$name.sh" ] || fault "$name" "no such bench: bench/ has neither $name.c nor $name.sh"
done
for source in "${all[@]}"; do
    name=$(basename "${source%.*}")
    [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " = *" $name "* ]] || continue
    case $source in
    *.sh) run "$source" bash "$source" ;;
    *)
        if [ -x "$ROOST_BUILD/bench/$name" ]; then
            run "$source" "$ROOST_BUILD/bench/$name"
        else
            fault "$name" "$ROOST_BUILD/bench/$name is missing: tools/build.sh release benches"
        fi
        ;;
    esac
done
[ "$status" -ne 0 ] || [ -n "$ran" ] || exit 77
exit "$status"

#!/bin/bash
# tools/build.sh copes with a build folder of another place, another generator or another user.
#
# SPDX-License-Identifier: Apache-2.0
set -u
WORK=$(mktemp -d)
trap 'chmod -R u+w "$WORK"; rm -rf "$WORK"' EXIT
failures=0

expect() {
    local what=$1
    shift
    "$@" || {
        echo "FAILED: $what; the build said:"
        sed 's/^/    /' "$WORK/out"
        failures=$((failures + 1))
    }
}
build() {
    "$1/tools/build.sh" release >"$WORK/out" 2>&1
}

mkdir -p "$WORK/first/tools"
cp "$ROOST_SRC/tools/build.sh" "$WORK/first/tools/"
cp "$ROOST_SRC/CMakePresets.json" "$WORK/first/"
cat >"$WORK/first/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(small NONE)
add_custom_target(mark ALL COMMAND ${CMAKE_COMMAND} -E echo "${CMAKE_SOURCE_DIR}" > mark)
END

expect "the first build" build "$WORK/first"
expect "it built in build/" test "$(cat "$WORK/first/build/mark")" = "$WORK/first"
expect "a second build" build "$WORK/first"

mv "$WORK/first" "$WORK/second"
expect "after a move" build "$WORK/second"
expect "it built in the new place" test "$(cat "$WORK/second/build/mark")" = "$WORK/second"

cp -r "$WORK/second" "$WORK/third"
expect "a copy" build "$WORK/third"
expect "it built in the copy" test "$(cat "$WORK/third/build/mark")" = "$WORK/third"

sed -i 's/^CMAKE_GENERATOR:INTERNAL=.*/CMAKE_GENERATOR:INTERNAL=Other/' "$WORK/third/build/CMakeCache.txt"
expect "another generator" build "$WORK/third"

# Root may write anywhere: only another user can see what this is about.
if [ "$(id -u)" -ne 0 ]; then
    chmod -w "$WORK/third/build"
    expect "a folder that we may not write" build "$WORK/third"
fi

echo 'message(FATAL_ERROR "broken on purpose")' >>"$WORK/third/CMakeLists.txt"
if build "$WORK/third"; then expect "a configuration that fails is a failure" false; fi
expect "and says why" grep -q 'broken on purpose' "$WORK/out"
[ "$failures" -eq 0 ]

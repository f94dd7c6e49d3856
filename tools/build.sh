#!/bin/bash
# tools/build.sh PRESET [TARGET...] - configures and builds one preset of CMakePresets.json.
#
# A build directory may not fit any more: the clone was moved or copied, another user built here before, or ninja
# was installed later.  CMake stops with an error in each of these cases; this script starts over where it must.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
preset=$1
shift
dir=build
[ "$preset" = release ] || dir=build/$preset
# An outer make's job server is not for the inner build.
unset MAKEFLAGS MFLAGS MAKELEVEL

for tool in cmake pkg-config; do
    command -v "$tool" >/dev/null || { echo "build: $tool is not installed; run 'make deps'" >&2; exit 1; }
done

# Files that we may not write belong to another user: move build/ aside, and remove what we may.
if [ -d build ] && [ -n "$(find build ! -writable -print -quit 2>/dev/null)" ]; then
    # Renamed within its folder: that needs no right to the folder itself.
    aside=build-of-another-user-$$
    mv build "$aside" || { echo "build: build/ belongs to another user and cannot be moved; remove it as that user" >&2; exit 1; }
    rm -rf "$aside" 2>/dev/null || echo "build: build/ belonged to another user and was moved to $aside/; remove that as the same user"
fi

generator=Ninja
command -v ninja >/dev/null || generator="Unix Makefiles"

cached() {
    sed -n "s/^$1:[A-Z]*=//p" "$dir/CMakeCache.txt"
}
fresh=()
if [ -f "$dir/CMakeCache.txt" ]; then
    if [ "$(realpath -m "$(cached CMAKE_HOME_DIRECTORY)")" != "$(pwd -P)" ] ||
        [ "$(realpath -m "$(cached CMAKE_CACHEFILE_DIR)")" != "$(pwd -P)/$dir" ] ||
        [ "$(cached CMAKE_GENERATOR)" != "$generator" ]; then
        fresh=(--fresh)
    fi
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake --preset "$preset" -G "$generator" "${fresh[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
if [ $# -eq 0 ]; then
    set -- all
fi
cmake --build "$dir" -j "$(nproc)" --target "$@"

#!/bin/bash
# tools/lint_stub.sh FLAG... -- SOURCE... - the stub of images has no data when clang compiles it, either.
#
# ckpt/stub/stub.ld refuses data.  The compiler decides whether a constant in the source becomes data that must be
# relocated, and the build uses only gcc; the presets fuzz and coverage use clang.
#
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/lib.sh"

command -v clang >/dev/null || { echo "lint.stub: clang is not installed; run 'make deps'"; exit 1; }
flags=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    flags+=("$1")
    shift
done
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
objects=()
for source in "$@"; do
    objects+=("$folder/$(basename "$source").o")
    clang "${flags[@]}" -c "$source" -o "${objects[-1]}" || exit 1
done
ld -T "$ROOST_SRC/ckpt/stub/stub.ld" -pie --no-dynamic-linker -o "$folder/stub.elf" "${objects[@]}"

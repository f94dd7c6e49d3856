#!/bin/bash
# tools/lint_stub.sh FLAG... -- SOURCE... - clang, too, makes a stub of images that has no data of its own.
#
# ckpt/stub/stub.ld refuses data.  Whether a constant in the source becomes data that has to be relocated is for the
# compiler to choose, and the build asks only one: the presets fuzz and coverage ask clang.
#
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/lib.sh"

command -v clang >/dev/null || { echo "lint.stub: no clang: run 'make deps'"; exit 1; }
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

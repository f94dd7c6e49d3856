#!/bin/bash
# tools/tidy.sh BUILD_FOLDER [FILE...] - clang-tidy and cppcheck over the tree's C files (or those named).
#
# Slower than the checks of `make lint`, and sometimes wrong: run it before a review; it is not a test.
#
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/lib.sh"
cd "$ROOST_SRC" || exit 1
build=$1
shift
if [ $# -eq 0 ]; then
    mapfile -t files < <(tree_files '*.c' | grep -vE '^(tests|bench)/')
else
    files=("$@")
fi
[ ${#files[@]} -gt 0 ] || exit 0
status=0
printf '%s\n' "${files[@]}" | xargs -P2 -n 4 clang-tidy --quiet -p "$build" 2>/dev/null |
    grep -vE '^[0-9]+ warnings? ' | sed "s,^$ROOST_SRC/,," | tee "$build/tidy.out"
grep -qE ': (warning|error): ' "$build/tidy.out" && status=1
if command -v cppcheck >/dev/null; then
    cppcheck --quiet --std=c11 -I. -D_GNU_SOURCE= --enable=warning,portability --inline-suppr \
        --suppress=missingIncludeSystem --error-exitcode=1 -j2 "${files[@]}" || status=1
fi
exit "$status"

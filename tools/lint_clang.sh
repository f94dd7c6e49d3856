#!/bin/bash
# tools/lint_clang.sh - clang has no warnings about any C file.  (The build shows gcc's warnings.)
#
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/lib.sh"
cd "$ROOST_SRC" || exit 1

command -v clang >/dev/null || { echo "lint.clang: clang is not installed; run 'make deps'"; exit 1; }
read -ra warnings < <(roost_warnings)
packages=$(pkg-config --cflags libevent libssl libconfuse sqlite3 jansson libxml-2.0 cmocka 2>/dev/null || true)
# shellcheck disable=SC2086 # several options
out=$(tree_files '*.c' | xargs -r -P2 -n 8 clang -std=c17 -D_GNU_SOURCE= '-DROOST_VERSION="0"' \
    '-DROOST_SONAME_LIBXML_2_0=""' -I. $packages \
    "${warnings[@]}" -fsyntax-only -fno-caret-diagnostics 2>&1 |
    sed -nE 's/^(\.\/)?([^: ]+:[0-9]+):[0-9]+: (warning|(fatal )?error): (.*)/\2: \5 (clang)/p')
if [ -n "$out" ]; then
    printf '%s\n' "$out" | sort -u
    exit 1
fi

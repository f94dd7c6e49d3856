#!/bin/bash
# tools/lint_format.sh - every C file is formatted as clang-format does with the tree's .clang-format.
#
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/lib.sh"

# One version, that of Debian 12: others break lines differently.
format=$(command -v clang-format-14 || command -v clang-format) || {
    echo "lint.format: clang-format is not installed; run 'make deps'"
    exit 1
}
cd "$ROOST_SRC" || exit 1
found=$(tree_files '*.c' '*.h' | xargs -r -P2 -n 20 "$format" --dry-run --ferror-limit=1 2>&1 |
    sed -nE 's/^([^:]+:[0-9]+):[0-9]+: (warning|error):.*/\1: not formatted as clang-format does; run '"'make fmt'"'/p')
if [ -n "$found" ]; then
    printf '%s\n' "$found" | sort -u
    exit 1
fi

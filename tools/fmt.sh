#!/bin/bash
# tools/fmt.sh - formats every C file of the tree, with the version of clang-format that lint.format asks.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname "$0")/lib.sh"
format=$(command -v clang-format-14 || command -v clang-format)
cd "$ROOST_SRC"
tree_files '*.c' '*.h' | xargs -r -P2 -n 20 "$format" -i

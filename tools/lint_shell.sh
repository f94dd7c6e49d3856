#!/bin/bash
# tools/lint_shell.sh - shell scripts parse, and shellcheck finds nothing.
#
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/lib.sh"
cd "$ROOST_SRC" || exit 1

scripts=$(tree_files '*.sh' .ci/run)
[ -n "$scripts" ] || exit 0
status=0
while IFS= read -r script; do
    out=$(bash -n "$script" 2>&1) || {
        printf '%s\n' "$out" | sed -nE 's/^([^:]+): line ([0-9]+): (.*)/\1:\2: \3/p'
        status=1
    }
done <<<"$scripts"
command -v shellcheck >/dev/null || { echo "lint.shell: shellcheck is not installed; run 'make deps'"; exit 1; }
# SC1091: a sourced file is not followed.  SC2016: $x in single quotes is usually meant.
# It prints file:line:column: message [code].
printf '%s\n' "$scripts" | xargs -r -P2 -n 10 shellcheck -s bash -S style -e SC1091,SC2016 -f gcc || status=1
exit "$status"

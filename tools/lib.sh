# tools/lib.sh - what the scripts of this folder share; sourced, not run.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

ROOST_SRC=${ROOST_SRC:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
export ROOST_SRC

# tree_files PATTERN... - the files of the tree (tracked, or new and not ignored) that match one of the git pathspecs,
# one per line.  Works on a tarball without git, too, and in a clone that belongs to another user.
tree_files() {
    cd "$ROOST_SRC" || return 1
    if [ -e .git ] && command -v git >/dev/null; then
        git -c safe.directory='*' ls-files -co --exclude-standard -- "$@" | sort -u
    else
        local pattern
        for pattern in "$@"; do
            find . \( -name .git -o -path './build*' \) -prune -o -type f -path "*${pattern#\*}" -print
        done | sed 's,^\./,,' | sort -u
    fi | while IFS= read -r file; do
        if [ -f "$file" ]; then printf '%s\n' "$file"; fi
    done
}

# The warnings of the build, for checks that call a compiler themselves.
roost_warnings() {
    sed -n 's/^set(ROOST_WARNINGS \(.*\))$/\1/p' "$ROOST_SRC/cmake/roost_compile.cmake"
}

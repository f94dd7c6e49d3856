#!/bin/bash
# tools/lint_headers.sh - every header compiles alone, with gcc and clang, and is guarded by FOLDER_FILE_H.
#
# A header that its .c file includes first has been compiled alone: by gcc in the build, by clang in lint.clang.
# Only the other headers are compiled here.
#
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/lib.sh"
cd "$ROOST_SRC" || exit 1

is_included_first() {
    [ -f "${1%.h}.c" ] && [ "$(grep -m1 '^#' "${1%.h}.c")" = "#include \"$1\"" ]
}

check_one() {
    local header=$1 guard compiler out status=0
    guard=$(printf '%s' "$header" | tr 'a-z/.-' 'A-Z___')
    if ! grep -qx "#ifndef $guard" "$header" || ! grep -qx "#define $guard" "$header"; then
        echo "$header:1: the include guard must be $guard"
        status=1
    fi
    is_included_first "$header" && return "$status"
    for compiler in gcc clang; do
        # shellcheck disable=SC2086 # the warnings are several words
        if ! out=$("$compiler" -std=c17 -D_GNU_SOURCE= -I. $ROOST_PATHS $ROOST_WARNINGS -Werror -fsyntax-only -x c \
            -include "$header" /dev/null 2>&1); then
            printf '%s\n' "$out" | sed -nE "s/^(\.\/)?([^: ]+:[0-9]+):[0-9]+: (fatal )?error: (.*)/\2: \4 \
($compiler, header compiled alone: include what it uses)/p"
            status=1
        fi
    done
    return "$status"
}
export -f check_one is_included_first
ROOST_WARNINGS=$(roost_warnings)
# Of libraries whose headers lie deeper than /usr/include.
ROOST_PATHS=$(pkg-config --cflags-only-I libxml-2.0)
export ROOST_WARNINGS ROOST_PATHS
for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || { echo "lint.headers: $compiler is not installed; run 'make deps'"; exit 1; }
done
tree_files '*.h' | xargs -r -P2 -I{} bash -c 'check_one "$1"' check {}

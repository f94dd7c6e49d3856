# tools/lib.sh - functions that the scripts of this folder share; sourced, not run.
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

# take_options "LETTER=VARIABLE..." LEAST MOST ARGUMENT... - the command line of a script that is run by hand.  Each option has a
# number of 1 or more, which becomes the variable's value; LEAST to MOST operands behind the options become OPERANDS.  On
# an error, prints the error and the usage (the second line of the script), and exits with status 2.
take_options() {
    local word names='' least=$2 most=$3 option OPTIND=1 OPTARG=''
    local -A variables=()
    for word in $1; do
        variables[${word%%=*}]=${word#*=}
        names+=${word%%=*}:
    done
    shift 3
    while getopts ":$names" option; do
        case $option in
        :) wrong_usage "option -$OPTARG needs a number" ;;
        \?) wrong_usage "unknown option -$OPTARG" ;;
        *)
            [[ $OPTARG =~ ^[1-9][0-9]{0,8}$ ]] || wrong_usage "option -$option: '$OPTARG' is not a number of 1 or more"
            printf -v "${variables[$option]}" %s "$OPTARG"
            ;;
        esac
    done
    shift $((OPTIND - 1))
    [ $# -ge "$least" ] || wrong_usage "too few arguments: $# given, at least $least expected"
    [ $# -le "$most" ] || wrong_usage "unexpected argument '${*:most + 1:1}'"
    # shellcheck disable=SC2034 # for the script
    OPERANDS=("$@")
}

wrong_usage() {
    printf '%s: %s\n' "$0" "$1" >&2
    sed -n '2{s/^# //;s/: .*//;s/^/usage: /;p;q}' "$0" >&2
    exit 2
}

# Prepares a pool as the integration tests use it: sources their libraries.  ROOST_BIN: the programs (build/bin).
use_test_pool() {
    export ROOST_BIN=${ROOST_BIN:-$ROOST_SRC/build/bin}
    export ROOST_BUILD=${ROOST_BUILD:-${ROOST_BIN%/bin}}
    . "$ROOST_SRC/tests/integration/lib.sh"
    . "$ROOST_SRC/tests/integration/lib_chaos.sh"
}

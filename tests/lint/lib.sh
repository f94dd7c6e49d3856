# tests/lint/lib.sh - plants mistakes in a small tree and looks for the findings.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
set -u

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
TREE=$WORK/tree
OUT=$WORK/out
PYTHON=$(command -v /usr/bin/python3 || command -v python3)
failures=0

# An empty tree with our tools and rules, and without what they record of our code.
new_tree() {
    rm -rf "$TREE"
    mkdir -p "$TREE"/{tools,cmake,base,wire,rooster}
    cp "$ROOST_SRC"/tools/{*.py,*.sh,*.txt,*.rules} "$TREE/tools/"
    rm "$TREE"/tools/{docs_names,floors,tests_only}.txt
    cp "$ROOST_SRC/.clang-format" "$TREE/"
    cp "$ROOST_SRC/cmake/roost_compile.cmake" "$TREE/cmake/"
}

# plant PATH: standard input becomes that file of the tree.
plant() {
    mkdir -p "$TREE/$(dirname "$1")"
    cat >"$TREE/$1"
}

# lint CHECK [ARGUMENT...]: runs tools/lint_CHECK over the tree.
lint() {
    local tool=$TREE/tools/lint_$1
    shift
    if [ -f "$tool.py" ]; then
        (cd "$TREE" && ROOST_SRC=$TREE "$PYTHON" "$tool.py" "$TREE" "$@") >"$OUT" 2>&1
    else
        (cd "$TREE" && ROOST_SRC=$TREE bash "$tool.sh" "$@") >"$OUT" 2>&1
    fi
}

fail() {
    echo "FAILED: $1; the check said:"
    sed 's/^/    /' "$OUT"
    failures=$((failures + 1))
}

# finds WHAT PATTERN CHECK...: the check fails and one of its lines begins with PATTERN.
finds() {
    local what=$1 pattern=$2
    shift 2
    if lint "$@"; then
        fail "$what: passed"
    elif ! grep -qE "^$pattern" "$OUT"; then
        fail "$what: no line begins with '$pattern'"
    fi
}

# passes WHAT CHECK...: the check says nothing.
passes() {
    local what=$1
    shift
    if ! lint "$@" || [ -s "$OUT" ]; then
        fail "$what: did not pass"
    fi
}

finish() {
    [ "$failures" -eq 0 ] || { echo "$failures expectations failed"; exit 1; }
    exit 0
}

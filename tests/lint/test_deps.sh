#!/bin/bash
# tools/deps.sh installs what is missing, as root or with sudo, and nothing else.
#
# The package tools are played by scripts in front of the PATH, which write down how they were called.
#
# SPDX-License-Identifier: Apache-2.0
set -u
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
failures=0
mkdir "$WORK/bin"

stub() {
    printf '#!/bin/bash\n%s\n' "$2" >"$WORK/bin/$1"
    chmod +x "$WORK/bin/$1"
}
# What a machine has, who we are, and an apt-get that installs from the second call of its kind on.
machine() {
    printf '%s install ok installed\n' "$@" >"$WORK/installed"
    rm -f "$WORK"/calls
    touch "$WORK"/calls
}
stub dpkg-query "cat '$WORK/installed'"
stub apt-get "echo \"apt-get \$*\" >>'$WORK/calls'
case \"\$*\" in *install*) [ ! -e '$WORK/broken' ] || { rm '$WORK/broken'; exit 100; } ;; esac"
stub id 'echo "${PLAYED_UID:-0}"'
cat >"$WORK/list" <<'END'
# a comment
build gcc   the compiler
build cmake the build
test  cmocka unit tests
END

deps() {
    PATH=$WORK/bin:$PATH ROOST_DEPS_LIST=$WORK/list "$ROOST_SRC/tools/deps.sh" "$@" >"$WORK/out" 2>&1
}
expect() {
    local what=$1
    shift
    "$@" || {
        echo "FAILED: $what; it said:"
        cat "$WORK/out" "$WORK/calls"
        failures=$((failures + 1))
    }
}

machine gcc cmake
expect "nothing is missing: succeeds" deps build
expect "nothing is missing: silent" test ! -s "$WORK/out"
expect "nothing is missing: calls nobody" test ! -s "$WORK/calls"

machine gcc:amd64
expect "something is missing: succeeds" deps build test
expect "it says which and what for" grep -qE '^ +cmake +build: the build$' "$WORK/out"
expect "it installs exactly that" grep -qE 'install -y --no-install-recommends cmake cmocka$' "$WORK/calls"

machine gcc
touch "$WORK/broken"
expect "an install that fails once: succeeds" deps build
expect "it updates the lists" grep -q ' update$' "$WORK/calls"
expect "it tries again" test "$(grep -c ' install ' "$WORK/calls")" = 2

machine gcc
stub sudo "echo sudo >>'$WORK/calls'; exec \"\$@\""
export PLAYED_UID=1000
expect "an ordinary user: succeeds" deps build
expect "an ordinary user: with sudo" grep -q '^sudo$' "$WORK/calls"
rm "$WORK/bin/sudo"
if ! PATH=$WORK/bin:/nowhere command -v sudo >/dev/null; then
    machine gcc
    # A PATH without any sudo, with the few programs that the script needs.
    for program in bash env grep cat; do ln -sf "$(command -v "$program")" "$WORK/bin/$program"; done
    ln -sf "$(command -v dirname)" "$WORK/bin/dirname"
    PATH=$WORK/bin ROOST_DEPS_LIST=$WORK/list "$(command -v bash)" "$ROOST_SRC/tools/deps.sh" build >"$WORK/out" 2>&1
    expect "neither root nor sudo: fails" test $? = 1
    expect "neither root nor sudo: says what to do" grep -q 'apt-get install .* cmake$' "$WORK/out"
fi
deps nonsense
expect "an unknown purpose: usage" test $? = 2
[ "$failures" -eq 0 ]

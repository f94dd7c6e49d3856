#!/bin/bash
# The batch forms of `roost classad` answer every case of tests/conformance/classad as HTCondor does, byte for byte, under
# any time zone and locale; and answer each line before the next one is there.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
set -u
: "${ROOST_BIN:?where the programs are}" "${ROOST_SRC:?where the sources are}"
ROOST=$ROOST_BIN/roost
CASES=$ROOST_SRC/tests/conformance/classad
WORK=$(mktemp -d /tmp/roost-it-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
unset ROOST_CONFIG

fail() {
    echo "FAILED: $*"
    exit 1
}

# cases FILE OPTION...: all fields but the last are the case, the last one is the answer
cases() {
    local file=$1 status=0
    shift
    sed 's/\t[^\t]*$//' "$CASES/$file.tsv" >"$WORK/$file.in"
    sed 's/^.*\t//' "$CASES/$file.tsv" >"$WORK/$file.expected"
    "$ROOST" classad "$@" <"$WORK/$file.in" >"$WORK/$file.out" 2>"$WORK/$file.err" || status=$?
    [ "$status" -eq 0 ] || fail "$file: exit status $status"
    [ ! -s "$WORK/$file.err" ] || fail "$file: standard error has: $(head -3 "$WORK/$file.err")"
    cmp "$WORK/$file.expected" "$WORK/$file.out" ||
        fail "$file: $(diff "$WORK/$file.expected" "$WORK/$file.out" | head -5)"
    echo "$file: $(wc -l <"$WORK/$file.out") answers"
}

all_cases() {
    cases eval eval --batch
    cases eval_old eval --batch --old
    cases eval_in_ad eval --batch --tsv
    cases match eval --batch --tsv
    cases unparse unparse --batch
    cases unparse_old unparse --batch --old
}

export TZ=UTC LC_ALL=C
all_cases
if command -v localedef >/dev/null; then # decimal commas, where the machine has none
    localedef -i de_DE -f UTF-8 "$WORK/de_DE.UTF-8" >/dev/null 2>&1
    export LOCPATH=$WORK
fi
# The README says: observed with TZ=UTC.  What does not speak of the local zone is the same everywhere; here the locale.
LC_ALL=de_DE.UTF-8 all_cases
LC_ALL=C.UTF-8 all_cases

# Each line is answered when it has come, not when the next ones have.
coproc BATCH { "$ROOST" classad eval --batch; }
# Bash forgets the id as soon as it has ended.
# shellcheck disable=SC2153
batch_pid=$BATCH_PID
for number in 1 2 3; do
    echo "$number + 1" >&"${BATCH[1]}"
    read -r -t 20 answer <&"${BATCH[0]}" || fail "no answer to line $number"
    [ "$answer" = $((number + 1)) ] || fail "line $number is answered by '$answer'"
done
eval "exec ${BATCH[1]}>&-"
wait "$batch_pid" || fail "the batch ends with $?"

# The last line need not be ended, and an empty one is a case.
[ "$(printf '1+1\n\n-2' | "$ROOST" classad eval --batch)" = $'2\nPARSE-ERROR\n-2' ] || fail "ends of lines"

# As arguments: one result a line, the reason and exit status 1 when one is refused.
status=0
out=$("$ROOST" classad eval '1+' '{1+1}' '-1' 2>"$WORK/err") || status=$?
[ "$out" = $'PARSE-ERROR\n{ 1 + 1 }\n-1' ] || fail "arguments: $out"
[ "$status" -eq 1 ] || fail "a refused argument: exit status $status"
grep -q "at byte 2" "$WORK/err" || fail "no position: $(cat "$WORK/err")"
[ "$(echo '[a = 2]' | "$ROOST" classad eval --ad - 'a * 3' 'my.b')" = $'6\nundefined' ] || fail "--ad -"
printf 'B = 7\n\n' >"$WORK/target"
[ "$(printf 'a = "x\\\\"\n' | "$ROOST" classad eval --ad - --target "$WORK/target" 'size(a)' 'target.b')" = $'3\n7' ] ||
    fail "long forms and --target"
"$ROOST" classad eval 2>"$WORK/err" && fail "no expression is no usage error"
[ "$("$ROOST" classad unparse --old 'a =?= -  1')" = 'a =?=  -1' ] || fail "unparse --old"

# Maps and accounts are the configuration's; without one there are none.
printf '# groups\n* alice physics,chem\n* /^(b.*)$/ "all, \\1"\n' >"$WORK/groups"
printf 'CLASSAD_USER_MAP_NAMES = "groups, data"\nCLASSAD_USER_MAPFILE_groups = "%s"\n' "$WORK/groups" >"$WORK/pool.conf"
printf 'CLASSAD_USER_MAPDATA_data = "* eve users"\nCLASSAD_ENABLE_USER_HOME = true\n' >>"$WORK/pool.conf"
ask() {
    "$ROOST" classad eval 'userMap("groups", "alice")' 'userMap("Groups", "alice", "chem")' 'userMap("groups", "bob")' \
        'userMap("groups", "eve", "x", "none")' 'userMap("data.*", "eve", undefined)' 'userMap("other", "eve")' \
        'userHome("root")' 'userHome("nobody-of-that-name", "/")'
}
ROOST_CONFIG=$WORK/pool.conf ask >"$WORK/out" || fail "maps: $(cat "$WORK/out")"
diff "$WORK/out" - <<EOF || fail "maps"
{ "physics","chem" }
"chem"
{ "all","bob" }
"none"
"users"
undefined
"$(getent passwd root | cut -d: -f6)"
"/"
EOF
ask >"$WORK/out" || fail "no maps: $(cat "$WORK/out")"
[ "$(grep -c '^undefined$' "$WORK/out")" -eq 6 ] || fail "no configuration: $(cat "$WORK/out")"
echo passed

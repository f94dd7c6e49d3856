#!/bin/bash
# `roost classad convert`, `match` and `check`: the long forms of tests/conformance/classad come out as HTCondor's, each
# form reads back what it wrote, what is refused says where, and an input that is too large or too deep ends in a limit.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
set -u
: "${ROOST_BIN:?where the programs are}" "${ROOST_SRC:?where the sources are}"
ROOST=$ROOST_BIN/roost
CASES=$ROOST_SRC/tests/conformance/classad/longform
WORK=$(mktemp -d /tmp/roost-it-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
unset ROOST_CONFIG

fail() {
    echo "FAILED: $*"
    exit 1
}

# same FILE TEXT: the file has this text
same() {
    [ "$(cat "$1")" = "$2" ] || fail "$1 has '$(cat "$1")', not '$2'"
}

# ---- long to long, and a round through each form, in each zone and locale ----

export LC_ALL=C TZ=UTC
count=0
for input in "$CASES"/*.in; do
    "$ROOST" classad convert --from long --to long "$input" >"$WORK/out" 2>"$WORK/err"
    status=$?
    cmp "$WORK/out" "${input%.in}.out" || fail "$input: $(diff "$WORK/out" "${input%.in}.out" | head -5)"
    refused=$(grep -c '^PARSE-ERROR$' "$WORK/out")
    [ "$refused" -eq 0 ] || [ "$status" -eq 1 ] || fail "$input: status $status with a refused ad"
    count=$((count + 1))
    [ "$refused" -eq 0 ] || continue
    for form in new json xml old; do
        "$ROOST" classad convert --to "$form" "$input" >"$WORK/there" || fail "$input to $form"
        TZ=Asia/Kolkata LC_ALL=de_DE.UTF-8 "$ROOST" classad convert --from "$form" --to long "$WORK/there" \
            >"$WORK/back" || fail "$input from $form"
        cmp "$WORK/out" "$WORK/back" || fail "$input through $form: $(diff "$WORK/out" "$WORK/back" | head -5)"
        "$ROOST" classad convert --to long <"$WORK/there" | cmp "$WORK/out" - || fail "$input: $form is not recognised"
    done
done
echo "$count long forms"
[ "$count" -gt 10 ] || fail "where are the long forms?"

# ---- several ads ----

for number in 1 2 3; do
    printf 'N = %s\nL = { %s, [ a = "x%s" ] }\nR = 0.%s\n\n' "$number" "$number" "$number" "$number"
done >"$WORK/ads"
for form in new json xml long; do
    LC_ALL=de_DE.UTF-8 "$ROOST" classad convert --to "$form" "$WORK/ads" >"$WORK/$form" || fail "several to $form"
    "$ROOST" classad convert --from "$form" --to new "$WORK/$form" >"$WORK/back" || fail "several from $form"
    [ "$(wc -l <"$WORK/back")" -eq 3 ] || fail "three ads through $form are: $(cat "$WORK/back")"
    grep -q '^\[ L = { 3,\[ a = "x3" \] }; N = 3; R = 3.0000' "$WORK/back" || fail "$form: $(cat "$WORK/back")"
done
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys; assert [a["N"] for a in json.load(open(sys.argv[1]))] == [1, 2, 3]' "$WORK/json" ||
        fail "no JSON: $(cat "$WORK/json")"
    python3 -c 'import sys, xml.dom.minidom as m
assert len(m.parse(sys.argv[1]).documentElement.getElementsByTagName("a")) == 12' "$WORK/xml" ||
        fail "no XML: $(cat "$WORK/xml")"
fi
cat "$WORK/ads" "$WORK/ads" | "$ROOST" classad convert --from long --to json - | grep -c '"N"' >"$WORK/out"
same "$WORK/out" 6

# An ad is written when it is complete, not when the file ends.
coproc CONVERT { "$ROOST" classad convert --from new --to new -; }
# Bash forgets the id as soon as it has ended.
# shellcheck disable=SC2153
convert_pid=$CONVERT_PID
for number in 1 2; do
    echo "[ a = $number ]" >&"${CONVERT[1]}"
    read -r -t 20 answer <&"${CONVERT[0]}" || fail "ad $number does not come out"
    [ "$answer" = "[ a = $number ]" ] || fail "ad $number comes out as '$answer'"
done
eval "exec ${CONVERT[1]}>&-"
wait "$convert_pid" || fail "convert ends with $?"

# ---- check ----

"$ROOST" classad check "$WORK/ads" >"$WORK/out" || fail "three good ads: $(cat "$WORK/out")"
same "$WORK/out" "$WORK/ads: 3 ads, no faults"
printf 'A = 1\nB = (2\n\nC = 3\nD 4\n' >"$WORK/bad"
"$ROOST" classad check "$WORK/bad" >"$WORK/out" 2>&1 && fail "two faults are none"
cut -d: -f2,3 "$WORK/out" >"$WORK/places"
same "$WORK/places" $'2:7\n5:3'
for _ in $(seq 100); do echo 'A = ('; done >"$WORK/bad"
"$ROOST" classad check --limit 7 "$WORK/bad" >"$WORK/out" 2>&1 && fail "a hundred faults are none"
[ "$(grep -c 'expression expected' "$WORK/out")" -eq 7 ] || fail "--limit 7: $(cat "$WORK/out")"
"$ROOST" classad check "$WORK/none" >"$WORK/out" 2>&1 && fail "no file is no fault"
printf '<!DOCTYPE c [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n<c><a n="a"><s>&a;</s></a></c>\n' >"$WORK/bad.xml"
"$ROOST" classad convert --from xml --to long "$WORK/bad.xml" >"$WORK/out" 2>"$WORK/err" && fail "an entity is read"
grep -q root: "$WORK/out" && fail "a file is read"
grep -q "entity declarations are not allowed" "$WORK/err" || fail "$(cat "$WORK/err")"

# ---- match ----

printf 'Requirements = TARGET.Cpus >= 4 && Memory > 10\nRank = Cpus\n' >"$WORK/job"
echo '[ Cpus = 8; Memory = 20; Requirements = true ]' >"$WORK/machine"
"$ROOST" classad match "$WORK/job" "$WORK/machine" >"$WORK/out" || fail "they match: $(cat "$WORK/out")"
grep -q 'A Rank: 8' "$WORK/out" || fail "$(cat "$WORK/out")"
echo '[ Cpus = 2; Memory = 20; Requirements = true ]' >"$WORK/machine"
status=0
"$ROOST" classad match "$WORK/job" "$WORK/machine" >"$WORK/out" || status=$?
[ "$status" -eq 1 ] || fail "no match: status $status"
grep -q 'false: TARGET.Cpus >= 4' "$WORK/out" || fail "$(cat "$WORK/out")"
grep -q 'TARGET.Cpus = 2' "$WORK/out" || fail "$(cat "$WORK/out")"
grep -q 'Memory' "$WORK/out" && fail "a clause that holds is shown: $(cat "$WORK/out")"

# ---- limits ----

# refused FORM TEXT...: the text on standard input is refused for its size or depth
refused() {
    local form=$1 status=0
    "$ROOST" classad convert --from "$form" --to new - >"$WORK/out" 2>"$WORK/err" || status=$?
    [ "$status" -eq 1 ] || fail "$2: status $status"
    [ "$(wc -c <"$WORK/out")" -lt 100 ] || fail "$2: $(head -c 200 "$WORK/out")"
    grep -Eqi 'deep|long|large|limit|huge|max' "$WORK/err" || fail "$2: $(head -c 300 "$WORK/err")"
    [ "$(wc -c <"$WORK/err")" -lt 1000 ] || fail "$2: $(wc -c <"$WORK/err") bytes of reason"
}
# many COUNT TEXT
many() {
    yes -- "$2" | head -n "$1" | tr -d '\n'
}
{ printf '[ a = ' && many 10000 '{ '; } | refused new "10,000 lists"
{ printf '[ a = ' && many 10000 '( '; } | refused new "10,000 parentheses"
{ printf '[ a = ' && many 10000 '[ a = ' ; } | refused new "10,000 ads"
{ printf '[ a = ' && many 10000 '- ' && echo '1 ]'; } | refused new "10,000 signs"
{ printf 'a = ' && many 10000 'f('; } | refused long "10,000 calls"
{ printf '{"a":' && many 10000 '['; } | refused json "10,000 arrays"
{ printf '{"a":' && many 10000 '{"a":'; } | refused json "10,000 objects"
{ printf '<c><a n="a">' && many 10000 '<l>'; } | refused xml "10,000 elements"
{ printf '[ a = "' && many 1048576 'xxxxxxxxxxxx' && echo '" ]'; } | refused new "12 MB in quotes"
{ printf 'a = "' && many 1048576 'xxxxxxxxxxxx' && echo '"'; } | refused long "12 MB on a line"
{ printf '{"a":"' && many 1048576 'xxxxxxxxxxxx' && echo '"}'; } | refused json "12 MB in quotes of JSON"
{ printf '<c><a n="a"><s>' && many 1048576 'xxxxxxxxxxxx' && echo '</s></a></c>'; } | refused xml "12 MB in <s>"
{ printf '{"a":[1' && many 1048576 ',1234567890' && echo ']}'; } | refused json "12 MB of numbers"
for text in "$(many 10000 '(')" "$(many 10000 '{')" "$(many 10000 '!')x"; do
    [ "$(echo "$text" | "$ROOST" classad eval --batch)" = PARSE-ERROR ] || fail "10,000 deep in a batch"
done
[ "$({ printf '"' && many 1048576 'xxxxxxxxxxxx' && echo '"'; } | "$ROOST" classad eval --batch)" = PARSE-ERROR ] ||
    fail "12 MB in a batch"

# ---- the zone ----

# What is written without a zone is the caller's time of day; nothing else depends on where the caller is.
export TZ=Asia/Kolkata
[ "$("$ROOST" classad eval 'absTime("2024-03-01T12:30:00")')" = 'absTime("2024-03-01T12:30:00+05:30")' ] || fail "zone"
[ "$("$ROOST" classad eval 'formatTime(0, "%H:%M")')" = '"05:30"' ] || fail "formatTime: local time"
[ "$("$ROOST" classad eval 'absTime(0, 3600)' 'int(absTime("1970-01-01T00:00:00Z"))')" = \
    $'absTime("1970-01-01T01:00:00+01:00")\n0' ] || fail "zones that are named"
LC_ALL=de_DE.UTF-8 "$ROOST" classad eval '1.5 + 1' 'real("1.5")' 'string(0.5)' >"$WORK/out"
same "$WORK/out" $'2.500000000000000E+00\n1.500000000000000E+00\n"5.000000000000000E-01"'
echo passed

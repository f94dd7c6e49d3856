#!/bin/bash
# `roost submit --dry-run FILE` makes of each case of tests/conformance/submit what HTCondor makes of it: the same exit
# status, and every attribute of its ads with the same value. What may differ is listed in docs/SUBMIT.md with the
# reason, twenty names at most.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
set -u
: "${ROOST_BIN:?where the programs are}" "${ROOST_SRC:?where the sources are}"
ROOST=$ROOST_BIN/roost
CASES=${1:-$ROOST_SRC/tests/conformance/submit}
WORK=$(mktemp -d /tmp/roost-it-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
unset ROOST_CONFIG CORPUS_NOSUCH
export LC_ALL=C TZ=UTC CORPUS_VAR=hello CORPUS_OTHER="two words"
export ROOST_FILESYSTEM_DOMAIN=fs.example

# The names in the first column of the table "Attributes that differ" of docs/SUBMIT.md.
sed -n '/^## Attributes that differ/,/^## /s/^| `\([A-Za-z]*\)` .*/\1/p' "$ROOST_SRC/docs/SUBMIT.md" >"$WORK/excused"
[ "$(wc -l <"$WORK/excused")" -le 20 ] || { echo "FAILED: docs/SUBMIT.md excuses more than 20 attributes"; exit 1; }

# compare EXPECTED GOT: prints each attribute of an expected block that the block of the same number has not, or has
# with another value.
compare() {
    awk -v excused="$WORK/excused" -v got="$2" '
        function name(line) { return substr(line, 1, index(line, "=") - 1) }
        BEGIN {
            while ((getline line < excused) > 0) skip[tolower(line)] = 1
            block = 1
            while ((getline line < got) > 0) {
                if (line == "") { block++; continue }
                have[block, tolower(name(line))] = line
            }
            blocks = block
            block = 1
        }
        $0 == "" { block++; next }
        !(tolower(name($0)) in skip) {
            mine = have[block, tolower(name($0))]
            if (mine != $0) printf "block %d: expected %s\n         but got  %s\n", block, $0, mine
        }' "$1"
}

failed=0 count=0
for case in "$CASES"/[0-9]*; do
    name=${case##*/}
    rm -rf "$WORK/dir"
    cp -r "$case" "$WORK/dir"
    rm -f "$WORK"/dir/expected.*
    status=0
    (cd "$WORK/dir" && "$ROOST" submit --dry-run job.sub >"$WORK/ads" 2>"$WORK/err") || status=$?
    expected=$(cat "$case/expected.rc")
    problem=
    if [ "$status" -ne "$expected" ]; then
        problem="exit status $status, expected $expected: $(head -2 "$WORK/err")"
    elif [ "$status" -ne 0 ] && [ "$(wc -l <"$WORK/err")" -ne 1 ]; then
        problem="not one line of error: $(cat "$WORK/err")"
    elif [ -f "$case/expected.ads" ]; then
        sed "s|@DIR@|$WORK/dir|g; s|@USER@|$(id -un)|g; s|@FSDOMAIN@|fs.example|g" "$case/expected.ads" >"$WORK/expected"
        problem=$(compare "$WORK/expected" "$WORK/ads")
    fi
    count=$((count + 1))
    if [ -n "$problem" ]; then
        failed=$((failed + 1))
        printf '%s\n%s\n' "== $name" "$problem"
    fi
done
[ "$count" -gt 0 ] || { echo "FAILED: no cases in $CASES"; exit 1; }
echo "$((count - failed)) of $count cases as HTCondor"
[ "$failed" -eq 0 ]

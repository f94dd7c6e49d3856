#!/bin/bash
# What the how-tos of docs/howto show is what comes: their configurations are taken by a rooster, and the dry run of each says
# what stands there.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

# block KIND FILE: the text of its fenced blocks of that kind.
block() { awk -v "start=\`\`\`$1" '$0 == start { on = 1; next } $0 == "```" { on = 0 } on' "$2"; }

pool_init --nodes 1 --idle 86400 --asleep
knows_rooster() { "$ROOST" power status >/dev/null 2>&1; }
count=0
for page in "$ROOST_SRC"/docs/howto/*.md; do
    grep -q "^\`\`\`console" "$page" || continue # of jobs, not of power
    name=$(basename "$page" .md)
    say "$name"
    cp "$ROOST_CONFIG" "$WORK/roost.conf"
    block conf "$page" >>"$ROOST_CONFIG"
    command=$(block console "$page" | sed -n 's/^\$ roost //p')
    block console "$page" | sed 1d | sort >"$WORK/shown"
    [ -s "$WORK/shown" ] || fail "$name shows no dry run"
    pool_start
    until_true 30 "the rooster is there" knows_rooster
    eval "\"\$ROOST\" $command" >"$WORK/said" 2>&1 # one that is not known makes it fail, as shown
    sort "$WORK/said" >"$WORK/plain" # failures are on another stream
    diff "$WORK/shown" "$WORK/plain" >"$WORK/diff" || fail "$name: $(cat "$WORK/diff")"
    equals "wakes" "$(wakes)" ""
    # and its report and its story are there to be asked for
    "$ROOST" power report >/dev/null || fail "roost power report"
    "$ROOST" why wn01 >"$WORK/why" || fail "roost why wn01"
    grep -q '^wn01: Off' "$WORK/why" || fail "roost why wn01: $(cat "$WORK/why")"
    pool_stop
    mv "$WORK/roost.conf" "$ROOST_CONFIG"
    count=$((count + 1))
done
equals "how-tos" "$count" 3
passed

#!/bin/bash
# A pool whose machines are all asleep: they wake for the jobs, no more of them than the jobs can use, and sleep again.
#
# TIMEOUT: 150
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

pool_init --nodes 3 --idle 1 --asleep
pool_start
is_asleep 3 || fail "not all asleep after the start"
equals "wakes before there are jobs" "$(wakes)" ""

# Nobody wakes machines: a match of one that sleeps is seen in its offline ad, with its time.
say "a match while the rooster stands still"
rooster=$(pids_of rooster)
kill -STOP "$rooster" || fail "no rooster"
begun=$(date +%s)
number_jobs 1 0 >"$WORK/one.sub"
cluster=$(submit "$WORK/one.sub") || exit 1
matched_at() { "$ROOST" status -constraint 'Offline =?= true && MachineLastMatchTime =!= undefined' -af MachineLastMatchTime; }
is_matched() { [ -n "$(matched_at)" ]; }
until_true 20 "a sleeping machine is matched" is_matched
at=$(matched_at)
{ [ "$at" -ge "$begun" ] && [ "$at" -le "$(date +%s)" ]; } || fail "MachineLastMatchTime: '$at', from $begun on"
equals "machines awake" "$(awake_nodes)" ""
kill -CONT "$rooster"
until_true 30 "the job is done" is_done "$cluster" 1
until_true 20 "asleep after it" is_asleep 3

# few COUNT: as many jobs wake as many machines, and never is another one awake.
few() {
    local cluster most=0 now before begun=$SECONDS
    say "$1 jobs for 3 machines"
    before=$(wakes | wc -l)
    number_jobs "$1" 0.5 >"$WORK/few.sub"
    cluster=$(submit "$WORK/few.sub") || exit 1
    until is_done "$cluster" "$1"; do
        now=$(awake_count)
        [ "$now" -le "$most" ] || most=$now
        [ $((SECONDS - begun)) -lt 30 ] || fail "$1 jobs are not done"
    done
    check_committed "$cluster" "$1"
    check_outputs "$1"
    until_true 20 "asleep after $1 jobs" is_asleep 3
    [ "$most" -le "$1" ] || fail "$most machines were awake for $1 jobs"
    equals "machines woken for $1 jobs" $(($(wakes | wc -l) - before)) "$1"
    check_ledger
}
few 1
few 2

for round in 1 2; do
    say "round $round: 50 jobs"
    before=$(wakes | wc -l)
    number_jobs 50 0.2 >"$WORK/fifty.sub"
    rm -f "$OUT"/*
    cluster=$(submit "$WORK/fifty.sub") || exit 1
    begun=$SECONDS
    "$ROOST" wait "$cluster" --timeout 60 >"$WORK/wait.out" 2>&1 &
    waiter=$!
    until is_done "$cluster" 50; do
        [ $((SECONDS - begun)) -lt 60 ] || fail "50 jobs are not done: $(done_count "$cluster")"
        sleep 0.1
    done
    wait "$waiter" || fail "roost wait: $(cat "$WORK/wait.out")"
    say "done after $((SECONDS - begun)) s"
    check_committed "$cluster" 50
    check_outputs 50
    until_true 20 "asleep after round $round" is_asleep 3
    woken=$(($(wakes | wc -l) - before))
    equals "machines woken in round $round" "$woken" 3
    equals "wakes of one machine in round $round" \
        "$(wakes | tail -n 3 | cut -d' ' -f1 | sort | uniq -d)" ""
    check_ledger
done

say "a test of one machine"
node=$("$ROOST" status -constraint 'Offline =?= true' -af Machine | sort -u | head -n 1)
"$ROOST" power test "$node" >"$WORK/test.out" 2>&1 || fail "roost power test: $(cat "$WORK/test.out")"
grep -qE "^$node came up in [0-9.]+ s$" "$WORK/test.out" || fail "roost power test says: $(cat "$WORK/test.out")"
until_true 20 "asleep after the test" is_asleep 3
equals "tests in the ledger" "$("$ROOST" power history -constraint 'Test' -af Machine Outcome)" "$node Up"
equals "tests that are shown" "$("$ROOST" power status -l | grep -c '^LastTestPassed = true')" 1
check_ledger

say "kept up by hand"
"$ROOST" power keep wn01 --until 1h 2>"$WORK/refused" && fail "a machine that sleeps is kept up"
grep -q 'wn01 is asleep; run `roost power on wn01` first' "$WORK/refused" || fail "$(cat "$WORK/refused")"
live() { "$ROOST" status -constraint 'Machine == "wn01" && Offline =!= true' -af "$@" 2>/dev/null; }
is_kept() { # it may be asleep again before it is told
    "$ROOST" power on wn01 >/dev/null 2>&1
    "$ROOST" power keep wn01 --until 1h --reason "a course" >"$WORK/kept" 2>&1
}
until_true 60 "it is kept up" is_kept
grep -q '^wn01 stays up until 20' "$WORK/kept" || fail "$(cat "$WORK/kept")"
is_held() { live HibernationHeldBy | grep -q '^kept up by .*: a course$'; }
until_true 30 "it would sleep, but for that" is_held
shows_keep() { [ "$(live PowerKeepReason)" = "a course" ]; }
boot=$(live BootId)
was=$(live DaemonStartTime)
kill -9 "$(pids_of startd wn01)" || fail "no startd"
has_new_startd() { [ -n "$(live DaemonStartTime)" ] && [ "$(live DaemonStartTime)" != "$was" ]; }
until_true 30 "another startd" has_new_startd
until_true 30 "it knows that it is kept up" shows_keep
was=$(pids_of collector)
kill -9 "$was" || fail "no collector"
has_new_collector() { [ -n "$(pids_of collector)" ] && [ "$(pids_of collector)" != "$was" ]; }
until_true 30 "another collector" has_new_collector
until_true 30 "it hears that it is kept up" shows_keep
until_true 30 "it would still sleep" is_held
equals "its boot" "$(live BootId)" "$boot"
says_why() { "$ROOST" why wn01 2>/dev/null | grep -q 'kept up until .* by .*: a course'; }
until_true 30 "roost why" says_why
"$ROOST" power keep wn01 --until now | grep -q '^wn01 is no longer kept up' || fail "roost power keep --until now"
until_true 30 "asleep when nobody keeps it up" is_asleep 3

say "an idle machine is kept awake"
of_reserve() { "$ROOST" power history -constraint 'AskedBy == "reserve"' -af Machine Outcome; }
is_one_awake() { [ "$(awake_count)" = 1 ] && [ "$(of_reserve | wc -l)" = "$1" ]; }
is_in_reserve() { [ "$("$ROOST" status -constraint 'Offline =!= true' -af HibernationHeldBy)" = "the rooster: 1 idle machines are awake; 1 must stay awake (ROOSTER_RESERVE)" ]; }
# The collector was killed a moment ago: what it shows is believed at once.
printf '%s\n' 'ROOSTER_RESERVE = "00:00-12:00 = 1, else 1"' 'ROOSTER_ASLEEP_AGAIN = 1' 'ROOSTER_COLLECTOR_MIN_AGE = 0' >>"$ROOST_CONFIG"
timeout 20 "$ROOST" config reload >"$WORK/reload" 2>&1 || fail "roost config reload: $(cat "$WORK/reload")"
until_true 60 "one was woken, nobody waits for it" is_one_awake 1
until_true 20 "it is kept awake" is_in_reserve
spare=$(awake_nodes)
"$ROOST" why "$spare" >"$WORK/why" || fail "roost why: $(cat "$WORK/why")"
grep -q ROOSTER_RESERVE "$WORK/why" || fail "roost why $spare says: $(cat "$WORK/why")"
for how in --dry-run ""; do
    "$ROOST" power sleep "$spare" $how >"$WORK/sleep.out" 2>&1 && fail "it sleeps $how: $(cat "$WORK/sleep.out")"
    grep -q "ROOSTER_RESERVE" "$WORK/sleep.out" || fail "roost power sleep $how says: $(cat "$WORK/sleep.out")"
done
kill -KILL "$(pids_of rooster)" || fail "no rooster"
is_known() { [ "$(of_reserve 2>/dev/null)" = "$spare Up" ]; }
until_true 20 "another rooster knows what was woken for the reserve" is_known
"$ROOST" power sleep "$spare" --force >"$WORK/sleep.out" 2>&1 || fail "power sleep --force: $(cat "$WORK/sleep.out")"
until_true 60 "another is woken instead" is_one_awake 2
until_true 20 "that one is kept awake" is_in_reserve
[ "$(awake_nodes)" != "$spare" ] || fail "$spare was woken again"

pool_stop
passed

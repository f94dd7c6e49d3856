#!/bin/bash
# A node whose daemons stand still (SIGSTOP) is shown as not responding within seconds wherever it is shown, and counts
# nowhere as free, awake or running.  An administrator is told once.  As its power method says that it is on, it stays Unknown,
# and is not woken.  The mark goes as soon as the node is heard again, and its jobs have run on.  Then the node loses its power (kill -9 of all its processes): it left no offline ads, but its power
# method says that it is off, and the jobs wake it.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --cpus-per-node 2
echo 'HIBERNATE = "\"NONE\""' >>"$POOL/nodes/wn01/roost.conf"
sed -i 's/^PERSONAL_NODES.*/PERSONAL_NODES = awake/' "$ROOST_CONFIG"
grep -q '^PERSONAL_NODES' "$ROOST_CONFIG" || echo 'PERSONAL_NODES = awake' >>"$ROOST_CONFIG"
cat >"$WORK/alert" <<END
#!/bin/sh
cat >>"$WORK/alerts"
END
chmod 755 "$WORK/alert"
echo "ROOSTER_TICKET_CMD = \"$WORK/alert\"" >>"$ROOST_CONFIG"
echo 'ROOSTER_ASSUME_ASLEEP = 20' >>"$ROOST_CONFIG"
pool_start
gated_jobs 2 end >"$WORK/job.sub"
job=$(submit "$WORK/job.sub") || exit 1
jobs_run() { [ "$("$ROOST" q "$job" -af JobStatus 2>/dev/null | grep -c 2)" = 2 ]; }
until_true 30 "its two slots have a job each" jobs_run
gated_jobs 1 end >"$WORK/idle.sub"
idle=$(submit "$WORK/idle.sub") || exit 1

marked() { "$ROOST" status -constraint 'NotRespondingSince =!= undefined' -af Name 2>/dev/null; }
is_marked() { [ -n "$(marked)" ]; }
is_heard() { [ -z "$(marked)" ] && "$ROOST" status -constraint 'State == "Claimed"' -af Name | grep -q .; }
jobs_cut() { [ "$("$ROOST" q "$job" -af 'JobDisconnectedDate isnt undefined' 2>/dev/null | grep -c true)" = "$1" ]; }
# truth: what each command says of the silent node.
truth() {
    "$ROOST" status >"$WORK/status" 2>"$WORK/status.err" || fail "roost status: $(cat "$WORK/status.err")"
    grep -q NotResponding "$WORK/status" || fail "status does not show it: $(cat "$WORK/status")"
    grep -q 'wn01: not responding since ' "$WORK/status.err" || fail "status says nothing: $(cat "$WORK/status.err")"
    equals "free slots" "$("$ROOST" status -available -af Name)" ""
    equals "slots in any state" "$(awk '$1 == "Total" && $2 ~ /^[0-9]/ { print $3 + $4 + $5 }' "$WORK/status")" 0
    "$ROOST" power status >"$WORK/power" 2>&1
    grep wn01 "$WORK/power" | grep -q 'Unknown.*not responding since' || fail "power status: $(cat "$WORK/power")"
    equals "as JSON" "$("$ROOST" power status --json | grep -c NotRespondingSince)" 1
    until_true 3 "the schedd knows it, too" jobs_cut 2
    "$ROOST" q -run "$job" | grep -q 'wn01 (not responding since ' || fail "q -run: $("$ROOST" q -run "$job")"
    "$ROOST" q -nobatch >"$WORK/q"
    for whose in query 'all users'; do
        grep -q "^Total for $whose: 3 jobs; .* 1 idle, 0 running, .*, 2 disconnected" "$WORK/q" || fail "totals for $whose: $(cat "$WORK/q")"
    done
    "$ROOST" q | grep -q '^Total for query: 3 jobs; .* 0 running, .*, 2 disconnected' || fail "totals of batches: $("$ROOST" q)"
    "$ROOST" why "$job.0" | grep -q 'not responding since' || fail "why: $("$ROOST" why "$job")"
    "$ROOST" why "$idle" >"$WORK/why"
    grep -q 'not responding' "$WORK/why" || fail "why of a job that waits: $(cat "$WORK/why")"
    equals "running, as the collector counts" "$("$ROOST" status -collector -af HostsClaimed HostsUnclaimed HostsNotResponding | sort -u)" "0 0 2"
}

say "its daemons stand still"
mapfile -t daemons < <(pids_of master wn01; pids_of startd wn01; pids_of starter wn01)
kill -STOP "${daemons[@]}"
began=$SECONDS
until_true 30 "it is marked" is_marked
took=$((SECONDS - began))
[ "$took" -le 12 ] || fail "it was marked after $took s"
truth
kill -9 "$(pids_of schedd)"
counts() { "$ROOST" q -totals 2>/dev/null | grep -q '1 idle, 0 running, .*, 2 disconnected'; }
until_true 20 "the next schedd counts the same" counts
was_told() { grep -q '^Fault = "NotResponding"' "$WORK/alerts" 2>/dev/null; }
until_true 60 "an administrator is told" was_told
# Its power method says that it is on: it is kept as Unknown by offline ads, which do not expire, and no job wakes it.
is_kept() { [ "$("$ROOST" status -constraint 'Offline =?= true && NotRespondingSince > 0' -af PowerState 2>/dev/null | sort -u)" = Unknown ]; }
until_true 90 "it is kept as Unknown" is_kept
"$ROOST" power status >"$WORK/power" 2>&1
grep wn01 "$WORK/power" | grep -q 'Unknown.*not responding since' || fail "power status: $(cat "$WORK/power")"
"$ROOST" why "$idle" >"$WORK/why"
grep -q 'not respond' "$WORK/why" || fail "why of a job that waits: $(cat "$WORK/why")"
"$ROOST" status >"$WORK/status" 2>&1
grep -q 'wn01: not responding since ' "$WORK/status" || fail "status says nothing: $(cat "$WORK/status")"
equals "free slots" "$("$ROOST" status -available -af Name)" ""
equals "wakes" "$("$ROOST" power history -constraint 'Kind == "Wake"' -af Machine)" ""
kill -CONT "${daemons[@]}"
until_true 5 "it is heard again" is_heard
until_true 10 "so are its jobs" jobs_cut 0
"$ROOST" q -totals >"$WORK/q"
grep -q '1 idle, 2 running, 0 held, 0 suspended$' "$WORK/q" || fail "totals: $(cat "$WORK/q")"
jobs_run || fail "they do not run any more"
equals "how often an administrator was told" "$(grep -c '^Fault' "$WORK/alerts")" 1

say "its power is cut"
boot_of() { "$ROOST" status -constraint 'Machine == "wn01"' -af BootId 2>/dev/null | sort -u; }
boot=$(boot_of)
for _ in 1 2 3; do # the master first: it starts nothing again
    mapfile -t daemons < <(traces "$POOL/nodes/wn01/")
    [ ${#daemons[@]} -eq 0 ] || kill -9 "${daemons[@]}" 2>/dev/null
done
is_off() { "$ROOST" power history -constraint 'Kind == "Sleep"' -af Reason 2>/dev/null | grep -q 'went without a word'; }
until_true 30 "it is asleep, as its power method says" is_off
equals "who asked for that" "$("$ROOST" power history -constraint 'Kind == "Sleep"' -af AskedBy | sort -u)" nobody
open_gate end
is_back() { [ -n "$(boot_of)" ] && [ "$(boot_of)" != "$boot" ] && [ "$(awake_count)" -eq 1 ]; }
until_true 40 "the job that waits wakes it" is_back
until_true 30 "that job is done" is_done "$idle" 1
equals "marks" "$(marked)" ""

say "the rooster stands still: what the machines' ads say is shown within seconds, and the rooster is named"
rooster=$(pids_of rooster)
kill -STOP "$rooster"
began=$SECONDS
"$ROOST" power status >"$WORK/power" 2>&1 && fail "power status without a rooster succeeds: $(cat "$WORK/power")"
took=$((SECONDS - began))
[ "$took" -le 12 ] || fail "power status took $took s: $(cat "$WORK/power")"
grep -q '^wn01  *On' "$WORK/power" || fail "power status: $(cat "$WORK/power")"
grep -q "the rooster [^ ]* does not respond.*; what is shown is from the machines' ads" "$WORK/power" ||
    fail "power status: $(cat "$WORK/power")"
knows_since() { "$ROOST" power on wn01 >"$WORK/power" 2>&1; grep -q 'the rooster [^ ]* does not respond since 20' "$WORK/power"; }
until_true 30 "it is marked" knows_since
kill -CONT "$rooster"
is_asked() { "$ROOST" power status >"$WORK/power" 2>&1; }
until_true 20 "it answers again" is_asked
passed

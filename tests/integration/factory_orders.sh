#!/bin/bash
# Orders to the factory from the command line: pause and resume, log, reconcile, grow and shrink, test.
#
# TIMEOUT: 300
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
export ROOST_SITE_DIR=$WORK/site
F=f$$ # glideins of type process are known to the whole host by their names

# refused STATUS WORDS ARGUMENT...: this exit status, and a line with these words
refused() {
    local status=0
    timeout 30 "$ROOST" factory "${@:3}" >"$WORK/client.out" 2>"$WORK/client.err" || status=$?
    equals "exit status of roost factory ${*:3}" "$status" "$1"
    grep -qF -- "$2" "$WORK/client.err" || fail "roost factory ${*:3}: $(cat "$WORK/client.err")"
}
# tells TEXT ARGUMENT...: roost ARGUMENT... prints that text
tells() {
    local text=$1 got
    shift
    got=$("$ROOST" "$@" 2>&1) || fail "roost $*: $got"
    [[ $got == *"$text"* ]] || fail "roost $* does not print '$text': $got"
}
does_tell() { [[ "$("$ROOST" "${@:2}" 2>&1)" == *"$1"* ]]; }
site_has() { [ "$("$ROOST" factory sites -constraint "Site == \"$1\"" -af "$2" 2>/dev/null)" = "$3" ]; }
glideins() { "$ROOST" factory glideins "$1" -af State 2>/dev/null | sort | tr '\n' ' '; }
factory_pid() { head -n 1 "$POOL/lock/factory.lock"; }

pool_init --nodes 0
"$ROOST" token create --identity glidein --scope ADVERTISE,READ --name-pattern "$F-*" --slots 800 --expires 2d --bundle \
    --file "$POOL/security/glidein.bundle" >/dev/null || fail "roost token create"
printf '#!/bin/sh\nprintf "first line\\n\\033[31mthere is no luck here\\n\\n"\nexit 3\n' >"$WORK/bad_pilot"
printf '#!/bin/sh\nexec sleep 1000\n' >"$WORK/mute_pilot"
chmod 755 "$WORK/bad_pilot" "$WORK/mute_pilot"
ODD=$WORK/odd
mkdir -p "$ODD/glideins"
cp "$WORK/mute_pilot" "$ODD/mute"
"$ROOST" token create --identity factory --scope FACTORY,READ --name-pattern "$F*" --expires 30d \
    --file "$POOL/security/tokens/FACTORY" >/dev/null || fail "roost token create"
site() {
    printf 'site "%s" {\n    type = process\n    token = "%s"\n    example = {"TotalSlotDisk = 1000000"}\n' "$1" "$POOL/security/glidein.bundle"
    printf '    %s\n' "${@:2}" "}"
}
{
    printf '%s\n' "DAEMON_LIST = {COLLECTOR, SCHEDD, NEGOTIATOR, FACTORY}" "FACTORY_NAME = $F"
    site good 'cpus = 1' 'memory = "256 MiB"' 'idle_timeout = 600s'
    site bad "pilot = $WORK/bad_pilot" 'cpus = 1' 'memory = "256 MiB"'
    site odd 'cpus = 1' 'memory = "256 MiB"' 'idle_timeout = 600s' 'max_total = 5' 'shrink_delay = 0s' "program = $ROOST_SRC/tests/integration/programs/factory_site.py" "options = {\"directory=$ODD\"}" |
        sed 's/type = process/type = command/'
} >>"$ROOST_CONFIG"
pool_start
until_true 20 "all sites serve" eval 'site_has good State Serving && site_has bad State Serving && site_has odd State Serving'

# job COUNT LINE...: submits jobs for the site good with these commands; prints their number
job() {
    {
        printf '%s\n' "executable = /bin/true" "transfer_executable = false" "initialdir = $OUT" "request_memory = 1" "request_disk = 1024" \
            "request_cpus = 1" 'requirements = TARGET.GLIDEIN_Site == "good"' "${@:2}"
        echo "queue $1"
    } >"$WORK/job.sub"
    submit "$WORK/job.sub"
}

say "orders that cannot be"
refused 2 "no site named" pause
refused 2 "use either --all or names of sites" pause --all good
refused 2 "--reason does not go with resume" resume good --reason x
refused 1 "no such site: nowhere" pause nowhere
refused 1 "the reason must be one line of at most 199 bytes" pause good --reason "$(printf '%0200d' 1)"
equals "resume of what was not paused" "$("$ROOST" factory resume good)" "good: was not paused"

say "a site that is paused is asked for nothing, also after kill -9 of the factory; why says who, when and why"
tells "good: paused; no more glideins are asked for" factory pause good --reason "new kernel"
kill -9 "$(factory_pid)" # the order was durable before it was answered
cluster=$(job 1) || exit 1
until_true 30 "it is paused" site_has good State Paused
until_true 20 "why says so" does_tell "new kernel" factory why good
got=$("$ROOST" factory why good | grep "No more are asked for") || fail "roost factory why good"
[[ $got =~ paused\ by\ [^\ ]+\ since\ 2[0-9]{3}-[0-9-]+T[0-9:]+Z:\ new\ kernel ]] || fail "why: $got"
until_true 20 "why of the job names the site" does_tell "new kernel" why "$cluster"
equals "reason" "$("$ROOST" factory sites -constraint 'Site == "good"' -af PausedReason)" "new kernel"
"$ROOST" reconfig >/dev/null || fail "roost reconfig"
equals "glideins" "$(glideins good)" ""
"$ROOST" factory pause --all --reason twice --json | python3 -c 'import json, sys
ads = json.load(sys.stdin)
assert [(ad["Order"], ad["Site"], ad["PausedReason"]) for ad in ads] == [("Pause", site, "twice") for site in ("bad", "good", "odd")], ads' ||
    fail "roost factory pause --all --json"
until_true 20 "all are paused" eval 'site_has good PausedReason twice && site_has bad State Paused'
equals "glideins" "$(glideins good)" ""
equals "resume" "$("$ROOST" factory resume --all)" "bad: resumed
good: resumed
odd: resumed"
until_true 40 "the job is done" is_done "$cluster" 1
until_true 10 "the site is not paused any more" site_has good PausedReason undefined

say "grow is cut by max_total, and by what is paused"
refused 2 "grow needs a number of glideins, and --site SITE" grow 3
refused 2 "is not a number of glideins from 1 to" grow 0 --site odd
"$ROOST" factory pause good >/dev/null || fail "roost factory pause good"
refused 1 "no glideins are asked for: paused by" grow 1 --site good
"$ROOST" factory resume good >/dev/null || fail "roost factory resume good"
tells "odd: 5 glideins are asked for: max_total leaves room for 5 of 9" factory grow 9 --site odd
until_true 40 "five glideins join although no job waits" eval '[ "$(glideins odd)" = "Joined Joined Joined Joined Joined " ]'
refused 1 "no glideins are asked for: max_total is reached" grow 1 --site odd@$F

say "shrink spares the one with a job, and takes a fourth at a time"
{
    gated_jobs 1 busy | grep -v '^queue'
    printf '%s\n' 'requirements = TARGET.GLIDEIN_Site == "odd"' 'request_memory = 1' 'queue 1'
} >"$WORK/busy.sub"
busy=$(submit "$WORK/busy.sub")
until_true 30 "the job runs" eval '[ "$("$ROOST" factory glideins odd -af Claims | grep -c "^1")" = 1 ]'
tells "odd: 4 glideins are removed: 2 now, the others within 20 s, at most a fourth of them all at a time; there are no more that could be (1 with jobs)" \
    factory shrink 9 --site odd
until_true 60 "the others go" site_has odd Total 1
equals "the one with a job" "$("$ROOST" factory glideins odd -af State Claims)" "Joined 1"
open_gate busy
until_true 30 "the busy job" is_done "$busy" 1
equals "how often it was started" "$("$ROOST" history "$busy" -af NumJobStarts)" 1
until_true 20 "its claim is over" eval '[ "$("$ROOST" factory glideins odd -af Claims)" = 0 ]'
"$ROOST" factory shrink 1 --site odd --json | python3 -c 'import json, sys
ad, = json.load(sys.stdin)
assert (ad["Order"], ad["Removed"], ad["RemovedNow"], ad["RestSeconds"] <= 10) == ("Shrink", 1, ad["RemovedNow"], True), ad' || fail "roost factory shrink --json"
until_true 40 "the last one goes" site_has odd Total 0

say "the log of a pilot that ended unused is kept, shown and printed"
tells "bad: 1 glidein is asked for" factory grow 1 --site bad
until_true 30 "why shows its last line" does_tell "ends with: ?[31mthere is no luck here" factory why bad
name=$("$ROOST" factory sites -constraint 'Site == "bad"' -af LogOf)
"$ROOST" factory log "$name" >"$WORK/log" || fail "roost factory log $name"
printf 'first line\n?[31mthere is no luck here\n\n' | cmp - "$WORK/log" || fail "the log: $(cat "$WORK/log")"
"$ROOST" factory log "$name" --json | python3 -c 'import json, sys
ad, = json.load(sys.stdin)
assert ad["Log"].startswith("first line\n") and ad["Source"] == "Site" and ad["Site"] == "bad", ad' || fail "roost factory log --json"
refused 1 "has no site" log $F-nowhere-1234.1
refused 1 "no output of $F-good-1234.1 is known" log $F-good-1234.1
refused 1 "the pool has no factory south now" log south-good-1234.1

say "reconcile finds what the journal does not know, and what the site does not show"
tag=$("$ROOST" factory sites -constraint 'Site == "bad"' -af LogOf | sed 's/^[a-z0-9]*-bad-\(....\).*/\1/') # of this pool
/bin/bash -c 'exec setsid sleep 1000' &
orphan=$!
echo $orphan >"$ODD/glideins/$F-odd-${tag}0badcafe.1"
"$ROOST" factory reconcile odd >"$WORK/found" || fail "roost factory reconcile"
grep -qF "odd: 0 agree (0 with jobs); 1 not in the journal (orphans), 0 not heard by the pool (zombies), 0 not at the site (ghosts); 1 is removed" \
    "$WORK/found" || fail "reconcile: $(cat "$WORK/found")"
grep -qx "  orphan: $F-odd-${tag}0badcafe.1" "$WORK/found" || fail "reconcile: $(cat "$WORK/found")"
orphan_gone() { ! kill -0 $orphan 2>/dev/null; }
until_true 20 "the orphan is removed" orphan_gone
wait $orphan
rm "$ODD/glideins/$F-odd-${tag}0badcafe.1"
until_true 20 "it is forgotten" site_has odd Orphans 0
tells "odd: 2 glideins are asked for" factory grow 2 --site odd
until_true 30 "both join" eval '[ "$(glideins odd)" = "Joined Joined " ]'
tells "odd: 2 agree (0 with jobs); 0 not in" factory reconcile odd
echo half >"$ODD/mode"
tells "  ghost: $F-odd-" factory reconcile odd
until_true 20 "why tells of it" does_tell "0 orphans, 0 zombies and 1 ghost;" factory why odd
: >"$ODD/mode"
"$ROOST" factory reconcile --json | python3 -c 'import json, sys
assert [(ad["Site"], ad["Agree"], ad["Ghosts"], ad["Complete"]) for ad in json.load(sys.stdin)] == [
    ("bad", 0, 0, True), ("good", 1, 0, True), ("odd", 2, 0, True)]' || fail "roost factory reconcile --json"
equals "glideins" "$(glideins odd)" "Joined Joined "
tells "odd: 2 glideins are removed" factory shrink 2 --site odd
until_true 40 "they go" site_has odd Total 0

say "test of a good site, which is paused: each step is told"
"$ROOST" factory pause odd >/dev/null || fail "roost factory pause odd"
"$ROOST" factory test odd >"$WORK/steps" || fail "roost factory test odd: $(cat "$WORK/steps")"
equals "steps" "$(sed -n 's/^ *[0-9.]* s  //p' "$WORK/steps")" "recorded in the journal
submitted: the site has taken it
the site lists it
started: the site lists it as running
joined the pool
a look after that shows it running
the site is asked to remove it
left the pool
the site does not have it any more"
equals "its end" "$(tail -n 1 "$WORK/steps")" "odd: the test has passed"
until_true 20 "no glidein is left" eval '[ -z "$(glideins odd)" ]'
site_has odd State Paused || fail "the test has ended the pause"
equals "samples that a test has made" "$("$ROOST" status -constraint 'Offline && GLIDEIN_Site == "odd" && Start =?= false' -af Name)" ""

say "test of a bad site: where it is stuck, and the log"
status=0
"$ROOST" factory test bad >"$WORK/steps" || status=$?
equals "exit status of a test that has failed" $status 1
grep -q "^bad: the test has failed; not done: .*: exit status 3" "$WORK/steps" || fail "test of bad: $(cat "$WORK/steps")"
grep -qx "?\[31mthere is no luck here" "$WORK/steps" || fail "test of bad: $(cat "$WORK/steps")"
"$ROOST" factory test bad --json >"$WORK/steps"
python3 -c 'import json, sys
*steps, end = json.load(sys.stdin)
assert [step["Step"] for step in steps][:2] == [1, 2] and not end["Passed"] and "no luck" in end["Log"], (steps, end)' <"$WORK/steps" ||
    fail "roost factory test --json"
until_true 20 "no glidein is left" site_has bad Total 0

say "a test that is stuck in a step, and one that is interrupted: the glidein is removed"
echo mute >"$ODD/mode"
status=0
"$ROOST" factory test odd --timeout 3s >"$WORK/steps" || status=$?
equals "exit status of a test that has failed" $status 1
grep -q "^odd: the test has failed; not done: joined the pool (in time)" "$WORK/steps" || fail "test of odd: $(cat "$WORK/steps")"
until_true 20 "its glidein is removed" site_has odd Total 0
"$ROOST" factory test odd >"$WORK/steps" 2>&1 &
test=$!
until_true 20 "the glidein is there" eval 'grep -q "the site lists it as running" "$WORK/steps"'
refused 1 "another test of this site goes on" test odd
kill -INT $test 2>/dev/null
kill -TERM $test
wait $test
until_true 20 "its glidein is removed" site_has odd Total 0
: >"$ODD/mode"
"$ROOST" factory resume odd >/dev/null || fail "roost factory resume odd"

say "resume ends the pause of a site whose program says that an option is wrong: it is asked again"
site wrong "program = $ROOST_SRC/tests/integration/programs/factory_site.py" "options = {\"directory=$WORK/wrong\", \"colour=red\"}" |
    sed 's/type = process/type = command/' >>"$ROOST_CONFIG"
"$ROOST" reconfig >/dev/null || fail "roost reconfig"
for _ in 1 2; do
    until_true 30 "it is paused" site_has wrong State Paused
    tells "paused: unknown option colour" factory why wrong
    equals "who paused it" "$("$ROOST" factory sites -constraint 'Site == "wrong"' -af PausedBy)" undefined
    equals "resume" "$("$ROOST" factory resume wrong)" "wrong: resumed"
done
refused 1 "unknown option colour" reconcile wrong

say "a factory that does not respond"
kill -STOP "$(factory_pid)"
begun=$SECONDS
refused 1 "the factory $F does not respond" pause good
[ $((SECONDS - begun)) -le 15 ] || fail "that was said after $((SECONDS - begun)) s"
kill -CONT "$(factory_pid)"
until_true 20 "it responds again" eval '"$ROOST" factory shrink 1 --site good >/dev/null 2>&1'
until_true 40 "the last glidein goes" site_has good Total 0
passed

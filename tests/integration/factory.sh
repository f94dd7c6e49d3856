#!/bin/bash
# An empty pool: jobs wait for samples, the factory has a site start glideins, jobs run, glideins go.  The site is a program
# of the test (programs/factory_site.py) that makes each fault which a site can have; what the site itself wrote down is
# what counts.
#
# TIMEOUT: 300
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
SITE=$WORK/site
mkdir -p "$SITE/glideins"
printf '#!/bin/sh\nsleep 1000\n' >"$SITE/mute" && chmod +x "$SITE/mute"
pool_init --nodes 0
cat >>"$ROOST_CONFIG" <<EOF
DAEMON_LIST = {COLLECTOR, SCHEDD, NEGOTIATOR, FACTORY}
FACTORY_BACKOFF = 500ms
FACTORY_BACKOFF_MAX = 2s
site "local" {
    type = command
    program = "$ROOST_SRC/tests/integration/programs/factory_site.py"
    options = {"directory=$SITE"}
    example = {"TotalSlotDisk = 100000000"}
    cpus = 2
    memory = "256 MiB"
    idle_timeout = 2s
    timeout = 4s
    start_timeout = 4s
    max_queued = 6
}
EOF

started() { sort -u "$SITE/started" 2>/dev/null | wc -l; }
# Glideins that run, by the files and processes of the site.
running() {
    local file pid count=0
    for file in "$SITE"/glideins/*; do
        if [ ! -e "$file" ] || [ "$(wc -l <"$file")" -ne 1 ]; then
            continue
        fi
        read -r pid <"$file"
        [ ! -d "/proc/$pid" ] || count=$((count + 1))
    done
    echo $count
}
looks() { wc -l <"$SITE/looks"; }
none_runs() { [ "$(running)" -eq 0 ]; }
site_says() { "$ROOST" status -any -constraint 'MyType == "Site"' -af "$1" 2>/dev/null; }
says() { site_says "$1" | grep -q -- "$2"; }
glideins() { "$ROOST" status -any -constraint 'MyType == "Glidein"' -af Name 2>/dev/null | wc -l; }
no_glideins() { [ "$(glideins)" -eq 0 ]; }
forget() { rm -f "$SITE/started"; } # begins to count anew
all_gone() {
    until_true 20 "the glideins go" none_runs
    until_true 20 "the pool forgets them" no_glideins
}
factory_pid() { head -n 1 "$POOL/lock/factory.lock"; }

say "five jobs of a core: three glideins of two cores come, and go when they are idle"
pool_start
number_jobs 5 0.2 >"$WORK/five.sub"
cluster=$(submit "$WORK/five.sub")
until_true 30 "the jobs" is_done "$cluster" 5
check_committed "$cluster" 5
equals "glideins that the site started" "$(started)" 3
all_gone
equals "glideins that the site started" "$(started)" 3
samples=$("$ROOST" status -constraint 'Offline && GLIDEIN_Site == "local"' -af Name PreviousName | sort)
equals "samples of running glideins: $samples" "$(grep -c ' slot1@factory-local-' <<<"$samples")" 3
grep -q example <<<"$samples" && fail "the example is still there: $samples"

say "a site that refuses says why, and is asked again"
forget
echo refuse >"$SITE/mode"
cluster=$(submit "$WORK/five.sub")
until_true 10 "the refusal" says Trouble "quota of this account is used up"
until_true 10 "it is left alone" says State LeftAlone
: >"$SITE/mode"
until_true 30 "the jobs" is_done "$cluster" 5
equals "glideins that the site started" "$(started)" 3
all_gone

say "nonsense and a program that hangs open the breaker; one glidein is tried before others"
for fault in garbage hang; do
    forget
    echo $fault >"$SITE/mode"
    cluster=$(submit "$WORK/five.sub")
    until_true 20 "$fault is told" says Trouble "$([ $fault = hang ] && echo 'not answered in time' || echo 'said nonsense')"
    : >"$SITE/mode"
    until_true 40 "the jobs after $fault" is_done "$cluster" 5
    [ "$(started)" -le 3 ] || fail "$fault: the site started $(started) glideins"
    all_gone
done

say "an answer that is lost: what was submitted is found, and nothing is submitted twice"
forget
echo lost >"$SITE/mode"
cluster=$(submit "$WORK/five.sub")
until_true 20 "the submission" test -s "$SITE/started"
: >"$SITE/mode"
until_true 30 "the jobs" is_done "$cluster" 5
equals "glideins that the site started" "$(started)" 3
all_gone

say "a listing that misses half, and one that says so: nothing is forgotten that runs, and jobs are served"
forget
gated_jobs 4 half >"$WORK/gated.sub"
gated=$(submit "$WORK/gated.sub")
all_run() { [ "$("$ROOST" q "$gated" -af JobStatus | grep -c 2)" -eq 4 ]; }
until_true 30 "the gated jobs run" all_run
two_run() { [ "$(running)" -eq 2 ] && [ "$(glideins)" -le 5 ]; }
for fault in half part; do
    echo $fault >"$SITE/mode"
    kill -9 "$(factory_pid)" # the next one begins with that listing
    cluster=$(submit "$WORK/five.sub")
    until_true 40 "the jobs at a listing: $fault" is_done "$cluster" 5
    until_true 40 "their glideins go" two_run # the site is looked at again and again, until they are gone
    before=$(looks)
    looked_again() { [ "$(looks)" -ge $((before + 2)) ]; }
    until_true 60 "more looks" looked_again
done
: >"$SITE/mode"
kill -9 "$(factory_pid)"
cluster=$(submit "$WORK/five.sub")
until_true 40 "the jobs" is_done "$cluster" 5
open_gate half
until_true 30 "the gated jobs" is_done "$gated" 4
equals "how often the gated jobs were started" "$("$ROOST" history "$gated" -af NumJobStarts | sort -u)" 1
grep -q glidein.orphan "$POOL/log/FactoryLog" && fail "a glidein of ours was taken for an orphan"
all_gone

say "glideins that die young: one is tried at a time"
forget
echo die >"$SITE/mode"
cluster=$(submit "$WORK/five.sub")
until_true 20 "they are told" says Trouble "ended before it had joined the pool: exit status 1"
a_canary_was_tried() { [ "$(started)" -ge 4 ]; }
until_true 20 "a canary" a_canary_was_tried
[ "$(started)" -le 8 ] || fail "$(started) glideins were wasted"
: >"$SITE/mode"
until_true 40 "the jobs" is_done "$cluster" 5
all_gone

say "glideins that are started and do not join are removed, and told"
forget
echo mute >"$SITE/mode"
cluster=$(submit "$WORK/five.sub")
until_true 30 "they are told" says Trouble "has not joined the pool in 4 s (start_timeout)"
: >"$SITE/mode"
until_true 60 "the jobs" is_done "$cluster" 5
all_gone

say "the factory is killed while the site's program is at work: what that starts is found, and nothing else is started"
forget
echo slow >"$SITE/mode"
cluster=$(submit "$WORK/five.sub")
has_intended() { [ "$(glideins)" -eq 3 ]; }
until_true 10 "the submission" has_intended
kill -9 "$(factory_pid)"
until_true 40 "the jobs" is_done "$cluster" 5
: >"$SITE/mode"
all_gone
equals "glideins that the site started" "$(started)" 3

say "what the journal does not know is removed"
/bin/bash -c 'exec setsid sleep 1000' &
tag=$(head -n 1 "$SITE/started" | sed 's/^factory-local-\(....\).*/\1/') # of this pool
echo $! >"$SITE/glideins/factory-local-${tag}0badcafe.1"
orphan=$!
/bin/bash -c 'exec setsid sleep 1000' &
echo $! >"$SITE/glideins/factory-local-0000badcafe.1"
stranger=$!
kill -9 "$(factory_pid)" # the next one looks at once
orphan_gone() { ! kill -0 $orphan 2>/dev/null; }
until_true 20 "the orphan is removed" orphan_gone
wait $orphan
rm "$SITE/glideins/factory-local-${tag}0badcafe.1"
grep -q "glidein.orphan.*factory-local-${tag}0badcafe.1" "$POOL/log/FactoryLog" || fail "nothing was said of the orphan"
equals "warnings of another pool's glideins" "$(grep -c "factory warn site.others .*factory-local-0000badcafe.1" "$POOL/log/FactoryLog")" 1
kill -0 $stranger || fail "a glidein of another pool was removed"
kill $stranger
rm "$SITE/glideins/factory-local-0000badcafe.1"
all_gone

say "kill -9 of the factory at any moment: no glidein is lost, none is started twice"
forget
for i in 1 2 3 4 5 6 7 8; do
    number_jobs 2 0.1 >"$WORK/two.sub"
    cluster=$(submit "$WORK/two.sub")
    sleep "0.0$((i * 11 % 10))$i" # a different moment each time: this is the fault, not a wait
    kill -9 "$(factory_pid)"
    until_true 40 "the jobs" is_done "$cluster" 2
done
all_gone
equals "names that were started twice" "$(sort "$SITE/started" | uniq -d)" ""
[ "$(started)" -le 16 ] || fail "the site started $(started) glideins for 16 jobs"
passed

#!/bin/bash
# Orders to the factory from the command line: pause and resume.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
export ROOST_SITE_DIR=$WORK/site

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
"$ROOST" token create --identity glidein --scope ADVERTISE,READ --name-pattern 'factory-*' --slots 800 --expires 2d --bundle \
    --file "$POOL/security/glidein.bundle" >/dev/null || fail "roost token create"
site() {
    printf 'site "%s" {\n    type = process\n    token = "%s"\n    example = {"TotalSlotDisk = 1000000"}\n' "$1" "$POOL/security/glidein.bundle"
    printf '    %s\n' "${@:2}" "}"
}
{
    echo "DAEMON_LIST = {COLLECTOR, SCHEDD, NEGOTIATOR, FACTORY}"
    site good 'cpus = 1' 'memory = "256 MiB"' 'idle_timeout = 600s' 'max_total = 5'
    site bad 'pilot = /bin/false' 'cpus = 1' 'memory = "256 MiB"'
} >>"$ROOST_CONFIG"
pool_start
until_true 20 "both sites serve" eval 'site_has good State Serving && site_has bad State Serving'

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
assert [(ad["Order"], ad["Site"], ad["PausedReason"]) for ad in ads] == [("Pause", "bad", "twice"), ("Pause", "good", "twice")], ads' ||
    fail "roost factory pause --all --json"
until_true 20 "all are paused" eval 'site_has good PausedReason twice && site_has bad State Paused'
equals "glideins" "$(glideins good)" ""
equals "resume" "$("$ROOST" factory resume --all)" "bad: resumed
good: resumed"
until_true 40 "the job is done" is_done "$cluster" 1
site_has good PausedReason undefined || fail "the site is still paused"

say "a factory that does not respond"
kill -STOP "$(factory_pid)"
begun=$SECONDS
refused 1 "the factory factory does not respond" pause good
[ $((SECONDS - begun)) -le 15 ] || fail "that was said after $((SECONDS - begun)) s"
kill -CONT "$(factory_pid)"
passed

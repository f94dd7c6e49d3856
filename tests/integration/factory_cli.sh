#!/bin/bash
# What the command line tells of a factory: roost factory, roost status and roost why, with a site that waits, one that
# refuses, and glideins that run jobs and leave.
#
# TIMEOUT: 180
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

# refused STATUS WORDS ARGUMENT...: this exit status, nothing printed, and one line with these words
refused() {
    local status=0
    timeout 20 "$ROOST" "${@:3}" >"$WORK/client.out" 2>"$WORK/client.err" || status=$?
    equals "exit status of roost ${*:3}" "$status" "$1"
    equals "output of roost ${*:3}" "$(cat "$WORK/client.out")" ""
    equals "lines of its message" "$(wc -l <"$WORK/client.err")" 1
    grep -qF "$2" "$WORK/client.err" || fail "roost ${*:3}: $(cat "$WORK/client.err")"
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

pool_init --nodes 1 --asleep
sed -i 's/^DAEMON_LIST = .*/DAEMON_LIST = {COLLECTOR, SCHEDD, NEGOTIATOR}/' "$ROOST_CONFIG"
pool_start
say "a pool without a factory"
for verb in status sites glideins "why local"; do
    # shellcheck disable=SC2086
    refused 1 "the pool has no factory now; check that FACTORY is in DAEMON_LIST and running" factory $verb
done
refused 2 "the action is missing: status, sites, glideins, why" factory
refused 2 "unknown action 'glow'" factory glow
refused 2 "no site named" factory why
pool_stop

# The sites are one program: what it does with a submission is in the file SITE.mode.  "wait": its glideins stay in the
# queue; "run": they start, also those that wait; "refuse": it takes none.
cat >"$WORK/site.py" <<'END_OF_SITE'
import json, os, subprocess, sys
work, procs, waits = sys.argv[1], {}, {}
site = ""
def mode():
    with open("%s/%s.mode" % (work, site)) as file:
        return file.read().strip()
def start(name, request):
    path = "%s/secret.%s" % (work, name)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(request["secret"])
    log = open("%s/log.%s" % (work, name), "w")
    procs[name] = subprocess.Popen([request["pilot"], "--token", path, "--name", name] + request["arguments"],
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"]}
    what = request["do"]
    if what == "begin":
        site = request["site"]
        answer["settle"] = 0
    elif what == "submit" and mode() == "refuse":
        answer.update(error="refuses", text="the account is over its quota")
    elif what == "submit":
        for number in range(1, request["count"] + 1):
            waits["%s.%d" % (request["batch"], number)] = request
        answer["taken"] = request["count"]
    elif what == "look":
        if mode() == "run":
            for name in list(waits):
                start(name, waits.pop(name))
        answer["complete"] = True
        answer["glideins"] = [{"name": name, "state": "queued", "id": "q" + name[-1]} for name in waits] + [
            {"name": name, "state": "running" if process.poll() is None else "ended", "id": str(process.pid),
             "reason": "" if process.poll() is None else "exit status %s" % process.poll()}
            for name, process in procs.items()]
    elif what == "remove":
        for name in request["names"]:
            if waits.pop(name, None) is None and name in procs:
                procs[name].terminate()
        answer["removed"] = request["names"]
    print(json.dumps(answer), flush=True)
END_OF_SITE
printf '#!/bin/sh\nexec python3 %s/site.py %s\n' "$WORK" "$WORK" >"$WORK/site"
chmod 0755 "$WORK/site"
echo wait >"$WORK/local.mode"
echo refuse >"$WORK/poor.mode"
sed -i 's/^DAEMON_LIST = .*/DAEMON_LIST = {COLLECTOR, SCHEDD, NEGOTIATOR, FACTORY}/' "$ROOST_CONFIG"
cat >>"$ROOST_CONFIG" <<END
site "local" {
    type = command
    program = "$WORK/site"
    token = "$POOL/security/glidein.bundle"
    example = {"TotalSlotDisk = 1000000"}
    cpus = 2
    memory = "1 GiB"
    idle_timeout = 2
}
site "poor" {
    type = command
    program = "$WORK/site"
    token = "$POOL/security/glidein.bundle"
    example = {"TotalSlotDisk = 1000000"}
}
END
"$ROOST" token create --identity factory --scope FACTORY,READ --name-pattern 'factory*' --expires 30d \
    --file "$POOL/security/tokens/FACTORY" || fail "roost token create"
"$ROOST" token create --identity glidein --scope ADVERTISE,READ --name-pattern 'factory-*' --slots 800 --expires 2d \
    --bundle --file "$POOL/security/glidein.bundle" || fail "roost token create --bundle"
pool_start
until_true 20 "both sites serve" eval 'site_has local State Serving && site_has poor State Serving'

say "nothing waits"
tells "Factory factory: 2 sites, 0 glideins, running for 0+00:00:" factory status
tells "no jobs wait for it" factory status
equals "sites" "$("$ROOST" factory sites | awk 'NF > 0 {print $1, $2, $9}' | tr '\n' ' ')" "Site State Total local Serving 0 poor Serving 0 "
equals "glideins" "$("$ROOST" factory glideins)" ""
refused 1 "no such site: nowhere; \`roost factory sites\` shows all" factory why nowhere
refused 1 "no such site: nowhere; \`roost factory sites\` shows all" factory glideins nowhere
refused 2 "is not a valid name of a site" factory glideins 'a"b'
tells "factory-local-example stands for 20 glideins with 2 CPUs, 1024 MiB of memory" factory why local

# job COUNT [LINE...]: submits jobs with these commands; prints their number
job() {
    {
        printf '%s\n' "executable = /bin/true" "transfer_executable = false" "initialdir = $OUT" "request_memory = 1" "request_disk = 1024" \
            "request_cpus = 1" "${@:2}"
        echo "queue $1"
    } >"$WORK/job.sub"
    submit "$WORK/job.sub"
}

say "jobs wait for a site whose glideins wait in its queue"
cluster=$(job 4 'requirements = TARGET.GLIDEIN_Site == "local"') || exit 1
until_true 30 "two glideins are queued" site_has local Queued 2
until_true 10 "why says so" does_tell "waits for a glidein of site local; site local has 2 glideins on the way." why "$cluster"
tells "\`roost factory why local\` tells more about the site." why "$cluster"
equals "why, for programs" "$("$ROOST" why "$cluster.0" -af Reason Site SampleSlots HeldSlots)" "Asleep local 1 1"
tells "4 jobs wait for it, which makes 2 wanted glideins; 2 are on the way." factory why local
tells "It has 2 glideins: 2 queued, 0 held, 0 running" factory why local
equals "why of a site, for programs" "$("$ROOST" factory why local -af Site JobsWaiting Coming)" "local 4 2"
"$ROOST" factory why local@factory --json | python3 -c 'import json, sys; ad, = json.load(sys.stdin)
assert ad["SampleNames"] == ["factory-local-example"] and "4 jobs wait" in ad["Text"], ad' || fail "roost factory why --json"
for verb in status sites glideins; do
    "$ROOST" factory $verb --json | python3 -c 'import json, sys
types = {ad["MyType"] for ad in json.load(sys.stdin)}
assert types == {"status": {"Factory", "Site"}, "sites": {"Site"}, "glideins": {"Glidein"}}[sys.argv[1]], types' $verb ||
        fail "roost factory $verb --json"
done
ids() { "$ROOST" factory glideins local -af Site State SiteId Claims | sort | tr '\n' ' '; }
until_true 20 "the site has told what it calls them" eval '[ "$(ids)" = "local Queued q1 0 local Queued q2 0 " ]'
equals "columns of glideins" "$("$ROOST" factory glideins local@factory | awk 'NR == 1 {$1 = $1; print} NR == 3 {print $2, $3, $4, $6}' | tr '\n' ' ')" \
    "Name Site State SiteId Age Claims Reason local Queued q1 0 "
equals "glideins of poor" "$("$ROOST" factory glideins poor)" ""
equals "the view of sites" "$("$ROOST" status -site -sort Name -af Name Queued | tr '\n' ' ')" "local@factory 2 poor@factory 0 "
equals "the view of factories" "$("$ROOST" status -factory -af Name Sites Glideins)" "factory 2 2"
equals "the view of glideins" "$("$ROOST" status -glidein | awk 'NR == 3 {print $2, $3}')" "local Queued"
equals "the type of sites" "$("$ROOST" status -subsystem site | awk 'NR == 3 {print $1}')" "local@factory"
tells "stands for a glidein of site local" why -slot factory-local-example

say "a job waits for a site that refuses"
rich=$(job 1 'requirements = TARGET.GLIDEIN_Site == "poor"') || exit 1
until_true 30 "the site is left alone" site_has poor State LeftAlone
tells "poor: left alone for " factory status
tells "    last trouble, 0+00:00:" factory status
tells "the account is over its quota" factory status
tells "Site poor of factory factory is left alone for a while, because it failed or refused." factory why poor
tells "It has 1 sample, which cannot be matched while it could start no glidein." factory why poor
until_true 10 "why names the site" does_tell "; site poor can be given no job now, no more are asked for: left alone for " why "$rich"
tells "the account is over its quota" why "$rich"
"$ROOST" rm "$rich" >/dev/null || fail "roost rm"

if [ -x "$ROOST_BIN/roost-pilot" ]; then # a build with sanitizers has none
    say "the glideins start, run the jobs, and leave"
    echo run >"$WORK/local.mode"
    until_true 60 "the jobs are done" is_done "$cluster" 4
    check_committed "$cluster" 4
    until_true 60 "the glideins are gone" site_has local Total 0
    equals "glideins" "$("$ROOST" factory glideins)" ""
    tells "slot1@factory-local-" factory why local
    equals "ended unused" "$("$ROOST" factory sites -constraint 'Site == "local"' -af EndedUnused)" 0
fi

say "a factory that stands still is said not to respond, within seconds"
factory=$(pids_of factory)
kill -STOP "$factory"
until_true 30 "it is told" does_tell "; it has not responded for 0+00:00:" factory status
kill -CONT "$factory"
responds() { ! does_tell "has not responded" factory status; }
until_true 20 "it responds again" responds

say "ads of a factory, by hand"
echo '[ Name = "north" ]' | "$ROOST" advertise UPDATE_FACTORY_AD >/dev/null || fail "roost advertise UPDATE_FACTORY_AD"
tells "Factory north: 0 sites, 0 glideins" factory status
passed

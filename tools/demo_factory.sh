#!/bin/bash
# tools/demo_factory.sh - the second act of `make demo`: a pool without machines grows for its jobs, and is empty again.
#
# A personal pool with no node at all, and a factory whose one site is this machine.  Jobs wait; the factory has the site start
# as many glideins of two cores as they need; the glideins join, run the jobs and go.  What is checked: the results, how many
# glideins there were by the factory's log, and /proc for what must not be left.
#
# ROOST_BIN: where the programs are (build/bin).
#
# SPDX-License-Identifier: Apache-2.0
set -u
JOBS=6
GLIDEINS=3 # of two cores
LIMIT_S=90

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=${ROOST_BIN:-$here/build/bin}
roost=$bin/roost
. "$here/tools/pool_traces.sh"
export LC_ALL=C
begun=${EPOCHREALTIME/./}
tell() {
    local ms=$(((${EPOCHREALTIME/./} - begun) / 1000))
    printf '%8d.%03d s  %-9s %s\n' $((ms / 1000)) $((ms % 1000)) "$1" "$2"
}

parent=${TMPDIR:-/tmp}
[ ${#parent} -le 40 ] || parent=/tmp
work=$(mktemp -d "$parent/roost-demo-XXXXXX") || exit 1
chmod 0755 "$work"
export ROOST_CONFIG=$work/pool/roost.conf TMPDIR=$work/glideins
log=$work/pool/log/FactoryLog

# Ends the pool and its glideins; what is left is said.
clean_up() {
    local pids=() pid
    unset TMPDIR # or what looks for processes would find itself
    [ ! -f "$ROOST_CONFIG" ] || timeout 70 "$roost" stop >"$work/stop.out" 2>&1
    for _ in $(seq 50); do
        mapfile -t pids < <(traces "$work/")
        [ ${#pids[@]} -gt 0 ] || break
        sleep 0.1
    done
    left=''
    [ ${#pids[@]} -eq 0 ] || left=$(describe "${pids[@]}")
    for pid in "${pids[@]}"; do
        kill -9 "$pid" 2>/dev/null
    done
    rm -rf "$work"
}
fail() {
    trap - EXIT
    printf '\n'
    grep -hE '^[^ ]+ [^ ]+ (error|warn) ' "$work"/pool/log/*Log 2>/dev/null | sort | tail -15
    clean_up
    echo "demo: FAILED: $*"
    exit 1
}
trap 'fail "the second act ended early"' EXIT
trap 'fail "interrupted"' INT TERM HUP

# until_seen WHAT COMMAND...
until_seen() {
    local what=$1
    shift
    until "$@"; do
        [ $SECONDS -lt $LIMIT_S ] || fail "$what: not after $LIMIT_S s"
        sleep 0.1
    done
}
joined() { grep -c '"Joined"' "$log"; }
gone() { grep -c 'glidein.gone' "$log"; }
have_joined() { [ "$(joined)" -ge 1 ]; }
jobs_are_done() { [ -z "$("$roost" q -af ProcId 2>/dev/null)" ]; }
all_are_gone() { [ "$(gone)" -ge "$(joined)" ] && [ "$("$roost" factory glideins -af Name 2>/dev/null | grep -c .)" -eq 0 ]; }

mkdir -m 0777 "$work/glideins" "$work/out"
"$roost" init "$work/pool" --nodes 0 >/dev/null || fail "roost init"
cat >>"$ROOST_CONFIG" <<EOF
DAEMON_LIST = {COLLECTOR, SCHEDD, NEGOTIATOR, FACTORY}
site "here" {
    type = process
    options = {"directory=$work/glideins"}
    example = {"TotalSlotDisk = 20 * 1024 * 1024"}
    cpus = 2
    memory = "512 MiB"
    idle_timeout = 2
}
EOF
cat >"$work/job.sub" <<EOF
executable = /bin/sh
transfer_executable = false
arguments = "-c 'seq 1 100000 | sha256sum'"
initialdir = $work/out
output = \$(Process)
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
request_memory = 64
queue $JOBS
EOF
timeout 60 "$roost" start >"$work/start.out" 2>&1 || fail "roost start: $(tail -1 "$work/start.out")"
tell demo "a pool without machines; its factory has one site, this machine"
[ "$("$roost" status -constraint 'Offline =!= true' -af Name | grep -c .)" -eq 0 ] || fail "the pool is not empty"
"$roost" submit "$work/job.sub" >"$work/submit.out" 2>&1 || fail "roost submit: $(tail -1 "$work/submit.out")"
tell demo "submitted $JOBS jobs of one core"
until_seen "glideins that join the pool" have_joined
tell factory "the first glidein has joined the pool"
until_seen "the jobs" jobs_are_done
tell schedd "all jobs are done; $(joined) glideins of two cores were started for them"
until_seen "the end of the glideins" all_are_gone
tell factory "all glideins have gone by themselves"
wanted=$(seq 1 100000 | sha256sum)
for ((job = 0; job < JOBS; job++)); do
    [ "$(cat "$work/out/$job")" = "$wanted" ] || fail "job $job: wrong result"
done
[ "$(joined)" -le $GLIDEINS ] || fail "$(joined) glideins for $JOBS jobs"
count=$(joined)
clean_up
trap - EXIT
[ -z "$left" ] || { echo "demo: FAILED: processes were left: $left"; exit 1; }
echo "demo: ok: an empty pool: $JOBS jobs completed on $count glideins, 0 left"

# tests/integration/lib.sh - a real personal pool for a test, and what the tests ask of it.
#
# A test sources this file, calls pool_init and pool_start, and ends with `passed`.  Its pool is in a directory of its
# own, with ports of its own, so that tests can run side by side; whatever happens, nothing of it is left.  Every wait
# has a deadline (until_true).  ROOST_TEST_KEEP=DIR keeps the pool's files of a test that failed.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
set -u
export LC_ALL=C
: "${ROOST_BIN:?where the programs are}" "${ROOST_SRC:?where the sources are}"
ROOST=$ROOST_BIN/roost
. "$ROOST_SRC/tools/pool_traces.sh"

[ -x "$ROOST" ] || { echo "$ROOST is missing"; exit 1; }
WORK=$(mktemp -d /tmp/roost-it-XXXXXX) # short, as Unix sockets lie below it
chmod 0755 "$WORK"                      # jobs may run as somebody else
# Jobs that root submits are those of an ordinary account (SUBMIT_ROOT_AS), which must come at all that a test makes for
# them: the test's directory is its, and what the test makes is open to all.  What the pool makes has the modes that
# Roost gives it.
JOBS_OF=$(id -un)
if [ "$(id -u)" -eq 0 ]; then
    JOBS_OF=nobody
    chown "$JOBS_OF" "$WORK"
    umask 0
fi
POOL=$WORK/pool
OUT=$WORK/out
mkdir -m 0755 "$OUT"
[ "$(id -u)" -ne 0 ] || chown "$JOBS_OF" "$OUT"
export ROOST_CONFIG=$POOL/roost.conf

# Daemons have no terminal: what a sanitizer finds in them goes to files, which `passed` looks for.  A shadow that runs
# as somebody else writes there, too.
mkdir -m 1777 "$WORK/sanitizer"
for options in ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS; do
    [ -z "${!options:-}" ] || export "$options=${!options}:log_path=$WORK/sanitizer/report"
done

say() { printf '%s %s\n' "$(date +%T.%3N)" "$*"; }

clean_up() {
    local status=$? pid
    trap - EXIT
    cd / || exit # not below WORK: what is there is ended
    if [ "$status" -ne 0 ] && [ "$status" -ne 77 ]; then
        echo "---- warnings and errors of the daemons:"
        grep -hE '^[^ ]+ [^ ]+ (error|warn) ' "$POOL"/log/* "$POOL"/nodes/*/log/* "$POOL"/spool/owner/*/*Log* 2>/dev/null |
            grep -v ' loop.overrun ' | sort | tail -40
        "$ROOST" q -af ClusterId ProcId JobStatus HoldReason 2>&1 | head -10
        "$ROOST" status -af Name State Activity Offline 2>&1 | head -10
        [ -z "${ROOST_TEST_KEEP:-}" ] || cp -r "$WORK" "$ROOST_TEST_KEEP/"
    fi
    for pid in $(jobs -p); do
        kill "$pid" 2>/dev/null
    done
    # Twice: what is killed may just have started another one.
    for _ in 1 2 3; do
        for pid in $(traces "$WORK/"); do
            kill -9 "$pid" 2>/dev/null
        done
    done
    rm -rf "$WORK"
    exit "$status"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

fail() {
    if [ "$BASHPID" -ne $$ ]; then
        echo "FAILED: $*" >&2
    else
        say "FAILED: $*"
    fi
    exit 1
}
passed() {
    local reports pid
    # Leaks are looked for when a daemon ends, so it must end of itself.
    if [ -n "${ASAN_OPTIONS:-}" ] && [ -e "${ROOST_CONFIG:-}" ] && ! no_process_of "$POOL/"; then
        for pid in $(jobs -p); do # the test's own: they know the pool's name, too
            kill "$pid" 2>/dev/null
        done
        pool_stop
    fi
    # LeakSanitizer must trace the process at its end, which fails in one that nobody may look into: that is no leak.
    for report in "$WORK"/sanitizer/*; do
        [ ! -e "$report" ] || grep -qv '^==[0-9]*==\(LeakSanitizer has encountered a fatal error\|HINT: \)' "$report" || rm "$report"
    done
    reports=("$WORK"/sanitizer/*)
    [ ! -e "${reports[0]}" ] || fail "a sanitizer reports: $(head -n 40 "${reports[@]}")"
    say "passed"
    exit 0
}

# until_true SECONDS WHAT COMMAND...: asks again and again, on a machine that is slow or busy up to three times as long.
until_true() {
    local end=$((SECONDS + 3 * $1)) what=$2
    shift 2
    until "$@"; do
        [ $SECONDS -lt $end ] || fail "$what: not in time"
        sleep 0.05
    done
}

# equals WHAT GOT WANTED
equals() { [ "$2" = "$3" ] || fail "$1: '$2', not '$3'"; }

# ---- the pool

# Jobs of tests write below /tmp, where $OUT is: they have the machine's.
pool_init() {
    [ "$(id -u)" -ne 0 ] || set -- --submit-as "$JOBS_OF" "$@"
    "$ROOST" init "$POOL" "$@" >/dev/null || fail "roost init $*"
    {
        echo 'MOUNT_UNDER_SCRATCH = {"/var/tmp"}'
        echo 'HIBERNATE_RECLAIM_TIME = 0' # wakes are counted: nobody is taken back
        # Owner and machine share their files here; jobs that do not say so are run as where they do not.
        echo 'SUBMIT_DEFAULT_SHOULD_TRANSFER_FILES = YES'
    } >>"$ROOST_CONFIG"
}
# Jobs may be charged to any user and group, before pool_start.
pool_charges_anybody() {
    printf '%s\n' 'ACCOUNTING_MAP = accounting' 'CLASSAD_USER_MAP_NAMES = {accounting}' \
        "CLASSAD_USER_MAPDATA_accounting = \"* $JOBS_OF *\"" >>"$ROOST_CONFIG"
}
# for_jobs PATH...: what only their owner may read or write is the account's whose jobs they are.
for_jobs() { [ "$(id -u)" -ne 0 ] || chown -R "$JOBS_OF" "$@"; }
pool_start() { timeout 60 "$ROOST" start >"$WORK/start.out" 2>&1 || fail "roost start: $(cat "$WORK/start.out")"; }

no_process_of() { [ -z "$(traces "$1")" ]; }

# Stops it and sees that nothing is left of it in /proc.
pool_stop() {
    local pids
    timeout 90 "$ROOST" stop >"$WORK/stop.out" 2>&1 || fail "roost stop: $(cat "$WORK/stop.out")"
    local end=$((SECONDS + 10)) # what was killed is in /proc until its parent has been told
    while [ $SECONDS -lt $end ]; do
        mapfile -t pids < <(traces "$POOL/")
        [ ${#pids[@]} -gt 0 ] || return 0
        sleep 0.05
    done
    fail "roost stop left $(describe "${pids[@]}")"
}

# pids_of NAME [NODE]: the daemon NAME of the pool's own host, or of a node; starters and shadows may be several.
pids_of() {
    local pid comm name=roost-$1 place=$POOL/ exe
    [ $# -lt 2 ] || place=$POOL/nodes/$2/
    for pid in $(traces "$place"); do
        # "roost-keeper" is of a starter's job, and a part of it.
        { read -r comm <"/proc/$pid/comm"; } 2>/dev/null || continue
        [ "$comm" = "${name:0:15}" ] || continue
        exe=$(readlink "/proc/$pid/exe" 2>/dev/null) || exe=$( (tr '\0' '\n' <"/proc/$pid/cmdline") 2>/dev/null | head -n 1)
        [ "${exe##*/}" = "$name" ] || continue
        if [ $# -lt 2 ] && grep -qsaF "$POOL/nodes/" "/proc/$pid/environ" "/proc/$pid/cmdline"; then continue; fi
        echo "$pid"
    done
}

awake_nodes() { "$ROOST" status -constraint 'Offline =!= true' -af Machine 2>/dev/null | sort -u; }
awake_count() { awake_nodes | wc -l; }

# is_asleep NODES: so many nodes, all offline, and none of their processes.
is_asleep() {
    local count
    count=$("$ROOST" status -constraint 'Offline =?= true' -af Machine 2>/dev/null | sort -u | wc -l)
    [ "$count" -eq "$1" ] && [ "$(awake_count)" -eq 0 ] && no_process_of "$POOL/nodes/"
}

# ---- jobs

# submit FILE [ARGUMENT...]: prints the cluster's number.
submit() {
    local ids
    ids=$("$ROOST" submit "$@" -terse 2>"$WORK/submit.err") || fail "roost submit: $(cat "$WORK/submit.err")"
    ids=${ids%% *}
    echo "${ids%%.*}"
}

done_count() { "$ROOST" history "$1" -af ProcId 2>/dev/null | sort -u | wc -l; }
is_done() { [ "$(done_count "$1")" -ge "$2" ]; }

# check_committed CLUSTER COUNT: each job is in the history once, completed with status 0, and not in the queue.
check_committed() {
    "$ROOST" history "$1" -af ProcId JobStatus ExitCode >"$WORK/history" || fail "roost history"
    equals "jobs of cluster $1 in the history" "$(wc -l <"$WORK/history")" "$2"
    equals "different jobs of cluster $1 in the history" "$(cut -d' ' -f1 "$WORK/history" | sort -u | wc -l)" "$2"
    equals "jobs that did not complete with 0" "$(grep -vE '^[0-9]+ 4 0$' "$WORK/history")" ""
    equals "jobs left in the queue" "$("$ROOST" q "$1" -af ProcId)" ""
    equals "results that were committed twice" "$(cat "$POOL"/log/SchedLog* |
        grep -oE " job.result .* job=$1\.[0-9]+ " | sed 's/.*job=/job=/' | sort | uniq -d)" ""
}

# check_outputs COUNT: $OUT/out.N has N, for N from 0.
check_outputs() {
    local number
    for ((number = 0; number < $1; number++)); do
        equals "output of job $number" "$(cat "$OUT/out.$number" 2>&1)" "$number"
    done
}

# number_jobs COUNT SECONDS >FILE: each writes its number and sleeps.
number_jobs() { script_jobs "$1" "echo \$(Process); sleep $2"; }
# gated_jobs COUNT GATE >FILE: each writes its number and waits for the gate.
gated_jobs() { script_jobs "$1" "echo \$(Process); $(gate "$2")"; }
script_jobs() {
    cat <<SUB
executable = /bin/sh
transfer_executable = false
arguments = "-c '$2'"
initialdir = $OUT
output = out.\$(Process)
error = err.\$(Process)
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
request_memory = 1
queue $1
SUB
}

# Jobs that last until the test has seen what it wants to see, and not for a time: gate NAME prints the shell text that
# waits for the gate; open_gate NAME.
gate() { echo "until test -e $WORK/gate.$1; do sleep 0.1; done"; }
open_gate() { touch "$WORK/gate.$1"; }

# ---- the wake ledger

# wakes: "Machine Outcome BootId StartTime" of each wake, oldest first.
wakes() {
    "$ROOST" power history -constraint 'Kind == "Wake"' -af Machine Outcome BootId StartTime | sort -k4,4n
}
sleeps() { "$ROOST" power history -constraint 'Kind == "Sleep"' -af Machine Outcome BootId; }

# check_ledger: every wake came up, in a boot of its own, and went to sleep again.
check_ledger() {
    wakes >"$WORK/wakes"
    until_true 10 "the ledger has every going to sleep" slept_as_often "$(wc -l <"$WORK/wakes")"
    equals "wakes that did not come up" "$(grep -vE '^[^ ]+ Up ' "$WORK/wakes")" ""
    equals "boots that were woken twice" "$(cut -d' ' -f1,3 "$WORK/wakes" | sort | uniq -d)" ""
    equals "boots that went to sleep" "$(sleeps | cut -d' ' -f1,3 | sort -u)" "$(cut -d' ' -f1,3 "$WORK/wakes" | sort -u)"
}
slept_as_often() { [ "$(sleeps | cut -d' ' -f1,3 | sort -u | wc -l)" -ge "$1" ]; }

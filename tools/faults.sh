#!/bin/bash
# tools/faults.sh [-n ROUNDS] [-s SEED] [-l SECONDS]: storms of faults in a pool of five hosts; nothing is lost, and nothing runs twice.
#
# Each of ROUNDS (20) rounds is a pool of its own: a manager, a submit host, and three execute hosts that sleep when idle,
# each in namespaces with a disk and a clock of its own (tests/integration/lib_hosts.sh).  Three users submit jobs of 1 to 14
# seconds for 15 seconds, while 1 to 4 faults of up to SECONDS (15) happen:
#
#   power   a host loses its power: what was not durable on its disk is lost, its processes are gone
#   kill    kill -9 of up to six daemons, among them keepers of jobs, starters and masters
#   stop    SIGSTOP of up to six daemons, or of all processes of a host, then SIGCONT
#   full    a host's disk is filled to the last byte
#   broken  a host's disk fails and can only be read; then the host is started again
#   cut     a host is cut off
#   oneway  nothing of one host comes to another host, or to all others
#   clock   a host's wall clock jumps by up to ten days (execute hosts: ten years), and back
#   hold    all jobs are held and released;  drain   an execute host drains, and the drain is taken back
#
# Afterwards every job that was acknowledged must be completed once, with its whole output; no two runs of a job may have
# overlapped, by the lines that the jobs wrote into one file; the promise of time (JOB_START_PROMISE) must have been kept; every
# machine is free and goes to sleep; no daemon has aborted; the stores are sound; and nothing is left running.
#
# Round I has the seed SEED+I-1 and prints its faults; `-n 1 -s SEED` repeats the choice of the faults of that round (also
# --rounds, --seed, --length).  SEED is the time by default.  Root, loop devices and namespaces are needed.
#
# ROOST_BIN: the programs (build/bin).  ROOST_TEST_KEEP=DIR: keeps the files of rounds that failed.
#
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
ROUNDS=20 FIRST=$(($(date +%s) % 30000 + 1)) LONGEST=15
words=()
for word in "$@"; do
    case $word in
    --rounds | --seed | --length) words+=("-$(tr rsl nsl <<<"${word:2:1}")") ;;
    *) words+=("$word") ;;
    esac
done
take_options "n=ROUNDS s=FIRST l=LONGEST" 0 0 "${words[@]}"
if [ "$ROUNDS" -gt 1 ]; then
    failed=()
    for ((round = FIRST; round < FIRST + ROUNDS; round++)); do
        bash "$0" -n 1 -s "$round" -l "$LONGEST" </dev/null || failed+=("$round")
    done
    echo "$ROUNDS rounds, ${#failed[@]} failed${failed[0]:+: seeds ${failed[*]}}"
    [ ${#failed[@]} -eq 0 ]
    exit
fi

export ROOST_TEST_SEED=$FIRST
use_test_pool
. "$ROOST_SRC/tests/integration/lib_hosts.sh"
hosts_enter "$0" -n 1 -s "$FIRST" -l "$LONGEST"
NODES=(wn01 wn02 wn03)
ALL=(manager submit "${NODES[@]}")
USERS=(nobody games daemon)
LINES=$WORK/lines

# ---- the pool

round_pool() {
    local name number=0 manager
    hosts_begin
    pool_init --nodes ${#NODES[@]} --cpus-per-node 3 --idle 3
    for name in manager submit; do
        number=$((number + 1))
        mkdir -p "$POOL/nodes/$name"
        echo $number >"$POOL/nodes/$name/number"
    done
    manager=10.77.1.2
    sed -i -e 's/127\.0\.0\.1/'$manager'/' -e 's/^SCHEDD_HOST.*/SCHEDD_HOST = "10.77.2.2"/' -e '/^    method = process/c\    method = command' \
        -e '/^    config = /c\    wake_command = "'"$WORK/switch"' wake"' -e '/^    lock_dir = /c\    status_command = "'"$WORK/switch"' status"' \
        -e '/^PERSONAL_NODES/d' -e '/^DAEMON_LIST/d' "$ROOST_CONFIG"
    cat >>"$ROOST_CONFIG" <<END
CLAIM_LEASE_DURATION = 5
LEASE_MARGIN = 2
JOB_DEFAULT_LEASE_DURATION = 5
SCHEDD_MATCH_TIMEOUT = 10
MATCH_TIMEOUT = 10
ROOSTER_WAKE_DEADLINE = 10
STARTER_FAILURE_BACKOFF = "1s"
MASTER_BACKOFF_CEILING = "2s"
SPOOL_RESERVE = "8 MiB"
HIBERNATE_RECLAIM_TIME = 5
END
    cat >"$POOL/nodes/manager/roost.conf" <<END
include("$ROOST_CONFIG")
LOCAL_DIR = "$POOL/nodes/manager"
DAEMON_LIST = {COLLECTOR, NEGOTIATOR, ROOSTER}
END
    cat >"$POOL/nodes/submit/roost.conf" <<END
include("$ROOST_CONFIG")
LOCAL_DIR = "$POOL/nodes/submit"
MASTER_NAME = "submit"
TOKEN_FILE = "$POOL/nodes/submit/tokens/\$(SUBSYSTEM:USER)"
DAEMON_LIST = {SCHEDD}
END
    mkdir "$POOL/nodes/submit/tokens"
    cp "$POOL/security/tokens/SCHEDD" "$POOL/nodes/submit/tokens/"
    "$ROOST" token create --identity submit@personal --scope READ,MASTER --name-pattern submit \
        --file "$POOL/nodes/submit/tokens/MASTER" >"$WORK/token" 2>&1 || fail "token: $(cat "$WORK/token")"
    for name in "${USERS[@]}"; do
        mkdir -p "$POOL/nodes/submit/home/$name"
        chown "$name" "$POOL/nodes/submit/home/$name"
    done
    hosts_switch "$WORK/switch"
    number=0
    for name in "${ALL[@]}"; do
        number=$((number + 1))
        host_make "$name" $number 64
    done
    for name in "${ALL[@]}"; do host_boot "$name"; done
    until_true 30 "the pool is up" pool_is_up
}
pool_is_up() {
    [ "$("$ROOST" status -af Machine 2>/dev/null | sort -u | wc -l)" -eq ${#NODES[@]} ] && "$ROOST" q >/dev/null 2>&1 &&
        "$ROOST" power status >/dev/null 2>&1
}

# ---- the jobs

jobs_begin() {
    mkdir "$WORK/subs" "$WORK/acked"
    : >"$LINES"
    chmod 0666 "$LINES"
    head -c 20000 /dev/urandom >"$WORK/input"
    cat >"$WORK/job" <<'JOB'
#!/usr/bin/perl
# NAME SECONDS LINES: writes "BEGIN", "TICK" and "END" lines with NAME, the run, pid, host and boot time, and returns its input.
use Time::HiRes qw(clock_gettime CLOCK_BOOTTIME sleep);
my ($name, $seconds, $lines) = @ARGV;
open(my $in, '<', '/proc/sys/kernel/random/uuid') and chomp(my $run = <$in>);
open(my $out, '>>', $lines) or die "$lines: $!";
my $began = clock_gettime(CLOCK_BOOTTIME);
sub line { syswrite($out, sprintf("%s %s %s %d %s %.3f\n", $_[0], $name, $run, $$, $ENV{ROOST_BOOT_ID}, clock_gettime(CLOCK_BOOTTIME))) or die; }
line('BEGIN');
while (clock_gettime(CLOCK_BOOTTIME) < $began + $seconds) {
    sleep 0.1;
    line('TICK');
}
open(my $input, '<', 'input') or die "input: $!";
# What is full today has room tomorrow.
sub put {
    my ($path, $text) = @_;
    my $file;
    sleep 0.2 until open($file, '>', $path) and (syswrite($file, $text) // 0) == length($text) and close($file);
}
put("whole.$name", "$run\n" . do { local $/; <$input> });
put('/proc/self/fd/1', "$name $run\n");
line('END');
JOB
    chmod 0755 "$WORK/job"
}

# send BATCH USER COUNT SECONDS: as a user of the submit host; what is acknowledged is in acked/BATCH.
send() {
    local batch=$1 user=$2 home
    home=$(host_dir submit)/home/$user
    cat >"$WORK/subs/$batch" <<SUB
executable = $WORK/job
transfer_executable = false
arguments = $batch.\$(Process) $4 $LINES
initialdir = $home
transfer_input_files = $WORK/input
transfer_output_files = whole.$batch.\$(Process)
output = out.$batch.\$(Process)
error = err.$batch.\$(Process)
log = jobs.log
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
request_memory = 1
request_disk = 100
+StormBatch = "$batch"
queue $3
SUB
    timeout 30 nsenter --target "$(<"$HOSTS/submit/holder")" --mount --net -- \
        setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups \
        env ROOST_CONFIG="$(host_dir submit)/roost.conf" "$ROOST" submit "$WORK/subs/$batch" -terse \
        >"$WORK/subs/$batch.out" 2>"$WORK/subs/$batch.err" </dev/null && mv "$WORK/subs/$batch.out" "$WORK/acked/$batch"
}

# ---- what happens when: lines "MS ACTION ARGUMENT..."

pick() { # pick WORD...: one of them
    below $#
    picked=${*:chosen+1:1}
}
picked=''
DAEMONS=(manager:collector manager:negotiator manager:rooster manager:master submit:schedd submit:shadow submit:master)
for name in "${NODES[@]}"; do DAEMONS+=("$name:startd" "$name:starter" "$name:keeper" "$name:master"); done

plan_jobs() {
    local ms=0 number=0 user
    for user in "${USERS[@]}"; do
        pick 1 2 3 4 6 8 14
        echo "0 submit b$number $user 6 $picked"
        number=$((number + 1))
    done
    while [ $ms -lt 15000 ]; do
        below 2500
        ms=$((ms + 200 + chosen))
        pick "${USERS[@]}"
        below 4
        user="$picked $((chosen + 1))"
        pick 1 2 3 4 6 8 14
        echo "$ms submit b$number $user $picked"
        number=$((number + 1))
    done
}
plan_set() { # up to six daemons
    local count set=()
    below 6
    count=$((chosen + 1))
    for ((; count > 0; count--)); do
        pick "${DAEMONS[@]}"
        set+=("$picked")
    done
    picked=$(printf '%s\n' "${set[@]}" | sort -u | tr '\n' ' ')
}
plan_faults() {
    local fault count start end kind to
    below 4
    count=$((chosen + 1))
    for ((fault = 0; fault < count; fault++)); do
        below 120
        start=$((2000 + chosen * 100))
        below $((LONGEST * 10 - 9))
        end=$((start + 1000 + chosen * 100))
        pick power power power kill kill kill stop stop stop full broken cut cut oneway oneway clock clock hold drain
        kind=$picked
        case $kind in
        kill) plan_set && echo "$start kill $picked" ;;
        stop)
            pick set set host
            if [ "$picked" = set ]; then plan_set; else pick "${ALL[@]}" && picked=$picked:all; fi
            echo "$start stop $fault $picked"
            echo "$end continue $fault"
            ;;
        power | full | broken | cut)
            pick submit "${ALL[@]}"
            echo "$start $kind $picked"
            echo "$end un$kind $picked"
            ;;
        oneway)
            pick "${ALL[@]}" && to=$picked
            until pick "${ALL[@]}" everybody && [ "$picked" != "$to" ]; do :; done
            echo "$start oneway $to ${picked#everybody}"
            echo "$end unoneway $to ${picked#everybody}"
            ;;
        clock)
            pick "${ALL[@]}"
            case $picked in
            wn*) pick "$picked 40" "$picked 100000" "$picked 315360000" "$picked -40" "$picked -100000" "$picked -315360000" ;;
            *) pick "$picked 40" "$picked 4000" "$picked 864000" "$picked -40" "$picked -4000" "$picked -864000" ;;
            esac
            echo "$start clock $picked"
            echo "$end clock ${picked% *} 0"
            ;;
        hold)
            echo "$start hold"
            echo "$((start + 700)) release"
            ;;
        drain)
            pick "${NODES[@]}"
            echo "$start drain $picked"
            echo "$end undrain $picked"
            ;;
        esac
    done
}

# ---- doing it

is_dark() { [ -e "$HOSTS/$1/dark" ]; }
pids_at() { # pids_at HOST:DAEMON
    if [ "${1#*:}" = all ]; then host_pids "${1%%:*}"; else host_pids "${1%%:*}" "${1#*:}"; fi
}
ask() { timeout 20 "$ROOST" "$@" >>"$WORK/asked" 2>&1; }
sending=()
act() {
    local what=$1 at pids
    shift
    case $what in
    submit)
        ! is_dark submit || return 0 # nobody sits at a host without power
        send "$@" &
        sending+=($!)
        return
        ;;
    kill | stop)
        at=$1
        [ "$what" = kill ] || shift
        for target in "$@"; do
            mapfile -t pids < <(pids_at "$target")
            [ ${#pids[@]} -gt 0 ] || continue
            if [ "$what" = kill ]; then kill -9 "${pids[@]}"; else kill -STOP "${pids[@]}" && echo "${pids[*]}" >>"$WORK/stopped.$at"; fi
        done 2>/dev/null
        ;;
    continue)
        # A process that was killed meanwhile is gone, and its pid is not given again so soon.
        # shellcheck disable=SC2046
        [ ! -e "$WORK/stopped.$1" ] || kill -CONT $(cat "$WORK/stopped.$1") 2>/dev/null
        ;;
    power) is_dark "$1" || host_cut "$1" ;;
    unpower) ! is_dark "$1" || host_light "$1" ;;
    full) is_dark "$1" || host_fill "$1" ;;
    unfull) is_dark "$1" || host_unfill "$1" ;;
    broken) is_dark "$1" || host_break "$1" ;;
    unbroken) is_dark "$1" || { host_cut "$1" && host_light "$1"; } ;;
    cut) host_link "$1" down ;;
    uncut) is_dark "$1" || host_link "$1" up ;;
    oneway) host_oneway "$1" add "${@:2}" ;;
    unoneway) host_oneway "$1" del "${@:2}" ;;
    clock) host_shift "$@" ;;
    hold) ask hold -all & ;;
    release) ask release -all & ;;
    drain) ask drain "$1" --graceful & ;;
    undrain) ask drain "$1" --cancel & ;;
    esac
    say "$what $*"
}
# A master that ended for another reason than sleep is started again, as a service manager does.
serve_masters() {
    local name
    for name in manager submit; do is_dark "$name" || host_is_on "$name" || host_master "$name"; done
    for name in "${NODES[@]}"; do
        is_dark "$name" || host_is_on "$name" || [ -z "$(host_pids "$name" startd)$(host_pids "$name" starter)" ] || host_master "$name"
    done
}
storm() {
    local ms line begun=${EPOCHREALTIME/./} now served=0
    while read -r ms line; do
        while now=$(((${EPOCHREALTIME/./} - begun) / 1000)) && [ "$now" -lt "$ms" ]; do
            [ $((now - served)) -lt 1000 ] || { serve_masters; served=$now; }
            sleep 0.05
        done
        # shellcheck disable=SC2086
        act $line
    done <"$WORK/plan"
}

# ---- what must be true afterwards

queued() { "$ROOST" q -allusers -af ClusterId ProcId JobStatus 2>"$WORK/queued.err"; }
is_drained() {
    local left
    left=$(queued) || return 1
    case $left in *' 5'*)
        "$ROOST" q -allusers -constraint 'JobStatus == 5' -af ClusterId ProcId HoldReason >>"$WORK/holds" 2>/dev/null
        ask release -constraint 'JobStatus == 5'
        ;;
    esac
    serve_masters
    [ -z "$left" ]
}
all_free() {
    [ -z "$("$ROOST" status -constraint 'State =!= "Unclaimed"' -af Name State 2>&1)" ] &&
        [ "$("$ROOST" status -af Machine 2>/dev/null | sort -u | wc -l)" -eq ${#NODES[@]} ]
}
nodes_sleep() {
    local name
    for name in "${NODES[@]}"; do [ -z "$(host_pids "$name")" ] || return 1; done
    all_free
}

# check_jobs: each acknowledged job, and none of a batch or all of one that was not acknowledged, is completed once, has its whole
# output, of a run that came to its end.
check_jobs() {
    local batch count user number file run home
    home=$(host_dir submit)/home
    "$ROOST" history -af StormBatch ProcId JobStatus ExitCode >"$WORK/history" || fail "roost history"
    equals "jobs that did not complete with 0" "$(grep -vE '^b[0-9]+ [0-9]+ 4 0$' "$WORK/history")" ""
    equals "results that were committed twice" "$(logs_of submit | grep -oE ' job.result .* job=[0-9.]+ ' | sed 's/.*job=//' | sort | uniq -d)" ""
    equals "jobs that are in the history twice" "$(sort "$WORK/history" | uniq -d)" ""
    jobs_done=$(wc -l <"$WORK/history")
    for batch in "$WORK"/subs/b*; do
        batch=${batch##*/}
        [ "$batch" != 'b*' ] || fail "nothing was submitted"
        case $batch in *.*) continue ;; esac
        count=$(sed -n 's/^queue //p' "$WORK/subs/$batch")
        user=$(sed -n 's,^initialdir = .*/,,p' "$WORK/subs/$batch")
        number=$(grep -c "^$batch " "$WORK/history")
        if [ -e "$WORK/acked/$batch" ] || [ "$number" -gt 0 ]; then
            equals "completed jobs of $batch, $count of which were submitted, as: $(cat "$WORK/acked/$batch" 2>&1)" "$number" "$count"
        else
            continue
        fi
        for ((number = 0; number < count; number++)); do
            file=$home/$user/out.$batch.$number
            read -r _ run < <(in_host submit cat "$file" 2>&1) || fail "the output of $batch.$number is empty"
            grep -q "^END $batch.$number $run " "$LINES" || fail "output of $batch.$number: no run $run came to its end"
            { echo "$run"; cat "$WORK/input"; } | in_host submit cmp - "$home/$user/whole.$batch.$number" || fail "whole.$batch.$number"
        done
    done
}
# check_overlap: once a run of a job has begun, no other run of it writes.
check_overlap() {
    equals "runs that wrote after the next one had begun" "$(awk '
        $1 == "BEGIN" { last[$2] = $3; host[$2] = $5; at[$2] = $6; next }
        last[$2] != $3 && !(($2, $3) in told) { told[$2, $3] = 1; print $0 " (run " last[$2] " on boot " host[$2] " began at " at[$2] ")" }' "$LINES")" ""
}
logs_of() { in_host "$1" sh -c 'cat "$0"/log/*Log* "$0"/spool/owner/*/*Log* 2>/dev/null' "$(host_dir "$1")"; }
check_logs() {
    local name
    for name in "${ALL[@]}"; do
        equals "promises of time that were broken, by $name" "$(logs_of "$name" | grep ' promise.broken ')" ""
        equals "daemons of $name that crashed" "$(logs_of "$name" | grep -E ' daemon.ended .* signal=(4|6|7|8|11)( |$)')" ""
        equals "aborts of $name" "$(grep -E 'CHECK|core dumped|AddressSanitizer' "$HOSTS/$name/out")" ""
    done
}
check_stores() {
    local name store
    for name in "${ALL[@]}"; do
        while read -r store; do
            in_host "$name" "$ROOST" store check "$store" >"$WORK/checked" 2>&1 || fail "$name: $store: $(cat "$WORK/checked")"
        done < <(in_host "$name" find "$(host_dir "$name")" -name '*.db')
    done
}
check_event_logs() {
    local user
    for user in "${USERS[@]}"; do
        in_host submit "$ROOST_BUILD/tools/event_check" "$(host_dir submit)/home/$user/jobs.log" >"$WORK/events" 2>&1 ||
            fail "the job event log of $user: $(cat "$WORK/events")"
    done
}
stop_hosts() {
    local name
    for name in "${ALL[@]}"; do
        mapfile -t pids < <(host_pids "$name" master)
        [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}"
    done
    until_true 40 "every daemon has ended" nothing_runs
}
nothing_runs() {
    local name
    for name in "${ALL[@]}"; do [ -z "$(host_pids "$name")" ] || return 1; done
}
keep_files() {
    local status=$? name
    if [ "$status" -ne 0 ]; then
        say "the seed is $SEED"
        if [ -n "${ROOST_TEST_KEEP:-}" ]; then
            for name in "${ALL[@]}"; do host_save "$name" "$HOSTS/$name"; done
        fi
        queued | head -20
        "$ROOST" status -af Name State Activity Offline NotRespondingSince 2>&1 | head -20
        for name in "${ALL[@]}"; do logs_of "$name"; done | grep -hE '^[^ ]+ [^ ]+ (error|warn) ' | grep -v ' loop.overrun ' | sort | tail -40
    fi
    for name in "${ALL[@]}"; do
        # shellcheck disable=SC2046
        kill -9 $(host_pids "$name") "$(cat "$HOSTS/$name/holder")" 2>/dev/null
    done
    (exit "$status")
    clean_up
}
trap keep_files EXIT

round_pool
RANDOM=$SEED
for _ in 1 2 3 4 5 6 7 8; do below 2; done # the first numbers of neighbouring seeds are alike
jobs_begin
{
    plan_faults
    plan_jobs
} | sort -n -k1,1 -s >"$WORK/plan"
say "seed $SEED: $(grep -v ' submit ' "$WORK/plan" | tr '\n' ';')"
begun=$SECONDS
storm
say "the storm is over"
jobs_done=0
calm=$SECONDS
until_true 60 "every job is done" is_drained
drained=$((SECONDS - calm))
wait "${sending[@]}"
until_true 60 "every job is done" is_drained
check_jobs
check_overlap
until_true 40 "every machine is free" all_free
until_true 40 "every machine sleeps" nodes_sleep
check_logs
check_event_logs
stop_hosts
check_stores
acked=("$WORK"/acked/*)
for batch in "${acked[@]}"; do rm -f "$WORK/subs/${batch##*/}.err"; done
cat "$WORK"/subs/*.err 2>/dev/null | sort | uniq -c
say "seed $SEED: ${#acked[@]} of $(grep -c ' submit ' "$WORK/plan") submissions were acknowledged, $jobs_done jobs, $(grep -c '^BEGIN' "$LINES") runs, $(cut -d' ' -f3- "$WORK/holds" 2>/dev/null | sort | uniq -c | tr '\n' ';') all done $drained s after the storm, $((SECONDS - begun)) s in all"
passed

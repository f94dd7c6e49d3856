#!/bin/bash
# tools/demo.sh - `make demo`: a pool of sleeping machines wakes for work, works, and sleeps again.
#
# A personal pool of 4 nodes, all asleep, in a temporary directory; 12 jobs that compress and checksum real files of this
# machine; a line for everything that happens.  The daemons' logs are what is shown; what is checked does not depend on
# them: results byte by byte against a local run, boot ids against the time of submission, /proc for what a sleeping node
# must not have, the wake ledger against the boot ids.  The last line is "demo: ok: ..." or "demo: FAILED: ...".
#
# ROOST_BIN: where the programs are (build/bin).
#
# SPDX-License-Identifier: Apache-2.0
set -u
NODES=4
JOBS=12
IDLE_S=3    # a node without work sleeps after so long
LIMIT_S=120 # for all of it

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=${ROOST_BIN:-$here/build/bin}
roost=$bin/roost
. "$here/tools/pool_traces.sh"
export LC_ALL=C

work='' # the temporary directory; everything that we start has its name in its environment
begun=0 # when the demo began, ms

now_ms() { local t=${EPOCHREALTIME/./}; echo $((t / 1000)); }

# say MS WHO WHAT: one line, MS in the demo's time
say() { printf '%8d.%03d s  %-9s %s\n' $(($1 / 1000)) $(($1 % 1000)) "$2" "$3"; }
tell() { say $(($(now_ms) - begun)) "$1" "$2"; }

# Ends the pool; what is left of it afterwards goes to the variable `left`.
left=''
clean_up() {
    local pid
    [ -n "$work" ] || return
    if [ -f "$work/pool/roost.conf" ]; then
        timeout 70 "$roost" stop >"$work/stop.out" 2>&1 || left="roost stop: $(tail -1 "$work/stop.out")"
    fi
    local pids=()
    for _ in 1 2 3 4 5 6 7 8 9 10; do # `roost stop` saw the locks given up; that is not yet the last instruction
        mapfile -t pids < <(traces "$work/pool/")
        [ ${#pids[@]} -gt 0 ] || break
        sleep 0.1
    done
    if [ ${#pids[@]} -gt 0 ]; then
        left="$left processes: $(describe "${pids[@]}")"
        for pid in "${pids[@]}"; do
            kill -9 "$pid" 2>/dev/null
        done
    fi
    rm -rf "$work"
    [ ! -e "$work" ] || left="$left $work"
    work=''
}

fail() {
    if [ "$BASHPID" -ne $$ ]; then # in $(...): who asked goes on to the end
        echo "$*" >&2
        exit 1
    fi
    trap - EXIT
    printf '\n'
    if [ -n "$work" ] && [ -d "$work/pool/log" ]; then
        grep -hE '^[^ ]+ [^ ]+ (error|warn) ' "$work"/pool/log/*Log "$work"/pool/nodes/*/log/*Log* 2>/dev/null |
            sort | tail -15
    fi
    if [ -n "${ROOST_DEMO_KEEP:-}" ] && [ -n "$work" ]; then
        cp -r "$work" "$ROOST_DEMO_KEEP"
    fi
    clean_up
    echo "demo: FAILED: $*"
    exit 1
}

trap 'fail "the demo ended early"' EXIT
trap 'fail "interrupted"' INT TERM HUP

in_time() { [ $(($(now_ms) - begun)) -lt $((LIMIT_S * 1000)) ]; }

# ---- the pool and the jobs' input

make_place() {
    local parent=${TMPDIR:-/tmp}
    [ -x "$roost" ] || fail "$roost is missing: run 'make'"
    # Sockets lie below it, whose paths are short; jobs of another user must get through.
    [ ${#parent} -le 40 ] || parent=/tmp
    work=$(mktemp -d "$parent/roost-demo-XXXXXX") || fail "no temporary directory in $parent"
    chmod 0755 "$work"
    export ROOST_CONFIG=$work/pool/roost.conf
}

# 12 files of this machine, of different sizes.
choose_input() {
    find /usr/bin /usr/sbin /usr/share/perl /etc -xdev -type f -readable -size +100k -size -3M -printf '%s %p\n' \
        2>/dev/null | grep -E '^[0-9]+ [A-Za-z0-9/._+-]+$' | sort -k1,1n -k2 |
        awk '{ line[NR] = $0 } END { for (i = 0; i < n && NR >= n; i++) print line[int((i + 0.5) * NR / n) + 1] }' \
            n=$JOBS >"$work/input"
    [ "$(wc -l <"$work/input")" -eq $JOBS ] || fail "this machine has fewer than $JOBS files of 100 kB to 3 MB"
}

write_jobs() {
    local number=0 path
    cat >"$work/job.sh" <<'JOB'
#!/bin/sh
# Compresses the input three ways, keeps the smallest, says what it did.
set -eu
for level in 1 6 9; do
    gzip -n -c -$level "$1" >"result.$level.gz"
    printf 'gzip -%s: %s of %s bytes\n' $level "$(wc -c <"result.$level.gz")" "$(wc -c <"$1")"
done >report
mv result.9.gz result.gz
rm result.1.gz result.6.gz
gzip -dc result.gz | cmp - "$1"
sha256sum <"$1" >>report
sha256sum <result.gz >>report
echo "${ROOST_BOOT_ID:-none} ${ROOST_BOOT_TIME:-none}"
JOB
    chmod 0755 "$work/job.sh"
    while read -r _ path; do
        mkdir -p "$work/job.$number" "$work/local.$number"
        cp "$path" "$work/job.$number/input"
        chmod 0644 "$work/job.$number/input"
        [ -z "$account" ] || chown -R "$account" "$work/job.$number"
        number=$((number + 1))
    done <"$work/input"
    cat >"$work/demo.sub" <<SUB
executable = $work/job.sh
arguments = input
initialdir = $work/job.\$(Process)
transfer_input_files = input
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
output = out
error = err
queue $JOBS
SUB
}

# ---- what happens, from the logs

# events: from lines of the logs to "ms who what"; ms since the begin of the demo, which was at the given time of day
events() {
    awk -v begun="$begun" '
        function field(name,   at, rest) {
            at = index($0, " " name "=")
            if (at == 0) { return "" }
            rest = substr($0, at + length(name) + 2)
            sub(/[ ].*/, "", rest)
            return rest
        }
        function machine(slot) { sub(/^.*@/, "", slot); return slot }
        {
            split(substr($1, 12, 12), t, /[:.]/)
            ms = ((t[1] * 60 + t[2]) * 60 + t[3]) * 1000 + t[4] - begun % 86400000
            if (ms < -43200000) { ms += 86400000 }
            what = ""
            if ($2 == "schedd" && $4 == "queue.submitted") {
                who = "cluster " field("cluster"); what = "submitted: " field("last") - field("first") + 1 " jobs"
            } else if ($2 == "negotiator" && $4 == "hold") {
                jobs = field("jobs")
                who = machine(field("slot")); what = "asleep, and matched: " jobs (jobs == 1 ? " job waits" : " jobs wait") " for it"
            } else if ($2 == "rooster" && $4 == "wake.sent") {
                who = field("machine"); what = "woken"
            } else if ($2 == "rooster" && $4 == "node.state" && field("state") == "On") {
                who = field("machine"); what = "is up"
            } else if ($2 == "rooster" && $4 == "node.state" && field("state") == "Off") {
                who = field("machine"); what = "asleep"
            } else if ($2 == "schedd" && $4 == "job.started") {
                who = "job " field("job"); what = "running on " machine(field("slot"))
            } else if ($2 == "schedd" && $4 == "job.completed") {
                who = "job " field("job"); what = "done"
            }
            if (what != "") { printf "%d\t%s\t%s\n", ms, who, what }
        }'
}

# Prints the events that were not printed before.
show_news() {
    local ms who what
    cat "$work/pool/log/RoosterLog" "$work/pool/log/SchedLog" "$work/pool/log/NegotiatorLog" | events |
        awk -F '\t' -v from="$submitted" '$1 >= from' | sort -n -k1,1 -s >"$work/events"
    sort "$work/events" >"$work/events.sorted"
    comm -13 "$work/events.shown" "$work/events.sorted" | sort -n -k1,1 -s | while IFS=$'\t' read -r ms who what; do
        say "$ms" "$who" "$what"
    done
    mv "$work/events.sorted" "$work/events.shown"
}

# ---- checks

ask() { "$roost" "$@" 2>"$work/ask.err" || fail "roost $1: $(tail -1 "$work/ask.err")"; }

# Every node has only offline ads, and /proc has no process of it.
check_all_asleep() {
    local node pids=()
    ask status -af Machine Offline >"$work/status"
    awk '$2 == "true" { n++ } $2 != "true" { bad = bad " " $1 } END { exit !(n == nodes && bad == "") }' \
        nodes=$NODES "$work/status" || fail "$1: not every node is asleep: $(tr '\n' ' ' <"$work/status")"
    for ((node = 1; node <= NODES; node++)); do
        mapfile -t pids < <(traces "$work/pool/nodes/wn0$node/")
        [ ${#pids[@]} -eq 0 ] || fail "$1: wn0$node is asleep, but has processes: $(describe "${pids[@]}")"
    done
}

# While a job runs, /proc has a startd and a starter of its node.  Shows that check_all_asleep() would see them.
seen_awake=0
look_at_awake() {
    local node host pids=()
    [ $seen_awake -eq 0 ] || return
    while read -r host; do
        node=${host#*@}
        mapfile -t pids < <(traces "$work/pool/nodes/$node/")
        [ ${#pids[@]} -eq 0 ] || seen_awake=1
    done < <("$roost" q -af RemoteHost 2>/dev/null | grep '@wn')
}

check_results() {
    local number
    for ((number = 0; number < JOBS; number++)); do
        (
            cd "$work/local.$number" || exit 1
            cp "../job.$number/input" input && "$work/job.sh" input >out 2>err
        ) || fail "job $number fails in a local run: $(cat "$work/local.$number/err")"
        for file in report result.gz; do
            cmp -s "$work/job.$number/$file" "$work/local.$number/$file" ||
                fail "job $number: $file differs from that of a local run"
        done
        [ ! -s "$work/job.$number/err" ] || fail "job $number wrote to stderr: $(head -1 "$work/job.$number/err")"
    done
}

# uuid_ms UUID: the time in a UUIDv7, in milliseconds.
uuid_ms() {
    local hex=${1//-/}
    case $hex in
        ????????????7*) echo $((16#${hex:0:12})) ;;
        *) echo 0 ;;
    esac
}

# Each job ran in a boot that began after its submission, and that the ledger has for this machine.
check_boots() {
    local job id time host kind machine outcome boot start boot_s
    local -A woken=() slept=()
    ask power history -af Kind Machine Outcome BootId StartTime BootTime >"$work/ledger"
    while read -r kind machine outcome boot start boot_s; do
        case $kind:$outcome in
            Wake:Up)
                [ $((start * 1000 + 999)) -ge "$submit_begun" ] || fail "$machine was woken before the jobs were submitted"
                woken[$machine/$boot]=$boot_s
                ;;
            Sleep:Asleep) slept[$machine/$boot]=$start ;;
            *) fail "unexpected entry in the wake ledger: $kind of $machine: $outcome" ;;
        esac
    done <"$work/ledger"
    ask history -af ProcId LastRemoteHost ExitCode JobStatus >"$work/history"
    while read -r job host code status; do
        [ "$code/$status" = 0/4 ] || fail "job $job: JobStatus $status, ExitCode $code"
        read -r id time <"$work/job.$job/out" || fail "job $job returned no output"
        [ "$(uuid_ms "$id")" -ge "$submit_begun" ] || fail "job $job: the boot $id of ${host#*@} is older than the job"
        [ $((time + 1)) -ge $((submit_begun / 1000)) ] || fail "job $job: its machine booted at $time, before the job"
        [ -n "${woken[${host#*@}/$id]:-}" ] || fail "job $job ran in boot $id of ${host#*@}, which is not in the wake ledger"
        [ "${woken[${host#*@}/$id]}" = "$time" ] || fail "job $job: boot time $time; ledger: ${woken[${host#*@}/$id]}"
    done <"$work/history"
    [ "$(sort -un <(cut -d' ' -f1 "$work/history") | wc -l)" -eq $JOBS ] || fail "a job is missing in the history"
    [ "$(wc -l <"$work/history")" -eq $JOBS ] || fail "a job is in the history twice"
    for boot in "${!woken[@]}"; do
        [ -n "${slept[$boot]:-}" ] || fail "the wake ledger has no entry that $boot went to sleep"
    done
    machines=$(printf '%s\n' "${!woken[@]}" | cut -d/ -f1 | sort -u | wc -l)
    printf '\nThe wake ledger (roost power history):\n'
    ask power history | sed 's/^/    /'
}

# Node-seconds between "woken" and "asleep", to the millisecond.
count_awake() {
    awk -F '\t' -v nodes=$NODES '
        $3 == "woken" { up[$2] = $1 }
        $3 == "asleep" && $2 in up { sum += $1 - up[$2]; delete up[$2]; last = $1 }
        $2 == "begin" { first = $1 }
        END {
            span = (last - first) / 1000
            printf "\n%.1f node-seconds awake; a pool that never sleeps: %.1f (%d nodes for %.1f s)", sum / 1000,
                nodes * span, nodes, span
            printf ".  From now on 0 per second, there %d.\n", nodes
        }' <(printf '%s\tbegin\t\n' "$submitted") "$work/events"
}

# ---- the show

make_place
begun=$(now_ms)
"$roost" init "$work/pool" --nodes $NODES --idle $IDLE_S --asleep >/dev/null || fail "roost init"
account=$(sed -n 's/^SUBMIT_ROOT_AS = "\(.*\)"$/\1/p' "$work/pool/roost.conf") # of a pool of root's
choose_input
write_jobs
[ -z "$account" ] || tell demo "jobs never run as root; these run under the account $account (SUBMIT_ROOT_AS)"
tell demo "a personal pool of $NODES nodes in $work/pool; starting"
timeout 60 "$roost" start >"$work/start.out" 2>&1 || fail "roost start: $(tail -1 "$work/start.out")"
submitted=$(($(now_ms) - begun))
: >"$work/events.shown"
check_all_asleep "before the jobs"
tell demo "the pool is up, its $NODES nodes are asleep: /proc has no startd, starter or job of theirs"
tell demo "submitting $JOBS jobs: each compresses and checksums a file of this machine"

submitted=$(($(now_ms) - begun))
submit_begun=$(now_ms)
"$roost" submit "$work/demo.sub" >"$work/submit.out" 2>&1 || fail "roost submit: $(tail -1 "$work/submit.out")"
while :; do
    in_time || fail "the jobs are not done after $LIMIT_S s: $(ask q -af ProcId JobStatus | tr '\n' ';') $(ask status -af Name Offline State | tr '\n' ';')"
    show_news
    ask q -af ClusterId ProcId JobStatus HoldReason >"$work/q"
    held=$(awk '$3 == 5' "$work/q" | head -1)
    [ -z "$held" ] || fail "job held: $held"
    look_at_awake
    if [ ! -s "$work/q" ]; then
        awake=$("$roost" status -af Offline | grep -vc true)
        [ "$awake" -ne 0 ] || break
    fi
    sleep 0.1
done
# The rooster writes its ledger when it has seen the ads.
until [ "$("$roost" power history -af Kind 2>/dev/null | grep -c Sleep)" -ge "$(grep -c $'\twoken$' "$work/events")" ]; do
    in_time || fail "the wake ledger does not have every sleep: $(ask power history -af Kind Machine Outcome)"
    sleep 0.05
done
show_news

tell demo "checking"
[ $seen_awake -eq 1 ] || fail "/proc showed no process of a node that ran jobs, so the check of sleeping nodes proves nothing"
check_results
check_boots
# The masters of the nodes end a moment after their startds left their ads.
for ((tries = 0; tries < 50; tries++)); do
    [ -n "$(traces "$work/pool/nodes/")" ] || break
    sleep 0.1
done
check_all_asleep "after the jobs"
awake=$(ask status -af Offline | grep -vc true)
count_awake
printf '%d results are equal to those of a local run (%s bytes of input); boot ids, ledger and /proc agree.\n' \
    $JOBS "$(awk '{ n += $1 } END { print n }' "$work/input")"

clean_up
[ -z "$left" ] || fail "the pool left something behind: $left"
trap - EXIT

printf '\nThe second act: a pool that has no machines until jobs wait.\n'
ROOST_BIN=$bin "$here/tools/demo_factory.sh" || exit 1
echo "demo: ok: $JOBS jobs completed, $machines machines woken, $awake awake"

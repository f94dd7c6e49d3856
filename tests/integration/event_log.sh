#!/bin/bash
# The lives of tests/conformance/eventlog/jobs are lived in a pool of four static slots; the logs that come of it are
# compared with HTCondor's: same events, same fields, same order, same layout (tests/support/event_logs.py masks what
# is of the place and the time).  Then the shadow is killed in the middle of writing: every event is there once.
#
# TIMEOUT: 100
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
samples=$ROOST_SRC/tests/conformance/eventlog

pool_init --nodes 1 --cpus-per-node 4
# Policies are asked when what must be logged before is logged (below).
{
    printf 'PERIODIC_EXPR_INTERVAL = 0\nSTARTER_INITIAL_UPDATE_INTERVAL = 1\n'
    printf 'EVENT_LOG = "%s/global"\nSENDMAIL = "%s/sendmail"\n' "$WORK" "$WORK"
} >>"$POOL/roost.conf"
printf '#!/bin/sh\necho "sendmail $*" >>"%s/mail"\ncat >>"%s/mail"\n' "$OUT" "$OUT" >"$WORK/sendmail"
chmod 0755 "$WORK/sendmail"
pool_start
cp "$samples"/jobs/*.sub "$OUT/"
printf '#!/bin/sh\nexit 3\n' >"$OUT/exit3.sh"
printf '#!/bin/sh\nkill -SEGV $$\n' >"$OUT/segv.sh"
printf '#!/bin/sh\nsleep 0.2\n' >"$OUT/s2.sh"
printf '#!/bin/sh\nsleep 0.5\n' >"$OUT/mem.sh"
printf '#!/bin/sh\ncat in.txt >out.dat; echo done\n' >"$OUT/xfer.sh"
chmod 0755 "$OUT"/*.sh
echo input >"$OUT/in.txt"

live() { (cd "$OUT" && submit "$1.sub") >"$WORK/$1.id" || fail "submit $1.sub: $(cat "$WORK/$1.id")"; }
id_of() { cat "$WORK/$1.id"; }
logged() { [ -e "$OUT/$1.log" ] && [ "$(grep -c "$2" "$OUT/$1.log")" -ge "$3" ]; }
form=default
compare() { # LIFE... [NUMBER OF AN EVENT TO LEAVE OUT...]
    local word pairs=()
    for word in "$@"; do
        case $word in
        [0-9]*) pairs+=("$word") ;;
        *) pairs+=("$samples/$form/$word.log" "$OUT/$word.log") ;;
        esac
    done
    python3 "$ROOST_SRC/tests/support/event_logs.py" "${pairs[@]}" || fail "$form: $*"
}
reconfigure() { # LINE...
    printf '%s\n' "$@" >>"$POOL/roost.conf"
    timeout 20 "$ROOST" config reload >"$WORK/reload.out" 2>&1 || fail "config reload: $(cat "$WORK/reload.out")"
}

say "jobs that end by themselves"
lives="perrm timelimit normal exit3 segv hold multi xfer factory retry policy idlerm unmet"
for life in $lives; do
    live "$life"
done
"$ROOST" release "$(id_of hold)" >/dev/null || fail "release"
"$ROOST" rm "$(id_of idlerm)" >/dev/null || fail "rm"
until_true 40 "the size of perrm is logged" logged perrm '^006' 1
until_true 40 "the size of timelimit is logged" logged timelimit '^006' 1
reconfigure 'PERIODIC_EXPR_INTERVAL = 1'
for life in $lives; do
    case $life in
    multi) last='^005' count=3 ;;
    factory) last='^036' count=1 ;;
    policy | timelimit) last='^012' count=1 ;;
    perrm) last='^009' count=1 ;;
    idlerm) last='^009' count=2 ;;
    unmet) last='^000' count=1 ;;
    *) last='^005' count=1 ;;
    esac
    until_true 40 "the end of $life is logged" logged "$life" "$last" "$count"
done
# shellcheck disable=SC2086
compare $lives
say "waiting for a log"
equals "roost wait LOG" "$("$ROOST" wait "$OUT/multi.log")" "All jobs done."
equals "roost wait LOG ID -status" "$("$ROOST" wait "$OUT/multi.log" "$(id_of multi).1" -status | grep -c "^$(id_of multi).1.0 terminated$")" 1
"$ROOST" wait "$OUT/unmet.log" -wait 1 >"$WORK/wait.out" && fail "a job that waits is not over"
equals "its text" "$(cat "$WORK/wait.out")" "Time expired."
"$ROOST" wait "$OUT/none.log" 2>/dev/null && fail "roost wait of a log that is not there"

say "a job that is held, released, vacated, suspended and removed while it runs"
runs() { [ "$("$ROOST" q "$(id_of ctl)" -af JobStatus 2>/dev/null)" = 2 ] && logged ctl '^001' "$1"; }
live ctl
until_true 20 "ctl runs" runs 1
"$ROOST" hold "$(id_of ctl)" -reason "operator asked (by user user)" >/dev/null || fail "hold"
until_true 20 "the hold is logged" logged ctl '^012' 1
"$ROOST" release "$(id_of ctl)" -reason "go on (by user user)" >/dev/null || fail "release"
until_true 20 "ctl runs again" runs 2
"$ROOST" vacate "$(id_of ctl)" >/dev/null || fail "vacate"
until_true 20 "ctl runs for the third time" runs 3
"$ROOST" vacate -fast "$(id_of ctl)" >/dev/null || fail "vacate -fast"
until_true 20 "ctl runs for the fourth time" runs 4
"$ROOST" suspend "$(id_of ctl)" >"$WORK/suspend.out" || fail "suspend"
equals "what it says" "$(cat "$WORK/suspend.out")" "All jobs in cluster $(id_of ctl) have been suspended"
until_true 20 "the suspension is logged" logged ctl '^010' 1
equals "its state" "$("$ROOST" q "$(id_of ctl)" -af JobStatus)" 7
equals "its slot's" "$("$ROOST" status -constraint 'Activity == "Suspended"' -af State)" Claimed
"$ROOST" continue "$(id_of ctl).0" >/dev/null || fail "continue"
until_true 20 "that it goes on is logged" logged ctl '^011' 1
"$ROOST" continue "$(id_of ctl).0" >/dev/null 2>&1 && fail "a job that is not suspended was continued"
"$ROOST" rm "$(id_of ctl)" -reason "no longer needed (by user user)" >/dev/null || fail "rm"
until_true 20 "the removal is logged" logged ctl '^009' 1
# Its size is told at its end only.
compare ctl 006

say "what jobs want to be told, and nothing to be run"
{
    printf 'executable = /bin/true\nrequest_memory = 10\nlog = told.log\nnotification = start\nnotify_user = bob@example.org\n'
    printf 'ulog_execute_attrs = Machine, Nothing, SlotID\njob_machine_attrs = Machine\nqueue\n'
    printf 'noop_job = true\nnoop_job_exit_code = 7\nlog = noop.log\nqueue\n'
    printf 'noop_job = false\nlog = /dev/full\nqueue\n'
} >"$OUT/told.sub"
live told
until_true 20 "its end is logged" logged told '^005' 1
equals "what it is told of its machine" "$(sed -n '/^001/,/^\.\.\./p' "$OUT/told.log" | grep -cE '^[[:blank:]](Machine = "wn01"|SlotID = [0-9]+|Nothing)')" 2
equals "what it keeps of it" "$("$ROOST" history "$(id_of told)".0 -af MachineAttrMachine0)" wn01
until_true 20 "the noop job is over" logged noop '^005' 1
equals "its events" "$(grep -oE '^[0-9]{3}|return value [0-9]+' "$OUT/noop.log" | tr '\n' ' ')" "000 005 return value 7 "
until_true 20 "the job whose log is on a full disk is over" is_done "$(id_of told)" 3
until_true 20 "that is said" grep -qs 'events.not_written.*/dev/full' "$POOL"/spool/owner/*/ShadowLog.*
equals "once" "$(cat "$POOL"/spool/owner/*/ShadowLog.* | grep -c 'events.not_written')" 1
"$ROOST" edit "$(id_of unmet)" JobPrio 7 >/dev/null || fail "roost edit"
until_true 20 "the edit is logged" logged unmet '^033 .* Changing job attribute JobPrio from 0 to 7$' 1

say "mail"
sed 's/^log=.*/log = mail.log\nnotification = error\nnotify_user = alice@example.org/' "$OUT/exit3.sub" >"$OUT/mail.sub"
live mail
started() { grep -qs '^Subject: .* started$' "$OUT/mail"; }
until_true 20 "mail of the start is sent" started
mailed() { grep -qs "exited normally with status 3" "$OUT/mail"; }
until_true 20 "mail is sent" mailed
equals "whom it is for" "$(grep '^To:' "$OUT/mail" | sort -u | tr '\n' ' ')" "To: alice@example.org To: bob@example.org "
equals "how sendmail was called" "$(grep '^sendmail' "$OUT/mail" | sort -u)" "sendmail -oi -t"

say "the site's log"
in_site() { [ "$(grep -c "$1" "$WORK/global")" -ge "$2" ]; }
until_true 20 "all ends are in the site's log" in_site '^005' "$(cat "$OUT"/*.log | grep -c '^005')"
equals "its first event" "$(head -c 18 "$WORK/global")" "008 (-01.-01.-01) "
equals "submissions in it" "$(grep -c '^000' "$WORK/global")" $(($(cat "$OUT"/*.log | grep -c '^000') + 1)) # that of the full disk

say "other forms of dates"
for form in iso-subsecond legacy; do
    case $form in legacy) words=LEGACY ;; *) words='ISO_DATE SUB_SECOND' ;; esac
    reconfigure "DEFAULT_USERLOG_FORMAT_OPTIONS = \"$words\""
    for life in exit3 xfer; do
        rm "$OUT/$life.log"
        live "$life"
    done
    for life in exit3 xfer; do
        until_true 40 "the end of $life is logged" logged "$life" '^005' 1
    done
    compare exit3 xfer
done
reconfigure 'DEFAULT_USERLOG_FORMAT_OPTIONS = "ISO_DATE UTC SUB_SECOND"'
rm "$OUT/exit3.log"
live exit3
until_true 40 "the end of exit3 is logged" logged exit3 '^005' 1
equals "dates of UTC" "$(grep -cE '^00[0156] .* [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z (Job|Image)' "$OUT/exit3.log")" 4
reconfigure 'DEFAULT_USERLOG_FORMAT_OPTIONS = ""'

say "shadows that are killed while they write"
printf 'executable = /bin/true\nshould_transfer_files = no\nrequest_memory = 10\nlog = killed.log\nqueue 40\n' >"$OUT/killed.sub"
live killed
for part in 8 16 24; do
    until_true 30 "$part ends of killed are logged" logged killed '^005' "$part"
    pids=$(pids_of shadow)
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill -9 $pids 2>/dev/null
done
until_true 60 "all ends of killed are logged" logged killed '^005' 40
equals "submissions that are logged once" "$(grep '^000' "$OUT/killed.log" | cut -c1-17 | sort -u | wc -l)" 40
equals "all submissions" "$(grep -c '^000' "$OUT/killed.log")" 40
equals "ends that are logged once" "$(grep '^005' "$OUT/killed.log" | cut -c1-17 | sort -u | wc -l)" 40
equals "all ends" "$(grep -c '^005' "$OUT/killed.log")" 40
equals "lines that are no event's" "$(grep -c '^[0-9][0-9][0-9] ' "$OUT/killed.log")" "$(grep -c '^\.\.\.$' "$OUT/killed.log")"
passed

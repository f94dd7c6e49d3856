#!/bin/bash
# The lives of tests/conformance/eventlog/jobs are lived in a pool of four static slots; the logs that come of it are
# compared with HTCondor's: same events, same fields, same order, same layout (tests/support/event_logs.py masks what
# is of the place and the time).  Then the shadow is killed in the middle of writing: every event is there once.
#
# TIMEOUT: 150
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
samples=$ROOST_SRC/tests/conformance/eventlog

pool_init --nodes 1 --cpus-per-node 4
echo 'PERIODIC_EXPR_INTERVAL = 12' >>"$POOL/roost.conf"
printf '#!/bin/sh\necho "sendmail $*" >>"%s/mail"\ncat >>"%s/mail"\n' "$OUT" "$OUT" >"$WORK/sendmail"
chmod 0755 "$WORK/sendmail"
printf 'SENDMAIL = "%s"\n' "$WORK/sendmail" >>"$POOL/roost.conf"
pool_start
cp "$samples"/jobs/*.sub "$OUT/"
printf '#!/bin/sh\nexit 3\n' >"$OUT/exit3.sh"
printf '#!/bin/sh\nkill -SEGV $$\n' >"$OUT/segv.sh"
printf '#!/bin/sh\nsleep 2\n' >"$OUT/s2.sh"
printf '#!/bin/sh\nsleep 1\n' >"$OUT/mem.sh"
printf '#!/bin/sh\ncat in.txt >out.dat; echo done\n' >"$OUT/xfer.sh"
chmod 0755 "$OUT"/*.sh
echo input >"$OUT/in.txt"

job_is() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null)" = "$2" ]; }
live() { (cd "$OUT" && submit "$1.sub") >"$WORK/$1.id" || fail "submit $1.sub: $(cat "$WORK/$1.id")"; }
id_of() { cat "$WORK/$1.id"; }
logged() { [ "$(grep -c "$2" "$OUT/$1.log" 2>/dev/null)" -ge "$3" ]; }
compare() { # LIFE [NUMBER OF AN EVENT TO LEAVE OUT...]
    python3 "$ROOST_SRC/tests/support/event_logs.py" "$samples/default/$1.log" "$OUT/$1.log" "${@:2}" || fail "$1.log"
}

# obeyed LIFE: does roost submit know all its commands by now?
obeyed() {
    ad=$(cd "$OUT" && "$ROOST" submit --dry-run "$1.sub" 2>&1)
    case $1.$ad in
    timelimit.*AllowedExecuteDuration*) return 0 ;;
    *"not obeyed yet"* | timelimit.*) ;;
    *) return 0 ;;
    esac
    say "left out, a command of $1.sub is not obeyed yet"
    return 1
}

say "jobs that end by themselves"
lives=
for life in normal exit3 segv hold multi xfer factory retry policy perrm timelimit idlerm unmet; do
    obeyed "$life" || continue
    lives="$lives $life"
    live "$life"
done
"$ROOST" release "$(id_of hold)" >/dev/null || fail "release"
"$ROOST" rm "$(id_of idlerm)" >/dev/null || fail "rm"
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
    compare "$life"
done
say "waiting for a log"
equals "roost wait LOG" "$("$ROOST" wait "$OUT/multi.log")" "All jobs done."
equals "roost wait LOG ID -status" "$("$ROOST" wait "$OUT/multi.log" "$(id_of multi).1" -status | grep -c "^$(id_of multi).1.0 terminated$")" 1
"$ROOST" wait "$OUT/unmet.log" -wait 1 >"$WORK/wait.out" && fail "a job that waits is not over"
equals "its text" "$(cat "$WORK/wait.out")" "Time expired."
"$ROOST" wait "$OUT/none.log" 2>/dev/null && fail "roost wait of a log that is not there"

say "a job that is held, released, vacated and removed while it runs"
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
"$ROOST" rm "$(id_of ctl)" -reason "no longer needed (by user user)" >/dev/null || fail "rm"
until_true 20 "the removal is logged" logged ctl '^009' 1
# Its size is told at its end only, and here nobody suspends it.
compare ctl 006 010 011

say "mail"
sed 's/^log=.*/log = mail.log\nnotification = error\nnotify_user = alice@example.org/' "$OUT/exit3.sub" >"$OUT/mail.sub"
live mail
mailed() { grep -q "exited normally with status 3" "$OUT/mail"; }
until_true 20 "mail is sent" mailed
equals "whom it is for" "$(grep '^To:' "$OUT/mail")" "To: alice@example.org"
equals "how sendmail was called" "$(grep '^sendmail' "$OUT/mail")" "sendmail -oi -t"

say "shadows that are killed while they write"
printf 'executable = /bin/true\nshould_transfer_files = no\nrequest_memory = 10\nlog = killed.log\nqueue 60\n' >"$OUT/killed.sub"
live killed
for part in 8 16 24 32 40 48; do
    until_true 30 "$part ends of killed are logged" logged killed '^005' "$part"
    pids=$(pids_of shadow)
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill -9 $pids 2>/dev/null
done
until_true 60 "all ends of killed are logged" logged killed '^005' 60
equals "submissions that are logged once" "$(grep '^000' "$OUT/killed.log" | cut -c1-17 | sort -u | wc -l)" 60
equals "all submissions" "$(grep -c '^000' "$OUT/killed.log")" 60
equals "ends that are logged once" "$(grep '^005' "$OUT/killed.log" | cut -c1-17 | sort -u | wc -l)" 60
equals "all ends" "$(grep -c '^005' "$OUT/killed.log")" 60
equals "lines that are no event's" "$(grep -c '^[0-9][0-9][0-9] ' "$OUT/killed.log")" "$(grep -c '^\.\.\.$' "$OUT/killed.log")"
passed

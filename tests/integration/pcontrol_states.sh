#!/bin/bash
# Each move of the two tables of states of pcontrol, by the real programs and a real sshd; each is in the log of "verbose".
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
[ -n "${ROOST_OWN_NET:-}" ] || WORK=/nonexistent
. "$(dirname "$0")/lib_ssh.sh"
ssh_enter "$0" "$@"
unset WORK
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_ssh.sh"

ssh_begin
ssh_host a 2
ssh_host b 3
export ROOST_PCONTROL_LEASE=3 ROOST_PCONTROL_LEASE_MARGIN=1 ROOST_PCONTROL_HUNG=2 ROOST_PCONTROL_RETRY_MIN=100ms
export ROOST_PCONTROL_RETRY_MAX=500ms ROOST_PCONTROL_WANTHOST=1
unset ROOST_CONFIG
umask 022
LOG=$WORK/log
"$ROOST_BIN/pcontrol" -server "$WORK/socket" 2>>"$LOG" &
server=$!
pc() { "$ROOST_BIN/pcontrol" -client "$WORK/socket" "$@"; }
until_true 10 "the socket" test -S "$WORK/socket"
seen() { grep -q "^pcontrol: $1" "$LOG"; }
sees() { (until_true 20 "$1" seen "$1") || fail "the last of the log: $(tail -n 12 "$LOG")"; }
# so that a later move of the same kind is told from an earlier one
forget() { cat "$LOG" >>"$LOG.all" && : >"$LOG"; }
job() { pc job "$@" || fail "job $*"; }

pc verbose on
say "hosts: OFF, DOWN, IDLE"
pc host a -off
equals "the state of a" "$(pc status -machine a --json | tr , '\n' | sed -n 's/.*"State":"\(.*\)"/\1/p')" OFF
pc host a -on
sees "host a: DOWN -> IDLE: StartHost"
pc host a -off
sees "host a: IDLE -> OFF: OffHost"
pc host a -delete
sees "host a: OFF -> DEL: DelHost"
pc host nosuch
sees "host nosuch: OFF -> DOWN: OnHost"
until_true 20 "why nosuch is DOWN" sh -c '"$0" -client "$1" status -machine nosuch | grep -qi "resolve"' "$ROOST_BIN/pcontrol" "$WORK/socket"
pc host nosuch -off
sees "host nosuch: DOWN -> OFF: OffHost"
pc host nosuch -delete
forget
pc host a
sees "host a: DOWN -> IDLE: StartHost"
forget
pc host a -stop
sees "host a: IDLE -> DOWN: StopHost"
sees "host a: DOWN -> IDLE: StartHost" # pcontrol connects again by itself
pc host a -start 2>"$WORK/refused" && fail "a host that is IDLE was started"
grep -q "host a is IDLE: it would have to be DOWN" "$WORK/refused" || fail "-start of a host that is IDLE: $(cat "$WORK/refused")"
forget
pc stop hosts
pc host a -stop
sees "host a: IDLE -> DOWN: StopHost"
# longer than the longest wait for the next connection
down_for_long() { pc status -machine a --json | python3 -c 'import json, sys; host, = json.load(sys.stdin); sys.exit(host["State"] != "DOWN" or host["Timer"] < 1.5)'; }
until_true 20 "while hosts are stopped, a stays DOWN" down_for_long
pc host a -stop 2>"$WORK/refused" && fail "a host that is DOWN was stopped"
pc host a -start
sees "host a: DOWN -> IDLE: StartHost"
pc run hosts
forget
ssh_signal KILL a
sees "host a: IDLE -> DOWN: CheckHost"
sees "host a: DOWN -> IDLE: StartHost"

say "jobs: PENDING, BUSY, DONE, EXIT, CRASH"
forget
id=$(job echo hello)
sees "job $id: NEW -> PENDING: AddJob"
sees "job $id: PENDING -> BUSY: StartJob on a"
sees "host a: IDLE -> BUSY: StartJob"
sees "job $id: BUSY -> DONE: CheckBusyJob"
sees "host a: BUSY -> IDLE: CheckJob"
sees "job $id: DONE -> EXIT: CheckDoneJob"
equals "stdout" "$(pc stdout "$id")" hello
pc delete "$id"
sees "job $id: EXIT -> DEL: DelJob"
id=$(job +host nosuch true)
sees "job $id: DONE -> CRASH: CheckDoneJob: host nosuch is unknown"
pc delete "$id"
sees "job $id: CRASH -> DEL: DelJob"
pc stop jobs
id=$(job true)
pc delete "$id"
sees "job $id: PENDING -> DEL: DelJob"
pc run jobs
id=$(job -retries 1 false)
sees "job $id: DONE -> PENDING: CheckDoneJob"
sees "job $id: DONE -> EXIT: CheckDoneJob"

say "kill, on a host that stays and on one that goes off"
forget
id=$(job sleep 1000)
sees "host a: IDLE -> BUSY: StartJob"
pc kill "$id"
sees "job $id: BUSY -> DONE: KillJob"
sees "host a: BUSY -> IDLE: KillJob"
id=$(job sleep 1000)
sees "job $id: PENDING -> BUSY"
pc host a -off
sees "host a: BUSY -> BUSY-OFF: OffHost"
pc host a -on
sees "host a: BUSY-OFF -> BUSY: OnHost"
pc host a -off
pc kill "$id"
sees "host a: BUSY-OFF -> OFF: KillJob"
forget
pc host a -on
sees "host a: DOWN -> IDLE: StartHost"
id=$(job sh -c "until test -e $WORK/go; do sleep 0.1; done")
sees "job $id: PENDING -> BUSY"
pc host a -off
touch "$WORK/go"
sees "host a: BUSY-OFF -> OFF: CheckJob"

say "the host of a job is lost: it runs again elsewhere, when its lease is over"
forget
pc host a -on
sees "host a: DOWN -> IDLE: StartHost"
id=$(job sh -c "echo \$\$ >>$WORK/runs; until test -e $WORK/go2; do sleep 0.1; done; echo ended")
until_true 10 "the first run" test -s "$WORK/runs"
ssh_off a
sees "host a: BUSY -> DOWN: CheckHost"
sees "job $id: BUSY -> PENDING: CheckHost"
pc status -job "$id" | grep -q "its last run, on a, may not have ended yet" || fail "why job $id waits: $(pc status -job "$id")"
pc host b
sees "host b: DOWN -> IDLE: StartHost"
sees "job $id: PENDING -> BUSY: StartJob on b"
touch "$WORK/go2"
sees "job $id: DONE -> EXIT"
equals "stdout of the second run" "$(pc stdout "$id")" ended

say "a host that is HUNG"
forget
id=$(job sleep 1000)
sees "job $id: PENDING -> BUSY: StartJob on b"
ssh_signal STOP b 2 # not the watcher, which the end of the lease would kill sooner
sees "host b: BUSY -> DOWN: CheckJob"
sees "job $id: BUSY -> PENDING: CheckJob"
pc delete "$id"

say "a host that is lost with the output of a job, and one that was to go off"
forget
ssh_off b # its pclients stand still
ssh_on b
sees "host b: DOWN -> IDLE: StartHost"
mkdir "$WORK/small"
mount -t tmpfs -o size=4k tmpfs "$WORK/small" || fail "mount"
# 4 KiB are on the disk at most, 256 KiB under way, and the rest fits into the pipe of the job, which ends.
id=$(job -stdout "$WORK/small/out" head -c 300000 /dev/zero)
sees "job $id: BUSY -> DONE: CheckBusyJob on b"
until_true 10 "the full disk is told" sh -c '"$0" -client "$1" status -job "$2" | grep -qi "no space"' "$ROOST_BIN/pcontrol" "$WORK/socket" "$id"
ssh_off b
sees "job $id: DONE -> CRASH: CheckHost: output lost"
ssh_on b
sees "host b: DOWN -> IDLE: StartHost"

say "kill gives up the output of a job that is DONE while its disk is full"
forget
id=$(job -retries 3 -stdout "$WORK/small/out3" head -c 300002 /dev/zero)
sees "job $id: BUSY -> DONE: CheckBusyJob on b"
until_true 10 "the full disk is told" sh -c '"$0" -client "$1" status -job "$2" | grep -qi "no space"' "$ROOST_BIN/pcontrol" "$WORK/socket" "$id"
pc delete "$id" 2>"$WORK/refused" && fail "a job that is DONE was deleted"
pc kill "$id"
sees "job $id: DONE -> CRASH: CheckDoneJob: killed before its output was complete: .*out3: No space"
sees "host b: BUSY -> IDLE: KillJob"
pc delete "$id"
id=$(job -stdout "$WORK/small/out4" echo small) # all of its output is here; only its file waits
sees "job $id: BUSY -> DONE: CheckBusyJob on b"
sees "host b: BUSY -> IDLE: CheckJob"
until_true 10 "the full disk is told" sh -c '"$0" -client "$1" status -job "$2" | grep -qi "no space"' "$ROOST_BIN/pcontrol" "$WORK/socket" "$id"
pc kill "$id"
sees "job $id: DONE -> CRASH: CheckDoneJob: killed"
forget
again=$(job -retries 1 -stdout "$WORK/small/out2" head -c 300001 /dev/zero)
sees "job $again: BUSY -> DONE: CheckBusyJob on b"
ssh_off b
sees "job $again: DONE -> PENDING: CheckHost"
umount "$WORK/small"
ssh_on b
until_true 30 "job $again on a disk with room" seen "job $again: DONE -> EXIT"
equals "its output" "$(stat -c %s "$WORK/small/out2")" 300001
forget
id=$(job sleep 1000)
sees "job $id: PENDING -> BUSY: StartJob on b"
pc host b -off
ssh_off b
sees "host b: BUSY-OFF -> OFF: CheckHost"
sees "job $id: BUSY -> PENDING: CheckHost"

say "an ordinary account: what a job has made a daemon of itself is ended with the job"
forget
pc delete "$id" # it waits for a host
ssh_account c 4
pc host c
sees "host c: DOWN -> IDLE: StartHost"
daemons() { grep -lzx "sleep" /proc/[0-9]*/cmdline 2>/dev/null | while read -r file; do tr '\0' ' ' 2>/dev/null <"$file" | grep -x "sleep 7$$ "; done; }
are_daemons() { [ "$(daemons | wc -l)" = 2 ]; }
no_daemon() { [ -z "$(daemons)" ]; }
chmod 1777 "$OUT"
escape="id -un >$OUT/who; setsid setsid env -i sh -c 'sleep 7$$ & sleep 7$$' & sleep 1000"
for end in kill timeout; do
    options=()
    [ $end = kill ] || options=(-timeout 2)
    id=$(job +host c "${options[@]}" sh -c "$escape")
    sees "job $id: PENDING -> BUSY: StartJob on c"
    until_true 10 "both daemons run" are_daemons
    equals "whose job it is" "$(cat "$OUT/who")" roost-ssh-test
    [ $end = timeout ] || pc kill "$id"
    pc wait "$id"
    until_true 5 "the end by $end leaves nothing" no_daemon
    pc status -job "$id" | grep -q "^job $id CRASH 9" || fail "the end by $end: $(pc status -job "$id")"
done
pc host c -off
sees "host c: IDLE -> OFF: OffHost"

say "all moves were seen"
cat "$LOG" >>"$LOG.all"
sed -n 's/^pcontrol: \(job\|host\) [^:]*: \([A-Z-]* -> [A-Z-]*: [A-Za-z]*\).*/\1 \2/p' "$LOG.all" | sort -u >"$WORK/moves"
{
    sed -n 's/.*{PJOB_\(.*\), PJOB_\(.*\), PJOB_\(.*\)},.*/job \1 \2 \3/p' "$ROOST_SRC/pcontrol/pjob_states_plan.c"
    sed -n 's/.*{PHOST_\(.*\), PHOST_\(.*\), PHOST_\(.*\)},.*/host \1 \2 \3/p' "$ROOST_SRC/pcontrol/phost_states_plan.c"
} >"$WORK/table"
equals "how many moves there are in the tables" "$(wc -l <"$WORK/table")" 32
equals "how many were made: $(cat "$WORK/moves")" "$(wc -l <"$WORK/moves")" 32
pc exit
wait "$server" || fail "pcontrol ended with status $?"
until_true 20 "nothing is left on the hosts" sh -c '! grep -lz SSH_TEST_HOST=[ab] /proc/[0-9]*/environ 2>/dev/null | grep -q .'
passed

#!/bin/bash
# The commands of pcontrol, as scripts, clients and people give them; the hosts are pclients of this machine.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
unset ROOST_CONFIG
umask 022
export ROOST_PCONTROL_COMMAND="PCONTROL_TEST=$WORK HOST=%h" ROOST_PCONTROL_SHELL=$ROOST_BIN/pclient
export ROOST_PCONTROL_WANTHOST=2 ROOST_PCONTROL_BUFFER=1000 ROOST_PCONTROL_RETRY_MIN=100ms ROOST_PCONTROL_LEASE=5
PCONTROL=$ROOST_BIN/pcontrol
cd "$WORK" || exit 1
# All processes of the hosts and their jobs.
left() { grep -lz "^PCONTROL_TEST=$WORK\$" /proc/[0-9]*/environ 2>/dev/null; }
nothing_left() { [ -z "$(left)" ]; }
signal_pclients() {
    left | while IFS=/ read -r _ _ pid _; do
        [ "$(readlink "/proc/$pid/exe")" != "$(readlink -f "$ROOST_BIN/pclient")" ] || kill "$1" "$pid"
    done
}

say "a script: words, results, errors, and the wait at its end"
cat >script <<'EOF'
# a comment
host a
host b
job echo 'a  b' "c\"d" e\ f $'g\th'
job -timeout 100 sh -c 'echo out; echo err >&2; exit 3'   # runs beside the first
job nosuch
job -timeout 0.3 sh -c 'setsid sleep 1000 & sleep 1000'
job echo $HOME
job ls | wc
jbo x
job -tiemout 3 true
kill 77
status -job x
host $'x\e[31mRED'
host ''
host 'a b'
status -queue
status -job
status -jobs x
host a -onn
host a -on x
stdout 1 -flie x
stdout 1 -file
check hots
check host a b
run job
run jobs hosts
verbose maybe
exit now
help me
delete
EOF
"$PCONTROL" <script >ids 2>errors
equals "exit status of a script with errors" $? 1
equals "what job prints" "$(tr '\n' ' ' <ids)" "1 2 3 4 "
cat >wanted <<'EOF'
pcontrol: line 8: column 10: the character $ is not quoted, and no shell reads this line
pcontrol: line 9: column 8: the character | is not quoted, and no shell reads this line
pcontrol: line 10: unknown command 'jbo'; did you mean job
pcontrol: line 11: unknown option -tiemout; did you mean -timeout (a command that begins so needs -- before it)
pcontrol: line 12: no such job: 77
pcontrol: line 13: 'x' is not the number of a job
pcontrol: line 14: 'x?[31mRED' is not the name of a host: it has a control character
pcontrol: line 15: '' is not the name of a host: it is empty
pcontrol: line 16: 'a b' is not the name of a host: it has a blank
pcontrol: line 17: unknown option -queue; usage: status [-job ID | -machine NAME | -jobs | -queues] [--json]
pcontrol: line 18: a word is missing; usage: status [-job ID | -machine NAME | -jobs | -queues] [--json]
pcontrol: line 19: unexpected word x; usage: status [-job ID | -machine NAME | -jobs | -queues] [--json]
pcontrol: line 20: unknown option -onn; usage: host NAME [-on | -off | -start | -stop | -delete]
pcontrol: line 21: unexpected word x; usage: host NAME [-on | -off | -start | -stop | -delete]
pcontrol: line 22: unknown option -flie; usage: stdout ID [-file NAME]
pcontrol: line 23: a word is missing; usage: stdout ID [-file NAME]
pcontrol: line 24: unexpected word hots; usage: check host [NAME] | job [ID]
pcontrol: line 25: unexpected word b; usage: check host [NAME] | job [ID]
pcontrol: line 26: unexpected word job; usage: run [jobs | hosts]
pcontrol: line 27: unexpected word hosts; usage: run [jobs | hosts]
pcontrol: line 28: unexpected word maybe; usage: verbose [on | off]
pcontrol: line 29: unexpected word now; usage: exit [-idle]
pcontrol: line 30: unknown command 'me': try help
pcontrol: line 31: a word is missing; usage: delete ID...
EOF
diff errors wanted || fail "the errors of a script"
until_true 10 "nothing is left of the script's hosts" nothing_left
{ cat script; echo "job -timeout 9 -retries 2 -stdout sub/../o -host a true"; echo wait; echo "status -jobs"; echo "status -job 5 --json"; echo "status -jobs --json"; for i in 1 2; do echo "stdout $i"; echo "stderr $i"; done; for i in 1 2 3 4; do echo "status -job $i --json"; done; } |
    "$PCONTROL" >printed 2>errors
sed -n 6,11p printed | sed -E 's/20[0-9T:.-]*Z/TIME/; s/ (a|b) / h /; s/  +/ /g' >got
cat >wanted <<EOF
JOBID STATE HOST START COMMAND
1 EXIT 0 h TIME echo 'a b' 'c"d' 'e f' \$'g\\th'
2 EXIT 3 h TIME sh -c 'echo out; echo err >&2; exit 3'
3 CRASH 0 h TIME nosuch
4 CRASH 9 h TIME sh -c 'setsid sleep 1000 & sleep 1000'
5 CRASH 0 - - true
EOF
diff got wanted || fail "the list of jobs"
equals "what job 5 wants" "$(sed -n 12p printed | grep -oE '"(Timeout|Retries|WantedHost|OtherHosts|Stdout|Stderr)":[^,]*' | sort | tr '\n' ' ')" "\"OtherHosts\":true \"Retries\":2 \"Stderr\":null \"Stdout\":\"$WORK/sub/../o\" \"Timeout\":9.0 \"WantedHost\":\"a\" "
equals "jobs as JSON" "$(sed -n 13,17p printed | grep -oE '^\{"JobID":[0-9]*' | tr -dc '0-9\n' | tr '\n' ' ')" "1 2 3 4 5 "
sed -n 18,20p printed | cat -A >got
printf 'a  b c"d e f g^Ih$\nout$\nerr$\n' | diff got - || fail "output of jobs"
ends=$(sed -n '21,$p' printed | grep '^{' | sed 's/.*"State":"\([A-Z]*\)".*"Reason":"\([^"]*\)".*"\(ExitCode\|Signal\)":\([0-9]*\).*/\1 \4 \2/; s/ $//')
equals "how the jobs ended" "$ends" "EXIT 0
EXIT 3
CRASH 0 nosuch: command not found in PATH
CRASH 9 timeout: it ran for longer than 0.3 s"
until_true 10 "nothing is left of the timed out job" nothing_left
# Times: the timed out job began, was BUSY for its timeout, and has been CRASH for less than the script took.
grep '"JobID":4' printed | tail -n 1 | python3 -c '
import json, sys, time
job = json.load(sys.stdin)
assert 0 <= time.time() - job["Start"] < 60, job
assert 0.3 <= job["Accumulated"] < 30 and 0 <= job["Timer"] < 30, job
' || fail "the times of job 4"
equals "help of one command" "$(echo "help quit" | "$PCONTROL")" "quit [-idle]
    The same as exit."
echo help | "$PCONTROL" | grep -q '^kill ID' || fail "help does not list kill"
echo "host a" | "$PCONTROL" || fail "a script without errors"
printf 'host a\njob sleep 1000\nwait\n' | timeout 30 "$PCONTROL" >/dev/full 2>errors
equals "exit status of a script without standard output" $? 1
equals "what it says" "$(cat errors)" "pcontrol: standard output: No space left on device"

say "lines that are too long, or end with a carriage return, are refused, and the script goes on"
# comment_of LENGTH: a line of so many bytes.
comment_of() { printf '# %s\n' "$(head -c $(($1 - 2)) /dev/zero | tr '\0' x)"; }
{ echo host a; comment_of 1048576; comment_of 1048577; printf 'wait\r\n'; comment_of 3000000; echo job echo last; echo wait; printf 'stdout 1\n'; printf 'stdoot 1'; } >long
cat >wanted <<'EOF'
pcontrol: line 3: the line has more than 1048576 bytes
pcontrol: line 4: the line ends with a carriage return; lines must end with a newline only
pcontrol: line 5: the line has more than 1048576 bytes
pcontrol: line 9: unknown command 'stdoot'; did you mean stdout
EOF
timeout 60 "$PCONTROL" <long >printed 2>errors
equals "exit status of a script with long lines" $? 1
equals "what it prints" "$(tr '\n' ' ' <printed)" "1 last "
diff errors wanted || fail "the errors of a script with long lines"
head -c 2000000 /dev/zero | tr '\0' x | timeout 60 "$PCONTROL" 2>errors && fail "a long line without an end"
equals "what it says" "$(cat errors)" "pcontrol: line 1: the line has more than 1048576 bytes"

say "a host that sends control characters for the terminal"
cat >evil <<'EOF'
read -r _; read -r _ nonce
echo "FOLLOW $nonce 1 namespace 5 token"
printf '\033[2Jbad\n'
exec cat
EOF
printf 'verbose on\nhost evil\njob +host evil true\n' | ROOST_PCONTROL_LOSSES_MAX=0 ROOST_PCONTROL_SHELL="sh $WORK/evil" timeout 30 "$PCONTROL" >ids 2>errors
grep -q "unknown message '?\[2Jbad'" errors || fail "control characters of a host: $(cat -v errors)"

say "a server and its clients"
"$PCONTROL" -server socket 2>>log &
server=$!
socket=socket
pc() { "$PCONTROL" -client "$WORK/$socket" "$@"; }
pc status >printed || fail "a client that is started at the same time as its server"
state() { pc status -job "$1" --json | sed 's/.*"State":"\([A-Z]*\)".*/\1/'; }
is_state() { [ "$(state "$1")" = "$2" ]; }
hosts_in() { pc status | sed -n "s/^hosts.* $1 \([0-9]*\).*/\1/p"; }
are_in() { [ "$(hosts_in "$1")" = "$2" ]; }
pc verbose on
"$PCONTROL" -client "$WORK/nosocket" status 2>errors && fail "no server, but status 0"
grep -q "no server answers at $WORK/nosocket" errors || fail "no server: $(cat errors)"
pc status >/dev/full 2>errors && fail "a client without standard output, but status 0"
equals "what it says" "$(cat errors)" "pcontrol: standard output: No space left on device"
if [ "$(id -u)" -eq 0 ]; then
    setpriv --reuid 12345 --clear-groups "$PCONTROL" -client "$WORK/socket" status >errors 2>&1 && fail "another user may give commands"
    equals "what another user is told" "$(cat errors)" "pcontrol: only the user who started this server, and root, may ask it"
    printf 'status\nexit\n' | setpriv --reuid 12345 --clear-groups "$PCONTROL" -client "$WORK/socket" >errors 2>&1 && fail "another user may send a script"
    equals "what another user's script is told" "$(cat errors)" "pcontrol: line 1: only the user who started this server, and root, may ask it"
    pc status >printed || fail "another user has ended the server"
fi

say "a script for a server: each error names its line"
pc <long >printed 2>errors && fail "status 0 of a script with long lines"
equals "what it prints" "$(tr '\n' ' ' <printed)" "1 last "
diff errors wanted || fail "the errors of a script for a server"
printf 'status\nkill 77 78\n' | pc 2>errors >printed && fail "status 0 of a script with an error"
equals "what it says" "$(cat errors)" "pcontrol: line 2: no such job: 77
pcontrol: line 2: no such job: 78"
pc delete 1
pc host a -delete

say "several entries of one name are one host to commands"
pc host a
pc host a
until_true 10 "both entries" are_in IDLE 2
pc host a -off
until_true 10 "both are OFF" are_in OFF 2
pc host a -on
until_true 10 "both are back" are_in IDLE 2

say "output is in its file while the job runs; a buffer says what it dropped"
# Sanitizers have threads of their own.
[ -n "${TSAN_OPTIONS:-}" ] || equals "threads of pcontrol before output goes to a file" "$(find "/proc/$server/task" -mindepth 1 -maxdepth 1 | wc -l)" 1
mkdir sub
yes | head -n 100 >sub/file # a run empties it
id=$(cd sub && pc job -stdout file -stderr errors sh -c "echo begun; echo oops >&2; until test -e $WORK/go; do sleep 0.1; done; echo ended")
until_true 10 "the first line" grep -q begun sub/file
is_state "$id" BUSY || fail "job $id is $(state "$id")"
pc stdout "$id" 2>errors && fail "stdout of a job with a file"
grep -q "the stdout of job $id is in $WORK/sub/file" errors || fail "stdout of a job with a file: $(cat errors)"
pc job -stdout "$WORK/sub/file" true 2>errors && fail "two jobs with one file"
grep -q "job $id, which is BUSY, writes to $WORK/sub/file" errors || fail "two jobs with one file: $(cat errors)"
other=$(pc job echo other) && pc wait "$other"
pc stdout "$other" -file "$WORK/sub/file" 2>errors && fail "stdout -file into the file of a job"
grep -q "job $id, which is BUSY, writes to $WORK/sub/file" errors || fail "stdout -file into the file of a job: $(cat errors)"
(cd sub && pc job -stdout both -stderr ./both true) 2>errors && fail "one file for both"
grep -q "stdout and -stderr name the same file" errors || fail "one file for both: $(cat errors)"
sleeper=$(pc job -stdout /dev/null -stderr /dev/null sh -c "until test -e $WORK/go; do sleep 0.1; done")
second=$(pc job -stdout /dev/null true) || fail "two jobs that write to /dev/null"
pc stdout "$other" -file /dev/null || fail "stdout -file /dev/null"
touch go
pc wait "$id" "$sleeper" "$second"
equals "the file" "$(tr '\n' ' ' <sub/file)" "begun ended "
equals "the other file" "$(cat sub/errors)" oops
id=$(pc job sh -c 'head -c 5000 /dev/zero; echo last')
pc wait "$id"
pc stdout "$id" -file kept 2>errors || fail "stdout -file"
equals "what is kept" "$(wc -c <kept) $(tail -c 5 kept)" "1000 last"
grep -q "the first 4005 bytes of the stdout of job $id were dropped (PCONTROL_BUFFER)\$" errors || fail "dropped: $(cat errors)"
chmod 0600 kept
ln -s kept link
mkfifo fifo
inode=$(stat -c %i kept)
pc stdout "$id" -file "$WORK/link" 2>/dev/null
equals "a file keeps its mode, and a link its target" "$(readlink link) $(stat -c '%a %i %s' kept)" "kept 600 $inode 1000"
ln -s /dev/full full
pc stdout "$id" -file "$WORK/full" 2>errors && fail "stdout -file of a full device"
grep -q "cannot write $WORK/full: No space left on device" errors || fail "a full device: $(cat errors)"
test -L full || fail "the link to a device has become a file"
pc stdout "$id" -file "$WORK/fifo" 2>errors && fail "stdout -file of a FIFO"
grep -q "$WORK/fifo: is not a file" errors || fail "a FIFO: $(cat errors)"
test -p fifo || fail "the FIFO has become a file"
id=$(pc job -stdout "$WORK/no/such/file" sleep 1000)
pc wait "$id"
pc status -job "$id" | grep -q "^job $id CRASH 0: .*$WORK/no/such/file" || fail "a file that cannot be: $(pc status -job "$id")"
id=$(pc job -stdout "$WORK/no/such/file" touch "$WORK/has_run")
second=$(pc job -stdout "$WORK/before" -stderr "$WORK/no/such/file" touch "$WORK/has_run")
pc wait "$id" "$second"
test -e has_run && fail "a job has run although its file cannot be opened"
for one in "$id" "$second"; do
    equals "runs, start and host of a job whose file cannot be opened" "$(pc status -job "$one" --json | grep -oE '"(Start|Runs|Machine)":[^,]*' | tr '\n' ' ')" '"Start":null "Runs":0 '
done
until_true 10 "its host is free" are_in IDLE 2
# Nobody reads the FIFO, so that it cannot be opened for now.
id=$(pc job -stdout "$WORK/fifo" touch "$WORK/has_run")
says_file() { pc status -job "$id" | tee -a looks | grep -q "^job $id BUSY on a: .*$WORK/fifo"; }
until_true 10 "job $id waits for its file" says_file
signal_pclients -KILL
was_moved() { grep -q "job $id: BUSY -> PENDING: CheckHost" log && says_file; }
until_true 20 "job $id waits for its file on another host" was_moved
grep -q "may not have ended" looks && fail "a job that no host was sent has waited for the end of a lease"
equals "runs and losses of a job that no host was sent" "$(pc status -job "$id" --json | grep -oE '"(Runs|Losses)":[^,]*' | tr '\n' ' ')" '"Runs":0 "Losses":0 '
pc kill "$id"
pc wait "$id"
pc status -job "$id" | grep -q "^job $id CRASH 0: killed before its files were open: .*$WORK/fifo" || fail "a job that was killed before its file was open: $(pc status -job "$id")"
test -e has_run && fail "a job has run although its file was not open"
until_true 10 "its host is free, too" are_in IDLE 2

say "-host and +host; a busy host is waited for"
pc host b
until_true 10 "three entries" are_in IDLE 3
gate1=$(pc job +host b sh -c "until test -e $WORK/go1; do sleep 0.1; done")
until_true 10 "b is BUSY" is_state "$gate1" BUSY
prefers=$(pc job -host b sh -c 'echo $HOST')
needs=$(pc job -timeout 1.5 +host b sh -c 'sleep 0.1; echo $HOST') # it waits for longer than its timeout
pc status -job "$needs" | grep -q "waits for host b, which is BUSY" || fail "why job $needs waits: $(pc status -job "$needs")"
pc wait "$prefers"
equals "where -host ran" "$(pc stdout "$prefers")" a
equals "+host still waits" "$(state "$needs")" PENDING
# times TEST: evaluates a test of the times of two jobs, their host, and the present.
times() {
    { pc status -job "$gate1" --json; pc status -job "$needs" --json; pc status -machine b --json; } | python3 -c '
import json, sys, time
gate, needs, (host,) = map(json.loads, sys.stdin)
now, start, accum, timer = time.time(), "Start", "Accumulated", "Timer"
sys.exit(0 if eval(sys.argv[1]) else f"{gate} {needs} {host} {now}")' "$1"
}
times 'needs[timer] > 1.5 and needs[start] is None and needs[accum] == 0' || fail "the times of a job that waits"
times '1.5 < gate[timer] == gate[accum] <= now - gate[start] + 0.1' || fail "the times of a job that runs"
times '1.5 < host[timer] <= host[accum] + 0.1 and host[accum] <= now - gate[start] + 0.1' || fail "the times of a host that is BUSY"
times '0 <= gate[start] - host[start] < 60' || fail "when host b was connected to"
touch go1
pc wait "$needs"
equals "where +host ran" "$(pc stdout "$needs")" b
times 'needs[accum] >= 0.1 and needs[accum] + needs[timer] <= now - needs[start] + 0.1' || fail "the times of a job that has ended"
times 'host[accum] > 1.5 and host[timer] <= now - needs[start]' || fail "the times of a host that was BUSY"
equals "-host of an unknown host" "$(id=$(pc job -host nosuch true); pc wait "$id"; state "$id")" EXIT
pc host b -off
times 'host[start] is None' || fail "the start of a host that is OFF"
id=$(pc job +host b true)
pc wait "$id"
pc status -job "$id" | grep -q "CRASH 0: host b is OFF" || fail "+host of a host that is OFF: $(pc status -job "$id")"
equals "runs of a job without a host" "$(pc status -job "$id" --json | sed 's/.*"Start":\([a-z0-9.]*\),.*"Runs":\([0-9]*\).*/\1 \2/')" "null 0"
pc host b -delete

say "priority and retries"
pc stop jobs
pc job -priority 1 sh -c "echo 1 >>$WORK/order" >ids
pc job -priority 3 sh -c "echo 3 >>$WORK/order" >ids
pc job -priority 2 +host c sh -c "echo 2 >>$WORK/order" >ids
pc job -priority 1 sh -c "echo last >>$WORK/order" >ids
pc host a -off
until_true 10 "both are OFF" are_in OFF 2
pc host c
until_true 10 "c" are_in IDLE 1
pc run jobs
pc wait
equals "the order" "$(tr '\n' ' ' <order)" "3 2 1 last "
id=$(pc job -retries 2 sh -c "echo run >>$WORK/tries; exit 1")
pc wait "$id"
equals "runs with -retries 2" "$(wc -l <tries)" 3
id=$(pc job -retries 2 sh -c "echo run >>$WORK/tries2; test -e $WORK/once || { touch $WORK/once; exit 1; }")
pc wait "$id"
equals "runs until it works" "$(wc -l <tries2)" 2

# c is BUSY with the gate: a job that failed on d waits for c as long as a job with -host, and runs on d again.
pc host d
until_true 10 "c and d" are_in IDLE 2
gate=$(pc job +host c sh -c "until test -e $WORK/go3; do sleep 0.1; done")
until_true 10 "c is BUSY" is_state "$gate" BUSY
id=$(pc job -retries 1 sh -c "echo \$HOST >>$WORK/tries3; exit 1")
until_true 10 "the first try" test -s tries3
says_why() { pc status -job "$id" | grep -q "PENDING: waits a moment for another host than d, where it ran last"; }
until_true 10 "why it waits" says_why
pc wait "$id"
equals "where it ran" "$(tr '\n' ' ' <tries3)" "d d "
touch go3
pc wait
pc host d -delete
id=$(pc job -retries 3 -stdout "$WORK/no/such/file" sleep 1000)
pc wait "$id"
equals "runs of a job whose file cannot be" "$(pc status -job "$id" --json | sed 's/.*"Runs":\([0-9]*\).*/\1/')" 0
# Opened, but nothing that the job writes is taken.
id=$(pc job -retries 3 +host c -stdout "/proc/$server/oom_score_adj" head -c 2000000 /dev/zero)
pc wait "$id"
equals "runs of a job whose file takes nothing" "$(pc status -job "$id" --json | sed 's/.*"Runs":\([0-9]*\).*/\1/')" 1
pc status -job "$id" | grep -q "^job $id CRASH 9: .*/oom_score_adj" || fail "a file that takes nothing: $(pc status -job "$id")"
pc job +host c echo next >ids # the output of that job does not keep its host
pc wait "$(cat ids)"
equals "the next job of that host" "$(pc stdout "$(cat ids)")" next
say "run and stop for hosts and jobs apart; check looks once"
pc stop hosts
pc host d
pc status -machine d | grep -q "DOWN .*hosts are stopped" || fail "d while hosts are stopped: $(pc status -machine d)"
pc check host d >printed
until_true 10 "check host d connects" are_in IDLE 2
pc stop jobs
id=$(pc job true)
pc status -job "$id" | grep -q "PENDING: jobs are stopped" || fail "a job while jobs are stopped: $(pc status -job "$id")"
pc check job "$id" >printed
until_true 10 "check job starts it" is_state "$id" EXIT
pc run

say "the numbers of jobs that are deleted are not used again"
first=$(pc job true) && second=$(pc job true) && third=$(pc job true) && pc wait
pc delete "$first" && pc delete "$second"
i=1
while [ "$i" -lt "$first" ]; do pc delete "$i" 2>>"$WORK/gone" || true; i=$((i + 1)); done
equals "the jobs that are left" "$(pc status -job "$third" --json | sed 's/.*"JobID":\([0-9]*\).*/\1/')" "$third"
equals "a number" "$(pc job true)" "$((third + 1))"

say "jobs end with pcontrol, however that ends"
pc job sh -c 'setsid sleep 1000 & sleep 1000' >ids
pc job sh -c 'trap "" TERM; sleep 1000' >>ids
until_true 10 "two jobs run" are_in BUSY 2
connections() { find "/proc/$server/fd" -lname 'socket:*' 2>/dev/null | wc -l; }
before=$(connections)
pc wait 2>errors &
client=$!
is_asked() { [ "$(connections)" -gt "$before" ]; }
until_true 10 "a client waits" is_asked
kill -9 "$server"
wait "$client" && fail "status 0 of a wait whose server has ended"
equals "what a client says whose server has ended" "$(cat errors)" "pcontrol: the server at $WORK/socket has ended"
until_true 10 "nothing is left after kill -9" nothing_left

say "hosts that do not keep to the protocol are DOWN, and say why"
cat >liar <<'EOF'
#!/bin/bash
# A pclient that claims a longer lease than it was asked for, or sends output that nobody has room for.
while read -r word nonce; do
    case $word in
    follow) echo "FOLLOW $nonce 1 namespace $LEASE 1" ;;
    job)
        echo 1
        while echo "OUT 1000" && head -c 1000 /dev/zero; do :; done
        ;;
    esac
done
EOF
chmod +x liar
ROOST_PCONTROL_COMMAND="LEASE=%h" ROOST_PCONTROL_SHELL=$WORK/liar "$PCONTROL" -server "$WORK/socket2" 2>log2 &
server=$!
lies() { "$PCONTROL" -client "$WORK/socket2" "$@"; }
until_true 10 "its socket" test -S "$WORK/socket2"
lies verbose on
lies host 6
says_why() { lies status -machine 6 | grep -q "DOWN .*its pclient has a lease of 6 s instead of 5 s"; }
until_true 10 "a long lease is refused" says_why
lies host 5
id=$(lies job -stdout /dev/full true)
until_true 10 "endless output is refused" grep -q "host 5: BUSY -> DOWN: CheckHost: its pclient sends more output than was acknowledged" log2
lies delete "$id" || lies kill "$id"
lies exit || lies exit
wait "$server"

say "a wait that gets nowhere says what it waits for: at the end of a script, in a script, for a client, and at a terminal"
printf '#!/bin/sh\necho "Permission denied" >&2\nexit 255\n' >denied
chmod +x denied
waits=()
ROOST_PCONTROL_SHELL=$WORK/denied "$PCONTROL" < <(printf 'host a\njob true\n') >ids 2>wait1 & waits+=($!)
ROOST_PCONTROL_SHELL=$WORK/denied "$PCONTROL" < <(printf 'host a\njob true\njob true\nwait 2\n') >ids 2>wait2 & waits+=($!)
ROOST_PCONTROL_SHELL=$WORK/denied "$PCONTROL" -server socket5 2>>log & waits+=($!)
socket=socket5
pc host a
pc job true >ids
pc wait 2>wait3 & waits+=($!)
cat >waits.py <<'EOF'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], ["pcontrol"])
os.write(fd, b"job true\rwait\r")
seen = b""
while b"pcontrol: waits for 1 job: 1 PENDING (there are no hosts)\r\n" not in seen:
    seen += os.read(fd, 65536)
os.write(fd, b"\x03")
while b"interrupted; the jobs go on" not in seen:
    seen += os.read(fd, 65536)
EOF
timeout 40 python3 waits.py "$PCONTROL" || fail "a wait at a terminal"
reason="no host is up: 1 DOWN, 0 OFF; a: Permission denied (exit status 255)"
until_true 20 "a script that has ended" grep -qF "pcontrol: waits for 1 job: 1 PENDING ($reason)" wait1
until_true 20 "a script that waits for a job" grep -qF "pcontrol: waits for 1 job: 1 PENDING ($reason)" wait2
until_true 20 "a client that waits" grep -qF "pcontrol: waits for 1 job: 1 PENDING ($reason)" wait3
cat >exits.py <<'EOF'
import os, pty, sys
def exits(arguments, typed, expected):
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(sys.argv[1], ["pcontrol", "-client", sys.argv[2], *arguments])
    os.write(fd, typed)
    seen = b""
    try:
        while part := os.read(fd, 65536):
            seen += part
    except OSError:
        pass
    _, status = os.waitpid(pid, 0)
    for text in expected[:-1]:
        if text not in seen:
            sys.exit(f"{text!r} is not in {seen!r}")
    if os.waitstatus_to_exitcode(status) != expected[-1]:
        sys.exit(f"status {status}; {seen!r}")
asked = b"jobs that are not done: 1\r\npcontrol: end them, and the server? (yes or no) "
exits(["exit"], b"no\n", [asked, 1])
exits(["quit"], b"\x04", [asked, 1])
exits([], b"exit\nno\nstatus\n\x04", [asked, b"hosts (run)", 1])
if len(sys.argv) > 3:
    exits(["exit"], b"yes\n", [asked, 0])
EOF
timeout 30 python3 exits.py "$PCONTROL" "$WORK/socket5" || fail "exit of a client at a terminal"
pc exit -idle 2>errors </dev/null && fail "exit -idle while a job waits"
equals "what exit -idle says" "$(cat errors)" "pcontrol: jobs that are not done: 1"
pc delete 1
wait "${waits[3]}" || fail "a client whose wait got nowhere for a time"
pc job true >ids
timeout 30 python3 exits.py "$PCONTROL" "$WORK/socket5" end || fail "exit of a client at a terminal, with yes"
wait "${waits[2]}" || fail "a server that a client has ended"
kill "${waits[@]:0:2}"
wait "${waits[@]:0:2}"

say "a host that stands still: where HUNG jobs are only reported, its job goes on with it"
ROOST_PCONTROL_LEASE=60 ROOST_PCONTROL_HUNG=1 ROOST_PCONTROL_HUNG_JOBS=report "$PCONTROL" -server "$WORK/socket3" 2>>log3 &
server=$!
socket=socket3
until_true 10 "its socket" test -S socket3
pc host a
idle_for_long() { pc status -machine a --json | python3 -c 'import json, sys; host, = json.load(sys.stdin); sys.exit(host["State"] != "IDLE" or host["Timer"] < 2.5)'; }
until_true 20 "a host that answers is not HUNG" idle_for_long
id=$(pc job sh -c "until test -e $WORK/go4; do sleep 0.1; done")
until_true 10 "job $id is BUSY" is_state "$id" BUSY
says_hung() { pc status -job "$id" | grep -q "BUSY on a: HUNG: host a has not answered" && pc status -machine a | grep -q "^a .* HUNG"; }
is_not_hung() { pc status -machine a --json | grep -q '"Hung":false'; }
signal_pclients -STOP
until_true 20 "job $id is HUNG" says_hung
signal_pclients -CONT
until_true 20 "host a answers again" is_not_hung
touch go4
pc wait "$id"
equals "runs of a job that was HUNG" "$(pc status -job "$id" --json | sed 's/.*"State":"\([A-Z]*\)".*"Runs":\([0-9]*\).*/\1 \2/')" "EXIT 1"
pc exit -idle || fail "exit -idle of a server without jobs"
wait "$server"

say "all buffers together have a limit: the output of the job that ended first is dropped, and that is said"
ROOST_PCONTROL_BUFFERS=2000 "$PCONTROL" -server socket4 2>>log &
server=$!
socket=socket4
until_true 10 "the second socket" test -S socket4
pc host a
for letter in x y z; do
    id=$(pc job sh -c "head -c 800 /dev/zero | tr '\\0' $letter; echo $letter >&2")
    pc wait "$id"
done
equals "the first job's output" "$(pc stdout 1 2>errors)" ""
grep -q "the first 800 bytes of the stdout of job 1 were dropped (PCONTROL_BUFFERS)\$" errors || fail "dropped: $(cat errors)"
pc status -job 1 | grep -q "stdout *800 bytes, of which the first 800 were dropped" || fail "dropped: $(pc status -job 1)"
equals "what status counts" "$(pc status -job 1 --json | grep -o '"Std[a-z]*Dropped":[0-9]*' | sort | tr '\n' ' ')" '"StderrDropped":0 "StdoutDropped":800 '
equals "the first job's errors" "$(pc stderr 1)" x
for id in 2 3; do
    equals "bytes of job $id" "$(pc stdout $id 2>errors | wc -c)" 800
    equals "what is said of job $id" "$(cat errors)" ""
done
threads() { find "/proc/$server/task" -mindepth 1 -maxdepth 1 | wc -l; }
before=$(threads)
pc stdout 2 -file saved || fail "stdout -file"
equals "what is saved" "$(tr -d y <saved | wc -c) $(wc -c <saved)" "0 800"
[ "$(threads)" -gt "$before" ] || fail "stdout -file writes on the thread of the loop"
pc exit
wait "$server" || fail "pcontrol ended with status $?"

say "a person at a terminal"
mkdir home
cat >person.py <<'EOF'
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.environ["HOME"] = os.getcwd() + "/home"
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], ["pcontrol"])
seen = b""
def until(text, what):
    global seen
    end = time.time() + 60
    while text not in seen:
        if time.time() > end or not select.select([fd], [], [], 60)[0]:
            sys.exit(f"{what}: {text!r} is not in {seen!r}")
        try:
            seen += os.read(fd, 65536)
        except OSError:
            sys.exit(f"{what}: pcontrol has ended; {seen!r}")
    seen = seen[seen.index(text) + len(text):]
def types(line, expected):
    os.write(fd, line + b"\r")
    until(expected, line)
until(b"pcontrol: ", "prompt")
types(b"host a", b"pcontrol: ")
types(b"job echo hello", b"\n\r\x1b[K1\r\npcontrol: ")
types(b"wait", b"\x1b[Kpcontrol: ")
types(b"stdout 1", b"\x1b[Khello\r\npcontrol: ")
types("job echo gr\u00fcn".encode(), b"\x1b[K2\r\npcontrol: ")
types(b"wait", b"\x1b[Kpcontrol: ")
types(b"stdout 2", "\x1b[Kgr\u00fcn\r\npcontrol: ".encode())
types(b"stdout 1", b"\x1b[Khello\r\npcontrol: ")
types(b"\x1b[A", b"\x1b[Khello\r\npcontrol: ")  # the line before
types(b'stdout "1', b'the quote " is not closed\r\npcontrol: ')
for number in range(1001, 1101):
    types(b"kill %d" % number, b"no such job: %d\r\npcontrol: " % number)
types(b"\x1b[A" * 105, b"no such job: 1001\r\npcontrol: ")  # the last 100 lines are kept
types(b"job sleep 1000", b"\x1b[K3\r\npcontrol: ")
types(b"wait", b"\r\n")
os.write(fd, b"\x03")
until(b"interrupted; the jobs go on\r\npcontrol: ", "Ctrl-C")
types(b"exit", b"jobs that are not done: 1; exit again to end them\r\npcontrol: ")
os.write(fd, b"exit\r")
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status))
EOF
timeout 120 python3 person.py "$PCONTROL" || fail "a person at a terminal"
equals "files that pcontrol left at home" "$(ls -A home)" ""
# libedit finds a home without the environment, too.
grep -aqE 'write_history|append_history' "$PCONTROL" && fail "pcontrol can write a history"
until_true 10 "nothing is left of the person's host" nothing_left
say "the terminal gets smaller while it shows a line that is longer than it"
cat >resize.py <<'EOF'
import fcntl, os, pty, select, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], ["pcontrol"])
def size(rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
def drawn(): # until it draws no more
    seen = b""
    while select.select([fd], [], [], 0.4)[0]:
        seen += os.read(fd, 65536)
    return seen
size(24, 80)
drawn()
for i in range(6):
    os.write(fd, b"x" * 500)
    drawn()
size(10, 40)
drawn()
for i in range(3):
    os.write(fd, b"y" * 100)
    drawn()
os.write(fd, b"\x15status\r")
seen = drawn()
if b"hosts (run)" not in seen:
    sys.exit(f"no answer: {seen!r}")
os.write(fd, b"exit\r")
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status))
EOF
timeout 60 python3 resize.py "$PCONTROL" || fail "a terminal that gets smaller"
passed

#!/bin/bash
# A look into a running job: `roost tail` shows what its files end with and follows them until the job ends, whatever is
# cut meanwhile; nothing outside the sandbox is shown, and nothing to others. `roost ssh` runs commands and shells beside it.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --cpus-per-node 2 --idle 80000
pool_start

# The job goes on when a file is there.
cat >"$WORK/job.sh" <<'JOB'
echo one
echo two >&2
ln -s /etc/passwd link
ln -s /etc links
mkfifo pipe
mkdir -p sub
echo below >sub/file
head -c 300000 /dev/zero >zeros
echo first >grows
until [ -e "$1/second" ]; do sleep 0.05; done
echo second >>grows
echo three
until [ -e "$1/third" ]; do sleep 0.05; done
echo third >>grows
echo last
JOB
cat >"$WORK/job.sub" <<SUB
executable = $WORK/job.sh
arguments = $OUT
initialdir = $OUT
output = $OUT/job.out
error = $OUT/job.err
queue
SUB
sed -i '1i #!/bin/sh' "$WORK/job.sh"
chmod 0755 "$WORK/job.sh"

tail_is() { # WANTED ARGUMENT...
    local wanted=$1
    shift
    [ "$(timeout 20 "$ROOST" tail "$@" 2>/dev/null)" = "$wanted" ]
}
tail_refused() { # MESSAGE ARGUMENT...
    local message=$1 status=0
    shift
    timeout 20 "$ROOST" tail "$@" >"$WORK/tail.out" 2>"$WORK/tail.err" || status=$?
    equals "exit status of roost tail $*" "$status" 1
    equals "what roost tail $* shows" "$(cat "$WORK/tail.out")" ""
    grep -qF "$message" "$WORK/tail.err" || fail "roost tail $*: $(cat "$WORK/tail.err")"
}

say "a job that waits"
job=$(submit "$WORK/job.sub")
until_true 60 "the job writes" tail_is first -no-stdout "$job" grows
equals "standard output" "$(timeout 20 "$ROOST" tail "$job.0")" one
equals "standard error" "$(timeout 20 "$ROOST" tail -stderr "$job")" two
equals "a file in a directory" "$(timeout 20 "$ROOST" tail -no-stdout "$job" ./sub/file)" below
equals "the end of a file" "$(timeout 20 "$ROOST" tail -no-stdout -maxbytes 3 "$job" grows)" "st"
equals "bytes of a large file" "$(timeout 20 "$ROOST" tail -no-stdout -maxbytes 1000000 "$job" zeros | wc -c)" 300000

say "what is not shown"
tail_refused "'link' is not a regular file in the job's sandbox" -no-stdout "$job" link
tail_refused "'links/passwd' is not a regular file" -no-stdout "$job" links/passwd
tail_refused "'pipe' is not a regular file" -no-stdout "$job" pipe
tail_refused "'../job.record' is not a regular file" -no-stdout "$job" ../job.record
tail_refused "'/etc/passwd' is not below" -no-stdout "$job" /etc/passwd
tail_refused "has no file 'nothing'" -no-stdout "$job" nothing
tail_refused "no such job in the queue: 77.0" 77
if [ "$(id -u)" -eq 0 ]; then
    "$ROOST" token create --identity daemon@personal --file "$WORK/token.other" || fail "token create"
    ROOST_TOKEN_FILE=$WORK/token.other tail_refused "job $job.0 belongs to another user" -name personal "$job"
fi

say "a command beside it"
ssh_job() { timeout 30 "$ROOST" ssh "$@"; }
ssh_job "$job" 'pwd; cat grows; echo wrong >&2; exit 7' >"$WORK/ssh.out" 2>"$WORK/ssh.err"
equals "exit status of a command" $? 7
equals "its standard output" "$(sed -n 2p "$WORK/ssh.out")" first
equals "its standard error" "$(cat "$WORK/ssh.err")" wrong
grep -q "/execute/dir_slot1_$job.0_1/sandbox$" "$WORK/ssh.out" || fail "it is elsewhere: $(cat "$WORK/ssh.out")"
ssh_job "$job" "kill -TERM \$\$" 2>"$WORK/ssh.err"
equals "exit status of a command that a signal ends" $? 143
head -c 2000000 /dev/urandom >"$WORK/bytes"
# Both only read the file.
# shellcheck disable=SC2094
ssh_job "$job" 'cat >copy; cat copy; rm copy' <"$WORK/bytes" | cmp - "$WORK/bytes" || fail "bytes are changed"
printf 'to a pipe\n' | ssh_job -T "$job" 'cat; echo over' >"$WORK/ssh.out" || fail "input from a pipe"
equals "input from a pipe" "$(cat "$WORK/ssh.out")" "$(printf 'to a pipe\nover')"
ssh_job "$job" 'ps -e -o pid=,args=' >"$WORK/ssh.out" || fail "ps"
grep -q "job.sh\|condor_exec" "$WORK/ssh.out" || fail "the job is not seen: $(cat "$WORK/ssh.out")"
grep -q "roost-startd" "$WORK/ssh.out" && [ "$(id -u)" -eq 0 ] && fail "it is not in the job's namespaces"
group=$(ssh_job "$job" 'cat /proc/self/cgroup /proc/2/cgroup | sort | uniq -u')
equals "cgroups that are not the job's" "$group" ""
equals "what a shell may become" "$(ssh_job "$job" 'grep -h -e ^CapBnd: -e ^CapEff: -e ^NoNewPrivs: -e ^Seccomp: /proc/self/status' | tr -s '\t\n' '  ')" \
    "CapEff: 0000000000000000 CapBnd: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 "

quietly() { timeout 30 "$@" >"$WORK/quiet" 2>&1; }

say "a shell on a terminal"
python3 "$(dirname "$0")/lib_pty.py" "$ROOST" ssh "$job" <<'PTY' || fail "roost ssh on a terminal"
want [$#]
size 33 101
type stty -echo; PS1=:; until [ "$(stty size)" = "33 101" ]; do sleep 0.1; done; echo size $(stty size)\n
want size 33 101
want :
type sh -c 'trap "exit 42" INT; echo be""gun; while :; do sleep 0.2; done'\n
want begun
type \x03
want :
type echo it=$?\n
want it=42
type ls\n
want grows
type exit 5\n
end 5
PTY
python3 "$(dirname "$0")/lib_pty.py" "$ROOST" ssh "$job" <<'PTY' || fail "~. does not end it"
want [$#]
type \n~.
end 255
PTY
if [ "$(id -u)" -eq 0 ]; then
    status=0
    ROOST_TOKEN_FILE=$WORK/token.other ssh_job -name personal "$job" id 2>"$WORK/ssh.err" || status=$?
    equals "exit status for another" "$status" 255
    grep -qF "job $job.0 belongs to another user" "$WORK/ssh.err" || fail "another is told: $(cat "$WORK/ssh.err")"
fi

say "a job that is a shell"
cat >"$WORK/own.sub" <<SUB
executable = $WORK/no-such-program
arguments = none
initialdir = $OUT
transfer_input_files = $WORK/job.sub
transfer_output_files = made
request_memory = 1
queue
SUB
echo "queue 2" >"$WORK/two.sub"
"$ROOST" submit -interactive "$WORK/two.sub" </dev/null 2>"$WORK/two.err" && fail "two interactive jobs"
grep -qF -- "-interactive takes one job" "$WORK/two.err" || fail "why not two: $(cat "$WORK/two.err")"
python3 "$(dirname "$0")/lib_pty.py" "$ROOST" submit -interactive "$WORK/own.sub" <<'PTY' || fail "submit -interactive"
want submitted to cluster \d+
want Waiting for job to start
want [$#]
type stty -echo; PS1=:; echo pwd=$(basename $PWD)\n
want pwd=sandbox
type cp job.sub made; exit 6\n
end 6
PTY
own_is_done() { own=$("$ROOST" history -limit 1 -constraint 'InteractiveJob' -af ClusterId 2>/dev/null) && [ -n "$own" ]; }
until_true 30 "it ends with its shell" own_is_done
check_committed "$own" 1
cmp "$WORK/job.sub" "$OUT/made" || fail "its output is not there"

say "a job that transfers no files: its directory, as its account"
cat >"$WORK/home.sub" <<SUB
executable = /bin/sh
arguments = "-c 'echo out; echo err >&2; echo here >$OUT/home/file; mkfifo $OUT/home/pipe; cat $OUT/home/go'"
should_transfer_files = NO
initialdir = $OUT/home
output = home.out
error = $OUT/home/home.err
queue
SUB
mkdir "$OUT/home" && chmod 0777 "$OUT/home" && mkfifo "$OUT/home/go"
home=$(submit "$WORK/home.sub")
until_true 60 "it writes" tail_is here -no-stdout "$home" file
until_true 20 "its output" tail_is out "$home"
until_true 20 "its error" tail_is err -stderr "$home"
tail_refused "pipe' is not a regular file" -no-stdout "$home" pipe
tail_refused "Permission denied" -no-stdout "$home" "$WORK/../../../../root/.profile"
timeout 60 "$ROOST" tail -f -no-stdout "$home" "$OUT/home/file" >"$WORK/at_home" &
follower=$!
until_true 20 "it is followed" grep -qx here "$WORK/at_home"
echo over >"$OUT/home/go"
wait "$follower" || fail "roost tail -f of a job at home"
equals "what was followed" "$(cat "$WORK/at_home")" here
until_true 30 "the job is in the history" is_done "$home" 1

say "a suspended job has no shell beside it, and says so"
"$ROOST" suspend "$job" >"$WORK/suspend" 2>&1 || fail "roost suspend: $(cat "$WORK/suspend")"
is_refused() { ! ssh_job "$job" true 2>"$WORK/ssh.err" && grep -qF "job $job.0 is suspended" "$WORK/ssh.err"; }
until_true 30 "it is refused" is_refused
equals "a look at its files" "$(timeout 20 "$ROOST" tail -no-stdout "$job" grows)" first
"$ROOST" continue "$job" >"$WORK/suspend" 2>&1 || fail "roost continue: $(cat "$WORK/suspend")"
until_true 30 "it goes on" quietly "$ROOST" ssh "$job" true
startd=$(pids_of startd wn01)
kill -STOP "$startd" # what is ordered is not done yet
for order in suspend continue suspend continue; do
    "$ROOST" "$order" "$job" >"$WORK/suspend" 2>&1 || fail "roost $order, at once: $(cat "$WORK/suspend")"
done
kill -CONT "$startd"
until_true 30 "it goes on again" quietly "$ROOST" ssh "$job" true

say "following, over the death of the shadow and of the schedd"
timeout 60 "$ROOST" tail -f -no-stdout "$job" grows >"$WORK/grows" &
follower=$!
timeout 60 "$ROOST" tail -follow "$job" >"$WORK/followed" &
other=$!
has() { grep -qx "$2" "$1"; }
until_true 20 "the first line is there" has "$WORK/grows" first
kill -9 "$(pids_of shadow)" || fail "no shadow"
touch "$OUT/second"
until_true 30 "the second line comes over the shadow's death" has "$WORK/grows" second
kill -9 "$(pids_of schedd)" || fail "no schedd"
until_true 30 "the other one has the second line, too" has "$WORK/followed" three
until_true 30 "the schedd answers again" quietly "$ROOST" ssh "$job" true
# Held by what is beside it: it ends when the job does.
ssh_job "$job" 'trap "" HUP; echo there; sleep 1000' >"$WORK/beside" 2>"$WORK/beside.err" &
beside=$!
until_true 30 "a command is beside the job" has "$WORK/beside" there
touch "$OUT/third"
wait "$beside"
equals "exit status of what was beside the job" $? 137
grep -qF "the job has ended" "$WORK/beside.err" || fail "it is told: $(cat "$WORK/beside.err")"
wait "$follower" || fail "roost tail -f"
wait "$other" || fail "roost tail -follow"
equals "what the followed file had" "$(cat "$WORK/grows")" "$(printf 'first\nsecond\nthird')"
equals "what was written to standard output" "$(cat "$WORK/followed")" "$(printf 'one\nthree\nlast')"
until_true 30 "the job is in the history" is_done "$job" 1
check_committed "$job" 1
tail_refused "no such job in the queue: $job.0" "$job"
passed

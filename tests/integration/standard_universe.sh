#!/bin/bash
# Jobs of the standard universe see the files of their submit machine and nothing else: unmodified programs of its, as
# an account that may read none of them there; remote_root and remote_readonly are kept, and so is what the schedd's
# configuration hides; what such a job cannot have holds it. It moves to another machine with its image. When its shadow
# is killed the next one serves it on, also at another port; where that would be wrong it goes on from its image: what it did to its files
# is done once. A signal that ends the job is told from one that ends what keeps its files.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
[ -x "$ROOST_BIN/roost-pilot" ] || { echo "skipped: no checkpoints, and so no standard universe, in a build with sanitizers"; exit 77; }
[ -x "$ROOST_BIN/roost-rsys-mount" ] || { echo "skipped: there is no roost-rsys-mount"; exit 77; }
[ -x "$ROOST_BIN/roost-ckpt" ] || { echo "skipped: roost-ckpt is made for x86-64 only"; exit 77; }
AS=()
[ "$(id -u)" != 0 ] || AS=(setpriv --reuid=65534 --regid=65534 --clear-groups)
"${AS[@]}" "$ROOST_BIN/roost-rsys-mount" --probe >/dev/null 2>&1 || { echo "skipped: no namespaces, or no /dev/fuse, here"; exit 77; }

pool_init --nodes 2 --cpus-per-node 4
mkdir "$WORK/home" "$WORK/jail" "$WORK/jail/data" "$WORK/jail/out" "$WORK/hidden"
cat >>"$ROOST_CONFIG" <<END
REMOTE_SYSCALL_HIDDEN = $WORK/hidden
REMOTE_SYSCALL_READONLY = $WORK/home/.profile
STARTER_FAILURE_BACKOFF = 0
CLAIM_LEASE_DURATION = 15
END
pool_start
HOME_DIR=$WORK/home
chmod 0700 "$HOME_DIR"
echo secret >"$WORK/hidden/key"
echo "the owner's" >"$HOME_DIR/.profile"
seq 1000 >"$HOME_DIR/numbers"
chmod 0600 "$HOME_DIR/numbers"
for_jobs "$HOME_DIR"
cat >"$HOME_DIR/job.py" <<'END'
import os, sys, time
work, hidden, spool, gate = sys.argv[1:]
total = sum(int(line) for line in open("numbers"))
with open("log", "a") as log:
    log.write("%d\n" % total)
print("total", total, os.getcwd() == work, sys.stdin.read().strip())
for name in (hidden + "/key", spool + "/schedd.db", spool):
    print("sees" if os.path.exists(name) and (os.path.isfile(name) or os.listdir(name)) else "does not see")
try:
    open(".profile", "a")
    print("writes .profile")
except OSError as error:
    print(error.strerror)
os.mkdir("made")
os.rename("log", "made/log")
os.symlink("made/log", "link")
print(open("link").read().strip(), os.environ["GREETING"], "AVX2" in os.environ["GLIBC_TUNABLES"])
sys.stdout.flush()
while not os.path.exists(gate):
    time.sleep(0.05)
print("end")
sys.exit(7)
END
echo typed >"$HOME_DIR/in"
cat >"$WORK/all.sub" <<END
universe = standard
initialdir = $HOME_DIR
executable = /usr/bin/python3
arguments = job.py $HOME_DIR $WORK/hidden $POOL/spool $WORK/gate.1
environment = "GREETING=hello ROOST_CKPT_CPU=x86-64-v2"
input = in
output = out
error = err
queue
END
job=$(submit "$WORK/all.sub") || exit 1

say "a directory of the submit machine for a root, and a part of it that is read-only"
cc -static -O1 -o "$WORK/jail/look" -x c - <<'END'
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
static void try(const char *path, int flags)
{
    int fd = open(path, flags, 0644);
    printf("%s: %s\n", path, fd < 0 ? strerror(errno) : "yes");
}
int main(void)
{
    try("/data/read", O_RDONLY);
    try("/data/new", O_WRONLY | O_CREAT);
    try("/out/new", O_WRONLY | O_CREAT);
    try("/etc/passwd", O_RDONLY);
    try("/../../etc/passwd", O_RDONLY);
    return 0;
}
END
[ -x "$WORK/jail/look" ] || fail "look does not compile"
echo data >"$WORK/jail/data/read"
cat >"$WORK/jail.sub" <<END
universe = standard
initialdir = $WORK/jail
remote_root = $WORK/jail
remote_readonly = /data
executable = $WORK/jail/look
output = out/jailed
error = out/errors
queue
END
jailed=$(submit "$WORK/jail.sub") || exit 1
until_true 60 "the job in its root is done" is_done "$jailed" 1
equals "what it could open" "$(tr '\n' ' ' <"$WORK/jail/out/jailed")" \
    "/data/read: yes /data/new: Read-only file system /out/new: yes /etc/passwd: No such file or directory /../../etc/passwd: No such file or directory "
equals "what it said of errors" "$(cat "$WORK/jail/out/errors")" ""

say "one that dies of a signal has died of it"
sed "s,^executable.*,executable = /bin/sh," "$WORK/all.sub" | sed "s,^arguments.*,arguments = \"-c 'kill -9 \$\$'\"," | sed "s,^output.*,output = other," >"$WORK/kill.sub"
killed=$(submit "$WORK/kill.sub") || exit 1
until_true 60 "the job that kills itself is done" is_done "$killed" 1
equals "how it ended" "$("$ROOST" history "$killed" -af ExitBySignal ExitSignal NumJobStarts)" "true 9 1"

say "what it names and cannot have holds it"
sed "s,^input.*,input = $WORK/hidden/key," "$WORK/all.sub" | sed "s,^output.*,output = other," >"$WORK/none.sub"
without=$(submit "$WORK/none.sub") || exit 1
is_held() { [ "$("$ROOST" q "$1" -af JobStatus)" = 5 ]; }
until_true 60 "the job without its input is held" is_held "$without"
case $("$ROOST" q "$without" -af HoldReason) in
*"at its submit machine: $WORK/hidden/key: "*) ;;
*) fail "it is held for: $("$ROOST" q "$without" -af HoldReason)" ;;
esac
"$ROOST" rm "$without" >/dev/null || fail "roost rm"
sed "s,x86-64-v2,x86-64-v," "$WORK/all.sub" | sed "s,^output.*,output = other," >"$WORK/none.sub"
without=$(submit "$WORK/none.sub") || exit 1
until_true 60 "the job for no processor is held" is_held "$without"
case $("$ROOST" q "$without" -af HoldReason) in
*"ROOST_CKPT_CPU: unknown processor level 'x86-64-v'"*) ;;
*) fail "it is held for: $("$ROOST" q "$without" -af HoldReason)" ;;
esac
"$ROOST" rm "$without" >/dev/null || fail "roost rm"
! "$ROOST" submit -spool "$WORK/all.sub" >"$WORK/spool.out" 2>&1 || fail "a spooled job of the standard universe was taken"
grep -q "standard universe cannot be spooled" "$WORK/spool.out" || fail "spooling is refused with: $(cat "$WORK/spool.out")"

say "all of the submit machine, as the submitter"
has_lines() { [ "$(wc -l 2>/dev/null <"$HOME_DIR/out")" -ge "$1" ]; }
until_true 60 "the job is at its gate" test -s "$HOME_DIR/out"
until_true 60 "and has said all" has_lines 6
runs_for() { [ "$("$ROOST" q "$job" -af JobStatus NumJobStarts)" = "2 $1" ]; }
until_true 60 "it runs" runs_for 1

say "it moves to the other machine"
node=$("$ROOST" q "$job" -af RemoteHost)
"$ROOST" checkpoint "$job" >"$WORK/checkpoint.out" 2>&1 || fail "roost checkpoint: $(cat "$WORK/checkpoint.out")"
"$ROOST" drain "${node#*@}" >"$WORK/drain.out" 2>&1 || fail "roost drain: $(cat "$WORK/drain.out")"
until_true 60 "it runs again" runs_for 2
[ "$("$ROOST" q "$job" -af RemoteHost)" != "$node" ] || fail "it did not move"
has_checkpoints() { [ "$("$ROOST" q "$job" -af NumCkpts)" -ge "$1" ] 2>/dev/null; }
until_true 60 "both checkpoints are there" has_checkpoints 2
case $("$ROOST" q "$job" -af CkptFeatures) in
"" | undefined | *avx*) fail "its images are for $("$ROOST" q "$job" -af CkptFeatures)" ;;
esac
takes_one() { "$ROOST" checkpoint "$job" >"$WORK/checkpoint.out" 2>&1; }
until_true 60 "a job that was resumed is checkpointed" takes_one
until_true 60 "that one is there" has_checkpoints 3

say "its schedd moves to another port, and its shadow is killed: the next one serves it on"
kill_shadow() { for pid in $(pids_of shadow); do kill -9 "$pid" || fail "kill"; done; }
sessions() { cat "$POOL"/spool/owner/*/*Log* 2>/dev/null | grep -c rsys.session; }
has_sessions() { [ "$(sessions)" -ge "$1" ]; }
before=$(sessions)
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
sed -i "s/^SCHEDD_PORT = .*/SCHEDD_PORT = $port/" "$ROOST_CONFIG"
"$ROOST" config reload >"$WORK/reload.out" 2>&1 || fail "config reload: $(cat "$WORK/reload.out")"
has_moved() { grep -qs shadow.moved "$POOL"/nodes/*/log/*; }
until_true 60 "the starter has heard where the schedd is" has_moved
kill_shadow
until_true 60 "its files are open again" has_sessions $((before + 1))
runs_for 2 || fail "it was begun again: $("$ROOST" q "$job" -af JobStatus NumJobStarts)"

say "once more, and a file that it has open is another one now: it goes back to its checkpoint"
cp "$HOME_DIR/out" "$HOME_DIR/out.other"
for_jobs "$HOME_DIR/out.other"
mv "$HOME_DIR/out.other" "$HOME_DIR/out"
kill_shadow
until_true 60 "it runs once more" runs_for 3

say "what keeps its files for it is killed: that is not the job's end"
kill_mounts() { for pid in $(pids_of rsys-mount wn01) $(pids_of rsys-mount wn02); do kill -9 "$pid" || fail "kill"; done; }
kill_mounts
until_true 60 "it runs again" runs_for 4
open_gate 1
until_true 60 "the job is done" is_done "$job" 1
equals "what it saw" "$(tr '\n' '|' <"$HOME_DIR/out")" \
    "total 500500 True typed|does not see|does not see|does not see|Read-only file system|500500 hello True|end|"
equals "its exit status" "$("$ROOST" history "$job" -af ExitCode)" 7
equals "its errors" "$(cat "$HOME_DIR/err")" ""
pool_stop
passed

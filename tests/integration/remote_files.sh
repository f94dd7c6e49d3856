#!/bin/bash
# Jobs whose files are all at another machine, as nobody: what programs do to files comes out as it would there; what is
# changed there is seen; a cut of the network is a pause; and of this machine they see nothing.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
[ -x "$ROOST_BIN/roost-rsys-mount" ] || { echo "skipped: there is no roost-rsys-mount"; exit 77; }
AS=()
if [ "$(id -u)" = 0 ]; then
    AS=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
"${AS[@]}" unshare --user --mount true 2>/dev/null || { echo "skipped: user namespaces are forbidden here"; exit 77; }
[ -w /dev/fuse ] || { echo "skipped: there is no /dev/fuse"; exit 77; }

# Where nobody can run and write it.
mkdir "$WORK/bin" "$WORK/files" "$WORK/scratch" "$WORK/control"
cp "$ROOST_BIN"/roost-rsys-* "$ROOST_SRC"/tests/integration/lib_{posix,views}.py "$WORK/bin/"
chmod 0777 "$WORK/files" "$WORK/scratch"
echo "let me in" >"$WORK/ticket"

serve() { # NAME OPTION...: sets ADDRESS and PIN
    local name=$1
    shift
    "${AS[@]}" "$WORK/bin/roost-rsys-serve" --listen tcp:127.0.0.1:0 --ticket-file "$WORK/ticket" "$@" >"$WORK/$name.out" 2>"$WORK/$name.err" &
    until_true 30 "$name serves" grep -qs '^pin ' "$WORK/$name.out"
    ADDRESS=$(sed -n 's/^listening //p' "$WORK/$name.out")
    PIN=$(sed -n 's/^pin //p' "$WORK/$name.out")
}
set_job() { # sets JOB, for its options, --, and a program
    JOB=(env -i "PATH=$PATH" "LC_ALL=C" timeout 120 "${AS[@]}" "$WORK/bin/roost-rsys-mount" --server "$ADDRESS" --pin "$PIN" --ticket-file "$WORK/ticket")
}
job() { # OPTION... -- PROGRAM...
    set_job
    "${JOB[@]}" "$@"
}
fresh() {
    rm -rf "${WORK:?}"/files/*
    "${AS[@]}" mkdir "$WORK/files/run"
}

serve all --root /=/ --root "/files=$WORK/files" --lease 30s
ALL=$ADDRESS

say "what programs do to files"
fresh
equals "here" "$("${AS[@]}" /usr/bin/python3 "$WORK/bin/lib_posix.py" "$WORK/files/run")" "all right"
fresh
equals "there" "$(job -- /usr/bin/python3 "$WORK/bin/lib_posix.py" /files/run 2>&1)" "all right"

say "programs of Debian"
fresh
# shellcheck disable=SC2016
cat >"$WORK/files/work.sh" <<'SH'
set -e
cd "$1"
seq 20000 >numbers
awk '{ s += $1 } END { print s }' numbers
gzip -k numbers && zcat numbers.gz | cmp - numbers
perl -ne '$n++; END { print "$n\n" }' numbers
python3 -c 'import json, hashlib; print(hashlib.sha256(open("numbers", "rb").read()).hexdigest())'
sort -R numbers | sort -n | cmp - numbers
printf '%s\n' 'int main(void) { return 0; }' >a.c && gcc a.c && ./a.out
tar cf all.tar numbers numbers.gz && mkdir out && tar xf all.tar -C out && cmp out/numbers numbers
find . -type f | sort | tr '\n' ' '
SH
mkdir "$WORK/files/here" && chmod 0777 "$WORK/files/here"
expected=$("${AS[@]}" bash "$WORK/files/work.sh" "$WORK/files/here" 2>&1)
equals "programs" "$(job -- /bin/bash /files/work.sh /files/run 2>&1)" "$expected"
job -- /bin/sh -c 'exit 7'
equals "exit status" $? 7

say "what changes at the submit machine is seen by who opens it then"
fresh
mkfifo "$WORK/say"
echo old >"$WORK/files/shared"
job -- /usr/bin/python3 "$WORK/bin/lib_views.py" /files <"$WORK/say" >"$WORK/said" 2>"$WORK/said.err" &
exec 7>"$WORK/say"
lines=0
ask() { # COMMAND ANSWER
    echo "$1" >&7
    lines=$((lines + 1))
    until_true 30 "an answer to: $1" has_lines "$lines"
    equals "$1" "$(sed -n "${lines}p" "$WORK/said")" "$2"
}
has_lines() { [ "$(wc -l <"$WORK/said")" -ge "$1" ]; }
put() { printf '%s' "$1" >"$2"; }
put old "$WORK/files/shared"
ask "read shared" old
put new "$WORK/files/shared"
ask "read shared" new
put longer "$WORK/files/shared"
ask "size shared" 6
ask "hold shared" held
put other "$WORK/files/shared.new"
mv "$WORK/files/shared.new" "$WORK/files/shared"
ask "read shared" other
ask held longer
rm "$WORK/files/shared"
ask "read shared" "No such file or directory"
"${AS[@]}" touch "$WORK/files/mine"
ask "keep mine ours" kept
equals "what the job wrote" "$(cat "$WORK/files/mine")" ours
put theirs "$WORK/files/mine"
ask "read mine" theirs
mkdir "$WORK/files/many"
(cd "$WORK/files/many" && seq -f 'a-name-that-is-long-enough-%06.0f' 100000 | xargs touch)
ask "list many" 100000
exec 7>&-
wait %?lib_views || fail "the job that looks at files: $(cat "$WORK/said.err")"

say "a cut is a pause"
/usr/bin/python3 "$ROOST_SRC/tests/integration/lib_cutting_proxy.py" "$WORK/port" "${ADDRESS##*:}" "$WORK/control" &
until_true 30 "the proxy listens" test -s "$WORK/port"
ADDRESS=tcp:127.0.0.1:$(cat "$WORK/port")
fresh
echo 3000000 >"$WORK/control/bytes"
equals "cut again and again" "$(job --stats -- /usr/bin/python3 "$WORK/bin/lib_posix.py" /files/run 2>"$WORK/stats")" "all right"
connections=$(sed -n 's/.*connections \([0-9]*\).*/\1/p' "$WORK/stats")
[ "${connections:-0}" -ge 10 ] || fail "it was to be cut again and again: $(cat "$WORK/stats")"
rm "$WORK/control/bytes"

say "who waits in a cut can be killed, and one that lasts ends the job"
waiting() { # OPTION...: a job that is told by a line of its input to go on, which is in a cut then
    set_job
    "${JOB[@]}" "$@" -- /bin/sh -c 'echo there >/files/run/there; read -r line; cat /files/run/gone; echo "$?" >/files/run/after' <"$WORK/say" 2>"$WORK/waiting.err" &
    mount=$!
    exec 7>"$WORK/say"
    until_true 30 "the job is there" test -s "$WORK/files/run/there"
    touch "$WORK/control/down"
    echo "go on" >&7
}
fresh
waiting --give-up 1s
wait "$mount"
equals "exit status of a job whose files are lost" $? 75
grep -q "not reachable" "$WORK/waiting.err" || fail "it does not say why: $(cat "$WORK/waiting.err")"
exec 7>&-
rm "$WORK/control/down"
fresh
waiting --give-up 60s
kill -TERM "$mount" # passed on to the job, by roost-rsys-mount below timeout(1)
wait "$mount"
equals "exit status of a job that was killed" $? 143
[ ! -e "$WORK/files/run/after" ] || fail "it went on"
exec 7>&-
rm "$WORK/control/down"

say "a server that has moved is found"
fresh
waiting --server-file "$WORK/moved" --give-up 60s
mkdir "$WORK/control.moved"
/usr/bin/python3 "$ROOST_SRC/tests/integration/lib_cutting_proxy.py" "$WORK/port.moved" "${ALL##*:}" "$WORK/control.moved" &
until_true 30 "the other proxy listens" test -s "$WORK/port.moved"
echo "tcp:127.0.0.1:$(cat "$WORK/port.moved")" >"$WORK/moved.new" && chmod 0644 "$WORK/moved.new" && mv "$WORK/moved.new" "$WORK/moved"
wait "$mount"
equals "exit status of a job whose server has moved" $? 0
equals "what it found there" "$(cat "$WORK/files/run/after")" 1
exec 7>&-
rm "$WORK/control/down"
ADDRESS=$ALL

say "of this machine it sees nothing"
fresh
echo "the owner's" >"$WORK/scratch/owners" && chmod 0644 "$WORK/scratch/owners"
serve some --ro-root /usr=/usr --ro-root /lib=/lib --ro-root /lib64=/lib64 --ro-root /bin=/bin --root "/home/me=$WORK/files/run"
# shellcheck disable=SC2016
seen=$(job --scratch "$WORK/scratch" --cwd /home/me -- /bin/bash -c '
    pwd; echo /*; echo /tmp/*; ls /home; touch /usr/x /x 2>&1; echo kept >it; cat it
    set -- /proc/[0-9]*; if [ $# -gt 7 ]; then echo "$@"; fi; grep -h Cap /proc/self/status | cut -f2 | sort -u; cat /sys/kernel/* 2>&1 | head -n 1
    tail -n +3 /proc/net/dev | cut -d: -f1; unshare --mount true 2>&1; grep -c NoNewPrivs:.1 /proc/self/status; cat /proc/1/environ 2>&1
    python3 -c "import socket; socket.socket(40, socket.SOCK_STREAM)" 2>&1 | tail -n 1') # vsock: to the host of a virtual machine
equals "what it sees" "$seen" "/home/me
/bin /dev /home /lib /lib64 /proc /tmp /usr
/tmp/owners
me
touch: cannot touch '/usr/x': Read-only file system
touch: cannot touch '/x': Read-only file system
kept
0000000000000000
cat: '/sys/kernel/*': No such file or directory
    lo
unshare: unshare failed: Operation not permitted
1
cat: /proc/1/environ: Permission denied
OSError: [Errno 97] Address family not supported by protocol"
equals "what it left" "$(cat "$WORK/files/run/it")" kept
passed

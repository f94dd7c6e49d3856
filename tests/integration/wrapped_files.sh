#!/bin/bash
# Jobs whose own calls on files go to another machine, as nobody and without any namespace: what programs do to files comes out as it
# would there, of programs that preload the wrappers and of those that were linked with them.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
LIBRARY=$ROOST_BIN/../lib/roost/roost_remote.so
[ -e "$LIBRARY" ] || { echo "skipped: no wrappers in a build with sanitizers"; exit 77; }
AS=()
if [ "$(id -u)" = 0 ]; then
    AS=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi

# Where nobody can run and write it.
mkdir "$WORK/bin" "$WORK/files" "$WORK/scratch"
cp "$ROOST_BIN"/roost-rsys-* "$LIBRARY" "$ROOST_SRC"/tests/integration/lib_wrapped.py "$WORK/bin/"
chmod 0777 "$WORK/files" "$WORK/scratch"
echo "let me in" >"$WORK/ticket"
"${AS[@]}" "$WORK/bin/roost-rsys-serve" --listen tcp:127.0.0.1:0 --ticket-file "$WORK/ticket" --root /=/ --root "/files=$WORK/files" \
    >"$WORK/serve.out" 2>"$WORK/serve.err" &
until_true 30 "the server listens" grep -qs '^pin ' "$WORK/serve.out"
ADDRESS=$(sed -n 's/^listening //p' "$WORK/serve.out")
PIN=$(sed -n 's/^pin //p' "$WORK/serve.out")
job_at() { # SCRATCH PROGRAM...
    local scratch=$1
    shift
    env -i "PATH=$PATH" "LC_ALL=C" ${ROOST_CHECKPOINT_FILE:+"ROOST_CHECKPOINT_FILE=$ROOST_CHECKPOINT_FILE"} timeout 60 "${AS[@]}" \
        "$WORK/bin/roost-rsys-mount" --server "$ADDRESS" --pin "$PIN" --ticket-file "$WORK/ticket" --scratch "$WORK/$scratch" \
        --door "$WORK/scratch/door" --wrap "$WORK/bin/roost_remote.so" "${OPTIONS[@]}" -- "$@"
}
OPTIONS=()
job() { job_at scratch "$@"; }
fresh() {
    rm -rf "${WORK:?}"/files/*
    "${AS[@]}" mkdir "$WORK/files/run"
}

say "what programs do to files"
fresh
equals "here" "$("${AS[@]}" /usr/bin/python3 "$WORK/bin/lib_wrapped.py" "$WORK/files/run")" "all right"
fresh
equals "there" "$(job /usr/bin/python3 "$WORK/bin/lib_wrapped.py" /files/run wrapped 2>&1)" "all right"

say "calls that make others"
"${CC:-cc}" -O2 -D_GNU_SOURCE -o "$WORK/bin/calls" "$ROOST_SRC/tests/integration/jobs/calls.c" || fail "compiling"
fresh
equals "here" "$("${AS[@]}" "$WORK/bin/calls" "$WORK/files/run" 2>&1)" "all right"
fresh
equals "there" "$(job "$WORK/bin/calls" /files/run wrapped 2>&1)" "all right"

say "programs of Debian"
# shellcheck disable=SC2016
cat >"$WORK/work.sh" <<'SH'
set -e
cd "$1"
seq 20000 >numbers
awk '{ s += $1 } END { print s }' numbers
gzip -k numbers && zcat numbers.gz | cmp - numbers
perl -ne '$n++; END { print "$n\n" }' numbers
python3 -c 'import hashlib; print(hashlib.sha256(open("numbers", "rb").read()).hexdigest())'
sort -R numbers | sort -n | cmp - numbers
seq 50 >few
while read -r line; do echo "line $line"; done <few >lines
tail -1 lines
cp numbers copied && mv copied moved && cmp moved numbers && rm moved
tar cf all.tar numbers numbers.gz && mkdir out && tar xf all.tar -C out && cmp out/numbers numbers
ls -l numbers | awk '{ print $5 }'
SH
chmod 0644 "$WORK/work.sh"
for shell in /bin/sh /bin/bash; do
    fresh
    "${AS[@]}" mkdir "$WORK/files/here"
    expected=$("${AS[@]}" "$shell" "$WORK/work.sh" "$WORK/files/here" 2>&1)
    equals "programs of $shell" "$(job "$shell" "$WORK/work.sh" /files/run 2>&1)" "$expected"
    equals "what is there" "$(cd "$WORK/files/run" && find . -type f | sort)" "$(cd "$WORK/files/here" && find . -type f | sort)"
done
job /bin/sh -c 'exit 7'
equals "exit status" $? 7

say "a job whose program and standard files are there, too"
fresh
mkdir "$WORK/files/run/bin"
cp /bin/sh "$WORK/files/run/bin/shell"
ln -s bin "$WORK/files/run/link"
echo "typed in" >"$WORK/files/run/in"
printf 'PATH=/usr/bin:/bin\0GREETING=hello\0' >"$WORK/environment"
OPTIONS=(--fetch --cwd /files/run --stdin in --stdout out --stderr out --environment "$WORK/environment")
# shellcheck disable=SC2016
job link/shell -c 'read -r line; echo "$line, $GREETING, $(pwd)"; ls /none; exit 3'
equals "its exit status" $? 3
equals "what it said" "$(cat "$WORK/files/run/out")" "typed in, hello, /files/run
ls: cannot access '/none': No such file or directory"
equals "a program that is not there" "$(job link/none 2>&1)" "roost-rsys-mount: link/none: No such file or directory"
OPTIONS=(--stdout /none/out)
equals "a file that cannot be" "$(job /bin/true 2>&1)" "roost-rsys-mount: /none/out: No such file or directory"
job /bin/true 2>/dev/null
equals "the exit status of that" $? 126
OPTIONS=()

say "what was written stays when the program is killed"
fresh
job /usr/bin/python3 -c 'import os, signal
fd = os.open("/files/run/killed", os.O_CREAT | os.O_WRONLY)
for number in range(1000): os.write(fd, b"%09d\n" % number)
os.kill(os.getpid(), signal.SIGKILL)'
equals "exit status of what was killed" $? 137
equals "what it wrote" "$(md5sum <"$WORK/files/run/killed")" "$(seq -f '%09.0f' 0 999 | md5sum)"

say "where ordinary users may make no namespaces"
# shellcheck disable=SC2016
if "${AS[@]}" unshare -U --map-user=1000 --map-group=1000 --keep-caps /bin/sh -c 'echo 0 >/proc/sys/user/max_user_namespaces' 2>/dev/null; then
    fresh
    cat >"$WORK/bin/without.sh" <<'SH'
echo 0 >/proc/sys/user/max_user_namespaces
"$@"
SH
    forbidden() { "${AS[@]}" unshare -U --map-user=1000 --map-group=1000 --keep-caps /bin/sh "$WORK/bin/without.sh" "$WORK/bin/roost-rsys-mount" "$@" 2>&1; }
    there=(--server "$ADDRESS" --pin "$PIN" --ticket-file "$WORK/ticket" --scratch "$WORK/scratch")
    forbidden --probe | grep -q "user.max_user_namespaces" || fail "the probe does not say what is missing"
    forbidden "${there[@]}" -- /bin/true | grep -q "cannot create namespaces for the job" || fail "a file system where there can be none"
    equals "wrapped" "$(forbidden "${there[@]}" --wrap "$WORK/bin/roost_remote.so" -- \
        /bin/sh -c 'cd /files/run && seq 1000 >numbers && tail -n 1 numbers')" "1000"
    equals "what is there" "$(wc -l <"$WORK/files/run/numbers")" 1000
fi

say "programs that were linked with the wrappers"
if [ -x "$ROOST_BIN/roost-compile" ]; then
    cat >"$WORK/linked.c" <<'C'
#include <stdio.h>
int main(void)
{
    char line[64] = "";
    FILE *file = fopen("/files/run/linked", "w+");
    if (file == NULL || fprintf(file, "%s %d\n", "number", 42) < 0 || fseek(file, 0, SEEK_SET) != 0 ||
        fgets(line, sizeof line, file) == NULL || fclose(file) != 0) {
        perror("linked");
        return 1;
    }
    return fputs(line, stdout) < 0;
}
C
    "$ROOST_BIN/roost-compile" --remote cc -O2 -D_GNU_SOURCE -static -o "$WORK/bin/calls" "$ROOST_SRC/tests/integration/jobs/calls.c" ||
        fail "linking calls"
    fresh
    equals "calls of a static program" "$(job "$WORK/bin/calls" /files/run wrapped 2>&1)" "all right"
    for how in -static -pie; do
        say "an image of a program that was linked with $how, elsewhere"
        fresh
        seq 20000 >"$WORK/files/run/numbers"
        mkdir -p "$WORK/here" "$WORK/there"
        chmod 0777 "$WORK/here" "$WORK/there"
        "$ROOST_BIN/roost-compile" --remote cc -O2 "$how" "-I$ROOST_SRC" -o "$WORK/bin/remote" "$ROOST_SRC/tests/integration/relinked/remote.c" ||
            fail "linking remote.c with $how"
        rm -f "$WORK/scratch/image"
        ROOST_CHECKPOINT_FILE=$WORK/scratch/image job_at here "$WORK/bin/remote" /files/run
        equals "it made an image" "$?" 7
        expected=$(md5sum <"$WORK/files/run/sums")
        head -n 10 "$WORK/files/run/sums" >"$WORK/ten"
        cat "$WORK/ten" >"$WORK/files/run/sums" # as it was when the image was made
        equals "resumed" "$(job_at there "$WORK/scratch/image" 2>&1)" "sum 200010000 in /files/run"
        equals "what it wrote after that" "$(md5sum <"$WORK/files/run/sums")" "$expected"
        mv "$WORK/files/run/numbers" "$WORK/files/run/before"
        cp "$WORK/files/run/before" "$WORK/files/run/numbers"
        equals "where a file is another one now" "$(job_at there "$WORK/scratch/image" 2>&1)" "reading: Stale file handle"
        fresh
        "$ROOST_BIN/roost-compile" --remote cc -O2 "$how" -o "$WORK/bin/linked" "$WORK/linked.c" || fail "linking with $how"
        equals "linked with $how" "$(job "$WORK/bin/linked" 2>&1)" "number 42"
        equals "its file" "$(cat "$WORK/files/run/linked")" "number 42"
    done
    say "an image of a program that has locks"
    cat >"$WORK/bin/lock.py" <<'PY'
import fcntl, sys, time
def can(name, start=0, length=0):
    with open(f"{sys.argv[1]}/{name}", "r+") as file:
        try:
            if name == "whole":
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            else:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)
        except OSError:
            return False
        return True
if sys.argv[2] == "look":
    print(can("ranges", 0, 10), can("ranges", 10, 10), can("ranges", 20, 80), can("ranges", 100), can("opened"), can("whole"))
else:  # has one that the job had
    file = open(f"{sys.argv[1]}/opened", "r+")
    fcntl.lockf(file, fcntl.LOCK_EX, 1)
    print("taken", flush=True)
    time.sleep(60)
PY
    "$ROOST_BIN/roost-compile" --remote cc -O2 -D_GNU_SOURCE "-I$ROOST_SRC" -o "$WORK/bin/locked" "$ROOST_SRC/tests/integration/relinked/locked.c" ||
        fail "linking locked.c"
    fresh
    rm -f "$WORK/scratch/image"
    ROOST_CHECKPOINT_FILE=$WORK/scratch/image job_at here "$WORK/bin/locked" /files/run
    equals "it made an image" "$?" 7
    look() { "${AS[@]}" /usr/bin/python3 "$WORK/bin/lock.py" "$WORK/files/run" look; }
    equals "what is locked between" "$(look)" "True True True True True True"
    job_at there "$WORK/scratch/image" >"$WORK/resumed" 2>&1 &
    resumed=$!
    until_true 30 "it goes on" test -e "$WORK/files/run/here"
    equals "what is locked again" "$(look)" "False True False True False False"
    touch "$WORK/files/run/go"
    wait "$resumed"
    equals "what it wrote" "$(cat "$WORK/resumed")" "ranges: written
opened: written
whole: written"
    "${AS[@]}" /usr/bin/python3 "$WORK/bin/lock.py" "$WORK/files/run" take >"$WORK/taken" &
    other=$!
    until_true 30 "another has a lock" test -s "$WORK/taken"
    equals "where another has a lock now" "$(job_at there "$WORK/scratch/image" 2>&1)" "ranges: written
opened: Stale file handle
whole: written"
    kill "$other"
fi
passed

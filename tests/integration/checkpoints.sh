#!/bin/bash
# Programs that know nothing of it are interrupted at random moments, and go on from their images, as whoever they are:
# output and exit status are those of an uninterrupted run.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
[ -x "$ROOST_BIN/roost-ckpt" ] || { echo "skipped: roost-ckpt is made for x86-64 only"; exit 77; }

mkdir "$WORK/jobs" "$WORK/files" "$WORK/bin"
chmod 0777 "$WORK/files"
for source in "$ROOST_SRC"/tests/integration/jobs/*.c; do
    name=$(basename "$source" .c)
    cc -O2 -D_GNU_SOURCE -pthread -o "$WORK/jobs/$name" "$source" -lm || fail "$name does not compile"
    cc -O2 -D_GNU_SOURCE -pthread -static -o "$WORK/jobs/$name.static" "$source" -lm || fail "$name does not compile"
done
if grep -qw avx /proc/cpuinfo; then
    cc -O2 -mavx -D_GNU_SOURCE -o "$WORK/jobs/numbers.avx" "$ROOST_SRC/tests/integration/jobs/numbers.c" || fail "numbers.avx"
fi
# Where nobody can run it, too.
cp "$ROOST_BIN/roost-ckpt" "$WORK/bin/"
cp "$ROOST_SRC"/tests/integration/{lib_checkpoint.py,lib_checkpoint_refused.py,lib_checkpoint_terminal.py,jobs/pipes.sh} "$WORK/bin/"

try() { # OPTIONS -- PROGRAM...
    (cd "$WORK/files" && ROOST_BIN="$WORK/bin" TMPDIR="$WORK/files" timeout 200 "${AS[@]}" /usr/bin/python3 "$WORK/bin/lib_checkpoint.py" "$@") ||
        fail "interrupted: $*"
    rm -rf "${WORK:?}"/files/*
}
AS=()
try --every 0.3 -- "$WORK/jobs/numbers"
[ ! -x "$WORK/jobs/numbers.avx" ] || try --every 0.3 -- "$WORK/jobs/numbers.avx"
try --every 0.3 --rounds 2 -- "$WORK/jobs/files" .
try --every 0.3 --rounds 2 -- "$WORK/jobs/threads.static" 200
try --every 0.3 --rounds 2 --lazy -- "$WORK/jobs/mappings.static" .
try --every 0.3 --rounds 2 --leave -- "$WORK/jobs/waits"
try --every 0.2 --rounds 1 --beside -- "$WORK/jobs/sleeps"
try --every 0.1 --rounds 2 --chain 5 -- "$WORK/jobs/changes"
if [ "$(id -u)" = 0 ]; then
    AS=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs)
fi
try --every 0.3 --rounds 2 -- "$WORK/jobs/waits.static"
try --every 0.3 --rounds 2 -- "$WORK/jobs/events" .
try --every 0.3 --rounds 2 -- "$WORK/jobs/openings.static" .
try --every 0.3 --rounds 2 -- "$WORK/jobs/family" .
try --every 0.2 --rounds 1 --leave -- "$WORK/jobs/sleeps.static"
try --every 0.4 --rounds 1 -- "$WORK/jobs/sessions"
try --every 0.3 --rounds 2 -- "$WORK/jobs/threads" 50
try --every 0.3 --rounds 3 -- /bin/bash "$WORK/bin/pipes.sh"
try --every 0.3 --rounds 2 -- "$WORK/jobs/mappings" .
try --every 0.3 --rounds 2 -- /bin/sh -c 'for i in 1 2 3; do sleep 0.2; echo $i; done | sort -r | tr 1-5 a-e'
try --every 0.1 --rounds 1 --chain 5 --packed -- "$WORK/jobs/changes.static"
try --every 0.3 --rounds 2 -- /usr/bin/python3 -c 'import hashlib, time
sum = hashlib.sha256()
for i in range(60):
    sum.update(repr({j: j * i for j in range(2000)}).encode())
    time.sleep(0.005)
print(sum.hexdigest())'
for what in refused terminal; do
    (cd "$WORK/files" && ROOST_BIN="$WORK/bin" timeout 100 "${AS[@]}" /usr/bin/python3 "$WORK/bin/lib_checkpoint_$what.py" .) || fail "$what"
done
passed

#!/bin/bash
# Programs that know nothing of it are interrupted at random moments, and go on from their images, as whoever they are:
# output and exit status are those of an uninterrupted run.
#
# TIMEOUT: 360
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
[ -x "$ROOST_BIN/roost-ckpt" ] || { echo "skipped: roost-ckpt is made for x86-64 only"; exit 77; }

mkdir "$WORK/jobs" "$WORK/files" "$WORK/bin"
compile() { # NAME[.KIND]
    local flags=()
    case $1 in
    *.static) flags=(-static) ;;
    *.pie) flags=(-static-pie) ;;
    *.avx) flags=(-mavx) ;;
    esac
    cc -O2 -D_GNU_SOURCE -pthread "${flags[@]}" -o "$WORK/jobs/$1" "$ROOST_SRC/tests/integration/jobs/${1%%.*}.c" -lm
}
names=(asks numbers clocks files waits sleeps changes events family sessions threads mappings pending hoards
    threads.static mappings.pie mappings.static waits.static openings.static sleeps.static changes.static)
! grep -qw avx /proc/cpuinfo || names+=(numbers.avx)
export -f compile
export WORK
printf '%s\n' "${names[@]}" | xargs -P 2 -I NAME bash -c 'compile NAME' || fail "a job does not compile"
# Where nobody can run it, too.
cp "$ROOST_BIN/roost-ckpt" "$WORK/bin/"
cp "$ROOST_SRC"/tests/integration/lib_checkpoint{,_full,_killed,_refused,_resumed,_rewritten,_terminal,_pending,_said,_untold}.py "$ROOST_SRC"/tests/integration/jobs/{pipes.sh,terminals.py} "$WORK/bin/"

# Several at once: most of the time they wait.  Each has a directory of its own.
AT_ONCE=4
running=0 number=0
one_ends() {
    wait -n || fail "one of them"
    running=$((running - 1))
}
start() { # SCRIPT ARGUMENT...
    [ "$running" -lt "$AT_ONCE" ] || one_ends
    number=$((number + 1)) running=$((running + 1))
    mkdir -m 0777 "$WORK/files/$number"
    (
        cd "$WORK/files/$number" || exit 1
        ROOST_BIN="$WORK/bin" TMPDIR="$PWD" timeout 300 "${AS[@]}" /usr/bin/python3 "$WORK/bin/lib_checkpoint$1.py" "${@:2}" >said 2>&1
        status=$?
        cat said
        [ "$status" = 0 ] || fail "checkpoint$1: ${*:2}: $status"
    ) &
}
try() { # OPTIONS -- PROGRAM...
    start "" "$@"
}
AS=()
try --every 0.15 --rounds 1 --beside -- "$WORK/jobs/sleeps"
try --every 0.3 --rounds 2 -- "$WORK/jobs/numbers"
[ ! -x "$WORK/jobs/numbers.avx" ] || try --every 0.3 --rounds 2 -- "$WORK/jobs/numbers.avx"
try --every 0.3 --rounds 2 -- "$WORK/jobs/files" .
try --every 0.3 --rounds 2 -- "$WORK/jobs/threads.static" 200
try --every 0.3 --rounds 2 --lazy -- "$WORK/jobs/mappings.static" .
try --every 0.3 --rounds 2 --leave -- "$WORK/jobs/waits"
try --every 0.1 --rounds 2 --chain 5 -- "$WORK/jobs/changes"
if [ "$(id -u)" = 0 ]; then
    AS=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs)
fi
start _refused .
try --every 0.1 --rounds 1 -- "$WORK/jobs/clocks"
start _rewritten .
try --every 0.15 --rounds 1 --leave -- "$WORK/jobs/sleeps.static"
start _terminal .
start _resumed .
start _untold .
start _said .
try --every 0.3 --rounds 2 -- /usr/bin/python3 "$WORK/bin/terminals.py" 30
start _pending "$WORK/jobs/pending" .
try --every 0.3 --rounds 2 -- "$WORK/jobs/waits.static"
try --every 0.3 --rounds 2 -- "$WORK/jobs/events" .
try --every 0.3 --rounds 2 -- "$WORK/jobs/openings.static" .
try --every 0.3 --rounds 2 -- "$WORK/jobs/family" .
try --every 0.3 --rounds 1 -- "$WORK/jobs/hoards" .
try --every 0.2 --rounds 1 --beside -- "$WORK/jobs/hoards" .
try --every 0.4 --rounds 1 -- "$WORK/jobs/sessions"
try --every 0.3 --rounds 2 -- "$WORK/jobs/threads" 50
try --every 0.3 --rounds 3 -- /bin/bash "$WORK/bin/pipes.sh"
try --every 0.3 --rounds 2 -- "$WORK/jobs/mappings" .
try --every 0.3 --rounds 1 -- "$WORK/jobs/mappings.pie" .
try --every 0.3 --rounds 2 -- /bin/sh -c 'for i in 1 2 3; do sleep 0.2; echo $i; done | sort -r | tr 1-5 a-e'
try --every 0.1 --rounds 1 --chain 5 --packed -- "$WORK/jobs/changes.static"
try --every 0.3 --rounds 2 -- /usr/bin/python3 -c 'import hashlib, time
sum = hashlib.sha256()
for i in range(60):
    sum.update(repr({j: j * i for j in range(2000)}).encode())
    time.sleep(0.005)
print(sum.hexdigest())'
# The one who makes the image is killed, or the disk is full.  (A sanitizer takes nothing that is preloaded.)
if [ -z "${ASAN_OPTIONS:-}" ]; then
    cc -O2 -D_GNU_SOURCE -shared -fPIC -o "$WORK/bin/dying.so" "$ROOST_SRC/tests/integration/preloaded/checkpoint_dying.c" || fail "dying.so"
    for job in asks waits threads\ 20 family\ .; do
        read -ra words <<<"$job"
        start _killed "$WORK/bin/dying.so" --deaths 60 -- "$WORK/jobs/${words[0]}" "${words[@]:1}"
    done
    start _killed "$WORK/bin/dying.so" --within -- "$WORK/jobs/changes" 2000
    mkdir "$WORK/small"
    if unshare --mount true 2>/dev/null; then
        ROOST_BIN="$WORK/bin" unshare --mount /bin/bash -c 'mount -t tmpfs -o size=48m none "$1" && shift && exec "$@"' - "$WORK/small" \
            timeout 100 /usr/bin/python3 "$WORK/bin/lib_checkpoint_full.py" "$WORK/bin/dying.so" "$WORK/small" || fail "a full disk"
        ROOST_BIN="$WORK/bin" unshare --mount timeout 100 /usr/bin/python3 "$WORK/bin/lib_checkpoint_said.py" "$WORK" "$WORK/bin/dying.so" ||
            fail "no memory"
    fi
fi
while [ "$running" -gt 0 ]; do
    one_ends
done
passed

#!/bin/bash
# Programs that are linked with roost-compile: each makes images of itself when it is told to, and when it wants; nothing else of it
# is different.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
[ -x "$ROOST_BIN/roost-compile" ] || { echo "skipped: no roost-compile in a build with sanitizers"; exit 77; }
RELINK=$ROOST_BIN/roost-compile
SOURCES=$ROOST_SRC/tests/integration
# The pipes that a test runner leaves open are others': no image could hold their ends.
for fd in /proc/self/fd/*; do
    fd=${fd##*/}
    [ "$fd" -le 2 ] || eval "exec $fd>&-"
done
umask 022
mkdir "$WORK/jobs" "$WORK/files"
chmod 0777 "$WORK/files"
cd "$WORK/jobs" || exit 1

# ---- linking: what was compiled before, in one step, static, by a linker; what links nothing is as it was
FLAGS=(-O2 -D_GNU_SOURCE -pthread "-I$ROOST_SRC")
cc "${FLAGS[@]}" -c "$SOURCES/jobs/numbers.c" || fail "numbers.c"
"$RELINK" cc -o numbers numbers.o || fail "relinking numbers.o"
"$RELINK" cc "${FLAGS[@]}" -c "$SOURCES/jobs/threads.c" || fail "compiling threads.c"
"$RELINK" cc -static -o threads threads.o || fail "relinking threads.o statically"
"$RELINK" cc "${FLAGS[@]}" -o itself "$SOURCES/relinked/itself.c" || fail "itself.c"
"$RELINK" cc "${FLAGS[@]}" -static -o itself.static "$SOURCES/relinked/itself.c" || fail "itself.c, static"
"$RELINK" cc "${FLAGS[@]}" -o edges "$SOURCES/relinked/edges.c" || fail "edges.c"
if command -v g++ >/dev/null; then
    "$RELINK" g++ -O2 -o plus "$SOURCES/relinked/plus.cc" || fail "plus.cc"
fi
if nm numbers.o threads.o | grep -q roost_checkpoint; then fail "something was added to an object"; fi
"$RELINK" cc -c -o bad.o nothing.c 2>/dev/null && fail "the compiler's status is lost"
"$RELINK" make all 2>err && fail "make is no compiler"
grep -q "make: runs other commands" err || fail "$(cat err)"
"$RELINK" true numbers.o 2>err && fail "true links nothing"
grep -q 'a.out: the command did not write the program' err || fail "$(cat err)"
cp /bin/true a.out
"$RELINK" true numbers.o 2>err && fail "true does not link the library"
grep -q 'a.out: linked without Roost' err || fail "$(cat err)"
if command -v gfortran >/dev/null; then
    "$RELINK" gfortran -O2 -o sums "$SOURCES/relinked/sums.f90" || fail "sums.f90"
fi

export ROOST_CHECKPOINT_LOG=$WORK/files/log
AS=()
itself() { # PROGRAM MODE...: its output, in $WORK/files
    rm -rf "${WORK:?}"/files/*
    (cd "$WORK/files" && timeout 60 "${AS[@]}" "$@" 2>&1)
}
resume() { (cd "$WORK/files" && timeout 60 "${AS[@]}" "./$1" 2>&1); }
is() { [ "$1" = "$2" ] || fail "$3: '$1', not '$2'; $(cat "$WORK/files/log" 2>/dev/null)"; }

generations() { # PROGRAM: ten lives; images do not grow
    local status=0 size first=
    itself "$1" generations 10 >"$WORK/out.text" || status=$?
    while [ "$status" -eq 7 ]; do
        size=$(stat -c %b "$WORK/files/${1##*/}.ckpt")
        lives=$((${lives:-0} + 1))
        [ "$lives" -ne 2 ] || first=$size # the first one had no window, and no stub's pages
        [ "$lives" -lt 3 ] || [ "$size" -le $((first + 64)) ] || fail "$1: image $lives has $size blocks, the second $first"
        "$ROOST_BIN/roost-ckpt" info --verify "$WORK/files/${1##*/}.ckpt" >/dev/null 2>&1 ||
            "$ROOST_BIN/roost-ckpt" info "$WORK/files/${1##*/}.ckpt" --verify >/dev/null || fail "$1: image $lives"
        status=0
        resume "${1##*/}.ckpt" >>"$WORK/out.text" || status=$?
    done
    is "$lives $(cat "$WORK/out.text")" "10 10 generations: $(awk 'BEGIN { for (i = 1; i <= 10; i++) { s += 1 / i
        s += i * 1000 * 2654435761 % 4294967296 } printf "%.17g", s }')" "$1: generations"
    lives=0
}
waits() {
    local all="read: right poll: right select: right fread: right nanosleep: right it slept for its time"
    is "$(itself "$1" waits | xargs)" "$all" "$1: waits"
    is "$(resume "${1##*/}.ckpt" | xargs)" "nanosleep: right it slept for its time" "$1: resumed from its sleep"
}
generations "$WORK/jobs/itself"
waits "$WORK/jobs/itself"
is "$(itself "$WORK/jobs/itself" heirs | xargs)" "part: -1 place: 0" "heirs"
[ "$(ls "$WORK"/files/*.ckpt)" = "$WORK/files/itself.ckpt" ] || fail "heirs: $(ls "$WORK/files")"
is "$(resume itself.ckpt)" "place: 1" "heirs, resumed"
is "$(itself "$WORK/jobs/itself" hooks | xargs)" "0: before1 after0 before1 after0 before0 after0" "hooks"
is "$(resume hooks.2 | xargs)" "before1 after0 before0 resumed1" "hooks, resumed from the second"
is "$(resume hooks.1 | xargs)" "1: before1 resumed1 before1 resumed1 before0 after0" "hooks, resumed from the first"
is "$(itself "$WORK/jobs/itself" child)" "made: early 0 0, then 5, 1 in all" "child"
is "$(resume itself.ckpt)" "made: early 0 0, then 5, 1 in all" "child, resumed"
is "$(itself "$ROOST_BIN/roost-ckpt" run -- "$WORK/jobs/itself" orphan)" "made o" "orphan"
is "$(resume itself.ckpt)" "made o" "orphan, resumed"
if [ "$(id -u)" = 0 ]; then
    AS=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs)
fi
generations "$WORK/jobs/itself.static"
waits "$WORK/jobs/itself.static"
is "$(itself "$WORK/jobs/itself.static" mask)" "blocked again: 1 1" "mask"
is "$(itself "$WORK/jobs/itself.static" sections)" "wrong: 0" "sections"
is "$(itself "$WORK/jobs/itself" handler)" "alone: 1 wrong: 0 refused: 1" "a handler that asks"
is "$(itself "$WORK/jobs/edges" signals)" "wrong: 0" "sections in handlers"
is "$(itself "$WORK/jobs/edges" leaves) $?" "the last one 0" "leaving the first thread"
is "$(itself "$WORK/jobs/itself" interval)" "made in time" "interval"
is "$(itself "$WORK/jobs/itself" nowhere)" "1 named" "an image that cannot be written"
is "$(itself "$WORK/jobs/itself" threads)" "4 of 4" "threads"
is "$(resume itself.ckpt)" "4 of 4" "threads, resumed"
is "$(itself "$WORK/jobs/itself" descriptors)" "1" "the helper's descriptors"
is "$(itself "$ROOST_BIN/roost-ckpt" run -- "$WORK/jobs/itself" redirects) $(cat "$WORK/files/mine")" " 0 " "redirected"
is "$(resume itself.ckpt) $(cat "$WORK/files/mine")" " 1 " "redirected, resumed"
if [ "${#AS[@]}" -gt 0 ] || [ "$(id -u)" != 0 ]; then
    is "$(itself "$WORK/jobs/itself" untraced)" "1 the helper program has no permission to trace this process: EPERM" "untraced"
fi
is "$(itself "$WORK/jobs/itself" spawns)" "10 of 10" "spawns"
is "$(resume itself.ckpt)" "10 of 10" "spawns, resumed"
if [ -x plus ]; then
    is "$(itself "$WORK/jobs/plus")" "0 early 100 4570" "plus"
    is "$(resume plus.ckpt)" "1 early 100 4570" "plus, resumed"
fi

try() {
    rm -rf "${WORK:?}"/files/*
    (cd "$WORK/files" && timeout 100 "${AS[@]}" /usr/bin/python3 "$WORK/jobs/lib_relinked.py" "$@") || fail "interrupted: $*; $(cat "$WORK/files/log")"
}
cp "$SOURCES"/lib_{relinked,checkpoint}.py "$ROOST_BIN/roost-ckpt" "$WORK/jobs/"
export ROOST_BIN=$WORK/jobs
try --every 0.2 --plain "$WORK/jobs/numbers"
try --every 0.3 "$WORK/jobs/threads" 50
[ ! -x "$WORK/jobs/sums" ] || try --every 0.2 "$WORK/jobs/sums"
passed

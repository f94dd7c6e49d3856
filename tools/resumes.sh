#!/bin/bash
# Full size, by hand: N resumes (500) of each of five programs, as an ordinary user when started by root, and N
# interruptions of each of the jobs of the tests; addresses are random as ever.  Some 20 minutes on an idle machine.
#
#   tools/resumes.sh BUILD_DIR [N [NAME...]]       all, or those of that name
#
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
bin=$(cd "$1/bin" && pwd)
count=${2:-500}
only=" ${*:3} "
work=$(mktemp -d /tmp/roost-resumes-XXXXXX)
trap 'rm -rf "$work"' EXIT
[ "$(cat /proc/sys/kernel/randomize_va_space)" = 2 ] || echo "addresses are not random here: /proc/sys/kernel/randomize_va_space"
chmod 0755 "$work"
mkdir "$work/bin" "$work/files"
chmod 0777 "$work/files"
cp "$bin/roost-ckpt" "$top/tests/integration/lib_checkpoint.py" "$work/bin/"
for source in "$top"/tests/integration/jobs/*.c; do
    name=$(basename "$source" .c)
    cc -O2 -D_GNU_SOURCE -pthread -o "$work/bin/$name" "$source" -lm
    cc -O2 -D_GNU_SOURCE -pthread -static -o "$work/bin/$name.static" "$source" -lm
done
HOME=$work GOCACHE=$work/go go build -o "$work/bin/work.go" "$top/tests/integration/jobs/work.go"
grep -qw avx /proc/cpuinfo && cc -O2 -mavx -D_GNU_SOURCE -o "$work/bin/numbers.avx" "$top/tests/integration/jobs/numbers.c"
cat >"$work/bin/python" <<'PROGRAM'
#!/usr/bin/python3
import hashlib, time
sum = hashlib.sha256()
for i in range(60):
    sum.update(repr({j: j * i for j in range(2000)}).encode())
    time.sleep(0.005)
print(sum.hexdigest())
PROGRAM
chmod 0755 "$work"/bin/*
AS=()
[ "$(id -u)" != 0 ] || AS=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs)

try() { # NAME PROGRAM...
    local name=$1
    shift
    [ -x "$1" ] || return 0
    [ "$only" = "  " ] || [[ $only == *" $name "* ]] || return 0
    (cd "$work/files" && ROOST_BIN="$work/bin" TMPDIR="$work/files" "${AS[@]}" /usr/bin/python3 "$work/bin/lib_checkpoint.py" --every 0.2 \
        --images "$count" --seed "${RANDOM}" -- "$@") && return 0
    echo "$name: FAILED"
    exit 1
}
try static "$work/bin/numbers.static"
try dynamic "$work/bin/numbers"
try threaded "$work/bin/threads" 50
try go "$work/bin/work.go"
try python "$work/bin/python"
try avx "$work/bin/numbers.avx"
try files "$work/bin/files" .
try mutexes "$work/bin/threads.static" 200
try asleep "$work/bin/sleeps"
try blocked "$work/bin/waits"
try mappings "$work/bin/mappings" .
try openings "$work/bin/openings" .
try family "$work/bin/family" .
try events "$work/bin/events" .
try sessions "$work/bin/sessions"

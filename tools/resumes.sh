#!/bin/bash
# tools/resumes.sh [-n IMAGES] BUILD_DIR [NAME...]: what is interrupted ends as if it had not been.
#
# IMAGES resumes (500) of each of the programs below, or of those named, as an ordinary user when started by root; addresses
# are random as ever.  Some 20 minutes on an idle machine.
#
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
IMAGES=500
take_options "n=IMAGES" 1 99 "$@"
bin=$(cd "${OPERANDS[0]}/bin" && pwd)
wanted=" ${OPERANDS[*]:1} "
work=$(mktemp -d /tmp/roost-resumes-XXXXXX)
trap 'rm -rf "$work"' EXIT
[ "$(cat /proc/sys/kernel/randomize_va_space)" = 2 ] || echo "resumes: addresses are not random on this machine; /proc/sys/kernel/randomize_va_space should be 2"
chmod 0755 "$work"
mkdir "$work/bin" "$work/files"
chmod 0777 "$work/files"
cp "$bin/roost-ckpt" "$ROOST_SRC/tests/integration/lib_checkpoint.py" "$work/bin/"
for source in "$ROOST_SRC"/tests/integration/jobs/*.c; do
    name=$(basename "$source" .c)
    cc -O2 -D_GNU_SOURCE -pthread -o "$work/bin/$name" "$source" -lm
    cc -O2 -D_GNU_SOURCE -pthread -static -o "$work/bin/$name.static" "$source" -lm
done
HOME=$work GOCACHE=$work/go go build -o "$work/bin/work.go" "$ROOST_SRC/tests/integration/jobs/work.go"
grep -qw avx /proc/cpuinfo && cc -O2 -mavx -D_GNU_SOURCE -o "$work/bin/numbers.avx" "$ROOST_SRC/tests/integration/jobs/numbers.c"
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

tried=
try() { # NAME PROGRAM...
    local name=$1
    shift
    [[ $wanted == "  " || $wanted == *" $name "* ]] || return 0
    [ -x "$1" ] || { echo "$name: skipped, because this machine cannot build it"; return 0; }
    tried=1
    (cd "$work/files" && ROOST_BIN="$work/bin" TMPDIR="$work/files" "${AS[@]}" /usr/bin/python3 "$work/bin/lib_checkpoint.py" --every 0.2 \
        --images "$IMAGES" --seed "${RANDOM}" -- "$@") && return 0
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
[ -n "$tried" ] || { echo "resumes: no program was run; no known name in:$wanted"; exit 1; }

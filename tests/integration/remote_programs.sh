#!/bin/bash
# Programs as they come, with all of / at another machine, as an ordinary user: interrupted at random moments, their files
# moved to another directory, served by another server, and their images run in another mount.  What they say is what they
# say here, without any of it.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
[ -x "$ROOST_BIN/roost-ckpt" ] || { echo "skipped: roost-ckpt is made for x86-64 only"; exit 77; }
[ -x "$ROOST_BIN/roost-rsys-mount" ] || { echo "skipped: there is no roost-rsys-mount"; exit 77; }
for program in sqlite3 perl awk gzip gcc; do
    command -v "$program" >/dev/null || { echo "skipped: $program is not installed (tools/deps.sh test)"; exit 77; }
done
AS=()
[ "$(id -u)" != 0 ] || AS=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs)
"${AS[@]}" unshare --user --mount true 2>/dev/null || { echo "skipped: user namespaces are forbidden here"; exit 77; }
[ -w /dev/fuse ] || { echo "skipped: there is no /dev/fuse"; exit 77; }

mkdir "$WORK/bin" "$WORK/jobs"
mkdir -m 0777 "$WORK/here" "$WORK/there"
cp "$ROOST_BIN"/roost-{ckpt,rsys-serve,rsys-mount} "$ROOST_SRC"/tests/integration/{lib_checkpoint.py,lib_moving_mount.sh} "$WORK/bin/"
echo "let me in" >"$WORK/ticket"
for i in $(seq 150); do
    echo "int f$i(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * $i % 7; return s; }"
done >"$WORK/jobs/many.c"
seq 300000 >"$WORK/jobs/numbers"
chmod 0644 "$WORK"/jobs/*

try() { # OPTIONS -- PROGRAM...
    rm -rf "${WORK:?}"/there/* "${WORK:?}"/here/*
    "${AS[@]}" mkdir "$WORK/there/files.0"
    (cd "$WORK/here" && ROOST_BIN="$WORK/bin" TMPDIR="$WORK/here" MOVING=$WORK/there TICKET=$WORK/ticket timeout 200 "${AS[@]}" \
        /usr/bin/python3 "$WORK/bin/lib_checkpoint.py" --images 2 --through "/bin/bash $WORK/bin/lib_moving_mount.sh" "$@" 2>&1) || fail "interrupted: $*"
}
say "python3"
# What is written behind the back of who is killed with its machine is at the server all the same.
try --every 0.4 --die -- /usr/bin/python3 -c 'import hashlib, os, time
with open("log", "w") as log:
    for i in range(40):
        log.write(f"{i} {sum(j * i for j in range(3000))} " + "x" * 3000 + "\n")
        log.flush()
        time.sleep(0.01)
print(hashlib.sha256(open("log", "rb").read()).hexdigest(), os.path.getsize("log"))
os.unlink("log")'
# The same of what is written by memory, to a file that is not open any more, while the job goes on for some time.
try --every 0.6 --leave --die -- /usr/bin/python3 -c 'import hashlib, mmap, os, time
with open("pages", "wb") as pages:
    pages.truncate(1 << 20)
fd = os.open("pages", os.O_RDWR)
memory = mmap.mmap(fd, 1 << 20)
os.close(fd)
for i in range(256):
    memory[i * 4096 : i * 4096 + 5] = b"%5d" % i
    time.sleep(0.003)
memory.close()
print(hashlib.sha256(open("pages", "rb").read()).hexdigest(), os.path.getsize("pages"))
os.unlink("pages")'
say "perl"
# shellcheck disable=SC2016
try --every 0.4 -- perl -e 'my %h; $h{$_ % 1000} += $_ * 3 for 1..600000; my $s = 0; $s += $h{$_} * $_ for keys %h; print "$s\n";
open F, ">>", "lines"; for (1..20) { syswrite F, "$_\n"; select undef, undef, undef, 0.02 } close F; print `cat lines`; unlink "lines"'
say "gcc"
try --every 0.6 -- /bin/sh -c "gcc -pipe -O2 -c -o many.o $WORK/jobs/many.c && sha256sum many.o && rm many.o"
say "bash, gzip, awk"
try --every 0.3 -- /bin/bash -c "gzip -9 -c <$WORK/jobs/numbers | tee n.gz | sha256sum; gunzip -c n.gz | awk '{s += \$1 % 13} END {print s}'; rm n.gz
    declare -A seen; for ((i = 0; i < 20000; i++)); do seen[\$((i * i % 1009))]=\$i; done; echo \"\${!seen[*]} \${seen[*]}\" | sha256sum"
say "sqlite3"
# In the middle of a transaction, with its journal and locks.
try --every 0.3 -- /bin/sh -c 'sqlite3 db "create table t(a); with recursive c(x) as (select 1 union all select x + 1 from c where x < 500000) insert into t select x from c;
    select count(*), sum(a) from t; pragma integrity_check"; rm db'
passed

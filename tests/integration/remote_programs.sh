#!/bin/bash
# Programs as they come, with all of / at another machine, as an ordinary user: interrupted in the middle, their files
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
for i in $(seq 250); do
    echo "int f$i(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * $i % 7; return s; }"
done >"$WORK/jobs/many.c"
seq 1000000 >"$WORK/jobs/numbers"
cat >"$WORK/jobs/script.sh" <<'END'
declare -A seen
for ((i = 0; i < 120000; i++)); do
    seen[$((i * i % 1009))]=$i
    ((i % 20000)) || echo "$i" >>lines
done
echo "${!seen[*]} ${seen[*]}" | sha256sum
cat lines
rm lines
END
chmod 0644 "$WORK"/jobs/*

# OPTIONS -- PROGRAM...
try() {
    rm -rf "${WORK:?}"/there/* "${WORK:?}"/here/*
    "${AS[@]}" mkdir "$WORK/there/files.0"
    (cd "$WORK/here" && ROOST_BIN="$WORK/bin" TMPDIR="$WORK/here" MOVING=$WORK/there TICKET=$WORK/ticket timeout 200 "${AS[@]}" \
        /usr/bin/python3 "$WORK/bin/lib_checkpoint.py" --through "/bin/bash $WORK/bin/lib_moving_mount.sh" "$@" 2>&1) || fail "interrupted: $*"
}
say "python3"
# What is written behind the back of who is killed with its machine is at the server all the same.
try --images 2 --every 0.4 --die -- /usr/bin/python3 -c 'import hashlib, os, time
with open("log", "w") as log:
    for i in range(40):
        log.write(f"{i} {sum(j * i for j in range(3000))} " + "x" * 3000 + "\n")
        log.flush()
        time.sleep(0.01)
print(hashlib.sha256(open("log", "rb").read()).hexdigest(), os.path.getsize("log"))
os.unlink("log")'
# The same of what is written by memory, to a file that is not open any more, while the job goes on for some time.
# It does not remove it: an image from before that could not be resumed.
try --images 2 --every 0.6 --leave --die -- /usr/bin/python3 -c 'import hashlib, mmap, os, time
with open("pages", "wb") as pages:
    pages.truncate(1 << 20)
fd = os.open("pages", os.O_RDWR)
memory = mmap.mmap(fd, 1 << 20)
os.close(fd)
for i in range(256):
    memory[i * 4096 : i * 4096 + 5] = b"%5d" % i
    time.sleep(0.003)
memory.close()
print(hashlib.sha256(open("pages", "rb").read()).hexdigest(), os.path.getsize("pages"))'
say "locks of three kinds, of two processes"
try --images 2 --every 0.4 --die -- /usr/bin/python3 -c 'import errno, fcntl, os, struct, time
FAR = 1 << 30
ranges, own, whole = (open(name, "w+b") for name in ("ranges", "own", "whole"))
def range_lock(kind, start, bytes, command):
    return struct.unpack("hhqqi4x", fcntl.fcntl(own if command == 37 else ranges, command, struct.pack("hhqqi4x", kind, 0, start, bytes, 0)))
fcntl.lockf(ranges, fcntl.LOCK_EX, 5, 10)
fcntl.lockf(ranges, fcntl.LOCK_SH, 0, FAR)
range_lock(fcntl.F_WRLCK, 7, 1, 37)  # F_OFD_SETLK
fcntl.flock(whole, fcntl.LOCK_EX)
asked, told = os.pipe(), os.pipe()
watcher = os.fork()
if watcher == 0:  # it has a lock of its own, and tries to get all others
    fcntl.lockf(ranges, fcntl.LOCK_EX, 1, 100)
    others = {name: open(name, "r+b") for name in ("ranges", "own", "whole")}
    def gets(what, *lock):
        try:
            what(others[lock[0]], lock[1] | fcntl.LOCK_NB, *lock[2:])
        except BlockingIOError:
            return "-"
        what(others[lock[0]], fcntl.LOCK_UN, *lock[2:])
        return "+"
    while os.read(asked[0], 1) == b"?":
        os.write(told[1], "".join([
            gets(fcntl.lockf, "ranges", fcntl.LOCK_SH, 1, 10), gets(fcntl.lockf, "ranges", fcntl.LOCK_SH, 1, 14),
            gets(fcntl.lockf, "ranges", fcntl.LOCK_EX, 1, 15), gets(fcntl.lockf, "ranges", fcntl.LOCK_EX, 1, FAR + 9),
            gets(fcntl.lockf, "ranges", fcntl.LOCK_SH, 1, FAR + 9), gets(fcntl.lockf, "own", fcntl.LOCK_SH, 1, 7),
            gets(fcntl.flock, "whole", fcntl.LOCK_SH)]).encode())
    os._exit(0)
seen = set()
for i in range(60):
    os.write(asked[1], b"?")
    seen.add((os.read(told[0], 7), range_lock(fcntl.F_WRLCK, 100, 1, fcntl.F_GETLK)[4] == watcher))
    time.sleep(0.02)
print(seen)
os.write(asked[1], b".")
os.waitpid(watcher, 0)
for name in ("ranges", "own", "whole"):
    os.unlink(name)'
# Each of the others in the middle of its work, twice: an image of the resumed one is made, too.
say "python3, in the middle"
try --middle python3 -- /usr/bin/python3 -c 'import json, sqlite3, zlib
total, text = 0, b""
with open("records", "w") as records:
    for i in range(240000):
        total = zlib.crc32(json.dumps({"a": i, "b": [i * i, str(i)]}).encode(), total)
        if i % 5000 == 0:
            records.write(f"{i} {total}\n")
print(total, zlib.crc32(open("records", "rb").read()), sqlite3.sqlite_version)
__import__("os").unlink("records")'
say "perl"
# shellcheck disable=SC2016
try --middle perl -- perl -e 'my %h; open F, ">>", "lines";
for (1..4000000) { $h{$_ % 1000} += $_ * 3; syswrite F, "$_ $h{7}\n" if $_ % 100000 == 0 }
my $s = 0; $s += $h{$_} * $_ for keys %h; print "$s\n"; close F; print `cat lines`; unlink "lines"'
say "gzip"
try --middle gzip -- /bin/sh -c "gzip -9 -c $WORK/jobs/numbers >n.gz && sha256sum n.gz && rm n.gz"
say "awk"
try --middle awk -- /bin/sh -c "awk '{ s += \$1 % 13; c[\$1 % 1013] += s } END { for (i = 0; i < 1013; i++) print i, c[i] }' $WORK/jobs/numbers $WORK/jobs/numbers >sums; sha256sum sums && rm sums"
say "bash"
try --middle bash -- /bin/bash "$WORK/jobs/script.sh"
say "gcc"
try --middle cc1 -- /bin/sh -c "gcc -pipe -O2 -c -o many.o $WORK/jobs/many.c && sha256sum many.o && rm many.o"
say "sqlite3"
# In the middle of a transaction, with its journal and locks.
try --middle sqlite3 -- /bin/sh -c 'sqlite3 db "create table t(a); with recursive c(x) as (select 1 union all select x + 1 from c where x < 1200000) insert into t select x from c;
    select count(*), sum(a) from t; pragma integrity_check"; rm db'
passed

#!/bin/bash
# Programs as they come, in many languages and of several processes, interrupted at random moments as an ordinary user.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
[ -x "$ROOST_BIN/roost-ckpt" ] || { echo "skipped: roost-ckpt is made for x86-64 only"; exit 77; }
for program in go musl-gcc sqlite3 perl awk gzip; do
    command -v "$program" >/dev/null || { echo "skipped: $program is not installed (tools/deps.sh test)"; exit 77; }
done

mkdir "$WORK/jobs" "$WORK/files" "$WORK/bin"
chmod 0777 "$WORK/files"
cp "$ROOST_BIN/roost-ckpt" "$ROOST_SRC"/tests/integration/{lib_checkpoint.py,jobs/{tasks,many}.py,jobs/control.sh} "$WORK/bin/"
HOME=$WORK GOCACHE=${GOCACHE:-$WORK/go} go build -o "$WORK/jobs/work.go" "$ROOST_SRC/tests/integration/jobs/work.go" || fail "work.go"
for name in waits threads; do
    musl-gcc -O2 -D_GNU_SOURCE -pthread -o "$WORK/jobs/$name.musl" "$ROOST_SRC/tests/integration/jobs/$name.c" || fail "$name.musl"
done
for i in $(seq 600); do
    echo "int f$i(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * $i % 7; return s; }"
done >"$WORK/jobs/many.c"
seq 600000 >"$WORK/jobs/numbers"
chmod 0644 "$WORK"/jobs/{many.c,numbers}

AS=()
[ "$(id -u)" != 0 ] || AS=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs)
try() { # OPTIONS -- PROGRAM...
    (cd "$WORK/files" && ROOST_BIN="$WORK/bin" TMPDIR="$WORK/files" timeout 200 "${AS[@]}" /usr/bin/python3 "$WORK/bin/lib_checkpoint.py" "$@") ||
        fail "interrupted: $*"
    rm -rf "${WORK:?}"/files/*
}
try --every 0.4 --rounds 2 -- "$WORK/jobs/work.go"
try --every 0.4 --rounds 1 --leave -- "$WORK/jobs/work.go"
try --every 0.2 --rounds 1 -- "$WORK/jobs/waits.musl"
try --every 0.3 --rounds 1 -- "$WORK/jobs/threads.musl" 20
try --every 0.3 --rounds 1 -- perl -e 'my %h; $h{$_ % 1000} += $_ * 3 for 1..1500000; my $s = 0; $s += $h{$_} * $_ for keys %h; print "$s\n"; sleep 1'
# A compiler and its children: the assembler gets what it makes through a pipe.
try --every 0.4 --rounds 1 -- gcc -pipe -O2 -c -o many.o "$WORK/jobs/many.c"
try --every 0.2 --rounds 1 -- /bin/bash -c "gzip -9 -c <$WORK/jobs/numbers | tee n.gz | sha256sum; gunzip -c n.gz | awk '{s += \$1 % 13} END {print s}'"
# Event loops.
try --every 0.2 --rounds 1 -- /usr/bin/python3 "$WORK/bin/tasks.py"
if command -v node >/dev/null; then
    try --every 0.2 --rounds 1 -- node -e 'const {spawn} = require("child_process"), hash = require("crypto").createHash("sha256")
const program = spawn("sed", ["-u", "s/1/11/"]); let steps = 0
program.stdout.on("data", (text) => { hash.update(text); steps++ < 40 ? setTimeout(() => program.stdin.write(steps + "\n"), 4) : program.stdin.end() })
program.on("close", (code) => console.log(code, hash.digest("hex"))); program.stdin.write("0\n")'
fi
try --every 0.3 --rounds 1 -- /usr/bin/python3 "$WORK/bin/many.py"
try --every 0.2 --rounds 1 -- /bin/bash "$WORK/bin/control.sh"
# Below a terminal of their own, that only they have.
try --every 0.2 --rounds 1 -- script -qec 'for i in 1 2 3 4; do sleep 0.1; echo $i; stty size; done; tty | tr -d 0-9 >&2; tty -s && exit 4' /dev/null
# A runtime that collects, compiles and has many threads.
if command -v ruby >/dev/null; then
    try --every 0.2 --rounds 1 -- ruby -e 'q = Queue.new; threads = 4.times.map { |k| Thread.new { 40.times { sleep 0.005; q << k * 3 } } }
r, w = IO.pipe; child = fork { r.close; 40.times { |i| w.puts i; sleep 0.005 }; exit! 3 }; w.close
sum = r.each_line.sum(&:to_i); Process.wait child; threads.each(&:join); puts sum, $?.exitstatus, q.size.times.sum { q.pop }'
fi
if command -v javac >/dev/null; then
    cat >"$WORK/jobs/Sums.java" <<'END'
import java.util.*;
import java.util.concurrent.*;

public class Sums {
    static long sum(int k) throws Exception {
        Map<Integer, String> map = new HashMap<>();
        long sum = 0;
        for (int j = 0; j < 40000; j++) {
            map.put(j % 5000, "x" + j * k);
            sum += map.get(j % 5000).hashCode();
        }
        Thread.sleep(20);
        return sum;
    }

    public static void main(String[] words) throws Exception {
        ExecutorService workers = Executors.newFixedThreadPool(4);
        List<Future<Long>> sums = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            final int k = i;
            sums.add(workers.submit(() -> sum(k)));
        }
        long total = 0;
        for (Future<Long> sum : sums) {
            total += sum.get();
        }
        workers.shutdown();
        System.out.println(total);
    }
}
END
    javac -d "$WORK/jobs" "$WORK/jobs/Sums.java" || fail "Sums.java"
    chmod 0644 "$WORK"/jobs/*.class
    try --every 0.5 --rounds 1 -- java -Xmx256m -cp "$WORK/jobs" Sums
fi
# In the middle of a transaction, with its journal and locks.
try --every 0.3 --rounds 1 -- /bin/sh -c 'rm -f db; sqlite3 db "create table t(a); with recursive c(x) as (select 1 union all select x + 1 from c where x < 400000) insert into t select x from c; select count(*), sum(a) from t; pragma integrity_check"'
passed

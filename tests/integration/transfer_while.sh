#!/bin/bash
# Files that travel while a job runs, or when it has to go: streams that the owner reads at once, each byte once though
# shadow and schedd are killed in between; what an evicted job has made is there for its next run; large files through a
# killed shadow.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --cpus-per-node 2
echo 'WANT_VACATE = "true"' >>"$POOL/nodes/wn01/roost.conf"
pool_start
chmod 0777 "$OUT" # jobs may run as somebody else
status_is() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null)" = "$2" ]; }
# kill_all NAME: so that each of them is another process afterwards.
kill_all() {
    local pid
    for pid in $(pids_of "$1"); do
        kill -9 "$pid" || fail "kill $1"
    done
}

say "streams"
cat >"$WORK/stream.sh" <<END
#!/bin/sh
cat
echo first
echo oops >&2
until [ -e $OUT/gate.1 ]; do sleep 0.05; done
head -c 3000000 /dev/zero | tr '\0' x
echo
echo second
until [ -e $OUT/gate.2 ]; do sleep 0.05; done
echo third
END
chmod 0755 "$WORK/stream.sh"
echo typed >"$OUT/stream.in"
cat >"$WORK/stream.sub" <<END
executable = $WORK/stream.sh
initialdir = $OUT
input = stream.in
output = stream.out
error = stream.err
stream_input = true
stream_output = true
stream_error = true
should_transfer_files = YES
queue
END
echo "of an older run, and much longer than what comes now" >"$OUT/stream.err"
cluster=$(submit "$WORK/stream.sub") || exit 1
has() { [ "$(tail -n 1 "$OUT/$1" 2>/dev/null)" = "$2" ]; }
until_true 30 "its first line is there while it runs" has stream.out first
until_true 10 "its errors are, too" has stream.err oops
kill_all shadow
touch "$OUT/gate.1"
until_true 30 "it goes on after the shadow was killed" has stream.out second
kill_all schedd
touch "$OUT/gate.2"
until_true 40 "the job is done" is_done "$cluster" 1
check_committed "$cluster" 1
{
    printf 'typed\nfirst\n'
    head -c 3000000 /dev/zero | tr '\0' x
    printf '\nsecond\nthird\n'
} >"$WORK/expected"
cmp "$WORK/expected" "$OUT/stream.out" || fail "not each byte once"
equals "errors" "$(cat "$OUT/stream.err")" oops
equals "runs" "$("$ROOST" history "$cluster" -af NumJobStarts)" 1

say "what an evicted job has made is there for its next run"
cat >"$WORK/evict.sh" <<END
#!/bin/sh
n=\$(cat count 2>/dev/null || echo 0)
echo \$((n + 1)) >count
cat given
echo changed \$n >>given
mkdir -p dir/sub
echo run \$n >>dir/sub/all
touch $OUT/evict.\$n
[ "\$n" -gt 0 ] || exec sleep 600
END
chmod 0755 "$WORK/evict.sh"
echo given >"$OUT/given"
cat >"$WORK/evict.sub" <<END
executable = $WORK/evict.sh
initialdir = $OUT
output = evict.out
transfer_input_files = given
transfer_output_files = count, dir, given
transfer_output_remaps = "given = $OUT/given.new"
when_to_transfer_output = ON_EXIT_OR_EVICT
should_transfer_files = YES
queue
END
cluster=$(submit "$WORK/evict.sub") || exit 1
until_true 30 "the first run has begun" test -e "$OUT/evict.0"
until_true 10 "that is known" status_is "$cluster" 2
"$ROOST" config set --node wn01 PREEMPT=true START=false >/dev/null || fail "config set"
until_true 30 "it had to go" status_is "$cluster" 1
equals "what is spooled" "$(find "$POOL"/spool/owner/*/spool -name all | wc -l)" 1
[ ! -e "$OUT/count" ] || fail "output was placed before the job's end"
kill_all schedd # it is durable
kill_all shadow
"$ROOST" config unset --node wn01 PREEMPT START >/dev/null || fail "config unset"
until_true 40 "the job is done" is_done "$cluster" 1
check_committed "$cluster" 1
equals "runs that it counted" "$(cat "$OUT/count")" 2
equals "what both runs wrote" "$(tr '\n' ' ' <"$OUT/dir/sub/all")" "run 0 run 1 "
equals "what the second read" "$(tr '\n' ' ' <"$OUT/evict.out")" "given changed 0 "
equals "what became of the input" "$(tr '\n' ' ' <"$OUT/given.new")" "given changed 0 changed 1 "
spool_is_empty() { [ -z "$(find "$POOL"/spool/owner/*/spool -type f)" ]; }
until_true 10 "nothing is left in the spool" spool_is_empty

say "nor is it lost when its owner vacates or holds the job; fast, or removed, it is"
sed -i 's/-gt 0/-gt 1/' "$WORK/evict.sh"
rm -rf "$OUT"/evict.* "$OUT/count" "$OUT/dir"
cluster=$(submit "$WORK/evict.sub") || exit 1
until_true 30 "the first run has begun" test -e "$OUT/evict.0"
until_true 10 "that is known" status_is "$cluster" 2
rm "$OUT/evict.0"
"$ROOST" vacate -fast "$cluster" >/dev/null || fail "vacate -fast"
until_true 30 "it begins anew" test -e "$OUT/evict.0"
until_true 10 "that is known" status_is "$cluster" 2
"$ROOST" vacate "$cluster" >/dev/null || fail "vacate"
until_true 30 "its next run goes on" test -e "$OUT/evict.1"
until_true 10 "that is known" status_is "$cluster" 2
"$ROOST" hold "$cluster" >/dev/null || fail "hold"
until_true 10 "it is held" status_is "$cluster" 5
both_runs() { [ "$(cat "$POOL"/spool/owner/*/spool/*/dir/sub/all 2>/dev/null | tr '\n' ' ')" = "run 0 run 1 " ]; }
until_true 20 "what both have made is spooled" both_runs
equals "results that it has" "$("$ROOST" q "$cluster" -af NumJobCompletions)" 0
"$ROOST" release "$cluster" >/dev/null || fail "release"
until_true 40 "the job is done" is_done "$cluster" 1
check_committed "$cluster" 1
equals "what three runs wrote" "$(tr '\n' ' ' <"$OUT/dir/sub/all")" "run 0 run 1 run 2 "
until_true 10 "nothing is left in the spool" spool_is_empty
rm -rf "$OUT"/evict.* "$OUT/count" "$OUT/dir"
cluster=$(submit "$WORK/evict.sub") || exit 1
until_true 30 "the first run has begun" test -e "$OUT/evict.0"
"$ROOST" rm "$cluster" >/dev/null || fail "rm"
is_free() { [ "$("$ROOST" status -af Activity | sort -u)" = Idle ]; }
until_true 20 "its slot is free" is_free
spool_is_empty || fail "a removed job left files in the spool"
say "large files, and the shadow killed in the middle of each way"
truncate -s 64M "$OUT/big" # no bytes on the disk, and as many on the way
cat >"$WORK/big.sub" <<END
executable = /bin/sh
transfer_executable = false
arguments = "-c 'sha256sum <big; mv big back'"
initialdir = $OUT
transfer_input_files = big
transfer_output_files = back
output = big.out
request_disk = 1GB
should_transfer_files = YES
queue
END
cluster=$(submit "$WORK/big.sub") || exit 1
# arrives DIRECTORY NAME: some of it is there, or it is over already.
arrives() { [ -n "$(find "$1" -name "$2" -size +4M 2>/dev/null)" ] || is_done "$cluster" 1; }
until_true 30 "some of it is in the sandbox" arrives "$POOL/nodes/wn01" big
kill_all shadow
until_true 40 "some of it is in the stage" arrives "$POOL/spool/owner" back
kill_all shadow
until_true 60 "the job is done" is_done "$cluster" 1
check_committed "$cluster" 1
cmp "$OUT/big" "$OUT/back" || fail "it is not what it was"
equals "what the job saw" "$(cat "$OUT/big.out")" "$(sha256sum <"$OUT/big")"
equals "runs" "$("$ROOST" history "$cluster" -af NumJobStarts)" 1
# What the connection had not taken when it was cut may have to come again, and no more.
most=$((94 * 1024 * 1024))
for way in BytesRecvd BytesSent; do
    bytes=$("$ROOST" history "$cluster" -af "$way" | cut -d. -f1)
    say "$way $bytes"
    if [ "$bytes" -lt 67108864 ] || [ "$bytes" -gt "$most" ]; then fail "$way is $bytes"; fi
done
passed

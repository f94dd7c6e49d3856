#!/bin/bash
# Files travel with jobs: trees with links, modes and odd names in both directions, under the names that the submit file
# gives them; nothing leads out of a sandbox; what is missing holds the job after the rest has come back.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --cpus-per-node 2
pool_start
chmod 0777 "$OUT" # jobs may run as somebody else
job_is() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null)" = "$2" ]; }

# run SUBMIT-FILE: submits it and waits until it is done.
run() {
    cluster=$(submit "$1") || exit 1
    until_true 30 "$1 is done" is_done "$cluster" "${2:-1}"
    check_committed "$cluster" "${2:-1}"
}

say "a tree goes there and comes back"
mkdir -p "$WORK/in/tree/sub/empty" "$WORK/in/more/deep"
cd "$WORK/in" || exit 1
echo one >tree/a
echo two >"tree/sub/b c"
printf 'three' >"$(printf 'tree/sub/\303\244\377\nx')"
: >tree/nothing
head -c 3000000 /dev/urandom >tree/large
printf '#!/bin/sh\necho ran\n' >tree/script
chmod 0750 tree/script
chmod 0400 tree/large
for_jobs tree
ln -s sub/"b c" tree/link
ln -s ../a tree/sub/up
ln -s ../outside tree/beyond # becomes the file
ln -s ../more tree/directory # is left out
echo beyond >outside
echo deep >more/deep/d
echo top >more/t
cat >"$WORK/tree.sh" <<'END'
#!/bin/sh
set -e
./tree/script
cat more.txt 2>/dev/null || true
find . -mindepth 1 ! -name '.*' ! -name '_condor_*' | sort | tr '\n' ' '
test "$(readlink tree/link)" = 'sub/b c'
test ! -L tree/beyond
cp -a tree back
ln -s /etc back/etc
ln -s /etc/passwd back/passwd
ln -s ../../../.. back/sub/out
mkdir -p res/deep
echo 1 >res/one
echo 2 >res/deep/two
END
cat >"$WORK/tree.sub" <<END
executable = $WORK/tree.sh
initialdir = $WORK/in
transfer_input_files = tree, more/
transfer_output_files = back, res/one, res/deep
transfer_output_remaps = "back=$OUT/back; one=$OUT/ONE; deep = $OUT/DEEP"
output = $OUT/tree.out
error = $OUT/tree.err
should_transfer_files = YES
queue
END
run "$WORK/tree.sub"
equals "errors" "$(cat "$OUT/tree.err")" ""
head -n 1 "$OUT/tree.out" | grep -qx ran || fail "the script in the tree did not run: $(cat "$OUT/tree.out")"
grep -q './deep ./deep/d ' "$OUT/tree.out" || fail "contents of a directory: $(cat "$OUT/tree.out")"
rm tree/directory # was left out
rm tree/beyond
cp outside tree/beyond
cd / || exit 1
diff -r --no-dereference "$WORK/in/tree" "$OUT/back" || fail "the tree is not what it was"
equals "an empty directory" "$(find "$OUT/back/sub/empty" -maxdepth 0 -type d -empty)" "$OUT/back/sub/empty"
equals "modes" "$(stat -c %a "$OUT/back/script" "$OUT/back/large" | tr '\n' ' ')" "750 400 "
equals "remapped" "$(cat "$OUT/ONE" "$OUT/DEEP/two" | tr '\n' ' ')" "1 2 "

say "relative paths are kept where that is asked for; streams that are not transferred stay"
cat >"$WORK/kept.sub" <<END
executable = /bin/sh
transfer_executable = false
arguments = "-c 'cat more/deep/d more/t; mkdir -p x/y; echo z >x/y/z; echo lost >&2'"
initialdir = $WORK/in
transfer_input_files = more/deep/d, more/t
transfer_output_files = x/y/z
preserve_relative_paths = true
output = $OUT/kept.out
error = there.err
transfer_error = false
should_transfer_files = YES
queue
END
run "$WORK/kept.sub"
equals "inputs below their paths" "$(tr '\n' ' ' <"$OUT/kept.out")" "deep top "
equals "output below its path" "$(cat "$WORK/in/x/y/z")" z
[ ! -e "$WORK/in/there.err" ] || fail "a stream that is not to be transferred came back"

say "missing output holds the job; the rest has come back"
cat >"$WORK/missing.sub" <<END
executable = /bin/sh
transfer_executable = false
arguments = "-c 'echo said; echo here >here; ln -s /etc/passwd secret; ln -s here alias'"
initialdir = $OUT
transfer_output_files = alias, nowhere, secret, here
output = missing.out
log = missing.log
should_transfer_files = YES
queue
END
cluster=$(submit "$WORK/missing.sub") || exit 1
until_true 30 "the job is held" job_is "$cluster" 5
equals "code" "$("$ROOST" q "$cluster" -af HoldReasonCode HoldReasonSubCode)" "12 2"
"$ROOST" q "$cluster" -af HoldReason |
    grep -q '^Transfer output files failure at execution point .*/nowhere: (errno 2) No such file or directory$' ||
    fail "reason: $("$ROOST" q "$cluster" -af HoldReason)"
equals "what came back" "$(cat "$OUT/missing.out" "$OUT/here" "$OUT/alias" | tr '\n' ' ')" "said here here "
[ ! -e "$OUT/secret" ] || fail "a link led out of the sandbox"
grep -q '^012 ' "$OUT/missing.log" || fail "no event of the hold"
"$ROOST" rm "$cluster" >/dev/null || fail "roost rm"

say "on success only"
cat >"$WORK/success.sub" <<END
executable = /bin/sh
transfer_executable = false
arguments = "-c 'echo it >made.\$(Process); echo end; exit \$(Process)'"
initialdir = $OUT
output = success.\$(Process)
when_to_transfer_output = ON_SUCCESS
should_transfer_files = YES
queue 2
END
cluster=$(submit "$WORK/success.sub") || exit 1
until_true 30 "both are done" is_done "$cluster" 2
equals "streams" "$(cat "$OUT/success.0" "$OUT/success.1" | tr '\n' ' ')" "end end "
equals "files" "$(cd "$OUT" && echo made.*)" made.0

say "too much holds the job"
cat >"$WORK/much.sub" <<END
executable = /bin/sh
transfer_executable = false
arguments = "-c 'head -c 2000000 /dev/zero >big'"
initialdir = $OUT
transfer_output_files = big
max_transfer_output_mb = 1
should_transfer_files = YES
queue
transfer_input_files = $WORK/in/tree
max_transfer_input_mb = 2
queue
END
cluster=$(submit "$WORK/much.sub") || exit 1
both_held() { [ "$("$ROOST" q "$cluster" -constraint "JobStatus == 5" -af HoldReasonCode | sort | tr '\n' ' ')" = "32 33 " ]; }
until_true 30 "both are held" both_held

say "a great many files"
"$ROOST" rm -all >/dev/null || fail "roost rm -all"
mkdir "$WORK/many"
(cd "$WORK/many" && seq 2000 | split -l 1 -a 4 -)
cat >"$WORK/many.sub" <<END
executable = /bin/sh
transfer_executable = false
arguments = "-c 'mv many came; ls came | wc -l'"
initialdir = $WORK
transfer_input_files = many
transfer_output_files = came
transfer_output_remaps = "came = $OUT/came"
output = $OUT/many.out
should_transfer_files = YES
queue
END
began=$(date +%s%N)
run "$WORK/many.sub"
say "in and out in $((($(date +%s%N) - began) / 1000000)) ms"
equals "files there" "$(cat "$OUT/many.out")" 2000
diff -r "$WORK/many" "$OUT/came" || fail "they are not what they were"
passed

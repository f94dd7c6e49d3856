#!/bin/bash
# Where no job can have a file system (/dev/fuse is not to be had) jobs of the standard universe whose programs were linked with
# `roost-compile --remote` run all the same: program, directory and standard files are the submit machine's. Others do not come.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
[ -x "$ROOST_BIN/roost-compile" ] || { echo "skipped: no roost-compile in a build with sanitizers"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "skipped: only root can take /dev/fuse away"; exit 77; }

pool_init --nodes 1 --cpus-per-node 2
# The daemons' own view of the machine.
# shellcheck disable=SC2016
unshare -m sh -c 'mount --bind /dev/null /dev/fuse && exec "$0" start' "$ROOST" >"$WORK/start.out" 2>&1 || fail "roost start: $(cat "$WORK/start.out")"
HOME_DIR=$WORK/home
mkdir "$HOME_DIR"
cat >"$HOME_DIR/job.c" <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char line[4200] = "";
    long sum = 0;
    FILE *in = fopen(argv[1], "r"), *out = fopen("result", "w");
    if (argc != 2 || in == NULL || out == NULL || lockf(fileno(out), F_TLOCK, 0) != 0) {
        perror("job");
        return 1;
    }
    while (fgets(line, sizeof line, in) != NULL) {
        sum += strtol(line, NULL, 10);
    }
    fprintf(out, "%ld\n", sum);
    if (fgets(line, sizeof line, stdin) == NULL || fclose(out) != 0) {
        return 2;
    }
    printf("%s, %s", getenv("GREETING"), line);
    return getcwd(line, sizeof line) == NULL || printf("%s\n", line) < 0 ? 3 : 7;
}
C
seq 1000 >"$HOME_DIR/numbers"
echo typed >"$HOME_DIR/in"
cc -O2 -o "$HOME_DIR/plain" "$HOME_DIR/job.c" || fail "compiling"
for how in -static -pie; do
    "$ROOST_BIN/roost-compile" --remote cc -O2 "$how" -o "$HOME_DIR/linked$how" "$HOME_DIR/job.c" || fail "linking with $how"
done

slot='Name != "" && HasRemoteWrappers && HasRemoteSyscalls =!= true'
# shellcheck disable=SC2016
until_true 30 "the machine has no file systems for jobs" sh -c '[ "$("$0" status -constraint "$1" -af Name | wc -l)" -gt 0 ]' "$ROOST" "$slot"
submit() { # PROGRAM
    cat >"$WORK/$1.sub" <<END
universe = standard
initialdir = $HOME_DIR
executable = $HOME_DIR/$1
arguments = numbers
environment = "GREETING=hello"
input = in
output = out.$1
error = err.$1
log = $WORK/log.$1
queue
END
    "$ROOST" submit "$WORK/$1.sub" >"$WORK/submit.out" || fail "submitting $1"
    until_true 60 "the log of $1 is there" test -s "$WORK/log.$1" # else `roost wait` takes it for a user
}
submit plain
for how in -static -pie; do
    submit "linked$how"
    until_true 30 "a log" test -s "$WORK/log.linked$how"
    timeout 60 "$ROOST" wait "$WORK/log.linked$how" || fail "linked$how does not end"
    equals "what linked$how said" "$(cat "$HOME_DIR/out.linked$how")" "hello, typed
$HOME_DIR"
    equals "its result" "$(cat "$HOME_DIR/result")" 500500
    grep -q 'return value 7' "$WORK/log.linked$how" || fail "its exit status: $(cat "$WORK/log.linked$how")"
    rm "$HOME_DIR/result"
done
equals "a job whose program was not linked so" "$("$ROOST" q -af JobStatus)" 1
pool_stop
passed

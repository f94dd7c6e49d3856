#!/bin/bash
# Jobs from afar: `roost submit -remote` sends the input along, `roost transfer-data` brings the output back. What is cut is
# taken up again, whatever was killed; what one has spooled is nobody else's.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --idle 80000
echo 'SPOOL_QUOTA_PER_OWNER = "1 MiB"' >>"$ROOST_CONFIG"
pool_start

# Root's pool has jobs of anybody's; another's has only his own.
owner=$(id -un)
[ "$(id -u)" -ne 0 ] || owner=nobody
"$ROOST" token create --identity "$owner@personal" --file "$WORK/token.owner" || fail "token create"
here=$WORK/submitter
mkdir -p "$here/data" "$here/tree/sub"
cd "$here" || fail "cd"
remote() { ROOST_TOKEN_FILE=$WORK/token.owner timeout 60 "$ROOST" "$@"; }
queue() { remote q -name personal "$@"; }
sandbox=$POOL/spool/owner/$owner/sandbox

printf 'alpha\n' >data/a.txt
printf 'beta\n' >tree/b
printf 'gamma\n' >tree/sub/c
printf 'typed\n' >stdin.txt
head -c 3000000 /dev/urandom >large
cat >prog.sh <<'JOB'
#!/bin/sh
cat
cat a.txt tree/b tree/sub/c
cksum <large
echo wrong >&2
mkdir made
echo deep >made/file
echo result >result
echo mapped >mapped
echo "$1"
JOB
chmod 0755 prog.sh
cat >job.sub <<'SUB'
executable = prog.sh
arguments = number $(Process)
input = stdin.txt
output = results/out.$(Process)
error = err.$(Process)
log = job.log
transfer_input_files = data/a.txt, tree, large
transfer_output_files = result, mapped, made
transfer_output_remaps = "mapped=elsewhere.$(Process);result=result.$(Process);made=made.$(Process)"
should_transfer_files = YES
queue 2
SUB

say "no room: one clear error, and nothing runs"
status=0
remote submit -remote personal job.sub >"$WORK/submit.out" 2>"$WORK/submit.err" || status=$?
equals "exit status without room" "$status" 1
equals "lines of the error" "$(wc -l <"$WORK/submit.err")" 1
grep -q "the input of cluster 1 was not spooled: .*/large: spooled files of $owner would take more than 1048576 bytes (SPOOL_QUOTA_PER_OWNER)" \
    "$WORK/submit.err" || fail "the error is: $(cat "$WORK/submit.err")"
held() { [ "$(queue 1 -af JobStatus HoldReasonCode HoldReason 2>/dev/null | sort -u)" = "5 16 Spooling input data files" ]; }
held || fail "the jobs are: $(queue 1 -af JobStatus HoldReasonCode HoldReason)"
remote release -name personal 1 >/dev/null 2>&1
held || fail "they were released without their input"
[ -s "$(echo "$sandbox"/1/part/*/large)" ] || fail "nothing of the large file is there"
if [ "$(id -u)" -eq 0 ]; then
    equals "owner and mode of the sandbox" "$(stat -c '%U %a' "$sandbox")" "$owner 700"
    setpriv --reuid=1 --regid=1 --clear-groups ls "$sandbox" >/dev/null 2>&1 && fail "another may look into it"
    "$ROOST" token create --identity daemon@personal --file "$WORK/token.other" || fail "token create"
    for command in "submit -resume 1" "transfer-data 1"; do
        # shellcheck disable=SC2086
        ROOST_TOKEN_FILE=$WORK/token.other "$ROOST" $command -name personal >"$WORK/other" 2>&1 && fail "another may: $command"
        grep -q "cluster 1 belongs to another user" "$WORK/other" || fail "another is told: $(cat "$WORK/other")"
    done
fi

say "room: it goes on where it was, over the deaths of schedd and shadow"
sed -i 's/SPOOL_QUOTA_PER_OWNER = .*/SPOOL_QUOTA_PER_OWNER = "1 GiB"/' "$ROOST_CONFIG"
first=$(stat -c %i "$sandbox"/1/part/*/large)
kill -9 "$(pids_of schedd)" "$(pids_of shadow)" || fail "no schedd or shadow"
until_true 30 "the jobs are still held" held
remote submit -resume 1 -name personal >"$WORK/resume.out" 2>&1 || fail "resuming: $(cat "$WORK/resume.out")"
equals "the large file, which was begun before" "$(stat -c %i "$sandbox"/1/in/*/large)" "$first"
cmp -s "$sandbox"/1/in/*/large large || fail "the large file is not what it was"
equals "copies of what both jobs share" "$(find "$sandbox/1/in" -type f | wc -l)" 6
equals "attributes of before" "$(queue 1.0 -af SUBMIT_Iwd SUBMIT_Out)" "$here results/out.0"

say "the jobs run, and wait for their output to be fetched"
completed() { [ "$(queue 1 -af JobStatus 2>/dev/null | sort | uniq -c | tr -s ' ')" = " 2 4" ]; }
remote wait -name personal 1 --timeout 60 || fail "roost wait" # they stay in the queue
completed || fail "waited for, but not completed"
kill -9 "$(pids_of shadow)" 2>/dev/null
remote transfer-data -name personal 1.0 1.1 >"$WORK/fetch.out" 2>&1 || fail "transfer-data: $(cat "$WORK/fetch.out")"
sum=$(cksum <large)
for number in 0 1; do
    equals "standard output of job $number" "$(cat "results/out.$number")" "$(printf 'typed\nalpha\nbeta\ngamma\n%s\nnumber' "$sum")"
    equals "standard error of job $number" "$(cat "err.$number")" wrong
    equals "its files" "$(cat "result.$number" "elsewhere.$number" "made.$number/file")" "$(printf 'result\nmapped\ndeep')"
done
for event in 000 012 013 001 005; do
    equals "events $event of two jobs" "$(grep -c "^$event (001\." job.log)" 2
done
equals "jobs left in the queue" "$(queue 1 -af ProcId)" ""
equals "jobs in the history" "$(remote history 1 -name personal -af JobStatus ExitCode | sort | uniq -c | tr -s ' ')" " 2 4 0"
no_sandbox() { [ ! -e "$sandbox/$1" ]; }
until_true 30 "the sandbox is gone" no_sandbox 1

say "other commands to that schedd; a removed job's files go"
remote submit -remote personal job.sub -append "hold = true" -terse >"$WORK/submit.out" || fail "submit on hold"
equals "a job submitted on hold" "$(queue 2 -af HoldReasonCode | sort -u)" 15
remote edit -name personal 2 JobPrio 7 >/dev/null || fail "edit"
equals "what was edited" "$(queue 2.0 -af JobPrio)" 7
remote why -name personal 2.0 >"$WORK/why" || fail "why"
grep -q held "$WORK/why" || fail "why says: $(cat "$WORK/why")"
[ -e "$sandbox/2" ] || fail "there is no sandbox"
remote rm -name personal 2 >/dev/null || fail "rm"
until_true 30 "its sandbox is gone" no_sandbox 2
remote transfer-data -all -name personal >"$WORK/fetch.out" || fail "transfer-data -all"
grep -q "Fetched 0 file(s) of 0 completed" "$WORK/fetch.out" || fail "it says: $(cat "$WORK/fetch.out")"
passed

#!/bin/bash
# `roost drain` and a real pool: many machines at once, each refusal with its sentence and none in the way of another
# machine, estimates that change nothing, slots, ids, what comes when all is drained, and a progress on a terminal.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

pool_init --nodes 4 --cpus-per-node 2 --idle 86400
chmod 0777 "$OUT"
for node in 01 02 03 04; do echo 'MAXJOBRETIREMENTTIME = 1000' >>"$POOL/nodes/wn$node/roost.conf"; done
pool_start
are_awake() { [ "$(awake_count)" -eq "$1" ]; }
until_true 30 "all are awake" are_awake 4

# drain STATUS ARGUMENT...: its exit status; what it says is in drain.out and drain.err.
drain() {
    local wanted=$1 status=0
    shift
    timeout 60 "$ROOST" drain "$@" >"$WORK/drain.out" 2>"$WORK/drain.err" || status=$?
    [ "$status" -eq "$wanted" ] ||
        fail "roost drain $*: $status, not $wanted: $(cat "$WORK/drain.out" "$WORK/drain.err")"
}
said() { equals "standard output" "$(cat "$WORK/drain.out")" "$1"; }
complained() { equals "standard error" "$(cat "$WORK/drain.err")" "$1"; }
shows() { "$ROOST" drain status -af Machine DrainingState DrainingJobs 2>/dev/null | tr '\n' ';'; }
shows_this() { [ "$(shows)" = "$1" ]; }
id_of() { "$ROOST" drain status "$1" -af DrainingRequestId; }

# Four jobs, two machines full, and one asleep.
gated_jobs 4 end >"$WORK/job.sub"
echo 'requirements = TARGET.Machine == "wn01" || TARGET.Machine == "wn02"' >"$WORK/four.sub"
cat "$WORK/job.sub" >>"$WORK/four.sub"
cluster=$(submit "$WORK/four.sub") || exit 1
run_on() { "$ROOST" status -constraint 'State == "Claimed" && Activity == "Busy" || Activity == "Retiring" && State == "Claimed"' -af Machine | tr '\n' ' '; }
full() { [ "$(run_on)" = "wn01 wn01 wn02 wn02 " ]; }
until_true 30 "two machines are full" full
"$ROOST" power off 'wn[04]' >/dev/null || fail "power off wn04"
until_true 30 "wn04 is asleep" are_awake 3
equals "a folded list of machines" "$("$ROOST" power status 'wn[01-02,04]' -af Name | tr '\n' ' ')" "wn01 wn02 wn04 "

say "what would be switched, and what is told of machines"
power() { "$ROOST" power "$@" 2>&1; }
equals "what is asleep" "$(power on --dry-run wn04)" "wn04 would be woken: by method process, in at most 30 s"
equals "what is idle" "$(power off --dry-run wn03)" "wn03 would be switched off by POWER_METHOD process, until somebody switches the machine on by name"
power sleep --dry-run wn01 >"$WORK/dry" && fail "a claimed machine would sleep: $(cat "$WORK/dry")"
grep -q 'wn01 is claimed' "$WORK/dry" || fail "a claimed machine: $(cat "$WORK/dry")"
equals "by force" "$(power sleep --dry-run --force wn01)" \
    "wn01 would be put to sleep by POWER_METHOD process, until a job wants it; its 2 claims would be ended, with their jobs"
power keep wn03 --until 2h --dry-run >"$WORK/dry" && fail "a dry run of keep"
grep -q -e '--dry-run does not go with keep' "$WORK/dry" || fail "a dry run of keep: $(cat "$WORK/dry")"
power off wn03 --now --force >"$WORK/dry" && fail "two ways at once"
are_awake 3 || fail "a dry run switched something"
equals "kept off" "$(power status wn04 -af PowerKeptOff)" true
why() { "$ROOST" why "$1" 2>&1; }
tells() { why "$1" >"$WORK/why"; grep -q "$2" "$WORK/why"; }
until_true 20 "wn04 stays off, says roost why" tells wn04 'The machine stays off until somebody switches the machine on by name'
tells wn01 'its 2 slots are claimed' || fail "roost why wn01: $(cat "$WORK/why")"

say "what is no request"
drain 2
complained "roost drain: no machines named"
drain 2 wn01 --then fly
drain 2 'wn[01-'
drain 2 wn01 --check '(('
grep -q 'CheckExpr: ' "$WORK/drain.err" || fail "a bad expression: $(cat "$WORK/drain.err")"
drain 2 wn01 --gracful
grep -q 'did you mean --graceful' "$WORK/drain.err" || fail "a slip: $(cat "$WORK/drain.err")"

say "estimates change nothing"
drain 1 --estimate 'wn[01-05]' --json
python3 - "$WORK/drain.out" <<'END' || fail "estimates: $(cat "$WORK/drain.out")"
import json, sys
of = {ad["Machine"]: ad for ad in json.load(open(sys.argv[1]))}
assert sorted(of) == ["wn01", "wn02", "wn03", "wn04", "wn05"], sorted(of)
G, F = "ExpectedMachineGracefulDraining", "ExpectedMachineFastDraining"
assert 900 < of["wn01"][G + "Completion"] - of["wn01"][F + "Completion"] <= 1000, of["wn01"]
assert 1800 < of["wn01"][G + "Badput"] <= 2100, of["wn01"]  # two jobs: run and retirement of each
assert of["wn03"][G + "Badput"] == 0 and of["wn03"]["ErrorCode"] == 0, of["wn03"]
assert of["wn04"]["ErrorCode"] == of["wn05"]["ErrorCode"] == 10107
assert "DrainingRequestId" not in of["wn01"]
END
equals "what drains after estimates" "$(shows)" ""
drain 1 --estimate 'none[001-300],wn03' # more than are asked at once
grep -q '^wn03 ' "$WORK/drain.out" || fail "the last of many: $(cat "$WORK/drain.out")"
complained "roost drain: none[001-300]: the pool has no such machine, or its startd is not running
roost drain: 300 of 301 machines failed"

say "who may not"
"$ROOST" token create --identity weak@personal --scope WRITE --file "$WORK/weak" || fail "token create"
status=0
ROOST_TOKEN_FILE=$WORK/weak timeout 20 "$ROOST" drain 'wn[01-02]' >"$WORK/drain.out" 2>"$WORK/drain.err" || status=$?
equals "exit status without authority" "$status" 1
grep -q 'wn\[01,02\]: .*START_DRAINING needs ADMINISTRATOR; weak@personal has WRITE' "$WORK/drain.err" ||
    fail "without authority: $(cat "$WORK/drain.err")"
equals "what drains by the weak" "$(shows)" ""

say "five machines, two of them not there"
drain 1 'wn[01-05]' --reason 'new disks' --check 'Cpus > 0'
grep -qE '^wn\[01-03\]: draining gracefully, the last job ends by .*, badput 0\+..:..:.. at most$' "$WORK/drain.out" ||
    fail "of those that drain: $(cat "$WORK/drain.out")"
complained "roost drain: wn04: the machine is asleep (offline), so no job runs there; \`roost power on\` wakes it
roost drain: wn05: the pool has no such machine, or its startd is not running
roost drain: 2 of 5 machines failed"
until_true 20 "they drain" shows_this "wn01 Draining 2;wn02 Draining 2;wn03 Drained 0;"
equals "why" "$("$ROOST" drain status wn02 -af DrainReason DrainingRequester DrainingSchedule)" \
    "new disks root@personal graceful"
drain 1 status 'wn[03-05]'
complained "roost drain: wn[04,05]: not draining"

say "ids"
drain 1 'wn[01,05]'
complained "roost drain: wn01: a request of root@personal is draining the machine already; \`roost drain status\` shows the machine
roost drain: wn05: the pool has no such machine, or its startd is not running
roost drain: 2 of 2 machines failed"
drain 1 --cancel -request-id 0123456789abcdef wn01
grep -q '^roost drain: wn01: no such drain request' "$WORK/drain.err" || fail "wrong id: $(cat "$WORK/drain.err")"
drain 1 --cancel 0123456789abcdef
complained "roost drain: no machine is draining for request '0123456789abcdef'"
equals "what drains still" "$(shows)" "wn01 Draining 2;wn02 Draining 2;wn03 Drained 0;"
drain 0 --cancel "$(id_of wn02)"
said "wn02: the drain requests have ended"
until_true 20 "only wn02 is cancelled" shows_this "wn01 Draining 2;wn03 Drained 0;"
drain 0 -cancel -request-id "$(id_of wn03)" slot1@wn03 # as condor_drain is asked
until_true 20 "wn03 is cancelled" shows_this "wn01 Draining 2;"
drain 1 --cancel 'wn[01-04]'
said "wn01: the drain requests have ended"
complained "roost drain: wn[02,03]: the machine has no drain request
roost drain: wn04: the machine has no drain request; it is asleep
roost drain: 3 of 4 machines failed"
until_true 20 "none drains" shows_this ""
equals "jobs run on where they were" "$(run_on)" "wn01 wn01 wn02 wn02 "

say "check, slots"
drain 1 'wn[01,03]' --check 'State == "Unclaimed"'
grep -q '^wn03: draining' "$WORK/drain.out" || fail "where it is true: $(cat "$WORK/drain.out")"
grep -q 'wn01: CheckExpr is not true on slot1@wn01' "$WORK/drain.err" || fail "where it is not: $(cat "$WORK/drain.err")"
drain 0 --cancel wn03
drain 1 wn03 --slots slot9
grep -q 'wn03 has no slot slot9' "$WORK/drain.err" || fail "no such slot: $(cat "$WORK/drain.err")"
drain 0 wn03 --slots slot2
of_wn03() { "$ROOST" status -constraint 'Machine == "wn03"' -af Name State | sort | tr '\n' ';'; }
one_slot() { [ "$(of_wn03)" = "slot1@wn03 Unclaimed;slot2@wn03 Drained;" ]; }
until_true 20 "one slot is drained, the other is not" one_slot
drain 0 --cancel wn03

say "fast, then the drain is over: the jobs run again"
drain 0 wn02 --fast --then resume --wait
grep -q '^wn02: request ended$' "$WORK/drain.out" || fail "--wait: $(cat "$WORK/drain.out")"
until_true 30 "two machines are full again" full
equals "jobs that began twice" "$("$ROOST" q "$cluster" -af 'NumJobStarts > 1' | grep -c true)" 2

say "what comes then"
pid=$(pids_of startd wn03)
drain 0 wn03 --then restart --wait
restarted() { [ -n "$(pids_of startd wn03)" ] && [ "$(pids_of startd wn03)" != "$pid" ] && are_awake 3; }
until_true 30 "its startd is another one" restarted
drain 0 wn03 --then exit --wait
until_true 30 "its startd ends" are_awake 2
equals "startds there" "$(pids_of startd wn03)" ""
drain 1 wn03
complained "roost drain: wn03: the pool has no such machine, or its startd is not running"
"$ROOST" start wn03 >/dev/null || fail "roost start wn03"
until_true 30 "it is there again" are_awake 3
power off wn03 --after-drain --dry-run >"$WORK/dry" || fail "an estimate: $(cat "$WORK/dry")"
are_awake 3 || fail "an estimate switched something"
power off wn03 --after-drain --reason "a new disk" >"$WORK/dry" || fail "power off --after-drain: $(cat "$WORK/dry")"
is_off() { [ "$("$ROOST" status -constraint 'Offline =?= true && Machine == "wn03"' -af 'Draining =?= true' | sort -u)" = false ]; }
until_true 30 "it is off, and its offline ads do not drain" is_off

say "on a terminal: many machines, and Ctrl-C"
pty() { python3 "$(dirname "$0")/lib_pty.py" "$ROOST" "$@" || fail "roost $* on a terminal"; }
pty drain --estimate 'none[001-500],wn01' <<'END'
want [1-9][0-9]* of 501 machines have answered
want wn01\s
want none\[001-500\]: the pool has no such machine
end 1
END
startd=$(pids_of startd wn02)
kill -STOP "$startd"
pty drain --fast 'none[001-150],wn02' <<'END'
want 150 of 151 machines have answered
type \x03
want 1 machines have not answered yet; press Ctrl-C to stop waiting
type \x03
want none.001-150.: the pool has no such machine
want interrupted: no answer of wn02 yet; their state is not known
want interrupted: 0 of 151 machines were not asked; draining machines continue to drain: `roost drain status` shows them, `roost drain --cancel` ends draining
end 130
END
kill -CONT "$startd"
pty drain wn01 --wait --reason 'for ever' <<'END'
want 0 of 1 machines are drained, 2 jobs left
type \x03
want interrupted: wn01 continue to drain; `roost drain status` shows them, `roost drain --cancel` ends draining
end 130
END
until_true 20 "what was begun goes on, what was only asked for does not" shows_this "wn01 Draining 2;"
drain 0 wn02 --slots 1 # it answers, and nothing drains it
until_true 20 "two drain" shows_this "wn01 Draining 2;wn02 Draining 1;"
drain 1 --cancel "$(id_of wn01)" 0123456789abcdef "$(id_of wn02)"
said "wn[01,02]: the drain requests have ended"
complained "roost drain: no machine is draining for request '0123456789abcdef'"
until_true 20 "none drains" shows_this ""

say "progress on a terminal"
cat >"$WORK/terminal.py" <<'END'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "drain", "wn01", "--wait"])
seen = b""
while True:
    try:
        some = os.read(fd, 4096)
    except OSError:
        some = b""
    if not some:
        break
    seen += some
    if b"0 of 1 machines are drained, 2 jobs left" in seen:
        open(sys.argv[2], "w").close()
assert b"wn01: drained" in seen and seen.count(b"\r\x1b[K") + seen.count(b"\x1b[K") > 0, seen
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
timeout 60 python3 "$WORK/terminal.py" "$ROOST" "$WORK/gate.end" || fail "on a terminal"
until_true 30 "the jobs are done" is_done "$cluster" 4
check_committed "$cluster" 4
until_true 20 "it is drained" shows_this "wn01 Drained 0;"
drain 0 --cancel wn01
pool_stop
passed

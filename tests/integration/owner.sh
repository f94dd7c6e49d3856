#!/bin/bash
# The owner of a machine comes back: keys on a real pty, a real program that needs the CPU.  The policy is that of
# etc/desktop.conf, with short times.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --cpus-per-node 1
{
    # The policy's lines, as they are there; then the times.
    sed -n '/^BackgroundLoad/,$p' "$ROOST_SRC/etc/desktop.conf"
    cat <<END
StartIdleTime = "1"
ContinueIdleTime = "9"
MaxSuspendTime = "600"
MaxVacateTime = "3"
BackgroundLoad = "1000"
HighLoad = "1000"
POLLING_INTERVAL = 1
HIBERNATE = "NONE"
STARTD_ATTRS = {OwnPty}
OwnPty = "true"
END
} >>"$POOL/nodes/wn01/roost.conf"
pool_start

slot_is() { [ "$("$ROOST" status -af State Activity 2>/dev/null)" = "$1" ]; }
status_is() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null)" = "$2" ]; }

# A pty of our own, and keys on it: `cat` reads them, which is what a shell does.
coproc PTY { exec python3 -uc '
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp("cat", ["cat"])
for line in sys.stdin:
    os.write(fd, b"mail\n")
    os.read(fd, 100)
'; }
type_a_line() { echo key >&"${PTY[1]}"; }

cat >"$WORK/job.sub" <<END
executable = /bin/sh
transfer_executable = false
arguments = "-c 'sleep 6117.$$'"
request_memory = 100
log = $OUT/log
queue 1
END
job=$(submit "$WORK/job.sub") || exit 1
until_true 30 "the job runs" status_is "$job" 2

say "the owner reads his mail"
type_a_line
until_true 30 "the slot suspends" slot_is "Claimed Suspended"
until_true 30 "q says so" status_is "$job" 7
sleeper=$(pgrep -f "^sleep 6117\\.$$\$" | head -1)
until_true 60 "the job goes on" slot_is "Claimed Busy"
until_true 30 "q says so" status_is "$job" 2
equals "suspensions" "$("$ROOST" q "$job" -af TotalSuspensions)" 1
lives() { [ -n "$sleeper" ] && kill -0 "$sleeper" 2>/dev/null; }
lives || fail "it is not the same process any more"

say "the owner stays"
sed -i 's/^MaxSuspendTime = "600"/MaxSuspendTime = "3"/' "$POOL/nodes/wn01/roost.conf"
timeout 20 "$ROOST" config reload --node wn01 >"$WORK/reload" || fail "config reload"
type_a_line
until_true 30 "the slot suspends" slot_is "Claimed Suspended"
stays() { type_a_line; [ "$("$ROOST" status -af Activity 2>/dev/null)" != Suspended ]; }
until_true 30 "the job has to go" stays
gone() { ! lives; }
until_true 20 "its process is gone" gone
says_why() { "$ROOST" q "$job" -af VacateReason 2>/dev/null | grep -q 'PREEMPT is true'; }
until_true 30 "q says why" says_why
equals "suspensions" "$("$ROOST" q "$job" -af TotalSuspensions)" 2
passed

#!/bin/bash
# A job that its machine suspends is JobStatus 7 and no longer, what that took is in its ad, and a schedd that is
# started meanwhile knows.  No image is made of it then: that would work its machine for an owner who is back.
#
# TIMEOUT: 60
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --cpus-per-node 1
cat >>"$POOL/nodes/wn01/roost.conf" <<END
POLLING_INTERVAL = 1
WANT_SUSPEND = true
SUSPEND = "TARGET.MayStop && (time() - JobStart) >= 1"
CONTINUE = "false"
END
echo "CHECKPOINT_INTERVAL_MIN = 1
CHECKPOINT_INTERVAL_MAX = 1" >>"$ROOST_CONFIG"
pool_start
has_images() { [ -x "$ROOST_BIN/roost-ckpt" ] && "$ROOST_BIN/roost-ckpt" probe >/dev/null; }
cat >"$WORK/job.sub" <<END
$(! has_images || echo "checkpoint = true")
executable = /bin/sh
transfer_executable = false
arguments = "-c '$(gate end); echo done'"
initialdir = $OUT
output = out
request_memory = 1
+MayStop = true
queue
END
chmod 0777 "$OUT" # the job may run as somebody else
job=$(submit "$WORK/job.sub") || exit 1
job_is() { [ "$("$ROOST" q "$job" -af JobStatus 2>/dev/null)" = "$1" ]; }
until_true 30 "it is suspended" job_is 7
equals "what is told then" "$("$ROOST" q "$job" -af LastJobStatus TotalSuspensions 'LastSuspensionTime > 0')" "2 1 true"
equals "as what it is counted" "$("$ROOST" status -schedd -af TotalRunningJobs)" 1
# Of what was asked for, of its owner, of all: one rule.
totals() { "$ROOST" q | sed -n 's/^Total for .*; 0 completed/0 completed/p' | sed 's/ *$//' | sort -u; }
ONE="0 completed, 0 removed, 0 idle, 0 running, 0 held, 1 suspended"
equals "each total" "$(totals)" "$ONE"
pid=$(pids_of schedd)
kill -9 "$pid"
until_true 30 "the schedd that follows knows" job_is 7
equals "each total, after a restart" "$(totals)" "$ONE"
images() { "$ROOST" q "$job" -af NumCkpts; }
is_refused() { ! "$ROOST" checkpoint "$job" >"$WORK/asked" 2>&1 && grep -qF "job $job.0 is suspended" "$WORK/asked"; }
if has_images; then
    until_true 30 "who asks for an image is told" is_refused
    before=$(images)
fi
# Stamps are whole seconds: by these it was at least 4 s.
was_long() { [ "$("$ROOST" q "$job" -af 'time() - LastSuspensionTime >= 5' 2>/dev/null)" = true ]; }
until_true 30 "it lasts" was_long
dumps() { for pid in $(traces "$POOL/nodes/wn01/"); do { tr '\0' ' ' <"/proc/$pid/cmdline"; } 2>/dev/null | grep -F "roost-ckpt dump"; done; }
if has_images; then
    equals "what makes images, seconds later" "$(dumps)" ""
    equals "images" "$(images)" "$before"
fi
sed -i 's/^SUSPEND = .*/SUSPEND = "false"/; s/^CONTINUE = .*/CONTINUE = "true"/' "$POOL/nodes/wn01/roost.conf"
kill -HUP "$(pids_of startd wn01)"
until_true 30 "it goes on" job_is 2
equals "each total, when it goes on" "$(totals)" "${ONE/0 running, 0 held, 1 suspended/1 running, 0 held, 0 suspended}"
open_gate end
until_true 30 "it is done" is_done "$job" 1
check_committed "$job" 1
equals "output" "$(cat "$OUT/out")" "done"
equals "its story" "$("$ROOST" history "$job" -af TotalSuspensions 'CumulativeSuspensionTime >= 3' \
    'CommittedSuspensionTime == CumulativeSuspensionTime' 'NumJobStarts')" "1 true true 1"
pool_stop
passed

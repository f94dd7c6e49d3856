#!/bin/bash
# Jobs are edited while they are in the queue, by those who may; $$() in a job becomes what it is on its slot.
#
# TIMEOUT: 90
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --cpus-per-node 1
{
    echo 'PERIODIC_EXPR_INTERVAL = 1'
    echo 'IMMUTABLE_JOB_ATTRS = "Project"'
    echo 'PROTECTED_JOB_ATTRS = "Blessed"'
} >>"$POOL/roost.conf"
pool_start
chmod 0777 "$OUT" # jobs may run as somebody else

q() { "$ROOST" q "$@" 2>/dev/null; }
job_is() { [ "$(q "$1" -af JobStatus)" = "$2" ]; }

say "the order of idle jobs is that of PRIO, as it is edited"
cat >"$WORK/order.sub" <<END
executable = /bin/sh
transfer_executable = false
arguments = "-c 'echo \$(Process) >>$OUT/order; until test -e $OUT/go; do sleep 0.1; done'"
initialdir = $OUT
request_memory = 1
queue 4
END
order=$(submit "$WORK/order.sub") || exit 1
until_true 30 "the first runs" job_is "$order.0" 2
equals "what edit says" "$("$ROOST" edit "$order.3" JobPrio 7)" 'Set attribute "JobPrio" for 1 matching jobs.'
equals "two at once" "$("$ROOST" edit "$order.1" "$order.2" JobPrio -1 Note '"a b"' | sort)" \
    "$(printf 'Set attribute "%s" for 2 matching jobs.\n' JobPrio Note)"
"$ROOST" edit -constraint "ClusterId == $order && ProcId == 2" JobPrio=1 >/dev/null || fail "edit -constraint"
equals "what is set" "$(q "$order.1" -af JobPrio Note)" "-1 a b"

say "who may not, and what nobody may"
refused() {
    local what=$1
    shift
    ! "$ROOST" edit "$@" >/dev/null 2>"$WORK/err" || fail "it was not refused: $*"
    grep -qF "$what" "$WORK/err" || fail "edit $*: '$(cat "$WORK/err")', not '$what'"
}
refused ClusterId "$order.1" ClusterId 5
refused JobStatus "$order.1" JobStatus 4
refused Project "$order.1" Project '"x"'
refused "'JobPrio==1' is not a valid attribute name; expected ATTR VALUE or ATTR=VALUE" "$order.1" JobPrio==1
refused "not in the queue" 99.0 JobPrio 1
refused "needs double quotes" "$order.1" Note 'a b'
refused Iwd "$order.1" Iwd '"relative"'
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then # the schedd serves every account
    as=(setpriv --reuid=daemon --regid=daemon --clear-groups)
    "$ROOST" edit "$order.1" Blessed true >/dev/null || fail "root is a queue super user"
    ! "${as[@]}" "$ROOST" edit "$order.1" JobPrio 9 2>"$WORK/err" || fail "another user's job was edited"
    grep -q "permission denied" "$WORK/err" || fail "edit of another's job: $(cat "$WORK/err")"
    ! "${as[@]}" "$ROOST" hold "$order.1" 2>/dev/null || fail "another user's job was held"
    cat >"$WORK/theirs.sub" <<END
executable = /bin/true
transfer_executable = false
initialdir = /tmp
requirements = false
queue
END
    theirs=$("${as[@]}" "$ROOST" submit "$WORK/theirs.sub" -terse) || fail "submit as another user"
    theirs=${theirs%% *}
    "${as[@]}" "$ROOST" edit "$theirs" JobPrio 3 >/dev/null || fail "edit of one's own job"
    ! "${as[@]}" "$ROOST" edit "$theirs" Blessed true 2>"$WORK/err" || fail "a protected attribute was set"
    grep -q "protected" "$WORK/err" || fail "edit of a protected attribute: $(cat "$WORK/err")"
    "$ROOST" edit "$theirs" Blessed true >/dev/null || fail "root edits everybody's jobs"
    equals "their job" "$(q "$theirs" -af JobPrio Blessed)" "3 true"
fi
touch "$OUT/go"
until_true 40 "all are done" is_done "$order" 4
equals "the order in which they ran" "$(tr '\n' ' ' <"$OUT/order")" "0 3 2 1 "

say 'what is between $$( and ) is the slot'"'"'s'
cat >"$WORK/dollar.sub" <<'END'
executable = /bin/sh
transfer_executable = false
arguments = "-c 'echo $$(Name) $$(Cpus) $$(NoSuch:none) $$([TARGET.Cpus*2+MY.Plus]); echo ""$TOLD""'"
environment = "TOLD=$$(Arch)"
output = dollar.$$(Arch)
request_memory = 1
+Plus = 5
END
echo "initialdir = $OUT" >>"$WORK/dollar.sub"
echo "queue 2" >>"$WORK/dollar.sub"
dollar=$(submit "$WORK/dollar.sub") || exit 1
sed -i 's/NoSuch:none/NoSuch/' "$WORK/dollar.sub"
cannot=$(submit "$WORK/dollar.sub") || exit 1
until_true 30 "they are done" is_done "$dollar" 2
slot=$("$ROOST" status -af Name)
arch=$("$ROOST" status -af Arch)
equals "the output" "$(cat "$OUT/dollar.$arch")" "$slot 1 none 7
$arch"
equals "what the job keeps" "$("$ROOST" history "$dollar.0" -af MATCH_Name MATCH_EXP_Environment)" \
    "$slot TOLD=$arch"
until_true 30 "what cannot be expanded is held" job_is "$cannot.1" 5
equals "why" "$(q "$cannot" -af HoldReason NumJobStarts | sort -u)" 'Cannot expand $$(NoSuch). 0'
"$ROOST" edit "$cannot.1" Arguments '"-c true"' >/dev/null || fail "edit of the arguments"
"$ROOST" release "$cannot.1" >/dev/null || fail "roost release"
until_true 30 "once it says something that is there, it runs" is_done "$cannot" 1
"$ROOST" rm -all >/dev/null || fail "roost rm -all"
pool_stop
passed

#!/bin/bash
# Jobs that fork daemons, fill their disk, exceed their memory, do not hear SIGTERM, destroy their sandbox, fork without
# end, or look around: each ends with the right reason, and nothing is left of it - no process, no directory, no cgroup.
#
# As root also: two jobs of one account, and jobs of two users, neither see nor read nor signal each other.
#
# TIMEOUT: 180
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || { echo "skipped: there is no python3 to take memory with"; exit 77; }
root=false
[ "$(id -u)" -ne 0 ] || root=true

pool_init --nodes 1 --cpus-per-node 4
cat >>"$POOL/nodes/wn01/roost.conf" <<END
MEMORY = 4096
NUM_SLOTS_TYPE_1 = 1
SLOT_TYPE_1 = "100%"
SLOT_TYPE_1_PARTITIONABLE = true
HIBERNATE = "NONE"
KILLING_TIMEOUT = 1
JOB_MAX_PROCESSES = 100
MOUNT_UNDER_SCRATCH = {"/tmp", "/var/tmp"}
STARTER_INITIAL_UPDATE_INTERVAL = 1
STARTER_UPDATE_INTERVAL = 1
END
chmod 1777 "$OUT"
pool_start
EXECUTE=$POOL/nodes/wn01/execute

# script NAME <TEXT: a program of that name.  job NAME [LINE...]: submits it; prints the cluster.
script() { { echo '#!/bin/bash'; sed "s/@@/$$/"; } >"$WORK/$1" && chmod 0755 "$WORK/$1"; }
job() {
    local name=$1
    shift
    {
        printf 'executable = %s\ninitialdir = %s\noutput = %s.out\nerror = %s.err\n' "$WORK/$name" "$OUT" "$name" "$name"
        printf 'request_memory = 100\nrequest_disk = 20MB\ntransfer_output_files = ""\n'
        printf '%s\n' "$@" queue
    } >"$WORK/$name.sub"
    submit "$WORK/$name.sub"
}
is_held() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null)" = 5 ]; }
runs() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null)" = 2 ]; }
wrote() { grep -qs "$2" "$OUT/$1"; }
why() { "$ROOST" q "$1" -af HoldReasonCode HoldReasonSubCode; }
cgroups() { find /sys/fs/cgroup -maxdepth 6 -type d -path "*$(basename "$WORK")*" 2>/dev/null; }
# Sleepers have a length of their own, with this test's number behind the point (@@ in scripts): others may run beside it.
sleepers() { pgrep -f "^sleep $1\\.$$\$"; }
sleeps() { [ -n "$(sleepers "$1")" ]; }
no_spy() { ! "$ROOST" q -af Cmd | grep -q spy; }
nothing_left() { [ -z "$(ls "$EXECUTE")$(cgroups)$(sleepers "$1")" ]; }
clean() { until_true 15 "nothing is left of what $1" nothing_left "$2"; }

say "forks daemons"
script daemons <<'END'
(setsid env -i /bin/sh -c '(sleep 7771.@@ </dev/null >/dev/null 2>&1 &) &' &)
until pgrep -f '^sleep 7771\.@@$' >/dev/null; do sleep 0.02; done
echo forked
END
cluster=$(job daemons) || exit 1
until_true 20 "a job that forked daemons is done" is_done "$cluster" 1
check_committed "$cluster" 1
equals "its output" "$(cat "$OUT/daemons.out")" forked
clean "forked daemons" 7771

say "fills its disk"
script disk <<'END'
dd if=/dev/zero of=a bs=1M count=12 2>/dev/null
dd if=/dev/zero of=/tmp/b bs=1M count=12 2>/dev/null
echo filled
sleep 7772.@@
END
cluster=$(job disk) || exit 1
until_true 20 "a job that fills its disk is held" is_held "$cluster"
equals "why" "$(why "$cluster")" "34 104"
"$ROOST" q "$cluster" -af HoldReason | grep -q 'Error from slot1_.*@wn01: Job has gone over its disk limit of 20480 kilobytes' ||
    fail "HoldReason: $("$ROOST" q "$cluster" -af HoldReason)"
[ "$("$ROOST" q "$cluster" -af DiskUsage)" -ge 20480 ] || fail "DiskUsage: $("$ROOST" q "$cluster" -af DiskUsage)"
clean "filled its disk" 7772

say "exceeds its memory"
script memory <<'END'
exec python3 -c 'a = b"x" * (300 << 20); import time; time.sleep(7773)'
END
cluster=$(job memory) || exit 1
until_true 30 "a job that exceeds its memory is held" is_held "$cluster"
equals "why" "$(why "$cluster")" "34 102"
"$ROOST" q "$cluster" -af HoldReason | grep -qE 'Error from slot1_.@wn01: Job has gone over cgroup memory limit of 128 megabytes\. Last measured usage: [0-9]+ megabytes\.  Consider resubmitting with a higher request_memory\.' ||
    fail "HoldReason: $("$ROOST" q "$cluster" -af HoldReason)"
clean "exceeded its memory" 7773

say "does not hear SIGTERM, and leaves children that do not either"
script deaf <<'END'
trap '' TERM
(trap '' TERM HUP; setsid sleep 7774.@@) &
echo deaf
while :; do sleep 0.1; done
END
cluster=$(job deaf) || exit 1
until_true 20 "it runs" runs "$cluster"
until_true 10 "its child, too" sleeps 7774
"$ROOST" hold "$cluster" >/dev/null || fail "roost hold"
equals "why" "$("$ROOST" q "$cluster" -af HoldReasonCode)" 1
clean "was deaf" 7774

say "destroys its sandbox"
script destroyer <<'END'
mkdir -p a/b/c && touch a/b/c/d && chmod 0 a/b/c a/b a
rm -rf "$_CONDOR_SCRATCH_DIR"/.*.ad "$_CONDOR_SCRATCH_DIR"/condor_exec.exe
rmdir "$_CONDOR_SCRATCH_DIR" 2>/dev/null
chmod 0 .
echo destroyed
END
cluster=$(job destroyer) || exit 1
until_true 20 "a job that destroyed its sandbox is done" is_done "$cluster" 1
equals "its output" "$(cat "$OUT/destroyer.out")" destroyed
clean "destroyed its sandbox" 7775

say "forks without end"
script bomb <<'END'
f() { sleep 7776.@@ & f & f; }
f 2>/dev/null
END
if $root; then
    cluster=$(job bomb) || exit 1
    until_true 20 "it forks" sleeps 7776
    [ "$(sleepers 7776 | wc -l)" -le 100 ] || fail "more than JOB_MAX_PROCESSES"
    "$ROOST" rm "$cluster" >/dev/null 2>&1 # it may have ended by itself
    clean "forked without end" 7776
fi

say "leaves mounts and a namespace of its own"
script mounts <<'END'
mkdir here
unshare -Urm /bin/sh -c 'mount -t tmpfs none here && touch here/file && echo mounted >done; sleep 7780.@@' &
until [ -e done ] || ! kill -0 $!; do sleep 0.05; done
cat done
END
cluster=$(job mounts) || exit 1
until_true 20 "a job that mounted something is done" is_done "$cluster" 1
equals "its output" "$(cat "$OUT/mounts.out")" mounted
clean "left mounts" 7780

say "its starter is killed"
script orphan <<'END'
(setsid env -i /bin/sh -c '(sleep 7777.@@ </dev/null >/dev/null 2>&1 &) &' &)
exec sleep 7777.@@
END
cluster=$(job orphan) || exit 1
until_true 20 "it runs" sleeps 7777
until_true 10 "it is told to run" runs "$cluster"
before=$(sleepers 7777 | paste -sd,)
kill -9 "$(pids_of starter wn01)"
gone() { ! ps -o pid= -p "$before" >/dev/null; }
until_true 15 "what a killed starter left has ended" gone
"$ROOST" rm "$cluster" >/dev/null || fail "roost rm"
clean "lost its starter" 7777

say "usage while it runs"
script busy <<'END'
end=$((SECONDS + 60))
while [ $SECONDS -lt $end ] && [ ! -e /proc/1/nothing ]; do :; done
END
cluster=$(job busy) || exit 1
uses_cpu() {
    local user
    user=$("$ROOST" q "$cluster" -af 'RemoteUserCpu > 0.5 && ResidentSetSize > 100 && DiskUsage > 0 && CpusUsage > 0.1' 2>/dev/null)
    [ "$user" = true ]
}
until_true 20 "its usage is told" uses_cpu
"$ROOST" rm "$cluster" >/dev/null || fail "roost rm"
clean "was busy" 7778

say "setuid programs give nothing"
script setuid <<'END'
grep NoNewPrivs /proc/self/status
grep CapEff /proc/self/status
umask 022
END
cluster=$(job setuid) || exit 1
until_true 20 "it is done" is_done "$cluster" 1
equals "what it may" "$(tr -s '\t ' ' ' <"$OUT/setuid.out")" "NoNewPrivs: 1
CapEff: 0000000000000000"

if $root; then
    cp /usr/bin/id "$WORK/setuid-id" && chmod 4755 "$WORK/setuid-id"
    equals "a setuid program outside" "$(setpriv --reuid=65534 --clear-groups "$WORK/setuid-id" -u)" 0
    printf 'executable = %s\ntransfer_executable = false\narguments = -u\noutput = %s\nqueue\n' \
        "$WORK/setuid-id" "$OUT/setuid-id.out" >"$WORK/setuid-id.sub"
    cluster=$(submit "$WORK/setuid-id.sub") || exit 1
    until_true 20 "it is done" is_done "$cluster" 1
    equals "what it is in a job" "$(cat "$OUT/setuid-id.out")" "$(id -u nobody)"

    say "two jobs of one account, and jobs of two users"
    script victim <<'END'
umask 0
chmod 0777 .
echo secret >mine
echo secret >/tmp/mine
echo secret >/dev/shm/mine
id -un
sleep 7779.@@
END
    script spy <<END
id -un
{
    ls $EXECUTE | grep -v "\$(basename "\$(dirname "\$PWD")")"
    ls $EXECUTE/dir_*/ | grep -vx sandbox
    cat $EXECUTE/dir_*/sandbox/mine $EXECUTE/dir_*/job.record /tmp/mine /dev/shm/mine
    ls -A /dev/shm/
    ls -A /var/tmp/
    ls -A /tmp/ | grep -v '^roost-it-' # the way to its sandbox, which is below /tmp here
    pgrep -f 'sleep 7779.@@'
    pgrep -x roost-startd
    cat $POOL/security/keys/* $POOL/nodes/wn01/token $POOL/spool/* $POOL/nodes/wn01/spool/* /proc/1/environ /proc/1/maps
    cat /proc/1/mem
} 2>/dev/null
for pid in \$VICTIMS; do kill -0 \$pid 2>/dev/null && echo "can signal \$pid"; done
kill -9 1 2>/dev/null
[ -d /proc/1 ] && echo alive
END
    chmod 0755 "$POOL" "$POOL/spool" 2>/dev/null
    victim=$(job victim) || exit 1
    until_true 20 "the victim runs" sleeps 7779
    victims=$(sleepers 7779 | tr '\n' ' ')
    spy=$(job spy "environment = \"VICTIMS='$victims'\"") || exit 1
    until_true 20 "the spy is done" is_done "$spy" 1
    equals "what a spy of the same account sees" "$(cat "$OUT/spy.out")" "nobody
alive"
    domain=$("$ROOST" config get UID_DOMAIN 2>/dev/null | tail -1)
    for user in www-data games; do
        rm -f "$OUT"/spy.*
        setpriv --reuid=$user --regid="$(id -g $user)" --clear-groups "$ROOST" submit "$WORK/spy.sub" >/dev/null ||
            fail "submit as $user"
        until_true 20 "the spy of $user is done" wrote spy.out .
        until_true 20 "and gone" no_spy
        head -1 "$OUT/spy.out" | grep -qx "$user" || fail "$user's job ran as $(head -1 "$OUT/spy.out") (domain $domain)"
        equals "what a spy of $user sees" "$(tail -n +2 "$OUT/spy.out")" alive
    done
    "$ROOST" rm "$victim" >/dev/null || fail "roost rm"
    clean "was spied upon" 7779
fi
pool_stop
passed

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
JOB_MAX_FILES = 5000
MOUNT_UNDER_SCRATCH = {"/tmp", "/var/tmp"}
STARTER_INITIAL_UPDATE_INTERVAL = 1
STARTER_UPDATE_INTERVAL = 1
FILETRANSFER_PLUGINS = {"$WORK/fills"}
END
cat >"$WORK/fills" <<END
#!/bin/sh
if [ "\$1" = -classad ]; then
    printf 'PluginType = "FileTransfer"\nSupportedMethods = "fill"\nMultipleFileSupport = false\n'
    exit 0
fi
dd if=/dev/zero of="\$2" bs=1M count=30 2>/dev/null
sleep 7786.$$
END
chmod 0755 "$WORK/fills"
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
        printf 'request_memory = 100\nrequest_disk = 20MB\nshould_transfer_files = YES\ntransfer_output_files = ""\n'
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

say "fills its disk before it begins, and after its end"
script filler <<'END'
dd if=/dev/zero of=a bs=1M count=30 2>/dev/null
sleep 7785.@@
END
script idle <<'END'
exit 0
END
for when in Pre Post; do
    cluster=$(job idle "transfer_input_files = $WORK/filler" "My.${when}Cmd = \"filler\"") || exit 1
    until_true 30 "a job whose ${when}Cmd fills its disk is held" is_held "$cluster"
    equals "why" "$(why "$cluster")" "34 104"
    clean "filled its disk by its ${when}Cmd" 7785
done

say "fills its disk by what it fetches, before it begins"
# Its program is named below /tmp: so /tmp is the machine's, where the plug-in is.
cluster=$(job idle "transfer_executable = false" "transfer_input_files = fill://all/of-it") || exit 1
until_true 30 "a job whose input fills its disk while it is fetched is held" is_held "$cluster"
equals "why" "$(why "$cluster")" "34 104"
clean "filled its disk by what it fetched" 7786

say "leaves output that nobody may read"
script closes <<'END'
echo closed >closed
chmod 0 closed
END
cluster=$(job closes 'transfer_output_files = closed') || exit 1
until_true 20 "a job whose output is closed is done" is_done "$cluster" 1
check_committed "$cluster" 1
equals "its output" "$(cat "$OUT/closed")" closed
clean "closed its output" 7786

say "makes files without end"
script files <<'END'
while :; do : >"$((n++))"; done
END
cluster=$(job files) || exit 1
until_true 30 "a job that makes files without end is held" is_held "$cluster"
equals "why" "$(why "$cluster")" "34 104"
"$ROOST" q "$cluster" -af HoldReason | grep -q 'Job has more than 5000 files' ||
    fail "HoldReason: $("$ROOST" q "$cluster" -af HoldReason)"
clean "made files" 7781

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

say "the claim's next job finds nothing of the last"
script again <<'END'
if [ "$1" = 0 ]; then
    mkdir -p a/b /tmp/left /var/tmp/left
    touch a/b/c .hidden /tmp/.left /dev/shm/left
    ipcmk -M 4096 -Q -S 1 >/dev/null
    python3 -c 'import ctypes; ctypes.CDLL("librt.so.1").mq_open(b"/left", 0o100 | 2, 0o666, None)'
    (setsid env -i /bin/sh -c 'sleep 7782.@@ </dev/null >/dev/null 2>&1 &' &)
    python3 -c 'x = b"x" * (60 << 20)' # MiB
else
    ls -A . /tmp /var/tmp /dev/shm | grep -v -e '^roost-it-' -e condor_exec -e '^\.job\.ad$' -e '^\.machine\.ad$' -e '^_condor_std'
    tail -qn +2 /proc/sysvipc/*
    python3 -c 'import ctypes; print(ctypes.CDLL("librt.so.1").mq_open(b"/left", 0))'
    pgrep -f '^sleep 7782'
    set -- /proc/[0-9]* && echo "$#"
    stat -c %a . /tmp
fi
END
cat >"$WORK/again.sub" <<END
executable = $WORK/again
arguments = \$(Process)
initialdir = $OUT
output = again\$(Process).out
error = again\$(Process).err
request_cpus = 4
request_memory = 100
request_disk = 20MB
transfer_output_files = ""
queue 2
END
cluster=$(submit "$WORK/again.sub") || exit 1
until_true 30 "both jobs are done" is_done "$cluster" 2
grep -q "starter.next .*job=$cluster\.1" "$POOL"/nodes/wn01/log/StarterLog* ||
    fail "the second job did not have the starter of the first"
if $root; then
    equals "what the second one sees" "$(cat "$OUT/again1.out")" ".:

/dev/shm:

/tmp:

/var/tmp:
-1
2
700
1777"
    memory=$("$ROOST" history "$cluster.1" -af MemoryUsage)
    [ "$memory" -lt 50 ] || fail "the second one is charged for the memory of the first: $memory MiB"
fi
clean "left something for the next" 7782

say "its starter is killed"
script orphan <<'END'
(setsid env -i /bin/sh -c '(sleep 7777.@@ </dev/null >/dev/null 2>&1 &) &' &)
exec sleep 7777.@@
END
cluster=$(job orphan) || exit 1
until_true 20 "it runs" sleeps 7777
until_true 10 "it is told to run" runs "$cluster"
before=$(sleepers 7777 | paste -sd,)
mapfile -t starters < <(pids_of starter wn01) # the one kept of the claim before may be about to go
kill -9 "${starters[@]}" 2>"$WORK/kill.err"
gone() { ! ps -o pid= -p "$before" >/dev/null; }
until_true 15 "what a killed starter left has ended" gone
"$ROOST" rm "$cluster" >/dev/null || fail "roost rm"
clean "lost its starter" 7777

say "usage while it runs"
# Loopback is not counted: it talks to an address of this machine, where there is one.
address=$(hostname -I 2>/dev/null | tr ' ' '\n' | grep -m 1 '^[0-9.]*$')
carried=true
if [ -n "$address" ]; then
    python3 -c '
import socket, sys
listener = socket.create_server((sys.argv[1], 0))
open(sys.argv[2], "w").write("%d\n" % listener.getsockname()[1])
peer = listener.accept()[0]
left = 3000000
while left > 0: left -= len(peer.recv(65536)) or left
peer.sendall(b"x" * 200000)
peer.recv(1)' "$address" "$WORK/port" &
    until_true 10 "there is somebody to talk to" grep -qs . "$WORK/port"
    carried='NetworkOutputMb == 3.0 && NetworkInputMb == 0.2'
fi
script busy <<'END'
end=$((SECONDS + 300)) # the test removes it before
if [ -n "$1" ]; then
    exec 3<>"/dev/tcp/$1/$2"
    head -c 3000000 /dev/zero >&3
    head -c 200000 <&3 >/dev/null
fi
while [ $SECONDS -lt $end ] && [ ! -e /proc/1/nothing ]; do :; done
END
cluster=$(job busy ${address:+"arguments = $address $(cat "$WORK/port")"}) || exit 1
uses_cpu() {
    local user
    user=$("$ROOST" q "$cluster" -af "RemoteUserCpu > 0.5 && ResidentSetSize > 100 && DiskUsage > 0 && CpusUsage > 0.01 && $carried" 2>/dev/null)
    [ "$user" = true ]
}
until_true 20 "its usage is told" uses_cpu
"$ROOST" rm "$cluster" >/dev/null || fail "roost rm"
clean "was busy" 7778

say "setuid programs give nothing"
script setuid <<'END'
grep NoNewPrivs /proc/self/status
grep CapEff /proc/self/status
grep CapBnd /proc/self/status
umask 022
END
cluster=$(job setuid) || exit 1
until_true 20 "it is done" is_done "$cluster" 1
equals "what it may" "$(tr -s '\t ' ' ' <"$OUT/setuid.out")" "NoNewPrivs: 1
CapEff: 0000000000000000
CapBnd: 0000000000000000"

if $root; then
    cp /usr/bin/id "$WORK/setuid-id" && chmod 4755 "$WORK/setuid-id"
    equals "a setuid program outside" "$(setpriv --reuid=65534 --clear-groups "$WORK/setuid-id" -u)" 0
    printf 'executable = %s\ntransfer_executable = false\narguments = -u\noutput = %s\nqueue\n' \
        "$WORK/setuid-id" "$OUT/setuid-id.out" >"$WORK/setuid-id.sub"
    cluster=$(submit "$WORK/setuid-id.sub") || exit 1
    until_true 20 "it is done" is_done "$cluster" 1
    equals "what it is in a job" "$(cat "$OUT/setuid-id.out")" "$(id -u nobody)"
fi

say "two jobs of one account, and jobs of two users"
script victim <<'END'
umask 0
chmod 0777 .
echo secret >mine
echo secret >/tmp/mine
echo secret >/dev/shm/mine
id -un
exec python3 -c '
import ctypes, time
libc = ctypes.CDLL(None, use_errno=True)
if libc.shmget(0x7779, 4096, 0o1666) < 0: raise SystemExit("no shared memory")
ctypes.CDLL(None).prctl(15, b"victim", 0, 0, 0)
open("ready", "w").close()
time.sleep(7779.@@)'
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
    pgrep -f 'time.sleep[(]7779.@@'
    pgrep -x roost-startd
    cat $POOL/security/*.pem $POOL/security/keys/* $POOL/security/tokens/* $POOL/nodes/*/token $POOL/spool/* $POOL/nodes/wn01/spool/*
    ls -A $POOL/run $POOL/spool $POOL/security $POOL/log $POOL/nodes/wn01 | grep -vE "^(execute|\$)|:\\\$"
    cat /proc/1/environ /proc/1/maps
    cat /proc/1/mem
} 2>/dev/null
for pid in \$VICTIMS; do kill -0 \$pid 2>/dev/null && echo "can signal \$pid"; done
kill -9 1 2>/dev/null
[ -d /proc/1 ] && echo alive
END
# What a program with bad intentions tries; each line that it writes is a hole.
{ echo '#!/usr/bin/env python3' && cat <<END; } >"$WORK/attack" && chmod 0755 "$WORK/attack"
import ctypes, errno, glob, os, resource, signal, socket, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
POOL, EXECUTE, VICTIMS = "$POOL", "$EXECUTE", [int(pid) for pid in os.environ["VICTIMS"].split()]
NODE = POOL + "/nodes/wn01"
def hole(text): print(text, flush=True)
def refused(number, *args):
    ctypes.set_errno(0)
    return libc.syscall(number, *args) < 0
# the keeper, which shares the starter's memory, and processes of others
for pid in [1] + VICTIMS:
    if not refused(101, 16, pid, 0, 0): hole("ptrace attaches to %d" % pid)
    buffer = ctypes.create_string_buffer(8)
    iovec = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
    if pid != os.getpid() and libc.process_vm_readv(pid, iovec, 1, (ctypes.c_size_t * 2)(0x400000, 8), 1, 0) >= 0: hole("reads memory of %d" % pid)
    for file in ("mem", "environ", "maps", "root/etc/hostname", "cwd/.", "fd/0"):
        try:
            with open("/proc/%d/%s" % (pid, file), "rb") as f:
                f.read(1)
            hole("opens /proc/%d/%s" % (pid, file))
        except OSError: pass
for pid in VICTIMS:
    if not refused(434, pid, 0): hole("a pidfd of %d" % pid)
try:
    os.kill(1, signal.SIGKILL) # arrives nowhere: we would not be here
    os.kill(1, signal.SIGSTOP)
except OSError: pass
# memory shared by key, files in memory, terminals
if libc.shmget(0x7779, 4096, 0) >= 0: hole("the victim's shared memory")
terminal, _ = os.openpty()
if not refused(16, terminal, 0x5412, ctypes.c_char_p(b"x")): hole("types into a terminal")
if not refused(250, 9999, 0, 0, 0, 0) or ctypes.get_errno() != errno.EPERM: hole("keys are not refused")
if not refused(321, 9999, 0, 0) or ctypes.get_errno() != errno.EPERM: hole("bpf is not refused")
if resource.getrlimit(resource.RLIMIT_CORE)[1] != 0: hole("core files")
# what is covered shows again in nobody's namespace: mounts of ours are locked in one of theirs
covered = [EXECUTE, POOL + "/security", NODE + "/run", NODE + "/token"]
for path in covered:
    subprocess.run(["unshare", "-Urm", "/bin/sh", "-c",
        "umount -l %s; [ -z \"\$(cat %s/../job.record %s/keys/*.key %s 2>/dev/null)\" ] || echo uncovers %s" % (path, os.environ["_CONDOR_SCRATCH_DIR"], path, path, path)],
        stderr=subprocess.DEVNULL)
subprocess.run(["unshare", "-Urm", "/bin/sh", "-c", "mkdir -p under && mount --bind / under && ls under/%s/security/*.pem under/%s/keys" % (POOL[1:], POOL[1:])],
    stderr=subprocess.DEVNULL)
subprocess.run(["unshare", "-Urmp", "--fork", "/bin/sh", "-c", "mount -t proc proc /proc && pgrep -f [t]ime.sleep.7779"], stderr=subprocess.DEVNULL)
# other groups
for path in glob.glob("/sys/fs/cgroup/**/cgroup.procs", recursive=True)[:2000]:
    try:
        with open(path, "w") as f:
            f.write(str(os.getpid()))
        hole("moves to " + path)
        break
    except OSError: pass
for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/power/state"):
    if os.access(path, os.W_OK) and os.getuid() != 0: hole("writes " + path)
# sockets of the daemons
for path in glob.glob(POOL + "/**/*.sock", recursive=True) + [POOL + "/run/schedd.sock", NODE + "/run/startd.sock"]:
    with socket.socket(socket.AF_UNIX) as s:
        try:
            s.connect(path)
            hole("connects to " + path)
        except OSError: pass
# descriptors that were not meant for it
for fd in os.listdir("/proc/self/fd"):
    try:
        target = os.readlink("/proc/self/fd/" + fd)
        if "sandbox" not in target and not target.startswith(("/dev/", "/proc/")) and "_condor" not in target: hole("has %s: %s" % (fd, target))
    except OSError: pass
print("tried")
END
chmod 0755 "$POOL" "$POOL/spool" 2>/dev/null
victim=$(job victim) || exit 1
victim_pids() { pgrep -f "time.sleep[(]7779.$$"; }
victim_runs() { [ -n "$(victim_pids)" ]; }
victim_is_ready() { compgen -G "$EXECUTE/dir_*/sandbox/ready" >/dev/null; }
until_true 20 "the victim runs" victim_runs
until_true 20 "it is ready" victim_is_ready
victims=$(victim_pids | tr '\n' ' ')
spy=$(job spy "environment = \"VICTIMS='$victims'\"") || exit 1
attack=$(job attack "environment = \"VICTIMS='$victims'\"") || exit 1
until_true 20 "the spy is done" is_done "$spy" 1
until_true 20 "the attacker is done" is_done "$attack" 1
equals "what a spy of the same account sees" "$(cat "$OUT/spy.out")" "$(id -un 65534 2>/dev/null)
alive"
equals "what an attacker of the same account gets" "$(cat "$OUT/attack.out" "$OUT/attack.err")" "tried"

say "links to others' files are no way to have them sent"
echo secret >"$WORK/readable-by-few" && chmod 0600 "$WORK/readable-by-few"
script thief <<END
ln -s $WORK/readable-by-few stolen
ln -s $WORK d
ln $WORK/readable-by-few linked 2>/dev/null
mkdir under && ln -s ../../job.record under/record
END
if $root; then
    thief=$(job thief 'transfer_output_files = stolen, d/readable-by-few, linked, under') || exit 1
    is_over() { is_held "$thief" || is_done "$thief" 1; }
    until_true 20 "the thief is held or done" is_over
    ! grep -rqs secret "$OUT"/stolen "$OUT"/readable-by-few "$OUT"/linked "$OUT"/d || fail "it has what is not its own"
    ! grep -rqs ClaimId "$OUT"/under || fail "it has the starter's record"
    "$ROOST" rm "$thief" >/dev/null 2>&1 # where it is held
fi

if $root; then
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

    say "nobody else reaches what a job has in its own /tmp, or beside its sandbox"
    script keeps <<'END'
umask 0
for place in /tmp /var/tmp .; do echo "of games" >$place/kept; done
touch ready
until [ -e /tmp/go ] || [ $((n++)) -ge 600 ]; do sleep 0.05; done
find /tmp /var/tmp -mindepth 1 -maxdepth 1 ! -name 'roost-it-*' ! -name kept ! -name go
cat /tmp/kept /var/tmp/kept
stat -c %a /tmp
END
    rm -f "$OUT"/keeps.*
    held=$(job keeps 'hold = true') || exit 1 # for its file
    "$ROOST" rm "$held" >/dev/null || fail "roost rm"
    sed -i '/^hold/d' "$WORK/keeps.sub"
    setpriv --reuid=games --regid=games --clear-groups "$ROOST" submit "$WORK/keeps.sub" >"$WORK/keeps.id" || fail "submit as games"
    keeper=$(grep -o '[0-9]*\.$' "$WORK/keeps.id" | tr -d .)
    keeps_are_ready() { [ "$(compgen -G "$EXECUTE/dir_*/sandbox/ready" | wc -l)" -ge 2 ]; } # the victim, too
    until_true 20 "it runs" keeps_are_ready
    reached=$(cd / && setpriv --reuid=www-data --regid=www-data --clear-groups bash -c '
        for dir in "$0"/dir_*; do
            [ "$(stat -c %a "$dir/sandbox")" = 700 ] || continue # the victim opened its own
            for path in "$dir"/scratch{0,1,2} "$dir"/scratch{0,1,2}/in "$dir"/sandbox "$dir"/ckpt "$dir"/.job.ad "$dir"/.machine.ad "$dir"/job.record; do
                if [ -r "$path" ] || [ -w "$path" ] || { [ -d "$path" ] && [ -x "$path" ]; }; then echo "reaches $path"; fi
            done
            cat "$dir"/scratch*/kept "$dir"/scratch{0,1}/in/kept "$dir"/sandbox/kept 2>/dev/null
            for path in "$dir"/scratch{0,1} "$dir"/scratch{0,1}/in; do
                echo evil 2>/dev/null >"$path/evil" && echo "writes to $path"
                ln -s /etc/passwd "$path/link" 2>/dev/null && echo "links in $path"
            done
            find "$dir" -readable -printf "finds %p\n" 2>/dev/null
        done' "$EXECUTE")
    equals "what another user reaches" "$reached" ""
    for go in "$EXECUTE"/dir_*/scratch0/in; do touch "$go/go"; done
    is_gone() { [ -z "$("$ROOST" q "$keeper" -af ClusterId 2>/dev/null)" ] && ! "$ROOST" q -af Cmd | grep -q keeps; }
    until_true 40 "it is done" is_gone
    equals "what its /tmp had at last" "$(cat "$OUT/keeps.out")" "of games
of games
1777"

    say "an ordinary user of this host sees the pool, and rules nothing"
    as=(setpriv --reuid=games --regid=games --clear-groups "$ROOST")
    "${as[@]}" status -af Name | grep -q '^slot1@wn01$' || fail "roost status as games"
    status=0
    "${as[@]}" userprio -setfactor games@personal 2 >"$WORK/setfactor.out" 2>&1 || status=$?
    equals "exit status of userprio -setfactor as games" "$status" 1
    grep -q "no token" "$WORK/setfactor.out" || fail "userprio -setfactor says: $(cat "$WORK/setfactor.out")"
fi
"$ROOST" rm "$victim" >/dev/null || fail "roost rm"
clean "was spied upon" 7779
pool_stop
passed

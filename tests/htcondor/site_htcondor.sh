#!/bin/bash
# tests/htcondor/site_htcondor.sh ROOT - a personal HTCondor in the root directory ROOT (root.sh): first roost-site htcondor is
# asked each operation, then an empty pool has glideins there.  Called by tools/test_htcondor.sh, in namespaces of its own.
#
# HTCondor takes no jobs of root: the sites and the pool are those of an account `glide`, which exists here only.
#
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
. "$(dirname "$0")/../integration/lib.sh"

# ---- the pool, as glide

if [ "$1" = pool ]; then
    DIRECTORY=$2
    PATH=$3:$PATH
    names() { condor_q -json -attributes RoostGlidein | sed -n 's/.*"RoostGlidein": "\(.*\)".*/\1/p'; }
    none_listed() { [ -z "$(names)" ]; }
    no_machine() { [ -z "$("$ROOST" status -constraint 'Offline =!= true' -af Name 2>/dev/null)" ]; }
    pool_init --nodes 0
    cat >>"$ROOST_CONFIG" <<END
DAEMON_LIST = {COLLECTOR, SCHEDD, NEGOTIATOR, FACTORY}
site "condor" {
    type = htcondor
    options = {"directory=$DIRECTORY"}
    example = {"TotalSlotDisk = 100000000"}
    cpus = 2
    memory = "256 MiB"
    idle_timeout = 2s
}
END
    say "an empty pool: five jobs of a core make three glideins of two cores, which go when they are idle"
    pool_start
    none_listed || fail "condor_q lists $(names)"
    number_jobs 5 0.5 >"$WORK/five.sub"
    cluster=$(submit "$WORK/five.sub")
    until_true 60 "the jobs" is_done "$cluster" 5
    check_committed "$cluster" 5
    until_true 60 "the glideins go: condor_q lists nothing" none_listed
    until_true 20 "no machine is left" no_machine
    equals "started glideins" "$(find "$DIRECTORY" -name 'factory-condor-*.out' | wc -l)" 3
    pool_stop
    passed
    exit
fi

# ---- HTCondor, as root

CONDOR_ROOT=$1
{ mount --make-rprivate / && ip link set lo up && hostname condornode; } || fail "the namespaces"
{ ip link add br0 type bridge && ip addr add 10.98.0.1/24 dev br0 && ip link set br0 up; } || fail "the network"
umask 022
mkdir -m 0755 "$WORK"/{etc,bin,local} "$WORK"/local/{log,spool,execute,lock,run} || fail "mkdir"
chown -R 990:990 "$WORK/local"
# HTCondor's starter wants a root directory that is a mount, and finds the test's files and the pilot under their own names.
mkdir -p "$CONDOR_ROOT$ROOST_BIN" && touch "$CONDOR_ROOT/etc/hosts"
mount --bind "$CONDOR_ROOT" "$CONDOR_ROOT" || fail "mount"
# Both sides know the accounts, in these mounts only.
printf '127.0.0.1 localhost\n10.98.0.1 condornode\n' >"$WORK/etc/hosts"
for side in "" "$CONDOR_ROOT"; do
    files=$WORK/etc${side:+/root}
    mkdir -p "$files"
    { grep -v '^condor:\|^glide:' "$side/etc/passwd"
        printf '%s\n' 'condor:x:990:990::/:/usr/sbin/nologin' "glide:x:64123:64123::$WORK/etc:/bin/sh"; } >"$files/passwd"
    { grep -v '^condor:\|^glide:' "$side/etc/group"
        printf '%s\n' 'condor:x:990:' 'glide:x:64123:'; } >"$files/group"
    { mount --bind "$files/passwd" "$side/etc/passwd" && mount --bind "$files/group" "$side/etc/group" &&
        mount --bind "$WORK/etc/hosts" "$side/etc/hosts"; } || fail "mount"
done
{ mount -t proc proc "$CONDOR_ROOT/proc" && mount --rbind /dev "$CONDOR_ROOT/dev" && mount --bind /tmp "$CONDOR_ROOT/tmp" &&
    mount --bind "$ROOST_BIN" "$CONDOR_ROOT$ROOST_BIN"; } || fail "mount"
cat >"$WORK/condor_config" <<END
RELEASE_DIR = /usr
LIBEXEC = /usr/libexec/condor
LOCAL_DIR = $WORK/local
LOG = $WORK/local/log
SPOOL = $WORK/local/spool
EXECUTE = $WORK/local/execute
LOCK = $WORK/local/lock
RUN = $WORK/local/run
LOCAL_CONFIG_FILE = $WORK/limits
REQUIRE_LOCAL_CONFIG_FILE = false
CONDOR_IDS = 990.990
CONDOR_HOST = 10.98.0.1
NETWORK_INTERFACE = 10.98.0.1
UID_DOMAIN = test
FILESYSTEM_DOMAIN = test
DAEMON_LIST = MASTER COLLECTOR NEGOTIATOR SCHEDD STARTD
SEC_DEFAULT_AUTHENTICATION = REQUIRED
SEC_DEFAULT_AUTHENTICATION_METHODS = FS
SEC_CLIENT_AUTHENTICATION_METHODS = FS
ALLOW_READ = *
ALLOW_WRITE = *
ALLOW_ADMINISTRATOR = root@* condor@*
ALLOW_DAEMON = root@* condor@*
ALLOW_NEGOTIATOR = root@* condor@*
ALLOW_ADVERTISE_MASTER = root@* condor@*
NUM_CPUS = 6
MEMORY = 4000
START = TRUE
NEGOTIATOR_INTERVAL = 2
NEGOTIATOR_MIN_INTERVAL = 1
NEGOTIATOR_CYCLE_DELAY = 1
SCHEDD_INTERVAL = 3
JOB_START_DELAY = 0
PERIODIC_EXPR_INTERVAL = 1
MASTER_BACKOFF_CONSTANT = 1
BASE_CGROUP =
MOUNT_UNDER_SCRATCH =
RUN_BENCHMARKS = False
DISCARD_SESSION_KEYRING_ON_STARTUP = False
END
# Its programs run on this side, with its own libraries.
for program in condor_submit condor_q condor_rm condor_hold condor_status condor_reconfig; do
    cat >"$WORK/bin/$program" <<END
#!/bin/sh
CONDOR_CONFIG=$WORK/condor_config exec "$CONDOR_ROOT/lib64/ld-linux-x86-64.so.2" --argv0 $program \\
    --library-path "$CONDOR_ROOT/usr/lib:$CONDOR_ROOT/usr/lib/x86_64-linux-gnu" "$CONDOR_ROOT/usr/bin/$program" "\$@"
END
    chmod 755 "$WORK/bin/$program"
done
[ -e "$CONDOR_ROOT/usr/bin/condor_reconfig" ] || sed -i "s:usr/bin/condor_reconfig:usr/sbin/condor_reconfig:" "$WORK/bin/condor_reconfig"
chroot "$CONDOR_ROOT" env "CONDOR_CONFIG=$WORK/condor_config" PATH=$PATH condor_master || fail "condor_master"
is_ready() { [ -n "$(timeout 10 "$WORK/bin/condor_status" -af Name 2>/dev/null)" ] && timeout 10 "$WORK/bin/condor_q" >/dev/null 2>&1; }
until_true 60 "HTCondor is ready" is_ready

as_glide=(setpriv --reuid 64123 --regid 64123 --clear-groups env "HOME=$WORK/etc" USER=glide LOGNAME=glide)
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${as_glide[*]}" "$ROOST_BIN/roost-site" >"$WORK/roost-site-glide"
chmod 755 "$WORK/roost-site-glide"
chown -R 64123:64123 "$OUT"
PATH=$WORK/bin:$PATH python3 "$ROOST_SRC/tests/htcondor/lib_site_htcondor.py" "$WORK/roost-site-glide" "$ROOST_BIN/roost-site" "$OUT" "$WORK" ||
    fail "see above; $(tail -n 20 "$WORK/local/log/SchedLog")"
"${as_glide[@]}" /bin/bash "$0" pool "$OUT/pool-site" "$WORK/bin" || fail "the pool: see above"
passed

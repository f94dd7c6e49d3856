#!/bin/bash
# tests/integration/site_gridengine.sh - a real sge_qmaster and sge_execd: first roost-site gridengine is asked each operation
# (array jobs, limits, refusals, a qmaster that is dead or stands still), then an empty pool has glideins there.
#
# Grid Engine starts no jobs of root: the sites and the pool are nobody's.
#
# TIMEOUT: 180
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
part=${1:-}
CELL=/var/lib/gridengine
if [ -z "$part" ]; then
    if [ "$(id -u)" -ne 0 ] || ! unshare --net --mount --uts --pid --fork true 2>/dev/null; then
        echo "skipped: a Grid Engine of the test's own needs root and namespaces"
        exit 77
    fi
    for program in sge_qmaster sge_execd qsub qstat qconf; do
        command -v "$program" >/dev/null || { echo "skipped: there is no $program (packages gridengine-master, -exec, -client)"; exit 77; }
    done
    [ -e $CELL/default/common/bootstrap ] || { echo "skipped: $CELL has no cell 'default' to copy (package gridengine-master)"; exit 77; }
    exec unshare --net --mount --uts --pid --fork --kill-child --mount-proc /bin/bash "$0" cluster
fi
. "$(dirname "$0")/lib.sh"

# ---- the pool, as nobody

if [ "$part" = pool ]; then
    DIRECTORY=$2
    qstat_names() { qstat -u "\$user" -xml | sed -n 's:.*<JB_name>\(.*\)</JB_name>.*:\1:p'; }
    none_listed() { [ -z "$(qstat_names)" ]; }
    no_machine() { [ -z "$("$ROOST" status -constraint 'Offline =!= true' -af Name 2>/dev/null)" ]; }
    pool_init --nodes 0
    cat >>"$ROOST_CONFIG" <<END
DAEMON_LIST = {COLLECTOR, SCHEDD, NEGOTIATOR, FACTORY}
site "grid" {
    type = gridengine
    options = {"directory=$DIRECTORY", "pe=smp"}
    example = {"TotalSlotDisk = 100000000"}
    cpus = 2
    memory = "256 MiB"
    idle_timeout = 2s
}
END
    say "an empty pool: five jobs of a core make three glideins of two cores, which go when they are idle"
    pool_start
    none_listed || fail "qstat lists $(qstat_names)"
    number_jobs 5 0.5 >"$WORK/five.sub"
    cluster=$(submit "$WORK/five.sub")
    until_true 60 "the jobs" is_done "$cluster" 5
    check_committed "$cluster" 5
    mapfile -t machines < <("$ROOST" history "$cluster" -af LastRemoteHost | sed 's/.*@//' | sort -u)
    if [ ${#machines[@]} -eq 0 ] || [ ${#machines[@]} -gt 3 ]; then
        fail "the jobs ran on ${machines[*]}"
    fi
    until_true 60 "the glideins go: qstat lists nothing" none_listed
    until_true 20 "no machine is left" no_machine
    equals "started glideins" "$(find "$DIRECTORY" -name 'factory-grid-*.out' | wc -l)" 3
    pool_stop
    passed
    exit
fi

# ---- the cluster, as root, in namespaces of its own

{ mount --make-rprivate / && ip link set lo up && hostname genode; } || fail "the namespaces"
# getaddrinfo() wants an address that is not the loopback's.
{ ip link add br0 type bridge && ip addr add 10.97.0.1/24 dev br0 && ip link set br0 up; } || fail "the network"
umask 022
{ mkdir -m 0755 "$WORK/etc" "$WORK/home" && mkdir -m 1777 "$WORK/tmp" && chown nobody "$WORK/home"; } || fail "mkdir"
printf '127.0.0.1 localhost\n10.97.0.1 genode\n' >"$WORK/etc/hosts"
{ cp -a $CELL "$WORK/cell" && cp -a /var/spool/gridengine "$WORK/spool"; } || fail "the cell"
{ mount --bind "$WORK/etc/hosts" /etc/hosts && mount --bind "$WORK/cell" $CELL && mount --bind "$WORK/spool" /var/spool/gridengine; } || fail "the mounts"
export SGE_ROOT=$CELL SGE_CELL=default
echo genode >$CELL/default/common/act_qmaster
qmaster_answers() { qconf -sconf >"$WORK/etc/conf" 2>/dev/null; }
sge_qmaster || fail "sge_qmaster"
until_true 30 "the qmaster answers" qmaster_answers
qconf_says() { "$@" >"$WORK/etc/said" 2>&1 || fail "$*: $(cat "$WORK/etc/said")"; }
qconf -ah genode >/dev/null 2>&1 # it may be known already
qconf -as genode >/dev/null 2>&1
qconf -am root >/dev/null 2>&1
sge_execd || fail "sge_execd"
qconf -ssconf | sed -e 's/^schedule_interval.*/schedule_interval 0:0:1/; s/^flush_submit_sec.*/flush_submit_sec 1/; s/^flush_finish_sec.*/flush_finish_sec 1/' >"$WORK/etc/scheduler"
qconf_says qconf -Msconf "$WORK/etc/scheduler"
sed -e 's/^load_report_time .*/load_report_time 00:00:02/' "$WORK/etc/conf" >"$WORK/etc/global"
qconf_says qconf -Mconf "$WORK/etc/global"
for rule in "smp \$pe_slots" "mpi \$round_robin"; do
    cat >"$WORK/etc/pe" <<END
pe_name ${rule% *}
slots 100
user_lists NONE
xuser_lists NONE
start_proc_args NONE
stop_proc_args NONE
allocation_rule ${rule#* }
control_slaves FALSE
job_is_first_task TRUE
urgency_slots min
accounting_summary FALSE
qsort_args NONE
END
    qconf_says qconf -Ap "$WORK/etc/pe"
done
qconf -sq | sed -e "s/^qname.*/qname main.q/; s/^hostlist.*/hostlist genode/; s/^slots.*/slots 6/; s/^pe_list.*/pe_list smp mpi/; s/^ckpt_list.*/ckpt_list NONE/
    s#^shell .*#shell /bin/sh#; s/^load_thresholds.*/load_thresholds NONE/; s/^shell_start_mode.*/shell_start_mode posix_compliant/; s#^tmpdir.*#tmpdir $WORK/tmp#
    s/^notify .*/notify 00:00:20/" >"$WORK/etc/queue"
qconf_says qconf -Aq "$WORK/etc/queue"
queue_is_ready() { qstat -f 2>/dev/null | grep -q "^main.q@genode .* lx-amd64 *$"; }
until_true 60 "the queue is ready" queue_is_ready

as_nobody=(setpriv --reuid nobody --regid nogroup --clear-groups env "HOME=$WORK/home" USER=nobody LOGNAME=nobody)
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${as_nobody[*]}" "$ROOST_BIN/roost-site" >"$WORK/roost-site-nobody"
chmod 755 "$WORK/roost-site-nobody"
python3 "$ROOST_SRC/tests/integration/lib_site_gridengine.py" "$WORK/roost-site-nobody" "$ROOST_BIN/roost-site" "$OUT" "$WORK/spool" || fail "see above"
"${as_nobody[@]}" /bin/bash "$0" pool "$OUT/pool-site" || fail "the pool: see above"
passed

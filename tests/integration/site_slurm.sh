#!/bin/bash
# tests/integration/site_slurm.sh - roost-site slurm with a real slurmctld and three slurmd: job arrays, limits, refusals,
# a controller that is dead or stands still.
#
# SPDX-License-Identifier: Apache-2.0
if [ -z "${ROOST_OWN_NET:-}" ]; then
    if [ "$(id -u)" -ne 0 ] || ! unshare --net --mount true 2>/dev/null; then
        echo "skipped: a Slurm of the test's own needs root and a network namespace"
        exit 77
    fi
    PATH=$PATH:/usr/sbin
    for program in slurmctld slurmd sbatch squeue munged; do
        command -v "$program" >/dev/null || { echo "skipped: there is no $program (packages slurm-wlm, munge)"; exit 77; }
    done
    ROOST_OWN_NET=1 exec unshare --net --mount /bin/bash "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"

umask 022
export SLURM_CONF=$WORK/slurm.conf PATH=/usr/sbin:/usr/bin:/sbin:/bin
HOST=$(hostname -s)
chown root: "$WORK" # munged trusts no directory of others
mkdir -m 0755 "$WORK"/{state,log,run,munge} || fail "mkdir"
{ mount --make-rprivate / && ip link set lo up; } || fail "the network"
# getaddrinfo() wants an address that is not the loopback's.
{ ip link add br0 type bridge && ip addr add 10.99.0.1/24 dev br0 && ip link set br0 up; } || fail "the network"
head -c 1024 /dev/urandom >"$WORK/munge/munge.key"
chmod 600 "$WORK/munge/munge.key"
chown -R munge: "$WORK/munge" || fail "the key of munge"
setpriv --reuid munge --regid munge --clear-groups munged --key-file="$WORK/munge/munge.key" --socket="$WORK/munge/munge.sock" \
    --pid-file="$WORK/munge/munged.pid" --log-file="$WORK/munge/munged.log" --seed-file="$WORK/munge/seed" || fail "munged"
cat >"$SLURM_CONF" <<EOF
ClusterName=test
SlurmctldHost=$HOST(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$WORK/munge/munge.sock
CredType=cred/munge
SlurmctldPort=16817
StateSaveLocation=$WORK/state
SlurmdSpoolDir=$WORK/spool.%n
SlurmctldPidFile=$WORK/run/slurmctld.pid
SlurmdPidFile=$WORK/run/slurmd.%n.pid
SlurmctldLogFile=$WORK/log/slurmctld.log
SlurmdLogFile=$WORK/log/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
MinJobAge=60
MaxArraySize=4
MessageTimeout=4
KillWait=1
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=2
NodeName=n[1-3] NodeHostname=$HOST NodeAddr=127.0.0.1 Port=[17001-17003] CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes=ALL MaxTime=1 State=UP
EOF
slurm_stop() {
    local file pid
    for file in "$WORK"/run/*.pid "$WORK/munge/munged.pid"; do
        read -r pid <"$file" 2>/dev/null && kill -9 "$pid" 2>/dev/null
    done
}
# Those of a daemon do not have the test's directory in their command lines.
# shellcheck disable=SC2154
trap 'ended=$?; slurm_stop; (exit "$ended"); clean_up' EXIT
slurmctld || fail "slurmctld"
for node in n1 n2 n3; do
    slurmd -N "$node" || fail "slurmd"
done
nodes_are_idle() { [ "$(sinfo --noheader --Node --partition=p -o %T 2>/dev/null | grep -c idle)" -eq 3 ]; }
until_true 20 "the nodes are idle" nodes_are_idle

python3 "$ROOST_SRC/tests/integration/lib_site_slurm.py" "$ROOST_BIN/roost-site" "$OUT" "$WORK/run/slurmctld.pid" || fail "see above"
passed

#!/bin/bash
# The pilot in a machine with nothing but a kernel, busybox and the pilot: it joins the pool through the emulator's user-mode
# network, runs jobs whose output shows the guest's kernel, and leaves; the guest then switches itself off.
#
# The guest's kernel has cgroup v2 alone, with its controllers: limits, figures, the freezer and the end of a group are tried there.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
[ -x "$ROOST_BIN/roost-pilot" ] || { echo "skipped: a build with sanitizers has no static roost-pilot"; exit 77; }
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_guest.sh"

chmod 1777 "$OUT"
pool_init --nodes 1 --asleep
sed -i "s/^SCHEDD_HOST = .*/SCHEDD_HOST = \"10.0.2.2\"\nSCHEDD_LISTEN = \"127.0.0.1\"/" "$ROOST_CONFIG" # as the guest sees this host
pool_start
port=$(sed -n 's/^COLLECTOR_PORT = //p' "$ROOST_CONFIG")

# ---- the guest: busybox, modules of its network card, the pilot, a token
guest=$WORK/guest
guest_tree "$guest" virtio_pci virtio_net
say "the stripped pilot has $(stat -c %s "$guest/bin/roost-pilot") bytes"
"$ROOST" token create --identity guest --scope ADVERTISE,READ --expires 1h --bundle --file "$guest/bundle" ||
    fail "roost token create --bundle"
guest_init "$guest" guest <<INIT
ip addr add 10.0.2.15/24 dev eth0
ip route add default via 10.0.2.2
echo "NETWORK \$(cut -d' ' -f1 /proc/uptime)"
roost-pilot --collector 10.0.2.2:$port --token /bundle --name guest --cpus 8 --idle-timeout 8 POLLING_INTERVAL=1 \\
    MODIFY_REQUEST_EXPR_REQUESTMEMORY=RequestMemory JOB_MAX_PROCESSES=20 CGROUP_LIMIT_CPUS=true STARTER_INITIAL_UPDATE_INTERVAL=1 \\
    ENABLE_PERSISTENT_CONFIG=true WANT_SUSPEND='TARGET.Freeze =?= true' SUSPEND=false \\
    CONTINUE='CurrentTime - EnteredCurrentActivity >= 10'
echo "PILOT ended with \$? and left '\$(ls /tmp)' '\$(ls -d /sys/fs/cgroup/roost/* 2>/dev/null)'"
INIT
guest_pack "$guest" "$WORK/initramfs"

# ---- the jobs, which wait for it
# script NAME <TEXT: a program of that name.  job NAME [LINE...]: submits it; prints the cluster.
script() { { echo '#!/bin/sh' && cat; } >"$WORK/$1" && chmod 0755 "$WORK/$1"; }
job() {
    local name=$1
    shift
    {
        printf 'executable = %s\ninitialdir = %s\noutput = %s.out\nerror = %s.err\n' "$WORK/$name" "$OUT" "$name" "$name"
        printf 'should_transfer_files = YES\nwhen_to_transfer_output = ON_EXIT\nrequest_memory = 32\nrequest_disk = 4MB\n'
        printf 'requirements = Machine == "guest"\n%s\n' "$@"
        echo queue
    } >"$WORK/$name.sub"
    submit "$WORK/$name.sub"
}
echo "the input" >"$OUT/input"
script looks <<'END'
uname -r; uname -n; id -u; cat input
END
looks=$(job looks 'transfer_input_files = input') || exit 1
script limits <<'END'
group=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
cd "$group" && cat memory.max pids.max cpu.weight cpu.max
(setsid sleep 1000 &)
i=0
while [ $i -lt 20000 ]; do i=$((i + 1)); done
END
limits=$(job limits) || exit 1
script eats <<'END'
dd if=/dev/zero of=/dev/null bs=100M count=1
sleep 1000
END
eats=$(job eats) || exit 1
script freezes <<'END'
n=0 gap=0 # it ends when it has missed six seconds: a slow guest misses two by itself
read -r before _ </proc/uptime
echo counts
while [ $gap -lt 6 ] && [ $n -lt 600 ]; do
    sleep 0.1
    read -r now _ </proc/uptime
    gap=$((${now%.*} - ${before%.*}))
    before=$now
    n=$((n + 1))
done
[ $gap -lt 6 ] || echo thawed
END
freezes=$(job freezes "My.Freeze = true" "stream_output = true") || exit 1

# 10.0.2.2 is this host: its 127.0.0.1.
begin=$(date +%s%3N)
guest_run "" "$WORK/initramfs" -netdev "user,id=net0" -device virtio-net-pci,netdev=net0 >"$WORK/console" 2>&1 &
qemu=$!
has_joined() { [ -n "$("$ROOST" status -constraint 'Machine == "guest"' -af Name 2>/dev/null)" ]; }
show_console() { # for the trap, which is to see the status of what came before
    local status=$?
    tail -n 30 "$WORK/console"
    return "$status"
}
is_over() { ! kill -0 "$qemu" 2>/dev/null; }
counts() { grep -qs counts "$OUT/freezes.out"; }
is_held() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null)" = 5 ]; }
trap 'show_console; clean_up' EXIT
until_true 60 "the guest has joined" has_joined
say "the guest joined $(($(date +%s%3N) - begin)) ms after the start of the emulator"

until_true 40 "the job that will be frozen looks at the time" counts
"$ROOST" config set --node guest "SUSPEND=TotalJobSuspendTime == 0" >/dev/null || fail "roost config set"
until_true 40 "the job that looks is done" is_done "$looks" 1
check_committed "$looks" 1
equals "what the job saw" "$(tr '\n' ' ' <"$OUT/looks.out")" "$GUEST_RELEASE guest 65534 the input "
say "the job ran on kernel $(head -n 1 "$OUT/looks.out"), here it is $(uname -r)"
until_true 30 "the job that reads its limits is done" is_done "$limits" 1
equals "its limits" "$(tr '\n' ' ' <"$OUT/limits.out")" "33554432 20 100 100000 100000 "
equals "its figures" "$("$ROOST" history "$limits" -af 'RemoteUserCpu > 0.0' 'MemoryUsage > 0 && MemoryUsage <= 32')" "true true"
until_true 30 "the job that eats memory is held" is_held "$eats"
equals "why" "$("$ROOST" q "$eats" -af HoldReasonCode HoldReasonSubCode)" "34 102"
"$ROOST" q "$eats" -af HoldReason | grep -qE 'memory limit of 32 megabytes. Last measured usage: (3[0-9]|[0-9]) megabytes' ||
    fail "HoldReason: $("$ROOST" q "$eats" -af HoldReason)"
until_true 40 "the job that was frozen is done" is_done "$freezes" 1
equals "its output" "$(tr '\n' ' ' <"$OUT/freezes.out")" "counts thawed "
equals "its suspension" "$("$ROOST" history "$freezes" -af TotalSuspensions 'CumulativeSuspensionTime >= 6')" "1 true"

until_true 40 "the guest switches itself off" is_over
grep -q "PILOT ended with 0 and left '' ''" "$WORK/console" || fail "the pilot did not leave as it should"
equals "its ads" "$("$ROOST" status -constraint 'Machine == "guest"' -af Name)" ""
trap clean_up EXIT
pool_stop
passed

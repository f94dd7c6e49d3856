#!/bin/bash
# Two emulated guests of a real libvirtd: from `roost submit` of six jobs to the last result, against the same guests started
# by plain virsh and joining the pool.  Rounds alternate, as the machine may have other things to do.
#
#   ROOST_BENCH_ROUNDS  how many of each (3)
#
# SHORT: ROOST_BENCH_ROUNDS=1
# TIMEOUT: 300
# SPDX-License-Identifier: Apache-2.0
. "$ROOST_SRC/tests/integration/lib.sh"
. "$ROOST_SRC/tests/integration/lib_guest.sh"
. "$ROOST_SRC/tests/integration/lib_libvirt.sh"

all_off() {
    [ "$("$ROOST" status -constraint 'Offline =?= true && PowerState == "Off"' -af Machine | grep -c '^wx')" = 2 ] &&
        guest_is wx01 'shut off' && guest_is wx02 'shut off'
}
have_joined() { [ "$(awake_nodes | grep -c '^wx')" = 2 ]; }

{
    chmod 1777 "$OUT"
    pool_init --nodes 1 --asleep
    sed -i "s/^SCHEDD_HOST = .*/SCHEDD_HOST = \"10.0.2.2\"\nSCHEDD_LISTEN = \"127.0.0.1\"/" "$ROOST_CONFIG" # as the guests see this host
    for name in wx01 wx02; do
        printf 'node "%s" {\n method = libvirt\n uri = "%s"\n}\n' "$name" "$VIRT_URI"
    done >>"$ROOST_CONFIG"
    libvirtd_start
    pool_start
    guests_make "$(sed -n 's/^COLLECTOR_PORT = //p' "$ROOST_CONFIG")"
    for name in wx01 wx02; do
        guest_define "$name" level=S5
        guest_advertise "$name"
    done
    printf 'executable = /bin/sh\ntransfer_executable = false\ninitialdir = %s\noutput = $(Process)\narguments = "-c hostname"\n' "$OUT" >"$WORK/sub"
    printf 'should_transfer_files = YES\nwhen_to_transfer_output = ON_EXIT\nrequest_memory = 16\nrequest_disk = 1MB\n' >>"$WORK/sub"
    printf 'requirements = regexp("^wx", Machine)\nqueue 6\n' >>"$WORK/sub"

    plain=0 through_roost=0
    for ((i = 0; i < ${ROOST_BENCH_ROUNDS:-3}; i++)); do
        until_true 120 "both guests are off" all_off
        begin=$(date +%s%3N)
        virsh_ start wx01 >/dev/null &
        virsh_ start wx02 >/dev/null &
        until_true 120 "both guests have joined" have_joined
        took=$(($(date +%s%3N) - begin))
        plain=$((plain + took))
        say "plain virsh: $took ms"

        until_true 120 "both guests are off" all_off
        begin=$(date +%s%3N)
        cluster=$(submit "$WORK/sub") || exit 1
        until_true 120 "the jobs" is_done "$cluster" 6
        took=$(($(date +%s%3N) - begin))
        through_roost=$((through_roost + took))
        say "submit to the last result: $took ms"
    done
    until_true 120 "both guests are off" all_off
    pool_stop
    libvirtd_stop
} >&2
echo "BENCH virt_wake $((through_roost / i)) ms ratio $(awk -v a="$through_roost" -v b="$plain" 'BEGIN { printf "%.2f", a / b }') vs plain virsh until the guests have joined (1.15 at most)"

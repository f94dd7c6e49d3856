#!/bin/bash
# A machine that somebody suspends to memory: its startd sees by the clocks that it slept, and shows itself at once when it wakes.
#
# In a guest, through its kernel's /sys/power/state, woken by its clock's alarm.
#
# TIMEOUT: 300
# SPDX-License-Identifier: Apache-2.0
[ -x "$ROOST_BIN/roost-pilot" ] || { echo "skipped: a build with sanitizers has no static roost-pilot"; exit 77; }
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_guest.sh"

pool_init --nodes 1 --asleep
sed -i "s/^SCHEDD_HOST = .*/SCHEDD_HOST = \"10.0.2.2\"\nSCHEDD_LISTEN = \"127.0.0.1\"/" "$ROOST_CONFIG" # as the guest sees this host
pool_start
port=$(sed -n 's/^COLLECTOR_PORT = //p' "$ROOST_CONFIG")
guest=$WORK/guest
guest_tree "$guest" virtio_pci virtio_net
"$ROOST" token create --identity guest --scope ADVERTISE,READ --expires 1h --bundle --file "$guest/bundle" ||
    fail "roost token create --bundle"
# It sends no ads by itself within an hour of the first ones.
guest_init "$guest" guest <<INIT
ip addr add 10.0.2.15/24 dev eth0
ip route add default via 10.0.2.2
roost-pilot --collector 10.0.2.2:$port --token /bundle --name guest --cpus 1 --idle-timeout 3600 UPDATE_INTERVAL=3600 \\
    POLLING_INTERVAL=1 >/tmp/log 2>&1 &
until grep uplink.up /tmp/log; do sleep 0.2; done
echo +4 >/sys/class/rtc/rtc0/wakealarm
echo mem >/sys/power/state && echo "RESUMED \$(date +%s)"
until grep hibernate.woke /tmp/log; do sleep 0.2; done
wait
INIT
guest_pack "$guest" "$WORK/initramfs"
guest_run "" "$WORK/initramfs" -netdev "user,id=net0" -device virtio-net-pci,netdev=net0 >"$WORK/console" 2>&1 &
qemu=$!
until_true 200 "its startd knows that it slept" grep -q "hibernate.woke.*suspended by somebody else" "$WORK/console"
until_true 30 "its kernel knows it, too" grep -q "^RESUMED" "$WORK/console"
resumed=$(tr -d '\r' <"$WORK/console" | sed -n 's/^RESUMED //p')
shown() { "$ROOST" status -constraint "Machine == \"guest\" && MyCurrentTime >= $resumed - 2" -af Machine 2>/dev/null; }
is_shown() { [ "$(shown)" = guest ]; }
until_true 60 "it shows itself" is_shown
kill "$qemu" && wait "$qemu"
pool_stop
passed

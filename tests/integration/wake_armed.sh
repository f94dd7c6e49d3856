#!/bin/bash
# A machine that goes to sleep tells its network adapter to wake it: in a guest whose emulated adapter (rtl8139) knows Wake-on-LAN.
#
# The adapter with the address is a bridge, that on a bond of two cards: the card that the packet reaches is told, by its own name.
#
# The pilot that stands for the machine never sleeps, so that one can ask it afterwards; what comes before is the same.
#
# TIMEOUT: 300
# SPDX-License-Identifier: Apache-2.0
[ -x "$ROOST_BIN/roost-pilot" ] || { echo "skipped: a build with sanitizers has no static roost-pilot"; exit 77; }
. "$(dirname "$0")/lib.sh"
export GUEST_REAL=yes # the kernel of clouds has no driver for it
. "$(dirname "$0")/lib_guest.sh"

pool_init --nodes 1 --asleep
sed -i "s/^SCHEDD_HOST = .*/SCHEDD_HOST = \"10.0.2.2\"\nSCHEDD_LISTEN = \"127.0.0.1\"/" "$ROOST_CONFIG" # as the guest sees this host
pool_start
port=$(sed -n 's/^COLLECTOR_PORT = //p' "$ROOST_CONFIG")
guest=$WORK/guest
guest_tree "$guest" 8139cp bridge bonding
"$ROOST" token create --identity guest --scope ADVERTISE,READ --expires 1h --bundle --file "$guest/bundle" ||
    fail "roost token create --bundle"
guest_init "$guest" guest <<INIT
bond=/sys/class/net/bond0/bonding
[ -e \$bond ] || echo +bond0 >/sys/class/net/bonding_masters
echo active-backup >\$bond/mode
echo 100 >\$bond/miimon
ip link set eth0 down
echo +eth1 >\$bond/slaves
echo +eth0 >\$bond/slaves
ip link add br0 type bridge
brctl addif br0 bond0
ip link set bond0 up
ip link set br0 up
ip addr add 10.0.2.15/24 dev br0
ip route add default via 10.0.2.2
roost-pilot --collector 10.0.2.2:$port --token /bundle --name named --cpus 1 --idle-timeout 600 NETWORK_INTERFACE=eth1 \\
    POWER_METHOD=command POWER_SLEEP_CMD=/bin/true &
roost-pilot --collector 10.0.2.2:$port --token /bundle --name guest --cpus 1 --idle-timeout 600 POLLING_INTERVAL=1 \\
    POWER_METHOD=command POWER_SLEEP_CMD=/bin/true
INIT
guest_pack "$guest" "$WORK/initramfs"
guest_run "" "$WORK/initramfs" -netdev user,id=net0 -device rtl8139,netdev=net0,mac=52:54:00:77:01:06 \
    -netdev user,id=net1 -device rtl8139,netdev=net1,mac=52:54:00:77:01:07 >"$WORK/console" 2>&1 &
qemu=$!

adapter() {
    "$ROOST" status -constraint 'Machine == "'"${1:-guest}"'" && Offline =!= true' -af HardwareAddress Subnet IsWakeOnLanSupported IsWakeOnLanEnabled \
        IsWakeAble WakeOnLanSupportedFlags WakeOnLanEnabledFlags 2>/dev/null
}
says() { [ "$(adapter)" = "52:54:00:77:01:07 10.0.2.0/24 $1" ]; }
until_true 200 "the guest has joined, and nothing would wake it" says "true false false pumbg d"
says_named() { [[ "$(adapter named)" == "52:54:00:77:01:07 10.0.2.0/24 true "* ]]; }
until_true 60 "who names the card has the network of the bridge" says_named
"$ROOST" power off guest >"$WORK/off" 2>&1 && fail "a pilot sleeps"
grep -q "a pilot cannot switch its host off" "$WORK/off" || fail "$(cat "$WORK/off")"
until_true 30 "magic packets would wake it" says "true true true pumbg g"
grep -q "wake.armed.*adapter=eth1" "$WORK/console" || fail "another card was told: $(grep wake.armed "$WORK/console")"
kill "$qemu" && wait "$qemu"
pool_stop
passed

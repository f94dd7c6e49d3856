#!/bin/bash
# Wake-on-LAN on a wire: a rooster, a relay and a machine that is off, in network namespaces.
#
#   here: the pool's daemons   10.78.0.1 ---- router ---- bridge 10.77.1.0/24 ---- relay (an awake node), tap of the guest
#                              10.77.2.1 ---- a network of its own, with one machine that is off
#
# What is on the wires is decoded by tshark.  A guest of an emulator is behind the adapter that hears the packet: it boots,
# joins the pool and runs the job that it was woken for.
#
# TIMEOUT: 300
# SPDX-License-Identifier: Apache-2.0
[ -x "$ROOST_BIN/roost-pilot" ] || { echo "skipped: a build with sanitizers has no static roost-pilot"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "skipped: networks can be made by root alone"; exit 77; }
for need in tshark dumpcap nsenter unshare python3; do
    command -v $need >/dev/null || { echo "skipped: no $need here (make deps)"; exit 77; }
done
if [ -z "${ROOST_WOL_INSIDE:-}" ]; then # in a network namespace of its own: nothing of it is left
    export ROOST_WOL_INSIDE=1
    unshare -n true 2>/dev/null || { echo "skipped: no network namespaces here"; exit 77; }
    exec unshare -n "$BASH" "$0"
fi
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_guest.sh"
[ -c /dev/net/tun ] || { echo "skipped: no /dev/net/tun here"; exit 77; }

MAC=52:54:00:77:01:07 PASSWORD=01:23:45:67:89:ab
OTHER_MAC=52:54:00:77:02:01 OTHER_PASSWORD=192.0.2.7

# ---- the networks
# Each is there while a process is in it.
env -u ROOST_CONFIG unshare -n sleep 1000 &
router=$!
env -u ROOST_CONFIG unshare -n sleep 1000 &
relay=$!
own_network() { [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
until_true 20 "the router's namespace" own_network "$router"
until_true 20 "the relay's namespace" own_network "$relay"
at() { # at PID COMMAND...: in that namespace
    local pid=$1
    shift
    nsenter -t "$pid" -n "$@"
}
network() { # the commands of ip, in the namespace of PID
    at "$1" ip -batch - || fail "ip"
}
network $$ <<END
link set lo up
link add up0 type veth peer name down0 netns $router
addr add 10.78.0.1/24 dev up0
link set up0 up
link add lab0 type veth peer name lab1 netns $router
addr add 10.77.2.1/24 dev lab0
addr add 10.77.2.2/24 dev lab0
link set lab0 up
END
network "$router" <<END
link set lo up
link add br0 type bridge forward_delay 0
addr add 10.77.1.1/24 dev br0
link set br0 up
addr add 10.78.0.2/24 dev down0
link set down0 up
link set lab1 up
link add port0 type veth peer name eth0 netns $relay
link set port0 master br0 up
tuntap add dev tap0 mode tap
link set tap0 master br0 up
END
network "$relay" <<END
link set lo up
addr add 10.77.1.2/24 dev eth0
link set eth0 up
route add default via 10.77.1.1
END
ip route add 10.77.1.0/24 via 10.78.0.2 || fail "ip route"
at "$router" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward' || fail "ip_forward"
hardware() { at "$1" ip -o link show dev "$2" | sed 's|.*link/ether ||; s| .*||'; } # of a namespace's adapter; /sys is not
relay_mac=$(hardware "$relay" eth0)
own_mac=$(hardware $$ lab0)

# ---- the pool
printf '%s\n' "$PASSWORD" >"$WORK/password"
printf '%s\n' "$OTHER_PASSWORD" >"$WORK/other_password"
chmod 0600 "$WORK/password" "$WORK/other_password"
pool_init --nodes 1 --asleep
sed -i 's/^\(COLLECTOR_HOST\|COLLECTOR_LISTEN\|SCHEDD_HOST\) = .*/# \0/' "$ROOST_CONFIG"
port=$(sed -n 's/^COLLECTOR_PORT = //p' "$ROOST_CONFIG")
cat >>"$ROOST_CONFIG" <<END
COLLECTOR_HOST = {"10.78.0.1:$port"}
COLLECTOR_LISTEN = "10.78.0.1"
SCHEDD_HOST = "10.78.0.1"
SCHEDD_LISTEN = "10.78.0.1"
ROOSTER_WAKE_DEADLINE = 300
node "guest" {
    method = wol
    password_file = "$WORK/password"
    wake_repeats = 2
}
node "other" {
    method = wol
    hardware_address = "$OTHER_MAC"
    subnet = "10.77.2.0/24"
    password_file = "$WORK/other_password"
}
END
cat >>"$POOL/nodes/wn01/roost.conf" <<END
HIBERNATE = "\"NONE\""
END
pool_start

# ---- what listens: captures on both wires, and the adapter of the guest that is off
captures=()
capture() { # capture PID INTERFACE: into $WORK/INTERFACE.pcap
    nsenter -t "$1" -n dumpcap -q -P -i "$2" -w "$WORK/$2.pcap" >"$WORK/$2.dumpcap" 2>&1 &
    captures+=($!)
    until_true 20 "a capture on $2" test -s "$WORK/$2.pcap"
}
chmod 0777 "$WORK" # where dumpcap has given up root
capture "$router" br0
capture "$router" lab1
guest=$WORK/guest
guest_tree "$guest" virtio_pci virtio_net
"$ROOST" token create --identity guest --scope ADVERTISE,READ --expires 1h --bundle --file "$guest/bundle" ||
    fail "roost token create --bundle"
guest_init "$guest" guest <<INIT
ip addr add 10.77.1.7/24 dev eth0
ip route add default via 10.77.1.1
roost-pilot --collector 10.78.0.1:$port --token /bundle --name guest --cpus 1 --idle-timeout 600 POLLING_INTERVAL=1 \\
    MODIFY_REQUEST_EXPR_REQUESTMEMORY=RequestMemory
INIT
guest_pack "$guest" "$WORK/initramfs"
machine() { # the adapter hears, the machine boots
    at "$router" python3 "$(dirname "$0")/lib_wol_adapter.py" br0 "$MAC" "$PASSWORD" >"$WORK/adapter" 2>&1 || exit
    date +%s%3N >"$WORK/woken"
    guest_run "nsenter -t $router -n" "$WORK/initramfs" -netdev tap,id=net0,ifname=tap0,script=no,downscript=no \
        -device "virtio-net-pci,netdev=net0,mac=$MAC" >"$WORK/console" 2>&1
}
machine &
guest_pid=$!
until_true 20 "the guest's adapter listens" grep -qs listening "$WORK/adapter"

# ---- the relay is awake; the guest has left an offline ad
ROOST_CONFIG=$POOL/nodes/wn01/roost.conf ROOST_BOOT_ID=$(cat /proc/sys/kernel/random/uuid) ROOST_BOOT_TIME=$(date +%s) \
    at "$relay" "$ROOST_BIN/roost-master" -config "$POOL/nodes/wn01/roost.conf" </dev/null >"$WORK/relay.out" 2>&1 &
"$ROOST" status -constraint 'Machine == "wn01"' -l >"$WORK/asleep" || fail "roost status"
{
    sed -e 's/wn01/guest/g' -e '/^\(HardwareAddress\|Subnet\|SubnetMask\|IsWake[A-Za-z]*\|OfflineSince\) =/d' "$WORK/asleep"
    printf 'HardwareAddress = "%s"\nSubnet = "10.77.1.0/24"\nOfflineBootId = "before"\nOfflineSince = 5\n' "$MAC" # packets are not repeated
} | grep . >"$WORK/guest.ad"
equals "the guest's offline ad" "$("$ROOST" advertise UPDATE_STARTD_AD "$WORK/guest.ad")" "Sent 1 of 1 ad to the collector."
relay_is_awake() { [ "$("$ROOST" status -constraint 'Machine == "wn01" && Offline =!= true' -af Subnet 2>/dev/null)" = 10.77.1.0/24 ]; }
until_true 40 "the relay is awake" relay_is_awake
equals "what the relay's ad says of its adapter" \
    "$("$ROOST" status -constraint 'Machine == "wn01"' -af HardwareAddress SubnetMask WakePort)" "$relay_mac 255.255.255.0 9"

# ---- a machine of a network that the rooster's host is on
in_log() { grep -qE "$1" "$POOL/log/RoosterLog"; }
"$ROOST" power on other >"$WORK/power.out" 2>&1 || fail "roost power on: $(cat "$WORK/power.out")"
until_true 30 "the other machine was woken" in_log ' wake.sent .*machine=other'
in_log ' wake.sent "other \(wol\): 9 magic packets for 52:54:00:77:02:01 sent by lab0" ' || fail "$(grep wake.sent "$POOL/log/RoosterLog")"

# ---- a machine of a network that it is not on: the job's match wakes it
cat >"$WORK/job.sub" <<SUB
executable = /bin/sh
transfer_executable = false
arguments = "-c 'cat /proc/sys/kernel/hostname /proc/sys/kernel/random/boot_id'"
initialdir = $OUT
output = out
error = err
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
request_memory = 16
request_disk = 4MB
requirements = Machine == "guest"
queue
SUB
cluster=$(submit "$WORK/job.sub") || exit 1
until_true 30 "the guest was woken" in_log ' wake.sent .*machine=guest'
in_log ' wake.sent "guest \(wol\): wn01 relayed the packet: guest \(wol\): 6 magic packets for 52:54:00:77:01:07 sent by eth0" ' ||
    fail "$(grep wake.sent "$POOL/log/RoosterLog")"
until_true 60 "the adapter was woken" test -e "$WORK/woken"
show_console() { # for the trap, which is to see the status of what came before
    local status=$?
    tail -n 30 "$WORK/console"
    return "$status"
}
trap 'show_console; clean_up' EXIT
until_true 200 "the job is done" is_done "$cluster" 1
say "the job was done $(($(date +%s%3N) - $(cat "$WORK/woken"))) ms after the adapter was woken"
check_committed "$cluster" 1
equals "where the job ran" "$(head -n 1 "$OUT/out")" guest
equals "the boot that the rooster takes for its wake" "$("$ROOST" power history -constraint 'Machine == "guest"' -af Method Outcome BootId)" \
    "wol Up $(tail -n 1 "$OUT/out")"
equals "the guest's offline ads" "$("$ROOST" status -constraint 'Machine == "guest" && Offline =?= true' -af Name)" ""
trap clean_up EXIT

# ---- what was on the wires
kill "${captures[@]}" && wait "${captures[@]}"
packets() { # how many of each form: type, sender's hardware address of frames, destination, port, woken address, password
    tshark -r "$WORK/$1.pcap" -Y wol -T fields -E separator=' ' -E occurrence=f -e eth.type -e ip.dst -e udp.dstport -e wol.mac -e eth.src \
        -e _ws.col.Info 2>/dev/null | sed 's/MagicPacket for .*), password/password/' | sort | uniq -c | sed 's/^ *//'
}
wanted() { # wanted COUNT BROADCAST MAC SENDER PASSWORD
    printf '%s 0x0800 %s 9 %s %s password %s\n' "$1" "$2" "$3" "$4" "$5" "$1" 255.255.255.255 "$3" "$4" "$5"
    printf '%s 0x0842   %s %s password %s\n' "$1" "$3" "$4" "$5"
}
equals "packets on the rooster's network" "$(packets lab1)" "$(wanted 3 10.77.2.255 "$OTHER_MAC" "$own_mac" "$OTHER_PASSWORD")"
equals "packets on the relay's network" "$(packets br0)" "$(wanted 2 10.77.1.255 "$MAC" "$relay_mac" "$PASSWORD")"

# ---- the password is in its file and on the wire, and nowhere else
for secret in "$PASSWORD" "$OTHER_PASSWORD"; do
    equals "files that hold the password $secret" "$(grep -rlF "$secret" "$POOL")" ""
done
"$ROOST" status -l >"$WORK/ads" || fail "roost status -l"
"$ROOST" power history -l >>"$WORK/ads" || fail "roost power history -l"
! grep -qF -e "$PASSWORD" -e "$OTHER_PASSWORD" "$WORK/ads" || fail "a password is in an ad"

kill "$guest_pid" && wait "$guest_pid"
pool_stop
passed

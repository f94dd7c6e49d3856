#!/bin/bash
# Machines with management controllers: the real ipmitool speaks to ipmi_sim, the real curl to a Redfish service, and the chassis
# of each is an emulated guest.  Jobs start the guests, their output shows which; idle guests are shut down by their buttons.  The
# Redfish service forgets its sessions in the middle of an order, makes tasks of orders, and wants an ETag that has changed.
#
# TIMEOUT: 180
# SPDX-License-Identifier: Apache-2.0
[ -x "$ROOST_BIN/roost-pilot" ] || { echo "skipped: a build with sanitizers has no static roost-pilot"; exit 77; }
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_guest.sh"
. "$(dirname "$0")/lib_bmc.sh"
. "$(dirname "$0")/lib_libvirt.sh" # for its guests; there is no libvirt here

# The command is done when the monitor asks for another one; cut off before, it may not have been read.
cat >"$WORK/press" <<'PRESS'
import socket

monitor = socket.socket(socket.AF_UNIX)
monitor.connect("monitor")
said = b""
for prompts, command in (1, b"system_powerdown\n"), (2, b""):
    while said.count(b"(qemu) ") < prompts:
        more = monitor.recv(4096)
        if not more:
            raise SystemExit("the monitor is gone")
        said += more
    monitor.sendall(command)
PRESS
for name in wx01 wx02; do
    chassis $name <<CHASSIS
runs() { [ -s pid ] && kill -0 "\$(cat pid)" 2>/dev/null; }
act() {
    case "\$1" in
    "power 1") runs || setsid qemu-system-x86_64 -M pc -accel tcg -m 256 -display none -no-reboot -kernel "$GUEST_KERNEL" \\
        -initrd "$WORK/initramfs" -append "console=ttyS0 quiet panic=-1 host=$name level=S5" -serial file:console \\
        -netdev user,id=net -device virtio-net-pci,netdev=net,mac=52:54:00:77:00:${name#wx} -monitor unix:monitor,server,nowait \\
        -pidfile pid -daemonize </dev/null >qemu.out 2>&1 ;;
    "power 0") runs && kill -9 "\$(cat pid)" ;;
    shutdown*) /usr/bin/python3 "$WORK/press" & ;;
    esac
}
CHASSIS
done
end_guests() {
    local status=$? name
    for name in wx01 wx02; do
        [ "$status" -eq 0 ] || tail -n 5 "$BMC/$name"/{console,orders,requests,qemu.out} 2>/dev/null
        [ -s "$BMC/$name/pid" ] && kill -9 "$(cat "$BMC/$name/pid")" 2>/dev/null
    done
    [ "$status" -eq 0 ] || grep -hE ' (wake|sleep|power|node)\.' "$POOL"/log/RoosterLog* 2>/dev/null | tail -20
    return "$status"
}
trap 'end_guests; clean_up' EXIT
mood wx02 "conflict task forget"
ipmi_begin wx01
redfish_begin wx02

chmod 1777 "$OUT"
pool_init --nodes 1 --asleep
sed -i "s/^SCHEDD_HOST = .*/SCHEDD_HOST = \"10.0.2.2\"\nSCHEDD_LISTEN = \"127.0.0.1\"/" "$ROOST_CONFIG" # as the guests see this host
{
    echo "ROOSTER_WAKE_DEADLINE = 120"
    ipmi_node wx01 'shutdown_timeout = 60'
    redfish_node wx02 'shutdown_timeout = 60'
} >>"$ROOST_CONFIG"
pool_start
port=$(sed -n 's/^COLLECTOR_PORT = //p' "$ROOST_CONFIG")
guests_make "$port"
guest_advertise wx01
guest_advertise wx02
is_off() { [ "$("$ROOST" status -constraint "Machine == \"$1\" && Offline =?= true" -af PowerState)" = Off ]; }
for name in wx01 wx02; do until_true 20 "$name is off" is_off $name; done
equals "what was ordered before there was a job" "$(orders wx01)$(orders wx02)" ""

cat >"$WORK/job.sub" <<SUB
executable = /bin/sh
transfer_executable = false
initialdir = $OUT
output = job.\$(where)
arguments = "-c 'hostname; cat /proc/sys/kernel/random/boot_id'"
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
request_memory = 16
request_disk = 1MB
requirements = Machine == "\$(where)"
queue where in wx01 wx02
SUB
cluster=$(submit "$WORK/job.sub") || exit 1
until_true 100 "the jobs have run in the guests" is_done "$cluster" 2
for name in wx01 wx02; do
    equals "where its job ran" "$(head -n 1 "$OUT/job.$name")" $name
    until_true 90 "$name is off again" is_off $name
    grep -q "the button was pressed" "$BMC/$name/console" || fail "$name was not shut down"
    equals "what was ordered of $name" "$(orders $name)" "power 1,shutdown 1,"
    equals "what the ledger knows of its wake" "$(wakes | sed -n "s/^$name //p" | cut -d' ' -f1,2)" "Up $(tail -n 1 "$OUT/job.$name")"
done
# The session was forgotten before the order, the ETag was missing, then stale, then right; and nothing was ordered twice.
resets wx02 | grep -q '^401,' || fail "no session was forgotten in an order: $(resets wx02)"
equals "what was ordered by Redfish" "$(resets wx02 | sed 's/401,//g')" "428 On,412 On,202 On,428 GracefulShutdown,202 GracefulShutdown,"
grep -q '^GET /redfish/v1/TaskService/TaskMonitors/.* 200$' "$BMC/wx02/requests" || fail "no task was followed to its end"
sessions=$(grep -c '^session$' "$BMC/wx02/requests")
[ "$sessions" -ge 6 ] || fail "only $sessions sessions: none was forgotten"
no_secrets_seen
passed

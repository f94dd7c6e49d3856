#!/bin/bash
# A machine with a management controller: the real ipmitool speaks to ipmi_sim, whose chassis is an emulated guest.  A job starts
# the guest, its output shows which; the idle guest is shut down by its button.  With a wrong password nothing is ordered of the
# controller, and no machine is cycled.
#
# TIMEOUT: 180
# SPDX-License-Identifier: Apache-2.0
[ -x "$ROOST_BIN/roost-pilot" ] || { echo "skipped: a build with sanitizers has no static roost-pilot"; exit 77; }
for need in ipmi_sim ipmitool; do
    command -v $need >/dev/null || { echo "skipped: no $need here (make deps)"; exit 77; }
done
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_guest.sh"
. "$(dirname "$0")/lib_libvirt.sh" # for its guests; there is no libvirt here

BMC=$WORK/bmc
bmc_port=$(python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir -p "$BMC/state"
cat >"$BMC/lan.conf" <<CONF
name "wx01"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 $bmc_port
    priv_limit admin
    allowed_auths_callback none md2 md5 straight
    allowed_auths_user none md2 md5 straight
    allowed_auths_operator none md2 md5 straight
    allowed_auths_admin none md2 md5 straight
    guid a123456789abcdefa123456789abcdef
  endlan
  chassis_control "$BMC/chassis 0x20"
  user 2 true "roost" "se-cret-7" operator 10 none md2 md5 straight
CONF
printf 'mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr\nsel_enable 0x20 1000 0x0a\nmc_enable 0x20\n' \
    >"$BMC/sim.emu"
cat >"$BMC/chassis" <<CHASSIS
#!/bin/sh
cd "$BMC" || exit 1
runs() { [ -s pid ] && kill -0 "\$(cat pid)" 2>/dev/null; }
shift
op=\$1
shift
[ "\$op" = get ] && for what; do
    [ "\$what" = power ] && if runs; then echo power:1; else echo power:0; fi
done
[ "\$op" = set ] && while [ \$# -ge 2 ]; do
    echo "\$1 \$2" >>orders
    case "\$1 \$2" in
    "power 1") runs || setsid qemu-system-x86_64 -M pc -accel tcg -m 256 -display none -no-reboot -kernel "$GUEST_KERNEL" \\
        -initrd "$WORK/initramfs" -append "console=ttyS0 quiet panic=-1 host=wx01 level=S5" -serial file:console \\
        -netdev user,id=net -device virtio-net-pci,netdev=net,mac=52:54:00:77:00:01 -monitor unix:monitor,server,nowait \\
        -pidfile pid -daemonize </dev/null >qemu.out 2>&1 ;;
    "power 0") runs && kill -9 "\$(cat pid)" ;;
    shutdown*) python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect("monitor"); s.recv(99); s.send(b"system_powerdown\n"); s.recv(99)' ;;
    esac
    shift 2
done
exit 0
CHASSIS
chmod 0755 "$BMC/chassis"
(umask 077 && echo "se-cret-7" >"$BMC/password")
ipmi_sim -n -s "$BMC/state" -c "$BMC/lan.conf" -f "$BMC/sim.emu" </dev/null >"$BMC/sim.out" 2>&1 &
sim=$!
end_bmc() {
    local status=$?
    tail -n 5 "$BMC/console" "$BMC/orders" "$BMC/qemu.out" 2>/dev/null
    grep -hE ' (wake|sleep|power|node)\.' "$POOL"/log/RoosterLog* 2>/dev/null | tail -20
    kill "$sim"
    [ -s "$BMC/pid" ] && kill -9 "$(cat "$BMC/pid")" 2>/dev/null
    return "$status"
}
trap 'end_bmc; clean_up' EXIT

chmod 1777 "$OUT"
pool_init --nodes 1 --asleep
sed -i "s/^SCHEDD_HOST = .*/SCHEDD_HOST = \"10.0.2.2\"\nSCHEDD_LISTEN = \"127.0.0.1\"/" "$ROOST_CONFIG" # as the guest sees this host
cat >>"$ROOST_CONFIG" <<END
ROOSTER_WAKE_DEADLINE = 120
node "wx01" {
    method = ipmi
    bmc = "127.0.0.1:$bmc_port"
    bmc_user = roost
    bmc_password_file = "$BMC/password"
    cipher_suite = 3
    ipmitool = "$(command -v ipmitool)"
    shutdown_timeout = 60
}
END
pool_start
port=$(sed -n 's/^COLLECTOR_PORT = //p' "$ROOST_CONFIG")
guests_make "$port"
guest_advertise wx01
is_off() { [ "$("$ROOST" status -constraint 'Machine == "wx01" && Offline =?= true' -af PowerState)" = Off ]; }
until_true 20 "the guest is off" is_off
[ ! -e "$BMC/orders" ] || fail "something was ordered before there was a job"

cat >"$WORK/job.sub" <<SUB
executable = /bin/sh
transfer_executable = false
initialdir = $OUT
output = job.out
arguments = "-c 'hostname; cat /proc/sys/kernel/random/boot_id'"
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
request_memory = 16
request_disk = 1MB
requirements = Machine == "wx01"
queue
SUB
cluster=$(submit "$WORK/job.sub") || exit 1
until_true 100 "the job has run in the guest" is_done "$cluster" 1
equals "where the job ran" "$(head -n 1 "$OUT/job.out")" wx01
until_true 90 "the guest is off again" is_off
grep -q "the button was pressed" "$BMC/console" || fail "the guest was not shut down"
equals "what was ordered of the controller" "$(tr '\n' ' ' <"$BMC/orders")" "power 1 shutdown 1 "
equals "what the ledger knows of the wake" "$(wakes | cut -d' ' -f1,2 | tr '\n' ' ')" "wx01 Up "
equals "the boot that the ledger knows" "$(wakes | cut -d' ' -f3)" "$(tail -n 1 "$OUT/job.out")"

(umask 077 && echo "se-cret-8" >"$BMC/password")
"$ROOST" power on wx01 >"$WORK/power_on" 2>&1 &
has_failed() { grep -qs 'wx01 (ipmi): .*Unable to establish' "$POOL"/log/RoosterLog*; }
until_true 60 "the wake with a wrong password has failed" has_failed
equals "what was ordered with a wrong password" "$(tr '\n' ' ' <"$BMC/orders")" "power 1 shutdown 1 "
! grep -rqs se-cret-7 "$POOL"/log || fail "the password is in a log"

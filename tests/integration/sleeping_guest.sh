#!/bin/bash
# A machine that puts itself to sleep (POWER_METHOD = host), and the rooster that wakes it: the startd of a guest suspends it through its
# kernel, then switches it off; first as it is told, then because no job was matched to it for a time (HIBERNATE), and jobs wake it.
# It comes back as the same boot, then as another one.
#
# Its second network card says that magic packets could wake it, and does not take the order to: without more, it stays up.
#
# The rooster's command is what an adapter or a BMC is elsewhere: it wakes the emulator, or starts it.
#
# TIMEOUT: 300
# SPDX-License-Identifier: Apache-2.0
case " $(ldd "$ROOST_BIN/roost-startd") " in
*libasan* | *libtsan*) echo "skipped: a guest is too small for a sanitizer"; exit 77 ;;
esac
[ -x "$ROOST_BIN/roost-pilot" ] || { echo "skipped: there is no static roost-pilot"; exit 77; }
. "$(dirname "$0")/lib.sh"
export GUEST_REAL=yes # the kernel of clouds has no driver for that card
. "$(dirname "$0")/lib_guest.sh"

pool_init --nodes 1 --asleep
sed -i "s/^SCHEDD_HOST = .*/SCHEDD_HOST = \"10.0.2.2\"\nSCHEDD_LISTEN = \"127.0.0.1\"/" "$ROOST_CONFIG" # as the guest sees this host
printf 'ROOSTER_WAKEUP_CMD = "%s/wake.sh"\nROOSTER_WAKE_DEADLINE = 200\n' "$WORK" >>"$ROOST_CONFIG"

# ---- how it is woken
# `status`, or `wake`: it does not sleep at once when its offline ads are there, so that is waited for.
cat >"$WORK/qmp.py" <<'END'
import json, socket, sys, time
monitor = socket.socket(socket.AF_UNIX)
monitor.settimeout(20)
try:
    monitor.connect(sys.argv[1])
except OSError:
    sys.exit(1)
lines = monitor.makefile("rw")
def ask(what):
    lines.write(json.dumps({"execute": what}) + "\n")
    lines.flush()
    for line in lines:
        answer = json.loads(line)
        if "return" in answer:
            return answer["return"]
    sys.exit(1)
lines.readline()
ask("qmp_capabilities")
end = time.monotonic() + 20
while sys.argv[2] == "wake" and ask("query-status")["status"] != "suspended":
    if time.monotonic() > end:
        sys.exit(1)
    time.sleep(0.1)
print(ask("query-status")["status"])
if sys.argv[2] == "wake":
    ask("system_wakeup")
END
cat >"$WORK/wake.sh" <<END
#!/bin/sh
python3 $WORK/qmp.py $WORK/qmp wake >>$WORK/woken 2>&1 && exit 0
setsid $WORK/boot.sh >>$WORK/console 2>&1 &
END
cat >"$WORK/boot.sh" <<END
#!/bin/bash
export ROOST_GUEST_ROOT='${ROOST_GUEST_ROOT:-}'
. '$ROOST_SRC/tests/integration/lib_guest.sh'
echo \$\$ >$WORK/guest.pid
guest_run "" $WORK/initramfs -netdev user,id=net0 -device virtio-net-pci,netdev=net0 \\
    -netdev user,id=net1 -device e1000,netdev=net1 -qmp unix:$WORK/qmp,server=on,wait=off
END
chmod 0755 "$WORK/wake.sh" "$WORK/boot.sh"
pool_start
port=$(sed -n 's/^COLLECTOR_PORT = //p' "$ROOST_CONFIG")

# ---- the guest
guest=$WORK/guest
guest_tree "$guest" virtio_pci virtio_net e1000
guest_program "$guest" "$ROOST_BIN/roost-startd" "$ROOST_BIN/roost-starter"
mkdir -p "$guest/roost/security/keys"
cp "$POOL/security/ca.pem" "$guest/roost/security/"
cp "$POOL"/security/keys/*.pub "$guest/roost/security/keys/"
"$ROOST" token create --identity guest --scope ADVERTISE,READ --expires 1h --file "$guest/roost/token" || fail "roost token create"
chmod 0600 "$guest/roost/token"
cat >"$guest/roost/roost.conf" <<END
LOCAL_DIR = "/roost"
SEC_DIRECTORY = "/roost/security"
TOKEN_FILE = "/roost/token"
COLLECTOR_HOST = "10.0.2.2:$port"
SBIN = "/bin"
STARTD_NAME = "guest"
NUM_CPUS = 1
POWER_METHOD = host
NETWORK_INTERFACE = "eth1"
HIBERNATE_CHECK_INTERVAL = 1
HIBERNATE_MIN_UPTIME = 5
ENABLE_PERSISTENT_CONFIG = true
SETTABLE_ATTRS_ADMINISTRATOR = {"HIBERNATE", "HIBERNATION_OVERRIDE_WOL"}
UPDATE_INTERVAL = 3600
POLLING_INTERVAL = 1
END
# What `poweroff` asks of process 1 is done as init would.
guest_init "$guest" guest <<'INIT'
ip addr add 10.0.2.15/24 dev eth0
ip route add default via 10.0.2.2
ip link set eth1 up
until [ "$(cat /sys/class/net/eth1/carrier)" = 1 ]; do sleep 0.1; done
trap 'echo SWITCHED OFF; poweroff -f' USR2
roost-startd -config /roost/roost.conf -log - &
while :; do wait; sleep 1; done
INIT
guest_pack "$guest" "$WORK/initramfs"
show_console() { # for the trap, which is to see the status of what came before
    local status=$?
    [ "$status" -eq 0 ] || tail -n 40 "$WORK/console" "$WORK/woken"
    return "$status"
}
trap 'show_console; clean_up' EXIT

live() { "$ROOST" status -constraint 'Machine == "guest" && Offline =!= true' -af "$@" 2>/dev/null; }
asleep() { "$ROOST" status -constraint 'Machine == "guest" && Offline =?= true' -af "$@" 2>/dev/null; }
is_live() { [ -n "$(live BootId)" ]; }
is_asleep_at() { [ "$(asleep HibernationState)" = "$1" ]; }
is_suspended() { [ "$(python3 "$WORK/qmp.py" "$WORK/qmp" status)" = suspended ]; }
is_gone() { ! kill -0 "$(cat "$WORK/guest.pid")" 2>/dev/null; }

"$WORK/wake.sh"
until_true 120 "the guest has joined" is_live
boot=$(live BootId)
live HibernationSupportedStates | grep -q 'S3.*S5' || fail "its levels: $(live HibernationSupportedStates)"
equals "who does it" "$(live HibernationMethod CanHibernate)" "/sys true"
set_knobs() { "$ROOST" config set --node guest "$@" >/dev/null || fail "roost config set $*"; }

say "a card that does not take the order to wake it"
"$ROOST" power off guest 2>"$WORK/refused" && fail "it is off, and nothing could wake it"
grep -q "the machine could not be woken: network adapter eth1: Wake-on-LAN: .*(HIBERNATION_OVERRIDE_WOL = true skips this check)" "$WORK/refused" || fail "$(cat "$WORK/refused")"
equals "its ads" "$(asleep Name)$(live State)" "Unclaimed"
knows_card() { [ "$(live CanHibernate)" = false ]; }
until_true 30 "its ad says so" knows_card
set_knobs HIBERNATION_OVERRIDE_WOL=true # the emulator will

say "to memory, and back"
"$ROOST" drain guest --then sleep >/dev/null || fail "roost drain --then sleep"
until_true 60 "its offline ad is there" is_asleep_at S3
until_true 60 "it is suspended" is_suspended
equals "its ad while it sleeps" "$(asleep PowerState OfflineBootId PowerKeptOff)" "Off $boot undefined"
"$ROOST" power on guest >/dev/null || fail "roost power on"
until_true 60 "it is back" is_live
equals "its boot" "$(live BootId)" "$boot"
equals "what woke it" "$(cat "$WORK/woken")" "suspended"
equals "offline ads" "$(asleep Name)" ""
grep -q "hibernate.woke" "$WORK/console" || fail "its startd does not know that it slept"

# By itself, as etc/node.conf has it: to memory while it had no job yet, else off.
may_sleep() { set_knobs HIBERNATION_OVERRIDE_WOL=true 'HIBERNATE=ifThenElse(State =?= "Unclaimed" && CurrentTime - ifThenElse(MachineLastMatchTime =?= undefined, DaemonStartTime, MachineLastMatchTime) >= 1, ifThenElse(MachineLastMatchTime =?= undefined, "S3", "S5"), "NONE")'; }
cat >"$WORK/job.sub" <<SUB
executable = /bin/sh
transfer_executable = false
arguments = "-c 'hostname; cat /proc/sys/kernel/random/boot_id'"
initialdir = $OUT
output = out.\$(Cluster)
requirements = Machine == "guest"
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
request_memory = 1
queue
SUB
# job BOOT: one wakes it, and runs there in that boot ("another": in one that was not there yet).
job() {
    local cluster
    cluster=$(submit "$WORK/job.sub") || exit 1
    until_true 120 "the job that wakes it is done" is_done "$cluster" 1
    check_committed "$cluster" 1
    equals "where it ran" "$(head -n 1 "$OUT/out.$cluster")" "guest"
    ran=$(tail -n 1 "$OUT/out.$cluster")
    [ "${ran//-/}" != "${boot//-/}" ] || [ "$1" = same ] || fail "it is the same boot"
    [ "${ran//-/}" = "${boot//-/}" ] || [ "$1" = another ] || fail "boot $ran, not $boot"
}

say "to memory by itself, and woken by a job"
may_sleep
until_true 60 "its offline ad is there" is_asleep_at S3
until_true 60 "it is suspended" is_suspended
equals "its ad while it sleeps" "$(asleep PowerState OfflineBootId PowerKeptOff)" "Off $boot undefined"
job same

say "off by itself after its job, and woken by another one"
until_true 60 "it is switched off" is_gone
grep -q "^SWITCHED OFF" "$WORK/console" || fail "the emulator ended otherwise"
equals "its ad while it is off" "$(asleep HibernationState OfflineBootId PowerKeptOff)" "S5 $boot undefined"
job another
woken_by_jobs() { "$ROOST" power history guest -af Kind Outcome AskedBy 2>/dev/null | grep -c "Wake Up negotiator"; }
two_by_jobs() { [ "$(woken_by_jobs)" = 2 ]; }
until_true 30 "the rooster knows that jobs woke it twice" two_by_jobs

say "its second boot knows nothing of the first one's orders"
boot=$(live BootId)
set_knobs 'HIBERNATE=ifThenElse(State =?= "Unclaimed", "S3", "NONE")'
is_held() { live HibernationHeldBy | grep -q "the machine could not be woken: network adapter eth1"; }
until_true 60 "it is held back by its card" is_held
"$ROOST" why guest | grep -q "held back: the machine could not be woken: network adapter eth1" || fail "$("$ROOST" why guest)"
set_knobs HIBERNATION_OVERRIDE_WOL=true
until_true 60 "it sleeps" is_asleep_at S3
until_true 60 "it is suspended" is_suspended
"$ROOST" power on guest >/dev/null || fail "roost power on"
until_true 60 "it is back" is_live
set_knobs HIBERNATION_OVERRIDE_WOL=false 'HIBERNATE="NONE"'
"$ROOST" power off guest >/dev/null 2>&1 && fail "it is off, and nothing could wake it"
"$ROOST" power off --force guest >/dev/null || fail "roost power off --force"
until_true 60 "it is switched off" is_gone
equals "its ad while it is off" "$(asleep HibernationState OfflineBootId PowerKeptOff)" "S5 $boot true"
always_came() { [ "$(asleep WakeSuccessRate)" = 1.0 ]; }
until_true 30 "its ad says that it came whenever it was woken" always_came
pool_stop
passed
